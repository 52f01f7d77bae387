import type { HeldTasks } from './tasks.ts';
import type { KeyValue } from './topology.ts';

/** Where an application serves interactive queries; `port` 0 to 65535. */
export type Endpoint = { readonly host: string; readonly port: number };

/** What a member registered with; the value of the member record (type 19). */
export type MemberMetadata = {
  readonly instanceId: string | null;
  readonly rackId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  readonly rebalanceTimeoutMs: number;
  readonly topologyEpoch: number;
  readonly processId: string;
  readonly userEndpoint: Endpoint | null;
  /** Ascending by key. */
  readonly clientTags: readonly KeyValue[];
};

/** The states of a member (SC-10); `unknown` is a state byte of a newer version. */
export type MemberState = 'stable' | 'unrevokedTasks' | 'unreleasedTasks' | 'unknown';

/** What a member has now; the value of the current-assignment record (type 22). */
export type CurrentAssignment = {
  readonly memberEpoch: number;
  readonly previousMemberEpoch: number;
  readonly state: MemberState;
  /** The tasks it may run. */
  readonly assigned: HeldTasks;
  /** The tasks it was told to give up and has not confirmed. */
  readonly pendingRevocation: HeldTasks;
};

export type Member = { readonly memberId: string } & MemberMetadata & CurrentAssignment;
