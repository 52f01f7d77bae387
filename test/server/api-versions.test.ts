import { expect } from 'chai';
import type { Abilities } from '../../src/server/api-versions.ts';
import { apiVersionsHandler } from '../../src/server/api-versions.ts';
import type { ListenerInfo } from '../../src/server/dispatch.ts';
import { createDispatch } from '../../src/server/dispatch.ts';
import type { OpenServer } from '../support/open-server.ts';
import { openServer } from '../support/open-server.ts';
import { decodeAnswer, WireClient } from '../support/wire-client.ts';

const ABILITIES: Abilities = {
  versions: new Map([
    [88, { min: 0, max: 1 }],
    [18, { min: 0, max: 5 }],
  ]),
  features: [
    { name: 'streams.version', supported: { min: 0, max: 1 }, level: 1 },
    { name: 'group.version', supported: { min: 0, max: 1 }, level: 0 },
    { name: 'metadata.version', supported: { min: 7, max: 25 }, level: 25 },
  ],
  featuresEpoch: 3n,
  clusterId: 'k',
};
const API_KEYS = [
  { apiKey: 18, minVersion: 0, maxVersion: 5 },
  { apiKey: 88, minVersion: 0, maxVersion: 1 },
];
const FINALIZED = [
  { name: 'streams.version', maxVersionLevel: 1, minVersionLevel: 1 },
  { name: 'metadata.version', maxVersionLevel: 25, minVersionLevel: 25 },
];
const SOFTWARE = { clientSoftwareName: 'apache-kafka-java', clientSoftwareVersion: '4.4.0' };

describe('apiVersionsHandler()', () => {
  let server: OpenServer;
  let client: WireClient;
  let software: { readonly name: string; readonly version: string } | undefined;

  async function open(nodeId: ListenerInfo['nodeId'], abilities = ABILITIES): Promise<void> {
    const handler = apiVersionsHandler(() => abilities);
    server = await openServer(
      (log) =>
        createDispatch({
          handlers: new Map([
            [
              18,
              (request) => {
                const answer = handler(request);
                software = request.connection.software;
                return answer;
              },
            ],
          ]),
          versions: () => abilities.versions,
          log,
        }),
      {},
      nodeId,
    );
    client = await WireClient.connect(server.port);
  }

  beforeEach(() => open(2));

  afterEach(async () => {
    client.destroy();
    await server.listener.stop(0);
  });

  it('tells keys alone up to version 2', async () => {
    for (const version of [0, 1, 2]) {
      const answer = await client.call('ApiVersions', version, {});
      expect(answer).to.deep.include({ errorCode: 0, apiKeys: API_KEYS, supportedFeatures: [] });
    }
  });

  it('leaves out features whose lowest level is 0 in version 3 (wire 2.4)', async () => {
    const answer = await client.call('ApiVersions', 3, SOFTWARE);
    expect(answer).to.deep.include({
      errorCode: 0,
      supportedFeatures: [{ name: 'metadata.version', minVersion: 7, maxVersion: 25 }],
      finalizedFeaturesEpoch: 3n,
      finalizedFeatures: FINALIZED,
    });
  });

  it('tells all features, and as finalized those in force, from version 4 on', async () => {
    for (const version of [4, 5]) {
      const answer = await client.call('ApiVersions', version, SOFTWARE);
      expect(answer).to.deep.include({
        errorCode: 0,
        apiKeys: API_KEYS,
        supportedFeatures: [
          { name: 'streams.version', minVersion: 0, maxVersion: 1 },
          { name: 'group.version', minVersion: 0, maxVersion: 1 },
          { name: 'metadata.version', minVersion: 7, maxVersion: 25 },
        ],
        finalizedFeaturesEpoch: 3n,
        finalizedFeatures: FINALIZED,
      });
    }
  });

  it('S60 Version negotiation works for clients newer than we are', async () => {
    const request = client.request('ApiVersions', 5, SOFTWARE);
    request.writeInt16BE(99, 6);
    client.write(request);
    const [frame] = await client.take(1);
    // The golden bytes of wire 1.8, with the range served here.
    expect(frame?.toString('hex')).to.equal('000000000023000000010012' + '00000005');
    const retried = await client.call('ApiVersions', 5, SOFTWARE);
    expect(retried.errorCode).to.equal(0);
  });

  it('S60 answers with response header 0 in every version', async () => {
    for (const version of [3, 4, 5]) {
      client.write(client.request('ApiVersions', version, SOFTWARE));
      const [frame] = (await client.take(1)) as [Buffer];
      expect(frame.readInt16BE(4)).to.equal(0);
      expect(decodeAnswer('ApiVersions', version, frame).apiKeys).to.deep.equal(API_KEYS);
    }
  });

  it('keeps what the client calls itself, and refuses what no client is called (wire 1.6)', async () => {
    await client.call('ApiVersions', 3, SOFTWARE);
    expect(software).to.deep.equal({ name: 'apache-kafka-java', version: '4.4.0' });
    for (const name of ['', '-a', 'a.', 'a b', 'ä']) {
      const refused = { ...SOFTWARE, clientSoftwareName: name };
      const answer = await client.call('ApiVersions', 4, refused);
      expect(answer).to.deep.include({ errorCode: 42, apiKeys: [] });
    }
    const short = { clientSoftwareName: 'x', clientSoftwareVersion: '1' };
    expect((await client.call('ApiVersions', 4, short)).errorCode).to.equal(0);
  });

  const claims = [
    { clusterId: 'k', nodeId: 2, error: 0 },
    { clusterId: null, nodeId: -1, error: 0 },
    { clusterId: 'other', nodeId: 2, error: 129 },
    { clusterId: 'k', nodeId: 1, error: 129 },
    { clusterId: 'k', nodeId: -1, error: 42 },
    { clusterId: null, nodeId: 2, error: 42 },
  ];
  for (const { error, ...claim } of claims) {
    it(`answers ${error} to a client that looks for ${claim.clusterId}/${claim.nodeId} (KIP-1242)`, async () => {
      const answer = await client.call('ApiVersions', 5, { ...SOFTWARE, ...claim });
      expect(answer.errorCode).to.equal(error);
    });
  }

  it('compares the cluster alone on a bootstrap listener', async () => {
    client.destroy();
    await server.listener.stop(0);
    await open('bootstrap');
    const call = async (clusterId: string) =>
      (await client.call('ApiVersions', 5, { ...SOFTWARE, clusterId, nodeId: 7 })).errorCode;
    expect([await call('k'), await call('other')]).to.deep.equal([0, 129]);
  });
});
