import { connect } from 'node:net';
import { expect } from 'chai';
import { shardOf } from '../../machines/model/ids.ts';
import { AdminListenError } from '../../src/admin/server.ts';
import { VERSION } from '../../src/version.ts';
import { AdminStage, SHARDS, shardStatus } from '../support/admin-stage.ts';

describe('the admin server', () => {
  let stage: AdminStage;
  beforeEach(async () => {
    stage = await new AdminStage().open();
  });
  afterEach(() => stage.close());

  it('GET /metrics gives the text of the metrics', async () => {
    expect(await stage.ask('/metrics')).to.deep.equal({
      status: 200,
      type: 'text/plain',
      body: 'a 1\n',
    });
  });

  it('GET / lists the paths', async () => {
    const { body } = await stage.ask('/');
    expect(Object.keys(JSON.parse(body).paths)).to.include('/groups/*/journal');
  });

  it('GET /health/live is always well', async () => {
    stage.shards = [];
    expect(await stage.askJson('/health/live')).to.deep.equal({
      status: 200,
      body: { live: true },
    });
  });

  it('GET /health/ready wants every shard active and the upstream reached', async () => {
    expect(await stage.askJson('/health/ready')).to.deep.equal({
      status: 200,
      body: { ready: true, shards: { active: 4 }, upstreamReached: true },
    });
    stage.shards = [shardStatus(0), shardStatus(1, 'loading')];
    expect(await stage.askJson('/health/ready')).to.deep.equal({
      status: 503,
      body: { ready: false, shards: { active: 1, loading: 1 }, upstreamReached: true },
    });
    stage.shards = [shardStatus(0)];
    stage.upstreamReached = false;
    expect((await stage.ask('/health/ready')).status).to.equal(503);
    stage.shards = [];
    stage.upstreamReached = true;
    expect((await stage.ask('/health/ready')).status).to.equal(503);
  });

  it('GET /status tells where clients reach the coordinator', async () => {
    stage.addresses = [
      { host: 'gate', port: 9_092 },
      { host: '::1', port: 9_192 },
    ];
    expect(await stage.askJson('/status')).to.deep.equal({
      status: 200,
      body: { version: VERSION, addresses: ['gate:9092', '[::1]:9192'] },
    });
  });

  it('GET /charts marks the state that a group and its members are in', async () => {
    const marks = async (name: string) =>
      JSON.parse((await stage.ask(`/charts/${name}.json?group=orders`)).body).marks;
    expect(await marks('group')).to.deep.equal({ Reconciling: 'orders' });
    expect(await marks('member')).to.deep.equal({ unrevokedTasks: 'A', unreleasedTasks: 'B' });
    expect(await marks('shard')).to.deep.equal({ active: `shard ${shardOf('orders', SHARDS)}` });
    expect(await marks('description')).to.deep.equal({ none: 'orders' });
    const svg = await stage.ask('/charts/group.svg?group=orders');
    expect(svg).to.include({ status: 200, type: 'image/svg+xml' });
    expect(svg.body).to.contain('Reconciling');
    for (const path of ['group.png', 'groups.svg', '.svg', 'group']) {
      expect((await stage.ask(`/charts/${path}`)).status, path).to.equal(404);
    }
    expect((await stage.ask('/charts/group.svg?group=nobody')).status).to.equal(404);
  });

  it('answers only GET, and no body', async () => {
    expect(await stage.ask('/groups', { method: 'DELETE' })).to.include({ status: 405 });
    expect(await stage.ask('/groups', { body: 'x' })).to.include({ status: 400 });
    expect(await stage.ask('/nothing')).to.include({ status: 404 });
  });

  it('says nothing of a failure inside, and logs it', async () => {
    stage.failure = new Error('secret path');
    const { status, body } = await stage.ask('/groups/orders/journal');
    expect(status).to.equal(500);
    expect(body).not.to.contain('secret');
    expect(stage.logged).to.deep.equal(['Admin request failed']);
  });

  it('answers 503 when an answer takes too long', async () => {
    const never = { read: () => new Promise<never>(() => {}) };
    const slow = await new AdminStage().open({ journal: never, answerTimeoutMs: 1 });
    const { status } = await slow.ask('/groups/orders/journal');
    await slow.close();
    expect(status).to.equal(503);
  });

  it('refuses headers that are too long', async () => {
    const { status } = await stage.ask(`/${'x'.repeat(9_000)}`);
    expect(status).to.equal(431);
  });

  it('says in one line that its port is taken', async () => {
    const { address } = stage.server;
    const failed = await new AdminStage()
      .open({ listen: address })
      .catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(AdminListenError);
    expect(failed)
      .to.have.property('message')
      .that.equals(
        `Cannot listen on 127.0.0.1:${address.port} for the admin server: the port is in use (--admin-port)`,
      );
  });

  it('close() ends although a client keeps its connection', async () => {
    const socket = connect(stage.server.address);
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await new Promise((resolve) => socket.on('connect', resolve));
    socket.write('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await stage.close();
    await closed;
  });
});
