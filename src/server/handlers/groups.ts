import type { ListedGroup } from '../../../machines/commands.ts';
import type { ErrorName } from '../../../machines/model/refusal.ts';
import type { ResponseInput } from '../../wire/apis.ts';
import { errorCode } from '../../wire/errors.ts';
import type { Answering } from '../answering.ts';
import { authorizedOperations, CLUSTER_RESOURCE, NOT_ASKED } from '../authorize.ts';
import type { HandlerParts } from '../handler-parts.ts';

type Parts = Pick<HandlerParts, 'coordinator' | 'authorizer'>;
type ClassicEntry = NonNullable<ResponseInput<'DescribeGroups'>['groups']>[number];

/** DescribeGroups says that a group is not there, rather than showing it dead, from this version on. */
const FIRST_WITH_NOT_FOUND = 6;
const FIRST_WITH_DELETION_FAILED = 3;

/** Answers ListGroups, as of the last commit. Source: topology-and-admin 13.1. */
export function answerListGroups({ coordinator, authorizer }: Parts): Answering<'ListGroups'> {
  return async ({ statesFilter, typesFilter }, { connection: { principal } }) => {
    const { error, groups } = await coordinator.list({ states: statesFilter, types: typesFilter });
    const seesAll = authorizer.allows(principal, 'DESCRIBE', 'CLUSTER', CLUSTER_RESOURCE);
    const shown = groups.filter(
      ({ groupId }) => seesAll || authorizer.allows(principal, 'DESCRIBE', 'GROUP', groupId),
    );
    return { errorCode: errorCode(error), groups: shown };
  };
}

/**
 * Answers DescribeGroups, which knows classic groups alone: a simple group (offsets without members) is an empty one,
 * any other id is not there.
 *
 * Source: topology-and-admin 13; wire.md key 15.
 */
export function answerDescribeGroups(parts: Parts): Answering<'DescribeGroups'> {
  const { coordinator, authorizer } = parts;
  return async (request, { apiVersion, connection: { principal } }) => {
    const { error, groups } = await coordinator.list({ states: [], types: ['classic'] });
    const classic = new Map(groups.map((group) => [group.groupId, group]));
    const entries = request.groups.map((groupId): ClassicEntry => {
      if (!authorizer.allows(principal, 'DESCRIBE', 'GROUP', groupId)) {
        return { groupId, errorCode: errorCode('GROUP_AUTHORIZATION_FAILED') };
      }
      const entry = classicEntry(groupId, { error, group: classic.get(groupId), apiVersion });
      // What may be done to a group that cannot be shown is not told.
      const isTold = request.includeAuthorizedOperations && (entry.errorCode ?? 0) === 0;
      const operations = isTold
        ? authorizedOperations(authorizer, principal, 'GROUP', groupId)
        : NOT_ASKED;
      return { ...entry, authorizedOperations: operations };
    });
    return { groups: entries };
  };
}

type Found = {
  readonly error: ErrorName;
  readonly group: ListedGroup | undefined;
  readonly apiVersion: number;
};

function classicEntry(groupId: string, { error, group, apiVersion }: Found): ClassicEntry {
  if (error !== 'NONE') return { groupId, errorCode: errorCode(error) };
  if (group !== undefined) {
    return { groupId, groupState: group.groupState, protocolType: group.protocolType };
  }
  if (apiVersion < FIRST_WITH_NOT_FOUND) return { groupId, groupState: 'Dead' };
  return {
    groupId,
    groupState: 'Dead',
    errorCode: errorCode('GROUP_ID_NOT_FOUND'),
    errorMessage: `Cannot find classic group "${groupId}"`,
  };
}

/** Answers DeleteGroups; one id twice is answered once. Source: topology-and-admin 13, 16.7a. */
export function answerDeleteGroups({ coordinator, authorizer }: Parts): Answering<'DeleteGroups'> {
  return async ({ groupsNames }, { apiVersion, connection: { principal } }) => {
    const ids = [...new Set(groupsNames)];
    const mayDelete = (id: string) => authorizer.allows(principal, 'DELETE', 'GROUP', id);
    const refused = ids
      .filter((id) => !mayDelete(id))
      .map((groupId) => ({ groupId, errorCode: errorCode('GROUP_AUTHORIZATION_FAILED') }));
    const deleted = await coordinator.delete(ids.filter(mayDelete));
    const results = deleted.map(({ groupId, error, message }) => ({
      groupId,
      errorCode: errorCode(knownTo(apiVersion, error)),
      errorMessage: message,
    }));
    return { results: [...refused, ...results] };
  };
}

/** Clients of older versions do not know the code for a plugin that failed (wire.md key 42). */
function knownTo(apiVersion: number, error: ErrorName): ErrorName {
  const isNew = error === 'GROUP_DELETION_FAILED' && apiVersion < FIRST_WITH_DELETION_FAILED;
  return isNew ? 'UNKNOWN_SERVER_ERROR' : error;
}
