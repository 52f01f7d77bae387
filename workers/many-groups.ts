import { at, type Dense } from './dense.ts';
import type { LeastLoaded, LeastLoadedScratch } from './least-loaded.ts';
import { hasRoom, isNewValue, type RackPass } from './rack-pass.ts';
import { type Run, STALE } from './run.ts';

/**
 * From how many groups of equal tags on it is tried to do without a look at all of them, how many processes are looked at for
 * that, and into how many parts they are told apart at most. They decide which of two ways to the same result is taken;
 * tests change them, to go both.
 */
export const LOOKS = { groups: 128, processes: 16, parts: 64 };

/**
 * Finds the process for a standby where there are many groups of equal tags, as with a key that tells hosts apart: nearly
 * all of them bring new values then, so that one of the first in the order of load does. Where none of those few does, all
 * groups have to be looked at.
 *
 * Processes are told apart by their values of the keys that have few: a rack may be fuller than all others, and one look
 * tells whether it brings anything.
 *
 * Source: assignors 5.
 */
export class ManyGroups {
  readonly #processes: LeastLoaded;
  readonly #partCount: number;
  /** By key: 1 = processes of one part have one value of it. */
  readonly #isOfPart: Uint8Array;
  /** By key: the values of processes that have a fresh member. */
  readonly #values: readonly ReadonlySet<number>[];
  /** By key: 1 = some process may bring a new value of it. */
  readonly #isOpen: Uint8Array;
  /** Processes passed over in a look, and their marks. */
  readonly #passed: Int32Array;
  readonly #marks: Int32Array;

  /**
   * @param processesBy makes what finds the least loaded processes of other groups than those of equal tags, by the same order.
   * @returns undefined where groups of equal tags are few.
   */
  static where(
    run: Pick<Run, 'dense' | 'members'>,
    processesBy: (group: Int32Array, scratch: LeastLoadedScratch) => LeastLoaded,
  ): ManyGroups | undefined {
    return run.dense.size.tagGroups > LOOKS.groups ? new ManyGroups(run, processesBy) : undefined;
  }

  private constructor(
    { dense, members }: Pick<Run, 'dense' | 'members'>,
    processesBy: (group: Int32Array, scratch: LeastLoadedScratch) => LeastLoaded,
  ) {
    const { size, tagValue, count } = dense;
    const values = Array.from({ length: size.tagKeys }, () => new Set<number>());
    for (let p = 0; p < size.processes; p++) {
      if (at(count, members.least(p)) >= STALE) continue;
      for (const [key, set] of values.entries()) {
        const value = at(tagValue, p * size.tagKeys + key);
        if (value !== -1) set.add(value);
      }
    }
    this.#values = values;
    this.#isOfPart = new Uint8Array(size.tagKeys);
    const part = new Int32Array(size.processes);
    this.#partCount = this.#tellApart(dense, part);
    this.#processes = processesBy(part, ownScratch(dense));
    this.#isOpen = new Uint8Array(size.tagKeys);
    this.#passed = new Int32Array(LOOKS.processes);
    this.#marks = new Int32Array(LOOKS.processes);
  }

  /** Whether some process that does not hold the task has a new value of the key. */
  hasNewValue({ dense, held }: RackPass, key: number): boolean {
    const { tagValue, holders, size } = dense;
    const values = this.#values[key] as ReadonlySet<number>;
    let used = 0;
    for (let i = 0; i < held; i++) {
      const value = at(tagValue, at(holders, i) * size.tagKeys + key);
      let isCounted = !values.has(value);
      for (let j = 0; j < i && !isCounted; j++) {
        isCounted = at(tagValue, at(holders, j) * size.tagKeys + key) === value;
      }
      if (!isCounted) used++;
    }
    return used < values.size;
  }

  /**
   * The least loaded process with room that brings a new value of the key and of as many lower ones as can be had, the
   * earlier the key the more it counts. -1: nobody knows.
   */
  find(pass: RackPass, key: number): number {
    const { tagKeys } = pass.dense.size;
    for (let k = key; k < tagKeys; k++) this.#isOpen[k] = this.hasNewValue(pass, k) ? 1 : 0;
    let best = this.#findAsNew(pass, key);
    if (best !== NOBODY) return best;
    // Not all at once.
    const open = this.#isOpen.slice();
    this.#isOpen.fill(0, key + 1);
    for (let k = key; k < tagKeys; k++) {
      if (open[k] === 0) continue;
      this.#isOpen[k] = 1;
      const found = this.#findAsNew(pass, key);
      if (found === -1) return -1;
      if (found === NOBODY) this.#isOpen[k] = 0;
      else best = found;
    }
    return best === NOBODY ? -1 : best;
  }

  /** Whether a process brings what one that was found by {@link find} just now does. */
  isAsNew(pass: RackPass, key: number, process: number): boolean {
    for (let k = key; k < this.#isOpen.length; k++) {
      if (this.#isOpen[k] === 1 && !isNewValue(pass, process, k)) return false;
    }
    return true;
  }

  /** The least loaded process that is as new; {@link NOBODY} is, or -1: nobody knows. */
  #findAsNew(pass: RackPass, key: number): number {
    let best = NOBODY;
    for (let part = 0; part < this.#partCount; part++) {
      const process = this.#findIn(pass, key, part);
      if (process === -1) return -1;
      if (process === NOBODY) continue;
      if (best === NOBODY || this.#processes.before(process, best)) best = process;
    }
    return best;
  }

  #findIn(pass: RackPass, key: number, part: number): number {
    const { task, dense } = pass;
    const { marks } = dense;
    let found = -1;
    let passed = 0;
    while (passed < this.#passed.length) {
      const process = this.#processes.firstUnmarked(task, part);
      if (process === -1 || this.#isPartOut(pass, key, process)) {
        found = NOBODY;
        break;
      }
      if (this.isAsNew(pass, key, process)) {
        // Others of its group are no more asked then; where it has no room there is none, as a rule.
        if (hasRoom(pass, process)) found = process;
        break;
      }
      this.#passed[passed] = process;
      this.#marks[passed++] = at(marks, process);
      marks[process] = task;
    }
    for (let i = 0; i < passed; i++) marks[at(this.#passed, i)] = at(this.#marks, i);
    return found;
  }

  /** Whether nobody of a process's part is as new. */
  #isPartOut(pass: RackPass, key: number, process: number): boolean {
    for (let k = key; k < this.#isOpen.length; k++) {
      if (this.#isOpen[k] === 0 || this.#isOfPart[k] === 0) continue;
      if (!isNewValue(pass, process, k)) return true;
    }
    return false;
  }

  /** Fills in the part of each process: by all keys that make no more than {@link LOOKS} allows. Returns how many there are. */
  #tellApart({ size, tagValue }: Dense, part: Int32Array): number {
    let partCount = 1;
    for (let key = 0; key < size.tagKeys; key++) {
      const numbers = new Map<string, number>();
      const finer = part.map((each, p) => {
        const name = `${each} ${at(tagValue, p * size.tagKeys + key)}`;
        const number = numbers.get(name) ?? numbers.size;
        numbers.set(name, number);
        return number;
      });
      if (numbers.size > LOOKS.parts) continue;
      part.set(finer);
      partCount = numbers.size;
      this.#isOfPart[key] = 1;
    }
    return partCount;
  }
}

/** No process is as new as is asked for. */
const NOBODY = -2;

/** Bins of groups lie in that of the problem at the same time. */
function ownScratch({ size, marks, buckets }: Dense): LeastLoadedScratch {
  const ofProcesses = (): Int32Array => new Int32Array(size.processes);
  return {
    item: ofProcesses(),
    low: ofProcesses(),
    behind: ofProcesses(),
    isBehind: new Uint8Array(size.processes),
    spare: ofProcesses(),
    marks,
    dropped: new Uint8Array(size.processes),
    buckets,
  };
}
