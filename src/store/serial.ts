import { StoreError } from './store-error.ts';

/**
 * Runs pieces of work one after the other, in the order they were asked for. At most `waitingMax` wait; one more is
 * refused with fault `busy`. A piece that fails does not keep the next from running.
 */
export class Serial {
  readonly #waitingMax: number;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(waitingMax = 10_000) {
    this.#waitingMax = waitingMax;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#waitingMax) {
      return Promise.reject(
        new StoreError('busy', `Change the store: ${this.#waiting} changes are waiting already`),
      );
    }
    this.#waiting++;
    const done = this.#last.then(work).finally(() => {
      this.#waiting--;
    });
    this.#last = done.catch(() => undefined);
    return done;
  }
}
