import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { Clock } from '../../actors/ports.ts';
import { requiredTopics } from '../../machines/decide/topology.ts';
import { JOIN_EPOCH } from '../../machines/model/ids.ts';
import type { UpstreamTopics } from '../cluster/upstream-topics.ts';
import { decodeBody, reply } from '../server/answering.ts';
import type { Answer, Handler, IncomingRequest } from '../server/dispatch.ts';
import type { WireErrorName } from '../wire/errors.ts';
import { errorCode } from '../wire/errors.ts';
import { within } from '../within.ts';
import type { Hold, Placeholders } from './placeholders.ts';
import { readPrefix } from './request-prefix.ts';

export type HeartbeatGuardParts = {
  readonly coordinator: () => GroupCoordinator;
  readonly placeholders: Placeholders;
  readonly topics: UpstreamTopics;
  readonly clock: Clock;
  /** The handler that answers heartbeats here. */
  readonly local: Handler;
};

/** How long a join waits for the placeholder; then the client is told to come again. */
const JOIN_WAIT_MS = 5_000;
const GROUPS_MAX = 1_000_000;

/** What a member that wants to join is told while the group upstream is not held for us. */
const refusals: Readonly<Record<Exclude<Hold, 'joined'>, readonly [WireErrorName, string]>> = {
  conflict: [
    'GROUP_ID_NOT_FOUND',
    'A live group of another kind holds this id upstream: it must be empty first',
  ],
  fenced: ['NOT_COORDINATOR', 'Another gateway coordinates this group now'],
  forbidden: ['GROUP_AUTHORIZATION_FAILED', 'The gateway may not join this group upstream'],
  unavailable: ['COORDINATOR_NOT_AVAILABLE', 'The group upstream cannot be reached now'],
};

/**
 * Stands before the heartbeats that are answered here and lets one through when upstream is ready for it.
 *
 * A join waits, in its connection's order, until the placeholder holds the group's id upstream. After a start, the
 * first heartbeat of a stored group waits until its topics were looked at once: topics that nobody has looked for yet
 * are not missing. Members that are told to come again meanwhile keep their places. All other heartbeats go straight on, whether upstream is there or not.
 *
 * Source: wire.md 4.10, 4.11, 6.4; coordination JOIN-3.
 */
export class HeartbeatGuard {
  private readonly parts: HeartbeatGuardParts;
  /** Groups whose topics were looked at. */
  private readonly prepared = new Set<string>();

  constructor(parts: HeartbeatGuardParts) {
    this.parts = parts;
  }

  handler(): Handler {
    const { placeholders, local } = this.parts;
    return (request) => {
      const { groupId, memberId, memberEpoch } = identityOf(request);
      if (placeholders.isFenced(groupId)) return refused(request, ...refusals.fenced);
      if (memberEpoch < JOIN_EPOCH) return local(request);
      const isHeld = memberEpoch > JOIN_EPOCH || placeholders.identity(groupId) !== undefined;
      if (isHeld && this.prepared.has(groupId)) {
        if (memberEpoch === JOIN_EPOCH) void placeholders.ensure(groupId);
        return local(request);
      }
      return this.delayed(request, groupId, memberEpoch === JOIN_EPOCH ? undefined : memberId);
    };
  }

  private async delayed(
    request: IncomingRequest,
    groupId: string,
    /** Undefined: it joins. */
    memberId: string | undefined,
  ): Promise<Answer> {
    const { clock } = this.parts;
    const isJoin = memberId === undefined;
    // The handler is called before the connection's next request is taken; its answer may take longer.
    const held = isJoin ? this.parts.placeholders.ensure(groupId) : Promise.resolve<Hold>('joined');
    const ready = Promise.all([this.prepare(groupId, isJoin ? request : undefined), held]);
    const handedOver = within(clock, JOIN_WAIT_MS, ready).then((outcome) => ({
      answer: this.handOver(request, outcome, () => {
        if (memberId !== undefined) this.parts.coordinator().heard(groupId, memberId);
      }),
    }));
    request.connection.holdUntil(handedOver);
    return (await handedOver).answer;
  }

  private handOver(
    request: IncomingRequest,
    outcome: readonly [isPrepared: boolean, hold: Hold] | undefined,
    heard: () => void,
  ): Answer | Promise<Answer> {
    const [isPrepared, hold] = outcome ?? [false, 'joined' as const];
    if (hold !== 'joined') return refused(request, ...refusals[hold]);
    if (isPrepared) return this.parts.local(request);
    // Nobody judges it, so nothing is held against it: a member that keeps beating keeps its place.
    heard();
    return refused(request, 'COORDINATOR_LOAD_IN_PROGRESS', 'Upstream has not answered yet');
  }

  /** Sees to it that the topics of the group were looked at, and those that a join names; says whether they were. */
  private async prepare(groupId: string, join: IncomingRequest | undefined): Promise<boolean> {
    const { coordinator, topics } = this.parts;
    const stored = coordinator().view(groupId)?.group.topology;
    const named = join === undefined ? null : decodeBody('StreamsGroupHeartbeat', join).topology;
    const names = [stored, named].flatMap((topology) => (topology ? requiredTopics(topology) : []));
    if (!(await topics.learns(names))) return false;
    if (stored === undefined) return true;
    if (this.prepared.size >= GROUPS_MAX) this.prepared.clear();
    this.prepared.add(groupId);
    return true;
  }
}

/** Group, member and epoch, without reading the rest of the request. */
function identityOf(request: IncomingRequest) {
  return readPrefix(request, (reader) => {
    const groupId = reader.compactStr();
    const memberId = reader.compactStr();
    return { groupId, memberId, memberEpoch: reader.i32() };
  });
}

function refused(request: IncomingRequest, error: WireErrorName, text: string): Answer {
  return reply('StreamsGroupHeartbeat', request, {
    errorCode: errorCode(error),
    errorMessage: text,
  });
}
