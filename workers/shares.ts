import { at, type Dense, isSet } from './dense.ts';

/** Even shares of something among processes, by how many fresh members they have. */
export type Shares = {
  /** Fresh members of each process. */
  readonly members: Int32Array;
  readonly memberCount: number;
};

export function freshShares({ size, procOf, frozen, facts }: Dense): Shares {
  const members = new Int32Array(size.processes);
  for (let m = 0; m < size.members; m++) {
    const process = at(procOf, m);
    if (!isSet(frozen, m)) members[process] = at(members, process) + 1;
  }
  return { members, memberCount: size.members - facts.stale };
}

/**
 * How many of the tasks each process is to have: the whole part of its even share, and of what is left over one more for
 * those that cannot go below it, then for those that would else have to give one up, then for the largest remainders, then for
 * those that hold most, then in their order.
 *
 * @param least what each process has for certain.
 * @param held what each process holds now.
 */
export function dealShares(
  { members, memberCount }: Shares,
  taskCount: number,
  { least, held }: { readonly least: Int32Array; readonly held: Int32Array },
): Int32Array {
  const target = new Int32Array(members.length);
  if (memberCount === 0) return target;
  let left = taskCount;
  for (let p = 0; p < members.length; p++) {
    target[p] = Math.floor((taskCount * at(members, p)) / memberCount);
    left -= at(target, p);
  }
  if (left === 0) return target;
  const remainder = (p: number): number => (taskCount * at(members, p)) % memberCount;
  const isBound = (p: number): number => (at(least, p) > at(target, p) ? 1 : 0);
  const keepsOne = (p: number): number => (at(held, p) > at(target, p) ? 1 : 0);
  const able = Array.from(members.keys()).filter((p) => remainder(p) > 0);
  able.sort(
    (a, b) =>
      isBound(b) - isBound(a) ||
      keepsOne(b) - keepsOne(a) ||
      remainder(b) - remainder(a) ||
      at(held, b) - at(held, a) ||
      a - b,
  );
  for (const p of able.slice(0, left)) target[p] = at(target, p) + 1;
  return target;
}
