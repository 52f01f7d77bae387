import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { reasonWords } from '../../machines/decide/reason-words.ts';
import { type GroupResult, gatherProblem } from '../../machines/model/assignment.ts';
import { ASSIGNORS, standInText } from '../../machines/model/assignors.ts';
import type { AssignmentFigures } from '../../machines/model/look-back.ts';
import { AssignorModules } from '../../workers/assignor-modules.ts';
import { AssignorError, AssignorPool } from '../../workers/pool.ts';
import type { AssignorConfig } from '../config/config.ts';
import type { HostPort } from '../config/host-port.ts';
import { resolveConfig } from '../config/resolve.ts';
import { type Cell, problemOfCell } from '../problem/cell.ts';
import { type CellEdits, editCell } from '../problem/edit-cell.ts';
import { type Move, movesOf } from '../problem/moves.ts';
import { CELL_BYTES_MAX, parseCell, readCell } from '../problem/read-cell.ts';
import { CellError } from '../problem/shape.ts';
import { askAdmin } from './admin-http.ts';
import { CommandError, type CommandIo, WRONGLY_ASKED } from './command-io.ts';
import { jsonText, table } from './table.ts';

export type AssignOptions = {
  /** A problem file; or else the live group to ask the admin server for. */
  readonly from: { readonly file: string } | { readonly group: string; readonly admin: HostPort };
  readonly edits: CellEdits;
  /** Left out: the one of the problem. */
  readonly assignors?: readonly string[];
  /** Assignors of the user's own, by name beside ours; text as `assignors.modules` has it. */
  readonly modules: string;
  /** Several assignors side by side; all of them unless some are named. */
  readonly compare: boolean;
  /** Where to write the problem with its changes. */
  readonly write?: string | undefined;
  /** Moves that are shown. */
  readonly limit: number;
  readonly json: boolean;
};

/** What one assignor makes of the problem. */
type Found = {
  readonly assignor: string;
  readonly moves: readonly Move[];
  readonly figures: AssignmentFigures;
};
type Answer = Found | { readonly assignor: string; readonly error: string };

const RUN_DEADLINE_MS = 60_000;

/** `assign`: what would move, as one assignor or several would have it. Nothing but the file to be written is touched. */
export async function assign(options: AssignOptions, io: CommandIo): Promise<void> {
  const { config } = resolveConfig({ flags: { 'assignors.modules': options.modules } });
  const known = [...ASSIGNORS, ...config.assignor.modules.map(({ name }) => name)];
  const assignors = options.assignors ?? (options.compare ? known : []);
  refuseUnknown(assignors, known);
  const read = 'file' in options.from ? readFile(options.from.file) : await askFor(options.from);
  const cell = edited(read, options);
  if (options.write !== undefined) writeFile(options.write, cell);
  const { assignor = ASSIGNORS[0] } = cell;
  if (assignors.length === 0) refuseUnknown([assignor], known);
  const asked = assignors.length === 0 ? [assignor] : assignors;
  const answers = await ask(cell, asked, config.assignor, io);
  if (options.json) io.out(jsonText({ problem: summaryOf(cell), answers }));
  else io.out(`${headText(cell)}\n${answersText(answers, options.limit)}`);
  const errors = answers.flatMap((answer) => ('error' in answer ? [answer.error] : []));
  if (errors.length > 0) throw new CommandError(errors.join('; '));
}

function refuseUnknown(assignors: readonly string[], known: readonly string[]): void {
  const unknown = assignors.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CommandError(
    `Cannot use assignor "${unknown}": wanted one of ${known.join(', ')} (--assignor, --module)`,
    { exitCode: WRONGLY_ASKED },
  );
}

function readFile(file: string): Cell {
  try {
    const { size } = statSync(file);
    if (size > CELL_BYTES_MAX) {
      throw new CellError(`It is ${size} bytes long: wanted at most ${CELL_BYTES_MAX}`);
    }
    return parseCell(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandError(`Cannot read ${file}: ${reasonOf(error)}`);
  }
}

async function askFor({ group, admin }: { group: string; admin: HostPort }): Promise<Cell> {
  const value = await askAdmin<unknown>(admin, `/groups/${encodeURIComponent(group)}/problem`);
  try {
    return readCell(value);
  } catch (error) {
    throw new CommandError(`Cannot read the problem of group "${group}": ${reasonOf(error)}`);
  }
}

function edited(cell: Cell, { edits, assignors = [] }: AssignOptions): Cell {
  try {
    return editCell(cell, { ...edits, ...(assignors.length === 1 && { assignor: assignors[0] }) });
  } catch (error) {
    if (!(error instanceof CellError)) throw error;
    throw new CommandError(error.message, { exitCode: WRONGLY_ASKED });
  }
}

function writeFile(file: string, cell: Cell): void {
  try {
    writeFileSync(file, `${JSON.stringify(cell)}\n`);
  } catch (error) {
    throw new CommandError(`Cannot write ${file}: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Through a pool and its checker, as a coordinator asks. */
async function ask(
  cell: Cell,
  assignors: readonly string[],
  config: AssignorConfig,
  io: CommandIo,
): Promise<readonly Answer[]> {
  const warn = (fields: object, text: string) => io.err(`${text}: ${JSON.stringify(fields)}\n`);
  const modules = await AssignorModules.open({
    modules: config.modules,
    timeoutMs: config.moduleTimeoutMs,
    memoryMaxBytes: config.moduleMemoryMaxBytes,
    // What goes wrong with a module is told as its answer.
    log: { warn() {}, info() {} },
  });
  const pool = new AssignorPool({ threads: 1, queueMax: 1, log: { warn }, modules });
  try {
    const answers: Answer[] = [];
    for (const assignor of assignors) {
      const problem = gatherProblem({ ...problemOfCell(cell), assignor });
      const run = pool.assign(problem, { deadlineMs: RUN_DEADLINE_MS });
      answers.push(await run.then((found) => answerOf(cell, assignor, found), failureOf(assignor)));
    }
    return answers;
  } finally {
    await pool.close();
    await modules.close();
  }
}

async function answerOf(cell: Cell, assignor: string, found: GroupResult): Promise<Answer> {
  if (found.standIn !== undefined) return { assignor, error: standInText(found.standIn) };
  const lookBack = await found.lookBack;
  if (lookBack === undefined) {
    return { assignor, error: `Cannot tell what ${assignor} moves: no time was left to look back` };
  }
  return { assignor, moves: movesOf(cell, found, lookBack), figures: lookBack.figures };
}

function failureOf(assignor: string): (error: unknown) => Answer {
  return (error) => {
    if (error instanceof AssignorError) return { assignor, error: error.message };
    throw error;
  };
}

/** What the problem is about, without its members. */
function summaryOf({ cell, assignor, group, dump, configs, topology, members }: Cell) {
  return {
    cell,
    assignor: assignor ?? ASSIGNORS[0],
    group: group ?? null,
    dump: dump ?? null,
    configs: configs ?? {},
    subtopologies: topology.length,
    tasks: topology.reduce((sum, { tasks }) => sum + tasks, 0),
    members: members.length,
    processes: new Set(members.map(({ process }) => process)).size,
  };
}

function headText(cell: Cell): string {
  const { group, dump, configs, tasks, members, processes } = summaryOf(cell);
  const name = group === null ? `Cell ${cell.cell}` : `Group ${group.id}`;
  const epoch = group?.epoch === undefined ? '' : ` at epoch ${group.epoch}`;
  const standbys = configs.numStandbyReplicas ?? 0;
  const sizes = `${tasks} tasks, standbys ${standbys}, ${members} members in ${processes} processes`;
  const detail = dump?.detail === undefined ? '' : `: ${dump.detail}`;
  const why =
    dump === null || dump.why === 'asked' ? '' : `Kept ${dump.at}, ${dump.why}${detail}\n`;
  return `${name}${epoch}: ${sizes}\n${why}`;
}

/** What one assignor moves, and how good that is; of several, how good they are. */
function answersText(answers: readonly Answer[], limit: number): string {
  const found = answers.filter((answer) => 'figures' in answer);
  const [only] = found;
  if (only === undefined) return '';
  return answers.length > 1 ? comparison(found) : `${movesText(only, limit)}\n${comparison(found)}`;
}

function movesText({ assignor, moves, figures }: Found, limit: number): string {
  if (moves.length === 0) return 'Nothing moves\n';
  const shares = {
    statefulShare: figures.statefulTasks / figures.sharers,
    activeShare: figures.tasks / figures.sharers,
  };
  const rows = moves.slice(0, limit).map(({ task, role, from, hasLeft, to, reason }) => {
    const why =
      reason === null || to === null
        ? ''
        : reasonWords(reason, { ...shares, assignor, to, isOne: true });
    return [task, role, `${from ?? '-'}${hasLeft ? ' (left)' : ''}`, to ?? '-', why];
  });
  const more = moves.length - rows.length;
  const rest = more > 0 ? `and ${more} more (--limit, --json)\n` : '';
  return table(['TASK', 'ROLE', 'FROM', 'TO', 'WHY'], rows) + rest;
}

/** A row for each measure, a column for each assignor. */
function comparison(found: readonly Found[]): string {
  const rows = MEASURES.map(([name, tell]) => [name, ...found.map(tell)]);
  const tags = found[0]?.figures.tagDiversity ?? [];
  const diversity = tags.map(({ tag }, at) => [
    `diversity of copies by ${tag} (Q10)`,
    ...found.map(({ figures }) => share(figures.tagDiversity[at]?.diversity ?? null)),
  ]);
  return table(['MEASURE', ...found.map(({ assignor }) => assignor)], [...rows, ...diversity]);
}

const MEASURES: readonly (readonly [name: string, tell: (answer: Found) => string])[] = [
  ['actives that move', ({ figures: { moved, held } }) => `${moved} of ${held}`],
  ['  least that must', ({ figures }) => String(figures.leastMoved)],
  [
    'actives with state that move',
    ({ figures: { statefulMoved, statefulHeld } }) => `${statefulMoved} of ${statefulHeld}`,
  ],
  ['  least that must', ({ figures }) => String(figures.leastStatefulMoved)],
  ['standbys that move', ({ moves }) => String(countStandbys(moves))],
  ['copies of state to build', ({ figures }) => String(figures.copiesBuilt)],
  [
    'copies that stay (Q8)',
    ({ figures: { copiesKept, copiesHeld } }) => `${copiesKept} of ${copiesHeld}`,
  ],
  [
    'states on disk that are used (Q9)',
    ({ figures: { statesReused, statesOnDisk } }) => `${statesReused} of ${statesOnDisk}`,
  ],
  ['spread of actives with state (Q1)', ({ figures }) => String(figures.statefulSpread)],
  ['spread of actives (Q2)', ({ figures }) => String(figures.activeSpread)],
  ['spread of load of processes (Q4b)', ({ figures }) => share(figures.loadSpread)],
  ['tasks that nobody may take', ({ figures }) => String(figures.unassigned)],
];

function countStandbys(moves: readonly Move[]): number {
  return moves.filter(({ role, to }) => role === 'standby' && to !== null).length;
}

function share(value: number | null): string {
  return value === null ? '-' : String(Math.round(value * 1000) / 1000);
}
