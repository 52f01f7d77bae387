import type { HeartbeatRequest } from '../commands.ts';
import type { Context } from '../decision.ts';
import type { Group } from '../model/group.ts';
import type { Member } from '../model/member.ts';
import { Refusal } from '../model/refusal.ts';
import { isAway } from './static-member.ts';

/** Whose place a join takes. */
export type Place =
  /** Nobody's: a new member (JOIN-4, STAT-1). */
  | { readonly kind: 'new' }
  /** Its own: it never left, or lost its answer (JOIN-5, STAT-2). */
  | { readonly kind: 'own'; readonly member: Member }
  /** Its own, after a break (STAT-3). */
  | { readonly kind: 'return'; readonly member: Member }
  /** That of a member on a break, whose instance id it brings (STAT-3). */
  | { readonly kind: 'replace'; readonly holder: Member };

/**
 * Finds the place of a join: the size of the group first, then what its member id and its instance id say
 * (SIZE-1, JOIN-4, JOIN-5, STAT-1 to STAT-3).
 *
 * @throws Refusal GROUP_MAX_SIZE_REACHED; INVALID_REQUEST for a member that comes with another instance id than its
 *   own, where the profile holds it to one for life; UNRELEASED_INSTANCE_ID while another has the instance id.
 */
export function findPlace(group: Group, request: HeartbeatRequest, context: Context): Place {
  const { memberId, instanceId } = request;
  const { staticJoinInPlace } = context.behaviour;
  const known = group.members.get(memberId);
  const holderId = instanceId === null ? undefined : group.staticMembers.get(instanceId);
  const holder = holderId === undefined ? undefined : group.members.get(holderId);
  if (known === undefined && holder === undefined) refuseIfFull(group, context);
  if (known !== undefined && staticJoinInPlace) refuseOtherInstance(known, instanceId);
  if (holder === undefined) {
    if (known === undefined) return { kind: 'new' };
    return { kind: isAway(known) ? 'return' : 'own', member: known };
  }
  const isItself = staticJoinInPlace && holder.memberId === memberId;
  if (isAway(holder)) {
    return isItself ? { kind: 'return', member: holder } : { kind: 'replace', holder };
  }
  if (isItself) return { kind: 'own', member: holder };
  throw new Refusal(
    'UNRELEASED_INSTANCE_ID',
    `Cannot join as instance "${instanceId}": member "${holder.memberId}" holds it, at epoch ${holder.memberEpoch}`,
  );
}

function refuseIfFull({ groupId, members }: Group, { coordinator }: Context): void {
  const { maxGroupSize } = coordinator;
  if (members.size < maxGroupSize) return;
  throw new Refusal(
    'GROUP_MAX_SIZE_REACHED',
    `Cannot join group "${groupId}": it has ${members.size} members of at most ${maxGroupSize}`,
  );
}

/** A member has one instance id, or none, for life (STAT-1, JOIN-5). */
function refuseOtherInstance({ memberId, instanceId }: Member, sent: string | null): void {
  if (instanceId === sent) return;
  throw new Refusal(
    'INVALID_REQUEST',
    `Member "${memberId}" joined ${withInstance(instanceId)}: it cannot join ${withInstance(sent)}`,
  );
}

function withInstance(instanceId: string | null): string {
  return instanceId === null ? 'without an instance id' : `as instance "${instanceId}"`;
}
