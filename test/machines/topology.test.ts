import { expect } from 'chai';
import {
  mentionedTopics,
  refuseIllegalTopics,
  refuseInvalidTopology,
  requiredTopics,
} from '../../machines/decide/topology.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import type { Subtopology, Topology } from '../../machines/model/topology.ts';
import { refusalOf } from '../support/refusal-of.ts';
import {
  copartition,
  info,
  REPARTITIONED,
  reading,
  STATEFUL,
  subtopology,
  topology,
} from '../support/topology-samples.ts';

const kip = resolveBehaviour('kip');
const kafka = resolveBehaviour('kafka');

function refused(text: string) {
  return { error: 'STREAMS_INVALID_TOPOLOGY', text: `Cannot use topology: ${text}` };
}

const judgedAs = (behaviour: typeof kip, one: Topology) =>
  refusalOf(() => refuseInvalidTopology(one, behaviour));

describe('refuseIllegalTopics()', () => {
  const source = (name: string) => topology(reading('0', { sourceTopics: [name] }));

  it("names Kafka's own topics in every role (A-3)", () => {
    const roles: Partial<Subtopology>[] = [
      { sourceTopics: ['__consumer_offsets'] },
      { repartitionSinkTopics: ['__consumer_offsets'] },
      { repartitionSourceTopics: [info('__consumer_offsets')] },
      { stateChangelogTopics: [info('__consumer_offsets')] },
    ];
    for (const role of roles) {
      expect(refusalOf(() => refuseIllegalTopics(topology(reading('0', role))))).to.deep.equal(
        refused("it names topics of Kafka's own: __consumer_offsets"),
      );
    }
    expect(refusalOf(() => refuseIllegalTopics(source('__transaction_state')))?.error).to.equal(
      'STREAMS_INVALID_TOPOLOGY',
    );
    expect(refusalOf(() => refuseIllegalTopics(source('__share_group_state')))?.error).to.equal(
      'STREAMS_INVALID_TOPOLOGY',
    );
  });

  it('lets other names with two underscores pass (A-3)', () => {
    expect(refusalOf(() => refuseIllegalTopics(source('__cluster_metadata')))).to.equal(undefined);
    expect(refusalOf(() => refuseIllegalTopics(source('__my_topic')))).to.equal(undefined);
  });

  it('refuses what no topic can be called (A-4)', () => {
    for (const name of ['', '.', '..', 'a/b', 'a b', 'ä', 'n'.repeat(250)]) {
      expect(
        refusalOf(() => refuseIllegalTopics(source(name))),
        JSON.stringify(name),
      ).to.deep.equal(
        refused(
          `no topic can have these names: ${JSON.stringify(name)}; ` +
            'wanted 1 to 249 letters, digits, ".", "_" or "-"',
        ),
      );
    }
    expect(refusalOf(() => refuseIllegalTopics(source('n'.repeat(249))))).to.equal(undefined);
    expect(refusalOf(() => refuseIllegalTopics(source('a.B_0-')))).to.equal(undefined);
  });

  it('S68 Every field that names a topic is checked (step 2)', () => {
    const roles: Partial<Subtopology>[] = [
      { sourceTopics: ['a/b'] },
      { repartitionSinkTopics: ['a/b'] },
      { repartitionSourceTopics: [info('a/b')] },
      { stateChangelogTopics: [info('a/b')] },
    ];
    for (const role of roles) {
      expect(refusalOf(() => refuseIllegalTopics(topology(reading('0', role))))?.error).to.equal(
        'STREAMS_INVALID_TOPOLOGY',
      );
    }
  });
});

describe('requiredTopics() and mentionedTopics()', () => {
  it('S66 A topic named twice is one topic: sorted, each once, sinks only mentioned (H-1)', () => {
    const one = topology(
      reading('0', { sourceTopics: ['in', 'in'], repartitionSinkTopics: ['r', 'only-written'] }),
      reading('1', {
        repartitionSourceTopics: [info('r')],
        stateChangelogTopics: [info('c'), info('in')],
      }),
    );
    expect(requiredTopics(one)).to.deep.equal(['c', 'in', 'r']);
    expect(mentionedTopics(one)).to.deep.equal(['c', 'in', 'only-written', 'r']);
  });
});

describe('refuseInvalidTopology() in profile kip', () => {
  it('takes -1 replicas, which released clients send for the default (V-12)', () => {
    const asked = topology(
      reading('0', { stateChangelogTopics: [info('c', { replicationFactor: -1 })] }),
    );
    expect(() => refuseInvalidTopology(asked, resolveBehaviour('kip'))).to.not.throw();
  });

  const faults: [string, Topology, string][] = [
    [
      'a changelog with a partition count (V-1)',
      topology(reading('0', { stateChangelogTopics: [info('c', { partitions: 2 })] })),
      'changelog topic "c" brings a partition count of 2, wanted 0',
    ],
    [
      'a repartition source that is a source (V-2)',
      topology(
        reading('0', { repartitionSinkTopics: ['r'] }),
        reading('1', { repartitionSourceTopics: [info('r')] }),
        reading('2', { sourceTopics: ['r'] }),
      ),
      'a topic cannot be a repartition source and a source: r',
    ],
    [
      'a repartition source that is a changelog (V-3)',
      topology(
        reading('0', { repartitionSinkTopics: ['r'] }),
        reading('1', {
          repartitionSourceTopics: [info('r')],
          stateChangelogTopics: [info('r')],
        }),
      ),
      'a topic cannot be a repartition source and a changelog: r',
    ],
    [
      'a changelog that is a repartition sink (V-4)',
      topology(reading('0', { repartitionSinkTopics: ['c'], stateChangelogTopics: [info('c')] })),
      'a topic cannot be a changelog and a repartition sink: c',
    ],
    [
      'a copartition index past its list (V-5)',
      topology(reading('0', { copartitionGroups: [copartition({ sourceTopics: [0, 5] })] })),
      'a copartition group of subtopology "0" points at 5 in its source topics, of which there are 1',
    ],
    [
      'a negative copartition index (V-5)',
      topology(
        reading('0', { copartitionGroups: [copartition({ repartitionSourceTopics: [-1] })] }),
      ),
      'a copartition group of subtopology "0" points at -1 in its repartition source topics, ' +
        'of which there are 0',
    ],
    [
      'an index of a pattern that is not there (V-5)',
      topology(reading('0', { copartitionGroups: [copartition({ sourceTopicRegex: [0] })] })),
      'a copartition group of subtopology "0" points at 0 in its source topic patterns, ' +
        'of which there are 0',
    ],
    [
      'a repartition source that nobody writes, fixed or not (V-6, vector 9)',
      topology(
        reading('0'),
        reading('1', { repartitionSourceTopics: [info('r', { partitions: 3 })] }),
      ),
      'no subtopology writes these repartition topics: r',
    ],
    [
      'a subtopology that reads nothing, with state or without (V-7)',
      topology(reading('0'), subtopology('1')),
      'subtopology "1" reads nothing',
    ],
    [
      'a ring of repartition topics without a size (V-8, vector 10)',
      topology(
        subtopology('0', {
          repartitionSourceTopics: [info('r1')],
          repartitionSinkTopics: ['r2'],
        }),
        subtopology('1', {
          repartitionSourceTopics: [info('r2')],
          repartitionSinkTopics: ['r1'],
        }),
      ),
      'nothing says how many partitions these repartition topics have: r1, r2',
    ],
    ['an empty subtopology id (V-10)', topology(reading('')), 'a subtopology has an empty id'],
    [
      'one subtopology id twice (V-10)',
      topology(reading('0'), reading('0')),
      'two subtopologies have the id "0"',
    ],
    [
      'a negative epoch (V-11)',
      { epoch: -1, subtopologies: [reading('0')] },
      'its epoch is -1, wanted 0 or more',
    ],
    [
      'a negative replication factor (V-12)',
      topology(reading('0', { stateChangelogTopics: [info('c', { replicationFactor: -2 })] })),
      'topic "c" wants 0 partitions and -2 replicas, wanted 0 or more, or -1 replicas for the default',
    ],
    [
      'a negative partition count (V-12)',
      topology(
        reading('0', {
          repartitionSinkTopics: ['r'],
          repartitionSourceTopics: [info('r', { partitions: -3 })],
        }),
      ),
      'topic "r" wants -3 partitions and 0 replicas, wanted 0 or more, or -1 replicas for the default',
    ],
    [
      'two readers of a repartition topic that name two sizes (V-13)',
      topology(
        reading('0', { repartitionSinkTopics: ['r'] }),
        reading('1', { repartitionSourceTopics: [info('r', { partitions: 3 })] }),
        reading('2', { repartitionSourceTopics: [info('r', { partitions: 5 })] }),
      ),
      'repartition topic "r" is read with 3 partitions and with 5',
    ],
  ];

  for (const [title, one, text] of faults) {
    it(`refuses ${title}`, () => {
      expect(judgedAs(kip, one)).to.deep.equal(refused(text));
    });
  }

  it('names the first fault in the order of the rules (3.2)', () => {
    const everything = topology(
      reading('0', { stateChangelogTopics: [info('c', { partitions: -1 })] }),
      subtopology('0'),
    );
    expect(judgedAs(kip, everything)?.text).to.equal(
      'Cannot use topology: changelog topic "c" brings a partition count of -1, wanted 0',
    );
  });

  it('lets a source double as a changelog (V-4, vector 11)', () => {
    expect(judgedAs(kip, topology(reading('0', { stateChangelogTopics: [info('in')] })))).to.equal(
      undefined,
    );
  });

  it('lets a ring of repartition topics pass that is fed or sized somewhere (V-8)', () => {
    const ring = (overrides: Partial<Subtopology>, partitions: number) =>
      topology(
        subtopology('0', {
          ...overrides,
          repartitionSourceTopics: [info('r1', { partitions })],
          repartitionSinkTopics: ['r2'],
        }),
        subtopology('1', {
          repartitionSourceTopics: [info('r2')],
          repartitionSinkTopics: ['r1'],
        }),
      );
    expect(judgedAs(kip, ring({ sourceTopics: ['in'] }, 0))).to.equal(undefined);
    expect(judgedAs(kip, ring({}, 4))).to.equal(undefined);
  });

  it('accepts what real clients send, and a topology without subtopologies', () => {
    expect(judgedAs(kip, STATEFUL)).to.equal(undefined);
    expect(judgedAs(kip, REPARTITIONED)).to.equal(undefined);
    expect(judgedAs(kip, topology())).to.equal(undefined);
  });
});

describe('refuseInvalidTopology() in profile kafka', () => {
  it('refuses a changelog with any partition count (V-1)', () => {
    for (const partitions of [2, -1]) {
      const one = topology(reading('0', { stateChangelogTopics: [info('c', { partitions })] }));
      expect(judgedAs(kafka, one)).to.deep.equal(
        refused(`changelog topic "c" brings a partition count of ${partitions}, wanted 0`),
      );
    }
  });

  it('refuses what Kafka fails over, or would take the last of (V-5, V-10, V-11, V-13)', () => {
    const contradictions = [
      topology(reading('0', { copartitionGroups: [copartition({ sourceTopics: [7] })] })),
      topology(reading('0'), reading('0')),
      { epoch: -1, subtopologies: [reading('0')] },
      topology(
        reading('0', { repartitionSinkTopics: ['r'] }),
        reading('1', { repartitionSourceTopics: [info('r', { partitions: 3 })] }),
        reading('2', { repartitionSourceTopics: [info('r', { partitions: 5 })] }),
      ),
    ];
    for (const one of contradictions) {
      expect(judgedAs(kafka, one)).to.deep.equal(judgedAs(kip, one));
      expect(judgedAs(kafka, one)).to.include({ error: 'STREAMS_INVALID_TOPOLOGY' });
    }
  });

  it('checks no other rule up front (V-2 to V-13)', () => {
    const accepted = [
      topology(
        reading('0', { repartitionSinkTopics: ['r'] }),
        reading('1', {
          repartitionSourceTopics: [info('r', { partitions: 3 })],
          stateChangelogTopics: [info('r')],
        }),
        reading('2', { sourceTopics: ['r'], repartitionSourceTopics: [info('r')] }),
      ),
      topology(reading('0', { repartitionSinkTopics: ['c'], stateChangelogTopics: [info('c')] })),
      topology(subtopology('0', { repartitionSourceTopics: [info('r')] })),
      topology(subtopology('0')),
      topology(reading('0', { stateChangelogTopics: [info('c', { replicationFactor: -2 })] })),
      topology(reading('0', { copartitionGroups: [copartition({ sourceTopicRegex: [7] })] })),
      topology(reading('')),
    ];
    for (const one of accepted) expect(judgedAs(kafka, one)).to.equal(undefined);
  });
});
