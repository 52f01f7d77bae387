import { at, type Dense, isSet } from './dense.ts';
import { includes } from './includes.ts';
import { PriorityHeap } from './java-collections.ts';
import { listAll } from './member-lists.ts';
import { Quota } from './quota.ts';

/** What the passes of one run share. */
type KafkaRun = {
  readonly dense: Dense;
  /** All tasks by (partition, subtopology). */
  readonly order: readonly number[];
  readonly activeQuota: Quota;
  readonly totalQuota: Quota;
  /** Heap of the members of each process; made when first needed, void when a member got a task past it. */
  readonly members: (PriorityHeap | undefined)[];
};

/**
 * Places tasks as the sticky assignor of Apache Kafka 4.4.0 does, down to which of equals it takes, so that the kafka
 * profile answers with the same tasks. Fills the result arrays of `dense`, whose members and processes must be numbered
 * in the order of Kafka's collections (`kafka-view.ts`). It takes no notice of rack tags, of state before statelessness,
 * or of stale members: for what is better there is `sticky`.
 *
 * Source: assignors 6.1; recorded and differential histories.
 */
export function assignAsKafka(dense: Dense): void {
  const { size } = dense;
  for (const result of [dense.active, dense.standby]) result.fill(-1);
  for (const counter of [dense.standbyCount, dense.count, dense.procCount]) counter.fill(0);
  const partitionOf = (task: number) => task - at(dense.base, at(dense.subtopologyOf, task));
  const order = Array.from({ length: size.tasks }, (_, task) => task);
  order.sort((a, b) => partitionOf(a) - partitionOf(b) || a - b);
  const stateful = order.filter((task) => isSet(dense.stateful, at(dense.subtopologyOf, task)));
  const run: KafkaRun = {
    dense,
    order,
    activeQuota: new Quota(size.tasks, size.members),
    totalQuota: new Quota(size.tasks + size.replicas * stateful.length, size.members),
    members: [],
  };
  placeActives(run);
  if (size.replicas > 0) placeStandbys(run, stateful.reverse());
  listAll(dense);
}

function placeActives(run: KafkaRun): void {
  const { dense, order, activeQuota } = run;
  const { active, prevActive, count } = dense;
  const placeIfRoom = (task: number, member: number): void => {
    if (member === -1 || at(count, member) >= activeQuota.limit) return;
    placeActive(run, task, member);
    run.members[at(dense.procOf, member)] = undefined;
  };
  for (const task of order) placeIfRoom(task, at(prevActive, task));
  for (const task of order) {
    if (at(active, task) === -1) placeIfRoom(task, bestCandidate(dense, task, 0));
  }
  const processes = processesByLoad(dense);
  for (let task = 0; task < dense.size.tasks; task++) {
    if (at(active, task) !== -1) continue;
    const process = processes.poll();
    if (process === undefined) return;
    const members = membersByCount(run, process);
    const member = members.poll() as number;
    placeActive(run, task, member);
    members.add(member);
    processes.add(process);
  }
}

function placeActive(run: KafkaRun, task: number, member: number): void {
  run.dense.active[task] = member;
  const count = countTask(run.dense, member);
  run.activeQuota.reached(count);
  run.totalQuota.reached(count);
}

/** @param tasks the stateful ones, by (partition, subtopology) from the last to the first. */
function placeStandbys(run: KafkaRun, tasks: readonly number[]): void {
  const { dense, totalQuota } = run;
  const { prevActive, procOf, count, holders, size } = dense;
  const left: { readonly task: number; readonly replicas: number }[] = [];
  for (const task of tasks) {
    for (let placed = 0; placed < size.replicas; placed++) {
      const held = holdersOf(dense, task);
      let member = at(prevActive, task);
      const hasRoom = () => member !== -1 && at(count, member) < totalQuota.limit;
      if (!hasRoom() || includes(holders, held, at(procOf, member))) {
        member = bestCandidate(dense, task, held);
      }
      if (!hasRoom()) {
        left.push({ task, replicas: size.replicas - placed });
        break;
      }
      placeStandby(run, task, member);
      run.members[at(procOf, member)] = undefined;
    }
  }
  const processes = processesByLoad(dense);
  left.sort((a, b) => b.task - a.task);
  for (const { task, replicas } of left) {
    for (let i = 0; i < replicas; i++) if (!placeOnLeastLoaded(run, processes, task)) break;
  }
}

/** On the least loaded process that does not hold the task. Those passed over go back after it, the last one first. */
function placeOnLeastLoaded(run: KafkaRun, processes: PriorityHeap, task: number): boolean {
  const { dense } = run;
  const held = holdersOf(dense, task);
  const passed: number[] = [];
  let process = processes.poll();
  while (process !== undefined && includes(dense.holders, held, process)) {
    passed.push(process);
    process = processes.poll();
  }
  if (process !== undefined) {
    const members = membersByCount(run, process);
    const member = members.poll() as number;
    placeStandby(run, task, member);
    members.add(member);
    processes.add(process);
  }
  for (const back of passed.reverse()) processes.add(back);
  return process !== undefined;
}

function placeStandby({ dense, totalQuota }: KafkaRun, task: number, member: number): void {
  const { size, standby, standbyCount } = dense;
  const placed = at(standbyCount, task);
  standby[task * size.slots + placed] = member;
  standbyCount[task] = placed + 1;
  totalQuota.reached(countTask(dense, member));
}

/** Writes the processes that hold a task to `dense.holders`. @returns how many. */
function holdersOf({ active, standby, standbyCount, procOf, holders, size }: Dense, task: number) {
  let held = 0;
  const owner = at(active, task);
  if (owner !== -1) holders[held++] = at(procOf, owner);
  for (let i = 0; i < at(standbyCount, task); i++) {
    holders[held++] = at(procOf, at(standby, task * size.slots + i));
  }
  return held;
}

/**
 * Walks a task's candidates: the first one, replaced by a later one only if that one's process load and member count are
 * both smaller. Whether it has room is the caller's to ask.
 *
 * @param held the first so many of `holders` are processes that hold the task already; their members do not count.
 */
function bestCandidate(dense: Dense, task: number, held: number): number {
  const { candStart, candMember, holders, procOf, procCount, procCapacity, count } = dense;
  let best = -1;
  for (let c = at(candStart, task); c < at(candStart, task + 1); c++) {
    const member = at(candMember, c);
    const process = at(procOf, member);
    if (includes(holders, held, process)) continue;
    const bestProcess = best === -1 ? process : at(procOf, best);
    if (
      best === -1 ||
      (at(count, member) < at(count, best) &&
        at(procCount, process) * at(procCapacity, bestProcess) <
          at(procCount, bestProcess) * at(procCapacity, process))
    ) {
      best = member;
    }
  }
  return best;
}

/** Puts one more task on a member's account, whatever the role; returns how many it has. */
function countTask({ procOf, count, procCount }: Dense, member: number): number {
  const process = at(procOf, member);
  const has = at(count, member) + 1;
  count[member] = has;
  procCount[process] = at(procCount, process) + 1;
  return has;
}

function processesByLoad({ size, procCount, procCapacity }: Dense): PriorityHeap {
  const heap = new PriorityHeap((process) => at(procCount, process) / at(procCapacity, process));
  for (let process = 0; process < size.processes; process++) heap.add(process);
  return heap;
}

function membersByCount({ dense, members }: KafkaRun, process: number): PriorityHeap {
  const known = members[process];
  if (known !== undefined) return known;
  const heap = new PriorityHeap((member) => at(dense.count, member));
  for (let i = at(dense.procStart, process); i < at(dense.procStart, process + 1); i++) {
    heap.add(at(dense.procMember, i));
  }
  members[process] = heap;
  return heap;
}
