import type { Group } from './model/group.ts';
import type { TargetChange } from './model/look-back.ts';
import type { TargetsOfGroup } from './off-target.ts';
import type { MadeTarget } from './records.ts';

/** A new target: what it changes, and what becomes of the group's targets with it. */
export type NewTarget = {
  /** By id. */
  readonly changes: readonly TargetChange[];
  /** One for each change, in their order. */
  readonly records: readonly MadeTarget[];
  readonly made: TargetsOfGroup;
};

/** A target as it is to be installed if nothing happened since its run began. */
export type PreparedTarget = NewTarget & {
  /** The group that the run was about. */
  readonly group: Group;
};
