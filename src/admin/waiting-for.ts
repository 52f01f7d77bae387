import type { Group } from '../../machines/model/group.ts';
import type { Member } from '../../machines/model/member.ts';
import { type Refinement, type TaskMove, UNREFINED } from '../../machines/model/refinement.ts';
import type { GroupSoft } from '../../machines/model/soft.ts';
import { taskKey } from '../../machines/model/task-list.ts';
import {
  NO_TASKS_BY_ROLE,
  ROLES,
  type Role,
  type TaskList,
  type TasksByRole,
} from '../../machines/model/tasks.ts';

/**
 * A task that a member's target has and the member has not, and what it waits for.
 *
 * `staged` until the copy of an active task has caught up: its own, or, of a standby, that of whoever is to run it;
 * `held` until all of `heldBy` gave up what they have of it, the member itself what it was told to; `heartbeat` for
 * nobody: it comes with the member's next heartbeat.
 */
export type WaitingFor = {
  readonly task: string;
  readonly role: Role;
  readonly until: 'staged' | 'held' | 'heartbeat';
  readonly heldBy: readonly { readonly memberId: string; readonly processId: string }[];
};

type StagedMove = Extract<TaskMove, { readonly kind: 'staged' }>;

/** Who holds a task, in which role; also what they were told to give up and have not confirmed. */
type Holding = { readonly member: Member; readonly role: Role; readonly isGivenUp: boolean };

/** What members of one group wait for. Made once per answer: a search for every waiting task would take tasks times members. */
export class Waits {
  readonly #group: Group;
  readonly #refinement: Pick<Refinement, 'slices' | 'moves'>;
  readonly #holdings: ReadonlyMap<string, readonly Holding[]>;

  constructor(group: Group, soft: GroupSoft) {
    this.#group = group;
    this.#refinement = refinementInForce(group, soft);
    this.#holdings = holdingsByTask(group.members.values());
  }

  /** The tasks that wait for a copy of them. */
  get staged(): readonly StagedMove[] {
    return this.#refinement.moves.filter((move) => move.kind === 'staged');
  }

  /** Of one member, in the order of roles and tasks (coordination, sections 7 and 8). */
  of(member: Member): readonly WaitingFor[] {
    const { memberId, assigned } = member;
    const target = this.#group.targets.get(memberId) ?? NO_TASKS_BY_ROLE;
    const slice = this.#refinement.slices.get(memberId) ?? target;
    return ROLES.flatMap((role) => {
      const has = new Set(eachTask(assigned[role]));
      const isToHave = new Set(eachTask(slice[role]));
      return eachTask(target[role])
        .filter((task) => !has.has(task))
        .map((task): WaitingFor => {
          if (!isToHave.has(task)) return { task, role, until: 'staged', heldBy: [] };
          const heldBy = this.#blockersOf(task, member, role);
          return { task, role, until: heldBy.length > 0 ? 'held' : 'heartbeat', heldBy };
        });
    });
  }

  /** As `isBlocked` has it, with names. */
  #blockersOf(task: string, { memberId, processId }: Member, role: Role): WaitingFor['heldBy'] {
    const blockers = (this.#holdings.get(task) ?? []).filter(
      ({ member, role: held, isGivenUp }) => {
        // What it has in another role it changes in place.
        if (member.memberId === memberId) return isGivenUp;
        return member.processId === processId || (role === 'active' && held === 'active');
      },
    );
    return blockers.map(({ member }) => ({
      memberId: member.memberId,
      processId: member.processId,
    }));
  }
}

/** What was derived last of this target tells newer lags than what is frozen for the epoch. */
function refinementInForce(
  { targets, assignmentEpoch }: Group,
  { derived, intermediate }: GroupSoft,
): Pick<Refinement, 'slices' | 'moves'> {
  if (derived?.targets === targets) return derived.refinement;
  return intermediate?.assignmentEpoch === assignmentEpoch ? intermediate.refinement : UNREFINED;
}

function holdingsByTask(members: Iterable<Member>): ReadonlyMap<string, readonly Holding[]> {
  const holdings = new Map<string, Holding[]>();
  const note = (member: Member, tasks: TasksByRole, isGivenUp: boolean): void => {
    for (const role of ROLES) {
      for (const task of eachTask(tasks[role])) {
        const there = holdings.get(task);
        const holding = { member, role, isGivenUp };
        if (there === undefined) holdings.set(task, [holding]);
        else there.push(holding);
      }
    }
  };
  for (const member of members) {
    note(member, member.assigned, false);
    note(member, member.pendingRevocation, true);
  }
  return holdings;
}

/** `0_2`: the task's names, in the order of the list. */
export function eachTask(list: TaskList): readonly string[] {
  return list.flatMap(({ subtopologyId, partitions }) =>
    partitions.map((partition) => taskKey(subtopologyId, partition)),
  );
}
