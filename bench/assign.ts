import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Cell } from '../src/problem/cell.ts';
import { AS_SERVED } from './as-served.ts';
import type { CellAnswer } from './assign-cells.ts';
import type { AssignReport, AssignRow } from './assign-report.ts';
import { CELL_NOTES, COLUMN_NOTES, headLine, rowLine, summaryText } from './assign-table.ts';
import { amount, count, flag, legend, runBench, word } from './command-line.ts';
import type { TimingLimits } from './cpu-time.ts';
import type { LoopHolds } from './loop-delay.ts';

/** The grids there are, and how many cells each has. See test/oracle/README-assign.md for all but `small`. */
export const GRID_CELLS = {
  small: 6,
  'gate-sticky': 24,
  gate: 24,
  extra: 6,
  full: 480,
  huge: 12,
} as const;

export type Grid = keyof typeof GRID_CELLS;

const GRIDS = Object.keys(GRID_CELLS) as Grid[];

/** Answers a cell with an assignment and, as a rule, with times. */
export type AskAssignor = (cell: Cell) => Promise<CellAnswer>;

export type AssignBenchOptions = {
  readonly grid: Grid;
  /** How often each side is asked, in turn; the best time counts. */
  readonly rounds: number;
  readonly ours: AskAssignor;
  readonly kafka?: AskAssignor;
  /** The command whose assignments incremental cells start from. */
  readonly startCommand: string;
  readonly onRow?: (row: AssignRow) => void;
  /** Before each round of a cell; both are counted from 1 on. */
  readonly onRound?: (underWay: UnderWay) => void;
};

export type UnderWay = { readonly cell: string; readonly nth: number; readonly round: number };

/** What the cell maker and grader offers, which is a script beside the oracle. */
type CellsScript = {
  gridCell(shape: object, ask: AskAssignor): Promise<Cell>;
  grade(cell: Cell, answer: CellAnswer): Pick<AssignRow, 'rules'> & { q: AssignRow['quality'] };
};

/**
 * Measures an assignor on a grid of cells and grades what it gives; beside Kafka's jar, where that is asked for: both
 * sides in turn on each cell, so that a busy machine bears on both.
 */
export async function benchAssign(options: AssignBenchOptions): Promise<AssignReport> {
  const { grade, gridCell } = await loadScript();
  const rows: AssignRow[] = [];
  const cells = options.grid === 'small' ? smallCells(gridCell, options.ours) : cellsOf(options);
  for await (const cell of cells) {
    const row = await measure(cell, options, { grade, nth: rows.length + 1 });
    options.onRow?.(row);
    rows.push(row);
  }
  const ratios = (name: 'kernelRatio' | 'wholeRatio') =>
    rows.map((row) => row[name]).filter((ratio) => ratio !== null);
  return {
    grid: options.grid,
    rows,
    summary: {
      kernelRatioGeoMean: geometricMean(ratios('kernelRatio')),
      kernelRatioWorst: least(ratios('kernelRatio')),
      wholeRatioGeoMean: geometricMean(ratios('wholeRatio')),
      wholeRatioWorst: least(ratios('wholeRatio')),
    },
  };
}

async function measure(
  cell: Cell,
  { rounds, ours, kafka, onRound }: AssignBenchOptions,
  { grade, nth }: { readonly grade: CellsScript['grade']; readonly nth: number },
): Promise<AssignRow> {
  const [kernel, whole, theirs]: number[][] = [[], [], []];
  const loop: LoopHolds[] = [];
  let answer: CellAnswer | undefined;
  for (let round = 0; round < rounds; round++) {
    onRound?.({ cell: cell.cell, nth, round: round + 1 });
    answer = await ours(cell);
    note(kernel, answer.timing?.cpuUs.min);
    note(whole, answer.wholeTiming?.cpuUs.min);
    if (answer.loopHoldsMs !== undefined) loop.push(answer.loopHoldsMs);
    if (kafka !== undefined) note(theirs, (await kafka(cell)).timing?.cpuUs.min);
  }
  if (answer === undefined) throw new Error(`Cannot measure ${cell.cell}: no rounds`);
  const [kernelUs, wholeUs, kafkaUs] = [least(kernel), least(whole), least(theirs)];
  const { rules, q } = grade(cell, answer);
  return {
    cell: cell.cell,
    kernelUs,
    wholeUs,
    kafkaUs,
    kernelRatio: ratioOf(kafkaUs, kernelUs),
    wholeRatio: ratioOf(kafkaUs, wholeUs),
    loopHoldsMs: loop.toSorted((a, b) => a.p95 - b.p95)[0] ?? null,
    rules,
    quality: q,
    checkValue: createHash('sha1')
      .update(JSON.stringify(answer.assignment ?? answer.error))
      .digest('hex')
      .slice(0, 8),
  };
}

function note(list: number[] | undefined, value: number | undefined): void {
  if (value !== undefined) list?.push(value);
}

function ratioOf(theirs: number | null, ours: number | null): number | null {
  return theirs === null || ours === null || ours === 0 ? null : theirs / ours;
}

function least(values: readonly number[] | undefined): number | null {
  return values === undefined || values.length === 0 ? null : Math.min(...values);
}

function geometricMean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

async function* smallCells(
  gridCell: CellsScript['gridCell'],
  ask: AskAssignor,
): AsyncGenerator<Cell> {
  for (const assignor of ['sticky', 'balanced', 'highly_available']) {
    for (const type of ['FULL', 'INCREMENTAL']) {
      const shape = { members: 12, perProcess: 2, subtopologies: 4, partitions: 12, standbys: 1 };
      yield gridCell({ ...shape, assignor, type, offsets: true, tags: false }, ask);
    }
  }
}

/** Made one after the other, so that no more than one large cell is in memory. */
async function* cellsOf({ grid, startCommand }: AssignBenchOptions): AsyncGenerator<Cell> {
  const maker = spawn(process.execPath, [scriptFile(), grid, '--assignor', startCommand], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => maker.once('close', resolve));
  for await (const line of createInterface({ input: maker.stdout, crlfDelay: Infinity })) {
    yield JSON.parse(line) as Cell;
  }
  const code = await ended;
  if (code !== 0) throw new Error(`Cannot make the cells of ${grid}: the maker ended with ${code}`);
}

/** A program that is started anew for each cell, so that no cell inherits what a compiler learned from another. */
function startingAnew(command: string, args: readonly string[]): AskAssignor {
  return async (cell) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    let answer = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    child.stdin.end(`${JSON.stringify(cell)}\n`);
    const code = await ended;
    if (code !== 0) throw new Error(`Cannot answer ${cell.cell}: ${command} ended with ${code}`);
    return JSON.parse(answer) as CellAnswer;
  };
}

async function loadScript(): Promise<CellsScript> {
  return import(scriptFile());
}

/** The cell maker is part of the tests, and not of what is installed. */
function scriptFile(): string {
  return oracleFile('cells.mjs');
}

function oracleFile(name: string): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const file = join(folder, 'test/oracle', name);
    if (existsSync(join(folder, 'package.json')) && existsSync(file)) return file;
    if (folder === dirname(folder)) {
      throw new Error(`Cannot find test/oracle/${name}: it is in the sources only`);
    }
  }
}

const ANSWERS = fileURLToPath(new URL('./assign-cells.js', import.meta.url));

function limitsAs(limits: TimingLimits): string[] {
  return ['--warm', String(limits.warmSeconds), '--measure', String(limits.measureSeconds)];
}

const OPTIONS = {
  grid: word(GRIDS, 'gate-sticky', 'which cells'),
  'against-kafka': flag("also the assignor in Kafka's jar, in turn"),
  rounds: count(3, 'how often each side is asked; the best time counts'),
  warm: amount(1, 'seconds of processor time to warm up for, before each measurement'),
  measure: amount(1, 'seconds of processor time to measure for'),
  start: word(['own', 'kafka'], 'own', 'whose assignments incremental cells start from'),
  json: flag('for programs'),
};

const NOTES = `${legend('Grids:', {
  small: 'three assignors on 12 members x 48 tasks: a first look',
  'gate-sticky': '1,000 members x 10,000 tasks, sticky',
  gate: 'half of these, and the same shapes for balanced',
  extra: 'tags of racks, and small groups',
  full: "Kafka's published grid, up to 1,000 members x 10,000 tasks, sticky and balanced",
  huge: 'up to 10,000 members x 100,000 tasks, and a rolling bounce',
} satisfies Record<Grid, string>)}
They have ${GRIDS.map((grid) => `${GRID_CELLS[grid]} (${grid})`).join(', ')} cells. A cell takes --rounds times 3 times
(--warm + --measure) seconds of processor time, and about 3 s a round beside that: 27 s by default; with --against-kafka
some 15 s a round more. Twice as long where others use the machine, too.

${CELL_NOTES}
${COLUMN_NOTES}
--json: docs/assignors.md explains the keys.
`;

async function main(): Promise<void> {
  await runBench('assign', { options: OPTIONS, notes: NOTES }, async (values) => {
    const { grid, rounds, 'against-kafka': withKafka, start, json } = values;
    const without = withKafka || start === 'kafka' ? kafkaLacks() : undefined;
    if (without !== undefined) {
      process.stderr.write(`Cannot ask Kafka's assignor: ${without}\n`);
      process.exitCode = 1;
      return;
    }
    const limits = { warmSeconds: values.warm, measureSeconds: values.measure };
    const oracle = withKafka || start === 'kafka' ? oracleFile('oracle.sh') : '';
    // The jar's compiler takes longer; it stops by itself when its times fall no more.
    const kafka = startingAnew(oracle, ['assign', '--assignment', '--warm', '8', '--measure', '2']);
    if (!json) {
      console.log(
        `node ${process.version}, ${process.arch}; kernel, whole: µs of processor time of one run; --help explains the columns`,
      );
      console.log(headLine(withKafka));
    }
    const report = await benchAssign({
      grid,
      rounds,
      ours: startingAnew(process.execPath, [
        ...AS_SERVED,
        ...[ANSWERS, '--assignment'],
        ...limitsAs(limits),
      ]),
      ...(withKafka && { kafka }),
      startCommand:
        start === 'kafka'
          ? `'${oracle}' assign --once`
          : `'${process.execPath}' '${ANSWERS}' --once`,
      onRound: ({ cell, nth, round }) =>
        progress(`Cell ${nth} of ${GRID_CELLS[grid]}, round ${round} of ${rounds}: ${cell}`),
      onRow: (row) => {
        progress('');
        if (!json) console.log(rowLine(row, withKafka));
      },
    });
    if (json) console.log(JSON.stringify({ node: process.version, ...report }));
    else if (withKafka) process.stdout.write(`\n${summaryText(report)}`);
  });
}

const JAVA_TIMEOUT_MS = 20_000;

/** What Kafka's jar needs and is not there, before anything is measured; brings the jar where it was not asked before. */
function kafkaLacks(): string | undefined {
  const { error } = spawnSync('java', ['-version'], { timeout: JAVA_TIMEOUT_MS });
  if (error !== undefined) return 'java cannot be started, wanted Java 17 or newer on the PATH';
  const { status } = spawnSync(oracleFile('oracle.sh'), ['fetch'], { stdio: 'inherit' });
  return status === 0 ? undefined : `oracle.sh fetch ended with ${status}, wanted Maven and a JDK`;
}

/** What is under way, in one line of a terminal that the next one takes the place of. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
