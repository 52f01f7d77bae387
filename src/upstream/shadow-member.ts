import { apis } from '../wire/apis.ts';
import { errorCode } from '../wire/errors.ts';
import type { UpstreamConnection } from './connection.ts';
import { UpstreamError } from './upstream-error.ts';

/** Who the placeholder is upstream; commits carry it. */
export type Identity = {
  readonly generationId: number;
  readonly memberId: string;
  readonly instanceId: string;
};

/** What came of a join: an identity, an error code of upstream's, or that a group of another type has the id. */
export type Joined =
  | { readonly kind: 'joined'; readonly identity: Identity }
  | { readonly kind: 'taken'; readonly type: 'consumer' }
  | { readonly kind: 'refused'; readonly step: 'join' | 'sync'; readonly code: number };

export type JoinOptions = {
  readonly groupId: string;
  readonly instanceId: string;
  readonly sessionTimeoutMs: number;
};

/** Not "consumer": such a group never expires offsets, and consumers cannot join it (wire.md 4.10). */
export const PROTOCOL_TYPE = 'streams-gateway';
/** Always the same, so that one placeholder replaces another without a rebalance. */
const PROTOCOL_NAME = 'placeholder';
const NO_BYTES = Buffer.alloc(0);
const REBALANCE_TIMEOUT_MS = 20_000;
/** A join waits for group.initial.rebalance.delay.ms, or for a former member until the rebalance timeout. */
const JOIN_TIMEOUT_MS = 40_000;
const CONSUMER_GROUP_DESCRIBE_KEY = apis.ConsumerGroupDescribe.key;
/** First version with an instance id: a join and what belongs to it need it. */
const LEAST_JOIN_VERSION = 5;

/**
 * Joins a group upstream as its placeholder: JoinGroup and SyncGroup of the classic protocol. Under the same instance
 * id it takes over from whoever was the placeholder before. A consumer group is left alone: a broker would dissolve it
 * for a classic member as long as it is empty, but refuses a streams member then too.
 *
 * @param connection one of its own: a broker answers nothing else on it while the join waits.
 * @throws UpstreamError
 *
 * Source: wire.md 4.10, "a placeholder member"; topology-and-admin 13; coordination JOIN-3.
 */
export async function joinShadowGroup(
  connection: UpstreamConnection,
  { groupId, instanceId, sessionTimeoutMs }: JoinOptions,
): Promise<Joined> {
  refuseOldBroker(connection);
  if (await isConsumerGroup(connection, groupId)) return { kind: 'taken', type: 'consumer' };
  const joined = await connection.request(
    'JoinGroup',
    {
      groupId,
      sessionTimeoutMs,
      rebalanceTimeoutMs: REBALANCE_TIMEOUT_MS,
      memberId: '',
      groupInstanceId: instanceId,
      protocolType: PROTOCOL_TYPE,
      protocols: [{ name: PROTOCOL_NAME, metadata: NO_BYTES }],
      reason: 'This group is coordinated by Headgate',
    },
    { timeoutMs: JOIN_TIMEOUT_MS },
  );
  if (joined.errorCode !== 0) return { kind: 'refused', step: 'join', code: joined.errorCode };
  const { generationId, memberId } = joined;
  const isLeader = joined.leader === memberId;
  const synced = await connection.request('SyncGroup', {
    groupId,
    generationId,
    memberId,
    groupInstanceId: instanceId,
    protocolType: PROTOCOL_TYPE,
    protocolName: PROTOCOL_NAME,
    assignments: isLeader ? [{ memberId, assignment: NO_BYTES }] : [],
  });
  if (synced.errorCode !== 0) return { kind: 'refused', step: 'sync', code: synced.errorCode };
  return { kind: 'joined', identity: { generationId, memberId, instanceId } };
}

/** Tells upstream that the placeholder is there. @returns its error code. @throws UpstreamError */
export async function beatShadowGroup(
  connection: UpstreamConnection,
  groupId: string,
  { generationId, memberId, instanceId }: Identity,
): Promise<number> {
  const answer = await connection.request('Heartbeat', {
    groupId,
    generationId,
    memberId,
    groupInstanceId: instanceId,
  });
  return answer.errorCode;
}

/**
 * Takes the placeholder out of the group, by its instance id alone: also one that a process before this one left
 * behind.
 *
 * @returns an error code; 0 also when there was none to take out.
 * @throws UpstreamError
 */
export async function leaveShadowGroup(
  connection: UpstreamConnection,
  groupId: string,
  instanceId: string,
): Promise<number> {
  const answer = await connection.request('LeaveGroup', {
    groupId,
    members: [{ memberId: '', groupInstanceId: instanceId, reason: 'The group is empty' }],
  });
  const code = answer.errorCode === 0 ? (answer.members[0]?.errorCode ?? 0) : answer.errorCode;
  return code === errorCode('UNKNOWN_MEMBER_ID') ? 0 : code;
}

/** Whether a group of the consumer protocol has the id, empty or not; false where the broker cannot say. */
async function isConsumerGroup(connection: UpstreamConnection, groupId: string): Promise<boolean> {
  if (connection.versions.ranges.get(CONSUMER_GROUP_DESCRIBE_KEY) === undefined) return false;
  const { groups } = await connection.request('ConsumerGroupDescribe', { groupIds: [groupId] });
  return groups.some((group) => group.groupId === groupId && group.errorCode === 0);
}

function refuseOldBroker(connection: UpstreamConnection): void {
  const range = connection.versions.ranges.get(apis.JoinGroup.key);
  if (range !== undefined && range.max >= LEAST_JOIN_VERSION) return;
  throw new UpstreamError(
    'unsupported',
    `Cannot join a group upstream: JoinGroup ${LEAST_JOIN_VERSION} or later is needed, it has ${range?.max ?? 'none'}`,
  );
}
