import { appendTask, type OpenTaskList, subtractTasks, unionTasks } from '../../model/task-list.ts';
import type { Role, TaskList, TasksByRole } from '../../model/tasks.ts';
import { NO_TASKS } from '../../model/tasks.ts';
import type { Mover, RefinerMember } from './mover.ts';
import { copiesOn } from './mover.ts';
import type { Judged, Warmed } from './warm.ts';

/** What the intermediate assignment adds to a member's target, and takes from it; told in the order of tasks. */
class Edit {
  readonly #added: Partial<Record<Role, OpenTaskList>> = {};
  readonly #removed: Partial<Record<Role, OpenTaskList>> = {};

  add(role: Role, { subtopologyId, partition }: Mover): void {
    this.#added[role] ??= [];
    appendTask(this.#added[role], subtopologyId, partition);
  }

  remove(role: Role, { subtopologyId, partition }: Mover): void {
    this.#removed[role] ??= [];
    appendTask(this.#removed[role], subtopologyId, partition);
  }

  applyTo(target: TasksByRole): TasksByRole {
    return {
      active: this.#edited(target, 'active'),
      standby: this.#edited(target, 'standby'),
      warmup: this.#edited(target, 'warmup'),
    };
  }

  #edited(target: TasksByRole, role: Role): TaskList {
    const kept = subtractTasks(target[role], this.#removed[role] ?? NO_TASKS);
    return unionTasks(kept, this.#added[role] ?? NO_TASKS);
  }
}

/**
 * Puts the intermediate assignment together: the target, with every staged task active on its runner instead of its
 * owner, its warm-up on the owner, a standby that warms it where it is, and without the standbys that must wait for it
 * (WU-13, WU-14).
 *
 * @returns the slices of the members for whom that is not the target; no member has a task twice.
 */
export function assemble(
  judged: readonly Judged[],
  warmed: ReadonlyMap<Mover, Warmed>,
): Map<string, TasksByRole> {
  const edits = new Map<RefinerMember, Edit>();
  const editOf = (member: RefinerMember): Edit => {
    const known = edits.get(member);
    if (known !== undefined) return known;
    const made = new Edit();
    edits.set(member, made);
    return made;
  };
  for (const { mover, verdict } of judged) {
    if (verdict.kind !== 'staged') continue;
    const { owner } = mover;
    const warmth = warmed.get(mover);
    editOf(verdict.runner).add('active', mover);
    if (owner !== undefined) editOf(owner).remove('active', mover);
    if (warmth?.warming === 'warmup' && owner !== undefined) editOf(owner).add('warmup', mover);
    if (warmth?.standby !== undefined) editOf(warmth.standby.member).add('standby', mover);
    for (const member of withheldStandbys(mover, verdict.runner, warmth?.standby !== undefined)) {
      editOf(member).remove('standby', mover);
    }
  }
  const slices = new Map<string, TasksByRole>();
  for (const [member, edit] of edits) slices.set(member.memberId, edit.applyTo(member.target));
  return slices;
}

/**
 * The members that do not get their standby of a staged task yet: its process runs the task, or a borrowed standby
 * stands for it, so that there is not one copy too many meanwhile (WU-13).
 */
function withheldStandbys(
  mover: Mover,
  runner: RefinerMember,
  isBorrowed: boolean,
): readonly RefinerMember[] {
  const { standbyTargets } = mover;
  const isOnRunner = ({ processId }: RefinerMember): boolean => processId === runner.processId;
  if (standbyTargets.some(isOnRunner)) return standbyTargets.filter(isOnRunner);
  if (!isBorrowed) return NOBODY;
  const relocated = standbyTargets.find(({ processId }) => copiesOn(mover, processId).length === 0);
  return relocated === undefined ? NOBODY : [relocated];
}

const NOBODY: readonly RefinerMember[] = [];
