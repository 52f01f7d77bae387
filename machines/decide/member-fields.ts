import type { Client, HeartbeatRequest } from '../commands.ts';
import { byCodeUnits, JOIN_EPOCH } from '../model/ids.ts';
import type { CurrentAssignment, Endpoint, Member, MemberMetadata } from '../model/member.ts';
import type { KeyValue } from '../model/topology.ts';

/**
 * The member with what a heartbeat says of it: null and -1 mean unchanged, but a join without endpoint clears the
 * stored one; client id and host always follow the connection (FLD-1, FLD-2).
 *
 * @returns the same object when nothing changed.
 */
export function updatedMember(member: Member, request: HeartbeatRequest, client: Client): Member {
  if (saysNothingNew(member, request, client)) return member;
  const { rebalanceTimeoutMs } = request;
  return {
    ...member,
    instanceId: request.instanceId ?? member.instanceId,
    rackId: request.rackId ?? member.rackId,
    clientId: client.clientId,
    clientHost: client.clientHost,
    rebalanceTimeoutMs: rebalanceTimeoutMs === -1 ? member.rebalanceTimeoutMs : rebalanceTimeoutMs,
    topologyEpoch: request.topology?.epoch ?? member.topologyEpoch,
    processId: request.processId ?? member.processId,
    userEndpoint:
      request.memberEpoch === JOIN_EPOCH
        ? request.userEndpoint
        : (request.userEndpoint ?? member.userEndpoint),
    clientTags: request.clientTags === null ? member.clientTags : sortedTags(request.clientTags),
  };
}

/** True when an ordinary heartbeat carries no field of the registration and comes from the same connection as ever. */
function saysNothingNew(member: Member, request: HeartbeatRequest, client: Client): boolean {
  return (
    request.memberEpoch !== JOIN_EPOCH &&
    request.instanceId === null &&
    request.rackId === null &&
    request.rebalanceTimeoutMs === -1 &&
    request.processId === null &&
    request.userEndpoint === null &&
    request.clientTags === null &&
    client.clientId === member.clientId &&
    client.clientHost === member.clientHost
  );
}

/** Ascending by key; of a key named twice the last value counts. */
function sortedTags(tags: readonly KeyValue[]): readonly KeyValue[] {
  const byKey = new Map(tags.map(({ key, value }) => [key, value]));
  return [...byKey].sort(([a], [b]) => byCodeUnits(a, b)).map(([key, value]) => ({ key, value }));
}

/** The names, for people, of the fields of the registration that differ; empty when none does. */
export function changedFields(before: Member, after: Member): readonly string[] {
  if (before === after) return [];
  return FIELDS.filter(([, same]) => !same(before, after)).map(([name]) => name);
}

/** Fields whose change raises the group epoch even for a request with an instance id (GE-2). */
export const STATIC_BUMP_FIELDS: ReadonlySet<string> = new Set([
  'topology epoch',
  'rack',
  'client tags',
  'process',
]);

type SameField = (a: MemberMetadata, b: MemberMetadata) => boolean;

const FIELDS: readonly (readonly [string, SameField])[] = [
  ['instance id', (a, b) => a.instanceId === b.instanceId],
  ['rack', (a, b) => a.rackId === b.rackId],
  ['client id', (a, b) => a.clientId === b.clientId],
  ['host', (a, b) => a.clientHost === b.clientHost],
  ['rebalance timeout', (a, b) => a.rebalanceTimeoutMs === b.rebalanceTimeoutMs],
  ['topology epoch', (a, b) => a.topologyEpoch === b.topologyEpoch],
  ['process', (a, b) => a.processId === b.processId],
  ['endpoint', (a, b) => sameEndpoint(a.userEndpoint, b.userEndpoint)],
  ['client tags', (a, b) => sameKeyValues(a.clientTags, b.clientTags)],
];

/** Whether two endpoints, or their absence, are the same. */
export function sameEndpoint(a: Endpoint | null, b: Endpoint | null): boolean {
  return a?.host === b?.host && a?.port === b?.port;
}

/** Whether two lists hold the same pairs in the same order. */
export function sameKeyValues(a: readonly KeyValue[], b: readonly KeyValue[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ key, value }, at) => key === b[at]?.key && value === b[at]?.value)
  );
}

/** The registration alone, as its record holds it. */
export function metadataOf(member: Member): MemberMetadata {
  return {
    instanceId: member.instanceId,
    rackId: member.rackId,
    clientId: member.clientId,
    clientHost: member.clientHost,
    rebalanceTimeoutMs: member.rebalanceTimeoutMs,
    topologyEpoch: member.topologyEpoch,
    processId: member.processId,
    userEndpoint: member.userEndpoint,
    clientTags: member.clientTags,
  };
}

/** What the member has now alone, as its record holds it. */
export function assignmentOf(member: Member): CurrentAssignment {
  return {
    memberEpoch: member.memberEpoch,
    previousMemberEpoch: member.previousMemberEpoch,
    state: member.state,
    assigned: member.assigned,
    pendingRevocation: member.pendingRevocation,
  };
}
