import { inspect } from 'node:util';
import type { HeartbeatAnswer } from '../../machines/commands.ts';
import type { Group } from '../../machines/model/group.ts';
import type { Member } from '../../machines/model/member.ts';
import { PersistentMap } from '../../machines/model/persistent-map.ts';
import {
  areDisjoint,
  forEachTask,
  sameTasksByRole,
  taskKey,
} from '../../machines/model/task-list.ts';
import type { TasksByRole } from '../../machines/model/tasks.ts';
import { plainGroup, slowHolders, slowState } from '../support/plain-group.ts';
import { slotOf } from './coordinator.ts';
import { taskBits } from './fingerprint.ts';
import type { Played } from './moves.ts';
import { MEMBERS, type Setup } from './setup.ts';
import type { World } from './world.ts';

/** What is wrong with a world, in words; undefined when every law holds. */
export function brokenLaw(setup: Setup, world: World): string | undefined {
  const { group } = world.coordinator.slot;
  for (const law of WORLD_LAWS) {
    const broken = law(setup, world);
    if (broken !== undefined) return broken;
  }
  if (group === undefined) return undefined;
  for (const law of GROUP_LAWS) {
    const broken = law(group, setup);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

type WorldLaw = (setup: Setup, world: World) => string | undefined;
type GroupLaw = (group: Group, setup: Setup) => string | undefined;

/** S08: no active task is with two members, by what they were told and have not reported dropped. */
const oneOwnerAsToldLaw: WorldLaw = (_, { keeps }) => {
  let taken = 0;
  for (const [at, { active }] of keeps.entries()) {
    const mine = taskBits(active);
    if ((taken & mine) !== 0) return `${MEMBERS[at]} has an active task that another one has`;
    taken |= mine;
  }
  return undefined;
};

/** No active task runs twice, as far as members report what they run (`opensAtOnce`). */
const oneOwnerAsRunLaw: WorldLaw = (setup, { clients }) => {
  if (!setup.opensAtOnce) return undefined;
  let taken = 0;
  for (const [at, { epoch, disowned, told, runs }] of clients.entries()) {
    if (epoch <= 0 || disowned) continue;
    const mine = taskBits(told.active) | taskBits(runs.active);
    if ((taken & mine) !== 0) return `${MEMBERS[at]} runs an active task that another one runs`;
    taken |= mine;
  }
  return undefined;
};

/** S10: a stateful task is with one member of a process, by the same measure. */
const oneCopyAsToldLaw: WorldLaw = (setup, { keeps }) => {
  const taken = new Map<string, number>();
  for (const [at, kept] of keeps.entries()) {
    const processId = setup.processes[at] ?? '';
    const mine = statefulBits(kept);
    const others = taken.get(processId) ?? 0;
    if ((others & mine) !== 0) return `${processId} has a stateful task twice`;
    taken.set(processId, others | mine);
  }
  return undefined;
};

function statefulBits({ active, standby, warmup }: TasksByRole): number {
  const stateful = (tasks: TasksByRole['active']) =>
    taskBits(tasks.filter(({ subtopologyId }) => subtopologyId === '1'));
  return stateful(active) | stateful(standby) | stateful(warmup);
}

/** Timers run for members that are there, and for them alone (section 10, LOAD-1). */
const timersLaw: WorldLaw = (_, { coordinator }) => {
  const { sessions, rebalances, delayRuns, slot } = coordinator;
  const { group, soft } = slot;
  const members = [...(group?.members.values() ?? [])];
  const names = members.map(({ memberId }) => memberId).sort();
  if (names.join() !== [...sessions].sort().join()) {
    return `session timers run for ${sessions}, members are ${names}`;
  }
  for (const memberId of rebalances.keys()) {
    if (!names.includes(memberId)) return `a rebalance timer runs for ${memberId}, which is gone`;
  }
  for (const { memberId, state, memberEpoch } of members) {
    // On a break, and until it is served after one, a member is in the state it left in but owes nothing (LEAVE-4).
    const owes = state === 'unrevokedTasks' && memberEpoch > 0;
    if (memberEpoch > 0 && owes !== (rebalances.get(memberId) === memberEpoch)) {
      return `${memberId} is ${state}, its rebalance timer is for ${rebalances.get(memberId)}`;
    }
  }
  if (delayRuns !== soft.delaying) return 'the initial delay and its timer differ';
  return undefined;
};

/** What is beside the log speaks of members that are there, and counts right (OFS-2, RSP-8). */
const softLaw: WorldLaw = (_, { coordinator, clients }) => {
  const { group, soft } = coordinator.slot;
  let hurried = 0;
  for (const [memberId, heard] of soft.members) {
    if (group?.members.has(memberId) !== true) return `${memberId} left something behind`;
    if (heard.hurried) hurried++;
  }
  if (hurried !== soft.hurriedMembers) {
    return `${soft.hurriedMembers} members count as hurried, ${hurried} are`;
  }
  const waiting = coordinator.parked?.request.memberId;
  for (const [at, { awaits }] of clients.entries()) {
    if (awaits && waiting !== MEMBERS[at]) return `${MEMBERS[at]} waits for nothing`;
  }
  return undefined;
};

/** A compacted log gives back what was lived (RP-6, LOG-1 to LOG-7). */
const replayLaw: WorldLaw = (_, { coordinator: { log, slot } }) => {
  const loaded = slotOf(log);
  if (isSame(slot.group, loaded.group)) return undefined;
  const [lived, read] = [slot.group, loaded.group].map((group) => inspect(plainGroup(group), DEEP));
  return `the log gives back ${read}, lived was ${lived}`;
};

const DEEP = { depth: 9, breakLength: Number.POSITIVE_INFINITY };

/** Whether two values are the same in depth; most parts are the very same objects, since records hand them on. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof PersistentMap || a instanceof Map) {
    const other = b as ReadonlyMap<string, unknown>;
    if (a.size !== other.size) return false;
    for (const [key, value] of a) if (!isSame(value, other.get(key))) return false;
    return true;
  }
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) =>
    isSame((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}

const WORLD_LAWS: readonly WorldLaw[] = [
  oneOwnerAsToldLaw,
  oneOwnerAsRunLaw,
  oneCopyAsToldLaw,
  timersLaw,
  softLaw,
  replayLaw,
];

/** Section 5, by looking at every member. */
const stateLaw: GroupLaw = (group) => {
  const state = slowState(group);
  return state === group.state ? undefined : `the group is ${group.state}, by its members ${state}`;
};

/**
 * PE <= ME <= AE <= GE; who owes tasks is below the target's epoch (REC-3, REC-9), as long as what there is to have
 * changes with that epoch alone, which warm-ups and loads can undo (WU-4).
 */
const epochsLaw: GroupLaw = ({ groupEpoch, assignmentEpoch, members, targets }, { warmups }) => {
  if (assignmentEpoch > groupEpoch) return `target ${assignmentEpoch} is above ${groupEpoch}`;
  for (const { memberId, memberEpoch, previousMemberEpoch, state, assigned } of members.values()) {
    const isBelow = state === 'unrevokedTasks' && warmups === 0;
    const most = isBelow ? assignmentEpoch - 1 : assignmentEpoch;
    if (memberEpoch > most)
      return `${memberId} is ${state} at ${memberEpoch} of ${assignmentEpoch}`;
    if (previousMemberEpoch > memberEpoch && memberEpoch >= 0) {
      return `${memberId} was at ${previousMemberEpoch} before ${memberEpoch}`;
    }
    if (state === 'unreleasedTasks' && memberEpoch !== assignmentEpoch) continue;
    for (const { assignmentEpochs } of assigned.active) {
      if (assignmentEpochs.some((epoch) => epoch > assignmentEpoch)) {
        return `${memberId} holds a task since ${assignmentEpochs} of ${assignmentEpoch}`;
      }
    }
  }
  for (const memberId of targets.keys()) {
    if (!members.has(memberId)) return `${memberId} is gone and has a target`;
  }
  return undefined;
};

/** One active owner per task; holders are what all members have (section 7). */
const holdersLaw: GroupLaw = (group) => {
  const { active, copies } = slowHolders(group);
  for (const [task, members] of active) {
    if (members.length !== 1) return `${task} is active with ${members}`;
    const owner = group.members.get(members[0] ?? '')?.processId;
    if (group.holders.active.get(task) !== owner) return `holders of ${task} are wrong`;
  }
  if (group.holders.active.size !== active.size) return 'holders name a task that nobody holds';
  for (const role of ['standby', 'warmup'] as const) {
    const counted = countHolders(group, role);
    const kept = [...group.holders[role]].map(([task, by]) => `${task} ${[...by].sort()}`).sort();
    if (kept.join() !== counted.join()) return `${role} holders are ${kept}, counted ${counted}`;
  }
  for (const [task, byProcess] of copies) {
    if (task.startsWith('0')) continue;
    for (const [processId, members] of byProcess) {
      if (members.length > 1) return `${processId} holds ${task} twice: ${members}`;
    }
  }
  return undefined;
};

function countHolders(group: Group, role: 'standby' | 'warmup'): readonly string[] {
  const found = new Map<string, Map<string, number>>();
  for (const { processId, assigned, pendingRevocation } of group.members.values()) {
    for (const held of [assigned, pendingRevocation]) {
      forEachTask(held[role], (id, at) => {
        const task = taskKey(id, at);
        const by = found.get(task) ?? new Map<string, number>();
        found.set(task, by.set(processId, (by.get(processId) ?? 0) + 1));
      });
    }
  }
  return [...found].map(([task, by]) => `${task} ${[...by].sort()}`).sort();
}

/** A task is not assigned and pending in one role; only who owes tasks has pending ones (REC-4). */
const rolesLaw: GroupLaw = ({ members }) => {
  for (const member of members.values()) {
    const { memberId, memberEpoch, state, assigned, pendingRevocation } = member;
    const owes = countAll(pendingRevocation) > 0;
    const isToOwe = state === 'unrevokedTasks' && memberEpoch > 0;
    if (owes !== isToOwe) return `${memberId} is ${state}, owes: ${owes}`;
    if (!areDisjoint(assigned.active, pendingRevocation.active)) {
      return `${memberId} has and owes an active task`;
    }
    if (!areDisjoint(assigned.active, assigned.standby)) return `${memberId} has a task twice`;
  }
  return undefined;
};

function countAll({ active, standby, warmup }: Member['assigned']): number {
  return active.length + standby.length + warmup.length;
}

const GROUP_LAWS: readonly GroupLaw[] = [stateLaw, epochsLaw, holdersLaw, rolesLaw];

/** What is wrong with a step, in words. */
export function brokenStepLaw(before: World, { world, sent }: Played): string | undefined {
  for (const { answer, memberId } of sent) {
    const broken = brokenAnswerLaw(answer, world.coordinator.slot.group?.members.get(memberId));
    if (broken !== undefined) return broken;
  }
  return risingLaw(before.coordinator.slot.group, world.coordinator.slot.group);
}

const ERRORS = new Set([
  'NONE',
  'UNKNOWN_MEMBER_ID',
  'FENCED_MEMBER_EPOCH',
  'GROUP_ID_NOT_FOUND',
  'UNRELEASED_INSTANCE_ID',
  'FENCED_INSTANCE_ID',
  'STREAMS_TOPOLOGY_FENCED',
]);

function brokenAnswerLaw(answer: HeartbeatAnswer, member: Member | undefined): string | undefined {
  const { error, memberEpoch, activeTasks, standbyTasks, warmupTasks } = answer;
  if (!ERRORS.has(error)) return `an answer says ${error}: ${answer.errorMessage}`;
  if (error !== 'NONE' || memberEpoch < 0) return undefined;
  // S03: 0 would mean "join".
  if (memberEpoch === 0) return 'a member is told epoch 0';
  if (memberEpoch !== member?.memberEpoch) return `a member is told another epoch: ${memberEpoch}`;
  const lists = [activeTasks, standbyTasks, warmupTasks];
  if (lists.every((list) => list === null)) return undefined;
  if (activeTasks === null || standbyTasks === null || warmupTasks === null) {
    return 'some lists are null, some are not (RSP-4)';
  }
  const told = { active: activeTasks, standby: standbyTasks, warmup: warmupTasks };
  return sameTasksByRole(told, member.assigned) ? undefined : 'a member is told what it has not';
}

/** Within a life of the group its epochs never fall, nor do those of a member that stays. */
function risingLaw(before: Group | undefined, after: Group | undefined): string | undefined {
  if (before === undefined || after === undefined || before === after) return undefined;
  if (after.groupEpoch < before.groupEpoch) return 'the group epoch fell';
  if (after.assignmentEpoch < before.assignmentEpoch) return 'the target epoch fell';
  if (after.groupEpoch > before.groupEpoch + 1) return 'the group epoch rose by more than one';
  return undefined;
}
