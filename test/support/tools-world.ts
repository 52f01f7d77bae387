import { setTimeout as pause } from 'node:timers/promises';
import { ClientConnection } from '../../src/client/connection.ts';
import { type MemberTopology, ScriptedMember } from '../../src/client/member.ts';
import type { HostPort } from '../../src/config/host-port.ts';
import { encodeRecordBatches } from '../../src/wire/record-batch.ts';

/** Records in every partition of an input, and so the last offset. */
export const RECORD_COUNT = 10;
const CREATE_TIMEOUT_MS = 10_000;
const ROUNDS_MAX = 200;
/** A broker that has just started is not ready at once: for about ten seconds. */
const TRIES_MAX = 100;
const PAUSE_MS = 100;
/** Unknown partition, no leader, another leader, coordinator loading, not there, elsewhere. */
const PASSING: readonly number[] = [3, 5, 6, 14, 15, 16];
/** From 10 on topics go by id. */
const COMMIT_BY_NAME_MAX = 9;
const PRODUCE_BY_NAME_MAX = 12;

/** `orders` is grouped anew, and counted in a store with a changelog. */
const counting: MemberTopology = {
  epoch: 0,
  subtopologies: [
    {
      subtopologyId: '0',
      sourceTopics: ['orders'],
      repartitionSinkTopics: ['shop-regroup-repartition'],
    },
    {
      subtopologyId: '1',
      repartitionSourceTopics: [
        { name: 'shop-regroup-repartition', partitions: 0, replicationFactor: 0 },
      ],
      stateChangelogTopics: [
        {
          name: 'shop-counts-changelog',
          partitions: 0,
          replicationFactor: 0,
          topicConfigs: [{ key: 'cleanup.policy', value: 'compact' }],
        },
      ],
    },
  ],
};

/**
 * What tools are shown, the same whoever coordinates: topics with records, a running group of two members, a group that
 * waits for its source topic, one that is empty and has committed offsets, and offsets of a simple group.
 */
export class ToolsWorld {
  readonly #connection: ClientConnection;
  readonly #carriesData: boolean;
  readonly #members: ScriptedMember[];
  readonly #waiting: ScriptedMember;

  /** @param carriesData the server keeps records; else offsets end where somebody has committed. */
  static async open(address: HostPort, carriesData: boolean): Promise<ToolsWorld> {
    const connection = await ClientConnection.open(address, { clientId: 'scripted' });
    return new ToolsWorld(connection, carriesData);
  }

  private constructor(connection: ClientConnection, carriesData: boolean) {
    this.#connection = connection;
    this.#carriesData = carriesData;
    this.#members = ['alpha', 'beta'].map(
      (memberId) =>
        new ScriptedMember(connection, {
          groupId: 'shop',
          memberId,
          processId: `process-of-${memberId}`,
          topology: counting,
        }),
    );
    this.#waiting = new ScriptedMember(connection, {
      groupId: 'waiting',
      memberId: 'gamma',
      processId: 'process-of-gamma',
      topics: ['missing'],
    });
  }

  /** Creates topics and fills them, and commits offsets of groups that have no members. */
  async createTopics(): Promise<void> {
    const partitionCounts = { orders: 2, refunds: 1 };
    const { topics } = await this.#connection.request('CreateTopics', {
      topics: Object.entries(partitionCounts).map(([name, numPartitions]) => ({
        name,
        numPartitions,
        replicationFactor: 1,
      })),
      timeoutMs: CREATE_TIMEOUT_MS,
    });
    const refused = topics.filter(({ errorCode }) => errorCode !== 0);
    if (refused.length > 0) throw new Error(`Cannot create topics: ${JSON.stringify(refused)}`);
    if (this.#carriesData) await this.#produce(partitionCounts);
    // A broker makes its topic of offsets when somebody first asks who keeps them.
    await this.#connection.request('FindCoordinator', { coordinatorKeys: ['offline'], keyType: 0 });
    const offline = { groupId: 'offline', memberId: '', memberEpoch: -1 };
    await this.#commit(offline, { orders: [0, 1], refunds: [0] });
  }

  async #produce(partitionCounts: Readonly<Record<string, number>>): Promise<void> {
    const records = encodeRecordBatches([
      {
        records: Array.from({ length: RECORD_COUNT }, (_, at) => ({
          offset: BigInt(at),
          timestamp: BigInt(Date.now()),
          key: Buffer.from('key'),
          value: Buffer.from('value'),
          headers: [],
        })),
      },
    ]);
    for (const [name, count] of Object.entries(partitionCounts)) {
      for (let index = 0; index < count; index++) {
        await untilTaken(`produce to ${name}-${index}`, async () => {
          const { responses } = await this.#connection.request(
            'Produce',
            {
              acks: -1,
              timeoutMs: CREATE_TIMEOUT_MS,
              topicData: [{ name, partitionData: [{ index, records }] }],
            },
            { version: this.#connection.version('Produce', PRODUCE_BY_NAME_MAX) },
          );
          return responses.flatMap((topic) => topic.partitionResponses.map((p) => p.errorCode));
        });
      }
    }
  }

  /** Lets the members join and beat until everybody runs what it should; commits what they have read. */
  async start(): Promise<void> {
    await untilTaken('join', async () => [(await this.#waiting.join()).errorCode]);
    // One after the other: how often the group's epoch rises must not depend on how long topics take to appear.
    for (const [at, member] of this.#members.entries()) {
      await untilTaken('join', async () => [(await member.join()).errorCode]);
      await this.#settle(this.#members.slice(0, at + 1));
    }
    for (const member of this.#members) {
      const partitions = member.owned.activeTasks.find((task) => task.subtopologyId === '0');
      await this.#commit(
        { groupId: 'shop', memberId: member.memberId, memberEpoch: member.memberEpoch },
        { orders: partitions?.partitions ?? [] },
      );
    }
  }

  /** Heartbeats until the group is stable and everybody runs what it was given. */
  async #settle(members: readonly ScriptedMember[]): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      for (const member of members) await member.acknowledge();
      const { groups } = await this.#connection.request('StreamsGroupDescribe', {
        groupIds: ['shop'],
      });
      const isStable = groups[0]?.groupState === 'Stable';
      if (isStable && members.every(({ owned, given }) => owned === given)) return;
    }
    throw new Error(`The group did not settle in ${ROUNDS_MAX} rounds`);
  }

  /** All members leave. */
  async stop(): Promise<void> {
    for (const member of [...this.#members, this.#waiting]) await member.leave();
  }

  /** Topics as the server lists them, by name, with the number of their partitions. */
  async topics(): Promise<Readonly<Record<string, number>>> {
    const { topics } = await this.#connection.request('Metadata', { topics: null });
    const shown = topics.filter(({ isInternal }) => !isInternal);
    return Object.fromEntries(
      shown.map(({ name, partitions }) => [name, partitions.length] as const).sort(),
    );
  }

  async deleteTopics(): Promise<void> {
    await this.#connection.request('DeleteTopics', {
      topics: ['orders', 'refunds'].map((name) => ({ name })),
      timeoutMs: CREATE_TIMEOUT_MS,
    });
  }

  close(): void {
    this.#connection.close();
  }

  async #commit(
    {
      groupId,
      memberId,
      memberEpoch,
    }: Record<'groupId' | 'memberId', string> & {
      readonly memberEpoch: number;
    },
    partitionsByTopic: Readonly<Record<string, readonly number[]>>,
  ): Promise<void> {
    await untilTaken(`commit for ${groupId}`, async () => {
      const { topics } = await this.#connection.request(
        'OffsetCommit',
        {
          groupId,
          memberId,
          generationIdOrMemberEpoch: memberEpoch,
          topics: Object.entries(partitionsByTopic).map(([name, partitions]) => ({
            name,
            partitions: partitions.map((partitionIndex) => ({
              partitionIndex,
              committedOffset: BigInt(RECORD_COUNT),
              committedMetadata: '',
            })),
          })),
        },
        { version: this.#connection.version('OffsetCommit', COMMIT_BY_NAME_MAX) },
      );
      return topics.flatMap((topic) => topic.partitions.map((one) => one.errorCode));
    });
  }
}

/** Asks again while all that stands in the way passes by itself. */
async function untilTaken(what: string, ask: () => Promise<readonly number[]>): Promise<void> {
  for (let tries = 1; ; tries++) {
    const codes = (await ask()).filter((code) => code !== 0);
    if (codes.length === 0) return;
    if (tries === TRIES_MAX || codes.some((code) => !PASSING.includes(code))) {
      throw new Error(`Cannot ${what}: errors ${codes}`);
    }
    await pause(PAUSE_MS);
  }
}
