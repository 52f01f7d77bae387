import { expect } from 'chai';
import { FakeCluster } from '../support/fake-cluster.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { OpenGateway } from '../support/open-gateway.ts';
import { openGateway } from '../support/open-gateway.ts';
import type { WireClient } from '../support/wire-client.ts';

const TOPIC = 2;
const BROKER = 4;
const METRICS = 16;
const GROUP = 32;
const GROUP_CONFIG = 8;
const HEARTBEAT = 'streams.heartbeat.interval.ms';
const SESSION_OF_CONSUMERS = 'consumer.session.timeout.ms';
const INTERVAL = 'group.streams.assignment.interval.ms';
const CLEANER = 'log.cleaner.threads';

type Config = { readonly name: string; readonly value: string };
type Resource = readonly [type: number, name: string, configs: Readonly<Record<string, string>>];

describe('ConfigSplits of the gateway', () => {
  let clock: ManualClock;
  let cluster: FakeCluster;
  let open: OpenGateway;
  let client: WireClient;
  /** What the cluster keeps, by type and name of the resource. */
  let kept: Map<string, readonly Config[]>;
  /** Errors of the cluster, by type and name of the resource. */
  let refusals: Map<string, number>;

  beforeEach(async () => {
    clock = new ManualClock();
    cluster = await FakeCluster.open(clock, 2);
    open = await openGateway(cluster, clock);
    client = await open.client(2);
    kept = new Map();
    refusals = new Map();
    const broker = cluster.broker(2);
    for (const name of ['IncrementalAlterConfigs', 'AlterConfigs'] as const) {
      broker.on(name, ({ resources, validateOnly }) => ({
        responses: resources.map(({ resourceType, resourceName, configs }) => {
          const id = `${resourceType} ${resourceName}`;
          const errorCode = refusals.get(id) ?? 0;
          if (errorCode === 0 && !validateOnly) kept.set(id, configs as readonly Config[]);
          return { resourceType, resourceName, errorCode };
        }),
      }));
    }
    broker.on('DescribeConfigs', ({ resources }) => ({
      results: resources.map(({ resourceType, resourceName, configurationKeys: keys }) => {
        const id = `${resourceType} ${resourceName}`;
        const configs = (kept.get(id) ?? []).filter(({ name }) => keys?.includes(name) ?? true);
        const errorCode = refusals.get(id) ?? 0;
        return { resourceType, resourceName, errorCode, configs: errorCode === 0 ? configs : [] };
      }),
    }));
    broker.on('ListConfigResources', (_, { apiVersion }) => ({
      configResources:
        apiVersion === 0
          ? [{ resourceName: 'metrics' }]
          : [
              { resourceName: 'metrics', resourceType: METRICS },
              { resourceName: 'theirs', resourceType: GROUP },
              { resourceName: 'both', resourceType: GROUP },
            ],
    }));
  });

  afterEach(async () => {
    await open.stop();
    await cluster.stop();
  });

  /** The errors by resource, in the order of the answers. */
  async function alter(
    resources: readonly Resource[],
    options: {
      readonly api?: 'IncrementalAlterConfigs' | 'AlterConfigs';
      readonly dry?: boolean;
    } = {},
  ) {
    const { api = 'IncrementalAlterConfigs', dry = false } = options;
    const body = {
      validateOnly: dry,
      resources: resources.map(([resourceType, resourceName, configs]) => ({
        resourceType,
        resourceName,
        configs: Object.entries(configs).map(([name, value]) => ({ name, value })),
      })),
    };
    const { responses } = await client.call(api, 1, body);
    return responses.map(({ resourceName, errorCode }) => [resourceName, errorCode]);
  }

  /** Values by name, of one resource; its error if it is refused. */
  async function describeOne(
    resourceType: number,
    resourceName: string,
    configurationKeys: readonly string[] | null = null,
  ) {
    const { results } = await client.call('DescribeConfigs', 4, {
      resources: [{ resourceType, resourceName, configurationKeys }],
    });
    const [result] = results;
    if (result === undefined || result.errorCode !== 0) return result?.errorCode;
    return Object.fromEntries(result.configs.map(({ name, value }) => [name, value]));
  }

  /** The names and values that reached the cluster, without those it was only to judge. */
  const reached = (id: string) => (kept.get(id) ?? []).map(({ name, value }) => [name, value]);

  for (const api of ['IncrementalAlterConfigs', 'AlterConfigs'] as const) {
    it(`${api} keeps what is for streams groups and hands the rest on (wire.md 4.4)`, async () => {
      expect(
        await alter(
          [
            [TOPIC, 'in', { 'retention.ms': '1' }],
            [GROUP, 'g', { [HEARTBEAT]: '6000' }],
            [GROUP, 'c', { [SESSION_OF_CONSUMERS]: '50000' }],
          ],
          { api },
        ),
      ).to.deep.equal([
        ['in', 0],
        ['g', 0],
        ['c', 0],
      ]);
      expect([...kept.keys()]).to.deep.equal(['2 in', '32 c']);
      expect(reached('32 c')).to.deep.equal([[SESSION_OF_CONSUMERS, '50000']]);
      expect(await describeOne(GROUP, 'g', [HEARTBEAT])).to.deep.equal({ [HEARTBEAT]: '6000' });
    });
  }

  it('splits one resource by the names of its settings (GC-6)', async () => {
    const both = { [HEARTBEAT]: '6000', [SESSION_OF_CONSUMERS]: '50000' };
    expect(await alter([[GROUP, 'g', both]])).to.deep.equal([['g', 0]]);
    expect(reached('32 g')).to.deep.equal([[SESSION_OF_CONSUMERS, '50000']]);
    expect(await describeOne(GROUP, 'g', Object.keys(both))).to.deep.equal(both);
  });

  it('changes neither side when one refuses its part of a resource', async () => {
    const both = (heartbeat: string) => ({
      [HEARTBEAT]: heartbeat,
      [SESSION_OF_CONSUMERS]: '50000',
    });
    expect(await alter([[GROUP, 'g', both('1')]]), 'ours').to.deep.equal([['g', 40]]);
    refusals.set('32 g', 44);
    expect(await alter([[GROUP, 'g', both('6000')]]), 'theirs').to.deep.equal([['g', 44]]);
    expect(reached('32 g')).to.deep.equal([]);
    refusals.clear();
    expect(await describeOne(GROUP, 'g', [HEARTBEAT])).to.deep.equal({ [HEARTBEAT]: '5000' });
  });

  it('refuses a resource that is named twice, whichever side its settings belong to, and no other (GC-2)', async () => {
    const twice: readonly Resource[] = [
      [GROUP, 'g', { [HEARTBEAT]: '6000' }],
      [TOPIC, 'in', { 'retention.ms': '1' }],
      [GROUP, 'h', { [HEARTBEAT]: '7000' }],
      [GROUP, 'g', { [SESSION_OF_CONSUMERS]: '50000' }],
      [TOPIC, 'in', { 'retention.ms': '2' }],
    ];
    expect(await alter(twice)).to.deep.equal([
      ['g', 42],
      ['in', 42],
      ['h', 0],
      ['g', 42],
      ['in', 42],
    ]);
    expect([...kept.keys()]).to.deep.equal([]);
    expect(await describeOne(GROUP, 'g', [HEARTBEAT])).to.deep.equal({ [HEARTBEAT]: '5000' });
    expect(await describeOne(GROUP, 'h', [HEARTBEAT])).to.deep.equal({ [HEARTBEAT]: '7000' });
  });

  it('shows a resource as often as it is asked for, each time what was asked', async () => {
    kept.set('32 g', [{ name: SESSION_OF_CONSUMERS, value: '50000' }]);
    const asked = [[HEARTBEAT], [SESSION_OF_CONSUMERS], [HEARTBEAT, SESSION_OF_CONSUMERS]];
    const { results } = await client.call('DescribeConfigs', 4, {
      resources: asked.map((configurationKeys) => ({
        resourceType: GROUP,
        resourceName: 'g',
        configurationKeys,
      })),
    });
    expect(
      results.map(({ configs }) => configs.map(({ name, value }) => [name, value])),
    ).to.deep.equal([
      [[HEARTBEAT, '5000']],
      [[SESSION_OF_CONSUMERS, '50000']],
      [
        [SESSION_OF_CONSUMERS, '50000'],
        [HEARTBEAT, '5000'],
      ],
    ]);
  });

  it('only judges on both sides with validateOnly (GC-4)', async () => {
    const both = { [HEARTBEAT]: '6000', [SESSION_OF_CONSUMERS]: '50000' };
    expect(await alter([[GROUP, 'g', both]], { dry: true })).to.deep.equal([['g', 0]]);
    expect(reached('32 g')).to.deep.equal([]);
    expect(await describeOne(GROUP, 'g', [HEARTBEAT])).to.deep.equal({ [HEARTBEAT]: '5000' });
  });

  it('shows settings of a streams group in front of a cluster that knows none of groups', async () => {
    refusals.set('32 g', 42);
    const shown = await describeOne(GROUP, 'g');
    expect(Object.keys(shown ?? {}).filter((name) => !name.startsWith('streams.'))).to.deep.equal(
      [],
    );
    expect(shown).to.include({ [HEARTBEAT]: '5000' });
    expect(await describeOne(GROUP, 'g', [SESSION_OF_CONSUMERS])).to.equal(42);
    expect(await alter([[GROUP, 'g', { [SESSION_OF_CONSUMERS]: '50000' }]])).to.deep.equal([
      ['g', 42],
    ]);
  });

  it('answers a group without a name and one without changes by itself', async () => {
    expect(await alter([[GROUP, '', {}]])).to.deep.equal([['', 42]]);
    expect(await alter([[GROUP, 'g', {}]])).to.deep.equal([['g', 0]]);
    expect([...kept.keys()]).to.deep.equal([]);
  });

  it('keeps what every broker gives to streams groups, whichever broker is named', async () => {
    expect(await alter([[BROKER, '2', { [INTERVAL]: '7', [CLEANER]: '3' }]])).to.deep.equal([
      ['2', 0],
    ]);
    expect(reached('4 2')).to.deep.equal([[CLEANER, '3']]);
    kept.set('4 2', [
      { name: CLEANER, value: '3' },
      { name: INTERVAL, value: "a broker's own" },
    ]);
    const shown = await describeOne(BROKER, '2');
    expect(shown).to.include({ [CLEANER]: '3', [INTERVAL]: '7' });
    expect(Object.keys(shown ?? {})).to.not.include('protocol.profile');
    expect(await describeOne(GROUP, 'g', ['streams.assignment.interval.ms'])).to.deep.equal({
      'streams.assignment.interval.ms': '7',
    });
    expect(await describeOne(BROKER, '1', [INTERVAL])).to.deep.equal({ [INTERVAL]: '7' });
    expect(await alter([[BROKER, '2', { 'group.streams.max.size': '7' }]])).to.deep.equal([
      ['2', 42],
    ]);
  });

  it("shows the cluster's refusal of a broker that is not there", async () => {
    refusals.set('4 9', 42);
    expect(await describeOne(BROKER, '9')).to.equal(42);
  });

  it('hands a request on as it came when nothing in it is ours', async () => {
    await alter([[TOPIC, 'in', { 'retention.ms': '1' }]]);
    await describeOne(TOPIC, 'in', ['retention.ms']);
    await describeOne(GROUP, 'g');
    const seen = cluster.broker(2).seen.filter(({ name }) => name.includes('Configs'));
    // What is asked in a client's place is asked in our name.
    expect(seen.map(({ clientId }) => clientId)).to.deep.equal(['c', 'c', 'headgate']);
  });

  it('ListConfigResources lists the groups of both sides, in the version of upstream (GC-9)', async () => {
    await alter([
      [GROUP, 'ours', { [HEARTBEAT]: '6000' }],
      [GROUP, 'both', { [HEARTBEAT]: '6000' }],
    ]);
    const listed = async (version: number, resourceTypes: readonly number[] = []) => {
      const body = version > 0 ? { resourceTypes } : {};
      const { configResources } = await client.call('ListConfigResources', version, body);
      return configResources.map((one) => `${one.resourceType} ${one.resourceName}`);
    };
    const groups = ['32 theirs', '32 both', '32 ours'];
    expect(await listed(1)).to.deep.equal(['16 metrics', ...groups]);
    expect(await listed(0)).to.deep.equal(['16 metrics']);
    cluster.broker(2).on('ListConfigResources', ({ resourceTypes }) => ({
      configResources: resourceTypes.includes(GROUP)
        ? [{ resourceName: 'theirs', resourceType: GROUP }]
        : [],
    }));
    expect(await listed(1, [GROUP])).to.deep.equal(['32 theirs', '32 both', '32 ours']);
  });

  it('shows the source of a value set here', async () => {
    await alter([[GROUP, 'g', { [HEARTBEAT]: '6000' }]]);
    const { results } = await client.call('DescribeConfigs', 4, {
      resources: [{ resourceType: GROUP, resourceName: 'g', configurationKeys: [HEARTBEAT] }],
      includeSynonyms: true,
    });
    expect(results[0]?.configs[0]).to.include({ value: '6000', configSource: GROUP_CONFIG });
    expect(results[0]?.configs[0]?.synonyms.map(({ name }) => name)).to.deep.equal([
      HEARTBEAT,
      `group.${HEARTBEAT}`,
    ]);
  });
});
