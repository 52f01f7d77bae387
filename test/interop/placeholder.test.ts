import { expect } from 'chai';
import { ScriptedMember } from '../../src/client/member.ts';
import type { ResponseOf } from '../../src/wire/apis.ts';
import { ManualClock } from '../support/manual-clock.ts';
import {
  closeCoordinators,
  type OpenCoordinator,
  openCoordinator,
} from '../support/open-coordinator.ts';
import type { OpenGateway } from '../support/open-gateway.ts';
import { openGateway } from '../support/open-gateway.ts';
import type { RealBroker } from '../support/oracle.ts';
import { startKafka, whyNoOracle } from '../support/oracle.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';
import { WireClient } from '../support/wire-client.ts';

const TICK_MS = 20;
const JOIN = { groupId: 'g', memberId: 'm', memberEpoch: 0 };
const MEMBER = { groupId: 'g', memberId: 'm', generationIdOrMemberEpoch: 3 };
/** What a client tries again: a cluster that was started a moment ago has to make its own topics first. */
const AGAIN: readonly number[] = [3, 14, 15, 16, 51];

async function untilItWorks<T>(ask: () => Promise<T>, codeOf: (answer: T) => number): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (!AGAIN.includes(codeOf(answer))) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

for (const version of ['4.4.0', '3.9.2']) {
  describe(`the placeholder of a group in Kafka ${version}`, function () {
    this.timeout(120_000);
    const clock = new ManualClock();
    let broker: RealBroker;
    let port: number;
    let open: OpenGateway;
    let client: WireClient;
    /** Straight to the broker. */
    let upstream: WireClient;
    let ticking: NodeJS.Timeout | undefined;

    before(async function () {
      const why = whyNoOracle();
      if (why !== undefined) {
        console.log(`      skipped: ${why}`);
        this.skip();
      }
      broker = await startKafka(version, {
        'offsets.retention.check.interval.ms': 500,
        'group.initial.rebalance.delay.ms': 0,
      });
      port = Number(broker.address.split(':')[1]);
      // Time passes by itself, and faster when told to.
      ticking = setInterval(() => void clock.pass(TICK_MS), TICK_MS);
      open = await openGateway({ brokers: [{ port }] }, clock);
      client = await open.client(1);
      upstream = await WireClient.connect(port);
      await client.call('CreateTopics', 5, {
        topics: [{ name: 'in', numPartitions: 1, replicationFactor: 1 }],
      });
      const joined = await untilItWorks(
        () => client.call('StreamsGroupHeartbeat', 1, JOIN),
        ({ errorCode }) => errorCode,
      );
      expect(joined.errorCode).to.equal(0);
      open.groups.states.set('g', 'Stable');
    });

    after(async () => {
      clearInterval(ticking);
      await closeCoordinators();
      upstream?.destroy();
      await open?.stop();
      await broker?.stop();
    });

    async function described(): Promise<string> {
      const { groups } = await upstream.call('DescribeGroups', 5, { groups: ['g'] });
      return `${groups[0]?.groupState} ${groups[0]?.protocolType} ${groups[0]?.members.length}`;
    }

    async function committed(offset: bigint): Promise<number> {
      const topics = [
        {
          name: 'in',
          partitions: [{ partitionIndex: 0, committedOffset: offset, committedMetadata: '' }],
        },
      ];
      const codeOf = (answer: ResponseOf<'OffsetCommit'>) =>
        answer.topics[0]?.partitions[0]?.errorCode ?? -1;
      const ask = () => client.call('OffsetCommit', 9, { ...MEMBER, topics });
      return codeOf(await untilItWorks(ask, codeOf));
    }

    async function fetched(): Promise<string> {
      const { groups } = await client.call('OffsetFetch', 9, {
        requireStable: true,
        groups: [
          {
            groupId: 'g',
            memberId: 'm',
            memberEpoch: 3,
            topics: [{ name: 'in', partitionIndexes: [0] }],
          },
        ],
      });
      const partition = groups[0]?.topics[0]?.partitions[0];
      return `${partition?.errorCode} ${partition?.committedOffset}`;
    }

    it('is joined, and commits carry its identity', async () => {
      expect(await described()).to.equal('Stable streams-gateway 1');
      expect(await committed(5n)).to.equal(0);
      expect(await fetched()).to.equal('0 5');
    });

    it('keeps simple commits, consumers and deletion away', async () => {
      const simple = await upstream.call('OffsetCommit', 8, {
        groupId: 'g',
        topics: [
          {
            name: 'in',
            partitions: [{ partitionIndex: 0, committedOffset: 9n, committedMetadata: '' }],
          },
        ],
      });
      expect(simple.topics[0]?.partitions[0]?.errorCode).to.equal(25);
      const stranger = await upstream.call('JoinGroup', 5, {
        groupId: 'g',
        sessionTimeoutMs: 30_000,
        rebalanceTimeoutMs: 30_000,
        protocolType: 'consumer',
        protocols: [{ name: 'range', metadata: Buffer.alloc(2) }],
      });
      expect(stranger.errorCode).to.equal(23);
      const deleted = await upstream.call('DeleteGroups', 1, { groupsNames: ['g'] });
      expect(deleted.results[0]?.errorCode).to.equal(68);
    });

    it('beats, and keeps its place', async () => {
      for (let beats = 0; beats < 3; beats++) {
        await clock.pass(30_000);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      expect(await described()).to.equal('Stable streams-gateway 1');
      expect(open.log.told.filter(({ level }) => level !== 'info')).to.deep.equal([]);
    });

    it('keeps offsets from expiring, which those of a group without members do (S46)', async () => {
      const joined = open.log.lines.find(({ text }) => text === 'Placeholder has joined upstream');
      const identity = joined?.fields as
        | { readonly generationId: number; readonly memberId: string }
        | undefined;
      // The last version in which a commit says when it may expire.
      const commitBriefly = async (groupId: string, member: object) => {
        const { topics } = await upstream.call('OffsetCommit', 4, {
          groupId,
          ...member,
          retentionTimeMs: 1_000n,
          topics: [
            {
              name: 'in',
              partitions: [{ partitionIndex: 0, committedOffset: 6n, committedMetadata: '' }],
            },
          ],
        });
        return topics[0]?.partitions[0]?.errorCode;
      };
      const offsetOf = async (groupId: string) => {
        const topics = [{ name: 'in', partitionIndexes: [0] }];
        const { groups } = await upstream.call('OffsetFetch', 8, { groups: [{ groupId, topics }] });
        return groups[0]?.topics[0]?.partitions[0]?.committedOffset;
      };
      const held = {
        generationIdOrMemberEpoch: identity?.generationId ?? -1,
        memberId: identity?.memberId ?? '',
      };
      expect(await commitBriefly('g', held)).to.equal(0);
      expect(await commitBriefly('unprotected', {})).to.equal(0);
      while ((await offsetOf('unprotected')) !== -1n) await new Promise((r) => setTimeout(r, 100));
      expect(await offsetOf('g')).to.equal(6n);
    });

    it('carries transactional commits, which a fetch waits for', async () => {
      // Makes the cluster create the topic of its transactions.
      await untilItWorks(
        () => client.call('FindCoordinator', 3, { key: 't', keyType: 1 }),
        ({ errorCode }) => errorCode,
      );
      const producer = await untilItWorks(
        () =>
          client.call('InitProducerId', 4, { transactionalId: 't', transactionTimeoutMs: 60_000 }),
        ({ errorCode }) => errorCode,
      );
      const { producerId, producerEpoch } = producer;
      const transaction = { transactionalId: 't', producerId, producerEpoch };
      const added = await untilItWorks(
        () => client.call('AddOffsetsToTxn', 3, { ...transaction, groupId: 'g' }),
        ({ errorCode }) => errorCode,
      );
      expect(added.errorCode).to.equal(0);
      const stored = await client.call('TxnOffsetCommit', 3, {
        ...transaction,
        ...MEMBER,
        topics: [
          {
            name: 'in',
            partitions: [{ partitionIndex: 0, committedOffset: 20n, committedMetadata: '' }],
          },
        ],
      });
      expect(stored.topics[0]?.partitions[0]?.errorCode).to.equal(0);
      expect(await fetched()).to.equal('88 -1');
      expect(
        (await client.call('EndTxn', 3, { ...transaction, committed: true })).errorCode,
      ).to.equal(0);
      while ((await fetched()).startsWith('88')) await new Promise((r) => setTimeout(r, 50));
      expect(await fetched()).to.equal('0 20');
    });

    it('takes over from a process before it at once, and commits go on', async () => {
      const { groups } = open;
      await open.stop();
      open = await openGateway({ brokers: [{ port }] }, clock, { groups });
      client = await open.client(1);
      expect(await committed(21n)).to.equal(0);
      expect(await described()).to.equal('Stable streams-gateway 1');
      expect(await fetched()).to.equal('0 21');
    });

    it('steps aside for the deletion of offsets, and comes back', async () => {
      const deleted = await client.call('OffsetDelete', 0, {
        groupId: 'g',
        topics: [{ name: 'in', partitions: [{ partitionIndex: 0 }] }],
      });
      expect(deleted.topics[0]?.partitions[0]?.errorCode).to.equal(0);
      expect(await fetched()).to.equal('0 -1');
      expect(await committed(22n)).to.equal(0);
    });

    it('leaves with the last member; the group can then be deleted', async () => {
      open.groups.states.set('g', 'Empty');
      open.gateway.groupWatcher.groupChanged('g', 'Empty');
      while ((await described()) !== 'Empty streams-gateway 0') {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const deleted = await client.call('DeleteGroups', 2, { groupsNames: ['g'] });
      expect(deleted.results[0]?.errorCode).to.equal(0);
      expect(await described()).to.match(/^Dead/);
    });

    it('lets an id go from streams to the classic protocol and back, over restarts, with its offsets (O-1 to O-3)', () =>
      inTemporaryFolder(async (folder) => {
        const settings = { 'upstream.bootstrap.servers': broker.address };
        const options = { groupId: 'h', memberId: 'A', topics: ['in'] };
        const classic = { groupId: 'h', groupInstanceId: 'c1', protocolType: 'consumer' };
        const listed = async ({ connection }: OpenCoordinator) => {
          const { groups } = await connection.request('ListGroups', {});
          return groups
            .filter(({ groupId }) => groupId === 'h')
            .map(({ groupType, groupState }) => `${groupType} ${groupState}`);
        };
        let coordinator = await openCoordinator(folder, settings);
        for (let round = 1n; round <= 2n; round++) {
          const member = new ScriptedMember(coordinator.connection, options);
          const joined = await untilItWorks(
            () => member.join(),
            ({ errorCode }) => errorCode,
          );
          expect([joined.errorCode, joined.memberEpoch]).to.deep.equal([0, 2]);
          const topics = [
            {
              name: 'in',
              partitions: [{ partitionIndex: 0, committedOffset: round, committedMetadata: '' }],
            },
          ];
          const committed = await coordinator.connection.request(
            'OffsetCommit',
            { groupId: 'h', memberId: 'A', generationIdOrMemberEpoch: 2, topics },
            { version: 9 },
          );
          expect(committed.topics[0]?.partitions[0]?.errorCode).to.equal(0);
          await coordinator.close();
          coordinator = await openCoordinator(folder, settings);
          expect(await listed(coordinator)).to.deep.equal(['streams Stable']);
          const left = { groupId: 'h', memberId: 'A', memberEpoch: -1 };
          await coordinator.connection.request('StreamsGroupHeartbeat', left);

          // The first try makes the placeholder step aside; upstream has its own words for a moment's wait.
          const taken = await untilItWorks(
            () =>
              coordinator.connection.request(
                'JoinGroup',
                {
                  ...classic,
                  sessionTimeoutMs: 30_000,
                  rebalanceTimeoutMs: 30_000,
                  protocols: [{ name: 'range', metadata: Buffer.alloc(2) }],
                },
                { version: 5 },
              ),
            ({ errorCode }) => errorCode,
          );
          expect(taken.errorCode).to.equal(0);
          expect(await listed(coordinator)).to.deep.equal(['classic CompletingRebalance']);
          const streams = await new ScriptedMember(coordinator.connection, options).join();
          expect(streams.errorCode, 'a streams member beside a classic one').to.equal(69);
          await coordinator.close();
          coordinator = await openCoordinator(folder, settings);
          await coordinator.connection.request('LeaveGroup', {
            groupId: 'h',
            members: [{ memberId: '', groupInstanceId: 'c1' }],
          });
          expect(await listed(coordinator)).to.deep.equal(['classic Empty']);
          const { groups } = await coordinator.connection.request(
            'OffsetFetch',
            { groups: [{ groupId: 'h', topics: [{ name: 'in', partitionIndexes: [0] }] }] },
            { version: 9 },
          );
          expect(groups[0]?.topics[0]?.partitions[0]?.committedOffset).to.equal(round);
        }
        await coordinator.close();
      }));
  });
}
