import type { TaskList, TaskOffset } from './tasks.ts';
import type { KeyValue } from './topology.ts';

/** One member as an assignor sees it (ASG-7): what it has now, without tasks pending revocation. */
export type AssignmentMember = {
  readonly memberId: string;
  readonly instanceId: string | null;
  readonly rackId: string | null;
  readonly processId: string;
  readonly clientTags: readonly KeyValue[];
  readonly topologyEpoch: number;
  readonly active: TaskList;
  readonly standby: TaskList;
  readonly warmup: TaskList;
  readonly taskOffsets: readonly TaskOffset[];
  readonly taskEndOffsets: readonly TaskOffset[];
};

/** The immutable snapshot a run of an assignor works on. */
export type AssignmentProblem = {
  readonly groupId: string;
  readonly assignor: string;
  readonly topologyEpoch: number;
  /** Sorted by id, code units. */
  readonly subtopologies: readonly {
    readonly subtopologyId: string;
    readonly taskCount: number;
    readonly stateful: boolean;
  }[];
  /** Sorted by member id, code units. */
  readonly members: readonly AssignmentMember[];
  readonly numStandbyReplicas: number;
  readonly acceptableRecoveryLag: bigint;
  readonly rackAwareAssignmentTags: readonly string[];
  /** Tasks are placed as Kafka's own sticky places them, down to which of equals it takes; else as ours does. */
  readonly placeAsKafka?: boolean;
};

/** One entry per member of the problem, in its order; checked against the hard invariants before anyone sees it (ASG-11). */
export type AssignmentResult = {
  readonly members: readonly { readonly active: TaskList; readonly standby: TaskList }[];
  /** Tasks that no eligible member may take (H1). */
  readonly unassigned: TaskList;
};
