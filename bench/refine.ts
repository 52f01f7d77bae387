import { fileURLToPath } from 'node:url';
import { apply } from '../machines/apply.ts';
import type { Client } from '../machines/commands.ts';
import { decideHeartbeat } from '../machines/decide/heartbeat.ts';
import type { Context, GroupSlot } from '../machines/decision.ts';
import { emptySlot, newSoft, UNHEARD_MEMBER } from '../machines/model/empty.ts';
import { PersistentMap } from '../machines/model/persistent-map.ts';
import type { TaskList, TaskOffset, TasksByRole } from '../machines/model/tasks.ts';
import type { GroupRecord } from '../machines/records.ts';
import { amount, flag, legend, runBench, showFigures } from './command-line.ts';
import { type TimingLimits, timeRuns } from './cpu-time.ts';
import { idleContext, idleRequest, recordsOfMember } from './heartbeat-decision.ts';

/** A settled group of ten subtopologies, each task with one standby, of whose tasks some are to go to another process. */
export type RefineCell = {
  readonly members: number;
  readonly tasks: number;
  /** One task in so many moves; 0 = none. */
  readonly oneMovesIn: number;
};

/** µs of processor time, medians. */
export type RefineFigures = RefineCell & {
  readonly moving: number;
  /** A heartbeat for which nothing has to be found. */
  readonly idleUs: number;
  /** A heartbeat that finds the refinement although nothing of it is known yet: after a load. */
  readonly anewUs: number;
  /** A heartbeat that says how far the member's copies are, which are behind and not where their tasks go. */
  readonly reportUs: number;
  /** A heartbeat that finds it again after one report that counts. */
  readonly againUs: number;
  /** A heartbeat that finds it and gets the group one epoch further, with the words for it. */
  readonly stepUs: number;
  /** Every task of every member and its target read once and added up: what a look at everything costs at least. */
  readonly scanUs: number;
  readonly anewPerScan: number;
  /** Tasks that wait in the refinement found: the same in every run. */
  readonly check: number;
};

const GROUP_ID = 'bench';
/** So a member's tasks are in as many lists, as those of real applications are. */
const SUBTOPOLOGIES = 10;
const CLIENT: Client = { clientId: 'client', clientHost: '/127.0.0.1', apiVersion: 1 };

/** Measures heartbeats of one group in which the refinement has to be found. */
export async function benchRefine(cell: RefineCell, limits: TimingLimits): Promise<RefineFigures> {
  const context = contextOf(cell);
  const slot = settledSlot(cell, context);
  const beat = (from: GroupSlot, memberId: string) =>
    decideHeartbeat(from, idleRequest(memberId), CLIENT, context);
  // The first task goes from the first member to the third, which gets a warm-up; the last but two has nothing to do with it.
  const [due, plain] = [idOf(2), idOf(cell.members - 3)];
  const known = { ...slot, soft: beat(slot, plain).soft };
  const unknown = { ...known, soft: { ...known.soft, derived: undefined } };
  const stale = {
    ...known,
    soft: { ...known.soft, reporters: PersistentMap.from([[due, true as const]]) },
  };
  const copies = known.group?.members.get(plain)?.assigned.standby ?? [];
  const report = { ...idleRequest(plain), taskOffsets: reportOf(copies, 100_000n) };
  const us = async (run: () => unknown): Promise<number> =>
    (await timeRuns(run, limits)).cpuUs.median;
  const idleUs = await us(() => beat(known, plain));
  const anewUs = await us(() => beat(unknown, plain));
  const reportUs = await us(() => decideHeartbeat(known, report, CLIENT, context));
  const againUs = await us(() => beat(stale, plain));
  const stepUs = await us(() => beat(stale, due));
  const scanUs = await us(() => scan(slot));
  const { derived } = beat(unknown, plain).soft;
  const moves = derived?.refinement.moves ?? [];
  return {
    ...cell,
    moving: cell.oneMovesIn === 0 ? 0 : Math.ceil(cell.tasks / cell.oneMovesIn),
    idleUs,
    anewUs,
    reportUs,
    againUs,
    stepUs,
    scanUs,
    anewPerScan: Number((anewUs / scanUs).toFixed(2)),
    check: moves.filter(({ kind }) => kind === 'staged').length,
  };
}

/** Every topic is there, the changelog too. */
function contextOf({ tasks }: RefineCell): Context {
  const partitions = tasks / SUBTOPOLOGIES;
  const idle = idleContext(partitions);
  const racks = Array.from({ length: partitions }, () => []);
  const topic = (name: string) => ({
    name,
    topicId: name.slice(0, 22).padEnd(22, '_'),
    partitionCount: partitions,
    racks,
  });
  return { ...idle, topics: { topic } };
}

function idOf(member: number): string {
  return `member-${String(member).padStart(6, '0')}`;
}

/** Member i runs every task whose number is i modulo the members, the next one has its standby; it moves one further. */
function settledSlot(cell: RefineCell, context: Context): GroupSlot {
  const { tasks, members, oneMovesIn } = cell;
  const lists = Array.from({ length: members }, () => ({
    active: [] as number[],
    standby: [] as number[],
    wanted: [] as number[],
  }));
  for (let task = 0; task < tasks; task++) {
    const holder = task % members;
    const isMoving = oneMovesIn > 0 && task % oneMovesIn === 0;
    lists[holder]?.active.push(task);
    lists[(holder + 1) % members]?.standby.push(task);
    lists[(holder + (isMoving ? 2 : 0)) % members]?.wanted.push(task);
  }
  const subtopologies = Array.from({ length: SUBTOPOLOGIES }, (_, at) => ({
    subtopologyId: String(at),
    sourceTopics: [`in-${at}`],
    sourceTopicRegex: [],
    stateChangelogTopics: [
      { name: `store-${at}`, partitions: 0, replicationFactor: 0, topicConfigs: [] },
    ],
    repartitionSinkTopics: [],
    repartitionSourceTopics: [],
    copartitionGroups: [],
  }));
  const records: GroupRecord[] = [
    { type: 'topology', groupId: GROUP_ID, value: { epoch: 0, subtopologies } },
  ];
  const listOf = listsOf(tasks / SUBTOPOLOGIES);
  const heard = new Map<string, typeof UNHEARD_MEMBER>();
  lists.forEach(({ active, standby, wanted }, at) => {
    const copies = listOf(standby);
    const has = { active: listOf(active), standby: copies, warmup: [] };
    const target = { active: listOf(wanted), standby: copies, warmup: [] };
    records.push(...recordsOfMember(idOf(at), has, target));
    heard.set(idOf(at), {
      ...UNHEARD_MEMBER,
      heartbeatVersion: 1,
      acknowledged: true,
      taskOffsets: reportOf(copies, 90_000n),
      taskEndOffsets: reportOf(copies, 200_000n),
      reportedAtMs: context.nowMs,
    });
  });
  const soft = { ...newSoft(1), members: PersistentMap.from(heard) };
  const joined = records.reduce(apply, emptySlot(GROUP_ID));
  // The first heartbeat raises the epoch, since the topics are news; the group is then put at its end.
  const first = decideHeartbeat({ ...joined, soft }, idleRequest(idOf(0)), CLIENT, context);
  const raised = first.records.filter(({ type }) => type === 'groupMetadata').reduce(apply, joined);
  const target: GroupRecord = {
    type: 'targetMetadata',
    groupId: GROUP_ID,
    value: { assignmentEpoch: 2, assignmentTimestampMs: 1 },
  };
  const { configured } = first.soft;
  return { ...apply(raised, target), soft: { ...soft, configured, refreshDue: false } };
}

/** Tasks by their numbers; those of one subtopology follow on another. */
function listsOf(partitionCount: number): (tasks: readonly number[]) => TaskList {
  return (tasks) => {
    const partitionsOf = new Map<number, number[]>();
    for (const task of tasks) {
      const subtopology = Math.floor(task / partitionCount);
      const partitions = partitionsOf.get(subtopology) ?? [];
      partitions.push(task % partitionCount);
      partitionsOf.set(subtopology, partitions);
    }
    return [...partitionsOf]
      .sort(([a], [b]) => a - b)
      .map(([at, partitions]) => ({
        subtopologyId: String(at),
        partitions: partitions.sort((a, b) => a - b),
      }));
  };
}

function reportOf(copies: TaskList, offset: bigint): readonly TaskOffset[] {
  return copies.flatMap(({ subtopologyId, partitions }) =>
    partitions.map((partition) => ({ subtopologyId, partition, offset })),
  );
}

function scan({ group }: GroupSlot): number {
  let sum = 0;
  const add = ({ active, standby, warmup }: TasksByRole): void => {
    for (const list of [active, standby, warmup]) {
      for (const { partitions } of list) for (const partition of partitions) sum += partition;
    }
  };
  group?.members.forEach((memberId, { assigned }) => {
    const target = group.targets.get(memberId);
    add(assigned);
    if (target !== undefined) add(target);
  });
  return sum;
}

const SIZES = [
  { members: 1_000, tasks: 10_000 },
  { members: 10_000, tasks: 100_000 },
];
const SHARES = [0, 100, 1];

const OPTIONS = {
  seconds: amount(1, 'processor time to warm up for, and to measure for'),
  json: flag('for programs'),
};

const NOTES = legend('Figures of one group, µs of processor time a heartbeat, medians:', {
  oneMovesIn: 'one task in so many is to go to another process; 0: none',
  moving: 'tasks that are to go there',
  idleUs: 'there is nothing to find out',
  anewUs: 'finds out what waits for a warm-up, with nothing known: the first one after a load',
  reportUs: "takes in a member's report of how far its copies are",
  againUs: 'finds it out again after a report that counts',
  stepUs: 'finds it out and gets the group one epoch further',
  scanUs: 'no heartbeat: all tasks of all members and targets read once, for comparison',
  anewPerScan: 'anewUs by scanUs: how many such looks it costs',
  check: 'tasks found to wait: the same in every run, and as many as are moving',
} satisfies Record<Exclude<keyof RefineFigures, 'members' | 'tasks'>, string>);

async function main(): Promise<void> {
  await runBench('refine', { options: OPTIONS, notes: NOTES }, async ({ seconds, json }) => {
    const limits = { warmSeconds: seconds, measureSeconds: seconds };
    const figures: RefineFigures[] = [];
    for (const size of SIZES) {
      for (const oneMovesIn of SHARES) {
        figures.push(await benchRefine({ ...size, oneMovesIn }, limits));
      }
    }
    showFigures(figures, json);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
