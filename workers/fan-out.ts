import { processOfPlace } from './copies.ts';
import { at, type Dense } from './dense.ts';
import { type Run, STALE } from './run.ts';
import { forEachTask, type TaskKind } from './task-order.ts';

/**
 * Gives the actives of a kind that lie on a process (`dense.taskProc`) to its members.
 *
 * @param how.stays a task goes to the member that holds it now, in any role, as far as the level allows.
 * @param how.even no member gets more of a subtopology than the largest even share of fresh ones, while others can take it.
 */
export function fanOutActives(
  { dense }: Run,
  kind: TaskKind,
  how: { readonly stays: boolean; readonly even: boolean },
): void {
  const { taskProc, active } = dense;
  listByProcess(dense, (visit) => {
    forEachTask(dense, kind, (task) => {
      // Actives that a stale member keeps have their owner already.
      if (at(active, task) === -1 && at(taskProc, task) !== -1) visit(task, at(taskProc, task));
    });
  });
  const largest = how.even ? largestShares(dense, kind) : undefined;
  shareAll(dense, { place: active, perTask: 1, stays: how.stays, largest });
}

/** As {@link fanOutActives}, for the places in `dense.standby` that are marked with a process. */
export function fanOutStandbys({ dense }: Run): void {
  listStandbysByProcess(dense);
  const { standby, size } = dense;
  shareAll(dense, { place: standby, perTask: size.slots, stays: true, largest: undefined });
}

/** Fills `entry` and `entryStart` with the places in `dense.standby` that are marked with a process. */
export function listStandbysByProcess(dense: Dense): void {
  const { standby } = dense;
  listByProcess(dense, (visit) => {
    for (let slot = 0; slot < standby.length; slot++) {
      const process = processOfPlace(at(standby, slot));
      if (process !== -1) visit(slot, process);
    }
  });
}

function shareAll(dense: Dense, round: Round): void {
  const fanOut = new FanOut(dense, round);
  for (let p = 0; p < dense.size.processes; p++) fanOut.share(p);
}

/** Fills `entry` and `entryStart`. @param entries calls what it is given for each entry, ascending; called twice. */
export function listByProcess(
  { size, entry, entryStart }: Dense,
  entries: (visit: (entry: number, process: number) => void) => void,
): void {
  entryStart.fill(0);
  entries((_, process) => {
    entryStart[process + 1] = at(entryStart, process + 1) + 1;
  });
  for (let p = 0; p < size.processes; p++) {
    entryStart[p + 1] = at(entryStart, p + 1) + at(entryStart, p);
  }
  const next = entryStart.slice();
  entries((each, process) => {
    const to = at(next, process);
    entry[to] = each;
    next[process] = to + 1;
  });
}

type Round = {
  /** Where the owner of an entry is written. */
  readonly place: Int32Array;
  /** Entries per task: an entry's task is the whole part of their quotient. */
  readonly perTask: number;
  readonly stays: boolean;
  /** By subtopology: nobody gets more of it while others can take it. Undefined: that does not count. */
  readonly largest: Int32Array | undefined;
};

/** A table with more fields than this is not worth its room: members of such a process take tasks as they come. */
const TABLE_MAX = 1 << 22;

/**
 * Brings all fresh members of a process to the same number of tasks, or one more. Tasks stay as long as their member is
 * below the level; members below it take the others in turn; what is left then is less than one each, and goes to holders
 * at the level first.
 *
 * Source: assignors 6.2, step 4; section 3 (Q3).
 */
class FanOut {
  readonly #dense: Dense;
  readonly #round: Round;
  /** The members of the process at hand lie from `#first` up to `#end` in `procMember`. */
  #first = 0;
  #end = 0;
  #level = 0;
  /** Entries that nobody took yet lie from `#next` up to `#rest` in `dense.entry`. */
  #next = 0;
  #rest = 0;
  /** Tasks that a member got in this round, by subtopology; undefined where that does not count. */
  #table: Int32Array | undefined;

  constructor(dense: Dense, round: Round) {
    this.#dense = dense;
    this.#round = round;
  }

  /** Shares the entries of a process among its members. */
  share(process: number): void {
    const { entryStart, procStart, size } = this.#dense;
    this.#next = at(entryStart, process);
    this.#rest = at(entryStart, process + 1);
    if (this.#next === this.#rest) return;
    this.#first = at(procStart, process);
    this.#end = at(procStart, process + 1);
    this.#level = this.#findLevel();
    const fields = (this.#end - this.#first) * size.subtopologies;
    this.#table = this.#round.largest && fields <= TABLE_MAX ? new Int32Array(fields) : undefined;
    if (this.#round.stays) this.#leaveWithHolders((has) => has < this.#level);
    this.#takeInTurn();
    if (this.#round.stays) this.#leaveWithHolders((has) => has === this.#level);
    this.#takeOneMore();
  }

  /** So many tasks every fresh member gets, with those it has. */
  #findLevel(): number {
    const { procMember, count } = this.#dense;
    let members = 0;
    let tasks = this.#rest - this.#next;
    for (let m = this.#first; m < this.#end; m++) {
      const has = at(count, at(procMember, m));
      if (has >= STALE) continue;
      members++;
      tasks += has;
    }
    return Math.floor(tasks / members);
  }

  /** @param mayKeep whether a holder that has so many tasks keeps one more. */
  #leaveWithHolders(mayKeep: (has: number) => boolean): void {
    const { count, entry, procMember } = this.#dense;
    let rest = this.#next;
    for (let i = this.#next; i < this.#rest; i++) {
      const each = at(entry, i);
      const m = this.#holderOf(each);
      if (m !== -1 && mayKeep(at(count, at(procMember, m))) && this.#staysEven(each, m)) {
        this.#give(each, m);
      } else {
        entry[rest++] = each;
      }
    }
    this.#rest = rest;
  }

  #takeInTurn(): void {
    const { count, entry, procMember } = this.#dense;
    let below = 0;
    for (let m = this.#first; m < this.#end; m++) {
      if (at(count, at(procMember, m)) < this.#level) below++;
    }
    let turn = this.#first;
    while (below > 0 && this.#next < this.#rest) {
      const each = at(entry, this.#next++);
      turn = this.#findTaker(each, turn, (has) => has < this.#level);
      this.#give(each, turn);
      if (at(count, at(procMember, turn)) === this.#level) below--;
      turn = turn + 1 === this.#end ? this.#first : turn + 1;
    }
  }

  /** Fewer entries are left than there are members at the level. */
  #takeOneMore(): void {
    const { entry } = this.#dense;
    while (this.#next < this.#rest) {
      const each = at(entry, this.#next++);
      this.#give(
        each,
        this.#findTaker(each, this.#first, (has) => has === this.#level),
      );
    }
  }

  /**
   * The next member from a place on that may take one: one that keeps the subtopology even, if there is one.
   *
   * @param may whether a member that has so many tasks may; somebody has to.
   */
  #findTaker(entry: number, from: number, may: (has: number) => boolean): number {
    const { count, procMember } = this.#dense;
    let any = -1;
    let m = from;
    do {
      if (may(at(count, at(procMember, m)))) {
        if (this.#staysEven(entry, m)) return m;
        if (any === -1) any = m;
      }
      m = m + 1 === this.#end ? this.#first : m + 1;
    } while (m !== from);
    return any;
  }

  #staysEven(entry: number, m: number): boolean {
    const { largest } = this.#round;
    if (this.#table === undefined || largest === undefined) return true;
    const s = this.#subtopologyOf(entry);
    const field = (m - this.#first) * this.#dense.size.subtopologies + s;
    return at(this.#table, field) < at(largest, s);
  }

  #give(entry: number, m: number): void {
    const { count, procMember, size } = this.#dense;
    const member = at(procMember, m);
    this.#round.place[entry] = member;
    count[member] = at(count, member) + 1;
    if (this.#table === undefined) return;
    const field = (m - this.#first) * size.subtopologies + this.#subtopologyOf(entry);
    this.#table[field] = at(this.#table, field) + 1;
  }

  #subtopologyOf(entry: number): number {
    return at(this.#dense.subtopologyOf, Math.floor(entry / this.#round.perTask));
  }

  /** The place in `procMember` of the member of this process that holds the task now, in any role; or -1. */
  #holderOf(entry: number): number {
    const { prevActive, candStart, candDisk, candMember } = this.#dense;
    const task = Math.floor(entry / this.#round.perTask);
    const previous = at(prevActive, task);
    let m = previous === -1 ? -1 : this.#placeOf(previous);
    for (let c = at(candStart, task); m === -1 && c < at(candDisk, task); c++) {
      m = this.#placeOf(at(candMember, c));
    }
    return m;
  }

  #placeOf(member: number): number {
    const m = at(this.#dense.placeInProcess, member) + this.#first;
    return m < this.#end && at(this.#dense.procMember, m) === member ? m : -1;
  }
}

/** By subtopology: the even share of a fresh member, rounded up, of the tasks that stale members do not keep. */
function largestShares(dense: Dense, kind: TaskKind): Int32Array {
  const { size, facts, active, subtopologyOf } = dense;
  const shares = new Int32Array(size.subtopologies);
  forEachTask(dense, kind, (task) => {
    const s = at(subtopologyOf, task);
    if (at(active, task) === -1) shares[s] = at(shares, s) + 1;
  });
  return shares.map((taskCount) => Math.ceil(taskCount / (size.members - facts.stale)));
}
