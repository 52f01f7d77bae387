import { expect } from 'chai';
import { Catalogue } from '../../src/cluster/catalogue.ts';
import { TopicConfigResources } from '../../src/cluster/topic-config-resources.ts';
import { topicConfigs } from '../../src/cluster/topic-configs.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';

async function setUp() {
  const catalogue = await Catalogue.open({
    keyValues: new MemoryKeyValues(),
    random: (count) => new Uint8Array(count),
    defaultPartitionCount: 1,
  });
  const now = { validateOnly: false };
  const configs = new Map([['retention.ms', '5']]);
  await catalogue.create({ name: 'in', partitionCount: 1, replicationFactor: 1, configs }, now);
  return { resources: new TopicConfigResources(catalogue), now };
}

describe('TopicConfigResources', () => {
  it('describe() gives every setting, what the topic sets before the default', async () => {
    const { resources } = await setUp();
    const entries = resources.describe('in') ?? [];
    expect(entries.map(({ name }) => name)).to.deep.equal([...topicConfigs.keys()]);
    const common = { readOnly: false, sensitive: false, documentation: null };
    expect(entries.find(({ name }) => name === 'retention.ms')).to.deep.equal({
      ...common,
      name: 'retention.ms',
      value: '5',
      source: 'TOPIC_CONFIG',
      type: 'long',
      synonyms: [
        { name: 'retention.ms', value: '5', source: 'TOPIC_CONFIG' },
        { name: 'retention.ms', value: '604800000', source: 'DEFAULT_CONFIG' },
      ],
    });
    expect(entries.find(({ name }) => name === 'cleanup.policy')).to.deep.equal({
      ...common,
      name: 'cleanup.policy',
      value: 'delete',
      source: 'DEFAULT_CONFIG',
      type: 'list',
      synonyms: [{ name: 'cleanup.policy', value: 'delete', source: 'DEFAULT_CONFIG' }],
    });
    expect(resources.describe('out')).to.equal(undefined);
  });

  it('alter() changes what overrides() and overridden() tell', async () => {
    const { resources, now } = await setUp();
    expect(resources.overridden()).to.deep.equal(['in']);
    const taken = await resources.alter('in', new Map([['retention.ms', null]]), now);
    expect(taken).to.deep.equal({ error: 'NONE', message: null });
    expect([...resources.overrides('in'), ...resources.overrides('out')]).to.deep.equal([]);
    expect(resources.overridden()).to.deep.equal([]);
    const refused = await resources.alter('in', new Map([['segment.ms', '0']]), now);
    expect(refused).to.deep.equal({
      error: 'INVALID_CONFIG',
      message:
        'Set topic config segment.ms: "0", wanted a whole number from 1 to 9223372036854775807',
    });
  });
});
