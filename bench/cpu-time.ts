import { quantile } from './quantile.ts';

/** Times of one run over many, in µs. `cpu` is that of the whole process, collector and compiler threads included. */
export type Timing = {
  readonly runs: number;
  readonly cpuUs: Spread;
  readonly wallUs: Spread;
};

export type Spread = { readonly min: number; readonly median: number; readonly p90: number };

/** CPU seconds, so that a busy machine does not shorten anything. */
export type TimingLimits = { readonly warmSeconds: number; readonly measureSeconds: number };

/** Runs shorter than this are measured several at a time: the CPU clock counts in whole µs. */
const SAMPLE_US = 200;
/** The first so many of a look at how long a run takes. */
const FIRST_RUNS = 5;

/** What goes before every run and is not timed. */
export type Preparation = () => unknown;

/**
 * Runs something again and again: first until it is warm, then sample by sample.
 *
 * @param run what is timed; if it answers with a promise that is waited for.
 * @param prepare what each run needs anew; then every run is a sample of its own.
 */
export async function timeRuns(
  run: () => unknown,
  { warmSeconds, measureSeconds }: TimingLimits,
  prepare?: Preparation,
): Promise<Timing> {
  const warmEnd = cpuNow() + warmSeconds * 1e6;
  let runUs = Infinity;
  do {
    await prepare?.();
    const before = cpuNow();
    await repeat(run, prepare === undefined ? FIRST_RUNS : 1);
    runUs = Math.min(runUs, (cpuNow() - before) / FIRST_RUNS);
  } while (cpuNow() < warmEnd);

  const perSample =
    prepare !== undefined ? 1 : Math.max(1, Math.ceil(SAMPLE_US / Math.max(runUs, 0.1)));
  const cpu: number[] = [];
  const wall: number[] = [];
  const end = cpuNow() + measureSeconds * 1e6;
  do {
    await prepare?.();
    const wallBefore = performance.now();
    const cpuBefore = cpuNow();
    await repeat(run, perSample);
    cpu.push((cpuNow() - cpuBefore) / perSample);
    wall.push(((performance.now() - wallBefore) * 1000) / perSample);
  } while (cpuNow() < end);
  return { runs: cpu.length * perSample, cpuUs: spreadOf(cpu), wallUs: spreadOf(wall) };
}

/** Waits only where there is something to wait for, which would count as time. */
async function repeat(run: () => unknown, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const running = run();
    if (running instanceof Promise) await running;
  }
}

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function spreadOf(samples: readonly number[]): Spread {
  return {
    min: quantile(samples, 0),
    median: quantile(samples, 0.5),
    p90: quantile(samples, 0.9),
  };
}
