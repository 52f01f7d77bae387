import { writeFileSync } from 'node:fs';
import type { AssignedRun } from '../../actors/ports.ts';
import { lackedTags, lackedTagText } from '../../machines/decide/client-tags.ts';
import { firstFew } from '../../machines/decide/first-few.ts';
import { gatherProblem } from '../../machines/model/assignment.ts';
import { ASSIGNORS } from '../../machines/model/assignors.ts';
import { countTasks } from '../../machines/model/task-list.ts';
import { AssignorModules } from '../../workers/assignor-modules.ts';
import { AssignorError, AssignorPool } from '../../workers/pool.ts';
import { type AssignorModule, modulesIn } from '../config/assignor-modules.ts';
import type { AssignorConfig } from '../config/config.ts';
import { resolveConfig } from '../config/resolve.ts';
import { type Cell, problemOfCell } from '../problem/cell.ts';
import { type CellEdits, editCell } from '../problem/edit-cell.ts';
import { contestedActives, movesOf } from '../problem/moves.ts';
import { CellError } from '../problem/shape.ts';
import { type Answer, answersText, headText, summaryOf } from './assign-text.ts';
import { CommandError, type CommandIo, WRONGLY_ASKED } from './command-io.ts';
import { whyUnwritable } from './file-reason.ts';
import { plainEntry } from './plain-text.ts';
import { type ProblemSource, readProblem } from './read-problem.ts';
import { jsonText } from './table.ts';

export type AssignOptions = {
  readonly from: ProblemSource;
  readonly edits: CellEdits;
  /** Left out: the modules given, else the one of the problem. */
  readonly assignors?: readonly string[];
  /** Assignors of the user's own, by name beside ours; paths count from where the process was started. */
  readonly modules: readonly AssignorModule[];
  /** Several assignors side by side; all of them unless some are named. */
  readonly compare: boolean;
  /** Where to write the problem with its changes. */
  readonly write?: string | undefined;
  /** Moves that are shown. */
  readonly limit: number;
  readonly json: boolean;
};

const RUN_DEADLINE_MS = 60_000;

/** `assign`: what would move, as one assignor or several would have it. Nothing but the file to be written is touched. */
export async function assign(options: AssignOptions, io: CommandIo): Promise<void> {
  const { config } = resolveConfig({});
  const modules = modulesIn('.', options.modules);
  const known = [...ASSIGNORS, ...modules.map(({ name }) => name)];
  refuseUnknown(options.assignors ?? [], known);
  const read = await readProblem(options.from, io);
  const cell = edited(read, options);
  if (options.write !== undefined) writeFile(options.write, cell);
  const asked = assignorsFor(options, cell, known);
  const able = asked.filter((name) => known.includes(name));
  const found = await ask(cell, able, { ...config.assignor, modules });
  const answers = asked.map(
    (assignor) =>
      found.find((answer) => answer.assignor === assignor) ?? {
        assignor,
        error: notHere(assignor),
      },
  );
  for (const { name } of modules.filter((module) => !asked.includes(module.name))) {
    io.err(`Module "${name}" is not asked: --assignor names others\n`);
  }
  warnOfLackedTags(cell, options.edits, io);
  warnOfContested(cell, io);
  if (options.json) io.out(jsonText({ problem: summaryOf(cell), answers }));
  else io.out(`${headText(cell)}\n${answersText(answers, options.limit)}`);
  const errors = found.flatMap((answer) => ('error' in answer ? [answer.error] : []));
  if (errors.length === 0) return;
  throw new CommandError(
    answers.length === 1
      ? `Assignor ${asked.join()} failed: ${errors.join()}`
      : `${errors.length} of ${answers.length} assignors failed`,
  );
}

/**
 * Whom to ask: those that are named; to compare, all there are and the problem's own; else the modules that were given, or
 * the problem's own. One that is not here comes only with others.
 */
function assignorsFor(
  { assignors, compare, modules }: AssignOptions,
  { assignor = ASSIGNORS[0] }: Cell,
  known: readonly string[],
): readonly string[] {
  if (assignors !== undefined) return [...new Set(assignors)];
  if (compare) return [...new Set([...known, assignor])];
  if (modules.length > 0) return modules.map(({ name }) => name);
  if (known.includes(assignor)) return [assignor];
  throw new CommandError(plainEntry(`Cannot assign as "${assignor}" does: ${notHere(assignor)}`), {
    exitCode: WRONGLY_ASKED,
  });
}

function notHere(assignor: string): string {
  return `it is none of ${ASSIGNORS.join(', ')}: if it is one of your own, add --module ${assignor}=PATH, or name another one with --assignor`;
}

function refuseUnknown(assignors: readonly string[], known: readonly string[]): void {
  const unknown = assignors.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new CommandError(
    `Cannot use assignor "${unknown}": wanted one of ${known.join(', ')}, or --module ${unknown}=PATH`,
    { exitCode: WRONGLY_ASKED },
  );
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
    throw new CommandError(`Cannot write ${file}: ${whyUnwritable(error)}`);
  }
}

/** Through a pool and its checker, as a coordinator asks. */
async function ask(
  cell: Cell,
  assignors: readonly string[],
  config: AssignorConfig,
): Promise<readonly Answer[]> {
  // What goes wrong is told as the answer of the assignor; what is lacking, in its figures.
  const log = { warn() {}, info() {} };
  const modules = await AssignorModules.open({
    modules: config.modules.filter(({ name }) => assignors.includes(name)),
    timeoutMs: config.moduleTimeoutMs,
    memoryMaxBytes: config.moduleMemoryMaxBytes,
    log,
  });
  const pool = new AssignorPool({ threads: 1, queueMax: 1, log, modules });
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

async function answerOf(cell: Cell, assignor: string, found: AssignedRun): Promise<Answer> {
  const { standIn, targets } = found;
  if (standIn !== undefined) {
    return { assignor, error: standIn.reason };
  }
  const lookBack = await found.lookBack;
  if (lookBack === undefined) {
    return { assignor, error: `Cannot tell what ${assignor} moves: no time was left to look back` };
  }
  const { figures } = lookBack;
  const wanted = figures.statefulTasks * (cell.configs?.numStandbyReplicas ?? 0);
  const placed = [...targets].reduce((sum, { standby }) => sum + countTasks(standby), 0);
  const moves = movesOf(cell, found, lookBack);
  const standbys = moves.filter(({ role, to }) => role === 'standby' && to !== null);
  const standbysUnowned = standbys.filter(({ from }) => from === null).length;
  return {
    assignor,
    moves,
    figures,
    activesUnowned: figures.tasks - figures.held,
    standbysMoved: standbys.length - standbysUnowned,
    standbysUnowned,
    standbysMissing: Math.max(0, wanted - placed),
  };
}

function failureOf(assignor: string): (error: unknown) => Answer {
  return (error) => {
    if (error instanceof AssignorError) return { assignor, error: error.message };
    throw error;
  };
}

/** Members that all say that they run a task are no fault of the file: a group with a member that hangs is kept so. */
function warnOfContested(cell: Cell, io: CommandIo): void {
  const contested = contestedActives(cell);
  if (contested.length === 0) return;
  const named = contested.map(({ task, memberIds }) => `${task} (${firstFew(memberIds)})`);
  const what = contested.length === 1 ? '1 task is' : `${contested.length} tasks are`;
  const isAsKafka = cell.configs?.placeAsKafka === true;
  const counts = `the first by id counts as the owner${isAsKafka ? ', to sticky as Kafka has it the last in its order' : ''}`;
  const line = `${what} active on several members, of whom ${counts}: ${firstFew(named)}`;
  io.err(`${plainEntry(line)}\n`);
}

/** Whoever is without the tags that copies are spread by is nowhere, to an assignor. */
function warnOfLackedTags(cell: Cell, { addMembers = [] }: CellEdits, io: CommandIo): void {
  const members = cell.members.map(({ id, process, tags = {} }) => ({
    memberId: id,
    clientId: '',
    processId: process,
    clientTags: Object.entries(tags).map(([key, value]) => ({ key, value })),
  }));
  const lacked = lackedTags(members, cell.configs?.rackAwareAssignmentTags ?? []);
  for (const each of lacked) io.err(`${plainEntry(lackedTagText(each, members))}\n`);
  // What nobody has is misspelt, if anything: more of it is no advice.
  const had = lacked.filter(({ memberIds }) => memberIds.length < members.length);
  for (const { id } of addMembers.length === 0 ? [] : cell.members.slice(-addMembers.length)) {
    const missing = had.filter(({ memberIds }) => memberIds.includes(id)).map(({ tag }) => tag);
    if (missing.length === 0) continue;
    const example = missing.map((key) => `,${key}=VALUE`).join('');
    io.err(
      `Member "${id}" has no tag ${missing.join(', ')}: add it with --add-member ID@PROCESS${example}\n`,
    );
  }
}
