import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type BrokerAddress, ClientConnection } from '../src/client/connection.ts';
import { type HeartbeatAnswer, ScriptedMember } from '../src/client/member.ts';

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
const READY_MS = 30_000;
/** What Linux counts processor time in, whatever the machine. */
const TICKS_PER_SECOND = 100;
const TOPIC = 'in';
/** Nobody is to expire while ten thousand others are joining. */
const SESSION_MS = 3_600_000;

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

function startServer(folder: string): ChildProcess {
  const program = fileURLToPath(new URL('../src/main.js', import.meta.url));
  const settings = [
    'group.streams.initial.rebalance.delay.ms=0',
    'group.streams.assignment.interval.ms=0',
    `group.streams.max.session.timeout.ms=${SESSION_MS}`,
    `group.streams.session.timeout.ms=${SESSION_MS}`,
    'log.level=error',
  ];
  return spawn(
    process.execPath,
    [
      program,
      ...['serve', '--port', '0', '--admin-port', 'off', '--data-dir', folder],
      ...settings.flatMap((setting) => ['--set', setting]),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
}

function readyAddress(server: ChildProcess): Promise<BrokerAddress> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The server is not ready')), READY_MS);
    server.once('exit', (code) => reject(new Error(`The server ended with ${code}`)));
    if (server.stdout === null) return;
    createInterface({ input: server.stdout }).on('line', (line) => {
      const [, host, port] = /^Headgate ready on (.+):(\d+)$/.exec(line) ?? [];
      if (host === undefined) return;
      clearTimeout(timer);
      resolve({ host, port: Number(port) });
    });
  });
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await ended;
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
  refuseErrors(await Promise.all(members.map((member) => member.join())));
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const before = members.map(({ memberEpoch }) => memberEpoch);
    const answers = await Promise.all(members.map((member) => member.acknowledge()));
    refuseErrors(answers);
    const isCalm = members.every(
      (member, at) => member.memberEpoch === before[at] && member.given === member.owned,
    );
    if (isCalm) return members;
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

/** Processor time of a process so far, user and system. */
async function cpuSeconds(pid: number | undefined): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The command's name may hold blanks; it ends with the last bracket. User and system time are fields 14 and 15.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      members: { type: 'string', default: '2000' },
      'group-size': { type: 'string', default: '10,100,1000' },
      beats: { type: 'string', default: '200000' },
      json: { type: 'boolean', default: false },
    },
  });
  const figures: HeartbeatFigures[] = [];
  for (const groupSize of values['group-size'].split(',').map(Number)) {
    const load = { members: Number(values.members), groupSize, beats: Number(values.beats) };
    figures.push(await benchHeartbeats(load));
  }
  if (values.json) {
    for (const each of figures) console.log(JSON.stringify(each));
    return;
  }
  console.log(`Node ${process.version}, ${cpus()[0]?.model ?? 'unknown CPU'} x ${cpus().length}`);
  console.table(figures);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
