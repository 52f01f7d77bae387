import { expect } from 'chai';
import type { ApiName, RequestInput } from '../../src/wire/apis.ts';
import { apis, decodeRequest } from '../../src/wire/apis.ts';
import { encodeRequestFrame } from '../../src/wire/headers.ts';
import { Reader } from '../../src/wire/reader.ts';
import { FakeCluster, UPSTREAM_HOST } from '../support/fake-cluster.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { OpenGateway } from '../support/open-gateway.ts';
import { openGateway } from '../support/open-gateway.ts';
import { until } from '../support/open-server.ts';
import type { WireClient } from '../support/wire-client.ts';
import { decodeAnswer } from '../support/wire-client.ts';

const BEAT = { groupId: 'g', memberId: 'm', memberEpoch: 1 };

describe('Gateway, what passes through', () => {
  let clock: ManualClock;
  let cluster: FakeCluster;
  let open: OpenGateway;

  beforeEach(async () => {
    clock = new ManualClock();
    cluster = await FakeCluster.open(clock, 2);
    cluster.setTopic('in', 2);
    open = await openGateway(cluster, clock);
  });

  afterEach(async () => {
    await open.stop();
    await cluster.stop();
  });

  function addressOf(nodeId: number) {
    return { host: '127.0.0.1', port: open.port(nodeId) };
  }

  /** Sends every version that is offered and gives the answers, each searched for addresses upstream. */
  async function everyVersion<N extends ApiName>(
    client: WireClient,
    name: N,
    bodyAt: (version: number) => RequestInput<N>,
  ) {
    const offered = await client.call('ApiVersions', 0, {});
    const range = offered.apiKeys.find(({ apiKey }) => apiKey === apis[name].key);
    if (range === undefined) throw new Error(`${name} is not offered`);
    const answers = [];
    for (let version = range.minVersion; version <= range.maxVersion; version++) {
      client.write(client.request(name, version, bodyAt(version)));
      const [frame] = await client.take(1);
      if (frame === undefined) throw new Error(`${name} ${version} was not answered`);
      expect(leaks(frame), `${name} ${version}`).to.deep.equal([]);
      answers.push(decodeAnswer(name, version, frame));
    }
    expect(answers.length).to.be.greaterThan(0);
    return answers;
  }

  function leaks(frame: Buffer): string[] {
    const found = frame.includes(UPSTREAM_HOST) ? [UPSTREAM_HOST] : [];
    for (const { port } of cluster.brokers) {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32BE(port);
      if (frame.includes(bytes)) found.push(String(port));
    }
    return found;
  }

  it('shows our addresses in Metadata, in every version (4.2)', async () => {
    const client = await open.client('bootstrap');
    const answers = await everyVersion(client, 'Metadata', (version) =>
      version === 0 ? {} : { topics: [{ name: 'in' }] },
    );
    for (const { brokers } of answers) {
      expect(brokers.map(({ nodeId, host, port }) => ({ nodeId, host, port }))).to.deep.equal([
        { nodeId: 1, ...addressOf(1) },
        { nodeId: 2, ...addressOf(2) },
      ]);
    }
    expect(answers.at(-1)?.topics[0]?.partitions.map(({ leaderId }) => leaderId)).to.deep.equal([
      1, 1,
    ]);
  });

  it('shows our addresses in FindCoordinator, in every version (4.2)', async () => {
    cluster.coordinatorId = 2;
    const client = await open.client(1);
    const answers = await everyVersion(client, 'FindCoordinator', (version) =>
      version < 4 ? { key: 'g' } : { coordinatorKeys: ['g'] },
    );
    for (const answer of answers) {
      const { nodeId, host, port } = answer.coordinators[0] ?? answer;
      expect({ nodeId, host, port }).to.deep.equal({ nodeId: 2, ...addressOf(2) });
    }
  });

  it('leaves "no coordinator" as it is (4.2)', async () => {
    cluster.broker(1).on('FindCoordinator', ({ coordinatorKeys: [key = ''] }) => ({
      coordinators: [{ key, nodeId: -1, host: '', port: -1, errorCode: 15 }],
    }));
    const client = await open.client(1);
    const answer = await client.call('FindCoordinator', 6, { coordinatorKeys: ['g'] });
    expect(answer.coordinators[0]).to.deep.equal({
      key: 'g',
      nodeId: -1,
      host: '',
      port: -1,
      errorCode: 15,
      errorMessage: '',
    });
  });

  it('shows our addresses in DescribeCluster and hides the controllers (4.2)', async () => {
    const client = await open.client(1);
    const answers = await everyVersion(client, 'DescribeCluster', () => ({}));
    for (const { brokers } of answers) {
      expect(brokers.map(({ brokerId, host, port }) => ({ brokerId, host, port }))).to.deep.equal([
        { brokerId: 1, ...addressOf(1) },
        { brokerId: 2, ...addressOf(2) },
      ]);
    }
    const refused = await client.call('DescribeCluster', 2, { endpointType: 2 });
    expect(refused.errorCode).to.equal(114);
    expect((await client.call('DescribeCluster', 2, { endpointType: 9 })).errorCode).to.equal(115);
  });

  it('shows our addresses where Produce names a new leader (4.2)', async () => {
    cluster.broker(1).on('Produce', (_, { apiVersion }) => ({
      responses: [{ partitionResponses: [{ errorCode: 6 }] }],
      ...(apiVersion >= 10
        ? { nodeEndpoints: cluster.nodes().map((node) => ({ ...node, rack: null })) }
        : {}),
    }));
    const client = await open.client(1);
    const answers = await everyVersion(client, 'Produce', () => ({ acks: -1 }));
    expect(answers.at(-1)?.nodeEndpoints).to.deep.equal([
      { nodeId: 1, ...addressOf(1), rack: null },
      { nodeId: 2, ...addressOf(2), rack: null },
    ]);
  });

  it('opens an address for a broker nobody has heard of before it names it (4.2, fail closed)', async () => {
    const client = await open.client(1);
    await cluster.add(clock, 7);
    cluster.coordinatorId = 7;
    const { coordinators } = await client.call('FindCoordinator', 6, { coordinatorKeys: ['g'] });
    expect(coordinators[0]?.port).to.equal(open.port(7));
    const seventh = await open.client(7);
    await seventh.call('ApiVersions', 4, { clientSoftwareName: 'c', clientSoftwareVersion: '1' });
    await seventh.call('Metadata', 12, { topics: [] });
    expect(cluster.broker(7).asked('Metadata')).to.have.length(1);
  });

  it('answers in the order of the requests, ours between those of upstream (4.5)', async () => {
    const held: (() => void)[] = [];
    cluster
      .broker(1)
      .on('ListOffsets', () => new Promise((resolve) => held.push(() => resolve({}))));
    open.groups.states.set('g', 'Stable');
    const client = await open.client(1);
    client.write(
      Buffer.concat([
        client.request('ListOffsets', 6, { replicaId: -1 }),
        client.request('StreamsGroupHeartbeat', 1, BEAT),
        client.request('ListOffsets', 6, { replicaId: -1 }),
        client.request('StreamsGroupHeartbeat', 1, BEAT),
      ]),
    );
    await until(() => held.length === 2 && open.groups.heartbeats.length === 2);
    await clock.settle();
    expect(client.frames).to.have.length(0);
    held[1]?.();
    await clock.settle();
    expect(client.frames).to.have.length(0);
    held[0]?.();
    expect((await client.take(4)).map((frame) => frame.readInt32BE(0))).to.deep.equal([0, 1, 2, 3]);
  });

  it('keeps the client id and leaves the body alone', async () => {
    cluster.broker(1).on('ListOffsets', () => ({ throttleTimeMs: 17 }));
    const client = await open.client(1);
    const body = { topics: [{ name: 'in', partitions: [{ timestamp: -1n }] }] };
    const answer = await client.call('ListOffsets', 9, body);
    expect(answer.throttleTimeMs).to.equal(17);
    const [seen] = cluster.broker(1).seen.filter(({ name }) => name === 'ListOffsets');
    expect(seen?.clientId).to.equal('c');
    expect(seen?.version).to.equal(9);
    const frame = encodeRequestFrame('ListOffsets', 9, { correlationId: 0, clientId: 'c' }, body);
    const sent = decodeRequest('ListOffsets', 9, new Reader(frame.subarray(4), 12));
    expect(seen?.body).to.deep.equal(sent);
  });

  for (const [version, transactionalId] of [
    [2, null],
    [3, null],
    [8, 't'],
    [9, null],
    [13, 't'],
  ] as const) {
    it(`waits for no answer to Produce ${version} with acks 0, transactional id ${transactionalId} (4.5)`, async () => {
      const produced: number[] = [];
      const { versions } = cluster.broker(1);
      cluster.broker(1).versions = new Map([...versions, [0, { min: 0, max: 13 }]]);
      cluster.broker(1).onFrame(0, ({ apiVersion }) => {
        produced.push(apiVersion);
        return 'none';
      });
      // The gateway asks again when its own connection was cut.
      await cluster.broker(1).stop();
      await cluster.broker(1).restart();
      const client = await open.client(1);
      await client.call('ApiVersions', 0, {});
      const nullClient = { correlationId: 50, clientId: null };
      const request =
        version === 2
          ? Buffer.from('0000001600000002000000320001630000000000100000000000', 'hex')
          : encodeRequestFrame('Produce', version, nullClient, { transactionalId, acks: 0 });
      client.write(
        Buffer.concat([request, client.request('Metadata', 12, { topics: [] }), request]),
      );
      const [answer] = await client.take(1);
      expect(answer?.readInt32BE(0)).to.equal(1);
      await until(() => produced.length === 2);
      expect(produced).to.deep.equal([version, version]);
    });
  }

  it('ends the client when upstream ends, after the answers that are there (4.5)', async () => {
    cluster.broker(1).on('ListOffsets', () => ({}));
    cluster.broker(1).on('OffsetForLeaderEpoch', () => 'close');
    const client = await open.client(1);
    client.write(
      Buffer.concat([
        client.request('ListOffsets', 6, {}),
        client.request('OffsetForLeaderEpoch', 4, {}),
        client.request('ListOffsets', 6, {}),
      ]),
    );
    await client.closed;
    expect(client.frames.map((frame) => frame.readInt32BE(0))).to.deep.equal([0]);
  });

  it('ends the client when a broker ends its connection, outstanding requests or not (4.5)', async () => {
    const client = await open.client(1);
    await client.call('Metadata', 12, { topics: [] });
    await cluster.broker(1).stop();
    await client.closed;
    expect(client.frames).to.have.length(0);
  });

  it('opens a connection again that a broker ended for want of use', async () => {
    const client = await open.client(1);
    await client.call('Metadata', 12, { topics: [] });
    await clock.pass(60_000);
    await cluster.broker(1).stop();
    await cluster.broker(1).restart();
    await clock.settle();
    open.groups.states.set('g', 'Stable');
    expect((await client.call('StreamsGroupHeartbeat', 1, BEAT)).errorCode).to.equal(0);
    expect((await client.call('Metadata', 12, { topics: [] })).brokers).to.have.length(2);
  });

  it('still passes on what a client sent before it went, then closes upstream (4.5)', async () => {
    let answer = (): void => undefined;
    cluster.broker(1).on(
      'ListOffsets',
      () =>
        new Promise((resolve) => {
          answer = () => resolve({});
        }),
    );
    const client = await open.client(1);
    const before = cluster.broker(1).connections;
    client.write(client.request('ListOffsets', 6, {}));
    await client.flushed();
    client.destroy();
    await until(() => cluster.broker(1).asked('ListOffsets').length === 1);
    expect(cluster.broker(1).connections).to.equal(before + 1);
    answer();
    await until(() => cluster.broker(1).connections === before);
  });

  it('gives every client a connection upstream of its own, to the broker it asked for (4.1)', async () => {
    cluster.broker(1).on('ListOffsets', () => ({}));
    cluster.broker(2).on('ListOffsets', () => ({}));
    for (const nodeId of [1, 1, 2, 2] as const) {
      await (await open.client(nodeId)).call('ListOffsets', 6, {});
    }
    for (const nodeId of [1, 2]) {
      const used = cluster.broker(nodeId).seen.filter(({ name }) => name === 'ListOffsets');
      expect(new Set(used.map(({ connection }) => connection)).size).to.equal(2);
    }
  });

  it('tells upstream the software of the client (4.6)', async () => {
    const client = await open.client(1);
    await client.call('ApiVersions', 4, {
      clientSoftwareName: 'their-client',
      clientSoftwareVersion: '9.9',
    });
    await client.call('Metadata', 12, { topics: [] });
    const said = cluster
      .broker(1)
      .asked('ApiVersions')
      .map((body) => body.clientSoftwareName);
    expect(said.at(-1)).to.equal('their-client');
  });

  it('reads no more from a broker whose client does not take its answers (4.12)', async () => {
    const answer = Buffer.alloc(1 << 19);
    let answered = 0;
    cluster.broker(1).onFrame(1, ({ correlationId }) => {
      answered += 1;
      const frame = Buffer.from(answer);
      frame.writeInt32BE(frame.length - 4, 0);
      frame.writeInt32BE(correlationId, 4);
      return frame;
    });
    const client = await open.client(1);
    client.socket.pause();
    const requests = Array.from({ length: 100 }, () => client.request('Fetch', 15, {}));
    client.write(Buffer.concat(requests));
    await until(() => answered > 0);
    let seen = 0;
    for (let quiet = 0; quiet < 50; quiet = seen === answered ? quiet + 1 : 0) {
      seen = answered;
      await clock.settle();
    }
    // What the sockets in between hold is the system's to say; it is far from all.
    expect(answered).to.be.within(1, 60);
    client.socket.resume();
    const frames = await client.take(100);
    expect(frames.map((frame) => frame.readInt32BE(0))).to.deep.equal(requests.map((_, id) => id));
  });
});
