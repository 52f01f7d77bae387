import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { HeartbeatAnswer } from '../../machines/commands.ts';

type Call = { readonly method: string; readonly args: readonly unknown[] };

/** The answer to a heartbeat in which nothing happened. */
export const IDLE_ANSWER: HeartbeatAnswer = {
  error: 'NONE',
  errorMessage: null,
  memberId: 'm',
  memberEpoch: 2,
  heartbeatIntervalMs: 5_000,
  acceptableRecoveryLag: 10_000n,
  taskOffsetIntervalMs: 60_000,
  statuses: [],
  activeTasks: null,
  standbyTasks: null,
  warmupTasks: null,
  endpointInformationEpoch: 0,
  partitionsByUserEndpoint: null,
  topologyDescriptionRequired: false,
};

/** A coordinator that answers what it is told to, and keeps what it was asked. What is not told fails. */
export function fakeGroupCoordinator(answers: Partial<GroupCoordinator>): {
  readonly coordinator: GroupCoordinator;
  readonly calls: readonly Call[];
} {
  const calls: Call[] = [];
  const coordinator = new Proxy(answers, {
    get: (target, method) => {
      const answer: unknown = Reflect.get(target, method);
      return (...args: readonly unknown[]) => {
        calls.push({ method: String(method), args });
        if (typeof answer !== 'function')
          throw new Error(`Nobody said what ${String(method)} answers`);
        return answer(...args);
      };
    },
  });
  return { coordinator: coordinator as GroupCoordinator, calls };
}
