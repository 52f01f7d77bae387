import { expect } from 'chai';
import type { Topology } from '../../machines/model/topology.ts';
import type { UpstreamError } from '../../src/upstream/upstream-error.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { KeptAddresses, openGateway, ScriptedGroups } from '../support/open-gateway.ts';
import { until } from '../support/open-server.ts';
import { passUntil } from '../support/pass-until.ts';
import { rejectionOf } from '../support/rejection-of.ts';

const TOPOLOGY: Topology = {
  epoch: 0,
  subtopologies: [
    {
      subtopologyId: '0',
      sourceTopics: ['in'],
      sourceTopicRegex: [],
      stateChangelogTopics: [],
      repartitionSinkTopics: [],
      repartitionSourceTopics: [],
      copartitionGroups: [],
    },
  ],
};
const BEAT = { groupId: 'g', memberId: 'm', memberEpoch: 2 };

describe('createGateway()', () => {
  let clock: ManualClock;
  let cluster: FakeCluster;

  beforeEach(async () => {
    clock = new ManualClock();
    cluster = await FakeCluster.open(clock);
  });

  afterEach(() => cluster.stop());

  it('ready() keeps trying until upstream is there', async () => {
    await cluster.broker(1).stop();
    const open = await openGateway(cluster, clock, { notReady: true });
    let isReady = false;
    const ready = open.gateway.ready({ failFast: false }).then(() => {
      isReady = true;
    });
    await clock.pass(30_000);
    expect([isReady, open.gateway.isReachable()]).to.deep.equal([false, false]);
    await cluster.broker(1).restart();
    await passUntil(clock, () => isReady, 1_000);
    await ready;
    expect(open.gateway.isReachable()).to.equal(true);
    await open.stop();
  });

  it('ready() rejects with one clear line when it shall fail fast', async () => {
    const { port } = cluster.broker(1);
    await cluster.broker(1).stop();
    const open = await openGateway(cluster, clock, { notReady: true });
    const error = (await rejectionOf(open.gateway.ready({ failFast: true }))) as UpstreamError;
    expect(error.name).to.equal('UpstreamError');
    expect(error.message).to.match(
      new RegExp(
        `^No broker upstream can be reached: Cannot connect to upstream 127.0.0.1:${port}: `,
      ),
    );
    expect(error.message).not.to.include('\n');
    await open.stop();
  });

  it('opens the addresses it gave out before upstream has answered (4.7)', async () => {
    const addressBook = new KeptAddresses();
    const first = await openGateway(cluster, clock, { addressBook });
    const port = first.port(1);
    await first.stop();
    await cluster.broker(1).stop();
    const second = await openGateway(cluster, clock, { addressBook, notReady: true });
    void second.gateway.ready({ failFast: false });
    await until(() => second.listeners.has(1));
    expect(second.port(1)).to.equal(port);
    const client = await second.client(1);
    client.write(client.request('Metadata', 12, { topics: [] }));
    await client.closed;
    await second.stop();
  });

  it('tries the other bootstrap addresses when the first is dead', async () => {
    const { port } = cluster.broker(1);
    const bootstrap = [
      { host: '127.0.0.1', port: 1 },
      { host: '127.0.0.1', port },
    ];
    const open = await openGateway(cluster, clock, { bootstrap });
    expect(open.gateway.isReachable()).to.equal(true);
    await open.stop();
  });

  it('sends the bootstrap address to any live broker when one is away (4.7)', async () => {
    await cluster.add(clock, 2);
    const open = await openGateway(cluster, clock);
    await cluster.broker(1).stop();
    const client = await open.client('bootstrap');
    await client.call('ApiVersions', 0, {});
    const answer = await client.call('Metadata', 12, { topics: [] });
    expect(answer.brokers).to.have.length(2);
    await open.stop();
  });

  it('says when upstream is away and when it is back', async () => {
    const open = await openGateway(cluster, clock);
    await cluster.broker(1).stop();
    await clock.pass(5_000);
    await until(() => !open.gateway.isReachable());
    await cluster.broker(1).restart();
    await passUntil(clock, () => open.gateway.isReachable(), 1_000);
    await open.stop();
  });

  it('close() ends the joins that wait upstream, each on a connection of its own', async () => {
    const open = await openGateway(cluster, clock);
    cluster.broker(1).on('JoinGroup', () => new Promise(() => undefined));
    const client = await open.client(1);
    const answer = client.call('StreamsGroupHeartbeat', 1, { ...BEAT, memberEpoch: 0 });
    await until(() => cluster.broker(1).asked('JoinGroup').length === 1);
    open.gateway.close();
    expect((await answer).errorCode).to.equal(15);
    await open.stop();
  });

  it('lets no heartbeat of a stored group pass before its topics were looked at once (6.4)', async () => {
    const groups = new ScriptedGroups();
    groups.states.set('g', 'Stable');
    groups.topologies.set('g', TOPOLOGY);
    cluster.setTopic('in', 2);
    const open = await openGateway(cluster, clock, { groups });
    const client = await open.client(1);
    const answer = await client.call('StreamsGroupHeartbeat', 1, BEAT);
    expect(answer.errorCode).to.equal(0);
    expect(open.gateway.topics.view().topic('in')?.partitionCount).to.equal(2);
    expect(groups.heartbeats).to.have.length(1);
    await open.stop();
  });

  it('tells a stored group 14 while nobody could look at its topics, and keeps its members (6.4, TMR-1)', async () => {
    const groups = new ScriptedGroups();
    groups.states.set('g', 'Stable');
    groups.topologies.set('g', TOPOLOGY);
    const open = await openGateway(cluster, clock, { groups });
    const client = await open.client(1);
    await cluster.broker(1).stop();
    const answer = await client.call('StreamsGroupHeartbeat', 1, BEAT);
    expect(answer.errorCode).to.equal(14);
    expect(groups.heartbeats).to.deep.equal([]);
    expect(groups.heard).to.deep.equal([['g', BEAT.memberId]]);
    await open.stop();
  });

  it('watches the topics of live topologies without being asked (4.11, TOP-12)', async () => {
    const groups = new ScriptedGroups();
    groups.states.set('g', 'Stable');
    groups.topologies.set('g', TOPOLOGY);
    const open = await openGateway(cluster, clock, { groups });
    cluster.setTopic('in', 3);
    await clock.pass(6_000);
    await until(() => open.gateway.topics.view().topic('in')?.partitionCount === 3);
    expect(open.gateway.topics.view().topic('in')?.racks).to.deep.equal([
      ['rack-1'],
      ['rack-1'],
      ['rack-1'],
    ]);
    await open.stop();
  });
});
