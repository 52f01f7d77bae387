import { expect } from 'chai';
import type { ClientConnection } from '../../src/client/connection.ts';
import { ScriptedMember } from '../../src/client/member.ts';
import { systemClock } from '../../src/clock.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import {
  closeCoordinators,
  createTopics,
  type OpenCoordinator,
  openCoordinator,
} from '../support/open-coordinator.ts';
import { until } from '../support/open-server.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const ALL_STATES = ['Empty', 'NotReady', 'Assigning', 'Reconciling', 'Stable', 'Dead'];
const TYPES = ['classic', 'consumer', 'share', 'streams'];
const GROUP = 32;

let cluster: FakeCluster | undefined;

/** A coordinator in front of a cluster that has `in(2)`, or one that stands alone. */
async function openAs(mode: Mode, folder: string): Promise<OpenCoordinator> {
  if (mode === 'standalone') return openCoordinator(folder);
  if (cluster === undefined) {
    cluster = await FakeCluster.open(systemClock);
    cluster.setTopic('in', 2);
  }
  const bootstrap = `127.0.0.1:${cluster.broker(1).port}`;
  return openCoordinator(folder, {
    'upstream.bootstrap.servers': bootstrap,
    'upstream.metadata.poll.ms': '100',
  });
}

type Mode = 'standalone' | 'gateway';
const MODES: readonly Mode[] = ['standalone', 'gateway'];

async function classicJoin(
  connection: ClientConnection,
  groupId: string,
  memberId = '',
): Promise<number> {
  const { errorCode } = await connection.request('JoinGroup', {
    groupId,
    memberId,
    sessionTimeoutMs: 30_000,
    rebalanceTimeoutMs: 60_000,
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: Buffer.alloc(0) }],
  });
  return errorCode;
}

async function classicLeave(connection: ClientConnection, groupId: string): Promise<void> {
  const members = [{ memberId: 'whoever', groupInstanceId: null }];
  const { members: left } = await connection.request('LeaveGroup', { groupId, members });
  expect(left.map(({ errorCode }) => errorCode)).to.deep.equal([0]);
}

async function listed(connection: ClientConnection): Promise<readonly string[]> {
  const { groups } = await connection.request('ListGroups', {});
  return groups.map((one) => `${one.groupId} ${one.groupType} ${one.groupState}`).sort();
}

/** The committed offset of `in` 0; -1 if there is none. */
async function offsetOf(connection: ClientConnection, groupId: string): Promise<bigint> {
  const topics = [{ name: 'in', partitionIndexes: [0] }];
  const { groups } = await connection.request(
    'OffsetFetch',
    { groups: [{ groupId, memberId: null, memberEpoch: -1, topics }], requireStable: true },
    { version: 9 },
  );
  expect(groups[0]?.errorCode).to.equal(0);
  return groups[0]?.topics[0]?.partitions[0]?.committedOffset ?? -2n;
}

async function commit(
  connection: ClientConnection,
  member: { readonly groupId: string; readonly memberId?: string; readonly memberEpoch?: number },
  committedOffset: bigint,
): Promise<number> {
  const partitions = [{ partitionIndex: 0, committedOffset, committedMetadata: '' }];
  const { topics } = await connection.request(
    'OffsetCommit',
    {
      groupId: member.groupId,
      memberId: member.memberId ?? '',
      generationIdOrMemberEpoch: member.memberEpoch ?? -1,
      topics: [{ name: 'in', partitions }],
    },
    { version: 9 },
  );
  return topics[0]?.partitions[0]?.errorCode ?? -2;
}

describe('groups of other types', () => {
  afterEach(async () => {
    await closeCoordinators();
    await cluster?.stop();
    cluster = undefined;
  });

  for (const mode of MODES) {
    it(`S42 A request for another type of group is told so and creates nothing (${mode}, steps 1 and 3)`, () =>
      inTemporaryFolder(async (folder) => {
        const { connection } = await openAs(mode, folder);
        if (mode === 'standalone') await createTopics(connection, { in: 2 });
        const member = new ScriptedMember(connection, {
          groupId: 'g',
          memberId: 'A',
          topics: ['in'],
        });
        const beat = (groupId: string, memberId: string) =>
          connection.request('StreamsGroupHeartbeat', { groupId, memberId, memberEpoch: 5 });
        expect((await member.join()).errorCode).to.equal(0);
        const stranger = { groupId: 'g', memberId: 'c', memberEpoch: 0 };
        const describedIn = async (version: number) => {
          const { groups } = await connection.request(
            'DescribeGroups',
            { groups: ['g'] },
            { version },
          );
          return groups.map((one) => [one.groupState, one.errorCode]);
        };
        const consumers = await connection.request('ConsumerGroupDescribe', { groupIds: ['g'] });
        const noId = await connection.request('StreamsGroupDescribe', { groupIds: [''] });
        expect({
          consumer: (await connection.request('ConsumerGroupHeartbeat', stranger)).errorCode,
          share: (await connection.request('ShareGroupHeartbeat', stranger)).errorCode,
          classic: await classicJoin(connection, 'g'),
          consumerDescribe: consumers.groups.map(({ errorCode }) => errorCode),
          describe6: await describedIn(6),
          describe5: await describedIn(5),
          beatToNothing: (await beat('none', 'A')).errorCode,
          beatOfNobody: (await beat('g', 'nobody')).errorCode,
          describeNoId: noId.groups.map(({ errorCode }) => errorCode),
        }).to.deep.equal({
          consumer: 69,
          share: 69,
          classic: 23,
          consumerDescribe: [69],
          describe6: [['Dead', 69]],
          describe5: [['Dead', 0]],
          beatToNothing: 69,
          beatOfNobody: 25,
          describeNoId: [24],
        });
        expect((await member.beat()).errorCode, 'the member goes on').to.equal(0);
        expect(await listed(connection)).to.deep.equal(['g streams Stable']);
      }));
  }

  for (const kind of ['classic', 'consumer', 'empty consumer'] as const) {
    it(`S42 A streams request for a ${kind} group is told so and creates nothing (gateway, step 2)`, () =>
      inTemporaryFolder(async (folder) => {
        const { connection } = await openAs('gateway', folder);
        const theirs = cluster?.group('c');
        if (theirs === undefined) throw new Error('No cluster');
        theirs.protocolType = 'consumer';
        theirs.isConsumerGroup = kind !== 'classic';
        if (kind !== 'empty consumer') theirs.members.push({ memberId: 'm', instanceId: null });
        theirs.offsets.set('in 0', 7n);
        const before = structuredClone(theirs);

        const member = new ScriptedMember(connection, { groupId: 'c', topics: ['in'] });
        const beat = (memberEpoch: number) =>
          connection.request('StreamsGroupHeartbeat', {
            groupId: 'c',
            memberId: 'A',
            memberEpoch,
          });
        const described = await connection.request('StreamsGroupDescribe', { groupIds: ['c'] });
        expect({
          join: (await member.join()).errorCode,
          beat: (await beat(5)).errorCode,
          leave: (await beat(-1)).errorCode,
          describe: described.groups.map(({ errorCode }) => errorCode),
        }).to.deep.equal({ join: 69, beat: 69, leave: 69, describe: [69] });
        const state = kind === 'empty consumer' ? 'Empty' : 'Stable';
        const type = kind === 'classic' ? 'classic' : 'consumer';
        expect(await listed(connection)).to.deep.equal([`c ${type} ${state}`]);
        expect(theirs).to.deep.equal(before);
      }));
  }

  it('O-1, O-3 An id goes from classic to streams and back, again and again, and keeps its offsets', () =>
    inTemporaryFolder(async (folder) => {
      let coordinator = await openAs('gateway', folder);
      const upstream = cluster?.group('g');
      if (upstream === undefined) throw new Error('No cluster');
      // It begins as a group that holds offsets alone, which has no record of its own (O-2).
      expect(await commit(coordinator.connection, { groupId: 'g' }, 1n)).to.equal(0);
      for (let round = 1n; round <= 3n; round++) {
        const { connection } = coordinator;
        const from = 10n * (round - 1n) + 1n;
        expect(await offsetOf(connection, 'g')).to.equal(from);
        const options = { groupId: 'g', memberId: 'A', topics: ['in'] };
        const member = new ScriptedMember(connection, options);
        const joined = await member.join();
        expect([joined.errorCode, joined.memberEpoch]).to.deep.equal([0, 2]);
        expect(await listed(connection)).to.deep.equal(['g streams Stable']);
        expect(upstream.protocolType).to.equal('streams-gateway');
        expect(await classicJoin(connection, 'g'), 'while it lives').to.equal(23);
        const { memberEpoch } = member;
        const stale = { ...options, memberEpoch: memberEpoch + 1 };
        expect(await commit(connection, stale, 99n)).to.equal(113);
        expect(await commit(connection, { ...options, memberEpoch }, from + 4n)).to.equal(0);

        // Right after the conversion a restart must find the streams group, and nothing of the classic one (O-2).
        await coordinator.close();
        coordinator = await openAs('gateway', folder);
        const again = coordinator.connection;
        expect(await listed(again)).to.deep.equal(['g streams Stable']);
        expect(await offsetOf(again, 'g')).to.equal(from + 4n);
        const left = { groupId: 'g', memberId: 'A', memberEpoch: -1 };
        expect((await again.request('StreamsGroupHeartbeat', left)).errorCode).to.equal(0);
        await until(() => upstream.members.length === 0);

        expect(await classicJoin(again, 'g')).to.equal(0);
        expect(await listed(again)).to.deep.equal(['g classic Stable']);
        const streams = await new ScriptedMember(again, options).join();
        expect(streams.errorCode, 'while the classic group lives').to.equal(69);
        await coordinator.close();
        coordinator = await openAs('gateway', folder);
        expect(await listed(coordinator.connection)).to.deep.equal(['g classic Stable']);
        upstream.offsets.set('in 0', from + 10n);
        await classicLeave(coordinator.connection, 'g');
      }
      await coordinator.close();
    }));

  // Through a gateway the cluster looks at the member id; see test/upstream/splits.test.ts (O-3).
  for (const profile of ['kip', 'kafka']) {
    it(`types-classic-join-with-member-id: a join refused for its member id leaves an empty streams group as it is (O-3, profile ${profile})`, () =>
      inTemporaryFolder(async (folder) => {
        const { connection, close } = await openCoordinator(folder, {
          'protocol.profile': profile,
        });
        await createTopics(connection, { in: 1 });
        const member = new ScriptedMember(connection, {
          groupId: 'g',
          memberId: 'A',
          topics: ['in'],
        });
        expect((await member.join()).memberEpoch).to.equal(2);
        await member.leave();
        expect(await classicJoin(connection, 'g', 'ghost')).to.equal(25);
        expect(await listed(connection)).to.deep.equal(['g streams Empty']);
        const again = await member.join();
        expect([again.errorCode, again.memberEpoch], 'its life goes on').to.deep.equal([0, 4]);
        await close();
      }));
  }

  for (const mode of MODES) {
    it(`S55 Group counts agree with the list (${mode})`, () =>
      inTemporaryFolder(async (folder) => {
        let coordinator = await openAs(mode, folder);
        if (mode === 'standalone') await createTopics(coordinator.connection, { in: 2 });
        const compare = async (
          wanted: Readonly<Record<string, number>>,
          classic: Readonly<Record<string, number>> = {},
        ) => {
          const { connection } = coordinator;
          const streams = Object.values(wanted).reduce((sum, count) => sum + count, 0);
          expect(await listedBy(connection, 'streams')).to.deep.equal(wanted);
          expect(await listedBy(connection, 'classic')).to.deep.equal(classic);
          const none = Object.fromEntries(ALL_STATES.map((state) => [state, 0]));
          expect(await counted(coordinator, 'streams_group_count')).to.deep.equal({
            ...none,
            ...wanted,
          });
          // The classic groups behind a gateway are the cluster's own to count.
          const held = mode === 'standalone' ? (classic['Empty'] ?? 0) : 0;
          expect(await counted(coordinator, 'group_count')).to.deep.equal({
            ...Object.fromEntries(TYPES.map((type) => [type, 0])),
            streams,
            classic: held,
          });
        };
        const members = Array.from(
          { length: 10 },
          (_, at) =>
            new ScriptedMember(coordinator.connection, {
              groupId: `group-${at}`,
              topics: at < 8 ? ['in'] : ['missing'],
            }),
        );
        await compare({});
        for (const member of members) expect((await member.join()).errorCode).to.equal(0);
        await compare({ Stable: 8, NotReady: 2 });
        for (const member of members.slice(0, 5)) await member.leave();
        await compare({ Empty: 5, Stable: 3, NotReady: 2 });

        // Two of the empty ones become classic: in a gateway by a member, alone by offsets that outlive the group.
        const converted = ['group-0', 'group-1'];
        const { connection } = coordinator;
        if (mode === 'gateway') {
          await until(() => converted.every((id) => cluster?.group(id).members.length === 0));
          for (const groupId of converted) {
            expect(await classicJoin(connection, groupId)).to.equal(0);
          }
          await compare({ Empty: 3, Stable: 3, NotReady: 2 }, { Stable: 2 });
          for (const groupId of converted) await classicLeave(connection, groupId);
        } else {
          await connection.request('DeleteGroups', { groupsNames: converted });
          for (const groupId of converted) {
            expect(await classicJoin(connection, groupId)).to.equal(35);
            expect(await commit(connection, { groupId }, 1n)).to.equal(0);
          }
        }
        await compare({ Empty: 3, Stable: 3, NotReady: 2 }, { Empty: 2 });
        for (const member of members.slice(0, 2)) {
          expect((await member.join()).errorCode).to.equal(0);
        }
        await compare({ Empty: 3, Stable: 5, NotReady: 2 });
        await connection.request('DeleteGroups', { groupsNames: ['group-2'] });
        await compare({ Empty: 2, Stable: 5, NotReady: 2 });
        await coordinator.close();
        coordinator = await openAs(mode, folder);
        await compare({ Empty: 2, Stable: 5, NotReady: 2 });
        await coordinator.close();
      }));
  }
});

describe('request_error_count', () => {
  afterEach(closeCoordinators);

  it('counts every kind of refusal once, by API and error, and nothing that succeeds', () =>
    inTemporaryFolder(async (folder) => {
      const coordinator = await openCoordinator(folder);
      const { connection } = coordinator;
      await createTopics(connection, { in: 2 });
      const options = { groupId: 'g', memberId: 'A', topics: ['in'] };
      const member = new ScriptedMember(connection, options);
      expect((await member.join()).errorCode).to.equal(0);
      expect(await counted(coordinator, 'request_error_count')).to.deep.equal({});

      const { memberEpoch } = member;
      const nobody = { groupId: 'g', memberId: 'B', memberEpoch: 5 };
      await connection.request('StreamsGroupHeartbeat', nobody);
      await commit(connection, { groupId: 'g' }, 1n);
      await commit(connection, { ...options, memberEpoch: memberEpoch + 1 }, 1n);
      expect(await commit(connection, { ...options, memberEpoch }, 1n)).to.equal(0);
      await connection.request('DeleteGroups', { groupsNames: ['g', 'none'] });
      const topics = [{ name: 'in', partitions: [{ partitionIndex: 0 }, { partitionIndex: 1 }] }];
      await connection.request('OffsetDelete', { groupId: 'g', topics });
      await connection.request('IncrementalAlterConfigs', {
        resources: [
          {
            resourceType: GROUP,
            resourceName: 'g',
            configs: [{ name: 'streams.num.standby.replicas', configOperation: 0, value: '-1' }],
          },
        ],
      });
      await connection.request('StreamsGroupDescribe', { groupIds: ['none'] });
      await classicJoin(connection, 'g');
      expect(await counted(coordinator, 'request_error_count')).to.deep.equal({
        'StreamsGroupHeartbeat UNKNOWN_MEMBER_ID': 1,
        'OffsetCommit UNKNOWN_MEMBER_ID': 1,
        'OffsetCommit STALE_MEMBER_EPOCH': 1,
        'DeleteGroups NON_EMPTY_GROUP': 1,
        'DeleteGroups GROUP_ID_NOT_FOUND': 1,
        'OffsetDelete GROUP_SUBSCRIBED_TO_TOPIC': 1,
        'IncrementalAlterConfigs INVALID_CONFIG': 1,
        'StreamsGroupDescribe GROUP_ID_NOT_FOUND': 1,
        'JoinGroup INCONSISTENT_GROUP_PROTOCOL': 1,
      });
    }));
});

/** How many groups of a type ListGroups shows in each state. */
async function listedBy(
  connection: ClientConnection,
  type: string,
): Promise<Record<string, number>> {
  const { groups } = await connection.request('ListGroups', { typesFilter: [type] });
  const counts: Record<string, number> = {};
  for (const { groupState } of groups) counts[groupState] = (counts[groupState] ?? 0) + 1;
  return counts;
}

/** The values of a metric by its labels' values. */
async function counted(
  coordinator: OpenCoordinator,
  name: string,
): Promise<Record<string, number>> {
  const text = await coordinator.get('/metrics');
  const lines = text.matchAll(new RegExp(`^${name}\\{([^}]*)\\} (-?\\d+)$`, 'gm'));
  return Object.fromEntries(
    [...lines].map(([, labels = '', count]) => {
      const values = [...labels.matchAll(/"([^"]*)"/g)].map(([, value]) => value);
      return [values.join(' '), Number(count)];
    }),
  );
}
