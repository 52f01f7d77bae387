import type {
  DescribedAssignment,
  DescribedGroup,
  DescribedMember,
  DescribedSubtopology,
  DescribedTopicInfo,
  DescribedTopology,
  ListedGroup,
} from '../commands.ts';
import type { GroupSlot } from '../decision.ts';
import type { Group } from '../model/group.ts';
import { byCodeUnits } from '../model/ids.ts';
import type { Member } from '../model/member.ts';
import type { Behaviour } from '../model/profile.ts';
import { invariant } from '../model/refusal.ts';
import type { GroupSoft } from '../model/soft.ts';
import { NO_TASKS_BY_ROLE, type TasksByRole } from '../model/tasks.ts';
import type { Subtopology, TopicInfo } from '../model/topology.ts';
import { type AssignorChoice, assignorInUse } from './assignor-in-use.ts';
import { topologyInForce } from './resolve-topology.ts';

/**
 * A group as StreamsGroupDescribe shows it. Topology and subtopologies are never null: an admin client takes null
 * for an error. A ready topology shows the partition counts that were decided, any other is shown as it was sent; topics
 * that patterns match are among the sources.
 *
 * @param slot as of the last commit; must hold a streams group.
 * @param options.settings the group's, which say what assignor the next run would use.
 *
 * Source: topology-and-admin 12.4 to 12.6.
 */
export function describeGroup(
  slot: GroupSlot,
  options: { readonly behaviour: Behaviour; readonly settings: AssignorChoice },
): DescribedGroup {
  const { group, soft } = slot;
  invariant(group !== undefined, '12.2.5: only a streams group is described');
  return {
    error: 'NONE',
    errorMessage: null,
    groupId: group.groupId,
    groupState: group.state,
    groupEpoch: group.groupEpoch,
    assignmentEpoch: group.assignmentEpoch,
    topology: describeTopology(group, soft, options.behaviour),
    members: [...group.members.values()]
      .sort((a, b) => byCodeUnits(a.memberId, b.memberId))
      .map((member) => describeMember(member, group, soft)),
    assignorName: assignorInUse(
      options.settings,
      options.behaviour,
      group.topology?.subtopologies ?? [],
    ),
  };
}

/** The entry for an id that no streams group has; the empty id names nothing, and its error says all (12.2). */
export function describeMissing(groupId: string): DescribedGroup {
  const nameless = groupId === '';
  return {
    error: nameless ? 'INVALID_GROUP_ID' : 'GROUP_ID_NOT_FOUND',
    errorMessage: nameless ? null : `Cannot find streams group "${groupId}"`,
    groupId,
    groupState: '',
    groupEpoch: 0,
    assignmentEpoch: 0,
    topology: null,
    members: [],
    assignorName: null,
  };
}

/**
 * A slot as ListGroups shows it, unfiltered. Offsets without a streams group are a simple group, which Kafka lists
 * as an empty classic one; a slot with neither is no group.
 *
 * Source: topology-and-admin 13.
 */
export function listGroup(slot: GroupSlot): ListedGroup | undefined {
  const { groupId, group, offsets } = slot;
  if (group !== undefined) {
    return { groupId, protocolType: 'streams', groupState: group.state, groupType: 'streams' };
  }
  if (offsets.size === 0) return undefined;
  return { groupId, protocolType: '', groupState: 'Empty', groupType: 'classic' };
}

/**
 * Whether a listed group passes both filters; an empty filter lets everything pass, an unknown word nothing. Letter
 * case and blanks around a word do not count. NotReady is asked for as `not_ready`, and with `bothStateSpellings`
 * also as it is printed.
 *
 * Source: topology-and-admin 13.1; GS-3.
 */
export function matchesFilter(
  listed: ListedGroup,
  filter: { readonly states: readonly string[]; readonly types: readonly string[] },
  behaviour: Behaviour,
): boolean {
  const printed = listed.groupState.toLowerCase();
  const states = printed === 'notready' ? ['not_ready'] : [printed];
  if (behaviour.bothStateSpellings) states.push(printed);
  return isAmong(states, filter.states) && isAmong([listed.groupType.toLowerCase()], filter.types);
}

function isAmong(spellings: readonly string[], wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true;
  return wanted.some((word) => spellings.includes(word.trim().toLowerCase()));
}

function describeTopology(group: Group, soft: GroupSoft, behaviour: Behaviour): DescribedTopology {
  const topology = topologyInForce(group, soft);
  const { configured } = soft;
  if (topology === undefined) return { epoch: 0, subtopologies: [] };
  const isReady =
    configured !== undefined &&
    configured.problem === undefined &&
    configured.topologyEpoch === topology.epoch;
  const decided = new Map(
    (isReady ? configured.subtopologies : []).map((one) => [
      one.subtopologyId,
      new Map(
        [...one.stateChangelogTopics, ...one.repartitionSourceTopics].map((topic) => [
          topic.name,
          topic.partitions,
        ]),
      ),
    ]),
  );
  return {
    epoch: topology.epoch,
    subtopologies: topology.subtopologies
      .map((one) => describeSubtopology(one, decided.get(one.subtopologyId), behaviour))
      .sort((a, b) => byCodeUnits(a.subtopologyId, b.subtopologyId)),
  };
}

function describeSubtopology(
  subtopology: Subtopology,
  decided: ReadonlyMap<string, number> | undefined,
  behaviour: Behaviour,
): DescribedSubtopology {
  // Where lists are sets, a topic named twice is one topic.
  const sorted = (names: readonly string[]) =>
    (behaviour.topologyListOrderIsFree ? [...new Set(names)] : names).toSorted(byCodeUnits);
  const infos = (topics: readonly TopicInfo[]): readonly DescribedTopicInfo[] =>
    topics
      .map((topic) => ({ ...topic, partitions: decided?.get(topic.name) ?? topic.partitions }))
      .sort((a, b) => byCodeUnits(a.name, b.name));
  return {
    subtopologyId: subtopology.subtopologyId,
    sourceTopics: sorted(subtopology.sourceTopics),
    repartitionSinkTopics: sorted(subtopology.repartitionSinkTopics),
    stateChangelogTopics: infos(subtopology.stateChangelogTopics),
    repartitionSourceTopics: infos(subtopology.repartitionSourceTopics),
  };
}

function describeMember(member: Member, group: Group, soft: GroupSoft): DescribedMember {
  const reported = soft.members.get(member.memberId);
  const target = group.targets.get(member.memberId) ?? NO_TASKS_BY_ROLE;
  return {
    memberId: member.memberId,
    memberEpoch: member.memberEpoch,
    instanceId: member.instanceId,
    rackId: member.rackId,
    clientId: member.clientId,
    clientHost: member.clientHost,
    topologyEpoch: member.topologyEpoch,
    processId: member.processId,
    userEndpoint: member.userEndpoint,
    clientTags: member.clientTags,
    taskOffsets: reported?.taskOffsets ?? [],
    taskEndOffsets: reported?.taskEndOffsets ?? [],
    assignment: describeAssignment(member.assigned),
    targetAssignment: describeAssignment(target),
    isClassic: false,
  };
}

/** Tasks alone: since when they are held is not shown. */
function describeAssignment(tasks: TasksByRole): DescribedAssignment {
  return {
    activeTasks: tasks.active.map(({ subtopologyId, partitions }) => ({
      subtopologyId,
      partitions,
    })),
    standbyTasks: tasks.standby,
    warmupTasks: tasks.warmup,
  };
}
