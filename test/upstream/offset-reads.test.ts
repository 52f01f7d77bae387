import { expect } from 'chai';
import type { FakeCluster } from '../support/fake-cluster.ts';
import { GatewayStage } from '../support/gateway-stage.ts';
import type { OpenGateway } from '../support/open-gateway.ts';
import { until } from '../support/open-server.ts';
import type { WireClient } from '../support/wire-client.ts';
import { codesOf, commitOf } from './commits.ts';

describe('Offsets of streams groups behind the gateway: reads and deletions', () => {
  let stage: GatewayStage;
  let cluster: FakeCluster;
  let open: OpenGateway;
  let client: WireClient;

  beforeEach(async () => {
    stage = await GatewayStage.start();
    ({ cluster, open } = stage);
    client = await open.client(1);
    await client.call('StreamsGroupHeartbeat', 1, { groupId: 'g', memberId: 'm', memberEpoch: 0 });
    stage.becomes('Stable');
  });

  afterEach(() => stage.stop());

  describe('OffsetFetch', () => {
    const ask = (groupId: string, member: object = {}) => ({
      groupId,
      ...member,
      topics: [{ name: 'in', partitionIndexes: [0] }],
    });

    it('judges the member here and asks upstream without one (4.10)', async () => {
      cluster.group('g').offsets.set('in 0', 5n);
      const { groups } = await client.call('OffsetFetch', 9, {
        requireStable: true,
        groups: [ask('g', { memberId: 'm', memberEpoch: 3 })],
      });
      expect(groups[0]?.topics[0]?.partitions[0]?.committedOffset).to.equal(5n);
      const [sent] = cluster.broker(1).asked('OffsetFetch');
      expect(sent?.requireStable).to.equal(true);
      expect(sent?.groups[0]).to.deep.include({ groupId: 'g', memberId: null, memberEpoch: -1 });
    });

    it('splits a request that mixes groups (key 9)', async () => {
      open.groups.states.set('h', 'Stable');
      open.groups.judgeFetch = () => 'STALE_MEMBER_EPOCH';
      cluster.group('theirs').offsets.set('in 0', 8n);
      const theirs = ask('theirs', { memberId: 'x', memberEpoch: 1 });
      const { groups } = await client.call('OffsetFetch', 9, { groups: [ask('g'), theirs] });
      expect(groups.map(({ groupId, errorCode }) => [groupId, errorCode])).to.deep.equal([
        ['g', 113],
        ['theirs', 0],
      ]);
      // S47: a refused fetch reports no partition as one without an offset.
      expect(groups[0]?.topics).to.deep.equal([]);
      expect(groups[1]?.topics[0]?.partitions[0]?.committedOffset).to.equal(8n);
      const [sent] = cluster.broker(1).asked('OffsetFetch');
      expect(sent?.groups.map(({ groupId, memberId }) => [groupId, memberId])).to.deep.equal([
        ['theirs', 'x'],
      ]);
    });

    it('passes a request without any streams group untouched', async () => {
      await client.call('OffsetFetch', 9, {
        groups: [ask('theirs', { memberId: 'x', memberEpoch: 1 })],
      });
      const [sent] = cluster.broker(1).asked('OffsetFetch');
      expect(sent?.groups[0]?.memberId).to.equal('x');
    });

    it('works for the versions that name one group', async () => {
      cluster.broker(1).on('OffsetFetch', ({ groupId, topics }) => ({
        topics: (topics ?? []).map(({ name, partitionIndexes }) => ({
          name,
          partitions: partitionIndexes.map((partitionIndex) => ({
            partitionIndex,
            committedOffset: groupId === 'g' ? 5n : 0n,
            metadata: '',
          })),
        })),
      }));
      for (let version = 1; version <= 7; version++) {
        const answer = await client.call('OffsetFetch', version, {
          groupId: 'g',
          topics: [{ name: 'in', partitionIndexes: [0] }],
        });
        expect(answer.topics[0]?.partitions[0], String(version)).to.deep.include({
          committedOffset: 5n,
          errorCode: 0,
        });
      }
      open.groups.judgeFetch = () => 'UNKNOWN_MEMBER_ID';
      const body = { groupId: 'g', topics: [{ name: 'in', partitionIndexes: [0] }] };
      const oldest = await client.call('OffsetFetch', 1, body);
      expect(oldest.topics[0]?.partitions[0]?.errorCode).to.equal(25);
      const newer = await client.call('OffsetFetch', 7, body);
      expect([newer.errorCode, newer.topics]).to.deep.equal([25, []]);
    });
  });

  describe('OffsetDelete', () => {
    const body = {
      groupId: 'g',
      topics: [
        { name: 'in', partitions: [{ partitionIndex: 0 }] },
        { name: 'old', partitions: [{ partitionIndex: 0 }, { partitionIndex: 1 }] },
      ],
    };

    it('deletes upstream while the placeholder is away, but nothing of a source topic (86)', async () => {
      open.groups.judgeDelete = (topic) => (topic === 'in' ? 'GROUP_SUBSCRIBED_TO_TOPIC' : 'NONE');
      const { offsets } = cluster.group('g');
      for (const key of ['in 0', 'old 0', 'old 1']) offsets.set(key, 1n);
      const answer = await client.call('OffsetDelete', 0, body);
      expect(answer.topics).to.deep.equal([
        { name: 'in', partitions: [{ partitionIndex: 0, errorCode: 86 }] },
        {
          name: 'old',
          partitions: [
            { partitionIndex: 0, errorCode: 0 },
            { partitionIndex: 1, errorCode: 0 },
          ],
        },
      ]);
      expect([...offsets.keys()]).to.deep.equal(['in 0']);
      await until(() => cluster.group('g').members.length === 1);
      const steps = cluster.broker(1).seen.map(({ name }) => name);
      expect(
        steps.filter((name) => /^(JoinGroup|LeaveGroup|OffsetDelete)$/.test(name)),
      ).to.deep.equal(['JoinGroup', 'LeaveGroup', 'OffsetDelete', 'JoinGroup']);
    });

    it('does not turn out the placeholder of another gateway, and answers nothing (82, 4.9)', async () => {
      const [held] = cluster.group('g').members;
      if (held !== undefined) held.memberId = 'of-another-gateway';
      expect(codesOf(await client.call('OffsetCommit', 9, commitOf([0])))).to.deep.equal([16]);
      client.write(client.request('OffsetDelete', 0, body));
      await client.closed;
      expect(cluster.broker(1).asked('LeaveGroup')).to.deep.equal([]);
      expect(cluster.broker(1).asked('OffsetDelete')).to.deep.equal([]);
    });

    it('passes for other groups', async () => {
      cluster.group('theirs').offsets.set('in 0', 1n);
      const answer = await client.call('OffsetDelete', 0, { ...body, groupId: 'theirs' });
      expect(answer.errorCode).to.equal(0);
      expect(cluster.broker(1).asked('LeaveGroup')).to.deep.equal([]);
    });
  });
});
