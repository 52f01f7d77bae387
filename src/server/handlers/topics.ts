import type { RequestOf, ResponseInput } from '../../wire/apis.ts';
import type { WireErrorName } from '../../wire/errors.ts';
import { errorCode } from '../../wire/errors.ts';
import { ZERO_UUID } from '../../wire/reader.ts';
import type { Answering } from '../answering.ts';
import type { Operation } from '../authorize.ts';
import { CLUSTER_RESOURCE } from '../authorize.ts';
import type { HandlerParts } from '../handler-parts.ts';
import type { CatalogueTopic, NewTopic, Outcome, TopicOutcome } from '../ports.ts';
import { configSourceCode } from './describe-configs.ts';

type Parts = Pick<
  HandlerParts,
  'catalogue' | 'configs' | 'coordinator' | 'identity' | 'authorizer'
>;
type TopicToCreate = RequestOf<'CreateTopics'>['topics'][number];
type CreatedTopic = NonNullable<ResponseInput<'CreateTopics'>['topics']>[number];
type TopicToGrow = RequestOf<'CreatePartitions'>['topics'][number];
type TopicToDelete = RequestOf<'DeleteTopics'>['topics'][number];
type DeletedTopic = NonNullable<ResponseInput<'DeleteTopics'>['responses']>[number];

const DEFAULT = -1;
/** Every partition has one replica: there is one node. */
const REPLICAS = 1;
const FIRST_WITH_STATES = 6;

/** Answers CreateTopics. Source: wire.md key 19. */
export function answerCreateTopics(
  parts: Pick<Parts, 'catalogue' | 'configs' | 'identity' | 'authorizer'>,
): Answering<'CreateTopics'> {
  const { catalogue, configs, identity, authorizer } = parts;

  return async ({ topics, validateOnly }, { connection: { principal } }) => {
    const repeated = namedTwice(topics);
    const judged = topics.map((topic) => judge(topic));
    const wanted = judged.filter((each): each is NewTopic => !isRefused(each));
    // All in one step: whoever watches the topics sees one change, and the disk one write.
    const outcomes = validateOnly
      ? await Promise.all(wanted.map((each) => catalogue.create(each, { validateOnly })))
      : await catalogue.createTogether(wanted);
    const left = [...outcomes];
    return {
      topics: judged.map((each, at) => {
        const name = topics[at]?.name ?? '';
        const outcome = isRefused(each) ? { ...each, topic: undefined } : left.shift();
        return shown(name, outcome ?? { ...NOT_TRIED, topic: undefined }, validateOnly);
      }),
    };

    function judge(asked: TopicToCreate): NewTopic | Outcome {
      const { name } = asked;
      if (repeated.has(name)) return twice(name);
      const isAllowed =
        authorizer.allows(principal, 'CREATE', 'CLUSTER', CLUSTER_RESOURCE) ||
        authorizer.allows(principal, 'CREATE', 'TOPIC', name);
      if (!isAllowed) return { error: 'TOPIC_AUTHORIZATION_FAILED', message: null };
      return newTopic(asked, identity.nodeId);
    }
  };

  function shown(name: string, outcome: TopicOutcome, validateOnly: boolean): CreatedTopic {
    const { topic } = outcome;
    if (topic === undefined) return refuse(name, outcome);
    return {
      name,
      topicId: validateOnly ? ZERO_UUID : topic.topicId,
      errorMessage: null,
      numPartitions: topic.partitionCount,
      replicationFactor: REPLICAS,
      configs: (configs.topic.describe(name) ?? []).map((entry) => ({
        name: entry.name,
        value: entry.sensitive ? null : entry.value,
        readOnly: entry.readOnly,
        configSource: configSourceCode(entry.source),
        isSensitive: entry.sensitive,
      })),
    };
  }
}

/** One outcome for each topic is what a catalogue promises. */
const NOT_TRIED: Outcome = { error: 'UNKNOWN_SERVER_ERROR', message: null };

function isRefused(judged: NewTopic | Outcome): judged is Outcome {
  return 'error' in judged;
}

function refuse(name: string, { error, message }: Outcome): CreatedTopic {
  return { name, errorCode: errorCode(error), errorMessage: message };
}

/** A list of replicas per partition stands for both numbers, and can name this node alone. */
function newTopic(asked: TopicToCreate, nodeId: number): NewTopic | Outcome {
  const { name, numPartitions, replicationFactor, assignments } = asked;
  const configs = new Map(asked.configs.map((config) => [config.name, config.value]));
  if (assignments.length === 0) {
    return { name, partitionCount: numPartitions, replicationFactor, configs };
  }
  if (numPartitions !== DEFAULT || replicationFactor !== DEFAULT) {
    const message = `Cannot create topic ${name}: replicas are listed, so both numbers must be -1`;
    return { error: 'INVALID_REQUEST', message };
  }
  const indexes = assignments.map(({ partitionIndex }) => partitionIndex).sort((a, b) => a - b);
  const isWhole = indexes.every((index, at) => index === at);
  const isHere = assignments.every(({ brokerIds }) => isThisNode(brokerIds, nodeId));
  if (!isWhole || !isHere) return wrongReplicas(name, nodeId);
  return { name, partitionCount: assignments.length, replicationFactor: REPLICAS, configs };
}

function isThisNode(brokerIds: readonly number[], nodeId: number): boolean {
  return brokerIds.length === REPLICAS && brokerIds[0] === nodeId;
}

function wrongReplicas(name: string, nodeId: number): Outcome {
  const message = `Cannot place topic ${name}: every partition must be listed, with node ${nodeId} alone`;
  return { error: 'INVALID_REQUEST', message };
}

function namedTwice(topics: readonly { readonly name: string }[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { name } of topics) {
    if (seen.has(name)) repeated.add(name);
    seen.add(name);
  }
  return repeated;
}

function twice(name: string): Outcome {
  return { error: 'INVALID_REQUEST', message: `Topic ${name} is named twice in one request` };
}

/** Answers CreatePartitions. Source: wire.md key 37. */
export function answerCreatePartitions(
  parts: Pick<Parts, 'catalogue' | 'identity' | 'authorizer'>,
): Answering<'CreatePartitions'> {
  const { catalogue, identity, authorizer } = parts;

  return async ({ topics, validateOnly }, { connection: { principal } }) => {
    const repeated = namedTwice(topics);
    const results: (Outcome & { readonly name: string })[] = [];
    for (const topic of topics) results.push({ name: topic.name, ...(await grow(topic)) });
    return {
      results: results.map(({ name, error, message }) => ({
        name,
        errorCode: errorCode(error),
        errorMessage: message,
      })),
    };

    async function grow({ name, count, assignments }: TopicToGrow): Promise<Outcome> {
      if (repeated.has(name)) return twice(name);
      if (!authorizer.allows(principal, 'ALTER', 'TOPIC', name)) {
        return { error: 'TOPIC_AUTHORIZATION_FAILED', message: null };
      }
      const grown = assignments?.length ?? 0;
      if (assignments !== null && grown > 0) {
        const added = count - (catalogue.byName(name)?.partitionCount ?? 0);
        const isHere = assignments.every(({ brokerIds }) => isThisNode(brokerIds, identity.nodeId));
        if (grown !== added || !isHere) return wrongReplicas(name, identity.nodeId);
      }
      return catalogue.grow(name, count, { validateOnly });
    }
  };
}

/** Answers DeleteTopics, and has every group forget what it committed there (EX-7). Source: wire.md key 20. */
export function answerDeleteTopics(
  parts: Pick<Parts, 'catalogue' | 'coordinator' | 'authorizer'>,
): Answering<'DeleteTopics'> {
  const { catalogue, coordinator, authorizer } = parts;

  return async (request, { apiVersion, connection: { principal } }) => {
    const asked: readonly TopicToDelete[] =
      apiVersion >= FIRST_WITH_STATES
        ? request.topics
        : request.topicNames.map((name) => ({ name, topicId: ZERO_UUID }));
    const gone: CatalogueTopic[] = [];
    const responses: DeletedTopic[] = [];
    for (const one of asked) responses.push(await remove(one));
    if (gone.length > 0) coordinator.topicsDeleted(gone);
    return { responses };

    async function remove({ name, topicId }: TopicToDelete): Promise<DeletedTopic> {
      const isById = topicId !== ZERO_UUID;
      if ((name !== null) === isById) {
        const message = 'Cannot delete topic: wanted either its name or its id';
        return answer('INVALID_REQUEST', message);
      }
      const known = isById ? catalogue.byId(topicId) : undefined;
      if (isById && known === undefined) return answer('UNKNOWN_TOPIC_ID', null);
      const wanted = known?.name ?? name ?? '';
      if (!may('DELETE', wanted)) {
        // Whoever may not see the topic does not learn the name behind the id.
        return answer(isById ? 'UNKNOWN_TOPIC_ID' : 'TOPIC_AUTHORIZATION_FAILED', null);
      }
      const { error, message, topic } = await catalogue.delete(wanted);
      if (topic === undefined) return answer(error, message);
      gone.push(topic);
      return { name: topic.name, topicId: topic.topicId, errorCode: errorCode(error) };

      function answer(refused: WireErrorName, text: string | null): DeletedTopic {
        return { name, topicId, errorCode: errorCode(refused), errorMessage: text };
      }
    }

    function may(operation: Operation, topic: string): boolean {
      return authorizer.allows(principal, operation, 'TOPIC', topic);
    }
  };
}

/** Answers ListPartitionReassignments: with one node there are none. Source: wire.md key 46. */
export function answerListPartitionReassignments(): Answering<'ListPartitionReassignments'> {
  return () => ({ errorMessage: null });
}
