import { type CandidateKind, candidateBounds } from './candidates.ts';
import { at, type Dense, isSet } from './dense.ts';
import { sureShare } from './keep-actives.ts';
import type { Run } from './run.ts';
import { areFewListed } from './task-order.ts';

/**
 * Writes standbys down where nobody contests them: with all candidates of a kind that do not hold the task yet, one of each
 * process, if all of them are wanted. What stays as it was is so placed without a look at one task after the other in
 * their order.
 *
 * They are on no account yet: `planned` says how many each member has of them, and `fixed` by task how many standbys it had
 * before. {@link settlePlanned} puts them on accounts, or takes them back.
 *
 * @returns how many tasks have more candidates than are wanted; `order` lists them.
 *
 * Source: assignors 6.1 (standby pass).
 */
export function planUncontested(dense: Dense, kind: CandidateKind): number {
  const { size, base, stateful, order, active, procOf, candMember } = dense;
  const { standby, standbyCount, planned } = dense;
  const { slots } = size;
  const { start, stop } = candidateBounds(dense, kind);
  let length = 0;
  planned.fill(0);
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      const end = stop[task] as number;
      let c = start[task] as number;
      const placed = standbyCount[task] as number;
      if (c === end || placed === slots) continue;
      const owner = active[task] as number;
      const ownerProcess = owner === -1 ? -1 : (procOf[owner] as number);
      const first = task * slots;
      let next = first + placed;
      for (; c < end; c++) {
        const member = candMember[c] as number;
        const process = procOf[member] as number;
        if (process === ownerProcess) continue;
        let held = first;
        while (held < next && procOf[standby[held] as number] !== process) held++;
        if (held < next) continue;
        if (next === first + slots) break;
        standby[next++] = member;
        planned[member] = (planned[member] as number) + 1;
      }
      if (c === end) {
        standbyCount[task] = next - first;
        continue;
      }
      // One more than is wanted.
      order[length++] = task;
      while (next > first + placed) {
        const member = standby[--next] as number;
        planned[member] = (planned[member] as number) - 1;
        standby[next] = -1;
      }
    }
  }
  return length;
}

/** A loop: `fill` takes longer for so few places than all the rest. */
function empty(standby: Int32Array, from: number, to: number): void {
  for (let place = from; place < to; place++) standby[place] = -1;
}

/** Strikes one standby out that is only written down; the others stay in their order. */
export function strikeOut(dense: Dense, task: number, member: number): void {
  const { size, standby, standbyCount, planned } = dense;
  const last = task * size.slots + at(standbyCount, task) - 1;
  let place = task * size.slots;
  while (standby[place] !== member) place++;
  for (; place < last; place++) standby[place] = at(standby, place + 1);
  standby[last] = -1;
  standbyCount[task] = at(standbyCount, task) - 1;
  planned[member] = at(planned, member) - 1;
}

/** Takes back the standbys of a task that are only written down. */
export function takeBack(
  { size, standby, standbyCount, fixed, planned }: Dense,
  task: number,
): void {
  const from = task * size.slots + at(fixed, task);
  const end = task * size.slots + at(standbyCount, task);
  for (let place = from; place < end; place++) {
    const member = standby[place] as number;
    // Of members above their share nothing is placed, whatever is planned.
    const plan = planned[member] as number;
    if (plan > 0) planned[member] = plan - 1;
  }
  empty(standby, from, end);
  standbyCount[task] = at(fixed, task);
}

/**
 * Puts on accounts what {@link planUncontested} has written down, for members that have room for all that is planned for
 * them; takes back the standbys of tasks of which anyone has not.
 *
 * @param length how many tasks are in `order`; those that are taken back are added.
 * @returns how many there are then, in no order.
 *
 * Source: assignors 6.1 (standby pass).
 */
export function settlePlanned(run: Run, kind: CandidateKind, length: number): number {
  const { dense, totalQuota } = run;
  const { planned, count, procOf, procCount } = dense;
  const contested = markAboveShare(dense, sureShare(dense, totalQuota))
    ? takeBackContested(dense, kind, length)
    : length;
  for (let m = 0; m < planned.length; m++) {
    const copies = planned[m] as number;
    if (copies <= 0) continue;
    run.lacking -= copies;
    const has = (count[m] as number) + copies;
    count[m] = has;
    const process = procOf[m] as number;
    procCount[process] = (procCount[process] as number) + copies;
    if (has === totalQuota.limit) totalQuota.reached(has);
  }
  return contested;
}

/** Negates what is planned for members that are not sure to get all of it; says whether there are any. */
function markAboveShare({ count, planned }: Dense, sure: number): boolean {
  let isAny = false;
  for (let m = 0; m < planned.length; m++) {
    const plan = planned[m] as number;
    if (plan === 0 || (count[m] as number) + plan <= sure) continue;
    planned[m] = -plan;
    isAny = true;
  }
  return isAny;
}

/** Takes back the standbys of tasks of which a member above its share was to get one. */
function takeBackContested(dense: Dense, kind: CandidateKind, length: number): number {
  const { planned, candTask, order } = dense;
  const start = kind === 'copies' ? dense.copyStart : dense.diskStart;
  let entries = 0;
  for (let m = 0; m < planned.length; m++) {
    if ((planned[m] as number) < 0) entries += at(start, m + 1) - at(start, m);
  }
  if (!areFewListed(dense, entries)) return takeBackOfMany(dense, length);
  let contested = length;
  for (let m = 0; m < planned.length; m++) {
    if ((planned[m] as number) >= 0) continue;
    const end = start[m + 1] as number;
    for (let i = start[m] as number; i < end; i++) {
      const task = candTask[i] as number;
      if (!isContested(dense, task)) continue;
      takeBack(dense, task);
      order[contested++] = task;
    }
  }
  return contested;
}

function takeBackOfMany(dense: Dense, length: number): number {
  const { size, base, stateful, order } = dense;
  let contested = length;
  for (let s = 0; s < size.subtopologies; s++) {
    if (!isSet(stateful, s)) continue;
    const to = at(base, s + 1);
    for (let task = at(base, s); task < to; task++) {
      if (!isContested(dense, task)) continue;
      takeBack(dense, task);
      order[contested++] = task;
    }
  }
  return contested;
}

/** Whether a standby that is only written down is a member's for whom that would be too much. */
function isContested(
  { size, standby, standbyCount, fixed, planned }: Dense,
  task: number,
): boolean {
  const end = task * size.slots + (standbyCount[task] as number);
  for (let place = task * size.slots + (fixed[task] as number); place < end; place++) {
    if ((planned[standby[place] as number] as number) < 0) return true;
  }
  return false;
}
