import type { EndpointToPartitions, TopicPartitions } from '../commands.ts';
import type { Group } from '../model/group.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { Endpoint, Member } from '../model/member.ts';
import type { Behaviour } from '../model/profile.ts';
import { Refusal } from '../model/refusal.ts';
import type { GroupSoft } from '../model/soft.ts';
import type { TaskList } from '../model/tasks.ts';
import type { TopicsView } from '../model/topics.ts';
import type { ConfiguredTopology } from '../model/topology.ts';

/**
 * Where an application's instances answer interactive queries, and for which partitions: of every member with an
 * endpoint the partitions its assigned tasks read. Standby and warm-up tasks are both standby partitions; tasks
 * pending revocation are not listed (I-8). A topic the cluster does not know is skipped (I-11).
 *
 * With `mergeEndpoints` there is one entry per endpoint, ascending by host and port, otherwise one per member,
 * ascending by member id. While the topology has no subtopologies to show (status 1 or 2), entries are empty with
 * `endpointsWithoutTopology`; otherwise UNKNOWN_SERVER_ERROR is refused as soon as there is an entry to fill.
 *
 * @param input.group the group after the heartbeat at hand, without a static member that is being replaced.
 * @returns the same array as long as members, topology and topics are the same: a group that asks all at once is
 *   served from one piece of work.
 *
 * Source: topology-and-admin I-6 to I-11; IQ-2.
 */
export function endpointMap(input: {
  readonly group: Group;
  readonly soft: GroupSoft;
  readonly topics: TopicsView;
  readonly behaviour: Behaviour;
}): readonly EndpointToPartitions[] {
  const { group, soft, topics, behaviour } = input;
  const known = lastMaps.get(group.members);
  if (
    known !== undefined &&
    known.configured === soft.configured &&
    known.topics === topics &&
    known.behaviour === behaviour
  ) {
    return known.map;
  }
  const map = computeMap(group, soft.configured, topics, behaviour);
  lastMaps.set(group.members, { configured: soft.configured, topics, behaviour, map });
  return map;
}

/** The map made last for a state of a group's members (I-10). Every key is a value that never changes. */
const lastMaps = new WeakMap<
  Group['members'],
  {
    readonly configured: ConfiguredTopology | undefined;
    readonly topics: TopicsView;
    readonly behaviour: Behaviour;
    readonly map: readonly EndpointToPartitions[];
  }
>();

/** Members that share an entry of the map. */
type Entry = { readonly userEndpoint: Endpoint; readonly members: Member[] };

function computeMap(
  group: Group,
  configured: ConfiguredTopology | undefined,
  topics: TopicsView,
  behaviour: Behaviour,
): readonly EndpointToPartitions[] {
  const members = [...group.members.values()].sort((a, b) => byCodeUnits(a.memberId, b.memberId));
  const entries = behaviour.mergeEndpoints ? byEndpoint(members) : byMember(members);
  const unknown = configured === undefined || isWithoutSubtopologies(configured);
  if (entries.length > 0 && unknown && !behaviour.endpointsWithoutTopology) {
    throw new Refusal('UNKNOWN_SERVER_ERROR', null);
  }
  const inputs = inputsBySubtopology(configured, topics);
  return entries.map(({ userEndpoint, members: sharing }) => ({
    userEndpoint,
    activePartitions: partitionsOf(
      sharing.map((member) => member.assigned.active),
      inputs,
    ),
    standbyPartitions: partitionsOf(
      sharing.flatMap((member) => [member.assigned.standby, member.assigned.warmup]),
      inputs,
    ),
  }));
}

function isWithoutSubtopologies({ problem }: ConfiguredTopology): boolean {
  return problem !== undefined && problem.status !== 'MISSING_INTERNAL_TOPICS';
}

function byMember(members: readonly Member[]): readonly Entry[] {
  return members.flatMap((member) =>
    member.userEndpoint === null ? [] : [{ userEndpoint: member.userEndpoint, members: [member] }],
  );
}

function byEndpoint(members: readonly Member[]): readonly Entry[] {
  const entries = new Map<string, Entry>();
  for (const entry of byMember(members)) {
    const key = `${entry.userEndpoint.port} ${entry.userEndpoint.host}`;
    const known = entries.get(key);
    if (known === undefined) entries.set(key, entry);
    else known.members.push(...entry.members);
  }
  return [...entries.values()].sort(
    ({ userEndpoint: a }, { userEndpoint: b }) => byCodeUnits(a.host, b.host) || a.port - b.port,
  );
}

/** A topic that tasks read, and how many partitions it really has. */
type Input = { readonly topic: string; readonly partitionCount: number };

function inputsBySubtopology(
  configured: ConfiguredTopology | undefined,
  topics: TopicsView,
): ReadonlyMap<string, readonly Input[]> {
  return new Map(
    (configured?.subtopologies ?? []).map((one) => {
      const names = [
        ...one.sourceTopics,
        ...one.repartitionSourceTopics.map((topic) => topic.name),
      ];
      const inputs = names.flatMap((name): Input[] => {
        const topic = topics.topic(name);
        return topic === undefined ? [] : [{ topic: name, partitionCount: topic.partitionCount }];
      });
      return [one.subtopologyId, inputs] as const;
    }),
  );
}

/** Topics in name order, partitions ascending, each once; a topic without partitions is left out (I-7). */
function partitionsOf(
  taskLists: readonly TaskList[],
  inputs: ReadonlyMap<string, readonly Input[]>,
): readonly TopicPartitions[] {
  const found = new Map<string, Set<number>>();
  for (const { subtopologyId, partitions } of taskLists.flat()) {
    for (const { topic, partitionCount } of inputs.get(subtopologyId) ?? []) {
      const read = partitions.filter((partition) => partition < partitionCount);
      if (read.length === 0) continue;
      const sofar = found.get(topic) ?? new Set();
      for (const partition of read) sofar.add(partition);
      found.set(topic, sofar);
    }
  }
  return [...found]
    .sort(([a], [b]) => byCodeUnits(a, b))
    .map(([topic, partitions]) => ({
      topic,
      partitions: [...partitions].sort((a, b) => a - b),
    }));
}
