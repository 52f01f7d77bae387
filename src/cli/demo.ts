import { taskKey } from '../../machines/model/task-list.ts';
import { AdminClient } from '../client/admin.ts';
import { ClientConnection } from '../client/connection.ts';
import { expectAccepted, ScriptedMember } from '../client/member.ts';
import { formatHostPort, type HostPort } from '../config/host-port.ts';
import { resolveConfig } from '../config/resolve.ts';
import { errorName } from '../wire/errors.ts';
import { CommandError, type CommandIo } from './command-io.ts';
import { stopSignal } from './stop-signal.ts';
import { table } from './table.ts';
import { askWhy, whyText } from './why.ts';

const CLIENT_ID = 'headgate-demo';
const GROUP = 'orders';
const SOURCE = 'clicks';
const PARTITIONS = 6;
/** A round is one heartbeat of everybody; a rebalance of this size takes four or five. */
const ROUNDS_MAX = 50;
const JOURNAL_LIMIT = 1_000;

/** What a member hears that was taken for gone; it owns nothing any more. */
const MUST_JOIN_AGAIN: ReadonlySet<string> = new Set(['UNKNOWN_MEMBER_ID', 'FENCED_MEMBER_EPOCH']);

/** Waits that make sense for real members are no part of a demonstration. */
const SETTINGS = {
  store: 'memory',
  port: '0',
  'admin.port': '0',
  'log.level': 'warn',
  'assignor.threads': '1',
  'assignor.answer.wait.ms': '10000',
  'group.streams.initial.rebalance.delay.ms': '0',
  'group.streams.assignment.interval.ms': '0',
};

type Places = { readonly address: HostPort; readonly adminAddress: HostPort };

export type DemoFlags = { readonly keep?: true };

/**
 * Starts a coordinator of its own and lets three members without any work to do join it over the Kafka protocol, one
 * after the other, and one leave; then prints what was decided and why. With `keep` coordinator and members live on
 * until the process is told to stop, and it prints commands to try on them.
 *
 * @throws {ClientError} when a member is refused for good.
 */
export async function demo({ keep }: DemoFlags, io: CommandIo): Promise<void> {
  const { config } = resolveConfig({ flags: SETTINGS });
  const { log, flush } = io.createLogger(config.log, io);
  const started = await io.startCoordinator(config, { log });
  try {
    const { address, adminAddress } = started;
    if (adminAddress === undefined) throw new CommandError('Cannot show why: no admin server');
    const connection = await ClientConnection.open(address, { clientId: CLIENT_ID });
    try {
      const played = await play(connection, { address, adminAddress }, io);
      if (keep !== true) return;
      const signal = stopSignal(io);
      io.out(whatToTry({ address, adminAddress }, played.moved));
      await keepAlive(played.members, signal, io);
    } finally {
      connection.close();
    }
  } finally {
    await started.stop();
    flush();
  }
}

/** Tells the whole story while it happens; gives the members that are left, and a task that came to one from another. */
async function play(
  connection: ClientConnection,
  { address, adminAddress }: Places,
  io: CommandIo,
): Promise<{ readonly members: readonly ScriptedMember[]; readonly moved: string }> {
  io.out(`A coordinator runs on ${formatHostPort(address)}, with its groups in memory.\n`);
  await createSource(address);
  io.out(
    `Topic "${SOURCE}" has ${PARTITIONS} partitions. Group "${GROUP}" reads it and keeps no state.\n`,
  );
  const members: ScriptedMember[] = [];
  for (const memberId of ['alpha', 'beta', 'gamma']) {
    const member = newMember(connection, memberId);
    expectAccepted(await member.join(), `let ${memberId} join`);
    members.push(member);
    await settle(members);
    io.out(`\n${memberId} joined:\n${tasksTable(members)}`);
  }
  const [moved = ''] = tasksOf(members.at(-1));
  const [first, ...others] = members;
  if (first !== undefined) expectAccepted(await first.leave(), 'let the first member leave');
  await settle(others);
  io.out(`\nalpha left:\n${tasksTable(others)}`);
  const { entries } = await askWhy(GROUP, { admin: adminAddress, limit: JOURNAL_LIMIT });
  io.out(`\nWhat was decided, and why (headgate groups why ${GROUP}):\n\n${whyText(entries)}`);
  return { members: others, moved };
}

/** Sends everybody's heartbeats, as often as members are told to, until the signal is aborted. */
async function keepAlive(
  members: readonly ScriptedMember[],
  signal: AbortSignal,
  io: CommandIo,
): Promise<void> {
  while (!signal.aborted) {
    let intervalMs = 0;
    for (const member of members) intervalMs = await keepUp(member);
    await pause(intervalMs, signal, io);
  }
}

/** One heartbeat; a member that was taken for gone, while the machine slept, joins again. Gives the ms until the next. */
async function keepUp(member: ScriptedMember): Promise<number> {
  let answer = await member.beat();
  if (MUST_JOIN_AGAIN.has(errorName(answer.errorCode))) answer = await member.join();
  expectAccepted(answer, `keep ${member.memberId}`);
  if (member.given !== member.owned) member.adopt();
  return answer.heartbeatIntervalMs;
}

/** Resolves after so many ms, or when the signal is aborted. */
function pause(ms: number, signal: AbortSignal, { after }: CommandIo): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = after(ms, () => end());
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
  });
}

/** @param task one that came to where it is from another member. */
function whatToTry({ address, adminAddress }: Places, task: string): string {
  const admin = `--admin ${formatHostPort(adminAddress)}`;
  const lines = [
    '',
    'The group lives on until Ctrl-C. Try, in another terminal:',
    `  headgate groups members ${GROUP} --bootstrap ${formatHostPort(address)} ${admin}`,
    `  headgate groups why ${GROUP} --task ${task} ${admin}`,
    `  headgate assign --group ${GROUP} --add-member ${admin}`,
  ];
  return lines.map((line) => `${line}\n`).join('');
}

async function createSource(address: HostPort): Promise<void> {
  const admin = await AdminClient.connect([address], { clientId: CLIENT_ID });
  try {
    await admin.createTopic(SOURCE, PARTITIONS);
  } finally {
    admin.close();
  }
}

function newMember(connection: ClientConnection, memberId: string): ScriptedMember {
  return new ScriptedMember(connection, {
    groupId: GROUP,
    memberId,
    processId: `process-of-${memberId}`,
    topology: { epoch: 0, subtopologies: [{ subtopologyId: '0', sourceTopics: [SOURCE] }] },
  });
}

/** Lets everybody send heartbeats and do as told, until nobody is told anything new. */
async function settle(members: readonly ScriptedMember[]): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    let isCalm = true;
    for (const member of members) {
      const before = member.memberEpoch;
      expectAccepted(await member.beat(), `keep ${member.memberId}`);
      if (member.given !== member.owned || member.memberEpoch !== before) isCalm = false;
      if (member.given !== member.owned) member.adopt();
    }
    if (isCalm) return;
  }
  throw new CommandError(`The members did not come to rest in ${ROUNDS_MAX} rounds`);
}

function tasksTable(members: readonly ScriptedMember[]): string {
  const rows = members.map((member) => [
    `  ${member.memberId}`,
    String(member.memberEpoch),
    tasksOf(member).join(' ') || '-',
  ]);
  return table(['  MEMBER', 'EPOCH', 'TASKS'], rows);
}

/** The active tasks a member runs, as `0_3`. */
function tasksOf(member: ScriptedMember | undefined): readonly string[] {
  return (member?.owned.activeTasks ?? []).flatMap(({ subtopologyId, partitions }) =>
    partitions.map((partition) => taskKey(subtopologyId, partition)),
  );
}
