import { expect } from 'chai';
import type { Feature } from '../../src/server/api-versions.ts';
import type { VersionRange } from '../../src/server/dispatch.ts';
import { versionsWithoutStreams } from '../support/fake-broker.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { OpenGateway } from '../support/open-gateway.ts';
import { openGateway } from '../support/open-gateway.ts';
import { until } from '../support/open-server.ts';

const WHO = { clientSoftwareName: 'c', clientSoftwareVersion: '1' };
const TRANSACTIONS: Feature = {
  name: 'transaction.version',
  supported: { min: 0, max: 2 },
  level: 2,
};
const KRAFT: Feature = { name: 'kraft.version', supported: { min: 0, max: 1 }, level: 1 };

describe('GatewayAbilities', () => {
  let clock: ManualClock;
  let cluster: FakeCluster;
  let open: OpenGateway | undefined;

  async function start(
    versions: ReadonlyMap<number, VersionRange>,
    features: readonly Feature[] = [],
    brokers = 1,
  ): Promise<OpenGateway> {
    clock = new ManualClock();
    cluster = await FakeCluster.open(clock, brokers, { versions, features });
    open = await openGateway(cluster, clock);
    return open;
  }

  afterEach(async () => {
    await open?.stop();
    open = undefined;
    await cluster.stop();
  });

  function with_(changes: readonly (readonly [number, VersionRange])[]) {
    return new Map([...versionsWithoutStreams(), ...changes]);
  }

  async function offered(nodeId: number | 'bootstrap' = 1) {
    const answer = await (await open?.client(nodeId))?.call('ApiVersions', 4, WHO);
    if (answer === undefined) throw new Error('No answer');
    const ranges = new Map(
      answer.apiKeys.map(({ apiKey, minVersion, maxVersion }) => [
        apiKey,
        `${minVersion}-${maxVersion}`,
      ]),
    );
    return { answer, ranges };
  }

  it('adds the streams protocol that upstream lacks (4.6)', async () => {
    await start(versionsWithoutStreams());
    const { ranges } = await offered();
    expect([88, 89, 93, 18].map((key) => ranges.get(key))).to.deep.equal([
      '0-1',
      '0-1',
      '0-0',
      '0-5',
    ]);
  });

  it('offers what both sides have, below its caps (4.6)', async () => {
    await start(
      with_([
        [1, { min: 4, max: 18 }],
        [2, { min: 0, max: 5 }],
        [3, { min: 0, max: 99 }],
        [8, { min: 2, max: 10 }],
        [9, { min: 1, max: 10 }],
        [28, { min: 0, max: 6 }],
        [55, { min: 0, max: 2 }],
        [22, { min: 0, max: 5 }],
        [21, { min: 30, max: 31 }],
      ]),
    );
    const { ranges } = await offered();
    expect([1, 2, 3, 8, 9, 28, 55, 22, 21].map((key) => ranges.get(key))).to.deep.equal([
      '4-15',
      '0-5',
      '0-13',
      '2-9',
      '1-9',
      '0-5',
      '0-1',
      '0-5',
      undefined,
    ]);
  });

  it('drops telemetry, delegation tokens, keys between brokers and of other vendors (4.4, 4.6)', async () => {
    const strange = [27, 38, 39, 40, 41, 71, 72, 80, 81, 94, 10_000] as const;
    await start(with_(strange.map((key) => [key, { min: 0, max: 1 }])));
    const { ranges } = await offered();
    expect(strange.filter((key) => ranges.has(key))).to.deep.equal([]);
  });

  it('lists settings of groups though upstream cannot (4.4)', async () => {
    const versions = versionsWithoutStreams();
    versions.delete(74);
    await start(new Map([...versions, [16, { min: 0, max: 3 }]]));
    const { ranges } = await offered();
    expect([ranges.get(74), ranges.get(16)]).to.deep.equal(['0-1', '0-5']);
  });

  it('offers on the bootstrap address what all brokers have in common (4.6)', async () => {
    await start(versionsWithoutStreams(), [], 2);
    cluster.broker(2).versions = with_([[2, { min: 1, max: 4 }]]);
    await cluster.broker(2).stop();
    await cluster.broker(2).restart();
    expect((await offered('bootstrap')).ranges.get(2)).to.equal('1-4');
    expect((await offered(2)).ranges.get(2)).to.equal('1-4');
    expect((await offered(1)).ranges.get(2)).to.equal('1-11');
  });

  it('copies the features of upstream and adds streams.version (4.6, FF-4)', async () => {
    await start(versionsWithoutStreams(), [KRAFT, TRANSACTIONS]);
    const { answer } = await offered();
    expect(answer.supportedFeatures).to.deep.equal([
      { name: 'kraft.version', minVersion: 0, maxVersion: 1 },
      { name: 'transaction.version', minVersion: 0, maxVersion: 2 },
      { name: 'streams.version', minVersion: 0, maxVersion: 1 },
    ]);
    expect(answer.finalizedFeatures).to.deep.equal([
      { name: 'kraft.version', maxVersionLevel: 1, minVersionLevel: 1 },
      { name: 'transaction.version', maxVersionLevel: 2, minVersionLevel: 2 },
      { name: 'streams.version', maxVersionLevel: 1, minVersionLevel: 1 },
    ]);
    expect(answer.finalizedFeaturesEpoch).to.equal(7n);
  });

  for (const [key, max] of [
    [0, 11],
    [26, 4],
    [28, 4],
  ] as const) {
    it(`says transaction.version 1 where key ${key} ends at ${max} (4.6)`, async () => {
      await start(with_([[key, { min: 0, max }]]), [TRANSACTIONS]);
      const { answer } = await offered();
      const level = answer.finalizedFeatures.find(({ name }) => name === TRANSACTIONS.name);
      expect(level?.maxVersionLevel).to.equal(1);
    });
  }

  it('tells the same story of transactions on all addresses (4.6)', async () => {
    await start(versionsWithoutStreams(), [TRANSACTIONS], 2);
    cluster.broker(2).versions = with_([[0, { min: 0, max: 11 }]]);
    await cluster.broker(2).stop();
    await cluster.broker(2).restart();
    await offered(2);
    for (const nodeId of [1, 2, 'bootstrap'] as const) {
      const { answer } = await offered(nodeId);
      const level = answer.finalizedFeatures.find(({ name }) => name === TRANSACTIONS.name);
      expect(level?.maxVersionLevel, String(nodeId)).to.equal(1);
    }
  });

  it('answers ApiVersions that is too new in version 0 with its own range (KIP-511)', async () => {
    const gateway = await start(versionsWithoutStreams());
    const client = await gateway.client(1);
    const frame = client.request('ApiVersions', 5, WHO);
    frame.writeInt16BE(99, 6);
    client.write(frame);
    const [answer] = await client.take(1);
    expect(answer?.toString('hex')).to.equal('00000000' + '0023' + '00000001' + '001200000005');
    expect((await client.call('ApiVersions', 5, WHO)).errorCode).to.equal(0);
  });

  it('holds a claim of cluster and node against what Metadata says on that address (KIP-1242)', async () => {
    await start(versionsWithoutStreams(), [], 2);
    const ask = async (nodeId: number | 'bootstrap', claim: object) =>
      (await (await open?.client(nodeId))?.call('ApiVersions', 5, { ...WHO, ...claim }))?.errorCode;
    expect(await ask(1, { clusterId: cluster.clusterId, nodeId: 1 })).to.equal(0);
    expect(await ask(2, { clusterId: cluster.clusterId, nodeId: 1 })).to.equal(129);
    expect(await ask(1, { clusterId: 'another', nodeId: 1 })).to.equal(129);
    expect(await ask(1, { clusterId: cluster.clusterId })).to.equal(42);
    expect(await ask('bootstrap', {})).to.equal(0);
  });

  it('still answers from what it knows while upstream is away', async () => {
    const gateway = await start(versionsWithoutStreams());
    await cluster.broker(1).stop();
    await until(() => cluster.broker(1).connections === 0);
    const client = await gateway.client(1);
    expect((await client.call('ApiVersions', 4, WHO)).errorCode).to.equal(0);
    const beat = await client.call('StreamsGroupHeartbeat', 1, {
      groupId: 'g',
      memberId: 'm',
      memberEpoch: -1,
    });
    expect(beat.errorCode).to.equal(0);
  });

  it('closes a connection on a request that was not offered (1.6)', async () => {
    const gateway = await start(versionsWithoutStreams());
    const client = await gateway.client(1);
    client.write(client.request('Fetch', 16, {}));
    await client.closed;
    expect(client.frames).to.deep.equal([]);
  });
});
