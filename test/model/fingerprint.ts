import type { HeartbeatRequest } from '../../machines/commands.ts';
import type { Group } from '../../machines/model/group.ts';
import type { Member, MemberState } from '../../machines/model/member.ts';
import type { GroupSoft } from '../../machines/model/soft.ts';
import {
  NO_TASKS_BY_ROLE,
  type TaskList,
  type TaskOffset,
  type TasksByRole,
} from '../../machines/model/tasks.ts';
import { INTERVAL_MS } from './coordinator.ts';
import { MEMBERS, type Setup } from './setup.ts';
import { AWAY, type Coordinator, type RunOut, type World } from './world.ts';

/**
 * A world as a short text, equal for worlds that nothing can ever tell apart. Epochs, run numbers and the clock grow
 * for ever, so they go in as what decisions ask of them:
 *
 * - Group, target and member epochs are only compared with each other, raised past all others (group), or moved up to
 *   the target's (member); a member that owes tasks may first go up by one, always staying below the target's. So of
 *   target and group epoch it matters whether they are equal, of a member epoch whether it is none, below or at the
 *   target's.
 * - What a client claims is compared with its own member's epoch and the one before, both of which only rise. A claim
 *   below both is never right again, whatever its value; so is the epoch before when nobody claims it.
 * - A rebalance timer counts if it is for the member's epoch, and can never do so again once it is not.
 * - A run counts if it is the one in flight; the result it will bring is part of the world, its number is not. One
 *   that does not count brings nothing.
 * - Epochs since which tasks are held matter to commits of offsets alone, which do not happen here.
 * - Only where the group can be deleted, and starts over while clients remember, are epochs themselves kept.
 *
 * The explorer keeps real worlds and uses this text only to know them again: were it too coarse, worlds would be
 * missed but none made up. That it is not too coarse is tested: worlds of one text have the same next texts.
 */
export function fingerprint(setup: Setup, world: World): string {
  const out: number[] = [];
  const { coordinator, clients, late } = world;
  const { group } = coordinator.slot;
  putGroup(out, setup, coordinator);
  clients.forEach((client, at) => {
    const memberId = MEMBERS[at] ?? '';
    const member = group?.members.get(memberId);
    if (group === undefined || member === undefined) out.push(0);
    else {
      const lateClaim = late?.who === at ? late.request.memberEpoch : AWAY;
      putMember(out, coordinator, group, member, [client.epoch, lateClaim]);
      if (setup.warmups > 0) putWarming(out, coordinator.slot.soft, group, memberId);
      if (setup.may.deletion) out.push(Math.max(0, member.memberEpoch));
    }
    putClaim(out, setup, group, member, client.epoch);
    out.push(
      flags(
        client.saysAll,
        client.awaits,
        client.disowned,
        client.topologyEpoch === 1,
        client.isCaughtUp,
      ),
    );
    putTasks(out, client.told);
    putTasks(out, client.runs);
    putTasks(out, world.keeps[at] ?? NO_TASKS_BY_ROLE);
  });
  if (late === undefined) out.push(0);
  else {
    const member = group?.members.get(late.request.memberId);
    out.push(1 + late.who);
    putClaim(out, setup, group, member, late.request.memberEpoch);
    putOwned(out, late.request);
  }
  return String.fromCharCode(...out);
}

function putGroup(out: number[], setup: Setup, coordinator: Coordinator): void {
  const { slot, parked, runs, nowMs } = coordinator;
  const { group, soft } = slot;
  const isWithin = (sinceMs: number | undefined) =>
    sinceMs !== undefined && setup.assignmentInterval && nowMs - sinceMs < INTERVAL_MS;
  out.push(flags(coordinator.sourceExists, coordinator.delayRuns, group === undefined));
  if (group !== undefined) {
    const { groupEpoch, assignmentEpoch } = group;
    if (setup.may.deletion) out.push(groupEpoch, assignmentEpoch);
    out.push(
      groupEpoch > assignmentEpoch ? 1 : 0,
      hashCode(group.metadataHash),
      1 + group.validatedTopologyEpoch,
      1 + (group.topology?.epoch ?? -1),
      flags(
        soft.configured === undefined,
        soft.configured?.problem === undefined,
        soft.refreshDue,
        soft.delaying,
        isWithin(group.assignmentTimestampMs),
        isWithin(soft.runFailedAtMs),
        soft.run === undefined,
      ),
      memberCode(soft.run?.waitingMemberId),
    );
  }
  out.push(runs.length);
  for (const run of runs) putRun(out, coordinator, run);
  if (parked === undefined) out.push(0);
  else {
    const { request, joined, created, run } = parked;
    out.push(
      memberCode(request.memberId),
      flags(joined, created, run === soft.run?.run, request.memberEpoch === 0),
    );
    putOwned(out, request);
  }
}

const STATE_CODES: Readonly<Record<MemberState, number>> = {
  stable: 1,
  unrevokedTasks: 2,
  unreleasedTasks: 3,
  unknown: 4,
};

function putMember(
  out: number[],
  { slot, sessions, rebalances }: Coordinator,
  group: Group,
  member: Member,
  claims: readonly number[],
): void {
  const { memberId, memberEpoch, previousMemberEpoch } = member;
  const heard = slot.soft.members.get(memberId);
  const target = group.targets.get(memberId);
  const armedEpoch = rebalances.get(memberId);
  out.push(
    STATE_CODES[member.state],
    memberEpoch <= 0 ? 10 - memberEpoch : memberEpoch === group.assignmentEpoch ? 1 : 2,
    previousMemberEpoch === memberEpoch
      ? 0
      : previousMemberEpoch > 0 && claims.includes(previousMemberEpoch)
        ? 1
        : 2,
    1 + member.topologyEpoch,
    flags(
      sessions.includes(memberId),
      heard?.acknowledged ?? true,
      heard?.hurried ?? false,
      target === undefined,
      armedEpoch !== undefined,
      armedEpoch === memberEpoch,
    ),
  );
  putTasks(out, member.assigned);
  putTasks(out, member.pendingRevocation);
  if (target !== undefined) putTasks(out, target);
}

/** What the refiner goes by: how far the member's copies are, its slice of the intermediate assignment. */
function putWarming(out: number[], soft: GroupSoft, group: Group, memberId: string): void {
  const { intermediate } = soft;
  const heard = soft.members.get(memberId);
  const reported = heard?.taskOffsets ?? [];
  out.push(heard?.heartbeatVersion === undefined ? 0 : 1, offsetBits(reported));
  out.push(offsetBits(reported.filter(({ offset }) => offset > 0n)));
  const isOfTarget = intermediate?.assignmentEpoch === group.assignmentEpoch;
  const slice = isOfTarget ? intermediate.refinement.slices.get(memberId) : undefined;
  out.push(flags(isOfTarget, slice !== undefined));
  if (slice !== undefined) putTasks(out, slice);
}

function offsetBits(offsets: readonly TaskOffset[]): number {
  return offsets.reduce(
    (bits, { subtopologyId, partition }) =>
      bits | taskBits([{ subtopologyId, partitions: [partition] }]),
    0,
  );
}

const UNRELATED = 14;
const ABOVE = 100;

/** What an epoch that a client holds is to the coordinator. */
function putClaim(
  out: number[],
  setup: Setup,
  group: Group | undefined,
  member: Member | undefined,
  claim: number,
): void {
  out.push(claimCode(group, member, claim));
  // The next life of the group starts from the first epoch again.
  if (setup.may.deletion) out.push(Math.max(0, claim));
}

function claimCode(group: Group | undefined, member: Member | undefined, claim: number): number {
  if (claim <= 0) return -claim;
  if (group === undefined) return UNRELATED;
  const { assignmentEpoch } = group;
  if (claim === member?.memberEpoch) return 10;
  if (claim === member?.previousMemberEpoch) return 11;
  const next =
    member !== undefined && member.memberEpoch > 0 ? member.memberEpoch : assignmentEpoch;
  if (claim < next) return 12;
  return claim === next ? 13 : ABOVE + claim - assignmentEpoch;
}

function putRun(out: number[], { slot }: Coordinator, { run, result }: RunOut): void {
  const { group, soft } = slot;
  const isOurs = run.incarnation === soft.incarnation && run.run === soft.run?.run;
  if (!isOurs || group === undefined) {
    out.push(0);
    return;
  }
  const { groupEpoch } = run;
  out.push(groupEpoch === group.groupEpoch ? 1 : groupEpoch > group.assignmentEpoch ? 2 : 3);
  out.push(1 + run.problem.topologyEpoch, result.targets.length);
  [...result.targets].forEach(({ active, standby }, at) => {
    out.push(memberCode(result.memberIds[at]), taskBits(active), taskBits(standby));
  });
}

function putOwned(out: number[], request: HeartbeatRequest): void {
  const { activeTasks, standbyTasks, warmupTasks } = request;
  const isSent = activeTasks !== null && standbyTasks !== null && warmupTasks !== null;
  out.push(isSent ? 1 : 0);
  if (isSent) putTasks(out, { active: activeTasks, standby: standbyTasks, warmup: warmupTasks });
}

function putTasks(out: number[], { active, standby, warmup }: TasksByRole): void {
  out.push(taskBits(active), taskBits(standby), taskBits(warmup));
}

/** Room for partitions of one subtopology. */
const SUBTOPOLOGY_BITS = 4;

/** One bit per task; subtopology ids are single digits, partitions below {@link SUBTOPOLOGY_BITS}. */
export function taskBits(tasks: TaskList): number {
  let bits = 0;
  for (const { subtopologyId, partitions } of tasks) {
    const shift = Number(subtopologyId) * SUBTOPOLOGY_BITS;
    for (const partition of partitions) bits |= 1 << (shift + partition);
  }
  return bits;
}

function flags(...set: readonly boolean[]): number {
  return set.reduce((bits, is, at) => (is ? bits | (1 << at) : bits), 0);
}

/** 0: none. */
function memberCode(memberId: string | undefined): number {
  return memberId === undefined ? 0 : 1 + MEMBERS.indexOf(memberId);
}

const hashes = new Map<bigint, number>();

function hashCode(hash: bigint): number {
  const known = hashes.get(hash) ?? hashes.size;
  hashes.set(hash, known);
  return known;
}
