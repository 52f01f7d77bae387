import { at, type Dense } from './dense.ts';
import type { LeastLoaded } from './least-loaded.ts';
import type { ProcessMembers } from './process-members.ts';

/** What the rack rule needs to know of the pass it serves. */
export type RackPass = {
  readonly dense: Dense;
  readonly task: number;
  /** The first `held` entries of `dense.holders` are the processes that hold the task; they are marked with it. */
  readonly held: number;
  /** Members with this many tasks have no room, unless `dense.groupRoom` allows their tag group more. */
  readonly limit: number;
  readonly members: ProcessMembers;
  /** Grouped by equal tags: `dense.tagGroup`. */
  readonly processes: LeastLoaded;
};

export function limitOf({ dense, limit }: RackPass, group: number): number {
  return Math.max(limit, at(dense.groupRoom, group));
}

/** Whether a member of the process has room. */
export function hasRoom(pass: RackPass, process: number): boolean {
  const { count, tagGroup } = pass.dense;
  return at(count, pass.members.least(process)) < limitOf(pass, at(tagGroup, process));
}

/** Whether no process that holds the task has the value of this one. A missing value is never new. */
export function isNewValue({ dense, held }: RackPass, process: number, key: number): boolean {
  const { tagValue, holders, size } = dense;
  const value = at(tagValue, process * size.tagKeys + key);
  if (value === -1) return false;
  for (let i = 0; i < held; i++) {
    if (at(tagValue, at(holders, i) * size.tagKeys + key) === value) return false;
  }
  return true;
}
