import { byCodeUnits } from '../model/ids.ts';
import { metadataHash } from '../model/metadata-hash.ts';
import type { ResolvedPatterns } from '../model/patterns.ts';
import type { Behaviour } from '../model/profile.ts';
import { Refusal } from '../model/refusal.ts';
import type { TopicsView } from '../model/topics.ts';
import type {
  ConfiguredSubtopology,
  ConfiguredTopology,
  CreatableTopic,
  Subtopology,
  TopicInfo,
  Topology,
  TopologyProblem,
} from '../model/topology.ts';
import { firstFew } from './first-few.ts';
import { copartitionedTopics, readersOf, requiredTopics } from './topology.ts';

/**
 * Hash of what is known of the topics a topology requires; topics that do not exist contribute nothing. 0 when
 * none exists. A changed value means: configure again.
 *
 * Source: topology-and-admin H-1, H-3; TOP-11.
 */
export function topicsHash(topology: Topology, topics: TopicsView): bigint {
  const existing = requiredTopics(topology).map((name) => topics.topic(name));
  return metadataHash(existing.filter((topic) => topic !== undefined));
}

/**
 * Holds a topology against the topics that exist: decides how many partitions every internal topic has and how many
 * tasks every subtopology, or names the one problem that keeps the group from being ready. The first of missing
 * sources, wrongly partitioned topics and missing internal topics is the one (TOP-9).
 *
 * A source topic pattern that is still there matched nothing (6.1).
 *
 * Refuses with STREAMS_INVALID_TOPOLOGY what cannot be sized whatever exists (V-7, V-8); with
 * `validateWholeTopology` that was refused before and does not happen here.
 *
 * @param topology with its patterns resolved.
 * @param patterns what is wrong with its patterns, if anything is.
 *
 * Source: topology-and-admin 6.
 */
export function configureTopology(
  topology: Topology,
  topics: TopicsView,
  behaviour: Behaviour,
  patterns?: Pick<ResolvedPatterns, 'fault' | 'clash'>,
): ConfiguredTopology {
  const ordered = topology.subtopologies.toSorted((a, b) =>
    byCodeUnits(a.subtopologyId, b.subtopologyId),
  );
  const base = { topologyEpoch: topology.epoch, metadataHash: topicsHash(topology, topics) };
  const notReady = (problem: TopologyProblem): ConfiguredTopology => ({
    ...base,
    problem,
    subtopologies: [],
    missingInternalTopics: [],
  });

  const missingSources = findMissingSources(ordered, topics, patterns?.fault);
  if (missingSources !== undefined) return notReady(missingSources);
  if (patterns?.clash !== undefined) {
    const detail = `Topic ${patterns.clash} is matched by the patterns of two subtopologies`;
    return notReady(incorrectlyPartitioned(detail));
  }

  const plan = new SizePlan(ordered, topics, behaviour);
  plan.inferRepartitionCounts();
  const mismatch = plan.alignCopartitioned();
  if (mismatch !== undefined) return notReady(mismatch);

  const widths = ordered.map((one) => plan.widthOf(one));
  plan.decideChangelogCounts(widths);
  const misfit = plan.findMisfit();
  if (misfit !== undefined) return notReady(misfit);

  const missing = plan.missingTopics();
  return {
    ...base,
    problem: missing.length === 0 ? undefined : missingInternalTopics(missing),
    subtopologies: ordered.map((one, at) => plan.configured(one, widths[at] ?? 0)),
    missingInternalTopics: missing,
  };
}

/** 6.1; `fault`: why patterns are among them, if it is not that they match nothing. */
function findMissingSources(
  subtopologies: readonly Subtopology[],
  topics: TopicsView,
  fault: string | undefined,
): TopologyProblem | undefined {
  const missing = new Set<string>();
  for (const one of subtopologies) {
    for (const name of one.sourceTopics) if (topics.topic(name) === undefined) missing.add(name);
    for (const pattern of one.sourceTopicRegex) missing.add(`pattern ${pattern}`);
  }
  if (missing.size === 0) return undefined;
  const names = [...missing].sort(byCodeUnits);
  return {
    status: 'MISSING_SOURCE_TOPICS',
    detail: `Source topics are missing: ${firstFew(names)}${fault === undefined ? '' : `: ${fault}`}`,
  };
}

/** 6.8 */
function missingInternalTopics(missing: readonly CreatableTopic[]): TopologyProblem {
  const names = firstFew(missing.map((topic) => topic.name));
  return { status: 'MISSING_INTERNAL_TOPICS', detail: `Internal topics are missing: ${names}` };
}

function incorrectlyPartitioned(detail: string): TopologyProblem {
  return { status: 'INCORRECTLY_PARTITIONED_TOPICS', detail };
}

/** The partition counts of one topology while they are being decided; lives for one call of configureTopology. */
class SizePlan {
  /** Ascending by id. */
  readonly #subtopologies: readonly Subtopology[];
  readonly #topics: TopicsView;
  readonly #behaviour: Behaviour;
  /** Counts that the topology itself fixes, of repartition topics (6.3); all readers of one name the same (V-13). */
  readonly #fixed = new Map<string, number>();
  #fixedOfAll: { readonly count: number | TopologyProblem | undefined } | undefined;
  /** Counts of repartition topics, then of changelogs too. */
  readonly #decided: Map<string, number>;
  readonly #repartitionTopics = new Map<string, TopicInfo>();
  readonly #changelogTopics = new Map<string, TopicInfo>();

  constructor(subtopologies: readonly Subtopology[], topics: TopicsView, behaviour: Behaviour) {
    this.#subtopologies = subtopologies;
    this.#topics = topics;
    this.#behaviour = behaviour;
    for (const one of subtopologies) {
      for (const topic of one.repartitionSourceTopics) {
        this.#repartitionTopics.set(topic.name, topic);
        if (topic.partitions > 0) this.#fixed.set(topic.name, topic.partitions);
      }
      for (const topic of one.stateChangelogTopics) this.#changelogTopics.set(topic.name, topic);
    }
    this.#decided = new Map(this.#fixed);
  }

  /**
   * A repartition topic without a count of its own is as wide as the widest thing its writer reads; of several writers the
   * widest (6.4). What is wide goes first down all that it feeds, so nothing that comes after can raise it again.
   */
  inferRepartitionCounts(): void {
    const readers = readersOf(this.#subtopologies);
    const wide = this.#subtopologies
      .map((one) => ({ one, width: this.#knownWidth(one) }))
      .filter(({ width }) => width > 0)
      .sort((a, b) => b.width - a.width);
    const followed = new Set<Subtopology>();
    for (const { one: source, width } of wide) {
      const fed = [source];
      for (let one = fed.pop(); one !== undefined; one = fed.pop()) {
        if (followed.has(one)) continue;
        followed.add(one);
        for (const name of one.repartitionSinkTopics) {
          if (this.#decided.has(name)) continue;
          this.#decided.set(name, width);
          fed.push(...(readers.get(name) ?? []));
        }
      }
    }
    const unsized = [...this.#repartitionTopics.keys()].filter((name) => !this.#decided.has(name));
    if (unsized.length === 0) return;
    throw new Refusal(
      'STREAMS_INVALID_TOPOLOGY',
      `Cannot size repartition topics: nothing says how many partitions they have: ` +
        firstFew(unsized.sort(byCodeUnits)),
    );
  }

  /** Gives all topics of a copartition group one count, or tells which do not agree (6.5). */
  alignCopartitioned(): TopologyProblem | undefined {
    for (const one of this.#subtopologies) {
      for (const group of one.copartitionGroups) {
        const problem = this.#align(copartitionedTopics(one, group));
        if (problem !== undefined) return problem;
      }
    }
    return undefined;
  }

  /** How many tasks a subtopology has: as many as its widest input has partitions (6.6, 6.10). */
  widthOf(subtopology: Subtopology): number {
    const width = widest(inputsOf(subtopology), (name) => this.#countOf(name));
    if (width > 0) return width;
    throw new Refusal(
      'STREAMS_INVALID_TOPOLOGY',
      `Cannot count tasks of subtopology "${subtopology.subtopologyId}": it reads nothing`,
    );
  }

  /** A changelog has a partition per task; of two subtopologies that share it, the wider one's (6.6). */
  decideChangelogCounts(widths: readonly number[]): void {
    const counts = new Map<string, number>();
    this.#subtopologies.forEach((one, at) => {
      for (const { name } of one.stateChangelogTopics) {
        counts.set(name, Math.max(counts.get(name) ?? 0, widths[at] ?? 0));
      }
    });
    for (const [name, count] of counts) this.#decided.set(name, count);
  }

  /** An internal topic that exists and is not as wide as decided (6.7). Repartition topics first: changelogs follow them. */
  findMisfit(): TopologyProblem | undefined {
    const repartitions = [...this.#repartitionTopics.keys()].sort(byCodeUnits);
    const changelogs = [...this.#changelogTopics.keys()].sort(byCodeUnits);
    for (const name of [...repartitions, ...changelogs]) {
      const found = this.#topics.topic(name)?.partitionCount;
      const expected = this.#decided.get(name);
      if (found !== undefined && found !== expected) {
        return incorrectlyPartitioned(
          `Internal topic ${name} does not fit: it has ${found} partitions, expected ${expected}`,
        );
      }
    }
    return undefined;
  }

  /** What is to be created, by name (6.8, 6.9). */
  missingTopics(): readonly CreatableTopic[] {
    const internal = new Map([...this.#changelogTopics, ...this.#repartitionTopics]);
    return [...internal.values()]
      .filter((topic) => this.#topics.topic(topic.name) === undefined)
      .sort((a, b) => byCodeUnits(a.name, b.name))
      .map((topic) => ({
        name: topic.name,
        partitions: this.#decided.get(topic.name) ?? 0,
        replicationFactor: topic.replicationFactor === 0 ? -1 : topic.replicationFactor,
        configs: topic.topicConfigs,
      }));
  }

  configured(subtopology: Subtopology, taskCount: number): ConfiguredSubtopology {
    return {
      subtopologyId: subtopology.subtopologyId,
      taskCount,
      stateful: subtopology.stateChangelogTopics.length > 0,
      sourceTopics: [...new Set(subtopology.sourceTopics)].sort(byCodeUnits),
      repartitionSinkTopics: [...new Set(subtopology.repartitionSinkTopics)].sort(byCodeUnits),
      stateChangelogTopics: this.#sized(subtopology.stateChangelogTopics),
      repartitionSourceTopics: this.#sized(subtopology.repartitionSourceTopics),
    };
  }

  /** Each topic with the count that was decided, by name. */
  #sized(topics: readonly TopicInfo[]): readonly TopicInfo[] {
    return topics
      .map((topic) => ({
        ...topic,
        partitions: this.#decided.get(topic.name) ?? 0,
      }))
      .sort((a, b) => byCodeUnits(a.name, b.name));
  }

  /** The real count of a topic that exists, else the decided one (6.2). */
  #countOf(name: string): number | undefined {
    return this.#topics.topic(name)?.partitionCount ?? this.#decided.get(name);
  }

  /** Width of a subtopology by what is decided so far; 0 when nothing is (6.4). */
  #knownWidth({ sourceTopics, repartitionSourceTopics }: Subtopology): number {
    const ofSources = widest(sourceTopics, (name) => this.#topics.topic(name)?.partitionCount);
    const ofOthers = widest(repartitionSourceTopics, ({ name }) => this.#decided.get(name));
    return Math.max(ofSources, ofOthers);
  }

  #align(names: readonly string[]): TopologyProblem | undefined {
    const internal = names.filter((name) => this.#repartitionTopics.has(name));
    const agreed = this.#agreedCount(names, internal);
    if (typeof agreed !== 'number') return agreed;
    for (const name of internal) {
      const fixed = this.#fixed.get(name);
      if (fixed !== undefined && fixed !== agreed) {
        return incorrectlyPartitioned(
          `Repartition topic ${name} does not fit the topics it is joined with: ` +
            `it is to have ${fixed} partitions, expected ${agreed}`,
        );
      }
      this.#decided.set(name, agreed);
    }
    return undefined;
  }

  /** The count all of a group must have: that of the topics not ours to size, else the fixed one, else the widest. */
  #agreedCount(names: readonly string[], internal: readonly string[]): number | TopologyProblem {
    const external = names.filter((name) => !this.#repartitionTopics.has(name));
    if (external.length > 0) return this.#commonCount(external, (name) => this.#countOf(name));
    const fixed = this.#behaviour.fixedCountsStayInTheirGroup
      ? this.#fixedCount(internal)
      : this.#fixedCountOfAll();
    if (fixed !== undefined) return fixed;
    return widest(internal, (name) => this.#countOf(name));
  }

  /** The count that the topology itself gives to these topics; undefined if it gives none. */
  #fixedCount(names: Iterable<string>): number | TopologyProblem | undefined {
    const fixed = [...names].filter((name) => this.#fixed.has(name)).sort(byCodeUnits);
    if (fixed.length === 0) return undefined;
    return this.#commonCount(fixed, (name) => this.#fixed.get(name));
  }

  /** As {@link #fixedCount}, of all topics: the same for every group, so it is found once. */
  #fixedCountOfAll(): number | TopologyProblem | undefined {
    this.#fixedOfAll ??= { count: this.#fixedCount(this.#fixed.keys()) };
    return this.#fixedOfAll.count;
  }

  #commonCount(
    names: readonly string[],
    countOf: (name: string) => number | undefined,
  ): number | TopologyProblem {
    const counts = names.map((name) => countOf(name) ?? 0);
    const first = counts[0] ?? 0;
    if (counts.every((count) => count === first)) return first;
    const pairs = names.map((name, at) => `${name}=${counts[at]}`);
    return incorrectlyPartitioned(
      `Topics that are joined differ in their partitions: ${pairs.join(', ')}`,
    );
  }
}

/** The largest of the counts that are known; 0 if none is. A topology may name more topics than a call takes arguments. */
function widest<T>(topics: readonly T[], countOf: (topic: T) => number | undefined): number {
  let most = 0;
  for (const topic of topics) most = Math.max(most, countOf(topic) ?? 0);
  return most;
}

function inputsOf(subtopology: Subtopology): readonly string[] {
  return [
    ...subtopology.sourceTopics,
    ...subtopology.repartitionSourceTopics.map((topic) => topic.name),
  ];
}
