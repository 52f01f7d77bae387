import { at, type Dense, isSet } from './dense.ts';

/** Who had how much before a run, and who has how much after it. */
export type Tally = {
  readonly statefulTasks: number;
  /** Actives that somebody had, and those of them that have another owner now, or none; then the same of stateful ones. */
  readonly held: number;
  readonly moved: number;
  readonly statefulHeld: number;
  readonly statefulMoved: number;
  /** Members that take part: fresh ones, and stale ones that have an active task. */
  readonly sharers: number;
  /** By member: actives before. */
  readonly heldActive: Int32Array;
  readonly heldStateful: Int32Array;
  /** By member: actives after. */
  readonly hasActive: Int32Array;
  readonly hasStateful: Int32Array;
  /** By process: members that take part. */
  readonly procSharers: Int32Array;
};

/** Counts what the passes that look back on a run compare. */
export function tallyRun(dense: Dense): Tally {
  const { size, base, active, prevActive, frozen, procOf } = dense;
  const heldActive = new Int32Array(size.members);
  const heldStateful = new Int32Array(size.members);
  const hasActive = new Int32Array(size.members);
  const hasStateful = new Int32Array(size.members);
  let statefulTasks = 0;
  let held = 0;
  let moved = 0;
  let statefulHeld = 0;
  let statefulMoved = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    const to = at(base, s + 1);
    const isStateful = isSet(dense.stateful, s);
    const heldBy = isStateful ? heldStateful : heldActive;
    const hasNow = isStateful ? hasStateful : hasActive;
    let heldHere = 0;
    let movedHere = 0;
    for (let task = at(base, s); task < to; task++) {
      const holder = at(prevActive, task);
      const owner = at(active, task);
      if (owner !== -1) hasNow[owner] = at(hasNow, owner) + 1;
      if (holder === -1) continue;
      heldBy[holder] = at(heldBy, holder) + 1;
      heldHere++;
      if (owner !== holder) movedHere++;
    }
    held += heldHere;
    moved += movedHere;
    if (!isStateful) continue;
    statefulTasks += to - at(base, s);
    statefulHeld += heldHere;
    statefulMoved += movedHere;
  }
  const procSharers = new Int32Array(size.processes);
  let sharers = 0;
  for (let m = 0; m < size.members; m++) {
    heldActive[m] = at(heldActive, m) + at(heldStateful, m);
    hasActive[m] = at(hasActive, m) + at(hasStateful, m);
    if (isSet(frozen, m) && at(hasActive, m) === 0) continue;
    sharers++;
    const process = at(procOf, m);
    procSharers[process] = at(procSharers, process) + 1;
  }
  return {
    statefulTasks,
    held,
    moved,
    statefulHeld,
    statefulMoved,
    sharers,
    heldActive,
    heldStateful,
    hasActive,
    hasStateful,
    procSharers,
  };
}
