import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { ErrorName } from '../../machines/model/refusal.ts';
import type { Answer, Handler, IncomingRequest } from '../server/dispatch.ts';
import { isFlexibleApi } from '../wire/apis.ts';
import { errorCode } from '../wire/errors.ts';
import { encodeResponseFrame } from '../wire/headers.ts';
import type { Reader } from '../wire/reader.ts';
import type { PassOn } from './pass-on.ts';
import type { Placeholders } from './placeholders.ts';
import { readPrefix } from './request-prefix.ts';

export type GroupGuardParts = {
  readonly coordinator: () => GroupCoordinator;
  readonly passOn: PassOn;
  readonly placeholders: Placeholders;
};

const REBALANCE_TIMEOUT_SINCE = 1;
/** After these there is no streams group under the id any more. */
const ENDED: readonly ErrorName[] = ['NONE', 'GROUP_ID_NOT_FOUND'];

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

  joinGroup(): Handler {
    return this.guarded(async (request, groupId, isEmpty) => {
      if (isEmpty) {
        if (!isNewcomer(request)) return undefined;
        const error = await this.endGroup(groupId);
        if (ENDED.includes(error)) return undefined;
        if (error !== 'NON_EMPTY_GROUP') return 'close';
      }
      const { apiVersion, correlationId } = request;
      return encodeResponseFrame('JoinGroup', apiVersion, correlationId, {
        errorCode: errorCode('INCONSISTENT_GROUP_PROTOCOL'),
      });
    });
  }

  /** Ends an empty streams group; a member of it may be quicker, and then it stays. */
  private async endGroup(groupId: string): Promise<ErrorName> {
    const { coordinator, placeholders } = this.parts;
    const [ended] = await placeholders.whileAway(groupId, () => coordinator().delete([groupId]));
    return ended?.error ?? 'NONE';
  }

  /** Of ConsumerGroupHeartbeat and ShareGroupHeartbeat: answers with an error alone look the same. */
  otherHeartbeat(): Handler {
    return this.guarded(async (request, groupId) => {
      const { correlationId } = request;
      return encodeResponseFrame('ConsumerGroupHeartbeat', 0, correlationId, {
        errorCode: errorCode('GROUP_ID_NOT_FOUND'),
        errorMessage: `Group "${groupId}" is a streams group`,
      });
    });
  }

  /** `refuse` gives undefined to let the request pass after all. */
  private guarded(
    refuse: (
      request: IncomingRequest,
      groupId: string,
      isEmpty: boolean,
    ) => Promise<Answer | undefined>,
  ): Handler {
    const { coordinator, passOn } = this.parts;
    return (request) =>
      passOn.inOrder(request, async (passedOn) => {
        const groupId = groupIdOf(request);
        const { error, state } = await coordinator().streamsGroup(groupId);
        // While the shard cannot say, the client's connection is all there is to answer with.
        if (error !== 'NONE') return 'close';
        if (state !== undefined) {
          const answer = await refuse(request, groupId, state === 'Empty');
          if (answer !== undefined) return answer;
        }
        const forwarded = passOn.forwarded(request);
        passedOn();
        return forwarded;
      });
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
