import { expect } from 'chai';
import fc from 'fast-check';
import { isFlexibleApi } from '../../src/wire/apis.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { OpenGateway } from '../support/open-gateway.ts';
import { openGateway } from '../support/open-gateway.ts';

const WHO = { clientSoftwareName: 'c', clientSoftwareVersion: '1' };

/** A request frame with its length: a sound header, then these bytes. */
function request(apiKey: number, version: number, body: Uint8Array): Buffer {
  const header = Buffer.alloc(isFlexibleApi(apiKey, version) ? 12 : 11);
  header.writeInt16BE(apiKey, 0);
  header.writeInt16BE(version, 2);
  header.writeInt16BE(1, 8);
  header.write('c', 10);
  const length = Buffer.alloc(4);
  length.writeInt32BE(header.length + body.length);
  return Buffer.concat([length, header, body]);
}

describe('Gateway, bad input', () => {
  let clock: ManualClock;
  let cluster: FakeCluster;
  let open: OpenGateway;
  const escaped: unknown[] = [];
  const note = (error: unknown): void => {
    escaped.push(error);
  };

  beforeEach(async () => {
    clock = new ManualClock();
    cluster = await FakeCluster.open(clock);
    open = await openGateway(cluster, clock);
    escaped.length = 0;
    process.on('unhandledRejection', note);
  });

  afterEach(async () => {
    process.off('unhandledRejection', note);
    await open.stop();
    await cluster.stop();
  });

  it('a body that does not decode ends its own connection and nothing else (1.6, S58)', async () => {
    const first = await open.client(1);
    const { apiKeys } = await first.call('ApiVersions', 4, WHO);
    const bodies = fc.uint8Array({ maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...apiKeys), bodies, async (api, body) => {
        const client = await open.client(1);
        client.write(request(api.apiKey, api.maxVersion, body));
        client.socket.end();
        await client.closed;
        client.destroy();
      }),
      { numRuns: 300 },
    );
    expect((await first.call('Metadata', 12, { topics: [] })).brokers).to.have.length(1);
    expect(escaped).to.deep.equal([]);
  });

  it('a join that does not decode is no failure of ours', async () => {
    const client = await open.client(1);
    // Group "g", member "m", epoch 0, then nothing.
    client.write(request(88, 1, Buffer.from('0267026d00000000', 'hex')));
    await client.closed;
    await clock.settle();
    expect(escaped).to.deep.equal([]);
    expect(open.log.told.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('answers upstream that do not decode end the client and pass on nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), async (body) => {
        cluster.broker(1).onFrame(10, ({ correlationId }) => {
          const frame = Buffer.alloc(9 + body.length);
          frame.writeInt32BE(5 + body.length, 0);
          frame.writeInt32BE(correlationId, 4);
          frame.set(body, 9);
          return frame;
        });
        const client = await open.client(1);
        client.write(client.request('FindCoordinator', 6, { coordinatorKeys: ['g'] }));
        client.socket.end();
        await client.closed;
        client.destroy();
      }),
      { numRuns: 100 },
    );
    expect(escaped).to.deep.equal([]);
  });
});
