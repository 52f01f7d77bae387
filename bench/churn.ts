import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ClientConnection } from '../src/client/connection.ts';
import { type MemberTopology, ScriptedMember } from '../src/client/member.ts';
import { count, flag, runBench, showFigures } from './command-line.ts';
import { joinAndSettle } from './heartbeats.ts';
import { readyAddress, startServer, stopServer } from './server-process.ts';

/** What is measured. */
export type ChurnLoad = {
  /** Groups that get a new assignment all at once, again and again. */
  readonly groups: number;
  readonly members: number;
  /** Tasks of each of these groups, nearly all with state and one standby. */
  readonly tasks: number;
  /** Members of other groups, ten each, that have nothing to do and whose heartbeats are timed. */
  readonly bystanders: number;
  readonly beatsPerSecond: number;
  /** Seconds of each phase; calm and churn take turns. */
  readonly seconds: number;
  readonly rounds: number;
};

/** What came of it: latencies of the bystanders' heartbeats, ms. */
export type ChurnFigures = ChurnLoad & {
  readonly calmP50Ms: number;
  readonly calmP99Ms: number;
  readonly churnP50Ms: number;
  readonly churnP99Ms: number;
  /** Assignments made while bystanders were timed: as many as groups times events, or the figures say little. */
  readonly assignments: number;
};

const CONNECTIONS = 20;
const TOPIC = 'in';
const SUBTOPOLOGIES = 10;
const BYSTANDERS_PER_GROUP = 10;
/** Between two moments at which all groups lose a member and get another one. */
const EVENT_MS = 500;

/** Heartbeats of members at rest while other groups get new assignments all at once. */
export async function benchChurn(load: ChurnLoad): Promise<ChurnFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-bench-'));
  const server = startServer(folder, ['group.streams.num.standby.replicas=1']);
  try {
    const address = await readyAddress(server);
    const connections = await Promise.all(
      Array.from({ length: CONNECTIONS }, () =>
        ClientConnection.open(address, { clientId: 'bench' }),
      ),
    );
    await connections[0]?.request('CreateTopics', {
      topics: [{ name: TOPIC, numPartitions: load.tasks / SUBTOPOLOGIES, replicationFactor: 1 }],
      timeoutMs: 5_000,
    });
    const bystanders = membersOf(connections, load.bystanders, (nth) => ({
      groupId: `calm-${Math.floor(nth / BYSTANDERS_PER_GROUP)}`,
      topics: [TOPIC],
    }));
    await joinAndSettle(bystanders);
    const groups = await churningGroups(connections, load);

    const calm: number[] = [];
    const churn: number[] = [];
    let assignments = 0;
    for (let round = 0; round < load.rounds; round++) {
      await timeBeats(bystanders, load, calm);
      const [made] = await Promise.all([
        disturb(groups, load.seconds),
        timeBeats(bystanders, load, churn),
      ]);
      assignments += made;
    }
    for (const connection of connections) connection.close();
    return {
      ...load,
      calmP50Ms: quantile(calm, 0.5),
      calmP99Ms: quantile(calm, 0.99),
      churnP50Ms: quantile(churn, 0.5),
      churnP99Ms: quantile(churn, 0.99),
      assignments,
    };
  } finally {
    await stopServer(server);
    await rm(folder, { recursive: true, force: true });
  }
}

type ChurningGroup = { readonly members: ScriptedMember[]; readonly next: () => ScriptedMember };

async function churningGroups(
  connections: readonly ClientConnection[],
  { groups, members }: ChurnLoad,
): Promise<readonly ChurningGroup[]> {
  const made: ChurningGroup[] = [];
  for (let nth = 0; nth < groups; nth++) {
    const options = { groupId: `churn-${nth}`, topology: statefulTopology(nth) };
    const some = membersOf(connections, members, () => options);
    await joinAndSettle(some);
    const connection = connections[nth % connections.length];
    if (connection === undefined) throw new Error('There is no connection');
    made.push({ members: some, next: () => new ScriptedMember(connection, options) });
  }
  return made;
}

function membersOf(
  connections: readonly ClientConnection[],
  count: number,
  optionsOf: (nth: number) => ConstructorParameters<typeof ScriptedMember>[1],
): ScriptedMember[] {
  return Array.from({ length: count }, (_, nth) => {
    const connection = connections[nth % connections.length];
    if (connection === undefined) throw new Error('There is no connection');
    return new ScriptedMember(connection, optionsOf(nth));
  });
}

function statefulTopology(group: number): MemberTopology {
  return {
    epoch: 0,
    subtopologies: Array.from({ length: SUBTOPOLOGIES }, (_, s) => ({
      subtopologyId: String(s),
      sourceTopics: [TOPIC],
      sourceTopicRegex: [],
      stateChangelogTopics: [
        {
          name: `churn-${group}-${s}-changelog`,
          partitions: 0,
          replicationFactor: 1,
          topicConfigs: [],
        },
      ],
      repartitionSinkTopics: [],
      repartitionSourceTopics: [],
      copartitionGroups: [],
    })),
  };
}

/** Every so often each group loses its oldest member and gets another one, all groups at the same moment. */
async function disturb(groups: readonly ChurningGroup[], seconds: number): Promise<number> {
  let assignments = 0;
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() + EVENT_MS < endMs) {
    const pause = sleep(EVENT_MS);
    await Promise.all(
      groups.map(async ({ members, next }) => {
        const comes = next();
        await members.shift()?.leave();
        const { errorCode, errorMessage } = await comes.join();
        if (errorCode !== 0) throw new Error(`Refused: ${errorMessage}`);
        members.push(comes);
        assignments++;
      }),
    );
    await pause;
  }
  return assignments;
}

/** Sends heartbeats at an even rate, whatever the answers do, and notes from its due time how long each took. */
async function timeBeats(
  members: readonly ScriptedMember[],
  { beatsPerSecond, seconds }: ChurnLoad,
  latencies: number[],
): Promise<void> {
  const startMs = performance.now();
  const count = seconds * beatsPerSecond;
  const beats: Promise<void>[] = [];
  for (let sent = 0; sent < count; ) {
    for (; sent < count; sent++) {
      const dueMs = startMs + (sent * 1000) / beatsPerSecond;
      if (dueMs > performance.now()) break;
      const member = members[sent % members.length];
      if (member === undefined) throw new Error('There is no bystander');
      beats.push(
        member.beat().then(({ errorCode }) => {
          if (errorCode !== 0) throw new Error(`Refused: ${errorCode}`);
          latencies.push(performance.now() - dueMs);
        }),
      );
    }
    await sleep(1);
  }
  await Promise.all(beats);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2));
}

const OPTIONS = {
  groups: count(20, 'groups that get a new assignment all at once'),
  members: count(100, 'members of each of these groups'),
  tasks: count(1_000, 'tasks of each of these groups'),
  bystanders: count(1_000, 'members of other groups, whose heartbeats are timed'),
  rate: count(1_000, 'their heartbeats a second'),
  seconds: count(5, 'of each phase'),
  rounds: count(3, 'of calm and churn in turn'),
  json: flag('for programs'),
};

async function main(): Promise<void> {
  await runBench('churn', OPTIONS, async ({ rate, json, ...load }) => {
    const figures = await benchChurn({ ...load, beatsPerSecond: rate });
    showFigures([figures], json);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
