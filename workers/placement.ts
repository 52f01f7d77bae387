import { at, type Dense, isSet } from './dense.ts';
import { listAll } from './member-lists.ts';

/** Where every task is to be, in dense numbers: what comes of an assignor that is not one of ours. */
export type Placement = {
  /** By task: a member, or -1. */
  readonly active: Int32Array;
  /** By task `slots` members; the rest -1. */
  readonly standby: Int32Array;
};

/**
 * Makes a placement the result of a problem, as if one of our assignors had found it. Trusts nothing of it: members that
 * are none, and standbys of stateless tasks, are refused here, everything else is for `findBreach` to find.
 *
 * @returns what is wrong with it, beginning with the rule's id; undefined if the result is filled in.
 *
 * Source: assignors 2 (H2, H4).
 */
export function takePlacement(dense: Dense, { active, standby }: Placement): string | undefined {
  const { size, subtopologyOf, stateful } = dense;
  if (active.length !== size.tasks || standby.length !== size.tasks * size.slots) {
    return `H2: placement of ${active.length} tasks and ${standby.length} standbys, wanted ${size.tasks} and ${size.tasks * size.slots}`;
  }
  for (let t = 0; t < size.tasks; t++) {
    const owner = at(active, t);
    if (!isMember(dense, owner)) return `H2: active task ${t} is on unknown member ${owner}`;
  }
  for (let place = 0; place < standby.length; place++) {
    const member = at(standby, place);
    if (member === -1) continue;
    const task = Math.floor(place / size.slots);
    if (!isMember(dense, member)) return `H2: standby ${task} is on unknown member ${member}`;
    if (!isSet(stateful, at(subtopologyOf, task)))
      return `H4: stateless task ${task} has a standby`;
  }
  dense.active.set(active);
  dense.standby.set(standby);
  listAll(dense);
  return undefined;
}

function isMember({ size }: Dense, member: number): boolean {
  return member >= -1 && member < size.members;
}
