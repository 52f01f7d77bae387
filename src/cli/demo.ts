import { AdminClient } from '../client/admin.ts';
import { ClientConnection } from '../client/connection.ts';
import { expectAccepted, ScriptedMember } from '../client/member.ts';
import { formatHostPort, type HostPort } from '../config/host-port.ts';
import { resolveConfig } from '../config/resolve.ts';
import { CommandError, type CommandIo, type Started } from './command-io.ts';
import { table } from './table.ts';
import { askWhy, whyText } from './why.ts';

const CLIENT_ID = 'headgate-demo';
const GROUP = 'orders';
const SOURCE = 'clicks';
const PARTITIONS = 6;
/** A round is one heartbeat of everybody; a rebalance of this size takes four or five. */
const ROUNDS_MAX = 50;
const JOURNAL_LIMIT = 1_000;

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

/**
 * Starts a coordinator of its own and lets three members without any work to do join it over the Kafka protocol, one
 * after the other, and one leave; then prints what was decided and why.
 */
export async function demo(io: CommandIo): Promise<void> {
  const { config } = resolveConfig({ flags: SETTINGS });
  const { log, flush } = io.createLogger(config.log, io);
  const started = await io.startCoordinator(config, { log });
  try {
    await play(started, io);
  } finally {
    await started.stop();
    flush();
  }
}

async function play({ address, adminAddress }: Started, io: CommandIo): Promise<void> {
  if (adminAddress === undefined) throw new CommandError('Cannot show why: no admin server');
  const connection = await ClientConnection.open(address, { clientId: CLIENT_ID });
  try {
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
    const [first, ...others] = members;
    if (first !== undefined) expectAccepted(await first.leave(), 'let the first member leave');
    await settle(others);
    io.out(`\nalpha left:\n${tasksTable(others)}`);
    const { entries } = await askWhy(GROUP, { admin: adminAddress, limit: JOURNAL_LIMIT });
    io.out(`\nWhat was decided, and why (headgate groups why ${GROUP}):\n\n${whyText(entries)}`);
  } finally {
    connection.close();
  }
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
  const rows = members.map(({ memberId, memberEpoch, owned }) => [
    `  ${memberId}`,
    String(memberEpoch),
    owned.activeTasks
      .flatMap(({ subtopologyId, partitions }) => partitions.map((at) => `${subtopologyId}_${at}`))
      .join(' ') || '-',
  ]);
  return table(['  MEMBER', 'EPOCH', 'TASKS'], rows);
}
