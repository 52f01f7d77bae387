import { createDense, type Dense, type DenseFacts, type DenseSizes, denseBytes } from './dense.ts';
import type { SharedBuffers } from './shared-buffers.ts';
import type { StateByTask } from './state-by-task.ts';
import type { TaskNumbers } from './task-numbers.ts';

/** What is written down in a buffer, as far as it may still be right the next time. */
type Written = {
  readonly buffer: SharedArrayBuffer;
  readonly size: DenseSizes;
  readonly numbers: TaskNumbers;
  /** See {@link StateByTask}. */
  readonly activesVersion: number;
  readonly candidatesVersion: number;
};

/** What a problem is written from. */
export type WhatToWrite = {
  readonly size: DenseSizes;
  readonly facts: DenseFacts;
  readonly numbers: TaskNumbers;
  readonly state: StateByTask;
};

/** A problem in a buffer of its own. */
export type WrittenProblem = {
  readonly dense: Dense;
  /**
   * Nobody touches the buffer any more, and what was written into it is as it was. To be called once; a buffer that
   * a lost thread may still write to is simply not given back.
   */
  readonly release: () => void;
};

/**
 * The buffer of one group, used run after run: what has not changed since it was last written stays, and with it stays
 * what a thread's processor has of it in its cache. While one run has the buffer, another gets one of its own.
 */
export class KeptBuffer {
  #idle: Written | undefined;
  #bytes = 0;

  /** Bytes of the buffer that waits here, or is expected back. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Writes tasks and who has which of them. All other arrays contain whatever was there. */
  write({ size, facts, numbers, state }: WhatToWrite, buffers: SharedBuffers): WrittenProblem {
    const last = this.#take(denseBytes(size), buffers);
    const buffer = last?.buffer ?? buffers.take(denseBytes(size));
    const { activesVersion, candidatesVersion } = state;
    const written = { buffer, size, numbers, activesVersion, candidatesVersion };
    this.#bytes = buffer.byteLength;
    const dense = createDense(buffer, size, facts);
    const isSameTopology = last?.numbers === numbers && last.size.tagKeys === size.tagKeys;
    if (!isSameTopology) {
      dense.base.set(numbers.base);
      dense.subtopologyOf.set(numbers.subtopologyOf);
    }
    dense.stateful.set(numbers.stateful);
    if (!isSameTopology || last.activesVersion !== activesVersion) state.copyActives(dense);
    state.copyHeldLists(dense);
    if (!isSameTopology || last.candidatesVersion !== candidatesVersion) state.copyLists(dense);
    if (
      !isSameTopology ||
      last.candidatesVersion !== candidatesVersion ||
      !isSameSize(last.size, size)
    ) {
      state.copyCandidates(dense);
    }
    return { dense, release: () => this.#giveBack(written, buffers) };
  }

  /** What is idle, if it is large enough and not far too large. */
  #take(bytes: number, buffers: SharedBuffers): Written | undefined {
    const idle = this.#idle;
    this.#idle = undefined;
    if (idle === undefined || idle.buffer.byteLength === buffers.classOf(bytes)) return idle;
    buffers.give(idle.buffer);
    return undefined;
  }

  #giveBack(written: Written, buffers: SharedBuffers): void {
    if (this.#idle === undefined) this.#idle = written;
    else buffers.give(written.buffer);
  }
}

function isSameSize(a: DenseSizes, b: DenseSizes): boolean {
  return (Object.keys(a) as (keyof DenseSizes)[]).every((name) => a[name] === b[name]);
}
