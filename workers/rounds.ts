import type { Bin } from './bin.ts';
import { at } from './dense.ts';

/**
 * The least loaded processes one after the other, each to be passed over for a task that it may not take: as asking a bin for
 * the first one without a mark, sooner. A round goes once through all that have the least; who was passed over comes first as
 * soon as it may, also before those of the next round.
 *
 * Marks are not looked at: whoever may not take a task is named. Between a process that is given and {@link breakOff} nobody
 * asks the bin.
 */
export class Rounds {
  readonly #bin: Bin;
  readonly #round: Int32Array;
  readonly #count: Int32Array;
  #from = 0;
  #next = 0;
  #end = 0;
  /** How many rounds of the same processes follow. */
  #left = 0;
  #passedOver = -1;
  /** How many it has to rise by to be where the round has come to. */
  #owed = 0;

  /**
   * @param round where the bin has its rounds.
   * @param count of the bin, by process.
   */
  constructor(bin: Bin, round: Int32Array, count: Int32Array) {
    this.#bin = bin;
    this.#round = round;
    this.#count = count;
  }

  /** The first process but one, which has to rise by one then; -1: the bin is to be asked. */
  nextBut(other: number): number {
    const passedOver = this.#passedOver;
    if (passedOver !== -1 && passedOver !== other) {
      if (--this.#owed === 0) this.#passedOver = -1;
      return passedOver;
    }
    for (;;) {
      if (this.#next === this.#end) {
        if (this.#left > 0) {
          this.#left--;
          this.#next = this.#from;
        } else {
          const isOwed = this.#passedOver !== -1;
          this.breakOff();
          if (isOwed || !this.#begin()) return -1;
        }
      }
      const process = this.#round[this.#next++] as number;
      if (process !== other) return process;
      this.#passedOver = process;
      this.#owed++;
    }
  }

  /** Ends the round, whether or not the process given last has risen; from here on the bin may be asked. */
  breakOff(): void {
    if (this.#from === this.#end) return;
    let level = at(this.#count, at(this.#round, this.#from));
    for (let i = this.#from; i < this.#end; i++) {
      level = Math.min(level, at(this.#count, at(this.#round, i)));
    }
    this.#bin.goOn(level);
    this.#from = 0;
    this.#next = 0;
    this.#end = 0;
    this.#left = 0;
    this.#passedOver = -1;
    this.#owed = 0;
  }

  #begin(): boolean {
    const bin = this.#bin;
    if (!bin.nextWholeRound() || bin.end - bin.head === 1) return false;
    this.#from = bin.head;
    this.#next = bin.head;
    this.#end = bin.end;
    this.#left = bin.rounds - 1;
    return true;
  }
}
