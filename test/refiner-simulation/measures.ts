/** How a group fared, by the truth about its state and not by what the refiner believes (assignors 3, 10.3). */
export type Measures = {
  /** Stateful tasks given to a process that had to restore more than the acceptable lag before it could process them. */
  coldHandovers: number;
  /** Those of them whose state no other process in the group was near to. */
  unavoidable: number;
  /** Those of them whose state some process was near to, but only on its disk. */
  diskOnly: number;
  /** Tasks that nobody processed, summed over ticks. */
  taskTicksNotProcessing: number;
  ticks: number;
  refinementSteps: number;
  /** The most at any time. */
  warmupsMax: number;
  /** The most copies that one task had at any time, beside its active one and its standbys. */
  extraCopiesMax: number;
  /** Warm-ups that were taken away without a promotion. */
  wastedWarmups: number;
};

export const NO_MEASURES: Measures = {
  coldHandovers: 0,
  unavoidable: 0,
  diskOnly: 0,
  taskTicksNotProcessing: 0,
  ticks: 0,
  refinementSteps: 0,
  warmupsMax: 0,
  extraCopiesMax: 0,
  wastedWarmups: 0,
};

/** What several groups came to: sums, and of what is a most, the most. */
export function sumMeasures(all: readonly Measures[]): Measures {
  const sum = { ...NO_MEASURES };
  for (const one of all) {
    for (const name of Object.keys(sum) as (keyof Measures)[]) {
      sum[name] = name.endsWith('Max') ? Math.max(sum[name], one[name]) : sum[name] + one[name];
    }
  }
  return sum;
}
