import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inSlices } from '../actors/in-slices.ts';
import type { AssignedRun } from '../actors/ports.ts';
import { atOnce } from '../machines/decide/at-once.ts';
import { prepareTarget } from '../machines/decide/prepare-target.ts';
import { tellTarget } from '../machines/decide/say-moves.ts';
import type { GroupProblem, GroupResult, RunProblem } from '../machines/model/assignment.ts';
import { type Cell, describeResult, problemOfCell } from '../src/problem/cell.ts';
import { parseCell } from '../src/problem/read-cell.ts';
import { CellError } from '../src/problem/shape.ts';
import { VERSION } from '../src/version.ts';
import { assignDense } from '../workers/assign-dense.ts';
import { AssignorError, AssignorPool } from '../workers/pool.ts';
import { encodeProblem, listResult, readResult } from '../workers/problem.ts';
import { SharedBuffers } from '../workers/shared-buffers.ts';
import { eventOf, install } from './cell-event.ts';
import { type Timing, type TimingLimits, timeRuns } from './cpu-time.ts';
import { type LoopHolds, measureHolds } from './loop-delay.ts';

// Answers assignment cells: one JSON cell a line in, one JSON answer a line out, so that other assignors can be asked the
// same and the answers compared.

/** What an answer contains besides names. */
export type CellQuestion = {
  readonly assignment: boolean;
  /** Left out, nothing is timed. */
  readonly timing?: TimingLimits & {
    /** Events to warm up for; none of them is measured. */
    readonly warmEvents: number;
    /** After how many events enough is known of how long each holds the event loop. */
    readonly events: number;
  };
};

/** An answer in the format that assignors exchange. */
export type CellAnswer = {
  readonly cell: string;
  readonly implementation: string;
  readonly assignor: string;
  readonly error?: string;
  readonly assignment?: Readonly<Record<string, object>>;
  readonly unassigned?: readonly string[];
  /** The assignor alone, from dense arrays to dense arrays. */
  readonly timing?: Timing;
  /**
   * From the coordinator's problem to its result, through the pool: what happened is taken in, the problem written down,
   * handed to a thread, assigned, checked and explained, and every member's target is there to be read.
   */
  readonly wholeTiming?: Timing;
  /** The result becomes the group's target: compared with the one installed, with a record for each that differs. */
  readonly installTiming?: Timing;
  /** How long all of an event, its run and its install, held the event loop at a time. */
  readonly loopHoldsMs?: LoopHolds;
};

/**
 * Answers one cell by the way that the coordinator goes.
 *
 * @returns with `error` in place of an assignment when the pool refuses, as it does where nobody may take the tasks.
 */
export async function answerCell(
  cell: Cell,
  { assignment, timing }: CellQuestion,
  pool: AssignorPool,
): Promise<CellAnswer> {
  const problem = problemOfCell(cell);
  const about = {
    cell: cell.cell,
    implementation: `headgate ${VERSION}`,
    assignor: problem.assignor,
  };
  const { before, after } = eventOf(cell);
  const ask = (asked: GroupProblem = after) => pool.assign(asked, { deadlineMs: RUN_DEADLINE_MS });
  // A group whose one member comes had none before, and no run gave anything. Nothing of a run is left to be done.
  const askBefore = () => ask(before).then(({ lookBack }) => lookBack, ignoreNoProcess);
  try {
    const result = await ask();
    await result.lookBack;
    return {
      ...about,
      ...(assignment && describeResult(problem, listResult(problem, result))),
      ...(timing && {
        timing: await timeKernel(problem, timing),
        // Before each run the group is as it was before the event.
        wholeTiming: await timeRuns(
          () => ask(),
          timing,
          () => askBefore(),
        ),
        installTiming: await timeInstall(after, result, timing),
        loopHoldsMs: await timeHolds(after, timing, { askBefore, ask }),
      }),
    };
  } catch (error) {
    if (!(error instanceof AssignorError)) throw error;
    return { ...about, error: error.message };
  }
}

const RUN_DEADLINE_MS = 60_000;

function ignoreNoProcess(error: unknown): void {
  if (!(error instanceof AssignorError) || error.error !== 'noProcess') throw error;
}

function timeInstall(
  problem: RunProblem,
  result: GroupResult,
  limits: TimingLimits,
): Promise<Timing> {
  const inOneGo = () => install(problem, result, atOnce(prepareTarget(problem.group, result)));
  return timeRuns(() => inOneGo().records.length, limits);
}

/** The run, the install, and the words for the journal: in turns of their own, as in the coordinator. */
async function timeHolds(
  problem: RunProblem,
  { warmEvents, events }: { readonly warmEvents: number; readonly events: number },
  {
    askBefore,
    ask,
  }: { readonly askBefore: () => Promise<unknown>; readonly ask: () => Promise<AssignedRun> },
): Promise<LoopHolds> {
  const soon = { soon: (callback: () => void) => void setImmediate(callback) };
  const before = async () => void (await askBefore());
  const work = async () => {
    const { lookBack, ...result } = await ask();
    const prepared = await inSlices(prepareTarget(problem.group, result), soon);
    await nextTurn();
    const { untold } = install(problem, result, prepared);
    const found = await lookBack;
    await nextTurn();
    if (untold !== undefined) await inSlices(tellTarget(untold, found), soon);
  };
  for (let event = 0; event < warmEvents; event++) {
    await before();
    await work();
  }
  return measureHolds(events, { before, work });
}

async function timeKernel(
  problem: Parameters<typeof encodeProblem>[0],
  limits: TimingLimits,
): Promise<Timing> {
  const encoded = encodeProblem(problem, new SharedBuffers());
  const timing = await timeRuns(() => assignDense(encoded.dense), limits);
  // Read once more, so that no run was for nothing.
  readResult(encoded);
  return timing;
}

/** Enough for the 95th of a hundred, in some seconds. */
const EVENTS = 100;
/** So that a compiler has seen all of the code. */
const WARM_EVENTS = 30;

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      once: { type: 'boolean', default: false },
      assignment: { type: 'boolean', default: false },
      warm: { type: 'string', default: '1' },
      measure: { type: 'string', default: '1' },
    },
  });
  const timing = {
    warmSeconds: Number(values.warm),
    measureSeconds: Number(values.measure),
    warmEvents: WARM_EVENTS,
    events: EVENTS,
  };
  const question = {
    assignment: values.once || values.assignment,
    ...(!values.once && { timing }),
  };
  const pool = new AssignorPool({ threads: 1, queueMax: 1, log: { warn() {} } });
  try {
    let number = 0;
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
      number++;
      if (line.trim() === '') continue;
      const cell = readLine(line, number);
      if (cell === undefined) break;
      console.log(JSON.stringify(await answerCell(cell, question, pool)));
    }
  } finally {
    await pool.close();
  }
}

/** Undefined, with the reason told and the exit code set, when the line is no cell. */
function readLine(line: string, number: number): Cell | undefined {
  try {
    return parseCell(line);
  } catch (error) {
    if (!(error instanceof CellError)) throw error;
    console.error(`Cannot read the cell in line ${number}: ${error.message}`);
    process.exitCode = 1;
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
