import type {
  AssignmentMember,
  AssignmentProblem,
  AssignmentResult,
} from '../machines/model/assignment.ts';
import { byCodeUnits } from '../machines/model/ids.ts';
import { NOT_STARTED } from '../machines/model/lag.ts';
import { NO_TASKS, type TaskIds, type TaskList } from '../machines/model/tasks.ts';
import type { KeyValue } from '../machines/model/topology.ts';
import {
  ALGORITHMS,
  at,
  CANDIDATE,
  createDense,
  type Dense,
  type DenseSizes,
  denseBytes,
} from './dense.ts';
import { byRank, type Candidate, gatherHeld, numberTasks, type TaskRange } from './held.ts';
import { kafkaView } from './kafka-view.ts';
import type { ProblemView } from './problem-view.ts';
import type { SharedBuffers } from './shared-buffers.ts';

/** A problem in numbers, and what it takes to read the result in words again. */
export type EncodedProblem = {
  readonly dense: Dense;
  /** Sorted, as the dense subtopologies are. */
  readonly subtopologyIds: readonly string[];
  /** Dense number of the member at each place of the problem's list. */
  readonly memberNumbers: Int32Array;
};

/** Everything by id; of equals the smaller number is taken everywhere, so the first id is preferred. */
const ownView: ProblemView = {
  orderMembers: (memberIds) => memberIds.toSorted(byCodeUnits),
  orderProcesses: (members) =>
    [...new Set(members.map(({ processId }) => processId))].sort(byCodeUnits),
  gatherHeld,
  byRank,
};

/**
 * Writes a problem as dense arrays into one shared buffer, which the caller gives back to `buffers` when no thread
 * can touch it any more. Everything that does not fit the topology is left out: tasks unknown or out of range, copies
 * and offsets of stateless tasks. Order of lists in the problem does not matter (section 8).
 *
 * Candidates are sorted, and judged caught up or not, by their exact sums before those become doubles.
 *
 * Refuses two members of one id.
 *
 * Source: assignors 4, 9.1, 9.2.
 */
export function encodeProblem(problem: AssignmentProblem, buffers: SharedBuffers): EncodedProblem {
  const subtopologies = problem.subtopologies.toSorted((a, b) =>
    byCodeUnits(a.subtopologyId, b.subtopologyId),
  );
  const view = ALGORITHMS[algorithmOf(problem)] === 'kafka_sticky' ? kafkaView : ownView;
  const placeOf = placesOf(problem.members);
  const places = view.orderMembers([...placeOf.keys()]).map((id) => placeOf.get(id) as number);
  const members = places.map((place) => problem.members[place] as AssignmentMember);
  const processIds = view.orderProcesses(members);

  const tags = tagsOf(members, processIds, problem.rackAwareAssignmentTags);
  const tasks = numberTasks(subtopologies);
  const held = view.gatherHeld(members, tasks, problem.acceptableRecoveryLag);
  const size: DenseSizes = {
    subtopologies: subtopologies.length,
    tasks: tasks.count,
    members: members.length,
    processes: processIds.length,
    replicas: problem.numStandbyReplicas,
    slots: Math.max(0, Math.min(problem.numStandbyReplicas, processIds.length - 1)),
    tagKeys: problem.rackAwareAssignmentTags.length,
    tagGroups: tags.groupCount,
    candidates: held.candidates.length,
  };
  const dense = createDense(buffers.take(denseBytes(size)), size, {
    algorithm: algorithmOf(problem),
    held: held.prevActive.reduce((n, member) => n + (member === -1 ? 0 : 1), 0),
    copies: held.candidates.reduce((n, { role }) => n + (role === CANDIDATE.disk ? 0 : 1), 0),
    stale: members.reduce((n, each) => n + (isStale(each, problem) ? 1 : 0), 0),
  });

  subtopologies.forEach(({ subtopologyId, stateful }, s) => {
    const { base, end } = tasks.of(subtopologyId) as TaskRange;
    dense.base[s] = base;
    dense.stateful[s] = stateful ? 1 : 0;
    dense.subtopologyOf.fill(s, base, end);
  });
  dense.base[size.subtopologies] = size.tasks;
  dense.prevActive.set(held.prevActive);
  writeMembers(dense, members, processIds, { problem, view });
  dense.tagValue.set(tags.values);
  dense.tagGroup.set(tags.groups);
  writeCandidates(dense, held.candidates, view.byRank);

  const memberNumbers = new Int32Array(members.length);
  places.forEach((place, m) => {
    memberNumbers[place] = m;
  });
  return { dense, subtopologyIds: subtopologies.map((each) => each.subtopologyId), memberNumbers };
}

/**
 * Reads the result out of the buffer; afterwards nothing refers to it.
 *
 * @returns members in the order of the problem's list.
 */
export function decodeResult(encoded: EncodedProblem): AssignmentResult {
  const { dense, memberNumbers } = encoded;
  const { activeStart, activeTask, standbyStart, standbyTask } = dense;
  const members = Array.from(memberNumbers, (m) => ({
    active: groupTasks(encoded, activeTask, at(activeStart, m), at(activeStart, m + 1)),
    standby: groupTasks(encoded, standbyTask, at(standbyStart, m), at(standbyStart, m + 1)),
  }));
  const unassigned = new Int32Array(dense.size.tasks - at(activeStart, dense.size.members));
  let found = 0;
  for (let t = 0; found < unassigned.length && t < dense.size.tasks; t++) {
    if (at(dense.active, t) === -1) unassigned[found++] = t;
  }
  return { members, unassigned: groupTasks(encoded, unassigned, 0, found) };
}

/** Ascending task numbers as a list by subtopology. */
function groupTasks(encoded: EncodedProblem, list: Int32Array, from: number, to: number): TaskList {
  if (from === to) return NO_TASKS;
  const { base, subtopologyOf } = encoded.dense;
  const grouped: TaskIds[] = [];
  for (let i = from; i < to; ) {
    const s = at(subtopologyOf, at(list, i));
    const first = at(base, s);
    const end = at(base, s + 1);
    const partitions: number[] = [];
    for (; i < to && at(list, i) < end; i++) partitions.push(at(list, i) - first);
    grouped.push({ subtopologyId: encoded.subtopologyIds[s] as string, partitions });
  }
  return grouped;
}

/** Kafka's own placement is that of its sticky; the other assignors are ours in both profiles. */
function algorithmOf({ assignor, placeAsKafka }: AssignmentProblem): number {
  const name = placeAsKafka === true && assignor === 'sticky' ? 'kafka_sticky' : assignor;
  return Math.max(0, (ALGORITHMS as readonly string[]).indexOf(name));
}

function isStale(member: AssignmentMember, problem: AssignmentProblem): boolean {
  return member.topologyEpoch !== problem.topologyEpoch;
}

function placesOf(members: readonly AssignmentMember[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  members.forEach(({ memberId }, place) => {
    if (places.has(memberId)) {
      throw new Error(`Cannot encode assignment problem: member "${memberId}" is there twice`);
    }
    places.set(memberId, place);
  });
  return places;
}

function writeMembers(
  dense: Dense,
  members: readonly AssignmentMember[],
  processIds: readonly string[],
  { problem, view }: { readonly problem: AssignmentProblem; readonly view: ProblemView },
): void {
  const processNumbers = new Map(processIds.map((processId, p) => [processId, p]));
  const { procOf, procStart, procMember, placeInProcess, procCapacity, frozen } = dense;
  procStart.fill(0);
  members.forEach((member, m) => {
    const p = processNumbers.get(member.processId) as number;
    procOf[m] = p;
    frozen[m] = isStale(member, problem) ? 1 : 0;
    procStart[p + 1] = at(procStart, p + 1) + 1;
  });
  for (let p = 0; p < processIds.length; p++) {
    procCapacity[p] = at(procStart, p + 1);
    procStart[p + 1] = at(procStart, p + 1) + at(procStart, p);
  }
  const numberOfMember = new Map(members.map(({ memberId }, m) => [memberId, m]));
  const byProcess: string[][] = processIds.map(() => []);
  for (const { memberId, processId } of members) {
    byProcess[processNumbers.get(processId) as number]?.push(memberId);
  }
  byProcess.forEach((memberIds, p) => {
    const ordered = view.orderMembers(memberIds).map((id) => numberOfMember.get(id) as number);
    procMember.set(ordered, at(procStart, p));
    ordered.forEach((m, place) => {
      placeInProcess[m] = place;
    });
  });
}

/** A process has the tags of its member with the smallest id; all are expected to report the same. */
function tagsOf(
  members: readonly AssignmentMember[],
  processIds: readonly string[],
  tagKeys: readonly string[],
): { readonly values: number[]; readonly groups: number[]; readonly groupCount: number } {
  const tagsByProcess = new Map<string, readonly KeyValue[]>();
  for (const { processId, clientTags } of members) {
    if (!tagsByProcess.has(processId)) tagsByProcess.set(processId, clientTags);
  }
  const valueNumbers = tagKeys.map(() => new Map<string, number>());
  const groupNumbers = new Map<string, number>();
  const values: number[] = [];
  const groups: number[] = [];
  for (const processId of processIds) {
    const tags = tagsByProcess.get(processId) ?? [];
    const tuple = tagKeys.map((key, k) => {
      const value = tags.find((tag) => tag.key === key)?.value;
      return value === undefined ? -1 : numberOf(value, valueNumbers[k] as Map<string, number>);
    });
    values.push(...tuple);
    groups.push(numberOf(tuple.join(), groupNumbers));
  }
  return { values, groups, groupCount: groupNumbers.size };
}

function numberOf(text: string, numbers: Map<string, number>): number {
  const known = numbers.get(text) ?? numbers.size;
  numbers.set(text, known);
  return known;
}

/** Into lists by task, each by rank. Candidates come in member order, and equal ranks keep it. */
function writeCandidates(
  dense: Dense,
  candidates: readonly Candidate[],
  byRank: ProblemView['byRank'],
): void {
  const { candStart, candDisk, candMember, candOffset, candCaughtUp, candRole, size } = dense;
  candStart.fill(0);
  for (const { task } of candidates) candStart[task + 1] = at(candStart, task + 1) + 1;
  for (let t = 0; t < size.tasks; t++) candStart[t + 1] = at(candStart, t + 1) + at(candStart, t);
  // Counting sort into the lists; each is short, as a rule.
  const next = candStart.slice();
  const sorted: Candidate[] = new Array(candidates.length);
  for (const candidate of candidates) {
    const end = at(next, candidate.task);
    sorted[end] = candidate;
    next[candidate.task] = end + 1;
  }
  for (let t = 0; t < size.tasks; t++) {
    const from = at(candStart, t);
    const to = at(candStart, t + 1);
    if (to - from > 1) sortByRank(sorted, from, to, byRank);
    let disk = from;
    while (disk < to && (sorted[disk] as Candidate).role !== CANDIDATE.disk) disk++;
    candDisk[t] = disk;
  }
  for (let c = 0; c < sorted.length; c++) {
    const { member, role, offset, caughtUp } = sorted[c] as Candidate;
    candMember[c] = member;
    candRole[c] = role;
    candCaughtUp[c] = caughtUp ? 1 : 0;
    candOffset[c] = offset === undefined ? -1 : offset === NOT_STARTED ? Infinity : Number(offset);
  }
}

/** Longer lists than this are left to the library; an insertion sort would take its time. */
const SHORT_LIST = 16;

/** Sorts a part of the list in place, keeping the order of equals. */
function sortByRank(
  list: Candidate[],
  from: number,
  to: number,
  byRank: ProblemView['byRank'],
): void {
  if (to - from > SHORT_LIST) {
    const part = list.slice(from, to).sort(byRank);
    for (let i = from; i < to; i++) list[i] = part[i - from] as Candidate;
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const candidate = list[i] as Candidate;
    let hole = i;
    while (hole > from && byRank(list[hole - 1] as Candidate, candidate) > 0) {
      list[hole] = list[hole - 1] as Candidate;
      hole--;
    }
    list[hole] = candidate;
  }
}
