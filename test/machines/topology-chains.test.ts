import { expect } from 'chai';
import fc from 'fast-check';
import { configureTopology } from '../../machines/decide/internal-topics.ts';
import { refuseInvalidTopology } from '../../machines/decide/topology.ts';
import { SUBTOPOLOGIES_MAX } from '../../machines/decide/topology-size.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import type { Subtopology, Topology } from '../../machines/model/topology.ts';
import { info, subtopology, topicsOf, topology } from '../support/topology-samples.ts';

const SOURCES = { a: 2, b: 5, c: 9 };
const REPARTITIONS = ['r0', 'r1', 'r2', 'r3', 'r4'];

const drawn = fc.array(
  fc.record({
    reads: fc.uniqueArray(fc.constantFrom(...Object.keys(SOURCES)), { maxLength: 1 }),
    follows: fc.uniqueArray(fc.constantFrom(...REPARTITIONS), { maxLength: 2 }),
    writes: fc.uniqueArray(fc.constantFrom(...REPARTITIONS), { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 6 },
);
/** Counts that the topology gives to repartition topics itself. */
const fixed = fc.dictionary(fc.constantFrom(...REPARTITIONS), fc.constantFrom(3, 7), {
  maxKeys: 1,
});

/** The counts of repartition topics, raised until none rises any more. */
function raised({ subtopologies }: Topology): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const own = new Set<string>();
  for (const { name, partitions } of subtopologies.flatMap((one) => one.repartitionSourceTopics)) {
    if (partitions === 0) continue;
    counts.set(name, partitions);
    own.add(name);
  }
  for (let isNew = true; isNew; ) {
    isNew = false;
    for (const one of subtopologies) {
      const inputs = one.repartitionSourceTopics.map(({ name }) => counts.get(name) ?? 0);
      const sources = one.sourceTopics.map((name) => SOURCES[name as keyof typeof SOURCES]);
      const width = Math.max(0, ...inputs, ...sources);
      for (const name of one.repartitionSinkTopics) {
        if (own.has(name) || width <= (counts.get(name) ?? 0)) continue;
        counts.set(name, width);
        isNew = true;
      }
    }
  }
  return counts;
}

/** A chain in which each subtopology feeds the one before it; tells how often what they write is looked at. */
function chain(length: number): { readonly topology: Topology; readonly looks: () => number } {
  let looks = 0;
  const subtopologies = Array.from({ length }, (_, at): Subtopology => {
    const isFirst = at === length - 1;
    const one = subtopology(String(at).padStart(5, '0'), {
      sourceTopics: isFirst ? ['a'] : [],
      repartitionSourceTopics: isFirst ? [] : [info(`r${at}`)],
    });
    const repartitionSinkTopics = at === 0 ? [] : [`r${at - 1}`];
    return Object.defineProperty(one, 'repartitionSinkTopics', {
      enumerable: true,
      get() {
        looks++;
        return repartitionSinkTopics;
      },
    });
  });
  return { topology: topology(...subtopologies), looks: () => looks };
}

describe('repartition topics in chains and rings', () => {
  const kip = resolveBehaviour('kip');

  it('are as wide as raising them until none rises makes them (V-8, 6.4)', () => {
    let sized = 0;
    fc.assert(
      fc.property(drawn, fixed, (ones, sizes) => {
        const given = topology(
          ...ones.map(({ reads, follows, writes }, at) =>
            subtopology(String(at), {
              sourceTopics: reads,
              repartitionSourceTopics: follows.map((name) =>
                info(name, { partitions: sizes[name] ?? 0 }),
              ),
              repartitionSinkTopics: writes,
            }),
          ),
        );
        const counts = raised(given);
        const follows = new Set(ones.flatMap((one) => one.follows));
        const isUnsized = [...follows].some((name) => !counts.has(name));
        const reads = ones.every((one) => one.reads.length + one.follows.length > 0);
        const configure = () => configureTopology(given, topicsOf(SOURCES), kip);
        if (isUnsized) {
          expect(configure).to.throw('nothing says how many partitions they have');
          expect(() => refuseInvalidTopology(given, kip)).to.throw();
        } else if (reads) {
          sized++;
          const found = new Map(
            configure().missingInternalTopics.map(({ name, partitions }) => [name, partitions]),
          );
          const expected = new Map([...counts].filter(([name]) => follows.has(name)));
          expect(found).to.deep.equal(new Map([...expected].sort()));
        }
      }),
      { numRuns: 2_000 },
    );
    expect(sized).to.be.greaterThan(200);
  });

  it('are looked at a few times each, however long the chain (V-8, 6.4)', () => {
    const looksFor = (length: number): number => {
      const { topology: given, looks } = chain(length);
      refuseInvalidTopology(given, kip);
      const { problem, subtopologies } = configureTopology(given, topicsOf(SOURCES), kip);
      expect(problem?.status).to.equal('MISSING_INTERNAL_TOPICS');
      expect(subtopologies.every(({ taskCount }) => taskCount === 2)).to.equal(true);
      return looks();
    };
    const short = looksFor(20);
    expect(looksFor(SUBTOPOLOGIES_MAX)).to.equal((short * SUBTOPOLOGIES_MAX) / 20);
  });
});
