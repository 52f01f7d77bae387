import { expect } from 'chai';
import { versionsWithoutStreams } from '../support/fake-broker.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { OpenGateway } from '../support/open-gateway.ts';
import { openGateway } from '../support/open-gateway.ts';
import { until } from '../support/open-server.ts';
import { passUntil } from '../support/pass-until.ts';
import type { WireClient } from '../support/wire-client.ts';

describe('Splits and guards of the gateway', () => {
  let clock: ManualClock;
  let cluster: FakeCluster;
  let open: OpenGateway;
  let client: WireClient;

  async function start(brokers = 1, versions = versionsWithoutStreams()): Promise<void> {
    clock = new ManualClock();
    cluster = await FakeCluster.open(clock, brokers, { versions });
    open = await openGateway(cluster, clock);
    client = await open.client(1);
  }

  beforeEach(() => start());

  afterEach(async () => {
    await open.stop();
    await cluster.stop();
  });

  async function restart(...args: Parameters<typeof start>): Promise<void> {
    await open.stop();
    await cluster.stop();
    await start(...args);
  }

  /** A streams group with members, and a classic one upstream. */
  async function twoGroups(): Promise<void> {
    await client.call('StreamsGroupHeartbeat', 1, { groupId: 'g', memberId: 'm', memberEpoch: 0 });
    open.groups.states.set('g', 'Stable');
    open.gateway.groupWatcher.groupChanged('g', 'Stable');
    cluster.group('theirs').protocolType = 'consumer';
  }

  describe('ListGroups', () => {
    const listed = async (on: WireClient, version: number, body: object = {}) => {
      const { groups } = await on.call('ListGroups', version, body);
      return groups.map(({ groupId, protocolType }) => `${groupId} ${protocolType}`).sort();
    };

    it('lists a streams group in the place of its placeholder', async () => {
      await twoGroups();
      expect(await listed(client, 5)).to.deep.equal(['g streams', 'theirs consumer']);
      expect(await listed(client, 0)).to.deep.equal(['g streams', 'theirs consumer']);
    });

    it('lists streams groups on one node alone, as clients ask all', async () => {
      await restart(2);
      await twoGroups();
      expect(await listed(await open.client(2), 5)).to.deep.equal(['theirs consumer']);
      expect(await listed(await open.client('bootstrap'), 5)).to.deep.equal([
        'g streams',
        'theirs consumer',
      ]);
    });

    it('does not ask upstream for a type it has never heard of', async () => {
      await twoGroups();
      expect(await listed(client, 5, { typesFilter: ['Streams'] })).to.deep.equal(['g streams']);
      expect(cluster.broker(1).asked('ListGroups')).to.deep.equal([]);
      await listed(client, 5, { typesFilter: ['Streams', 'Classic'], statesFilter: ['Stable'] });
      expect(cluster.broker(1).asked('ListGroups')).to.deep.equal([
        { statesFilter: ['Stable'], typesFilter: ['Classic'] },
      ]);
    });

    it('asks an older broker in its version and calls its groups classic', async () => {
      await restart(1, new Map([...versionsWithoutStreams(), [16, { min: 0, max: 3 }]]));
      await twoGroups();
      expect(await listed(client, 5, { typesFilter: ['classic'] })).to.include('theirs consumer');
      expect(cluster.broker(1).seen.at(-1)?.version).to.equal(3);
      expect(await listed(client, 5, { typesFilter: ['share'] })).to.not.include('theirs consumer');
      expect(await listed(client, 5, { statesFilter: ['Empty'] })).to.not.include(
        'theirs consumer',
      );
    });

    it("passes upstream's error on", async () => {
      cluster.broker(1).on('ListGroups', () => ({ errorCode: 15 }));
      expect((await client.call('ListGroups', 5, {})).errorCode).to.equal(15);
    });
  });

  it('DescribeGroups says a streams group is dead and shows the others (13)', async () => {
    await twoGroups();
    cluster.broker(1).on('DescribeGroups', ({ groups }) => ({
      groups: groups.map((groupId) => ({ groupId, groupState: 'Stable' })),
    }));
    const { groups } = await client.call('DescribeGroups', 6, { groups: ['g', 'theirs'] });
    expect(groups.map((one) => [one.groupId, one.groupState, one.errorCode])).to.deep.equal([
      ['g', 'Dead', 69],
      ['theirs', 'Stable', 0],
    ]);
    expect(cluster.broker(1).asked('DescribeGroups')).to.deep.equal([
      { groups: ['theirs'], includeAuthorizedOperations: false },
    ]);
    const old = await client.call('DescribeGroups', 5, { groups: ['g'] });
    expect([old.groups[0]?.groupState, old.groups[0]?.errorCode]).to.deep.equal(['Dead', 0]);
  });

  it('ConsumerGroupDescribe answers 69 for a streams group (13)', async () => {
    await twoGroups();
    cluster.broker(1).on('ConsumerGroupDescribe', ({ groupIds }) => ({
      groups: groupIds.map((groupId) => ({ groupId })),
    }));
    const { groups } = await client.call('ConsumerGroupDescribe', 0, { groupIds: ['g', 'theirs'] });
    expect(groups.map(({ groupId, errorCode }) => [groupId, errorCode])).to.deep.equal([
      ['g', 69],
      ['theirs', 0],
    ]);
  });

  describe('DeleteGroups', () => {
    const deleted = async (...groupsNames: string[]) => {
      const { results } = await client.call('DeleteGroups', 2, { groupsNames });
      return results.map(({ groupId, errorCode }) => `${groupId} ${errorCode}`).sort();
    };

    it('refuses a streams group with members and deletes the others (68)', async () => {
      await twoGroups();
      expect(await deleted('g', 'theirs', 'nobody')).to.deep.equal([
        'g 68',
        'nobody 69',
        'theirs 0',
      ]);
      expect(cluster.group('g').members).to.have.length(1);
    });

    it('deletes an empty streams group here and upstream', async () => {
      await twoGroups();
      open.groups.states.set('g', 'Empty');
      expect(await deleted('g')).to.deep.equal(['g 0']);
      expect(open.groups.deleted).to.deep.equal(['g']);
      expect(cluster.groups.has('g')).to.equal(false);
    });

    it('deletes an empty streams group that upstream does not know', async () => {
      open.groups.states.set('g', 'Empty');
      expect(await deleted('g')).to.deep.equal(['g 0']);
    });

    it('says when upstream could not delete its part', async () => {
      open.groups.states.set('g', 'Empty');
      cluster.broker(1).on('DeleteGroups', () => ({ results: [{ groupId: 'g', errorCode: 16 }] }));
      expect(await deleted('g')).to.deep.equal(['g 16']);
    });

    it('deletes nothing while upstream is away', async () => {
      open.groups.states.set('g', 'Empty');
      await client.call('ApiVersions', 0, {});
      await cluster.broker(1).stop();
      client.write(client.request('DeleteGroups', 2, { groupsNames: ['g'] }));
      await client.closed;
      expect(open.groups.states.get('g')).to.equal('Empty');
    });
  });

  describe('guards', () => {
    it('answers a JoinGroup 23 and other heartbeats 69 for a streams group (MEM-2)', async () => {
      await twoGroups();
      for (let version = 0; version <= 9; version++) {
        const join = await client.call('JoinGroup', version, { groupId: 'g', sessionTimeoutMs: 1 });
        expect(join.errorCode, `JoinGroup ${version}`).to.equal(23);
      }
      const consumer = { groupId: 'g', memberId: 'c', memberEpoch: 0 };
      const beat = await client.call('ConsumerGroupHeartbeat', 1, consumer);
      expect(beat.errorCode).to.equal(69);
    });

    it('passes other groups', async () => {
      cluster.broker(1).on('ConsumerGroupHeartbeat', () => ({ heartbeatIntervalMs: 77 }));
      const theirs = { groupId: 'theirs', memberId: 'c', memberEpoch: 0 };
      const beat = await client.call('ConsumerGroupHeartbeat', 1, theirs);
      expect(beat.heartbeatIntervalMs).to.equal(77);
      const join = await client.call('JoinGroup', 9, {
        groupId: 'theirs',
        protocolType: 'consumer',
      });
      expect(join.errorCode).to.equal(0);
    });

    it('ends an empty streams group for a newcomer of the classic protocol alone, for no other member id (O-3)', async () => {
      open.groups.states.set('g', 'Empty');
      const returns = await client.call('JoinGroup', 9, { groupId: 'g', memberId: 'returns' });
      expect(returns.errorCode).to.equal(25);
      expect(cluster.broker(1).asked('JoinGroup')).to.deep.equal([]);
      expect(open.groups.gaveWay).to.deep.equal([]);
      const join = await client.call('JoinGroup', 9, { groupId: 'g', protocolType: 'consumer' });
      expect(join.errorCode).to.equal(0);
      expect(open.groups.gaveWay).to.deep.equal(['g']);
    });

    it('ends the connection of a newcomer for whom an empty group cannot be ended in time', async () => {
      open.groups.states.set('g', 'Empty');
      open.groups.stuck.add('g');
      client.write(client.request('JoinGroup', 9, { groupId: 'g', protocolType: 'consumer' }));
      let isClosed = false;
      void client.closed.then(() => {
        isClosed = true;
      });
      await passUntil(clock, () => isClosed, 1_000);
      expect(cluster.broker(1).asked('JoinGroup')).to.deep.equal([]);
    });

    it('answers a newcomer 23 when a member of the streams group was quicker (MEM-2)', async () => {
      open.groups.states.set('g', 'Empty');
      cluster.broker(1).on('LeaveGroup', () => {
        open.groups.states.set('g', 'Stable');
        return { members: [] };
      });
      const join = await client.call('JoinGroup', 9, { groupId: 'g', protocolType: 'consumer' });
      expect(join.errorCode).to.equal(23);
      const types = cluster
        .broker(1)
        .asked('JoinGroup')
        .map(({ protocolType }) => protocolType);
      expect(types).not.to.include('consumer');
    });

    it('ends the connection while the shard cannot say', async () => {
      open.groups.shardError = 'COORDINATOR_LOAD_IN_PROGRESS';
      client.write(client.request('JoinGroup', 9, { groupId: 'g' }));
      await client.closed;
      expect(cluster.broker(1).asked('JoinGroup')).to.deep.equal([]);
    });
  });

  it('looks at the topics at once after one was created in passing (4.11)', async () => {
    await open.gateway.topics.ensureKnown(['out']);
    expect(open.gateway.topics.view().topic('out')).to.equal(undefined);
    await client.call('CreateTopics', 7, { topics: [{ name: 'out', numPartitions: 4 }] });
    await until(() => open.gateway.topics.view().topic('out') !== undefined);
    expect(open.gateway.topics.view().topic('out')?.partitionCount).to.equal(4);
  });

  it('creates internal topics at the controller (4.11)', async () => {
    open.gateway.topicCreator.create(
      [
        {
          name: 'app-changelog',
          partitions: 3,
          replicationFactor: -1,
          configs: [{ key: 'cleanup.policy', value: 'compact' }],
        },
      ],
      10_000,
    );
    await until(() => cluster.topics.has('app-changelog'));
    const [asked] = cluster.broker(1).asked('CreateTopics');
    expect(asked?.topics).to.deep.equal([
      {
        name: 'app-changelog',
        numPartitions: 3,
        replicationFactor: -1,
        assignments: [],
        configs: [{ name: 'cleanup.policy', value: 'compact' }],
      },
    ]);
  });

  it('finds the controller again when it has moved (41)', async () => {
    await restart(2);
    let isMoved = false;
    cluster.broker(1).on('CreateTopics', ({ topics }) => {
      isMoved = true;
      return { topics: topics.map(({ name }) => ({ name, errorCode: 41 })) };
    });
    for (const broker of cluster.brokers) {
      broker.on('Metadata', () => ({
        brokers: cluster.nodes(),
        clusterId: cluster.clusterId,
        controllerId: isMoved ? 2 : 1,
      }));
    }
    const topic = { name: 'made', partitions: 1, replicationFactor: -1, configs: [] };
    open.gateway.topicCreator.create([topic], 10_000);
    await until(() => cluster.topics.has('made'));
    expect(open.gateway.topicCreator.failures([topic])).to.equal(undefined);
  });
});
