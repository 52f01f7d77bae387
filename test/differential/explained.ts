import { type Fields, type Step, TASK_LISTS } from './history.ts';
import type { Picture } from './picture.ts';

/** What two answers to the same step differ in. */
export type Difference = {
  readonly path: string;
  readonly expected: unknown;
  readonly got: unknown;
};

/** A step as both servers answered it. */
export type Exchange = {
  readonly step: Step;
  /** Kafka's answer. */
  readonly real: unknown;
  readonly ours: unknown;
  /** What the clients knew when they asked. */
  readonly before: Picture;
};

type Reason = {
  readonly name: string;
  /** What Apache Kafka 4.4.0 does, and why it is not followed. */
  readonly reason: string;
};

/** A way in which an answer of ours may differ. */
export type Explanation = Reason & {
  /** From here on the two remember different things, so that the history ends. */
  readonly ends?: true;
  accountsFor(difference: Difference, exchange: Exchange): boolean;
};

/** An answer of Kafka's after which the two may not be compared any more. */
export type Ending = Reason & {
  /** Not even ours to the same step is compared. */
  readonly atOnce?: true;
  ends(exchange: Exchange): boolean;
};

/** What becomes of a history after a step. */
export type Verdict = {
  /** Names of the explanations that were needed, once for each difference, and of the ending. */
  readonly notes: readonly string[];
  /** What nothing explains: faults of ours. */
  readonly faults: readonly Difference[];
  readonly isOver: boolean;
};

const UNKNOWN_SERVER_ERROR = -1;
const INVALID_REQUEST = 42;
const FENCED_INSTANCE_ID = 82;
const UNRELEASED_INSTANCE_ID = 111;
const STREAMS_INVALID_TOPOLOGY = 130;
const SHUTDOWN_APPLICATION = 4;

/** Topologies of a history's head that contradict themselves; Kafka fails over them, or compares them first. */
const CONTRADICTORY = new Set<unknown>(['twice', 'negative', 'outside']);

/** Every difference that is left as it is; anything else counts as a fault of ours. */
export const EXPLANATIONS: readonly Explanation[] = [
  {
    name: 'described topology is late',
    reason:
      'Kafka shows a topology as it was configured, with the counts that were decided and each name once, only after a ' +
      'later write to the same shard; here the counts are shown as soon as it is ready, and names as they were sent',
    accountsFor: ({ path, expected, got }, { step }) =>
      step.do === 'describe' &&
      (INTERNAL_COUNT.test(path) || (NAME_LIST.test(path) && sameNames(expected, got))),
  },
  {
    name: 'topology that contradicts itself',
    reason:
      'Kafka fails inside (-1) over one id twice, a negative epoch or an index past its list, or finds another reason to ' +
      'refuse first; here it is refused as invalid (130) before anything else. Neither changes anything',
    accountsFor: ({ path }, { step, real, ours }) =>
      speaksOf(step, CONTRADICTORY) &&
      errorOf(real) !== 0 &&
      errorOf(ours) === STREAMS_INVALID_TOPOLOGY &&
      (path === 'errorCode' || path === 'errorMessage'),
  },
  {
    name: 'task that is gone',
    reason:
      'Kafka refuses a member, for ever, that reports a task it was given and that is gone since its topic came back ' +
      'smaller; here it is heard, and told what is left',
    ends: true,
    accountsFor: (_, { step, real, ours, before }) =>
      before.hasShrunk &&
      (step.do === 'settle'
        ? membersOf(real).some((member) => errorOf(member) === INVALID_REQUEST)
        : errorOf(real) === INVALID_REQUEST &&
          errorOf(ours) === 0 &&
          (step.do === 'ack' || TASK_LISTS.every((list) => list in sentIn(step)))),
  },
  {
    name: 'endpoint epoch of the join that makes a group',
    reason:
      'under an id that holds offsets Kafka tells this join the raised endpoint epoch, and forgets it; here it is told 0, ' +
      'which is what it is from then on, as without offsets',
    ends: true,
    accountsFor: ({ path, got }, { step, before }) =>
      step.do === 'join' &&
      !before.hasGroup &&
      path === 'endpointInformationEpoch' &&
      got === undefined,
  },
];

/** Answers of Kafka's that change its memory although they should not. What follows from that is nobody's promise. */
export const ENDINGS: readonly Ending[] = [
  {
    name: 'failed inside',
    reason:
      'a heartbeat that Kafka fails to answer (-1) because the endpoint map cannot be made leaves endpoint epoch, offsets ' +
      'and shutdown as half changed; here it is answered',
    atOnce: true,
    ends: ({ step, real }) => failedInside(step, real) && !speaksOf(step, CONTRADICTORY),
  },
  {
    name: 'refused under a foreign instance id',
    reason:
      'Kafka moves the holder of the instance id out of its intermediate assignment before it refuses the heartbeat of ' +
      'another member under that id: the holder then gives up its tasks, or the group bumps; here a refusal changes nothing',
    ends: ({ step, real, before }) =>
      isHeartbeat(step) &&
      step.do !== 'leave' &&
      (errorOf(real) === FENCED_INSTANCE_ID ||
        (errorOf(real) === UNRELEASED_INSTANCE_ID && !isOwnInstance(step, before))),
  },
  {
    name: 'refused under a foreign instance id while a group settles',
    reason: 'the same, seen at once in the tasks of those who settle',
    atOnce: true,
    ends: ({ step, real }) =>
      step.do === 'settle' &&
      membersOf(real).some((member) => errorOf(member) === FENCED_INSTANCE_ID),
  },
  {
    name: 'shutdown and the only static member',
    reason:
      'the return of the only member from a break makes Kafka forget that the application is to shut down, right after it ' +
      'said so; here the wish lasts until the group is empty',
    ends: ({ step, real, before }) =>
      step.do === 'join' &&
      statusesOf(real).includes(SHUTDOWN_APPLICATION) &&
      before.members.some(({ onBreak }) => onBreak) &&
      before.places === 1,
  },
];

/** What is never asked, because the very answer to it depends on what Kafka forgot to forget, or on some order. */
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
  {
    name: 'offsets and shutdown in the join that makes a group',
    reason: 'Kafka forgets both as soon as it has answered; here they are kept',
  },
  {
    name: 'two writers of a repartition topic, a ring, a changelog that two subtopologies share',
    reason:
      'in Kafka the order of the subtopologies decides how wide such a topic is; here the widest does',
  },
];

/**
 * Judges how both servers answered a step: our heartbeats never fail inside, whatever Kafka does (ORD-4), and what differs
 * is explained.
 *
 * @param compare finds what differs; asked only where the two may be compared.
 */
export function judge(exchange: Exchange, compare: () => readonly Difference[]): Verdict {
  const { step, ours } = exchange;
  if (failedInside(step, ours)) {
    const fault = { path: 'errorCode', expected: 'never -1 (ORD-4)', got: ours };
    return { notes: [], faults: [fault], isOver: true };
  }
  const failure = ENDINGS.find(({ atOnce, ends }) => atOnce === true && ends(exchange));
  if (failure !== undefined) return { notes: [failure.name], faults: [], isOver: true };
  const differences = compare();
  const explanations = differences.map((difference) =>
    EXPLANATIONS.find((each) => each.accountsFor(difference, exchange)),
  );
  const needed = explanations.filter((each) => each !== undefined);
  const ending = ENDINGS.find(({ ends }) => ends(exchange));
  return {
    notes: [...needed, ...(ending === undefined ? [] : [ending])].map(({ name }) => name),
    faults: differences.filter((_, at) => explanations[at] === undefined),
    isOver: ending !== undefined || needed.some(({ ends }) => ends === true),
  };
}

/** Whether a heartbeat, or one of those by which a group settles, was answered with UNKNOWN_SERVER_ERROR. */
function failedInside(step: Step, answer: unknown): boolean {
  const answers = step.do === 'settle' ? membersOf(answer) : isHeartbeat(step) ? [answer] : [];
  return answers.some((each) => errorOf(each) === UNKNOWN_SERVER_ERROR);
}

function errorOf(answer: unknown): unknown {
  return fieldsOf(answer)['errorCode'] ?? 0;
}

/** What each member of a group that settled ended with. */
function membersOf(answer: unknown): readonly unknown[] {
  return Object.values(fieldsOf(fieldsOf(answer)['members']));
}

function statusesOf(answer: unknown): readonly unknown[] {
  const statuses = (fieldsOf(answer)['status'] ?? []) as readonly Fields[];
  return statuses.map(({ statusCode }) => statusCode);
}

function fieldsOf(value: unknown): Fields {
  return (value ?? {}) as Fields;
}

function sentIn({ send }: Step): Fields {
  return fieldsOf(send);
}

/** Whether a heartbeat carries one of these topologies. */
function speaksOf(step: Step, topologies: ReadonlySet<unknown>): boolean {
  return isHeartbeat(step) && topologies.has(sentIn(step)['topology']);
}

/** Whether a member joins again under the instance id that it has. */
function isOwnInstance(step: Step, before: Picture): boolean {
  const { memberId, instanceId } = sentIn(step);
  const isAsItself = memberId === undefined && instanceId === undefined;
  return isAsItself && before.joined.some((member) => member.alias === step.as);
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
