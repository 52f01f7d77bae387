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
  streamsGroup: async () => ({ error: 'NONE', state: 'Stable' }),
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
      2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 32, 33, 37, 42, 44, 46, 47, 60, 68, 69,
      74, 75, 76, 77, 88, 89, 93,
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
    [apis.InitProducerId.key, 5, 'InitProducerId'],
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
    const claim = 'ffffffff07';
    const header = '005800010000000100016300';
    const member = '0267026d';
    // Epoch, endpoint epoch, no instance, no rack, timeout; then the topology, its epoch and its list.
    const join = `${header}${member}00000000ffffffff0000000493e00100000000`;
    const beat = `${header}${member}00000002ffffffff0000ffffffffff`;
    const frames: Readonly<Record<string, string>> = {
      'tagged fields of the header': `0058000100000001000163${claim}`,
      'bytes of the group id': `${header}${claim}`,
      subtopologies: `${join}${claim}`,
      'source topics': `${join}020230${claim}`,
      'configs of a changelog': `${join}0202300101020263000000000000${claim}`,
      'active tasks': `${beat}${claim}`,
      'partitions of a task': `${beat}020230${claim}`,
      'task offsets': `${beat}00000000ff00${claim}`,
      'tagged fields of the body': `${beat}00000000ff00000000${claim}`,
    };
    const heapBefore = process.memoryUsage().heapTotal;
    for (let round = 0; round < 25; round++) {
      for (const frame of Object.values(frames)) {
        const body = Buffer.concat([Buffer.from(frame, 'hex'), Buffer.alloc(20)]);
        const length = Buffer.alloc(4);
        length.writeInt32BE(body.length);
        const one = await WireClient.connect(server.port);
        one.write(Buffer.concat([length, body]));
        await one.closed;
        expect(one.frames).to.deep.equal([]);
      }
    }
    expect(process.memoryUsage().heapTotal - heapBefore).to.be.lessThan(200_000_000);
    const calm = { groupId: 'g', memberId: 'm', memberEpoch: 2 };
    expect((await other.call('StreamsGroupHeartbeat', 1, calm)).errorCode).to.equal(0);
    other.destroy();
    const { told } = server.log;
    expect(told).to.have.length(225);
    expect(told.every(({ level }) => level === 'info')).to.equal(true);
    // Each is refused for its claim, and not for anything before it.
    for (const { fields } of told)
      expect(JSON.stringify(fields)).to.match(/claim|2147483646 bytes/);
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

  it('hands requests of all kinds to the coordinator in the order they came', async () => {
    const parts = await standaloneParts(CALM, { topics: { in: 1 } });
    const { handlers, abilities } = createStandalone(parts);
    const own = await openServer((log) =>
      createDispatch({ handlers, versions: () => abilities.versions, log }),
    );
    const one = await WireClient.connect(own.port);
    const beat = { groupId: 'g', memberId: 'm' };
    const topics = [{ name: 'in', partitions: [{ partitionIndex: 0, committedOffset: 1n }] }];
    one.write(
      Buffer.concat([
        one.request('OffsetCommit', 9, { ...beat, generationIdOrMemberEpoch: 2, topics }),
        one.request('StreamsGroupHeartbeat', 1, { ...beat, memberEpoch: -1 }),
        one.request('OffsetFetch', 9, { groups: [{ groupId: 'g', topics: null }] }),
        one.request('StreamsGroupDescribe', 1, { groupIds: ['g'] }),
        one.request('OffsetDelete', 0, { groupId: 'g', topics: [{ name: 'in' }] }),
        one.request('ListGroups', 5, {}),
        one.request('DeleteGroups', 2, { groupsNames: ['g'] }),
      ]),
    );
    expect(await one.take(7)).to.have.length(7);
    expect(parts.calls.map(({ method }) => method)).to.deep.equal([
      'commit',
      'heartbeat',
      'fetchOffsets',
      'describe',
      'deleteOffsets',
      'list',
      'delete',
    ]);
    one.destroy();
    await own.listener.stop(0);
  });
});
