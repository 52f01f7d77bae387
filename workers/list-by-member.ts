import { at } from './dense.ts';

/**
 * Turns members by task into tasks by member: counting sort, so that each list is ascending.
 *
 * @param perTask entries of `memberOf` per task; -1 is nobody.
 */
export function listByMember(
  memberOf: Int32Array,
  start: Int32Array,
  list: Int32Array,
  perTask: number,
): void {
  start.fill(0);
  for (let i = 0; i < memberOf.length; i++) {
    const member = at(memberOf, i);
    if (member !== -1) start[member + 1] = at(start, member + 1) + 1;
  }
  for (let m = 1; m < start.length; m++) start[m] = at(start, m) + at(start, m - 1);
  // Each start serves as the place for the next task of its member, and so ends as the start of the next member.
  for (let i = 0; i < memberOf.length; i++) {
    const member = at(memberOf, i);
    if (member === -1) continue;
    const to = at(start, member);
    list[to] = perTask === 1 ? i : Math.floor(i / perTask);
    start[member] = to + 1;
  }
  for (let m = start.length - 1; m > 0; m--) start[m] = at(start, m - 1);
  start[0] = 0;
}
