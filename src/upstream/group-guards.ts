import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { Clock } from '../../actors/ports.ts';
import type { Handler, IncomingRequest } from '../server/dispatch.ts';
import { apis, isFlexibleApi } from '../wire/apis.ts';
import type { Reader } from '../wire/reader.ts';
import { within } from '../within.ts';
import type { PassOn } from './pass-on.ts';
import type { Placeholders } from './placeholders.ts';
import { readPrefix } from './request-prefix.ts';

export type GroupGuardParts = {
  readonly coordinator: () => GroupCoordinator;
  readonly passOn: PassOn;
  readonly placeholders: Placeholders;
  readonly clock: Clock;
  /** The handlers that refuse for a streams group, by API key. */
  readonly local: ReadonlyMap<number, Handler>;
};

/** `close`: nobody can say now, so the client has to come again. */
type Verdict = 'pass' | 'refuse' | 'close';

const REBALANCE_TIMEOUT_SINCE = 1;
/** How long a newcomer waits for an empty streams group to be ended; a join upstream may stand before it. */
const WAY_WAIT_MS = 10_000;

/**
 * Keeps members of other protocols out of streams groups: JoinGroup is answered 23 while the group has members, the
 * heartbeats of consumer and share groups 69 in any case. For other ids the request passes untouched.
 *
 * A JoinGroup of a newcomer to an empty streams group ends that group, as in a broker; its offsets stay upstream and
 * the classic group goes on from there.
 *
 * Source: wire.md 4.4; topology-and-admin 13, O-3; coordination MEM-2.
 */
export class GroupGuards {
  private readonly parts: GroupGuardParts;

  constructor(parts: GroupGuardParts) {
    this.parts = parts;
  }

  /** By API key. */
  handlers(): ReadonlyMap<number, Handler> {
    const { JoinGroup, ConsumerGroupHeartbeat, ShareGroupHeartbeat } = apis;
    return new Map([
      this.guarded(JoinGroup.key, (request, groupId) => this.makeWay(request, groupId)),
      this.guarded(ConsumerGroupHeartbeat.key, () => 'refuse'),
      this.guarded(ShareGroupHeartbeat.key, () => 'refuse'),
    ]);
  }

  /**
   * A JoinGroup to an empty streams group. A member of that may be quicker, and then it stays. Whoever brings a member id
   * is nobody's member (25): its classic group was gone before the streams group came, so it has to begin anew.
   */
  private async makeWay(request: IncomingRequest, groupId: string): Promise<Verdict> {
    if (!isNewcomer(request)) return 'refuse';
    const { coordinator, placeholders, clock } = this.parts;
    const made = placeholders.whileAway(groupId, () => coordinator().giveWay(groupId));
    const error = await within(clock, WAY_WAIT_MS, made);
    if (error === 'NONE' || error === 'GROUP_ID_NOT_FOUND') return 'pass';
    return error === 'INCONSISTENT_GROUP_PROTOCOL' ? 'refuse' : 'close';
  }

  /** `ofEmpty` says what becomes of the request when the streams group has no members. */
  private guarded(
    key: number,
    ofEmpty: (request: IncomingRequest, groupId: string) => Verdict | Promise<Verdict>,
  ): readonly [number, Handler] {
    const { coordinator, passOn } = this.parts;
    const refuse = this.parts.local.get(key);
    if (refuse === undefined) throw new Error(`No handler here for API key ${key}`);
    const handler: Handler = (request) =>
      passOn.inOrder(request, async (passedOn) => {
        const groupId = groupIdOf(request);
        const { error, state } = await coordinator().streamsGroup(groupId);
        // While the shard cannot say, the client's connection is all there is to answer with.
        if (error !== 'NONE') return 'close';
        const isEmpty = state === 'Empty';
        const verdict =
          state === undefined ? 'pass' : isEmpty ? await ofEmpty(request, groupId) : 'refuse';
        if (verdict === 'close') return 'close';
        if (verdict === 'refuse') return refuse(request);
        const forwarded = passOn.forwarded(request);
        passedOn();
        return forwarded;
      });
    return [key, handler];
  }
}

/** These requests begin with the group's id. */
function groupIdOf(request: IncomingRequest): string {
  return readPrefix(request, (reader) => textOf(request, reader));
}

/** A JoinGroup without a member id of its own yet. */
function isNewcomer(request: IncomingRequest): boolean {
  return readPrefix(request, (reader) => {
    textOf(request, reader);
    reader.i32();
    if (request.apiVersion >= REBALANCE_TIMEOUT_SINCE) reader.i32();
    return textOf(request, reader) === '';
  });
}

function textOf({ apiKey, apiVersion }: IncomingRequest, reader: Reader): string {
  return isFlexibleApi(apiKey, apiVersion) ? reader.compactStr() : reader.str();
}
