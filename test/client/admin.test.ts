import { expect } from 'chai';
import { AdminClient } from '../../src/client/admin.ts';
import { systemClock } from '../../src/clock.ts';
import { apis } from '../../src/wire/apis.ts';
import { errorCode, type WireErrorName } from '../../src/wire/errors.ts';
import { FakeBroker } from '../support/fake-broker.ts';
import { rejectionOf } from '../support/rejection-of.ts';

const host = '127.0.0.1';
const all = () =>
  new Map(
    Object.values(apis).map(({ key, minVersion: min, maxVersion: max }) => [key, { min, max }]),
  );

describe('AdminClient', () => {
  let first: FakeBroker;
  let second: FakeBroker;
  let client: AdminClient;
  let waits: number[];

  beforeEach(async () => {
    const common = { clusterId: 'c', clock: systemClock, versions: all() };
    first = await FakeBroker.open({ nodeId: 1, ...common });
    second = await FakeBroker.open({ nodeId: 2, ...common });
    const brokers = [first, second].map(({ nodeId, port }) => ({ nodeId, host, port }));
    for (const broker of [first, second]) {
      broker.on('Metadata', ({ topics }) => ({
        brokers,
        topics: (topics ?? []).map(({ name }) => ({
          name,
          partitions: [0, 1].map((at) => ({ partitionIndex: at, leaderId: at + 1 })),
        })),
      }));
      broker.on('FindCoordinator', ({ coordinatorKeys }) => ({
        coordinators: coordinatorKeys.map((key) => ({ key, nodeId: 2, host, port: second.port })),
      }));
    }
    waits = [];
    client = await AdminClient.connect([{ host, port: first.port }], {
      clientId: 'test',
      retryForMs: 1_000,
      wait: async (ms) => {
        waits.push(ms);
      },
    });
  });

  afterEach(async () => {
    client.close();
    await first.stop();
    await second.stop();
  });

  it('connects to the first address that answers', async () => {
    await first.stop();
    const other = await AdminClient.connect(
      [
        { host, port: first.port },
        { host, port: second.port },
      ],
      { clientId: 'test' },
    );
    other.close();
    expect(second.asked('ApiVersions')).to.have.length(1);
    const failure = await rejectionOf(
      AdminClient.connect([{ host, port: first.port }], { clientId: 'test' }),
    );
    expect(failure).to.include({ failure: 'unreachable' });
  });

  it('lists the groups of all brokers, each once, in order', async () => {
    const groups = (...ids: string[]) => ({
      groups: ids.map((groupId) => ({ groupId, groupType: 'streams' })),
    });
    first.on('ListGroups', () => groups('c', 'a'));
    second.on('ListGroups', () => groups('b', 'a'));
    const listed = await client.listGroups(['streams']);
    expect(listed.map(({ groupId }) => groupId)).to.deep.equal(['a', 'b', 'c']);
    expect(first.asked('ListGroups').at(0)?.typesFilter).to.deep.equal(['streams']);
  });

  it('asks the coordinator, and again while it moves or loads', async () => {
    const errors: WireErrorName[] = ['NOT_COORDINATOR', 'COORDINATOR_LOAD_IN_PROGRESS', 'NONE'];
    second.on('StreamsGroupDescribe', ({ groupIds }) => ({
      groups: groupIds.map((groupId) => ({
        groupId,
        groupState: 'Stable',
        errorCode: errorCode(errors.shift() ?? 'NONE'),
      })),
    }));
    const { group, coordinator } = await client.describe('g');
    expect(group).to.include({ groupId: 'g', groupState: 'Stable' });
    expect(coordinator).to.deep.equal({ nodeId: 2, host, port: second.port });
    expect(waits).to.deep.equal([100, 200]);
    expect(first.asked('FindCoordinator')).to.have.length(3);
  });

  it('gives up when an error does not pass, and at once on any other', async () => {
    let error: WireErrorName = 'COORDINATOR_NOT_AVAILABLE';
    second.on('StreamsGroupDescribe', ({ groupIds }) => ({
      groups: groupIds.map((groupId) => ({ groupId, errorCode: errorCode(error) })),
    }));
    expect(await rejectionOf(client.describe('g'))).to.include({
      failure: 'refused',
      error: 'COORDINATOR_NOT_AVAILABLE',
    });
    expect(waits).to.deep.equal([100, 200, 400]);
    error = 'GROUP_ID_NOT_FOUND';
    expect(await rejectionOf(client.describe('g'))).to.include({
      error: 'GROUP_ID_NOT_FOUND',
      message: `Cannot describe group "g" at 127.0.0.1:${second.port}: GROUP_ID_NOT_FOUND: the broker gives no reason`,
    });
    expect(waits).to.have.length(3);
  });

  it('fetches the committed offsets, without the partitions that have none', async () => {
    second.on('OffsetFetch', ({ groups }) => ({
      groups: groups.map(({ groupId }) => ({
        groupId,
        topics: [
          {
            name: 'in',
            partitions: [
              { partitionIndex: 0, committedOffset: 2n ** 60n, metadata: 'm' },
              { partitionIndex: 1, committedOffset: -1n },
            ],
          },
        ],
      })),
    }));
    expect(await client.committedOffsets('g')).to.deep.equal([
      { topic: 'in', partition: 0, offset: 2n ** 60n, leaderEpoch: -1, metadata: 'm' },
    ]);
    expect(second.seen.filter(({ name }) => name === 'OffsetFetch').at(0)?.version).to.equal(9);
  });

  it('speaks to brokers that take one group at a time', async () => {
    for (const broker of [first, second]) {
      broker.versions = new Map([
        ...all(),
        [apis.FindCoordinator.key, { min: 0, max: 3 }],
        [apis.OffsetFetch.key, { min: 1, max: 7 }],
      ]);
      broker.on('FindCoordinator', () => ({ nodeId: 2, host, port: second.port }));
    }
    second.on('OffsetFetch', ({ groupId }) => ({
      topics: [{ name: groupId, partitions: [{ partitionIndex: 3, committedOffset: 7n }] }],
    }));
    const old = await AdminClient.connect([{ host, port: first.port }], { clientId: 'test' });
    try {
      expect(await old.committedOffsets('g')).to.deep.equal([
        { topic: 'g', partition: 3, offset: 7n, leaderEpoch: -1, metadata: '' },
      ]);
    } finally {
      old.close();
    }
  });

  it('asks the leaders where logs begin and end', async () => {
    for (const broker of [first, second]) {
      broker.on('ListOffsets', ({ topics }) => ({
        topics: topics.map(({ name, partitions }) => ({
          name,
          partitions: partitions.map(({ partitionIndex, timestamp }) => ({
            partitionIndex,
            errorCode: 0,
            offset: timestamp === -2n ? 1n : BigInt(10 * broker.nodeId),
          })),
        })),
      }));
    }
    const partitions = [0, 1, 2].map((partition) => ({ topic: 'in', partition }));
    expect(await client.logBounds(partitions)).to.deep.equal([
      { topic: 'in', partition: 0, start: 1n, end: 10n },
      { topic: 'in', partition: 1, start: 1n, end: 20n },
      { topic: 'in', partition: 2, start: undefined, end: undefined },
    ]);
    expect(await client.logBounds([])).to.deep.equal([]);
  });

  it('creates topics at the controller', async () => {
    for (const broker of [first, second]) {
      broker.on('CreateTopics', ({ topics }) => ({
        topics: topics.map(({ name }) => ({
          name,
          errorCode: errorCode(name === 'old' ? 'TOPIC_ALREADY_EXISTS' : 'NONE'),
          errorMessage: name === 'old' ? 'It is there' : null,
        })),
      }));
    }
    const brokers = [first, second].map(({ nodeId, port }) => ({ nodeId, host, port }));
    first.on('Metadata', () => ({ brokers, controllerId: 2 }));
    await client.createTopic('new', 3);
    expect(second.asked('CreateTopics').at(0)?.topics.at(0)).to.include({
      name: 'new',
      numPartitions: 3,
      replicationFactor: 1,
    });
    expect(first.asked('CreateTopics')).to.deep.equal([]);
    expect(await rejectionOf(client.createTopic('old', 3))).to.include({
      error: 'TOPIC_ALREADY_EXISTS',
      message: 'Cannot create topic "old": TOPIC_ALREADY_EXISTS: It is there',
    });
  });

  it('tells what became of a deletion', async () => {
    second.on('DeleteGroups', ({ groupsNames }) => ({
      results: groupsNames.map((groupId) => ({
        groupId,
        errorCode: errorCode('NON_EMPTY_GROUP'),
        errorMessage: 'busy',
      })),
    }));
    expect(await client.deleteGroup('g')).to.deep.equal({
      groupId: 'g',
      error: 'NON_EMPTY_GROUP',
      message: 'busy',
    });
  });
});
