import type { Client, HeartbeatRequest } from '../commands.ts';
import type { Context, GroupSlot, HeartbeatDecision } from '../decision.ts';
import { newGroup, newMember, newSoft } from '../model/empty.ts';
import { JOIN_EPOCH } from '../model/ids.ts';
import type { Member } from '../model/member.ts';
import { Refusal, unreachable } from '../model/refusal.ts';
import type { GroupSettings } from '../model/settings.ts';
import { refuseBadFields, refuseBadOffsets, refuseUnknownTasks } from './admit.ts';
import { refusedAnswer } from './answer.ts';
import { assignmentConfigs, changedConfigs, raiseGroupEpoch } from './bump.ts';
import { lackedTags, lackedTagText, RACK_AWARE_TAGS_KEY, tagsLackedBy } from './client-tags.ts';
import { concludeHeartbeat } from './conclude.ts';
import { Draft } from './draft.ts';
import { judgeEpoch, ownsOnlyAssigned, refuseUnknownState } from './epoch.ts';
import { requireGroup, requireMember } from './find-member.ts';
import { maybeStepOn, noteReport } from './intermediate.ts';
import { findPlace } from './join.ts';
import { decideLeave, noteShutdown } from './leave.ts';
import {
  assignmentOf,
  changedFields,
  metadataOf,
  STATIC_BUMP_FIELDS,
  sameEndpoint,
  updatedMember,
} from './member-fields.ts';
import { leaveCopies } from './one-copy.ts';
import { ownedTasks } from './owned.ts';
import { awaitPatterns, settlePatterns } from './patterns.ts';
import { removeMember } from './remove-member.ts';
import { backFromBreak, isAway, replaceMember } from './static-member.ts';
import { findTarget } from './target.ts';
import { adoptTopology, refreshTopology, validatedEpoch } from './topology-refresh.ts';

/**
 * Decides a StreamsGroupHeartbeat: a join (epoch 0), a regular heartbeat, or a leave (-1).
 *
 * @param slot what is known under the group id; undefined = nothing.
 * @returns the answer, or that it waits for the run of the assignor that this heartbeat started (OFF-8).
 * @throws Refusal the request is answered with its error; nothing changes, no timer either (TMR-1).
 *
 * Source: coordination, section 2; the steps are numbered as there.
 */
export function decideHeartbeat(
  slot: GroupSlot | undefined,
  request: HeartbeatRequest,
  client: Client,
  context: Context,
): HeartbeatDecision {
  refuseBadFields(request, context.behaviour);
  if (request.memberEpoch < JOIN_EPOCH) return decideLeave(slot, request, context);
  if (request.memberEpoch === JOIN_EPOCH) return decideJoin(slot, request, client, context);

  // Steps 1 and 2 of a member that is in the group.
  const draft = new Draft(requireGroup(slot, request.groupId), context);
  const member = requireMember(draft.group, request);
  const fenced = fence(draft, member, request);
  if (fenced !== undefined) return fenced;
  const waiting = awaitPatterns(draft, request);
  if (waiting !== undefined) return waiting;
  const known = { isNew: false, created: false, returned: false };
  return proceed(draft, member, request, client, known);
}

/** Steps 1 and 2 of a join: the group and the place in it that the join takes (JOIN-1, SIZE-1, STAT-1 to STAT-3). */
function decideJoin(
  slot: GroupSlot | undefined,
  request: HeartbeatRequest,
  client: Client,
  context: Context,
): HeartbeatDecision {
  const { groupId, memberId } = request;
  const created = slot?.group === undefined;
  const draft =
    slot === undefined || created
      ? Draft.ofNewGroup(slot, newGroup(groupId), newSoft(context.freshIncarnation), context)
      : new Draft(slot, context);
  const waiting = awaitPatterns(draft, request);
  if (waiting !== undefined) return waiting;
  const place = findPlace(draft.group, request, context);
  const known = { isNew: false, created, returned: false };
  switch (place.kind) {
    case 'new': {
      const processId = context.behaviour.missingProcessIsOwn ? memberId : '';
      const member = { ...newMember(memberId), processId };
      return proceed(draft, member, request, client, { ...known, isNew: true });
    }
    case 'own':
      return proceed(draft, place.member, request, client, known);
    case 'return':
      return proceed(draft, place.member, request, client, { ...known, returned: true });
    case 'replace': {
      const member = replaceMember(draft, place.holder, memberId);
      return proceed(draft, member, request, client, known);
    }
    default:
      return unreachable(place);
  }
}

/** The epoch check (EPO-1 to EPO-6). @returns the decision that fences the member, if the profile removes it. */
function fence(
  draft: Draft,
  member: Member,
  request: HeartbeatRequest,
): HeartbeatDecision | undefined {
  const { memberId, memberEpoch } = request;
  if (memberEpoch === member.memberEpoch && member.state !== 'unknown') return undefined;
  const owned = ownedTasks(request);
  if (judgeEpoch(member, memberEpoch, ownsOnlyAssigned(member, owned)) !== 'fenced') {
    refuseUnknownState(member, owned);
    return undefined;
  }
  const text = `Member "${memberId}" is at epoch ${member.memberEpoch}, not at ${memberEpoch}: it must join again`;
  // A static member on a break keeps its place: the late heartbeat is of its former life (EPO-6).
  if (!draft.context.behaviour.fenceRemovesMember || isAway(member)) {
    throw new Refusal('FENCED_MEMBER_EPOCH', text);
  }
  const reason = `${memberId} spoke with epoch ${memberEpoch} instead of ${member.memberEpoch} and is removed`;
  removeMember(draft, memberId, reason);
  return draft.done({ kind: 'answer', value: refusedAnswer('FENCED_MEMBER_EPOCH', text) });
}

type HowItCame = {
  readonly isNew: boolean;
  /** This heartbeat makes the group. */
  readonly created: boolean;
  /** The member comes back from a break. */
  readonly returned: boolean;
};

/** Steps 3 to 15, the same for joins and regular heartbeats. */
function proceed(
  draft: Draft,
  stored: Member,
  request: HeartbeatRequest,
  client: Client,
  { isNew, created, returned }: HowItCame,
): HeartbeatDecision {
  const { context } = draft;
  const { memberId } = request;
  const joined = request.memberEpoch === JOIN_EPOCH;
  const foundEmpty = draft.group.members.size === 0;

  // Step 3.
  const member = updatedMember(stored, request, client);
  const reasons = registerMember(draft, stored, member, request, isNew);
  if (joined && !isNew && member.processId !== stored.processId) leaveCopies(draft, memberId);
  // Steps 4 and 5.
  const adopted = adoptTopology(draft, request);
  if (adopted !== undefined) reasons.push(adopted);
  settlePatterns(draft, request);
  const { metadataHash, reason } = refreshTopology(draft);
  if (reason !== undefined) reasons.push(reason);
  // Step 6.
  refuseBadOffsets(request);
  refuseUnknownTasks(request, member, draft.soft.configured, context.behaviour);
  hearMember(draft, request, client);
  // Steps 7 to 9: one epoch up, for whatever else asks for it, or for a refinement step.
  if (!bumpIfNeeded(draft, reasons, metadataHash)) maybeStepOn(draft, memberId);
  // Step 10.
  const { initialRebalanceDelayMs } = context.settings;
  if (joined && foundEmpty && initialRebalanceDelayMs > 0 && !draft.soft.delaying) {
    draft.change({ delaying: true });
    draft.cause({ type: 'armInitialDelay', delayMs: initialRebalanceDelayMs });
    draft.say(`The first assignment waits ${initialRebalanceDelayMs} ms for more members`);
  }
  // What is soft belongs to the batch at hand, also when the answer waits (ORD-2).
  noteShutdown(draft, request);
  const endpointEpochRaised = !sameEndpoint(stored.userEndpoint, member.userEndpoint);
  const isCounted = !created || context.behaviour.countEndpointsOfCreatingJoin;
  if (endpointEpochRaised && isCounted) {
    draft.change({ endpointEpoch: draft.soft.endpointEpoch + 1 });
  }
  // Step 11.
  const target = findTarget(draft, memberId);
  if (target.kind === 'wait') {
    // Whoever looks while the answer waits must see that it is back.
    if (returned) writeReturn(draft, memberId);
    draft.cause({ type: 'armSession', memberId, delayMs: context.settings.sessionTimeoutMs });
    const held = { run: target.run, request, client, joined, created, endpointEpochRaised };
    return draft.done({ kind: 'held', held });
  }
  // Steps 12 to 15. Written out: V8 makes an object of a new shape for each spread with a field more, and no code that
  // looks at one is ever compiled for good.
  const beat = { request, client, joined, created, endpointEpochRaised, returned };
  return draft.done({ kind: 'answer', value: concludeHeartbeat(draft, beat, target.delay) });
}

function writeReturn(draft: Draft, memberId: string): void {
  const { groupId } = draft.group;
  const value = assignmentOf(backFromBreak(draft.member(memberId)));
  draft.write({ type: 'currentAssignment', groupId, memberId, value });
}

/** Writes the member's registration if it is new or changed. @returns the reasons to raise the group epoch (GE-1, GE-2). */
function registerMember(
  draft: Draft,
  stored: Member,
  member: Member,
  request: HeartbeatRequest,
  isNew: boolean,
): string[] {
  const { memberId } = request;
  const changed = isNew ? [] : changedFields(stored, member);
  if (!isNew && changed.length === 0) return [];
  draft.write({
    type: 'memberMetadata',
    groupId: draft.group.groupId,
    memberId,
    value: metadataOf(member),
  });
  const lacks = sayLacks(member, draft.context.settings);
  if (isNew) return [`${memberId} joined${lacks}`];
  const counts =
    request.instanceId === null
      ? changed
      : changed.filter((field) => STATIC_BUMP_FIELDS.has(field));
  return counts.length === 0 ? [] : [`${memberId} changed its ${counts.join(', ')}${lacks}`];
}

/** Behind what a member did: the tags it lacks that the assignment is to go by; mostly nothing. */
function sayLacks(member: Member, { rackAwareAssignmentTags }: GroupSettings): string {
  const tags = tagsLackedBy(member, rackAwareAssignmentTags);
  return tags.length === 0
    ? ''
    : ` (it lacks the client ${tags.length === 1 ? 'tag' : 'tags'} ${tags.join(', ')})`;
}

/** Keeps what the heartbeat reports beside the log (OFS-1, OFS-4). */
function hearMember(draft: Draft, request: HeartbeatRequest, client: Client): void {
  const { memberId, taskOffsets, taskEndOffsets } = request;
  const known = draft.softOf(memberId);
  const saysNothing = taskOffsets === null && taskEndOffsets === null;
  if (saysNothing && known.heartbeatVersion === client.apiVersion) return;
  noteReport(draft, memberId, {
    taskOffsets: taskOffsets ?? known.taskOffsets,
    taskEndOffsets: taskEndOffsets ?? known.taskEndOffsets,
    reportedAtMs: saysNothing ? known.reportedAtMs : draft.context.nowMs,
    heartbeatVersion: client.apiVersion,
  });
}

/** New tags may be misspelt, or not every member has them yet: clients hear of it (RSP-3), and so does who set them. */
function sayLackedTags(draft: Draft): void {
  const members = [...draft.group.members.values()];
  for (const lacked of lackedTags(members, draft.context.settings.rackAwareAssignmentTags)) {
    draft.say(lackedTagText(lacked, members));
  }
}

/** Raises the group epoch once if anything asks for it: the reasons so far, readiness, configs (GE-5, GE-7). @returns whether it did. */
function bumpIfNeeded(draft: Draft, reasons: string[], metadataHash: bigint): boolean {
  const { group, soft, context } = draft;
  const validatedTopologyEpoch = validatedEpoch(soft.configured);
  if (validatedTopologyEpoch !== group.validatedTopologyEpoch && reasons.length === 0) {
    reasons.push(validatedTopologyEpoch < 0 ? 'Topology is not ready' : 'Topology is ready');
  }
  const { settings, behaviour } = context;
  const configs = changedConfigs(group.lastAssignmentConfigs, settings, behaviour);
  // A new group has no configs yet; that alone is no change anyone made.
  if (configs.length > 0 && reasons.length === 0) reasons.push(`${configs.join(', ')} changed`);
  if (reasons.length === 0) return false;
  raiseGroupEpoch(draft, reasons, {
    metadataHash,
    validatedTopologyEpoch,
    lastAssignmentConfigs: assignmentConfigs(settings, behaviour),
  });
  const isNew = group.lastAssignmentConfigs.length === 0;
  if (!isNew && configs.includes(RACK_AWARE_TAGS_KEY)) sayLackedTags(draft);
  return true;
}
