import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { UpstreamConnection } from '../../src/upstream/connection.ts';
import type { UpstreamError } from '../../src/upstream/upstream-error.ts';
import { encodeRequestFrame } from '../../src/wire/headers.ts';
import { FakeBroker } from '../support/fake-broker.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { until } from '../support/open-server.ts';
import { rejectionOf } from '../support/rejection-of.ts';

const BEAT = { groupId: 'g', generationId: 1, memberId: 'm' };

function frameOf(correlationId: number): Buffer {
  return encodeRequestFrame('Heartbeat', 4, { correlationId, clientId: 'c' }, BEAT).subarray(4);
}

async function faultOf(work: Promise<unknown>): Promise<string> {
  return ((await rejectionOf(work)) as UpstreamError).fault;
}

describe('UpstreamConnection', () => {
  let clock: ManualClock;
  let broker: FakeBroker;
  let connection: UpstreamConnection | undefined;
  let server: Server | undefined;

  function open(
    port: number,
    { firstCorrelationId = 0, signal }: { firstCorrelationId?: number; signal?: AbortSignal } = {},
  ): Promise<UpstreamConnection> {
    return UpstreamConnection.open(
      { host: '127.0.0.1', port },
      {
        clock,
        connectTimeoutMs: 1_000,
        requestTimeoutMs: 30_000,
        inFlightMax: 3,
        clientId: 'headgate',
        software: { name: 'soft', version: '1.2' },
        firstCorrelationId,
        ...(signal === undefined ? {} : { signal }),
      },
    );
  }

  beforeEach(async () => {
    clock = new ManualClock();
    broker = await FakeBroker.open({ nodeId: 1, clusterId: 'k', clock });
    broker.on('Heartbeat', () => ({ errorCode: 27 }));
  });

  afterEach(async () => {
    connection?.close();
    await broker.stop();
    server?.close();
    server = undefined;
  });

  it('open() says whose software speaks and learns the versions', async () => {
    connection = await open(broker.port);
    expect(broker.asked('ApiVersions')).to.deep.equal([
      { clientSoftwareName: 'soft', clientSoftwareVersion: '1.2', clusterId: null, nodeId: -1 },
    ]);
    expect(connection.versions.ranges.get(12)).to.deep.equal({ min: 0, max: 4 });
    expect(connection.versions.finalizedFeaturesEpoch).to.equal(7n);
  });

  it('open() comes again with the version that a broker names (KIP-511)', async () => {
    broker.versions = new Map([...broker.versions, [18, { min: 0, max: 2 }]]);
    connection = await open(broker.port);
    expect(broker.seen.map(({ version }) => version)).to.deep.equal([4, 2]);
    expect(connection.versions.ranges.get(18)).to.deep.equal({ min: 0, max: 2 });
  });

  it('open() rejects when nobody listens', async () => {
    const { port } = broker;
    await broker.stop();
    expect(await faultOf(open(port))).to.equal('unreachable');
  });

  it('open() rejects when the peer answers something else', async () => {
    server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const port = await listening(server);
    expect(await faultOf(open(port))).to.equal('unreachable');
  });

  it('open() rejects when the peer does not answer in time', async () => {
    const sockets: Socket[] = [];
    server = createServer((socket) => sockets.push(socket));
    const opening = faultOf(open(await listening(server)));
    await until(() => sockets.length === 1);
    await clock.pass(30_000);
    expect(await opening).to.equal('unreachable');
  });

  it('forward() gives the answer the correlation id that its request had', async () => {
    connection = await open(broker.port);
    const ids = [5, 5, -1];
    const answers = await Promise.all(ids.map((id) => connection?.forward(frameOf(id))));
    expect(answers.map((answer) => answer?.readInt32BE(0))).to.deep.equal(ids);
    expect(broker.seen.slice(1).map((one) => one.correlationId)).to.deep.equal([1, 2, 3]);
  });

  it('counts on from 2147483647 to -2147483648', async () => {
    connection = await open(broker.port, { firstCorrelationId: 2 ** 31 - 2 });
    const answers = [];
    for (const id of [1, 2, 3])
      answers.push((await connection.forward(frameOf(id))).readInt32BE(0));
    expect(answers).to.deep.equal([1, 2, 3]);
    expect(broker.seen.map((one) => one.correlationId)).to.deep.equal([
      2 ** 31 - 2,
      2 ** 31 - 1,
      -(2 ** 31),
      -(2 ** 31) + 1,
    ]);
  });

  it('request() takes the highest version in common and gives the decoded answer', async () => {
    broker.versions = new Map([...broker.versions, [12, { min: 0, max: 2 }]]);
    connection = await open(broker.port);
    expect(await connection.request('Heartbeat', BEAT)).to.deep.equal({
      throttleTimeMs: 0,
      errorCode: 27,
    });
    expect(broker.seen.at(-1)?.version).to.equal(2);
  });

  it('request() rejects where there is no version in common', async () => {
    broker.versions = new Map([...broker.versions, [12, { min: 5, max: 9 }]]);
    connection = await open(broker.port);
    expect(await faultOf(connection.request('Heartbeat', BEAT))).to.equal('unsupported');
  });

  it('refuses one request more than it may have under way', async () => {
    broker.on('Heartbeat', () => new Promise(() => undefined));
    connection = await open(broker.port);
    const lost = [1, 2, 3].map((id) =>
      faultOf(connection?.forward(frameOf(id)) as Promise<Buffer>),
    );
    expect(await faultOf(connection.forward(frameOf(4)))).to.equal('full');
    connection.close();
    expect(await Promise.all(lost)).to.deep.equal(['lost', 'lost', 'lost']);
  });

  it('gives up a broker that does not answer a request of our own, and rejects everything', async () => {
    broker.on('Heartbeat', () => new Promise(() => undefined));
    connection = await open(broker.port);
    const outcomes = [
      faultOf(connection.forward(frameOf(1))),
      faultOf(connection.request('Heartbeat', BEAT, { timeoutMs: 500 })),
    ];
    await until(() => broker.asked('Heartbeat').length === 2);
    await clock.pass(500);
    expect(await Promise.all(outcomes)).to.deep.equal(['timeout', 'timeout']);
    expect(connection.isOpen).to.equal(false);
  });

  it('ends when an answer has the wrong correlation id', async () => {
    broker.onFrame(12, () => Buffer.from([0, 0, 0, 7, 0, 0, 0, 99, 0, 0, 0]));
    connection = await open(broker.port);
    expect(await faultOf(connection.forward(frameOf(1)))).to.equal('lost');
  });

  it('open() is given up when its signal is aborted, whether it connects or waits for versions', async () => {
    const sockets: Socket[] = [];
    server = createServer((socket) => sockets.push(socket.resume()));
    const port = await listening(server);
    const early = new AbortController();
    const connecting = faultOf(open(port, { signal: early.signal }));
    early.abort();
    expect(await connecting).to.equal('unreachable');
    expect(await faultOf(open(port, { signal: early.signal }))).to.equal('unreachable');
    const late = new AbortController();
    const before = sockets.length;
    const negotiating = faultOf(open(port, { signal: late.signal }));
    await until(() => sockets.length > before && sockets.some((socket) => socket.bytesRead > 0));
    late.abort();
    expect(await negotiating).to.equal('unreachable');
    await until(() => sockets.every((socket) => socket.destroyed));
  });

  it('end() waits for the answers that are outstanding', async () => {
    let answer = (_: { errorCode: number }): void => undefined;
    broker.on('Heartbeat', () => new Promise((resolve) => (answer = resolve)));
    connection = await open(broker.port);
    const forwarded = connection.forward(frameOf(8));
    await until(() => broker.asked('Heartbeat').length === 1);
    connection.end();
    expect(await faultOf(connection.forward(frameOf(9)))).to.equal('lost');
    answer({ errorCode: 0 });
    expect((await forwarded).readInt32BE(0)).to.equal(8);
    await until(() => broker.connections === 0);
  });
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
