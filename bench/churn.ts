import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ClientConnection } from '../src/client/connection.ts';
import { type MemberTopology, ScriptedMember } from '../src/client/member.ts';
import { Bystanders } from './bystanders.ts';
import { count, flag, legend, runBench, showFigures } from './command-line.ts';
import { joinAndSettle } from './heartbeats.ts';
import type { LoopDelay } from './loop-delay.ts';
import { quantile } from './quantile.ts';
import { measureServerLoop, readyAddress, startServer, stopServer } from './server-process.ts';

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

/** What came of it. Latencies are those of the bystanders' heartbeats, each from when it was sent. */
export type ChurnFigures = ChurnLoad & {
  readonly calmP50Ms: number;
  readonly calmP99Ms: number;
  readonly churnP50Ms: number;
  readonly churnP99Ms: number;
  /** How late the server's event loop came to its timers. */
  readonly calmLoopP99Ms: number;
  readonly churnLoopP99Ms: number;
  readonly churnLoopMaxMs: number;
  /** Moments, while bystanders were timed, at which each group lost a member and got another one. */
  readonly events: number;
  /** Assignments made while bystanders were timed: as many as groups times events, or the figures say little. */
  readonly assignments: number;
};

const CONNECTIONS = 20;
const TOPIC = 'in';
const SUBTOPOLOGIES = 10;
/** Between two moments at which all groups lose a member and get another one. */
const EVENT_MS = 500;

/**
 * Heartbeats of members at rest while other groups get new assignments all at once. Both share the machine with the
 * server and with its assignor threads: what is over the calm is theirs as well as the server's, unless there are
 * processors for all.
 */
export async function benchChurn(load: ChurnLoad): Promise<ChurnFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-bench-'));
  const server = startServer(folder, [
    'group.streams.num.standby.replicas=1',
    // These members restore nothing, so what waits for a warm-up would wait for good, and more of it after every event.
    'group.streams.num.warmup.replicas=0',
  ]);
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
    const bystanders = await Bystanders.start({
      address,
      topic: TOPIC,
      members: load.bystanders,
      beatsPerSecond: load.beatsPerSecond,
    });
    const groups = await churningGroups(connections, load);
    // Until then the server runs code that no compiler has seen.
    await disturb(groups, load.seconds);
    const calm = new Phase();
    const churn = new Phase();
    let events = 0;
    let assignments = 0;
    for (let round = 0; round < load.rounds; round++) {
      await calm.measure(server, () => bystanders.time(load.seconds));
      await churn.measure(server, async () => {
        const [latencies, made] = await Promise.all([
          bystanders.time(load.seconds),
          disturb(groups, load.seconds),
        ]);
        events += made.events;
        assignments += made.assignments;
        return latencies;
      });
    }
    await bystanders.stop();
    for (const connection of connections) connection.close();
    return {
      ...load,
      calmP50Ms: calm.latency(0.5),
      calmP99Ms: calm.latency(0.99),
      churnP50Ms: churn.latency(0.5),
      churnP99Ms: churn.latency(0.99),
      calmLoopP99Ms: calm.loopP99Ms,
      churnLoopP99Ms: churn.loopP99Ms,
      churnLoopMaxMs: churn.loopMaxMs,
      events,
      assignments,
    };
  } finally {
    await stopServer(server);
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is measured in all rounds of calm, or of churn. */
class Phase {
  readonly #latencies: number[] = [];
  readonly #loop: LoopDelay[] = [];

  async measure(server: ChildProcess, work: () => Promise<Float64Array>): Promise<void> {
    const { result, loopDelay } = await measureServerLoop(server, work);
    for (const latency of result) this.#latencies.push(latency);
    this.#loop.push(loopDelay);
  }

  /** @param share 0.5 for the median. */
  latency(share: number): number {
    return quantile(this.#latencies, share);
  }

  /** Of the median round: one in which the machine was busy with something else says nothing. */
  get loopP99Ms(): number {
    return quantile(
      this.#loop.map(({ p99 }) => p99),
      0.5,
    );
  }

  get loopMaxMs(): number {
    return quantile(
      this.#loop.map(({ max }) => max),
      0.5,
    );
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

type Disturbed = { readonly events: number; readonly assignments: number };

/** Every so often each group loses its oldest member and gets another one, all groups at the same moment. */
async function disturb(groups: readonly ChurningGroup[], seconds: number): Promise<Disturbed> {
  let events = 0;
  let assignments = 0;
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() + EVENT_MS < endMs) {
    const pause = sleep(EVENT_MS);
    events++;
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
  return { events, assignments };
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

const NOTES = legend(
  "Figures, ms; those of the bystanders' heartbeats, each from when it was sent:",
  {
    'calm… and churn…':
      'while the groups are left alone, and while each loses a member and gets one',
    '…P50Ms, …P99Ms': 'half of the heartbeats, and 99 of 100, were answered within',
    '…LoopP99Ms, …LoopMaxMs': "how late the server's event loop came to its timers",
    events: 'how often each group lost a member and got one',
    assignments: 'made meanwhile: as many as groups times events, or the rest says little',
  },
);

async function main(): Promise<void> {
  await runBench('churn', { options: OPTIONS, notes: NOTES }, async ({ rate, json, ...load }) => {
    const figures = await benchChurn({ ...load, beatsPerSecond: rate });
    showFigures([figures], json);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
