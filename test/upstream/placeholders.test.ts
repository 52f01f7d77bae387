import { expect } from 'chai';
import { KeyedLocks } from '../../src/upstream/keyed-locks.ts';
import { Placeholders } from '../../src/upstream/placeholders.ts';
import type { UpstreamPool } from '../../src/upstream/pool.ts';
import { apis } from '../../src/wire/apis.ts';
import { versionsWithoutStreams } from '../support/fake-broker.ts';
import type { FakeCluster } from '../support/fake-cluster.ts';
import { GatewayStage } from '../support/gateway-stage.ts';
import { KeptLog } from '../support/kept-log.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import type { OpenGateway } from '../support/open-gateway.ts';
import { until } from '../support/open-server.ts';
import { passUntil } from '../support/pass-until.ts';

describe('Placeholders', () => {
  let stage: GatewayStage;
  let clock: ManualClock;
  let cluster: FakeCluster;
  let open: OpenGateway;

  beforeEach(async () => {
    stage = await GatewayStage.start();
    ({ clock, cluster, open } = stage);
  });

  afterEach(() => stage.stop());

  it('joins before the first member does, with a protocol type of its own (4.10)', async () => {
    expect((await stage.heartbeat()).errorCode).to.equal(0);
    const [asked] = cluster.broker(1).asked('JoinGroup');
    expect({ ...asked, reason: null }).to.deep.equal({
      groupId: 'g',
      sessionTimeoutMs: 1_800_000,
      rebalanceTimeoutMs: 20_000,
      memberId: '',
      groupInstanceId: stage.instanceId,
      protocolType: 'streams-gateway',
      protocols: [{ name: 'placeholder', metadata: Buffer.alloc(0) }],
      reason: null,
    });
    expect(cluster.broker(1).asked('SyncGroup')[0]?.assignments).to.deep.equal([
      { memberId: 'member-1', assignment: Buffer.alloc(0) },
    ]);
    expect(open.groups.heartbeats).to.deep.equal([{ groupId: 'g', memberEpoch: 0 }]);
  });

  it('joins once for members that come together', async () => {
    const answers = await Promise.all([stage.heartbeat(), stage.heartbeat(), stage.heartbeat()]);
    expect(answers.map(({ errorCode }) => errorCode)).to.deep.equal([0, 0, 0]);
    expect(cluster.broker(1).asked('JoinGroup')).to.have.length(1);
  });

  it('refuses the first member with 69 where a live group of another kind holds the id (stage.join-3)', async () => {
    cluster.group('g').members.push({ memberId: 'theirs', instanceId: null });
    cluster.group('g').protocolType = 'consumer';
    const answer = await stage.heartbeat();
    expect(answer.errorCode).to.equal(69);
    expect(open.groups.heartbeats).to.deep.equal([]);
  });

  it('leaves a consumer group alone, an empty one too (13)', async () => {
    cluster.group('g').isConsumerGroup = true;
    const answer = await stage.heartbeat();
    expect(answer.errorCode).to.equal(69);
    expect(cluster.broker(1).asked('JoinGroup')).to.deep.equal([]);
    expect(cluster.group('g').isConsumerGroup).to.equal(true);
  });

  it('asks a broker without consumer groups for none', async () => {
    const versions = versionsWithoutStreams();
    versions.delete(apis.ConsumerGroupDescribe.key);
    cluster.broker(1).versions = versions;
    open = await stage.restart();
    expect((await stage.heartbeat()).errorCode).to.equal(0);
    expect(cluster.broker(1).asked('ConsumerGroupDescribe')).to.deep.equal([]);
  });

  it('tries ever more rarely for a group that another kind of group has displaced, and warns once', async () => {
    const log = new KeptLog();
    const joinedAtMs: number[] = [];
    let code = 23;
    const connection = {
      versions: { ranges: new Map([[apis.JoinGroup.key, { min: 0, max: 9 }]]) },
      request: async (name: string) => {
        if (name === 'JoinGroup') joinedAtMs.push(clock.monotonicMs() - startMs);
        return { errorCode: code, generationId: 1, memberId: 'p', leader: 'p' };
      },
      close: () => undefined,
    };
    const pool = {
      coordinatorId: async () => 1,
      forgetCoordinator: () => undefined,
      open: async () => connection,
    } as unknown as UpstreamPool;
    const parts = { pool, locks: new KeyedLocks(), clock, log, shardCount: 50 };
    const placeholders = new Placeholders({ ...parts, stateOf: () => 'Stable' });
    const startMs = clock.monotonicMs();
    for (let sweeps = 0; sweeps <= 60; sweeps++) {
      placeholders.sweep(['g']);
      await clock.pass(5_000);
    }
    expect(joinedAtMs).to.deep.equal([
      ...[0, 5_000, 10_000, 15_000, 25_000, 45_000, 80_000, 140_000, 200_000, 260_000],
    ]);
    expect(log.texts('warn')).to.deep.equal(['Placeholder was refused upstream']);
    expect(placeholders.counts()).to.deep.equal(new Map([['conflict', 1]]));
    // A member that comes is not kept waiting for what may have changed.
    code = 0;
    expect(await placeholders.ensure('g')).to.equal('joined');
    expect(placeholders.counts()).to.deep.equal(new Map([['joined', 1]]));
    placeholders.close();
  });

  it('lets many groups join side by side, each waiting for its own delay upstream', async () => {
    const held: (() => void)[] = [];
    cluster.broker(1).on('JoinGroup', async () => {
      await new Promise<void>((resolve) => held.push(resolve));
      return { generationId: 1, memberId: 'p', leader: 'p', protocolName: 'placeholder' };
    });
    cluster.broker(1).on('SyncGroup', () => ({}));
    const ids = Array.from({ length: 150 }, (_, at) => `g${at}`);
    for (const groupId of ids) {
      open.groups.states.set(groupId, 'Stable');
      open.gateway.groupWatcher.groupChanged(groupId, 'Stable');
    }
    await until(() => held.length === 128);
    await clock.settle();
    expect(held).to.have.length(128);
    for (const release of held.splice(0)) release();
    await until(() => held.length === 22);
    for (const release of held.splice(0)) release();
    await until(() => open.gateway.placeholders().get('joined') === 150);
  });

  it('takes over an empty classic group and its offsets (O-1)', async () => {
    cluster.group('g').protocolType = 'consumer';
    cluster.group('g').offsets.set('in 0', 5n);
    expect((await stage.heartbeat()).errorCode).to.equal(0);
    expect(cluster.group('g').offsets.get('in 0')).to.equal(5n);
  });

  for (const [code, told] of [
    [30, 30],
    [81, 69],
    [-1, 15],
  ] as const) {
    it(`tells a member ${told} when upstream refuses the join with ${code}`, async () => {
      cluster.broker(1).on('JoinGroup', () => ({ errorCode: code, protocolName: '' }));
      expect((await stage.heartbeat()).errorCode).to.equal(told);
    });
  }

  it('tells a member 14 when the join takes too long, and lets it in afterwards', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const join = { generationId: 4, memberId: 'p', leader: 'p', protocolName: 'placeholder' };
    cluster.broker(1).on('JoinGroup', async () => {
      await held;
      return join;
    });
    cluster.broker(1).on('SyncGroup', () => ({}));
    const answer = stage.heartbeat();
    await until(() => cluster.broker(1).asked('JoinGroup').length === 1);
    await clock.pass(5_000);
    expect((await answer).errorCode).to.equal(14);
    release();
    expect((await stage.heartbeat()).errorCode).to.equal(0);
    expect(cluster.broker(1).asked('JoinGroup')).to.have.length(1);
  });

  it('lets no later request of the connection overtake a join that waits', async () => {
    let release = (): void => undefined;
    cluster.broker(1).on(
      'SyncGroup',
      () =>
        new Promise((resolve) => {
          release = () => resolve({});
        }),
    );
    const client = await open.client(1);
    client.write(
      Buffer.concat([
        client.request('StreamsGroupHeartbeat', 1, stage.join),
        client.request('StreamsGroupHeartbeat', 1, { ...stage.join, memberEpoch: -1 }),
      ]),
    );
    await until(() => cluster.broker(1).asked('SyncGroup').length === 1);
    release();
    await client.take(2);
    expect(open.groups.heartbeats.map(({ memberEpoch }) => memberEpoch)).to.deep.equal([0, -1]);
  });

  it('waits for a cluster that makes its coordinator at the first question (2.2)', async () => {
    let asked = 0;
    const { nodeId, host, port } = cluster.nodes()[0] ?? { nodeId: 1, host: '', port: 0 };
    cluster.broker(1).on('FindCoordinator', ({ coordinatorKeys: [key = ''] }) => {
      asked += 1;
      const coordinator =
        asked < 3 ? { key, nodeId: -1, port: -1, errorCode: 15 } : { key, nodeId, host, port };
      return { coordinators: [coordinator] };
    });
    const answer = stage.heartbeat();
    await passUntil(clock, () => asked === 3, 1);
    expect((await answer).errorCode).to.equal(0);
  });

  it('asks for a shorter session where the long one is not allowed (26)', async () => {
    const script = { generationId: 1, memberId: 'p', leader: 'p', protocolName: 'placeholder' };
    cluster
      .broker(1)
      .on('JoinGroup', ({ sessionTimeoutMs }) =>
        sessionTimeoutMs > 300_000 ? { errorCode: 26, protocolName: '' } : script,
      );
    cluster.broker(1).on('SyncGroup', () => ({}));
    const answer = stage.heartbeat();
    await until(() => cluster.broker(1).asked('JoinGroup').length === 1);
    await passUntil(clock, () => cluster.broker(1).asked('JoinGroup').length === 2, 1);
    expect((await answer).errorCode).to.equal(0);
  });
});
