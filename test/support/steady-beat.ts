import type { HeartbeatRequest } from '../../machines/commands.ts';

/** A heartbeat that says nothing new. */
export function steadyBeat(
  groupId: string,
  memberId: string,
  memberEpoch: number,
): HeartbeatRequest {
  return {
    groupId,
    memberId,
    memberEpoch,
    endpointInformationEpoch: 0,
    instanceId: null,
    rackId: null,
    rebalanceTimeoutMs: -1,
    topology: null,
    activeTasks: null,
    standbyTasks: null,
    warmupTasks: null,
    processId: null,
    userEndpoint: null,
    clientTags: null,
    taskOffsets: null,
    taskEndOffsets: null,
    shutdownApplication: false,
  };
}
