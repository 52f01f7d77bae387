import type { Answer } from './dispatch.ts';

/** A request's place in the order of answers. */
export type Slot = { answer: Answer | undefined; next: Slot | undefined };

/** Length of an answer in bytes; 0 for one that is no bytes. */
export function bytesOf(answer: Answer): number {
  if (typeof answer === 'string') return 0;
  if (Buffer.isBuffer(answer)) return answer.length;
  return answer.reduce((sum, piece) => sum + piece.length, 0);
}

/**
 * Answers in the order of their requests: a place is taken when a request is, and given up when its answer is ready
 * and every earlier one is gone.
 *
 * Source: wire.md 4.5.
 */
export class AnswerQueue {
  private head: Slot | undefined;
  private tail: Slot | undefined;
  private count = 0;
  private held = 0;

  /** Requests whose answers are still to come or not yet in turn. */
  get size(): number {
    return this.count;
  }

  /** Bytes of answers that are ready and not yet taken. */
  get heldBytes(): number {
    return this.held;
  }

  /** Takes the last place; an answer that is ready already can be given with it. */
  append(answer?: Answer): Slot {
    const slot: Slot = { answer, next: undefined };
    if (this.tail === undefined) this.head = slot;
    else this.tail.next = slot;
    this.tail = slot;
    this.count += 1;
    if (answer !== undefined) this.held += bytesOf(answer);
    return slot;
  }

  settle(slot: Slot, answer: Answer): void {
    slot.answer = answer;
    this.held += bytesOf(answer);
  }

  /** Takes the first answer out if it is ready. */
  take(): Answer | undefined {
    const { head } = this;
    if (head?.answer === undefined) return undefined;
    this.head = head.next;
    if (this.head === undefined) this.tail = undefined;
    this.count -= 1;
    this.held -= bytesOf(head.answer);
    return head.answer;
  }
}
