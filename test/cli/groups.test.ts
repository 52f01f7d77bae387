import { expect } from 'chai';
import { systemClock } from '../../src/clock.ts';
import { apis } from '../../src/wire/apis.ts';
import { errorCode } from '../../src/wire/errors.ts';
import { AdminStage } from '../support/admin-stage.ts';
import { FakeBroker } from '../support/fake-broker.ts';
import { FakeIo } from '../support/fake-io.ts';

const host = '127.0.0.1';

describe('headgate groups', () => {
  let broker: FakeBroker;
  let io: FakeIo;

  beforeEach(async () => {
    const versions = new Map(
      Object.values(apis).map(({ key, minVersion: min, maxVersion: max }) => [key, { min, max }]),
    );
    broker = await FakeBroker.open({ nodeId: 1, clusterId: 'c', clock: systemClock, versions });
    const { port } = broker;
    broker.on('Metadata', ({ topics }) => ({
      brokers: [{ nodeId: 1, host, port }],
      topics: (topics ?? []).map(({ name }) => ({
        name,
        partitions: [{ partitionIndex: 0, leaderId: 1 }],
      })),
    }));
    broker.on('FindCoordinator', ({ coordinatorKeys }) => ({
      coordinators: coordinatorKeys.map((key) => ({ key, nodeId: 1, host, port })),
    }));
    io = new FakeIo();
  });

  afterEach(() => broker.stop());

  const ask = (...args: readonly string[]) =>
    io.run('groups', ...args, '--bootstrap', `${host}:${broker.port}`);

  const tasks = (...partitions: number[]) => ({
    activeTasks: [{ subtopologyId: '0', partitions }],
    standbyTasks: [],
    warmupTasks: [],
  });

  const unknownText = () =>
    `Cannot describe group "x" at ${host}:${broker.port}: GROUP_ID_NOT_FOUND: Nobody knows it\n`;

  function scriptDescribe(): void {
    broker.on('StreamsGroupDescribe', ({ groupIds }) => ({
      groups: groupIds.map((groupId) => ({
        groupId,
        groupState: 'Reconciling',
        groupEpoch: 4,
        assignmentEpoch: 3,
        assignorName: 'sticky',
        topology: {
          epoch: 0,
          subtopologies: [
            {
              subtopologyId: '0',
              sourceTopics: ['in', 'more'],
              stateChangelogTopics: [{ name: 'g-c', partitions: 4 }],
            },
          ],
        },
        members: [
          {
            memberId: 'A',
            clientId: 'app-1',
            processId: 'p',
            memberEpoch: 3,
            assignment: tasks(0, 1),
            targetAssignment: tasks(0),
          },
          {
            memberId: 'B',
            clientId: 'app-2',
            processId: 'q',
            memberEpoch: 4,
            assignment: tasks(2),
            targetAssignment: tasks(2),
          },
        ],
      })),
    }));
  }

  describe('with --admin', () => {
    let stage: AdminStage;
    beforeEach(async () => {
      stage = await new AdminStage().open();
      stage.addresses = [{ host, port: broker.port }];
      scriptDescribe();
      broker.on('ListGroups', () => ({
        groups: [{ groupId: 'orders', groupType: 'streams', groupState: 'Stable' }],
      }));
    });
    afterEach(() => stage.close());

    const admin = () => ['--admin', `${host}:${stage.server.address.port}`];

    it('every command finds the coordinator of the admin server', async () => {
      expect(await io.run('groups', 'list', ...admin())).to.equal(0);
      expect(io.output).to.equal('GROUP   TYPE     STATE\norders  streams  Stable\n');
      io.output = '';
      expect(await io.run('groups', 'describe', 'orders', '--json', ...admin())).to.equal(0);
      const { coordinator, live } = JSON.parse(io.output);
      expect(coordinator).to.deep.equal({ nodeId: 1, host, port: broker.port });
      expect(live.groupId).to.equal('orders');
    });

    it('takes a --bootstrap that leads to the same coordinator', async () => {
      expect(await ask('list', ...admin())).to.equal(0);
      expect(io.errors).to.equal('');
    });

    it('members says of a group without any what it is, and prints no table', async () => {
      expect(await io.run('groups', 'members', 'a/b?', ...admin())).to.equal(0);
      expect([io.output, io.errors]).to.deep.equal([
        '',
        'Group "a/b?" has no members: it is Empty\n',
      ]);
    });

    it('refuses to mix the answers of two coordinators', async () => {
      stage.addresses = [
        { host: 'other', port: 9_092 },
        { host: 'other', port: 9_192 },
      ];
      expect(await ask('describe', 'orders', ...admin())).to.equal(2);
      const [at, there] = [broker.port, stage.server.address.port];
      expect([io.output, io.errors]).to.deep.equal([
        '',
        `Cannot use --bootstrap ${host}:${at} together with --admin ${host}:${there}: the one leads to ${host}:${at}, ` +
          'the other is of other:9092,other:9192: name one of them, or those of one coordinator\n',
      ]);
    });
  });

  it('list shows streams groups, with --all every type', async () => {
    broker.on('ListGroups', ({ typesFilter }) => ({
      groups: [
        { groupId: 'orders', groupType: 'streams', groupState: 'Stable' },
        ...(typesFilter.length === 0
          ? [{ groupId: 'c', groupType: 'consumer', groupState: 'Empty' }]
          : []),
      ],
    }));
    expect(await ask('list')).to.equal(0);
    expect(io.output).to.equal('GROUP   TYPE     STATE\norders  streams  Stable\n');
    await ask('list', '--all');
    expect(io.output.split('\n').at(1)).to.equal('c       consumer  Empty');
    await ask('list', '--json');
    expect(JSON.parse(io.output)).to.deep.equal([
      { groupId: 'orders', protocolType: '', groupState: 'Stable', groupType: 'streams' },
    ]);
  });

  it('describe shows state, epochs and topology', async () => {
    scriptDescribe();
    expect(await ask('describe', 'orders')).to.equal(0);
    const coordinator = `127.0.0.1:${broker.port} (1)`;
    expect(io.output.split('\n').map((line) => line.split(/ {2,}/))).to.deep.equal([
      ['GROUP', 'COORDINATOR', 'ASSIGNOR', 'STATE', 'EPOCH', 'TARGET-EPOCH', 'MEMBERS', 'TOPOLOGY'],
      ['orders', coordinator, 'sticky', 'Reconciling', '4', '3', '2', 'epoch 0'],
      [''],
      ['SUBTOPOLOGY', 'SOURCES', 'REPARTITION', 'CHANGELOGS'],
      ['0', 'in,more', '-', 'g-c'],
      [''],
    ]);
  });

  it('members shows who has what and what is to come', async () => {
    scriptDescribe();
    expect(await ask('members', 'orders')).to.equal(0);
    expect(io.output.split('\n').map((line) => line.split(/ {2,}/))).to.deep.equal([
      ['MEMBER', 'CLIENT', 'PROCESS', 'EPOCH', 'TASKS', 'TARGET'],
      ['A', 'app-1', 'p', '3', 'active 0:[0,1]', 'active 0:[0]'],
      ['B', 'app-2', 'q', '4', 'active 0:[2]', 'as given'],
      [''],
    ]);
  });

  const unknownGroup = () =>
    broker.on('StreamsGroupDescribe', ({ groupIds }) => ({
      groups: groupIds.map((groupId) => ({
        groupId,
        errorCode: errorCode('GROUP_ID_NOT_FOUND'),
        errorMessage: 'Nobody knows it',
      })),
    }));

  it('offsets shows the lag where the end is known, also of a group that is no streams group', async () => {
    unknownGroup();
    broker.on('OffsetFetch', ({ groups }) => ({
      groups: groups.map(({ groupId }) => ({
        groupId,
        topics: [
          {
            name: 'in',
            partitions: [
              { partitionIndex: 0, committedOffset: 2n ** 53n + 1n },
              { partitionIndex: 1, committedOffset: 5n },
            ],
          },
        ],
      })),
    }));
    broker.on('ListOffsets', ({ topics }) => ({
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({
          partitionIndex,
          errorCode: 0,
          offset: 2n ** 53n + 4n,
        })),
      })),
    }));
    expect(await ask('offsets', 'orders')).to.equal(0);
    expect(io.output).to.equal(
      [
        'TOPIC  PARTITION  OFFSET            END               LAG',
        'in     0          9007199254740993  9007199254740996  3',
        'in     1          5                 -                 -',
        '',
      ].join('\n'),
    );
    await ask('offsets', 'orders', '--json');
    expect(JSON.parse(io.output).at(0)).to.include({ offset: '9007199254740993', lag: '3' });
  });

  it('offsets shows every source partition of a streams group, committed or not', async () => {
    scriptDescribe();
    broker.on('OffsetFetch', ({ groups }) => ({
      groups: groups.map(({ groupId }) => ({
        groupId,
        topics: [{ name: 'more', partitions: [{ partitionIndex: 0, committedOffset: 5n }] }],
      })),
    }));
    broker.on('ListOffsets', ({ topics }) => ({
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, offset: 7n })),
      })),
    }));
    expect(await ask('offsets', 'orders')).to.equal(0);
    expect(io.output.split('\n').map((line) => line.split(/ {2,}/))).to.deep.equal([
      ['TOPIC', 'PARTITION', 'OFFSET', 'END', 'LAG'],
      ['in', '0', '-', '7', '-'],
      ['more', '0', '5', '7', '2'],
      [''],
    ]);
  });

  it('offsets of a group that nobody knows fails as describe does', async () => {
    unknownGroup();
    broker.on('OffsetFetch', ({ groups }) => ({
      groups: groups.map(({ groupId }) => ({ groupId, topics: [] })),
    }));
    expect(await ask('offsets', 'x')).to.equal(1);
    expect(io.errors).to.equal(unknownText());
  });

  it('delete tells of each group and ends with 1 when one stays', async () => {
    broker.on('DeleteGroups', ({ groupsNames }) => ({
      results: groupsNames.map((groupId) => ({
        groupId,
        errorCode: errorCode(groupId === 'busy' ? 'NON_EMPTY_GROUP' : 'NONE'),
      })),
    }));
    expect(await ask('delete', 'idle')).to.equal(0);
    expect(await ask('delete', 'idle', 'busy')).to.equal(1);
    expect(io.output).to.equal(
      'GROUP  RESULT\nidle   deleted\nbusy   NON_EMPTY_GROUP: it has members\n',
    );
    expect(io.errors).to.equal('Cannot delete 1 of 2 groups\n');
  });

  describe('config', () => {
    const STANDBYS = 'streams.num.standby.replicas';
    const kept = new Map<string, string>();

    beforeEach(() => {
      kept.clear();
      broker.on('IncrementalAlterConfigs', ({ resources }) => ({
        responses: resources.map(({ resourceType, resourceName, configs }) => {
          if (configs.some(({ value }) => value === '9')) {
            const errorMessage = 'Nine is too many';
            return {
              resourceType,
              resourceName,
              errorCode: errorCode('INVALID_CONFIG'),
              errorMessage,
            };
          }
          for (const { name, value, configOperation } of configs) {
            if (configOperation === 1) kept.delete(`${resourceType} ${resourceName} ${name}`);
            else kept.set(`${resourceType} ${resourceName} ${name}`, value ?? '');
          }
          return { resourceType, resourceName };
        }),
      }));
      broker.on('DescribeConfigs', ({ resources }) => ({
        results: resources.map(({ resourceType, resourceName }) => {
          const own = kept.get(`${resourceType} ${resourceName} ${STANDBYS}`);
          return {
            resourceType,
            resourceName,
            configs: [
              { name: 'consumer.session.timeout.ms', value: '45000', configSource: 5 },
              { name: STANDBYS, value: own ?? '0', configSource: own === undefined ? 4 : 8 },
              { name: 'streams.rack.aware.assignment.tags', value: '', configSource: 5 },
            ],
          };
        }),
      }));
    });

    it('shows settings of streams groups with where they come from', async () => {
      expect(await ask('config', 'g')).to.equal(0);
      expect(io.output).to.equal(
        [
          'SETTING                             VALUE  FROM',
          'streams.num.standby.replicas        0      broker',
          'streams.rack.aware.assignment.tags  -      default',
          '',
        ].join('\n'),
      );
      expect(broker.asked('IncrementalAlterConfigs')).to.deep.equal([]);
    });

    it('sets values and takes them away, and shows what is then', async () => {
      expect(await ask('config', 'g', '--set', `${STANDBYS}=1`, '--json')).to.equal(0);
      expect(JSON.parse(io.output)[0]).to.deep.equal({
        name: STANDBYS,
        value: '1',
        source: 'group',
      });
      expect(await ask('config', 'g', '--unset', STANDBYS, '--json')).to.equal(0);
      expect(JSON.parse(io.output)[0]).to.include({ value: '0', source: 'broker' });
    });

    it('tells what the broker refused, and what cannot be meant', async () => {
      expect(await ask('config', 'g', '--set', `${STANDBYS}=9`)).to.equal(1);
      expect(io.errors).to.equal(
        'Cannot change the settings of group "g": INVALID_CONFIG: Nine is too many\n',
      );
      expect(await ask('config', 'g', '--set', STANDBYS)).to.equal(1);
      expect(io.errors).to.equal(`Cannot use --set ${STANDBYS}: wanted key=value\n`);
      const both = ['--set', `${STANDBYS}=1`, '--unset', STANDBYS];
      expect(await ask('config', 'g', ...both)).to.equal(1);
      expect(io.errors).to.equal(`Cannot set ${STANDBYS} and take it away at once\n`);
      const twice = ['--set', `${STANDBYS}=1`, '--set', `${STANDBYS}=2`];
      expect(await ask('config', 'g', ...twice)).to.equal(1);
      expect(io.errors).to.equal(`Cannot set ${STANDBYS} twice at once\n`);
      expect(kept.size).to.equal(0);
    });
  });

  it('tells in one line that nobody is there, or what the broker said', async () => {
    unknownGroup();
    expect(await ask('members', 'x')).to.equal(1);
    expect(io.errors).to.equal(unknownText());
    const { port } = broker;
    await broker.stop();
    expect(await ask('list')).to.equal(1);
    expect(io.errors).to.equal(
      `Cannot connect to 127.0.0.1:${port}: nobody listens there (--bootstrap)\n`,
    );
  });
});
