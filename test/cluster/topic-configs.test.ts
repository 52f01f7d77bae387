import { expect } from 'chai';
import { faultOfTopicConfigs, topicConfigs } from '../../src/cluster/topic-configs.ts';

const fault = (name: string, value: string) => faultOfTopicConfigs(new Map([[name, value]]));

describe('faultOfTopicConfigs()', () => {
  it('allows every default', () => {
    for (const [name, { fallback }] of topicConfigs) {
      expect(fault(name, fallback), name).to.equal(undefined);
    }
  });

  it('allows what Kafka Streams asks of its internal topics', () => {
    const asked = new Map([
      ['cleanup.policy', 'compact,delete'],
      ['message.timestamp.type', 'CreateTime'],
      ['retention.ms', '-1'],
      ['segment.bytes', '52428800'],
      ['max.message.bytes', '10485760'],
    ]);
    expect(faultOfTopicConfigs(asked)).to.equal(undefined);
  });

  for (const [name, ...values] of [
    ['retention.ms', '-2', '1.5', 'x', '', '9223372036854775808', '1e3'],
    ['max.message.bytes', '-1', '2147483648'],
    ['min.cleanable.dirty.ratio', '1.1', '-0.1', '', 'half'],
    ['preallocate', 'yes', '1', ''],
    ['cleanup.policy', '', 'compact;delete', 'Compact'],
    ['compression.type', 'brotli'],
    ['leader.replication.throttled.replicas', '1', '1:2;3:4', 'all'],
  ] as const) {
    it(`refuses values of ${name} that are not allowed, with the value seen and wanted`, () => {
      for (const value of values) {
        const text = fault(name, value);
        expect(text).to.match(/^Set topic config .*, wanted /);
        expect(text).to.include(`"${value}"`);
      }
    });
  }
});
