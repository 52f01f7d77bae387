import type { ResponseInput } from '../../wire/apis.ts';
import type { WireErrorName } from '../../wire/errors.ts';
import { errorCode } from '../../wire/errors.ts';
import type { Answering } from '../answering.ts';
import type { HandlerParts } from '../handler-parts.ts';
import { toldOnce } from '../told-once.ts';

type Parts = Pick<HandlerParts, 'coordinator' | 'authorizer' | 'log'>;
type OtherDescribe = 'ConsumerGroupDescribe' | 'ShareGroupDescribe';
type OtherHeartbeat = 'ConsumerGroupHeartbeat' | 'ShareGroupHeartbeat';

const TURNED_AWAY = 'A member of another group type was turned away: such groups need --upstream';
/** From here on a leave names several members, each with an error of its own. */
const SEVERAL_LEAVE_SINCE = 3;
/** From here on a join that is refused names no protocol, where it named an empty one. */
const NO_PROTOCOL_SINCE = 7;
/** From here on a sync must name the protocol it is about. */
const PROTOCOL_NAMED_SINCE = 5;

/**
 * Answers JoinGroup of the classic protocol, whose groups are not coordinated here: a streams group with members turns
 * it away with 23; where there is none to protect, 35 says that the protocol is not served, as a broker says of one that
 * is switched off. A member id is nobody's here (25). Nothing is changed, an empty streams group neither: there would be
 * no classic group to go on from it.
 *
 * Source: topology-and-admin 13, O-3; coordination MEM-2.
 */
export function answerJoinGroup(parts: Parts): Answering<'JoinGroup'> {
  const tell = toldOnce(parts.log, TURNED_AWAY);
  return async ({ groupId, memberId }, { apiVersion, clientId, connection: { principal } }) => {
    const { error, state } = await lookUpClassic(parts, principal, groupId);
    const isLive = state !== undefined && state !== 'Empty';
    const ofNobody = memberId === '' ? 'UNSUPPORTED_VERSION' : 'UNKNOWN_MEMBER_ID';
    const verdict = isLive ? 'INCONSISTENT_GROUP_PROTOCOL' : ofNobody;
    if (error === 'NONE' && verdict === 'UNSUPPORTED_VERSION') tell(clientId, groupId);
    return {
      errorCode: errorCode(error === 'NONE' ? verdict : error),
      ...(apiVersion >= NO_PROTOCOL_SINCE ? { protocolName: null } : {}),
      memberId: isLive ? '' : memberId,
    };
  };
}

/**
 * Answers SyncGroup: no classic member is known here (25); before that, one that names no protocol where it must is told
 * so (23).
 *
 * Source: topology-and-admin 13.
 */
export function answerSyncGroup(parts: Parts): Answering<'SyncGroup'> {
  return async (request, { apiVersion, connection: { principal } }) => {
    const { groupId, protocolType, protocolName } = request;
    const namesNone = protocolType === null || protocolName === null;
    if (namesNone && apiVersion >= PROTOCOL_NAMED_SINCE) {
      return { errorCode: errorCode('INCONSISTENT_GROUP_PROTOCOL') };
    }
    return { errorCode: errorCode(await judgeMember(parts, principal, groupId)) };
  };
}

/** Answers Heartbeat of the classic protocol, as {@link answerSyncGroup}. Source: topology-and-admin 13. */
export function answerClassicHeartbeat(parts: Parts): Answering<'Heartbeat'> {
  return async ({ groupId }, { connection: { principal } }) => ({
    errorCode: errorCode(await judgeMember(parts, principal, groupId)),
  });
}

/**
 * Answers LeaveGroup: no classic member is known here; where the request names several, each has the error of its own.
 *
 * Source: topology-and-admin 13.
 */
export function answerLeaveGroup(parts: Parts): Answering<'LeaveGroup'> {
  return async ({ groupId, members }, { apiVersion, connection: { principal } }) => {
    const error = await judgeMember(parts, principal, groupId);
    const isEach = apiVersion >= SEVERAL_LEAVE_SINCE && error === 'UNKNOWN_MEMBER_ID';
    if (!isEach) return { errorCode: errorCode(error) };
    return {
      members: members.map(({ memberId, groupInstanceId }) => ({
        memberId,
        groupInstanceId,
        errorCode: errorCode(error),
      })),
    };
  };
}

/**
 * Answers the heartbeat of a consumer or share group, which are not coordinated here: 69 where a streams group, live or
 * empty, has the id, otherwise 35, as a broker answers for a protocol that is switched off.
 *
 * Source: topology-and-admin 13; coordination MEM-2.
 */
export function answerOtherHeartbeat(parts: Parts): Answering<OtherHeartbeat> {
  const tell = toldOnce(parts.log, TURNED_AWAY);
  return async ({ groupId }, { clientId, connection: { principal } }) => {
    const { error, state } = await lookUp(parts, principal, groupId);
    if (error !== 'NONE') return { errorCode: errorCode(error) };
    if (state === undefined) {
      tell(clientId, groupId);
      return { errorCode: errorCode('UNSUPPORTED_VERSION') };
    }
    return {
      errorCode: errorCode('GROUP_ID_NOT_FOUND'),
      errorMessage: `Cannot join group "${groupId}": it is a streams group`,
    };
  };
}

/** Answers the description of consumer or share groups: there are none. Source: topology-and-admin 13. */
export function answerOtherDescribe(
  { authorizer }: Pick<Parts, 'authorizer'>,
  kind: 'consumer' | 'share',
): Answering<OtherDescribe> {
  return ({ groupIds }, { connection: { principal } }): ResponseInput<OtherDescribe> => ({
    groups: groupIds.map((groupId) => {
      if (!authorizer.allows(principal, 'DESCRIBE', 'GROUP', groupId)) {
        return { groupId, errorCode: errorCode('GROUP_AUTHORIZATION_FAILED') };
      }
      if (groupId === '') return { groupId, errorCode: errorCode('INVALID_GROUP_ID') };
      return {
        groupId,
        errorCode: errorCode('GROUP_ID_NOT_FOUND'),
        errorMessage: `Cannot find ${kind} group "${groupId}"`,
      };
    }),
  });
}

/** The error that comes before the group's type counts, if any, and the state of the streams group that has the id. */
async function lookUp({ coordinator, authorizer }: Parts, principal: string, groupId: string) {
  if (authorizer.allows(principal, 'READ', 'GROUP', groupId)) {
    return coordinator.streamsGroup(groupId);
  }
  return { error: 'GROUP_AUTHORIZATION_FAILED', state: undefined } as const;
}

/** As {@link lookUp}, for the classic protocol, which refuses an empty id. */
async function lookUpClassic(parts: Parts, principal: string, groupId: string) {
  const found = await lookUp(parts, principal, groupId);
  const isBlank = groupId === '' && found.error === 'NONE';
  return isBlank ? ({ error: 'INVALID_GROUP_ID', state: undefined } as const) : found;
}

/** The error for whoever claims to be a classic member of the group. */
async function judgeMember(
  parts: Parts,
  principal: string,
  groupId: string,
): Promise<WireErrorName> {
  const { error } = await lookUpClassic(parts, principal, groupId);
  return error === 'NONE' ? 'UNKNOWN_MEMBER_ID' : error;
}
