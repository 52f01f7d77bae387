import type { LoopHolds } from './loop-delay.ts';

/** What one cell took and what came of it. Times are CPU time of one run, the least of all, in µs. */
export type AssignRow = {
  readonly cell: string;
  /** The assignor, from dense arrays to dense arrays. */
  readonly kernelUs: number | null;
  /** From the coordinator's problem to its result: written down, handed to a thread, assigned, checked, read. */
  readonly wholeUs: number | null;
  /** The assignor of Kafka's jar; null where it was not asked, or has no such assignor. */
  readonly kafkaUs: number | null;
  readonly kernelRatio: number | null;
  readonly wholeRatio: number | null;
  /** How long events held the event loop, ms; of the rounds the one with the least, as the machine holds it up as well. */
  readonly loopHoldsMs: LoopHolds | null;
  /** Rules that are broken, by number of breaches (assignors 2). */
  readonly rules: Readonly<Record<string, number>>;
  /** The measures of assignors 3; null where one has no meaning. */
  readonly quality: Readonly<Record<string, number | null>>;
  /** Of the assignment; the same on every machine. */
  readonly checkValue: string;
};

/** What came of a grid. */
export type AssignReport = {
  /** One of `GRID_CELLS`. */
  readonly grid: string;
  readonly rows: readonly AssignRow[];
  /** How many times longer Kafka's jar takes; null when it was not asked. */
  readonly summary: {
    readonly kernelRatioGeoMean: number | null;
    readonly kernelRatioWorst: number | null;
    readonly wholeRatioGeoMean: number | null;
    readonly wholeRatioWorst: number | null;
  };
};
