import { expect } from 'chai';
import {
  RECORD_BYTES_MAX,
  refuseTooLarge,
  SUBTOPOLOGIES_MAX,
} from '../../machines/decide/topology-size.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import type { Topology } from '../../machines/model/topology.ts';
import { encodeRecord } from '../../src/wire/records/group-record.ts';

/** One subtopology that reads this many topics and keeps as many changelogs. */
function wide(topics: number): Topology {
  const names = Array.from({ length: topics }, (_, at) => `topic-with-a-rather-long-name-${at}`);
  return {
    epoch: 0,
    subtopologies: [
      {
        subtopologyId: '0',
        sourceTopics: names,
        sourceTopicRegex: [],
        stateChangelogTopics: names.map((name) => ({
          name: `${name}-changelog`,
          partitions: 0,
          replicationFactor: 0,
          topicConfigs: [{ key: 'cleanup.policy', value: 'compact' }],
        })),
        repartitionSinkTopics: [],
        repartitionSourceTopics: [],
        copartitionGroups: [
          {
            sourceTopics: names.map((_, at) => at),
            sourceTopicRegex: [],
            repartitionSourceTopics: [],
          },
        ],
      },
    ],
  };
}

describe('refuseTooLarge()', () => {
  it('refuses more subtopologies than any application has, before it looks at them', () => {
    const [one] = wide(1).subtopologies;
    if (one === undefined) throw new Error('no subtopology');
    const of = (count: number): Topology => ({
      epoch: 0,
      subtopologies: Array.from({ length: count }, (_, at) => ({
        ...one,
        subtopologyId: String(at),
      })),
    });
    expect(() => refuseTooLarge(of(SUBTOPOLOGIES_MAX))).not.to.throw();
    expect(() => refuseTooLarge(of(SUBTOPOLOGIES_MAX + 1)))
      .to.throw(Refusal)
      .that.includes({ error: 'STREAMS_INVALID_TOPOLOGY' });
  });

  it('refuses what no log would take, for good, and names both sizes (records 5.2, check 17)', () => {
    expect(() => refuseTooLarge(wide(1000))).to.not.throw();
    expect(() => refuseTooLarge(wide(12_000)))
      .to.throw(Refusal, new RegExp(`about \\d+ bytes, at most ${RECORD_BYTES_MAX}`))
      .with.property('error', 'STREAMS_INVALID_TOPOLOGY');
  });

  it('judges by about what the record really has', () => {
    for (const topics of [6000, 8000, 12_000]) {
      const value = wide(topics);
      const real = encodeRecord({ type: 'topology', groupId: 'g', value }).value?.length ?? 0;
      let refused = false;
      try {
        refuseTooLarge(value);
      } catch {
        refused = true;
      }
      expect(refused, `${topics} topics, ${real} bytes`).to.equal(real > RECORD_BYTES_MAX);
    }
  });
});
