import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Cell } from '../src/problem/cell.ts';
import type { CellAnswer } from './assign-cells.ts';
import type { TimingLimits } from './cpu-time.ts';

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
  let answer: CellAnswer | undefined;
  for (let round = 0; round < rounds; round++) {
    answer = await ours(cell);
    note(kernel, answer.timing?.cpuUs.min);
    note(whole, answer.wholeTiming?.cpuUs.min);
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

function printRow({ cell, kernelUs, wholeUs, kernelRatio, wholeRatio, rules, quality }: AssignRow) {
  const figure = (value: number | null | undefined, digits: number): string =>
    value === null || value === undefined ? '-' : value.toFixed(digits);
  const broken = Object.entries(rules).map(([rule, count]) => `${rule}:${count}`);
  const columns = [
    cell.padEnd(52),
    figure(kernelUs, 0).padStart(8),
    figure(wholeUs, 0).padStart(8),
    figure(kernelRatio, 1).padStart(7),
    figure(wholeRatio, 1).padStart(7),
    (broken.join(' ') || 'ok').padStart(8),
    ...SHOWN.map((name) => {
      const value = quality[name];
      return figure(value, Number.isInteger(value) ? 0 : 3).padStart(6);
    }),
  ];
  console.log(columns.join(' '));
}

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      grid: { type: 'string', default: 'gate-sticky' },
      'against-kafka': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '3' },
      warm: { type: 'string', default: '1' },
      measure: { type: 'string', default: '1' },
      start: { type: 'string', default: 'own' },
    },
  });
  const grid = GRIDS.find((each) => each === values.grid);
  if (grid === undefined) {
    throw new Error(`Cannot measure: grid is "${values.grid}", wanted one of ${GRIDS.join(', ')}`);
  }
  const limits = { warmSeconds: Number(values.warm), measureSeconds: Number(values.measure) };
  const kafkaCommand = values['against-kafka'] || values.start === 'kafka';
  const oracle = kafkaCommand ? oracleFile('oracle.sh') : '';
  // The jar's compiler takes longer; it stops by itself when its times fall no more.
  const kafka = startingAnew(oracle, ['assign', '--assignment', '--warm', '8', '--measure', '2']);
  if (!values.json) {
    console.log(
      `node ${process.version}, ${process.arch}; CPU µs of one run, the least; Kafka's by ours`,
    );
    const heads = ['kernel', 'whole', 'x', 'x whole', 'rules', ...SHOWN];
    const widths = [8, 8, 7, 7, 8, ...SHOWN.map(() => 6)];
    console.log(
      ['cell'.padEnd(52), ...heads.map((head, i) => head.padStart(widths[i] ?? 0))].join(' '),
    );
  }
  const report = await benchAssign({
    grid,
    rounds: Number(values.rounds),
    ours: startingAnew(process.execPath, [ANSWERS, '--assignment', ...limitsAs(limits)]),
    ...(values['against-kafka'] && { kafka }),
    startCommand:
      values.start === 'kafka'
        ? `'${oracle}' assign --once`
        : `'${process.execPath}' '${ANSWERS}' --once`,
    ...(!values.json && { onRow: printRow }),
  });
  if (values.json) console.log(JSON.stringify({ node: process.version, ...report }));
  else console.log(JSON.stringify(report.summary));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
