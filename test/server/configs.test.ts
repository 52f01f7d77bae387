import { expect } from 'chai';
import type { Profile } from '../../machines/model/profile.ts';
import type { Authorizer } from '../../src/server/authorize.ts';
import {
  answerAlterConfigs,
  answerIncrementalAlterConfigs,
} from '../../src/server/handlers/alter-configs.ts';
import { answerDescribeConfigs } from '../../src/server/handlers/describe-configs.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { incoming } from '../support/incoming.ts';
import type { TestParts } from '../support/standalone-parts.ts';
import { standaloneParts } from '../support/standalone-parts.ts';

const TOPIC = 2;
const BROKER = 4;
const GROUP = 32;
const SET = 0;
const DELETE = 1;
const APPEND = 2;
const SUBTRACT = 3;
const STANDBYS = 'streams.num.standby.replicas';
const WARMUPS = 'streams.num.warmup.replicas';
const TAGS = 'streams.rack.aware.assignment.tags';
const INTERVAL = 'group.streams.assignment.interval.ms';

const without = (...denied: readonly string[]): Authorizer => ({
  allows: (_, operation, type, name) => !denied.includes(`${operation} ${type} ${name}`),
});

type Step = readonly [name: string, operation: number, value: string | null];
type Resource = readonly [type: number, name: string, steps: readonly Step[]];

async function alter(
  parts: TestParts,
  resources: readonly Resource[],
  options: { readonly validateOnly?: boolean; readonly authorizer?: Authorizer } = {},
) {
  const { validateOnly = false, authorizer = parts.authorizer } = options;
  const request = {
    validateOnly,
    resources: resources.map(([resourceType, resourceName, steps]) => ({
      resourceType,
      resourceName,
      configs: steps.map(([name, configOperation, value]) => ({ name, configOperation, value })),
    })),
  };
  const answer = answerIncrementalAlterConfigs({ ...parts, authorizer });
  const { responses = [] } = await answer(request, incoming(1));
  return responses.map(({ errorCode }) => errorCode);
}

/** Of one resource: the error, or per setting its value and source. */
async function describeOne(
  parts: TestParts,
  resource: readonly [type: number, name: string, keys: readonly string[] | null],
  authorizer: Authorizer = parts.authorizer,
) {
  const [resourceType, resourceName, configurationKeys] = resource;
  const request = {
    resources: [{ resourceType, resourceName, configurationKeys }],
    includeSynonyms: false,
    includeDocumentation: false,
  };
  const answer = answerDescribeConfigs({ ...parts, authorizer });
  const { results = [] } = await answer(request, incoming(4));
  const { errorCode = 0, configs = [] } = results[0] ?? {};
  if (errorCode !== 0) return errorCode;
  return Object.fromEntries(
    configs.map(({ name, value, configSource }) => [name, [value, configSource]]),
  );
}

describe('answerDescribeConfigs()', () => {
  it("shows a group that nobody has configured with the broker's values (GC-7, 13.5)", async () => {
    const parts = await standaloneParts({}, { settings: { [INTERVAL]: '0' } });
    const interval = 'streams.assignment.interval.ms';
    expect(await describeOne(parts, [GROUP, 'g', [STANDBYS, interval, 'unknown']])).to.deep.equal({
      [STANDBYS]: ['0', 5],
      [interval]: ['0', 4],
    });
  });

  it('shows one row in full, with synonyms and documentation when asked', async () => {
    const parts = await standaloneParts();
    await alter(parts, [[GROUP, 'g', [[STANDBYS, SET, '1']]]]);
    const resources = [{ resourceType: GROUP, resourceName: 'g', configurationKeys: [STANDBYS] }];
    const ask = (all: boolean) =>
      answerDescribeConfigs(parts)(
        { resources, includeSynonyms: all, includeDocumentation: all },
        incoming(4),
      );
    const row = {
      name: STANDBYS,
      value: '1',
      readOnly: false,
      configSource: 8,
      isSensitive: false,
      synonyms: [],
      configType: 3,
      documentation: null,
    };
    const result = { errorMessage: '', resourceType: GROUP, resourceName: 'g' };
    expect(await ask(false)).to.deep.equal({ results: [{ ...result, configs: [row] }] });
    const synonyms = [
      { name: STANDBYS, value: '1', source: 8 },
      { name: 'group.streams.num.standby.replicas', value: '0', source: 5 },
    ];
    expect(await ask(true)).to.deep.equal({
      results: [{ ...result, configs: [{ ...row, synonyms }] }],
    });
  });

  it('shows every setting for null and for an empty list of names', async () => {
    const parts = await standaloneParts();
    const all = await describeOne(parts, [GROUP, 'g', null]);
    expect(Object.keys(all)).to.include.members([STANDBYS, WARMUPS, TAGS]);
    expect(await describeOne(parts, [GROUP, 'g', []])).to.deep.equal(all);
  });

  it('lists some settings only where a group overrides them in profile kafka (FINDINGS A4)', async () => {
    const parts = await standaloneParts({}, { profile: 'kafka' });
    const keys = [STANDBYS, WARMUPS];
    expect(await describeOne(parts, [GROUP, 'g', keys])).to.deep.equal({ [STANDBYS]: ['0', 5] });
    await alter(parts, [[GROUP, 'g', [[WARMUPS, SET, '3']]]]);
    expect(await describeOne(parts, [GROUP, 'g', keys])).to.deep.equal({
      [STANDBYS]: ['0', 5],
      [WARMUPS]: ['3', 8],
    });
  });

  it('takes changes of other settings when what is kept is not allowed any more since a restart (GC-2, GC-5, BC-1)', async () => {
    const keyValues = new MemoryKeyValues();
    const before = await standaloneParts(
      {},
      {
        keyValues,
        settings: {
          'assignors.modules': 'moody=./moody.mjs',
          'group.streams.max.standby.replicas': '5',
          'group.streams.max.assignment.interval.ms': '30000',
        },
      },
    );
    const moody: Step = ['streams.assignor.name', SET, 'moody'];
    expect(
      await alter(before, [
        [GROUP, 'orders', [moody, [STANDBYS, SET, '5']]],
        [BROKER, '1', [[INTERVAL, SET, '20000']]],
      ]),
    ).to.deep.equal([0, 0]);
    const after = await standaloneParts({}, { keyValues });
    const bufferMax = 'group.coordinator.cached.buffer.max.bytes';
    expect(
      await alter(after, [
        [GROUP, 'orders', [[WARMUPS, SET, '3']]],
        [BROKER, '1', [[bufferMax, SET, '600000']]],
      ]),
    ).to.deep.equal([0, 0]);
    expect(
      await alter(after, [
        [GROUP, 'orders', [moody]],
        [BROKER, '1', [[INTERVAL, SET, '20000']]],
      ]),
    ).to.deep.equal([40, 42]);
    expect(Object.fromEntries(after.configs.group.overrides('orders'))).to.deep.equal({
      'streams.assignor.name': 'moody',
      [STANDBYS]: '5',
      [WARMUPS]: '3',
    });
  });

  it('lists six settings of a broker only where somebody set them in profile kafka', async () => {
    const rare = [
      'group.streams.acceptable.recovery.lag',
      'group.streams.assignor.offload.enable',
      'group.streams.max.warmup.replicas',
      'group.streams.min.task.offset.interval.ms',
      'group.streams.num.warmup.replicas',
      'group.streams.task.offset.interval.ms',
    ];
    const listed = async (profile: Profile, settings: Readonly<Record<string, string>>) => {
      const parts = await standaloneParts({}, { profile, settings });
      await alter(parts, [[BROKER, '1', [['group.streams.assignor.offload.enable', SET, 'true']]]]);
      return Object.keys(await describeOne(parts, [BROKER, '1', rare])).sort();
    };
    expect(await listed('kip', {})).to.deep.equal(rare);
    expect(await listed('kafka', {})).to.deep.equal(['group.streams.assignor.offload.enable']);
    const settings = { 'group.streams.num.warmup.replicas': '3' };
    expect(await listed('kafka', settings)).to.deep.equal([
      'group.streams.assignor.offload.enable',
      'group.streams.num.warmup.replicas',
    ]);
  });

  it('judges a dynamic setting with what is set on all nodes, and names what is wanted (BC-1)', async () => {
    const parts = await standaloneParts(
      {},
      { settings: { 'group.streams.max.assignment.interval.ms': '5000' } },
    );
    const one = async (
      node: string,
      value: string,
      { name = INTERVAL, validateOnly = false } = {},
    ) => {
      const answer = answerIncrementalAlterConfigs(parts);
      const configs = [{ name, configOperation: SET, value }];
      const resources = [{ resourceType: BROKER, resourceName: node, configs }];
      const { responses } = await answer({ resources, validateOnly }, incoming(1));
      return [responses?.[0]?.errorCode, responses?.[0]?.errorMessage];
    };
    const tooLong = [
      42,
      `Cannot alter configs: ${INTERVAL} is "5001", wanted no more than group.streams.max.assignment.interval.ms (5000)`,
    ];
    expect(await one('1', '5001')).to.deep.equal(tooLong);
    expect(await one('', '5001')).to.deep.equal(tooLong);
    expect(await one('', '5001', { validateOnly: true })).to.deep.equal(tooLong);
    const misspelt = 'group.streams.asignment.interval.ms';
    expect(await one('1', '1', { name: misspelt })).to.deep.equal([
      40,
      `Cannot alter configs: there is no setting "${misspelt}"; the nearest is ${INTERVAL}`,
    ]);
    expect(await one('', '5000')).to.deep.equal([0, null]);
    expect(await one('1', '4000')).to.deep.equal([0, null]);
  });

  it('refuses a group without an id (42)', async () => {
    expect(await describeOne(await standaloneParts(), [GROUP, '', null])).to.equal(42);
  });

  it('shows a topic, and 3 for one that is not there', async () => {
    const parts = await standaloneParts({}, { topics: { in: 1 } });
    await alter(parts, [[TOPIC, 'in', [['cleanup.policy', SET, 'compact']]]]);
    expect(
      await describeOne(parts, [TOPIC, 'in', ['cleanup.policy', 'retention.ms']]),
    ).to.deep.equal({
      'cleanup.policy': ['compact', 1],
      'retention.ms': ['604800000', 5],
    });
    expect(await describeOne(parts, [TOPIC, 'none', null])).to.equal(3);
  });

  it('shows this node, what is set on all nodes, and 42 for another node or kind', async () => {
    const parts = await standaloneParts({}, { settings: { 'group.streams.max.size': '7' } });
    const keys = [INTERVAL, 'group.streams.max.size', 'group.streams.num.standby.replicas'];
    expect(await describeOne(parts, [BROKER, '1', keys])).to.deep.equal({
      [INTERVAL]: ['1000', 5],
      'group.streams.max.size': ['7', 4],
      'group.streams.num.standby.replicas': ['0', 5],
    });
    expect(await describeOne(parts, [BROKER, '', null])).to.deep.equal({});
    await alter(parts, [[BROKER, '', [[INTERVAL, SET, '20']]]]);
    expect(await describeOne(parts, [BROKER, '', null])).to.deep.equal({ [INTERVAL]: ['20', 3] });
    expect(await describeOne(parts, [BROKER, '1', [INTERVAL]])).to.deep.equal({
      [INTERVAL]: ['20', 3],
    });
    await alter(parts, [[BROKER, '1', [[INTERVAL, SET, '30']]]]);
    expect(await describeOne(parts, [BROKER, '1', [INTERVAL]])).to.deep.equal({
      [INTERVAL]: ['30', 2],
    });
    expect(await describeOne(parts, [BROKER, '2', null])).to.equal(42);
    expect(await describeOne(parts, [16, 'x', null])).to.equal(42);
  });

  it('refuses who may not look, each resource by its kind (GC-8)', async () => {
    const parts = await standaloneParts({}, { topics: { in: 1 } });
    const denied = without(
      'DESCRIBE_CONFIGS GROUP g',
      'DESCRIBE_CONFIGS TOPIC in',
      'DESCRIBE_CONFIGS CLUSTER kafka-cluster',
    );
    expect(await describeOne(parts, [GROUP, 'g', null], denied)).to.equal(30);
    expect(await describeOne(parts, [TOPIC, 'in', null], denied)).to.equal(29);
    expect(await describeOne(parts, [BROKER, '1', null], denied)).to.equal(31);
  });
});

describe('answerIncrementalAlterConfigs()', () => {
  it('answers as the recorded trace of operations (GC-2, GC-3)', async () => {
    const parts = await standaloneParts();
    const one = async (...steps: Step[]) => (await alter(parts, [[GROUP, 'g', steps]]))[0];
    expect(await one([STANDBYS, DELETE, null])).to.equal(0);
    expect(await one([TAGS, APPEND, 'zone'])).to.equal(40);
    expect(await one([TAGS, SUBTRACT, 'zone'])).to.equal(40);
    expect(await one([STANDBYS, APPEND, '1'])).to.equal(40);
    expect(await one([STANDBYS, SET, null])).to.equal(42);
    expect(await one([STANDBYS, SET, '1'], [STANDBYS, SET, '2'])).to.equal(42);
    expect(await one([STANDBYS, 7, '1'])).to.equal(-1);
    expect(await one()).to.equal(0);
    expect(await one(['unknown', SET, '1'])).to.equal(40);
    expect(await alter(parts, [[GROUP, '', [[STANDBYS, SET, '1']]]])).to.deep.equal([42]);
    expect(parts.configs.group.overridden()).to.deep.equal([]);
  });

  it('refuses one resource that is named twice, both times, and does the others (GC-2)', async () => {
    const parts = await standaloneParts();
    const twice: Resource = [GROUP, 'g', [[STANDBYS, SET, '1']]];
    const other: Resource = [GROUP, 'h', [[STANDBYS, SET, '1']]];
    expect(await alter(parts, [twice, other, twice])).to.deep.equal([42, 0, 42]);
    expect(parts.configs.group.overridden()).to.deep.equal(['h']);
  });

  it('sets all of a resource or nothing', async () => {
    const parts = await standaloneParts();
    const steps: Step[] = [
      [STANDBYS, SET, '1'],
      [WARMUPS, SET, '99'],
    ];
    expect(await alter(parts, [[GROUP, 'g', steps]])).to.deep.equal([40]);
    expect(await describeOne(parts, [GROUP, 'g', [STANDBYS]])).to.deep.equal({
      [STANDBYS]: ['0', 5],
    });
  });

  it('only judges with validateOnly (GC-4)', async () => {
    const parts = await standaloneParts();
    const judge = (value: string) =>
      alter(parts, [[GROUP, 'g', [[STANDBYS, SET, value]]]], { validateOnly: true });
    expect(await judge('1')).to.deep.equal([0]);
    expect(await judge('9')).to.deep.equal([40]);
    expect(parts.configs.group.overridden()).to.deep.equal([]);
  });

  it('changes the dynamic settings of a node alone (records-and-configs 7)', async () => {
    const parts = await standaloneParts();
    const one = async (name: string, value: string, node = '1') =>
      (await alter(parts, [[BROKER, node, [[name, SET, value]]]]))[0];
    expect(await one(INTERVAL, '20')).to.equal(0);
    expect(await one(INTERVAL, 'soon')).to.equal(42);
    expect(await one(INTERVAL, '-1')).to.equal(42);
    expect(await one(INTERVAL, '15001')).to.equal(42);
    expect(await one(INTERVAL, ' 7 ')).to.equal(0);
    expect(await describeOne(parts, [BROKER, '1', [INTERVAL]])).to.deep.equal({
      [INTERVAL]: ['7', 2],
    });
    expect(await alter(parts, [[BROKER, '1', [[INTERVAL, 9, '7']]]])).to.deep.equal([42]);
    expect(await one('group.streams.num.standby.replicas', '1')).to.equal(42);
    expect(await one('unknown', '1')).to.equal(40);
    expect(await one(INTERVAL, '20', '2')).to.equal(42);
    expect(await alter(parts, [[8, '1', []]])).to.deep.equal([42]);
  });

  it('appends to and subtracts from a list of a topic', async () => {
    const parts = await standaloneParts({}, { topics: { in: 1 } });
    const policy = async (operation: number, value: string) => {
      const codes = await alter(parts, [[TOPIC, 'in', [['cleanup.policy', operation, value]]]]);
      const shown = await describeOne(parts, [TOPIC, 'in', ['cleanup.policy']]);
      return [codes[0], typeof shown === 'number' ? shown : shown['cleanup.policy']?.[0]];
    };
    expect(await policy(APPEND, 'compact')).to.deep.equal([0, 'delete,compact']);
    expect(await policy(APPEND, 'compact')).to.deep.equal([0, 'delete,compact']);
    expect(await policy(SUBTRACT, 'delete')).to.deep.equal([0, 'compact']);
    expect(await policy(SET, 'nonsense')).to.deep.equal([40, 'compact']);
    const notAList: Step = ['retention.ms', APPEND, '1'];
    expect(await alter(parts, [[TOPIC, 'in', [notAList]]])).to.deep.equal([40]);
    expect(await alter(parts, [[TOPIC, 'none', []]])).to.deep.equal([3]);
  });

  it('refuses who may not change, and changes nothing (GC-8)', async () => {
    const parts = await standaloneParts();
    const authorizer = without('ALTER_CONFIGS GROUP g');
    const resources: Resource[] = [[GROUP, 'g', [[STANDBYS, SET, '1']]]];
    expect(await alter(parts, resources, { authorizer })).to.deep.equal([30]);
    expect(parts.configs.group.overridden()).to.deep.equal([]);
  });
});

describe('answerAlterConfigs()', () => {
  it('makes the values given all the values that are set (wire key 33)', async () => {
    const parts = await standaloneParts();
    await alter(parts, [[GROUP, 'g', [[STANDBYS, SET, '1']]]]);
    const replace = async (configs: readonly { name: string; value: string | null }[]) => {
      const resources = [{ resourceType: GROUP, resourceName: 'g', configs }];
      const answer = answerAlterConfigs(parts);
      const { responses } = await answer({ resources, validateOnly: false }, incoming(2));
      return responses?.[0]?.errorCode;
    };
    expect(await replace([{ name: WARMUPS, value: '3' }])).to.equal(0);
    expect([...parts.configs.group.overrides('g')]).to.deep.equal([[WARMUPS, '3']]);
    expect(await replace([{ name: WARMUPS, value: null }])).to.equal(42);
    expect(
      await replace([
        { name: WARMUPS, value: '3' },
        { name: WARMUPS, value: '4' },
      ]),
    ).to.equal(42);
    expect(await replace([])).to.equal(0);
    expect(parts.configs.group.overridden()).to.deep.equal([]);
  });
});
