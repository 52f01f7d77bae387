import type { CommittedOffset } from './model/group.ts';
import type { CurrentAssignment, MemberMetadata } from './model/member.ts';
import type { TasksByRole } from './model/tasks.ts';
import type { KeyValue, Topology } from './model/topology.ts';

/**
 * The records of a group's log as values; a null value is a tombstone. Types, keys and bytes are Kafka's own
 * (`src/wire/records`).
 *
 * Source: records-and-configs, sections 1 and 2.
 */
export type GroupRecord =
  | GroupMetadataRecord
  | MemberMetadataRecord
  | TargetMetadataRecord
  | TargetMemberRecord
  | CurrentAssignmentRecord
  | TopologyRecord
  | OffsetCommitRecord;

/** Type 17. */
export type GroupMetadataRecord = {
  readonly type: 'groupMetadata';
  readonly groupId: string;
  readonly value: {
    readonly groupEpoch: number;
    readonly metadataHash: bigint;
    readonly validatedTopologyEpoch: number;
    readonly lastAssignmentConfigs: readonly KeyValue[];
    readonly storedDescriptionTopologyEpoch: number;
    readonly failedDescriptionTopologyEpoch: number;
  } | null;
};

/** Type 19. */
export type MemberMetadataRecord = {
  readonly type: 'memberMetadata';
  readonly groupId: string;
  readonly memberId: string;
  readonly value: MemberMetadata | null;
};

/** Type 20. */
export type TargetMetadataRecord = {
  readonly type: 'targetMetadata';
  readonly groupId: string;
  readonly value: {
    readonly assignmentEpoch: number;
    readonly assignmentTimestampMs: number;
  } | null;
};

/** Type 21. */
export type TargetMemberRecord = {
  readonly type: 'targetMember';
  readonly groupId: string;
  readonly memberId: string;
  readonly value: TasksByRole | null;
};

/** A target that there is, not its end. */
export type MadeTarget = TargetMemberRecord & { readonly value: TasksByRole };

/** Type 22. */
export type CurrentAssignmentRecord = {
  readonly type: 'currentAssignment';
  readonly groupId: string;
  readonly memberId: string;
  readonly value: CurrentAssignment | null;
};

/** Type 23. */
export type TopologyRecord = {
  readonly type: 'topology';
  readonly groupId: string;
  readonly value: Topology | null;
};

/** Type 1. */
export type OffsetCommitRecord = {
  readonly type: 'offsetCommit';
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly value: CommittedOffset | null;
};
