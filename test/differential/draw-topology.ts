import type { Chance } from './chance.ts';
import type { Fields } from './history.ts';

type TopicInfo = {
  readonly name: string;
  readonly partitions?: number;
  readonly replicationFactor?: number;
  readonly topicConfigs?: readonly { readonly key: string; readonly value: string }[];
};
type DrawnSubtopology = {
  readonly subtopologyId: string;
  readonly sourceTopics: readonly string[];
  readonly sourceTopicRegex?: readonly string[];
  readonly repartitionSinkTopics: readonly string[];
  readonly repartitionSourceTopics: readonly TopicInfo[];
  readonly stateChangelogTopics: readonly TopicInfo[];
  readonly copartitionGroups: readonly {
    readonly sourceTopics: readonly number[];
    readonly repartitionSourceTopics: readonly number[];
  }[];
};
export type DrawnTopology = {
  readonly epoch: number;
  readonly subtopologies: readonly DrawnSubtopology[];
};

/** Topics that applications read; `late` is not there when a history begins. */
export const SOURCE_TOPICS = ['in1', 'in2', 'late'] as const;

/**
 * A topology as an application would have it, more or less: one to three subtopologies that read plain topics or what
 * an earlier one writes, some with state, some with joined inputs. Most are sound; some can be sized in no way.
 */
export function drawTopology(chance: Chance): DrawnTopology {
  const count = chance.pick([1, 1, 2, 2, 3]);
  const links = drawLinks(chance, count);
  const subtopologies = Array.from({ length: count }, (_, at): DrawnSubtopology => {
    const read = links.filter(({ to }) => to === at).map(({ topic }) => topic);
    const own = chance.percent(read.length > 0 ? 25 : 100);
    const sourceTopics = own ? drawSources(chance) : [];
    return {
      subtopologyId: String(at),
      sourceTopics,
      repartitionSinkTopics: links.filter(({ from }) => from === at).map(({ topic }) => topic.name),
      repartitionSourceTopics: read,
      stateChangelogTopics: drawChangelogs(chance, at, sourceTopics),
      copartitionGroups: drawCopartition(chance, sourceTopics, read),
    };
  });
  return { epoch: chance.pick([0, 0, 0, 3]), subtopologies };
}

type Link = { readonly from: number; readonly to: number; readonly topic: TopicInfo };

/** Repartition topics between subtopologies, from an earlier to a later one or to itself; each has one writer, see NOT_ASKED. */
function drawLinks(chance: Chance, count: number): readonly Link[] {
  const links: Link[] = [];
  for (let to = 1; to < count; to++) {
    if (!chance.percent(55)) continue;
    const topic = { name: `{r${to}}`, ...drawSize(chance) };
    const from = chance.between(0, to - 1);
    links.push({ from, to, topic });
    if (chance.percent(10)) links.push({ from: to, to, topic: { name: `{loop${to}}` } });
    // The writer reads it too; from an earlier one that would be a ring.
    if (chance.percent(10)) links.push({ from, to: from, topic });
  }
  return links;
}

function drawSize(chance: Chance): Partial<TopicInfo> {
  return chance.percent(30) ? { partitions: chance.between(1, 5) } : {};
}

function drawSources(chance: Chance): readonly string[] {
  const topics = chance.some(SOURCE_TOPICS, 40).map((name) => `{${name}}`);
  const known = topics.length === 0 ? ['{in1}'] : topics;
  // A missing source stops everything: seldom is interesting enough.
  const there = known.filter((name) => name !== '{late}' || chance.percent(20));
  return there.length === 0 ? ['{in1}'] : there;
}

function drawChangelogs(
  chance: Chance,
  at: number,
  sources: readonly string[],
): readonly TopicInfo[] {
  if (!chance.percent(55)) return [];
  const own = chance.some([`{store${at}a}`, `{store${at}b}`], 60).map((name): TopicInfo => {
    const configs = [{ key: 'cleanup.policy', value: 'compact' }];
    return chance.percent(30) ? { name, replicationFactor: 1, topicConfigs: configs } : { name };
  });
  const [source] = sources;
  const isShared = at === 0 && source !== undefined && chance.percent(20);
  return isShared ? [...own, { name: source }] : own;
}

function drawCopartition(
  chance: Chance,
  sources: readonly string[],
  repartitions: readonly TopicInfo[],
): DrawnSubtopology['copartitionGroups'] {
  if (sources.length + repartitions.length < 2 || !chance.percent(50)) return [];
  return [
    {
      sourceTopics: sources.map((_, at) => at),
      repartitionSourceTopics: repartitions.map((_, at) => at),
    },
  ];
}

/** Topologies that differ from the group's in one way: what a join with them is answered depends on the way. */
export function drawVariants(
  chance: Chance,
  main: DrawnTopology,
): Readonly<Record<string, DrawnTopology>> {
  const [first, ...others] = main.subtopologies;
  if (first === undefined) throw new Error('A drawn topology has a subtopology');
  const withFirst = (change: Partial<DrawnSubtopology> & Fields): DrawnTopology => ({
    ...main,
    subtopologies: [{ ...first, ...change }, ...others],
  });
  return {
    reordered: { ...main, subtopologies: [...main.subtopologies].reverse() },
    shuffled: withFirst({ sourceTopics: [...first.sourceTopics].reverse() }),
    newer: { ...drawTopology(chance), epoch: main.epoch + chance.pick([1, 1, 2]) },
    older: { ...drawTopology(chance), epoch: Math.max(0, main.epoch - 1) },
    other: { ...drawTopology(chance), epoch: main.epoch },
    nothing: { ...main, subtopologies: [] },
    twice: { ...main, subtopologies: [first, ...main.subtopologies] },
    sized: withFirst({ stateChangelogTopics: [{ name: '{store0a}', partitions: 2 }] }),
    pattern: withFirst({ sourceTopicRegex: ['.*'] }),
    outside: withFirst({ copartitionGroups: [{ sourceTopics: [7], repartitionSourceTopics: [] }] }),
    negative: { ...main, epoch: -1 },
    unwritten: withFirst({ repartitionSourceTopics: [{ name: '{unwritten}' }] }),
    illegal: withFirst({ sourceTopics: ['no such/topic'] }),
    internal: withFirst({ sourceTopics: ['__consumer_offsets'] }),
    sourceless: withFirst({ sourceTopics: [], repartitionSourceTopics: [], copartitionGroups: [] }),
  };
}
