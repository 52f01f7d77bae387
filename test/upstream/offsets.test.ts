import { expect } from 'chai';
import type { ApiName } from '../../src/wire/apis.ts';
import type { FakeCluster } from '../support/fake-cluster.ts';
import { GatewayStage } from '../support/gateway-stage.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import type { OpenGateway } from '../support/open-gateway.ts';
import { until } from '../support/open-server.ts';
import type { WireClient } from '../support/wire-client.ts';
import { decodeAnswer } from '../support/wire-client.ts';
import { codesOf, commitOf, MEMBER } from './commits.ts';

const IDENTITY = {
  generationIdOrMemberEpoch: 1,
  memberId: 'member-1',
  groupInstanceId: 'headgate-shard-3',
};

describe('Offsets of streams groups behind the gateway', () => {
  let stage: GatewayStage;
  let clock: ManualClock;
  let cluster: FakeCluster;
  let open: OpenGateway;
  let client: WireClient;

  beforeEach(async () => {
    stage = await GatewayStage.start();
    ({ clock, cluster, open } = stage);
    client = await open.client(1);
    await client.call('StreamsGroupHeartbeat', 1, { groupId: 'g', memberId: 'm', memberEpoch: 0 });
    stage.becomes('Stable');
  });

  afterEach(() => stage.stop());

  /** Holds the answers of an API upstream until they are let go, one by one. */
  function hold<N extends ApiName>(name: N, answer: () => object): (() => void)[] {
    const held: (() => void)[] = [];
    cluster
      .broker(1)
      .on(name, () => new Promise((resolve) => held.push(() => resolve(answer() as never))));
    return held;
  }

  const accepted = (code = 0) => ({
    topics: [{ name: 'in', partitions: [{ partitionIndex: 0, errorCode: code }] }],
  });

  for (const [name, version] of [
    ['OffsetCommit', 9],
    ['TxnOffsetCommit', 5],
    ['TxnOffsetCommit', 3],
  ] as const) {
    it(`stores ${name} ${version} upstream in the placeholder's name (4.10)`, async () => {
      const extra = name === 'TxnOffsetCommit' ? { transactionalId: 't', producerId: 9n } : {};
      const answer = await client.call(name, version, { ...extra, ...commitOf([0, 1]) });
      expect(codesOf(answer)).to.deep.equal([0, 0]);
      const [sent] = cluster.broker(1).asked(name);
      expect(sent).to.deep.include({ groupId: 'g', ...IDENTITY });
      expect(sent?.topics[0]?.partitions[1]).to.deep.equal({
        partitionIndex: 1,
        committedOffset: 7n,
        committedLeaderEpoch: 4,
        committedMetadata: 'meta',
      });
      expect(cluster.group('g').offsets.get('in 1')).to.equal(7n);
    });
  }

  it('judges member and epoch as the client sent them (4.10)', async () => {
    await client.call('OffsetCommit', 9, commitOf([0], { ...MEMBER, groupInstanceId: 'i' }));
    expect(open.groups.judged[0]).to.deep.include({
      groupId: 'g',
      memberId: 'm',
      memberEpoch: 3,
      instanceId: 'i',
      transactional: false,
      apiVersion: 9,
    });
  });

  it('forwards nothing that is refused here (4.10)', async () => {
    open.groups.judgeCommit = () => 'STALE_MEMBER_EPOCH';
    expect(codesOf(await client.call('OffsetCommit', 9, commitOf([0])))).to.deep.equal([113]);
    expect(codesOf(await client.call('TxnOffsetCommit', 5, commitOf([0])))).to.deep.equal([22]);
    open.groups.judgeCommit = () => 'UNKNOWN_MEMBER_ID';
    expect(codesOf(await client.call('OffsetCommit', 9, commitOf([0])))).to.deep.equal([25]);
    const sent = cluster.broker(1).seen.filter(({ name }) => name.endsWith('OffsetCommit'));
    expect(sent).to.deep.equal([]);
  });

  describe('topics that nobody looked at yet', () => {
    const isMissing = (topic: string) =>
      open.gateway.topics.view().topic(topic) === undefined ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'NONE';

    it('are looked at before a commit is judged by them (4.11)', async () => {
      cluster.setTopic('in', 2);
      open.groups.judgeCommit = ({ topics }) => isMissing(topics[0]?.name ?? '');
      expect(codesOf(await client.call('OffsetCommit', 9, commitOf([0, 1])))).to.deep.equal([0, 0]);
      expect(codesOf(await client.call('TxnOffsetCommit', 5, commitOf([0])))).to.deep.equal([0]);
    });

    it('are looked at before a deletion is judged by them (4.11)', async () => {
      cluster.setTopic('old', 1);
      cluster.group('g').offsets.set('old 0', 1n);
      open.groups.judgeDelete = isMissing;
      const topics = [{ name: 'old', partitions: [{ partitionIndex: 0 }] }];
      const answer = await client.call('OffsetDelete', 0, { groupId: 'g', topics });
      expect(answer.topics[0]?.partitions[0]?.errorCode).to.equal(0);
      expect(cluster.group('g').offsets.size).to.equal(0);
    });

    it('are not taken for missing while upstream does not say: 14', async () => {
      cluster.broker(1).on('Metadata', () => ({
        brokers: cluster.nodes(),
        topics: [{ name: 'in', errorCode: 5 }],
      }));
      expect(codesOf(await client.call('OffsetCommit', 9, commitOf([0])))).to.deep.equal([14]);
      const topics = [{ name: 'in', partitions: [{ partitionIndex: 0 }] }];
      const deleted = await client.call('OffsetDelete', 0, { groupId: 'g', topics });
      expect(deleted.errorCode).to.equal(14);
      expect(open.groups.judged).to.deep.equal([]);
    });
  });

  it('passes commits of other groups untouched, in any version', async () => {
    const simple = commitOf([0], {}, 'theirs');
    expect(codesOf(await client.call('OffsetCommit', 4, simple))).to.deep.equal([0]);
    const [seen] = cluster.broker(1).seen.filter(({ name }) => name === 'OffsetCommit');
    expect(seen?.version).to.equal(4);
    expect(open.groups.judged).to.deep.equal([]);
  });

  it('stores a simple commit to an empty group without an identity (13.2)', async () => {
    stage.becomes('Empty');
    await until(() => cluster.group('g').members.length === 0);
    const simple = commitOf([0], { memberId: '', generationIdOrMemberEpoch: -1 });
    expect(codesOf(await client.call('OffsetCommit', 8, simple))).to.deep.equal([0]);
    expect(cluster.broker(1).asked('OffsetCommit')[0]).to.deep.include({
      generationIdOrMemberEpoch: -1,
      memberId: '',
      groupInstanceId: null,
    });
  });

  it("gives a transactional commit without a member the placeholder's identity too (OFF-C2, 4.10)", async () => {
    const nobody = { memberId: '', generationIdOrMemberEpoch: -1 };
    const answer = await client.call('TxnOffsetCommit', 3, commitOf([0], nobody));
    expect(codesOf(answer)).to.deep.equal([0]);
    expect(cluster.broker(1).asked('TxnOffsetCommit')[0]).to.deep.include(IDENTITY);
  });

  it('answers 14 while the shard cannot say whose the group is', async () => {
    open.groups.shardError = 'COORDINATOR_LOAD_IN_PROGRESS';
    expect(codesOf(await client.call('OffsetCommit', 9, commitOf([0, 1])))).to.deep.equal([14, 14]);
  });

  for (const code of [22, 25]) {
    it(`turns upstream's ${code} into 14, and joins again (4.10)`, async () => {
      cluster.broker(1).on('OffsetCommit', () => accepted(code));
      expect(codesOf(await client.call('OffsetCommit', 9, commitOf([0])))).to.deep.equal([14]);
      await until(() => cluster.broker(1).asked('JoinGroup').length === 2);
    });
  }

  it('answers 16 when another gateway owns the shard (82), and forwards nothing any more (4.9)', async () => {
    const [held] = cluster.group('g').members;
    if (held !== undefined) held.memberId = 'of-another-gateway';
    expect(codesOf(await client.call('OffsetCommit', 9, commitOf([0])))).to.deep.equal([16]);
    expect(codesOf(await client.call('OffsetCommit', 9, commitOf([0])))).to.deep.equal([16]);
    expect(cluster.broker(1).asked('OffsetCommit')).to.have.length(1);
  });

  it('answers for a partition that upstream left out (6.5)', async () => {
    cluster.broker(1).on('OffsetCommit', () => accepted());
    expect(codesOf(await client.call('OffsetCommit', 9, commitOf([0, 1])))).to.deep.equal([0, 14]);
  });

  it('judges a transactional commit again when upstream has taken it (R1)', async () => {
    const held = hold('TxnOffsetCommit', accepted);
    client.write(client.request('TxnOffsetCommit', 5, commitOf([0])));
    await until(() => held.length === 1);
    open.groups.judgeCommit = () => 'STALE_MEMBER_EPOCH';
    held[0]?.();
    const [frame] = await client.take(1);
    if (frame === undefined) throw new Error('No answer');
    expect(codesOf(decodeAnswer('TxnOffsetCommit', 5, frame))).to.deep.equal([22]);
  });

  it('puts a fetch off while a commit of the partition is under way (R2)', async () => {
    const held = hold('TxnOffsetCommit', accepted);
    cluster.group('g').offsets.set('in 1', 3n);
    client.write(client.request('TxnOffsetCommit', 5, commitOf([0])));
    await until(() => held.length === 1);
    const other = await open.client(1);
    const fetch = (requireStable: boolean) =>
      other.call('OffsetFetch', 9, {
        requireStable,
        groups: [{ groupId: 'g', topics: [{ name: 'in', partitionIndexes: [0, 1] }] }],
      });
    const stable = (await fetch(true)).groups[0]?.topics[0]?.partitions;
    expect(stable?.map((one) => [one.errorCode, one.committedOffset])).to.deep.equal([
      [88, -1n],
      [0, 3n],
    ]);
    const loose = (await fetch(false)).groups[0]?.topics[0]?.partitions;
    expect(loose?.map(({ errorCode }) => errorCode)).to.deep.equal([0, 0]);
    held[0]?.();
    await client.take(1);
    const after = (await fetch(true)).groups[0]?.topics[0]?.partitions;
    expect(after?.map(({ errorCode }) => errorCode)).to.deep.equal([0, 0]);
  });

  it('sends commits of one partition one after the other, and others at once', async () => {
    const held = hold('OffsetCommit', accepted);
    const others = [await open.client(1), await open.client(1), await open.client(1)];
    others[0]?.write(client.request('OffsetCommit', 9, commitOf([0])));
    others[1]?.write(client.request('OffsetCommit', 9, commitOf([0, 1])));
    others[2]?.write(client.request('OffsetCommit', 9, commitOf([2])));
    await until(() => held.length === 2);
    await clock.settle();
    expect(held).to.have.length(2);
    // Which of the two commits of partition 0 came first is the sockets' to say.
    for (const release of held.splice(0)) release();
    await until(() => held.length === 1);
  });

  it('ends the client whose commit is in doubt, without an answer (4.10)', async () => {
    cluster.broker(1).on('TxnOffsetCommit', () => 'close');
    client.write(client.request('TxnOffsetCommit', 5, commitOf([0])));
    await client.closed;
    expect(client.frames).to.deep.equal([]);
  });

  it('answers 15 when upstream is away, which is sure not to have stored anything', async () => {
    const fresh = await open.client(1);
    await fresh.call('ApiVersions', 0, {});
    await open.gateway.topics.ensureKnown(['in']);
    await cluster.broker(1).stop();
    expect(codesOf(await fresh.call('OffsetCommit', 9, commitOf([0])))).to.deep.equal([15]);
    const fetched = await fresh.call('OffsetFetch', 9, {
      groups: [{ groupId: 'g', topics: [{ name: 'in', partitionIndexes: [0] }] }],
    });
    expect(fetched.groups.map(({ errorCode }) => errorCode)).to.deep.equal([15]);
  });

  it('sends nothing of a connection upstream before its commit', async () => {
    cluster.broker(1).on('ListOffsets', () => ({}));
    client.write(
      Buffer.concat([
        client.request('OffsetCommit', 9, commitOf([0])),
        client.request('ListOffsets', 6, {}),
        client.request('OffsetCommit', 9, commitOf([1])),
      ]),
    );
    await client.take(3);
    const order = cluster.broker(1).seen.map(({ name }) => name);
    expect(order.slice(-3)).to.deep.equal(['OffsetCommit', 'ListOffsets', 'OffsetCommit']);
  });
});
