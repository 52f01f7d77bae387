import { expect } from 'chai';
import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { DescribedGroup } from '../../machines/commands.ts';
import { createDispatch } from '../../src/server/dispatch.ts';
import { createStandalone } from '../../src/server/standalone.ts';
import type { ApiName } from '../../src/wire/apis.ts';
import { apiByKey, apis } from '../../src/wire/apis.ts';
import { IDLE_ANSWER } from '../support/fake-group-coordinator.ts';
import type { OpenServer } from '../support/open-server.ts';
import { openServer } from '../support/open-server.ts';
import { standaloneParts } from '../support/standalone-parts.ts';
import { decodeAnswer, WireClient } from '../support/wire-client.ts';

const DESCRIBED: DescribedGroup = {
  error: 'NONE',
  errorMessage: null,
  groupId: 'g',
  groupState: 'Stable',
  groupEpoch: 2,
  assignmentEpoch: 2,
  topology: { epoch: 0, subtopologies: [] },
  members: [],
  assignorName: 'sticky',
};

/** A coordinator in which one group is stable and everything succeeds. */
const CALM: Partial<GroupCoordinator> = {
  heartbeat: async () => IDLE_ANSWER,
  describe: async (ids) => ids.map((groupId) => ({ ...DESCRIBED, groupId })),
  list: async () => ({
    error: 'NONE',
    groups: [{ groupId: 'g', protocolType: 'streams', groupState: 'Stable', groupType: 'streams' }],
  }),
  delete: async (ids) => ids.map((groupId) => ({ groupId, error: 'NONE', message: null })),
  commit: async ({ topics }) => ({
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partition }) => ({ partition, error: 'NONE' })),
    })),
  }),
  fetchOffsets: async () => ({ error: 'NONE', topics: [] }),
  deleteOffsets: async () => ({ error: 'NONE', topics: [] }),
  topicsDeleted: () => {},
  groupIds: () => ['g'],
};

describe('createStandalone()', () => {
  let server: OpenServer;
  let client: WireClient;

  beforeEach(async () => {
    const parts = await standaloneParts(CALM, { topics: { in: 2 } });
    const standalone = createStandalone(parts);
    server = await openServer((log) =>
      createDispatch({
        handlers: standalone.handlers,
        versions: () => standalone.abilities.versions,
        log,
      }),
    );
    client = await WireClient.connect(server.port);
  });

  afterEach(async () => {
    client.destroy();
    await server.listener.stop(0);
  });

  it('advertises what wire 2.4 asks of it, and nothing that carries records or transactions', async () => {
    const { apiKeys, supportedFeatures, finalizedFeatures, finalizedFeaturesEpoch } =
      await client.call('ApiVersions', 4, {
        clientSoftwareName: 'x',
        clientSoftwareVersion: '1',
      });
    expect(apiKeys.map(({ apiKey }) => apiKey)).to.deep.equal([
      2, 3, 8, 9, 10, 15, 16, 18, 19, 20, 32, 33, 37, 42, 44, 46, 47, 60, 69, 74, 75, 88, 89, 93,
    ]);
    const streams = { name: 'streams.version' };
    expect(supportedFeatures).to.deep.equal([{ ...streams, minVersion: 0, maxVersion: 1 }]);
    expect(finalizedFeatures).to.deep.equal([
      { ...streams, maxVersionLevel: 1, minVersionLevel: 1 },
    ]);
    expect(finalizedFeaturesEpoch).to.equal(0n);
  });

  it('answers every version of every API it advertises', async () => {
    const software = { clientSoftwareName: 'x', clientSoftwareVersion: '1' };
    const { apiKeys } = await client.call('ApiVersions', 4, software);
    for (const { apiKey, minVersion, maxVersion } of apiKeys) {
      const name = apiByKey(apiKey)?.name as ApiName;
      for (let version = minVersion; version <= maxVersion; version++) {
        const body = name === 'ApiVersions' && version >= 3 ? software : {};
        client.write(client.request(name, version, body));
        const [frame] = await client.take(1);
        if (frame === undefined)
          throw new Error(`${name} version ${version} closed the connection`);
        expect(() => decodeAnswer(name, version, frame), `${name} ${version}`).not.to.throw();
      }
    }
    expect(server.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  for (const [key, version, what] of [
    [apis.Produce.key, 9, 'Produce'],
    [apis.Fetch.key, 12, 'Fetch'],
    [apis.JoinGroup.key, 9, 'JoinGroup'],
    [9_999, 0, 'no API at all'],
    [apis.StreamsGroupHeartbeat.key, 2, 'a heartbeat that is too new'],
    [apis.OffsetCommit.key, 1, 'a commit that is too old'],
  ] as const) {
    it(`S60 closes on ${what}`, async () => {
      const bytes = Buffer.alloc(16);
      bytes.writeInt32BE(12);
      bytes.writeInt16BE(key, 4);
      bytes.writeInt16BE(version, 6);
      client.write(bytes);
      await client.closed;
      expect(client.frames).to.deep.equal([]);
      expect(server.log.told.map(({ text }) => text)).to.deep.equal([
        'Connection closed: bad request',
      ]);
    });
  }

  it('S57 A count that the frame cannot hold is refused before memory is reserved', async () => {
    const other = await WireClient.connect(server.port);
    // Group, member, epoch, endpoint epoch, no instance, no rack, timeout, topology present, its epoch, then the claim.
    const before = '0267026d00000000ffffffff0000000493e00100000000';
    const header = Buffer.from('005800010000000100016300', 'hex');
    const claims = [
      // 2 147 483 646 subtopologies.
      `${before}ffffffff07`,
      // One subtopology with as many source topics.
      `${before}020230ffffffff07`,
      // A group id of 2 GB.
      'ffffffff07',
      // As many tagged fields in the header.
    ];
    const heapBefore = process.memoryUsage().heapTotal;
    for (let round = 0; round < 70; round++) {
      for (const claim of claims) {
        const body = Buffer.concat([header, Buffer.from(claim, 'hex'), Buffer.alloc(20)]);
        const length = Buffer.alloc(4);
        length.writeInt32BE(body.length);
        const one = await WireClient.connect(server.port);
        one.write(Buffer.concat([length, body]));
        await one.closed;
        expect(one.frames).to.deep.equal([]);
      }
    }
    expect(process.memoryUsage().heapTotal - heapBefore).to.be.lessThan(200_000_000);
    const beat = { groupId: 'g', memberId: 'm', memberEpoch: 2 };
    expect((await other.call('StreamsGroupHeartbeat', 1, beat)).errorCode).to.equal(0);
    other.destroy();
    expect(server.log.told).to.have.length(210);
    expect(server.log.told.every(({ level }) => level === 'info')).to.equal(true);
  });

  it('S56 A null task list means "as before"; only an empty list means "nothing"', async () => {
    const seen: unknown[] = [];
    const { calls, ...parts } = await standaloneParts({
      heartbeat: async (request) => {
        seen.push([request.activeTasks, request.standbyTasks, request.warmupTasks]);
        return IDLE_ANSWER;
      },
    });
    const standalone = createStandalone(parts);
    const own = await openServer((log) =>
      createDispatch({
        handlers: standalone.handlers,
        versions: () => standalone.abilities.versions,
        log,
      }),
    );
    const member = await WireClient.connect(own.port);
    const beat = { groupId: 'g', memberId: 'm', memberEpoch: 2 };
    await member.call('StreamsGroupHeartbeat', 1, beat);
    const empty = { activeTasks: [], standbyTasks: [], warmupTasks: [] };
    await member.call('StreamsGroupHeartbeat', 1, { ...beat, ...empty });
    expect(seen).to.deep.equal([
      [null, null, null],
      [[], [], []],
    ]);
    expect(calls).to.have.length(2);
    member.destroy();
    await own.listener.stop(0);
  });

  it('hands heartbeats over in the order they came, a join and the leave behind it included', async () => {
    const epochs: number[] = [];
    const parts = await standaloneParts({
      heartbeat: async ({ memberEpoch }) => {
        epochs.push(memberEpoch);
        return IDLE_ANSWER;
      },
    });
    const { handlers, abilities } = createStandalone(parts);
    const own = await openServer((log) =>
      createDispatch({ handlers, versions: () => abilities.versions, log }),
    );
    const member = await WireClient.connect(own.port);
    const beat = (memberEpoch: number, more: object = {}) =>
      member.request('StreamsGroupHeartbeat', 1, {
        groupId: 'g',
        memberId: 'm',
        memberEpoch,
        ...more,
      });
    const topology = { epoch: 0, subtopologies: [{ subtopologyId: '0', sourceTopics: ['in'] }] };
    member.write(Buffer.concat([beat(0, { topology }), beat(2), beat(-1)]));
    expect(await member.take(3)).to.have.length(3);
    expect(epochs).to.deep.equal([0, 2, -1]);
    member.destroy();
    await own.listener.stop(0);
  });
});
