import type { Clock } from './ports.ts';

/** A timer as it fires. It counts only while {@link Timers.claim} says so. */
export type Fired<T> = { readonly key: string; readonly generation: number; readonly what: T };

type Entry<T> = {
  key: string;
  what: T;
  generation: number;
  deadlineMs: number;
  /** The bucket it waits in; a later deadline leaves it there until that bucket is looked at. */
  bucket: number;
};

/** Coarse on purpose: a session of seconds does not care, and a bucket holds many members. */
const BUCKET_MS = 10;

/**
 * The timers of one shard, by key. To arm a key again replaces its timer (TMR-1) and costs a map look-up: a
 * heartbeat moves a deadline, it does not touch the clock.
 *
 * A timer that fired is a message like any other and may be overtaken; its generation tells whether it was armed
 * anew or cancelled meanwhile.
 */
export class Timers<T> {
  readonly #clock: Clock;
  readonly #fire: (fired: Fired<T>) => void;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #buckets = new Map<number, Entry<T>[]>();
  #generation = 0;
  #wakeAt = Number.POSITIVE_INFINITY;
  #cancelWake: (() => void) | undefined;

  /** @param fire called no sooner than a deadline, at most {@link BUCKET_MS} later than a precise clock would. */
  constructor(clock: Clock, fire: (fired: Fired<T>) => void) {
    this.#clock = clock;
    this.#fire = fire;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Ms until the timer of this key; undefined if there is none. */
  remainingMs(key: string): number | undefined {
    const entry = this.#entries.get(key);
    return entry && Math.max(0, entry.deadlineMs - this.#clock.monotonicMs());
  }

  arm(key: string, delayMs: number, what: T): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      entry.what = what;
      this.move(key, delayMs);
      return;
    }
    const deadlineMs = this.#clock.monotonicMs() + delayMs;
    const made = { key, what, generation: ++this.#generation, deadlineMs, bucket: 0 };
    this.#entries.set(key, made);
    this.#place(made);
  }

  /**
   * Moves the deadline of a timer that runs; what it is for stays. A heartbeat does this, so it keeps nothing that it
   * made: what long-lived things hold on to is what a garbage collector has to look at.
   *
   * @returns false if there is no such timer.
   */
  move(key: string, delayMs: number): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    entry.generation = ++this.#generation;
    entry.deadlineMs = this.#clock.monotonicMs() + delayMs;
    if (bucketOf(entry.deadlineMs) < entry.bucket) this.#place(entry);
    return true;
  }

  cancel(key: string): void {
    this.#entries.delete(key);
  }

  /** Whether a fired timer still counts; it is then spent. */
  claim(fired: Fired<T>): boolean {
    const entry = this.#entries.get(fired.key);
    if (entry === undefined || entry.generation !== fired.generation) return false;
    this.#entries.delete(fired.key);
    return true;
  }

  clear(): void {
    this.#entries.clear();
    this.#buckets.clear();
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    this.#wakeAt = Number.POSITIVE_INFINITY;
  }

  #place(entry: Entry<T>): void {
    entry.bucket = bucketOf(entry.deadlineMs);
    const bucket = this.#buckets.get(entry.bucket);
    if (bucket === undefined) this.#buckets.set(entry.bucket, [entry]);
    else bucket.push(entry);
    this.#wakeBy(entry.bucket);
  }

  #wakeBy(bucket: number): void {
    if (bucket >= this.#wakeAt) return;
    this.#cancelWake?.();
    this.#wakeAt = bucket;
    const delayMs = bucket * BUCKET_MS - this.#clock.monotonicMs();
    this.#cancelWake = this.#clock.after(Math.max(0, delayMs), () => this.#wake());
  }

  #wake(): void {
    this.#wakeAt = Number.POSITIVE_INFINITY;
    this.#cancelWake = undefined;
    const now = this.#clock.monotonicMs();
    let next = Number.POSITIVE_INFINITY;
    for (const [number, bucket] of this.#buckets) {
      if (number * BUCKET_MS > now) {
        next = Math.min(next, number);
        continue;
      }
      this.#buckets.delete(number);
      for (const entry of bucket) this.#settle(entry, number, now);
    }
    if (next < this.#wakeAt) this.#wakeBy(next);
  }

  #settle(entry: Entry<T>, bucket: number, now: number): void {
    // Cancelled, replaced, or moved to an earlier bucket since.
    if (this.#entries.get(entry.key) !== entry || entry.bucket !== bucket) return;
    if (entry.deadlineMs > now) this.#place(entry);
    else this.#fire({ key: entry.key, generation: entry.generation, what: entry.what });
  }
}

/** Rounded up, so that a bucket is never looked at before the deadlines in it. */
function bucketOf(deadlineMs: number): number {
  return Math.ceil(deadlineMs / BUCKET_MS);
}
