import {
  CANDIDATE_KINDS,
  type CandidateKind,
  candidatesFrom,
  candidatesTo,
  hasCandidates,
} from './candidates.ts';
import { at, type Dense } from './dense.ts';
import { countHeld } from './keep-actives.ts';
import { placeActive, type Run, STALE } from './run.ts';
import { isOfKind, sortFew } from './task-order.ts';

/**
 * Before step 1 of `sticky`: chooses which stateful actives leave the members that have more than their share. As far as
 * there is a choice those go whose state lies with somebody below the share, and they go there. It moves nothing that
 * evenness lets stay, so a member at or below its share keeps all it has; and who comes back after a restart gets tasks
 * whose state it still has.
 *
 * Source: assignors 3 (lower bound of moves, Q9), 6.1.
 */
export function handOver(run: Run): void {
  const { dense, statefulQuota } = run;
  const { size, facts, prevActive, planned, count, few } = dense;
  if (facts.held === 0 || size.candidates === 0 || facts.stale === size.members) return;
  countHeld(dense, 'stateful');
  const { floor } = statefulQuota;
  let above = 0;
  let most = 0;
  for (let m = 0; m < size.members; m++) {
    if (at(count, m) >= STALE) {
      planned[m] = TAKES_NO_PART;
    } else {
      if (at(planned, m) > floor) above++;
      if (at(planned, m) > most) most = at(planned, m);
    }
  }
  // So many may keep one more than the floor; who else is there goes down to it.
  let toFloor = Math.max(0, above - statefulQuota.overFloor);
  if (most <= floor + 1 && toFloor === 0) return;

  for (const kind of CANDIDATE_KINDS) {
    if (!hasCandidates(dense, kind)) continue;
    const taskCount = gatherMovable(dense, floor, kind);
    sortFew(dense, taskCount, 'stateful');
    for (let i = 0; i < taskCount; i++) {
      const task = at(few, i);
      const holder = at(prevActive, task);
      const has = at(planned, holder);
      if (has <= floor || (has === floor + 1 && toFloor === 0)) continue;
      const receiver = findReceiver(dense, task, kind, floor);
      if (receiver === -1) continue;
      if (has === floor + 1) toFloor--;
      planned[holder] = has - 1;
      planned[receiver] = at(planned, receiver) + 1;
      placeActive(run, task, receiver, 'stateful');
    }
  }
}

/** Gathers in `few` the tasks of members above the floor that have candidates of a kind; returns how many. */
function gatherMovable(dense: Dense, floor: number, kind: CandidateKind): number {
  const { size, base, active, prevActive, planned, few, candStart, candDisk } = dense;
  const ofCopies = kind === 'copies';
  let filled = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isOfKind(dense, s, 'stateful')) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      const holder = at(prevActive, task);
      if (holder === -1 || at(active, task) !== -1) continue;
      const has = at(planned, holder);
      if (has <= floor || has === TAKES_NO_PART) continue;
      const disk = at(candDisk, task);
      if (ofCopies ? at(candStart, task) < disk : disk < at(candStart, task + 1)) {
        few[filled++] = task;
      }
    }
  }
  return filled;
}

const TAKES_NO_PART = 2 ** 30;

/** The first candidate that is below the floor, or whose process has a member that is. */
function findReceiver(dense: Dense, task: number, kind: CandidateKind, floor: number): number {
  const { candMember, planned, procOf, procStart, procMember } = dense;
  const end = candidatesTo(dense, task, kind);
  for (let c = candidatesFrom(dense, task, kind); c < end; c++) {
    const member = at(candMember, c);
    if (at(planned, member) < floor) return member;
    const process = at(procOf, member);
    for (let i = at(procStart, process); i < at(procStart, process + 1); i++) {
      const sibling = at(procMember, i);
      if (at(planned, sibling) < floor) return sibling;
    }
  }
  return -1;
}
