import type { EndpointToPartitions, TopicPartitions } from '../commands.ts';
import type { Group } from '../model/group.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { Endpoint, Member } from '../model/member.ts';
import type { Behaviour } from '../model/profile.ts';
import { invariant } from '../model/refusal.ts';
import type { GroupSoft } from '../model/soft.ts';
import type { TaskList } from '../model/tasks.ts';
import type { TopicsView } from '../model/topics.ts';
import type { ConfiguredTopology } from '../model/topology.ts';

/**
 * Where an application's instances answer interactive queries, and for which partitions: of every member with an
 * endpoint the partitions its assigned tasks read. Standby and warm-up tasks are both standby partitions; tasks
 * pending revocation are not listed (I-8). A topic the cluster does not know is skipped (I-11).
 *
 * With `mergeEndpoints` there is one entry per endpoint, ascending by host and port, with each topic once; otherwise one
 * per member, ascending by member id, with a topic as often as subtopologies read it. While the topology has no
 * subtopologies to show (status 1 or 2), entries are empty (I-9).
 *
 * @param input.group the group after the heartbeat at hand, without a static member that is being replaced.
 * @returns the same array as long as members, topology and topics are the same: a group that asks all at once is
 *   served from one piece of work. What an entry lists stays the same value until one of its members changes.
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
  if (group.endpointCount === 0) return NO_ENDPOINTS;
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

const NO_ENDPOINTS: readonly EndpointToPartitions[] = [];

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

/** Members that share an entry of the map; at least one. */
type Entry = { readonly userEndpoint: Endpoint; readonly members: Member[] };

function computeMap(
  group: Group,
  configured: ConfiguredTopology | undefined,
  topics: TopicsView,
  behaviour: Behaviour,
): readonly EndpointToPartitions[] {
  const members = [...group.members.values()];
  const entries = behaviour.mergeEndpoints ? byEndpoint(members) : byMember(members);
  const inputs = configured === undefined ? NO_INPUTS : inputsOf(configured, topics);
  return entries.map(({ userEndpoint, members: sharing }) => ({
    userEndpoint,
    ...served(sharing, inputs, behaviour),
  }));
}

/** What an entry serves. */
type Served = Pick<EndpointToPartitions, 'activePartitions' | 'standbyPartitions'>;

/**
 * Under the first member of an entry: made anew when a member of the entry changes, so that a beat of a group that
 * rebalances costs no work for the tasks of all the others (I-10).
 */
const lastServed = new WeakMap<
  Member,
  {
    readonly sharing: readonly Member[];
    readonly inputs: Inputs;
    readonly behaviour: Behaviour;
    readonly served: Served;
  }
>();

function served(sharing: readonly Member[], inputs: Inputs, behaviour: Behaviour): Served {
  const [first] = sharing;
  invariant(first !== undefined, 'I-6: an entry has a member');
  const known = lastServed.get(first);
  if (
    known !== undefined &&
    known.inputs === inputs &&
    known.behaviour === behaviour &&
    sameElements(known.sharing, sharing)
  ) {
    return known.served;
  }
  const inOneList = (lists: readonly TaskList[]) => {
    const read = partitionsRead(lists.flat(), inputs);
    return behaviour.mergeEndpoints ? mergeTopics(read) : read;
  };
  const made: Served = {
    activePartitions: inOneList(sharing.map((member) => member.assigned.active)),
    standbyPartitions: inOneList(
      sharing.flatMap((member) => [member.assigned.standby, member.assigned.warmup]),
    ),
  };
  lastServed.set(first, { sharing, inputs, behaviour, served: made });
  return made;
}

function sameElements<T>(some: readonly T[], others: readonly T[]): boolean {
  return some.length === others.length && some.every((one, at) => one === others[at]);
}

function byMember(members: readonly Member[]): readonly Entry[] {
  return [...members]
    .sort((a, b) => byCodeUnits(a.memberId, b.memberId))
    .flatMap((member) =>
      member.userEndpoint === null
        ? []
        : [{ userEndpoint: member.userEndpoint, members: [member] }],
    );
}

function byEndpoint(members: readonly Member[]): readonly Entry[] {
  const entries = new Map<string, Entry>();
  for (const member of members) {
    const { userEndpoint } = member;
    if (userEndpoint === null) continue;
    const key = `${userEndpoint.port} ${userEndpoint.host}`;
    const known = entries.get(key);
    if (known === undefined) entries.set(key, { userEndpoint, members: [member] });
    else known.members.push(member);
  }
  return [...entries.values()].sort(
    ({ userEndpoint: a }, { userEndpoint: b }) => byCodeUnits(a.host, b.host) || a.port - b.port,
  );
}

/** A topic that tasks read, and how many partitions it really has. */
type Input = { readonly topic: string; readonly partitionCount: number };

/** By subtopology. */
type Inputs = ReadonlyMap<string, readonly Input[]>;

const NO_INPUTS: Inputs = new Map();
const lastInputs = new WeakMap<
  ConfiguredTopology,
  { readonly topics: TopicsView; readonly inputs: Inputs }
>();

/** The same value as before when other topics than the topology's have changed. */
function inputsOf(configured: ConfiguredTopology, topics: TopicsView): Inputs {
  const known = lastInputs.get(configured);
  if (known?.topics === topics) return known.inputs;
  const made = findInputs(configured, topics);
  const inputs = known !== undefined && sameInputs(known.inputs, made) ? known.inputs : made;
  lastInputs.set(configured, { topics, inputs });
  return inputs;
}

function findInputs(configured: ConfiguredTopology, topics: TopicsView): Inputs {
  return new Map(
    configured.subtopologies.map((one) => {
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

/** Both of the same topology. */
function sameInputs(some: Inputs, others: Inputs): boolean {
  return [...some].every(([subtopologyId, inputs]) => {
    const other = others.get(subtopologyId) ?? [];
    return (
      inputs.length === other.length &&
      inputs.every(
        ({ topic, partitionCount }, at) =>
          topic === other[at]?.topic && partitionCount === other[at]?.partitionCount,
      )
    );
  });
}

/** Of each subtopology's tasks the partitions of each topic that they read; a topic without partitions is left out (I-7). */
function partitionsRead(tasks: TaskList, inputs: Inputs): readonly TopicPartitions[] {
  return tasks.flatMap(({ subtopologyId, partitions }) =>
    (inputs.get(subtopologyId) ?? []).flatMap(({ topic, partitionCount }): TopicPartitions[] => {
      const read = partitions.filter((partition) => partition < partitionCount);
      return read.length === 0 ? [] : [{ topic, partitions: read.sort((a, b) => a - b) }];
    }),
  );
}

/** Topics in name order, each once; partitions ascending, each once. */
function mergeTopics(read: readonly TopicPartitions[]): readonly TopicPartitions[] {
  const found = new Map<string, Set<number>>();
  for (const { topic, partitions } of read) {
    const sofar = found.get(topic) ?? new Set();
    for (const partition of partitions) sofar.add(partition);
    found.set(topic, sofar);
  }
  return [...found]
    .sort(([a], [b]) => byCodeUnits(a, b))
    .map(([topic, partitions]) => ({
      topic,
      partitions: [...partitions].sort((a, b) => a - b),
    }));
}
