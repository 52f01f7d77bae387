import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { ClientConnection } from '../src/client/connection.ts';
import { type HeartbeatAnswer, ScriptedMember } from '../src/client/member.ts';
import { count, counts, flag, legend, runBench, showFigures } from './command-line.ts';
import { cpuSeconds, readyAddress, startServer, stopServer } from './server-process.ts';

/** What is measured. */
export type HeartbeatLoad = {
  readonly members: number;
  readonly groupSize: number;
  /** Heartbeats in all, once every group is at rest. */
  readonly beats: number;
};

/** What came of it. */
export type HeartbeatFigures = HeartbeatLoad & {
  readonly beatsPerSecond: number;
  /** Processor time of the server's process, all threads, in microseconds; undefined where /proc does not tell. */
  readonly serverMicrosecondsPerBeat: number | undefined;
  /** Heartbeats that were answered without an error and with nothing to do: all of them, or the figures say nothing. */
  readonly check: number;
};

const CONNECTIONS = 20;
/** Heartbeats under way on one connection. */
const IN_FLIGHT = 20;
const ROUNDS_MAX = 100;
const TOPIC = 'in';

/** Heartbeats of members at rest, over sockets, against a server in a process of its own with its store on disk. */
export async function benchHeartbeats(load: HeartbeatLoad): Promise<HeartbeatFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-bench-'));
  const server = startServer(folder);
  try {
    const address = await readyAddress(server);
    const connections = await Promise.all(
      Array.from({ length: Math.min(CONNECTIONS, load.members) }, () =>
        ClientConnection.open(address, { clientId: 'bench' }),
      ),
    );
    const members = await settledMembers(connections, load);
    const cpuBefore = await cpuSeconds(server.pid);
    const startMs = performance.now();
    const check = await beatIdly(members, connections.length, load.beats);
    const seconds = (performance.now() - startMs) / 1000;
    const cpuAfter = await cpuSeconds(server.pid);
    for (const connection of connections) connection.close();
    return {
      ...load,
      beatsPerSecond: Math.round(load.beats / seconds),
      serverMicrosecondsPerBeat:
        cpuBefore === undefined || cpuAfter === undefined
          ? undefined
          : Math.round(((cpuAfter - cpuBefore) * 1e7) / load.beats) / 10,
      check,
    };
  } finally {
    await stopServer(server);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Members in groups of the size asked for, each with one task, all of them with nothing more to do. */
async function settledMembers(
  connections: readonly ClientConnection[],
  { members: count, groupSize }: HeartbeatLoad,
): Promise<readonly ScriptedMember[]> {
  const [first] = connections;
  await first?.request('CreateTopics', {
    topics: [{ name: TOPIC, numPartitions: groupSize, replicationFactor: 1 }],
    timeoutMs: 5_000,
  });
  const members = connections.flatMap((connection, at) =>
    Array.from(
      { length: Math.ceil((count - at) / connections.length) },
      (_, nth) =>
        new ScriptedMember(connection, {
          groupId: `bench-${Math.floor((nth * connections.length + at) / groupSize)}`,
          topics: [TOPIC],
        }),
    ),
  );
  await joinAndSettle(members);
  return members;
}

/** All members join, and give up and take over tasks until nobody has anything more to do. */
export async function joinAndSettle(members: readonly ScriptedMember[]): Promise<void> {
  refuseErrors(await Promise.all(members.map((member) => member.join())));
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const before = members.map(({ memberEpoch }) => memberEpoch);
    const answers = await Promise.all(members.map((member) => member.acknowledge()));
    refuseErrors(answers);
    const isCalm = members.every(
      (member, at) => member.memberEpoch === before[at] && member.given === member.owned,
    );
    if (isCalm) return;
  }
  throw new Error(`The groups did not come to rest in ${ROUNDS_MAX} rounds`);
}

function refuseErrors(answers: readonly HeartbeatAnswer[]): void {
  const refused = answers.find(({ errorCode }) => errorCode !== 0);
  if (refused !== undefined) throw new Error(`Refused: ${refused.errorMessage}`);
}

/** @returns how many heartbeats were answered with nothing to do. */
async function beatIdly(
  members: readonly ScriptedMember[],
  connections: number,
  beats: number,
): Promise<number> {
  let sent = 0;
  let idle = 0;
  const goOn = async () => {
    while (sent < beats) {
      const member = members[sent % members.length];
      sent++;
      const answer = await member?.beat();
      if (answer?.errorCode === 0 && answer.activeTasks === null) idle++;
    }
  };
  await Promise.all(Array.from({ length: connections * IN_FLIGHT }, goOn));
  return idle;
}

const OPTIONS = {
  members: count(2_000, 'members in all'),
  'group-size': counts([10, 100, 1_000], 'members of each group, measured one after the other'),
  beats: count(200_000, 'heartbeats to send'),
  json: flag('for programs'),
};

const NOTES = legend('Figures:', {
  beatsPerSecond: 'heartbeats answered in a second, as many under way as 20 connections carry',
  serverMicrosecondsPerBeat: "processor time of the server's process for each, all threads",
  check:
    'heartbeats answered without an error and with nothing to do: as many as beats, or the rest says nothing',
} satisfies Record<Exclude<keyof HeartbeatFigures, keyof HeartbeatLoad>, string>);

async function main(): Promise<void> {
  await runBench('heartbeats', { options: OPTIONS, notes: NOTES }, async (values) => {
    const { members, 'group-size': sizes, beats, json } = values;
    const figures: HeartbeatFigures[] = [];
    for (const groupSize of sizes) {
      figures.push(await benchHeartbeats({ members, groupSize, beats }));
    }
    showFigures(figures, json);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
