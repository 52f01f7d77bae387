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
 * How far ahead an entry is put, in buckets: a minute. A later deadline is looked at once a minute, so that what is
 * cancelled is forgotten within one, however far away its deadline was.
 */
const BUCKETS_AHEAD = 6000;

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
  /** Every bucket up to this one has been looked at. */
  #looked: number;
  /** The furthest bucket that anything was put into. */
  #last = 0;
  #wakeAt = Number.POSITIVE_INFINITY;
  #cancelWake: (() => void) | undefined;

  /** @param fire called no sooner than a deadline, at most {@link BUCKET_MS} later than a precise clock would. */
  constructor(clock: Clock, fire: (fired: Fired<T>) => void) {
    this.#clock = clock;
    this.#fire = fire;
    this.#looked = Math.floor(clock.monotonicMs() / BUCKET_MS) - 1;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Entries in buckets, cancelled ones that are not forgotten yet included. */
  get held(): number {
    return [...this.#buckets.values()].reduce((sum, bucket) => sum + bucket.length, 0);
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
    // One that has fired and was not claimed yet is in no bucket any more.
    const isOut = entry.bucket <= this.#looked;
    if (isOut || bucketOf(entry.deadlineMs) < entry.bucket) this.#place(entry);
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
    const nowMs = this.#clock.monotonicMs();
    const furthest = bucketOf(nowMs) + BUCKETS_AHEAD;
    entry.bucket = Math.max(Math.min(bucketOf(entry.deadlineMs), furthest), this.#looked + 1);
    const bucket = this.#buckets.get(entry.bucket);
    if (bucket === undefined) this.#buckets.set(entry.bucket, [entry]);
    else bucket.push(entry);
    if (this.#last < entry.bucket) this.#last = entry.bucket;
    this.#wakeBy(entry.bucket, nowMs);
  }

  #wakeBy(bucket: number, nowMs: number): void {
    if (bucket >= this.#wakeAt) return;
    this.#cancelWake?.();
    this.#wakeAt = bucket;
    const delayMs = Math.max(0, bucket * BUCKET_MS - nowMs);
    this.#cancelWake = this.#clock.after(delayMs, () => this.#wake());
  }

  #wake(): void {
    this.#wakeAt = Number.POSITIVE_INFINITY;
    this.#cancelWake = undefined;
    const nowMs = this.#clock.monotonicMs();
    const due = Math.floor(nowMs / BUCKET_MS);
    const from = this.#looked + 1;
    this.#looked = Math.max(this.#looked, due);
    // Buckets that nobody was put into are numbers without an entry; while the clock stood still there may be many.
    if (due - from > 2 * BUCKETS_AHEAD) {
      for (const number of [...this.#buckets.keys()].sort((a, b) => a - b)) {
        if (number <= due) this.#lookAt(number, nowMs);
      }
    } else {
      for (let number = from; number <= due; number++) this.#lookAt(number, nowMs);
    }
    for (let number = due + 1; number <= this.#last; number++) {
      if (!this.#buckets.has(number)) continue;
      this.#wakeBy(number, nowMs);
      break;
    }
  }

  #lookAt(number: number, nowMs: number): void {
    const bucket = this.#buckets.get(number);
    if (bucket === undefined) return;
    this.#buckets.delete(number);
    for (const entry of bucket) this.#settle(entry, number, nowMs);
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
