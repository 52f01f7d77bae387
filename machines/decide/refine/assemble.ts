import { subtractTasks, toTaskList, unionTasks } from '../../model/task-list.ts';
import type { Role, TaskIds, TasksByRole } from '../../model/tasks.ts';
import { ROLES } from '../../model/tasks.ts';
import type { Mover, RefinerMember } from './facts.ts';
import { copiesOn } from './facts.ts';
import type { Judged, Warmed } from './warm.ts';

/** What the intermediate assignment adds to a member's target, and takes from it. */
class Edit {
  readonly add: Readonly<Record<Role, TaskIds[]>> = { active: [], standby: [], warmup: [] };
  readonly remove: Readonly<Record<Role, TaskIds[]>> = { active: [], standby: [], warmup: [] };

  applyTo(target: TasksByRole): TasksByRole {
    const [active, standby, warmup] = ROLES.map((role) =>
      unionTasks(
        subtractTasks(target[role], toTaskList(this.remove[role])),
        toTaskList(this.add[role]),
      ),
    );
    return { active: active ?? [], standby: standby ?? [], warmup: warmup ?? [] };
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
    const known = edits.get(member) ?? new Edit();
    edits.set(member, known);
    return known;
  };
  for (const { mover, verdict } of judged) {
    if (verdict.kind !== 'staged') continue;
    const { owner, subtopologyId, partition } = mover;
    const task = { subtopologyId, partitions: [partition] };
    const warmth = warmed.get(mover);
    editOf(verdict.runner).add.active.push(task);
    if (owner !== undefined) editOf(owner).remove.active.push(task);
    if (warmth?.warming === 'warmup' && owner !== undefined) editOf(owner).add.warmup.push(task);
    if (warmth?.standby !== undefined) editOf(warmth.standby.member).add.standby.push(task);
    for (const member of withheldStandbys(mover, verdict.runner, warmth?.standby !== undefined)) {
      editOf(member).remove.standby.push(task);
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
  const onRunner = mover.standbyTargets.filter(({ processId }) => processId === runner.processId);
  if (!isBorrowed || onRunner.length > 0) return onRunner;
  const relocated = mover.standbyTargets.find(
    ({ processId }) => copiesOn(mover, processId).length === 0,
  );
  return relocated === undefined ? [] : [relocated];
}
