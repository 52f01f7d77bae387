import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Cell } from '../src/problem/cell.ts';
import type { CellAnswer } from './assign-cells.ts';
import { amount, count, flag, runBench, word } from './command-line.ts';
import type { TimingLimits } from './cpu-time.ts';
import type { LoopDelay } from './loop-delay.ts';

/** The cells there are; `small` is made for the tests. See test/oracle/README-assign.md for the others. */
export const GRIDS = ['small', 'gate-sticky', 'gate', 'extra', 'full', 'huge'] as const;

export type Grid = (typeof GRIDS)[number];

/** Answers a cell with an assignment and, as a rule, with times. */
export type AskAssignor = (cell: Cell) => Promise<CellAnswer>;

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
  /** How long runs held up the event loop, ms; of the rounds the one with the least, as the machine holds it up as well. */
  readonly loopDelayMs: LoopDelay | null;
  /** Rules that are broken, by number of breaches (assignors 2). */
  readonly rules: Readonly<Record<string, number>>;
  /** The measures of assignors 3; null where one has no meaning. */
  readonly quality: Readonly<Record<string, number | null>>;
  /** Of the assignment; the same on every machine. */
  readonly checkValue: string;
};

export type AssignReport = {
  readonly grid: Grid;
  readonly rows: readonly AssignRow[];
  /** How many times longer Kafka's jar takes; null when it was not asked. */
  readonly summary: {
    readonly kernelRatioGeoMean: number | null;
    readonly kernelRatioWorst: number | null;
    readonly wholeRatioGeoMean: number | null;
    readonly wholeRatioWorst: number | null;
  };
};

export type AssignBenchOptions = {
  readonly grid: Grid;
  /** How often each side is asked, in turn; the best time counts. */
  readonly rounds: number;
  readonly ours: AskAssignor;
  readonly kafka?: AskAssignor;
  /** The command whose assignments incremental cells start from. */
  readonly startCommand: string;
  readonly onRow?: (row: AssignRow) => void;
};

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
    const row = await measure(cell, options, grade);
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
  { rounds, ours, kafka }: AssignBenchOptions,
  grade: CellsScript['grade'],
): Promise<AssignRow> {
  const [kernel, whole, theirs]: number[][] = [[], [], []];
  const loop: LoopDelay[] = [];
  let answer: CellAnswer | undefined;
  for (let round = 0; round < rounds; round++) {
    answer = await ours(cell);
    note(kernel, answer.timing?.cpuUs.min);
    note(whole, answer.wholeTiming?.cpuUs.min);
    if (answer.loopDelayMs !== undefined) loop.push(answer.loopDelayMs);
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
    loopDelayMs: loop.toSorted((a, b) => a.p99 - b.p99)[0] ?? null,
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

const SHOWN = ['Q1', 'Q2', 'Q3', 'Q4a', 'Q5', 'Q7', 'Q7x', 'built', 'Q9', 'Q10'] as const;

/** A line of the table. What only Kafka's jar gives is left out where it is not asked. */
function lineOf(
  { cell, kernelUs, wholeUs, kernelRatio, wholeRatio, loopDelayMs, rules, quality }: AssignRow,
  withKafka: boolean,
): string {
  const figure = (value: number | null | undefined, digits: number): string =>
    value === null || value === undefined ? '-' : value.toFixed(digits);
  const broken = Object.entries(rules).map(([rule, count]) => `${rule}:${count}`);
  return [
    cell.padEnd(CELL_WIDTH),
    figure(kernelUs, 0).padStart(8),
    figure(wholeUs, 0).padStart(8),
    ...(withKafka ? [kernelRatio, wholeRatio].map((ratio) => figure(ratio, 1).padStart(7)) : []),
    ...[loopDelayMs?.p99, loopDelayMs?.max].map((ms) => figure(ms, 1).padStart(8)),
    (broken.join(' ') || 'ok').padStart(8),
    ...SHOWN.map((name) => {
      const value = quality[name];
      return figure(value, Number.isInteger(value) ? 0 : 3).padStart(6);
    }),
  ].join(' ');
}

const CELL_WIDTH = 52;

function headLine(withKafka: boolean): string {
  return [
    'cell'.padEnd(CELL_WIDTH),
    'kernel'.padStart(8),
    'whole'.padStart(8),
    ...(withKafka ? ['x'.padStart(7), 'x whole'.padStart(7)] : []),
    ...['loop p99', 'loop max'].map((name) => name.padStart(8)),
    'rules'.padStart(8),
    ...SHOWN.map((name) => name.padStart(6)),
  ].join(' ');
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

async function main(): Promise<void> {
  await runBench('assign', OPTIONS, async (values) => {
    const { grid, rounds, 'against-kafka': withKafka, start, json } = values;
    const limits = { warmSeconds: values.warm, measureSeconds: values.measure };
    const oracle = withKafka || start === 'kafka' ? oracleFile('oracle.sh') : '';
    // The jar's compiler takes longer; it stops by itself when its times fall no more.
    const kafka = startingAnew(oracle, ['assign', '--assignment', '--warm', '8', '--measure', '2']);
    if (!json) {
      const ratios = withKafka ? "; Kafka's by ours" : '';
      console.log(
        `node ${process.version}, ${process.arch}; CPU µs of one run, the least${ratios}; loop: ms`,
      );
      console.log(headLine(withKafka));
    }
    const report = await benchAssign({
      grid,
      rounds,
      ours: startingAnew(process.execPath, [ANSWERS, '--assignment', ...limitsAs(limits)]),
      ...(withKafka && { kafka }),
      startCommand:
        start === 'kafka'
          ? `'${oracle}' assign --once`
          : `'${process.execPath}' '${ANSWERS}' --once`,
      ...(!json && { onRow: (row: AssignRow) => console.log(lineOf(row, withKafka)) }),
    });
    if (json) console.log(JSON.stringify({ node: process.version, ...report }));
    else if (withKafka) console.log(JSON.stringify(report.summary));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
