import type { DescribedGroup, DescribedTopology } from '../../../machines/commands.ts';
import type { ResponseInput } from '../../wire/apis.ts';
import type { WireErrorName } from '../../wire/errors.ts';
import { errorCode } from '../../wire/errors.ts';
import type { Answering } from '../answering.ts';
import { authorizedOperations, NOT_ASKED } from '../authorize.ts';
import type { HandlerParts } from '../handler-parts.ts';

type Entry = NonNullable<ResponseInput<'StreamsGroupDescribe'>['groups']>[number];

/** No plugin keeps topology descriptions: what can be said of one is that it is not there (wire.md 3.1). */
const NOT_REQUESTED = 0;
const NOT_STORED = 1;
const FIRST_WITH_DESCRIPTION = 1;

/**
 * Answers StreamsGroupDescribe: one entry per requested id, an id twice is answered twice; errors sit in the entries.
 *
 * Source: topology-and-admin 12, 16.8.
 */
export function answerDescribe(
  parts: Pick<HandlerParts, 'coordinator' | 'authorizer' | 'streamsEnabled'>,
): Answering<'StreamsGroupDescribe'> {
  const { coordinator, authorizer, streamsEnabled } = parts;

  return async (request, { apiVersion, connection }) => {
    const { groupIds, includeAuthorizedOperations } = request;
    if (!streamsEnabled) {
      return { groups: groupIds.map((id) => refusedEntry(id, 'UNSUPPORTED_VERSION', null)) };
    }
    const { principal } = connection;
    const mayDescribe = (id: string) => authorizer.allows(principal, 'DESCRIBE', 'GROUP', id);
    const refused = groupIds
      .filter((id) => !mayDescribe(id))
      .map((id) => refusedEntry(id, 'GROUP_AUTHORIZATION_FAILED', null));
    const described = await coordinator.describe(groupIds.filter(mayDescribe));
    return { groups: [...refused, ...described.map(entry)] };

    function entry(group: DescribedGroup): Entry {
      const { groupId, topology } = group;
      if (topology !== null && !mentions(topology).every(maySee)) {
        const text = 'Cannot describe group: it uses topics this client may not describe';
        return refusedEntry(groupId, 'TOPIC_AUTHORIZATION_FAILED', text);
      }
      const isShown = group.error === 'NONE' && request.includeTopologyDescription;
      return {
        errorCode: errorCode(group.error),
        errorMessage: group.errorMessage,
        groupId,
        groupState: group.groupState,
        groupEpoch: group.groupEpoch,
        assignmentEpoch: group.assignmentEpoch,
        topology,
        members: group.members,
        authorizedOperations:
          includeAuthorizedOperations && group.error === 'NONE'
            ? authorizedOperations(authorizer, principal, 'GROUP', groupId)
            : NOT_ASKED,
        topologyDescriptionStatus:
          isShown && apiVersion >= FIRST_WITH_DESCRIPTION ? NOT_STORED : NOT_REQUESTED,
        assignorName: group.assignorName,
      };
    }

    function maySee(topic: string): boolean {
      return authorizer.allows(principal, 'DESCRIBE', 'TOPIC', topic);
    }
  };
}

function refusedEntry(groupId: string, error: WireErrorName, message: string | null): Entry {
  return { groupId, errorCode: errorCode(error), errorMessage: message };
}

function mentions({ subtopologies }: DescribedTopology): string[] {
  return subtopologies.flatMap((one) => [
    ...one.sourceTopics,
    ...one.repartitionSinkTopics,
    ...one.stateChangelogTopics.map(({ name }) => name),
    ...one.repartitionSourceTopics.map(({ name }) => name),
  ]);
}

/**
 * Answers StreamsGroupTopologyDescriptionUpdate: no plugin is configured, which is said before anything else is looked
 * at but the right to read the group.
 *
 * Source: topology-and-admin 16.7, steps 1 and 3.
 */
export function answerTopologyDescription(
  parts: Pick<HandlerParts, 'authorizer' | 'streamsEnabled'>,
): Answering<'StreamsGroupTopologyDescriptionUpdate'> {
  const { authorizer, streamsEnabled } = parts;
  return ({ groupId }, { connection }) => {
    if (!streamsEnabled) return { errorCode: errorCode('UNSUPPORTED_VERSION') };
    if (!authorizer.allows(connection.principal, 'READ', 'GROUP', groupId)) {
      return { errorCode: errorCode('GROUP_AUTHORIZATION_FAILED') };
    }
    return {
      errorCode: errorCode('UNSUPPORTED_VERSION'),
      errorMessage: 'Cannot store topology description: no plugin is configured to keep it',
    };
  };
}
