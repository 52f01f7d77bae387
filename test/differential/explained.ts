import type { Fields, Step } from './history.ts';
import type { Picture } from './picture.ts';

/** What two answers to the same step differ in. */
export type Difference = {
  readonly path: string;
  readonly expected: unknown;
  readonly got: unknown;
};

type Reason = {
  readonly name: string;
  /** What Apache Kafka 4.4.0 does, and why it is not followed. */
  readonly reason: string;
};

/** A way in which an answer of ours may differ. */
export type Explanation = Reason & {
  accountsFor(step: Step, difference: Difference): boolean;
};

/** An answer, given by both alike, after which the two may not be compared any more. */
export type Ending = Reason & {
  /** @param before what the clients knew when they asked. */
  ends(step: Step, answer: Fields, before: Picture): boolean;
};

/** Every difference that is left as it is; anything else counts as a fault of ours. */
export const EXPLANATIONS: readonly Explanation[] = [
  {
    name: 'described topology is late',
    reason:
      'Kafka shows a topology as it was configured, with the counts that were decided and each name once, only after a ' +
      'later write to the same shard; here the counts are shown as soon as it is ready, and names as they were sent',
    accountsFor: ({ do: kind }, { path, expected, got }) =>
      kind === 'describe' &&
      (INTERNAL_COUNT.test(path) || (NAME_LIST.test(path) && sameNames(expected, got))),
  },
];

const UNKNOWN_SERVER_ERROR = -1;
/** Topologies of a history's head that are refused before anything changes. */
const UNREADABLE = new Set<unknown>(['twice', 'negative', 'outside']);
const FENCED_INSTANCE_ID = 82;
const UNRELEASED_INSTANCE_ID = 111;

/** Refusals that change Kafka's memory although they say no. What follows from that is nobody's promise. */
export const ENDINGS: readonly Ending[] = [
  {
    name: 'failed inside',
    reason:
      'a heartbeat that Kafka fails to answer (-1) because the endpoint map cannot be made leaves endpoint epoch, offsets ' +
      'and shutdown as half changed; here it changes nothing',
    ends: (step, { errorCode, members }) =>
      step.do === 'settle'
        ? Object.values((members ?? {}) as Fields).some(failedInside)
        : isHeartbeat(step) &&
          errorCode === UNKNOWN_SERVER_ERROR &&
          !UNREADABLE.has(((step['send'] ?? {}) as Fields)['topology']),
  },
  {
    name: 'refused under a foreign instance id',
    reason:
      'Kafka moves the holder of the instance id out of its intermediate assignment before it refuses the heartbeat of ' +
      'another member under that id: the holder then gives up its tasks, or the group bumps; here a refusal changes nothing',
    ends: (step, { errorCode }, before) =>
      isHeartbeat(step) &&
      step.do !== 'leave' &&
      (errorCode === FENCED_INSTANCE_ID ||
        (errorCode === UNRELEASED_INSTANCE_ID && !isOwnInstance(step, before))),
  },
];

/** What is never asked, because the very answer to it depends on what Kafka forgot to forget. */
export const NOT_ASKED: readonly Reason[] = [
  {
    name: 'a second place',
    reason:
      'a member that has a place and joins under the instance id of another on a break gets the tasks of the other, but for that ' +
      'one answer Kafka goes on to count its own as held by somebody else',
  },
  {
    name: 'a second life within one assignment',
    reason:
      'a member that leaves and joins again while the next assignment is delayed by its interval gets its old tasks at once ' +
      'from Kafka, which keeps the intermediate assignment of the epoch in memory; here it has none until it is given some',
  },
];

/** The explanation of a difference, if there is one. */
export function explain(step: Step, difference: Difference): Explanation | undefined {
  return EXPLANATIONS.find((each) => each.accountsFor(step, difference));
}

/** Why a history ends with this answer, if it does. */
export function findEnding(step: Step, answer: unknown, before: Picture): Ending | undefined {
  return ENDINGS.find((each) => each.ends(step, (answer ?? {}) as Fields, before));
}

function failedInside(member: unknown): boolean {
  return (member as Fields)['errorCode'] === UNKNOWN_SERVER_ERROR;
}

/** Whether a member joins again under the instance id that it has. */
function isOwnInstance({ as: alias, send }: Step, before: Picture): boolean {
  const { memberId, instanceId } = (send ?? {}) as Fields;
  const isAsItself = memberId === undefined && instanceId === undefined;
  return isAsItself && before.joined.some((member) => member.alias === alias);
}

function isHeartbeat({ do: kind }: Step): boolean {
  return kind === 'join' || kind === 'beat' || kind === 'ack' || kind === 'leave';
}

const INTERNAL_COUNT = /\.(stateChangelogTopics|repartitionSourceTopics)\[\d+\]\.partitions$/;
const NAME_LIST = /\.(sourceTopics|repartitionSinkTopics)$/;

function sameNames(some: unknown, others: unknown): boolean {
  if (!Array.isArray(some) || !Array.isArray(others)) return false;
  const [left, right] = [new Set(some), new Set(others)];
  return left.size === right.size && [...left].every((name) => right.has(name));
}
