import { nextMemberState } from '../member-machine.ts';
import type { Holders } from '../model/group.ts';
import type { CurrentAssignment, Member } from '../model/member.ts';
import {
  areDisjoint,
  intersectTasks,
  ownedSince,
  sameActiveTasks,
  sameTasks,
  sameTasksByRole,
  selectTasks,
  subtractTasks,
  unionActiveTasks,
  unionTasks,
} from '../model/task-list.ts';
import type { HeldTasks, TaskList, TasksByRole } from '../model/tasks.ts';
import { NO_HELD_TASKS, NO_TASKS_BY_ROLE } from '../model/tasks.ts';
import { isBlocked } from './blocked.ts';

/** What one member's reconciliation looks at. */
export type Reconciliation = {
  readonly member: Member;
  /** The epoch of the installed target. */
  readonly assignmentEpoch: number;
  /** The member's slice of the intermediate assignment. */
  readonly target: TasksByRole;
  /** Undefined unless the heartbeat carried all three lists. */
  readonly owned: TasksByRole | undefined;
  /** Of all members, this one included, as of the last applied record. */
  readonly holders: Holders;
};

/** What became of it. `member` is the same object when nothing changed (REC-10). */
export type Reconciled = {
  readonly member: Member;
  /** Tasks of the target that somebody still holds, by role. */
  readonly waitingFor: TasksByRole;
};

/** The member is through with the target of that epoch: nothing is left to reconcile (REC-1). */
export function isThroughWith(member: Member, assignmentEpoch: number): boolean {
  return member.state === 'stable' && member.memberEpoch === assignmentEpoch;
}

/**
 * Moves one member one step toward its target: what it must give up goes first, what is free is given, the rest
 * waits (coordination, section 7). The member's epoch becomes the target's only when it owes nothing.
 */
export function reconcile(input: Reconciliation): Reconciled {
  const { member, assignmentEpoch, owned } = input;
  if (isThroughWith(member, assignmentEpoch)) return unchanged(member);
  switch (member.state) {
    case 'stable':
    case 'unreleasedTasks':
      return stepFrom(input, member.memberEpoch);
    case 'unrevokedTasks':
      if (!isReleased(member.pendingRevocation, owned)) return unchanged(member);
      // Never above the target: after a load the target's slice may be another one than what is owed follows from (WU-4).
      return stepFrom(input, Math.min(member.memberEpoch + 1, assignmentEpoch));
    case 'unknown':
      return stepFrom(input, assignmentEpoch);
  }
}

function unchanged(member: Member): Reconciled {
  return { member, waitingFor: NO_TASKS_BY_ROLE };
}

/** The member reported what it owns, and none of `tasks` is among it in the same role (REC-2). */
function isReleased(tasks: HeldTasks, owned: TasksByRole | undefined): boolean {
  return (
    owned !== undefined &&
    areDisjoint(tasks.active, owned.active) &&
    areDisjoint(tasks.standby, owned.standby) &&
    areDisjoint(tasks.warmup, owned.warmup)
  );
}

/** STEP(epoch): REC-4 to REC-9, ROL-1 to ROL-3, OUT-1 to OUT-4. */
function stepFrom(input: Reconciliation, epoch: number): Reconciled {
  const { member, assignmentEpoch, owned } = input;
  const wanted = compare(input);
  const mustRevoke = !isEmpty(wanted.revoke) && !isReleased(wanted.revoke, owned);
  const mustWait = !isEmpty(wanted.blocked);
  const state = nextMemberState(member.state, {
    type: 'HEARTBEAT',
    letGo: true,
    mustRevoke,
    mustWait,
  });
  const assigned = mustRevoke ? wanted.untilRevoked : wanted.whenRevoked;
  const next: CurrentAssignment = {
    memberEpoch: mustRevoke ? epoch : assignmentEpoch,
    previousMemberEpoch: member.memberEpoch,
    state,
    assigned: sameHeld(assigned, member.assigned) ? member.assigned : assigned,
    pendingRevocation: mustRevoke ? wanted.revoke : NO_HELD_TASKS,
  };
  return {
    member: sameAssignment(next, member) ? member : { ...member, ...next },
    waitingFor: wanted.blocked,
  };
}

/**
 * The member's tasks held against its target.
 *
 * `untilRevoked` is what it may run while it still owes `revoke`: what it keeps, and changes of a copy's role
 * that take nothing from anybody (ROL-1, ROL-2). `whenRevoked` adds all that is free. A copy that is to become
 * active is never given up for it: it stays what it is until the active task can be had (ROL-3).
 */
function compare({ member, target, holders, assignmentEpoch }: Reconciliation): {
  readonly revoke: HeldTasks;
  readonly blocked: TasksByRole;
  readonly untilRevoked: HeldTasks;
  readonly whenRevoked: HeldTasks;
} {
  const { active, standby, warmup } = member.assigned;
  // Of a large group most members keep what they have, whoever joined or left.
  if (sameTasksByRole(target, member.assigned)) return nothingToDo(member.assigned);
  const copies = unionTasks(target.standby, target.warmup);
  const kept = unionTasks(target.active, copies);

  const wantedActive = subtractTasks(target.active, active);
  const wantedStandby = subtractTasks(target.standby, standby);
  const wantedWarmup = subtractTasks(target.warmup, warmup);
  const free = {
    active: selectTasks(wantedActive, (id, at) => !isBlocked(holders, member, 'active', id, at)),
    standby: selectTasks(wantedStandby, (id, at) => !isBlocked(holders, member, 'standby', id, at)),
    warmup: selectTasks(wantedWarmup, (id, at) => !isBlocked(holders, member, 'warmup', id, at)),
  };
  // Grants that only change the role of a task the member has itself.
  const ownCopies = unionTasks(standby, warmup);
  const inPlace = {
    standby: intersectTasks(free.standby, unionTasks(active, warmup)),
    warmup: intersectTasks(free.warmup, ownCopies),
  };
  const keptActive = intersectTasks(active, target.active);
  const keepCopies = (held: TaskList, swapped: TaskList, promoted: TaskList): TaskList =>
    subtractTasks(subtractTasks(intersectTasks(held, kept), swapped), promoted);

  return {
    revoke: {
      active: subtractTasks(active, target.active),
      standby: subtractTasks(standby, kept),
      warmup: subtractTasks(warmup, kept),
    },
    blocked: {
      active: subtractTasks(wantedActive, free.active),
      standby: subtractTasks(wantedStandby, free.standby),
      warmup: subtractTasks(wantedWarmup, free.warmup),
    },
    untilRevoked: {
      active: keptActive,
      standby: unionTasks(keepCopies(standby, inPlace.warmup, []), inPlace.standby),
      warmup: unionTasks(keepCopies(warmup, inPlace.standby, []), inPlace.warmup),
    },
    whenRevoked: {
      active: unionActiveTasks(keptActive, ownedSince(free.active, assignmentEpoch)),
      standby: unionTasks(keepCopies(standby, free.warmup, free.active), free.standby),
      warmup: unionTasks(keepCopies(warmup, free.standby, free.active), free.warmup),
    },
  };
}

function nothingToDo(assigned: HeldTasks): ReturnType<typeof compare> {
  return {
    revoke: NO_HELD_TASKS,
    blocked: NO_TASKS_BY_ROLE,
    untilRevoked: assigned,
    whenRevoked: assigned,
  };
}

function isEmpty(tasks: HeldTasks | TasksByRole): boolean {
  return tasks.active.length + tasks.standby.length + tasks.warmup.length === 0;
}

function sameHeld(a: HeldTasks, b: HeldTasks): boolean {
  return (
    sameActiveTasks(a.active, b.active) &&
    sameTasks(a.standby, b.standby) &&
    sameTasks(a.warmup, b.warmup)
  );
}

function sameAssignment(next: CurrentAssignment, member: Member): boolean {
  return (
    next.memberEpoch === member.memberEpoch &&
    next.previousMemberEpoch === member.previousMemberEpoch &&
    next.state === member.state &&
    next.assigned === member.assigned &&
    sameHeld(next.pendingRevocation, member.pendingRevocation)
  );
}
