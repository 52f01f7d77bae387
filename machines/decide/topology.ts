import { byCodeUnits } from '../model/ids.ts';
import type { Behaviour } from '../model/profile.ts';
import { Refusal } from '../model/refusal.ts';
import type { CopartitionGroup, Subtopology, TopicInfo, Topology } from '../model/topology.ts';
import { firstFew } from './first-few.ts';

/** Kafka's own topics; other names with two underscores are ordinary. */
const KAFKA_TOPICS: ReadonlySet<string> = new Set([
  '__consumer_offsets',
  '__transaction_state',
  '__share_group_state',
]);

export function isKafkaTopic(name: string): boolean {
  return KAFKA_TOPICS.has(name);
}

const TOPIC_NAME_MAX = 249;
const TOPIC_NAME = /^[A-Za-z0-9._-]+$/;

/**
 * Refuses a topology that names one of Kafka's own topics, or something no topic can be called, in any role, with
 * STREAMS_INVALID_TOPOLOGY. Belongs at the edge, before an authoriser is asked about the names.
 *
 * Source: topology-and-admin; REQ-3.
 */
export function refuseIllegalTopics(topology: Topology): void {
  const names = mentionedTopics(topology);
  const internal = names.filter(isKafkaTopic);
  if (internal.length > 0) {
    throw invalid(`Cannot use topology: it names topics of Kafka's own: ${firstFew(internal)}`);
  }
  const illegal = names.filter((name) => !isLegalTopicName(name));
  if (illegal.length > 0) {
    const shown = firstFew(illegal.map((name) => JSON.stringify(name)));
    throw invalid(
      `Cannot use topology: no topic can have these names: ${shown}; ` +
        `wanted 1 to ${TOPIC_NAME_MAX} letters, digits, ".", "_" or "-"`,
    );
  }
}

/** Every topic a topology mentions in any role, sinks included; each once, sorted (topology-and-admin 2). */
export function mentionedTopics(topology: Topology): readonly string[] {
  return sortedOnce([...requiredTopics(topology), ...sinks(topology)]);
}

/**
 * The topics that must exist before the topology is ready: sources, repartition sources and changelogs of all
 * subtopologies; each once, sorted. Topics that are only written are not among them (H-1).
 */
export function requiredTopics(topology: Topology): readonly string[] {
  const known = requiredTopicsOf.get(topology);
  if (known !== undefined) return known;
  const required = sortedOnce([
    ...sources(topology),
    ...repartitions(topology),
    ...changelogs(topology),
  ]);
  requiredTopicsOf.set(topology, required);
  return required;
}

/** Asked for every group whenever any topic changes; a topology never does. */
const requiredTopicsOf = new WeakMap<Topology, readonly string[]>();

/**
 * Refuses a topology that contradicts itself, before anything is stored, with STREAMS_INVALID_TOPOLOGY.
 *
 * With `validateWholeTopology` every rule is checked, in their order (V-9 follows from V-8: what can be derived comes
 * from a topic that exists). Otherwise only what Kafka 4.4.0 notices up front (V-1), and what it fails over or decides
 * by the order of lists (V-5, V-10, V-11, V-13); of the rest some shows when the topology is configured.
 *
 * Source: topology-and-admin 3, V-1 to V-13; REQ-11.
 */
export function refuseInvalidTopology(topology: Topology, behaviour: Behaviour): void {
  for (const findFault of behaviour.validateWholeTopology ? FAULTS : FEWEST_FAULTS) {
    const fault = findFault(topology);
    if (fault !== undefined) throw invalid(`Cannot use topology: ${fault}`);
  }
}

/**
 * Whether two topologies say the same thing. With `topologyListOrderIsFree` no list order counts, names are sets
 * and copartition groups are sets of resolved names; otherwise only the subtopologies may come in another order.
 *
 * Source: topology-and-admin E-2; TOP-2.
 */
export function sameTopology(a: Topology, b: Topology, behaviour: Behaviour): boolean {
  if (a === b) return true;
  if (a.epoch !== b.epoch || a.subtopologies.length !== b.subtopologies.length) return false;
  const others = new Map(b.subtopologies.map((one) => [one.subtopologyId, one]));
  return a.subtopologies.every((one) => {
    const other = others.get(one.subtopologyId);
    if (other === undefined) return false;
    // Members of one application send the same bytes, nearly always: the costly form is for the rest.
    if (JSON.stringify(asSent(one)) === JSON.stringify(asSent(other))) return true;
    return behaviour.topologyListOrderIsFree && canonical(one) === canonical(other);
  });
}

/** The names a copartition group means. An index outside its list means nothing, nor does an unresolved pattern. */
export function copartitionedTopics(
  subtopology: Subtopology,
  group: CopartitionGroup,
): readonly string[] {
  const sources = group.sourceTopics.map((index) => subtopology.sourceTopics[index]);
  const repartitions = group.repartitionSourceTopics.map(
    (index) => subtopology.repartitionSourceTopics[index]?.name,
  );
  return sortedOnce([...sources, ...repartitions].filter((name) => name !== undefined));
}

/** In the order in which they are judged; each says what is wrong, or nothing. */
const FAULTS: readonly ((topology: Topology) => string | undefined)[] = [
  sizedChangelog,
  // V-2
  (topology) => overlap(topology, 'a repartition source', repartitions, 'a source', sources),
  // V-3; and V-4 against repartition sources, which is the same fact
  (topology) => overlap(topology, 'a repartition source', repartitions, 'a changelog', changelogs),
  // V-4; a source may double as a changelog, as real clients have it
  (topology) => overlap(topology, 'a changelog', changelogs, 'a repartition sink', sinks),
  // V-5
  (topology) => indexOutside(topology, ALL_INDEXES),
  unwrittenRepartition,
  // V-7
  (topology) => firstOf(topology.subtopologies, withoutInput),
  underivableRepartition,
  // V-10
  (topology) => emptyId(topology) ?? repeatedId(topology),
  negativeEpoch,
  negativeNumber,
  // V-13
  (topology) => clashOfSizes(repartitionInfos(topology)),
];

/** Those that are found whatever the profile. */
const FEWEST_FAULTS: typeof FAULTS = [
  sizedChangelog,
  // V-5, but for the indexes of patterns
  (topology) => indexOutside(topology, TOPIC_INDEXES),
  repeatedId,
  negativeEpoch,
  // V-13, but for a reader that leaves the size to others
  (topology) => clashOfSizes(repartitionInfos(topology).filter(({ partitions }) => partitions > 0)),
];

/** V-1 */
function sizedChangelog(topology: Topology): string | undefined {
  return firstOf(changelogInfos(topology), (topic) =>
    topic.partitions === 0
      ? undefined
      : `changelog topic "${topic.name}" brings a partition count of ${topic.partitions}, wanted 0`,
  );
}

function overlap(
  topology: Topology,
  oneRole: string,
  ones: (topology: Topology) => readonly string[],
  otherRole: string,
  others: (topology: Topology) => readonly string[],
): string | undefined {
  const taken = new Set(others(topology));
  const both = sortedOnce(ones(topology).filter((name) => taken.has(name)));
  if (both.length === 0) return undefined;
  return `a topic cannot be ${oneRole} and ${otherRole}: ${firstFew(both)}`;
}

const TOPIC_INDEXES = [
  { words: 'source topics', list: 'sourceTopics' },
  { words: 'repartition source topics', list: 'repartitionSourceTopics' },
] as const;

const ALL_INDEXES = [
  ...TOPIC_INDEXES,
  { words: 'source topic patterns', list: 'sourceTopicRegex' },
] as const;

function indexOutside(
  topology: Topology,
  indexes: readonly (typeof ALL_INDEXES)[number][],
): string | undefined {
  return firstOf(topology.subtopologies, (subtopology) => {
    for (const group of subtopology.copartitionGroups) {
      for (const { words, list } of indexes) {
        const length = subtopology[list].length;
        const index = group[list].find((one) => one < 0 || one >= length);
        if (index !== undefined) {
          return (
            `a copartition group of subtopology "${subtopology.subtopologyId}" points at ${index} ` +
            `in its ${words}, of which there are ${length}`
          );
        }
      }
    }
    return undefined;
  });
}

/** V-6 */
function unwrittenRepartition(topology: Topology): string | undefined {
  const written = new Set(sinks(topology));
  const unwritten = sortedOnce(repartitions(topology).filter((name) => !written.has(name)));
  if (unwritten.length === 0) return undefined;
  return `no subtopology writes these repartition topics: ${firstFew(unwritten)}`;
}

/** V-7 */
function withoutInput(subtopology: Subtopology): string | undefined {
  const inputs =
    subtopology.sourceTopics.length +
    subtopology.sourceTopicRegex.length +
    subtopology.repartitionSourceTopics.length;
  return inputs === 0 ? `subtopology "${subtopology.subtopologyId}" reads nothing` : undefined;
}

/** V-8: follows what is known from what is read to what is written. */
function underivableRepartition(topology: Topology): string | undefined {
  const known = new Set<string>();
  for (const { name, partitions } of repartitionInfos(topology)) {
    if (partitions > 0) known.add(name);
  }
  const readers = readersOf(topology.subtopologies);
  const fed = topology.subtopologies.filter(
    (one) => one.sourceTopics.length + one.sourceTopicRegex.length > 0,
  );
  for (const name of known) fed.push(...(readers.get(name) ?? []));
  const followed = new Set<Subtopology>();
  for (let one = fed.pop(); one !== undefined; one = fed.pop()) {
    if (followed.has(one)) continue;
    followed.add(one);
    for (const name of one.repartitionSinkTopics) {
      if (known.has(name)) continue;
      known.add(name);
      fed.push(...(readers.get(name) ?? []));
    }
  }
  const underivable = sortedOnce(repartitions(topology).filter((name) => !known.has(name)));
  if (underivable.length === 0) return undefined;
  return `nothing says how many partitions these repartition topics have: ${firstFew(underivable)}`;
}

/** Who reads each repartition topic, each reader once. */
export function readersOf(
  subtopologies: readonly Subtopology[],
): ReadonlyMap<string, readonly Subtopology[]> {
  const readers = new Map<string, Subtopology[]>();
  for (const one of subtopologies) {
    for (const { name } of one.repartitionSourceTopics) {
      const known = readers.get(name);
      if (known === undefined) readers.set(name, [one]);
      else if (known.at(-1) !== one) known.push(one);
    }
  }
  return readers;
}

/** V-10 */
function emptyId(topology: Topology): string | undefined {
  return topology.subtopologies.some((one) => one.subtopologyId === '')
    ? 'a subtopology has an empty id'
    : undefined;
}

/** V-10 */
function repeatedId(topology: Topology): string | undefined {
  const seen = new Set<string>();
  return firstOf(topology.subtopologies, ({ subtopologyId }) => {
    if (seen.has(subtopologyId)) return `two subtopologies have the id "${subtopologyId}"`;
    seen.add(subtopologyId);
    return undefined;
  });
}

/** V-11 */
function negativeEpoch({ epoch }: Topology): string | undefined {
  return epoch < 0 ? `its epoch is ${epoch}, wanted 0 or more` : undefined;
}

/** V-12. Clients that leave the replication to the broker send -1 for it as well as 0: released ones do. */
function negativeNumber(topology: Topology): string | undefined {
  return firstOf([...changelogInfos(topology), ...repartitionInfos(topology)], (topic) =>
    topic.partitions >= 0 && topic.replicationFactor >= -1
      ? undefined
      : `topic "${topic.name}" wants ${topic.partitions} partitions and ` +
        `${topic.replicationFactor} replicas, wanted 0 or more, or -1 replicas for the default`,
  );
}

function clashOfSizes(repartitionTopics: readonly TopicInfo[]): string | undefined {
  const sizes = new Map<string, number>();
  return firstOf(repartitionTopics, ({ name, partitions }) => {
    const other = sizes.get(name) ?? partitions;
    sizes.set(name, other);
    return other === partitions
      ? undefined
      : `repartition topic "${name}" is read with ${other} partitions and with ${partitions}`;
  });
}

function sources(topology: Topology): readonly string[] {
  return topology.subtopologies.flatMap((one) => one.sourceTopics);
}

function sinks(topology: Topology): readonly string[] {
  return topology.subtopologies.flatMap((one) => one.repartitionSinkTopics);
}

function repartitionInfos(topology: Topology): readonly TopicInfo[] {
  return topology.subtopologies.flatMap((one) => one.repartitionSourceTopics);
}

function repartitions(topology: Topology): readonly string[] {
  return repartitionInfos(topology).map((topic) => topic.name);
}

function changelogInfos(topology: Topology): readonly TopicInfo[] {
  return topology.subtopologies.flatMap((one) => one.stateChangelogTopics);
}

function changelogs(topology: Topology): readonly string[] {
  return changelogInfos(topology).map((topic) => topic.name);
}

function isLegalTopicName(name: string): boolean {
  return name.length <= TOPIC_NAME_MAX && name !== '.' && name !== '..' && TOPIC_NAME.test(name);
}

function invalid(text: string): Refusal {
  return new Refusal('STREAMS_INVALID_TOPOLOGY', text);
}

/** What a subtopology says, each list in the order it came in. */
function asSent(one: Subtopology): unknown {
  return [
    one.sourceTopics,
    one.sourceTopicRegex,
    one.stateChangelogTopics.map(infoAsSent),
    one.repartitionSinkTopics,
    one.repartitionSourceTopics.map(infoAsSent),
    one.copartitionGroups.map((group) => [
      group.sourceTopics,
      group.sourceTopicRegex,
      group.repartitionSourceTopics,
    ]),
  ];
}

function infoAsSent(topic: TopicInfo): unknown {
  const configs = topic.topicConfigs.map(({ key, value }) => [key, value]);
  return [topic.name, topic.partitions, topic.replicationFactor, configs];
}

/** One text for all orders in which a subtopology can be written down. */
function canonical(one: Subtopology): string {
  const regexes = (group: CopartitionGroup) =>
    group.sourceTopicRegex.map((index) => one.sourceTopicRegex[index] ?? '');
  return JSON.stringify([
    sortedOnce(one.sourceTopics),
    sortedOnce(one.sourceTopicRegex),
    canonicalInfos(one.stateChangelogTopics),
    sortedOnce(one.repartitionSinkTopics),
    canonicalInfos(one.repartitionSourceTopics),
    sortedOnce(
      one.copartitionGroups.map((group) =>
        JSON.stringify([copartitionedTopics(one, group), sortedOnce(regexes(group))]),
      ),
    ),
  ]);
}

function canonicalInfos(topics: readonly TopicInfo[]): readonly string[] {
  return sortedOnce(
    topics.map(({ topicConfigs, ...topic }) => {
      const configs = topicConfigs.toSorted((a, b) => byCodeUnits(a.key, b.key));
      return JSON.stringify(infoAsSent({ ...topic, topicConfigs: configs }));
    }),
  );
}

function sortedOnce(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort(byCodeUnits);
}

function firstOf<T>(items: readonly T[], say: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const said = say(item);
    if (said !== undefined) return said;
  }
  return undefined;
}
