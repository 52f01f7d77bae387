import { expect } from 'chai';
import { KeyedLocks } from '../../src/upstream/keyed-locks.ts';
import { Placeholders } from '../../src/upstream/placeholders.ts';
import type { UpstreamPool } from '../../src/upstream/pool.ts';
import type { FakeCluster } from '../support/fake-cluster.ts';
import { GatewayStage } from '../support/gateway-stage.ts';
import { KeptLog } from '../support/kept-log.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import type { OpenGateway } from '../support/open-gateway.ts';
import { until } from '../support/open-server.ts';
import { passUntil } from '../support/pass-until.ts';

describe('Placeholders of groups with members, and after them', () => {
  let stage: GatewayStage;
  let clock: ManualClock;
  let cluster: FakeCluster;
  let open: OpenGateway;

  beforeEach(async () => {
    stage = await GatewayStage.start();
    ({ clock, cluster, open } = stage);
  });

  afterEach(() => stage.stop());

  it('beats while the group has members', async () => {
    await stage.heartbeat();
    stage.becomes('Stable');
    await clock.pass(30_000);
    await until(() => cluster.broker(1).asked('Heartbeat').length === 1);
    expect(cluster.broker(1).asked('Heartbeat')[0]).to.deep.equal({
      groupId: 'g',
      generationId: 1,
      memberId: 'member-1',
      groupInstanceId: stage.instanceId,
    });
  });

  it('joins again when its session has run out (25)', async () => {
    await stage.heartbeat();
    stage.becomes('Stable');
    cluster.group('g').members.length = 0;
    await clock.pass(30_000);
    await until(() => cluster.group('g').members.length === 1);
    expect(open.log.told.map(({ text }) => text)).to.include(
      'Placeholder lost its place upstream, joins again',
    );
  });

  it('looks for the coordinator again when that has moved (16)', async () => {
    await stage.heartbeat();
    stage.becomes('Stable');
    const other = await cluster.add(clock, 2);
    cluster.broker(1).on('Heartbeat', () => ({ errorCode: 16 }));
    cluster.coordinatorId = 2;
    await clock.pass(30_000);
    await until(() => cluster.broker(1).asked('Heartbeat').length === 1);
    await passUntil(clock, () => other.asked('Heartbeat').length > 0, 100);
    expect(cluster.group('g').members).to.have.length(1);
  });

  /** Another gateway joins in the place of ours. */
  async function takeOver(): Promise<void> {
    const [held] = cluster.group('g').members;
    if (held !== undefined) held.memberId = 'of-another-gateway';
    const errors = open.log.texts('error').length;
    await passUntil(clock, () => open.log.texts('error').length > errors, 1_000);
  }

  it('serves the group no longer when another gateway has taken over (82, 4.9)', async () => {
    await stage.heartbeat();
    stage.becomes('Stable');
    await takeOver();
    expect((await stage.heartbeat()).errorCode).to.equal(16);
    expect((await stage.heartbeat({ ...stage.join, memberEpoch: 2 })).errorCode).to.equal(16);
    // Its members are those of the other's group now: however long it takes, none goes on here.
    await clock.pass(3_600_000);
    expect((await stage.heartbeat({ ...stage.join, memberEpoch: 2 })).errorCode).to.equal(16);
    expect(cluster.broker(1).asked('JoinGroup')).to.have.length(1);
    expect(open.gateway.placeholders()).to.deep.equal(new Map([['fenced', 1]]));
  });

  it('leaves the place to the other gateway when the group becomes empty here (82, 4.9)', async () => {
    await stage.heartbeat();
    stage.becomes('Stable');
    await takeOver();
    stage.becomes('Empty');
    await clock.pass(120_000);
    stage.becomes('Dead');
    await clock.pass(120_000);
    expect(cluster.broker(1).asked('LeaveGroup')).to.deep.equal([]);
    expect(cluster.group('g').members).to.have.length(1);
  });

  it('takes the place back for new members once the old ones are gone, ever more slowly (82)', async () => {
    await stage.heartbeat();
    for (const waitMs of [60_000, 120_000, 240_000]) {
      stage.becomes('Stable');
      await takeOver();
      stage.becomes('Empty');
      await clock.pass(waitMs - 10_000);
      expect((await stage.heartbeat()).errorCode, `before ${waitMs} ms`).to.equal(16);
      await clock.pass(10_000);
      expect((await stage.heartbeat()).errorCode, `after ${waitMs} ms`).to.equal(0);
    }
    expect(cluster.broker(1).asked('JoinGroup')).to.have.length(4);
  });

  it('leaves when the group is empty, and joins again with its next member', async () => {
    await stage.heartbeat();
    stage.becomes('Stable');
    stage.becomes('Empty');
    await until(() => cluster.group('g').members.length === 0);
    await clock.pass(60_000);
    expect(cluster.broker(1).asked('Heartbeat')).to.deep.equal([]);
    expect((await stage.heartbeat()).errorCode).to.equal(0);
    expect(cluster.group('g').members).to.have.length(1);
  });

  it('leaves also where it may have joined without hearing so', async () => {
    await stage.heartbeat();
    stage.becomes('Stable');
    stage.becomes('Empty');
    await until(() => cluster.group('g').members.length === 0);
    cluster.broker(1).on('SyncGroup', () => 'close');
    expect((await stage.heartbeat()).errorCode).to.equal(15);
    expect(cluster.group('g').members).to.have.length(1);
    await clock.pass(20_000);
    await until(() => cluster.group('g').members.length === 0);
  });

  it('takes over after a restart, for groups with members', async () => {
    await stage.heartbeat();
    stage.becomes('Stable');
    open = await stage.restart();
    await clock.pass(5_000);
    await until(() => cluster.broker(1).asked('JoinGroup').length === 2);
    await until(() => cluster.group('g').members[0]?.memberId === 'member-2');
    expect(cluster.group('g').members).to.have.length(1);
  });

  it('takes out after a restart what an earlier process left in an empty group', async () => {
    await stage.heartbeat();
    open.groups.states.set('g', 'Empty');
    open = await stage.restart();
    await clock.pass(5_000);
    await until(() => cluster.group('g').members.length === 0);
  });

  it('leaves a group that no member came to after all', async () => {
    await stage.heartbeat();
    await clock.pass(20_000);
    await until(() => cluster.group('g').members.length === 0);
  });

  it('lets members beat on while upstream is away, and joins again when it is back', async () => {
    await stage.heartbeat();
    stage.becomes('Stable');
    const client = await open.client(1);
    await cluster.broker(1).stop();
    cluster.groups.clear();
    await clock.pass(60_000);
    const beat = await client.call('StreamsGroupHeartbeat', 1, { ...stage.join, memberEpoch: 2 });
    expect(beat.errorCode).to.equal(0);
    await cluster.broker(1).restart();
    await passUntil(clock, () => cluster.group('g').members.length > 0, 1_000);
  });

  it('ensure() rejects for nothing: nobody waits for it where groups change', async () => {
    const log = new KeptLog();
    const pool = {
      coordinatorId: () => Promise.reject(new TypeError('not foreseen')),
      forgetCoordinator: () => undefined,
    } as unknown as UpstreamPool;
    const parts = { pool, locks: new KeyedLocks(), clock, log, shardCount: 50 };
    const placeholders = new Placeholders({ ...parts, stateOf: () => 'Stable' });
    expect(await placeholders.ensure('g')).to.equal('unavailable');
    expect(log.texts('error')).to.deep.equal(['Placeholder could not join']);
    placeholders.close();
  });

  it('tells a first member 15 while upstream is away', async () => {
    const client = await open.client(1);
    await cluster.broker(1).stop();
    expect((await client.call('StreamsGroupHeartbeat', 1, stage.join)).errorCode).to.equal(15);
  });

  it('tells members where their group is while no broker can be reached (4.9)', async () => {
    stage.becomes('Stable');
    await until(() => cluster.group('g').members.length === 1);
    await cluster.broker(1).stop();
    const client = await open.client(1);
    await client.call('ApiVersions', 0, {});
    const { coordinators } = await client.call('FindCoordinator', 6, { coordinatorKeys: ['g'] });
    expect(coordinators.map(({ nodeId, port }) => [nodeId, port])).to.deep.equal([
      [1, open.port(1)],
    ]);
    client.write(client.request('FindCoordinator', 6, { coordinatorKeys: ['another'] }));
    await client.closed;
  });

  it('tells members where their group is when upstream takes long to say (4.9)', async () => {
    stage.becomes('Stable');
    await until(() => cluster.group('g').members.length === 1);
    const before = cluster.broker(1).asked('FindCoordinator').length;
    cluster.broker(1).on('FindCoordinator', () => new Promise(() => undefined));
    const asked = (count: number) =>
      until(() => cluster.broker(1).asked('FindCoordinator').length === before + count);
    const client = await open.client(1);
    const found = client.call('FindCoordinator', 6, { coordinatorKeys: ['g'] });
    const other = await open.client(1);
    other.write(other.request('FindCoordinator', 6, { coordinatorKeys: ['g', 'another'] }));
    await asked(2);
    await clock.pass(3_000);
    const { coordinators } = await found;
    expect(coordinators.map(({ key, nodeId, port }) => [key, nodeId, port])).to.deep.equal([
      ['g', 1, open.port(1)],
    ]);
    // Of a group that is not coordinated here nobody but upstream knows.
    expect(other.frames).to.deep.equal([]);
  });
});
