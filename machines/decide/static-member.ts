import type { HeartbeatRequest } from '../commands.ts';
import { JOIN_EPOCH, STATIC_LEAVE_EPOCH } from '../model/ids.ts';
import { Refusal } from '../model/refusal.ts';

/**
 * Refuses what only static members ask for: a join with an instance id, a leave that means to come back. Static
 * membership is not supported yet; rules STAT-1 to STAT-5 and LEAVE-3 to LEAVE-5 have their place here.
 *
 * @throws Refusal INVALID_REQUEST.
 */
export function refuseStaticMember(request: HeartbeatRequest): void {
  const { memberEpoch, instanceId } = request;
  if (memberEpoch === STATIC_LEAVE_EPOCH) refuse('Leaving with MemberEpoch -2', instanceId);
  if (memberEpoch === JOIN_EPOCH && instanceId !== null) refuse('Joining with one', instanceId);
}

function refuse(what: string, instanceId: string | null): never {
  throw new Refusal(
    'INVALID_REQUEST',
    `InstanceId is "${instanceId}": ${what} is not supported yet`,
  );
}
