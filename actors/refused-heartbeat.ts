import type { HeartbeatAnswer } from '../machines/commands.ts';

/** A heartbeat's answer that is an error: everything else has the wire's default. */
export function refusedHeartbeat(
  error: HeartbeatAnswer['error'],
  text: string | null,
): HeartbeatAnswer {
  return {
    error,
    errorMessage: text,
    memberId: '',
    memberEpoch: 0,
    heartbeatIntervalMs: 0,
    acceptableRecoveryLag: -1n,
    taskOffsetIntervalMs: 0,
    statuses: [],
    activeTasks: null,
    standbyTasks: null,
    warmupTasks: null,
    endpointInformationEpoch: 0,
    partitionsByUserEndpoint: null,
    topologyDescriptionRequired: false,
  };
}
