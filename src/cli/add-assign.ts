import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AssignorModule, modulesOf } from '../config/assignor-modules.ts';
import type { HostPort } from '../config/host-port.ts';
import type { CellEdits, NewMember } from '../problem/edit-cell.ts';
import { CELL_STANDBYS_MAX, TAG_KEYS_MAX } from '../problem/read-cell.ts';
import { INT64_MAX } from '../problem/shape.ts';
import { assign } from './assign.ts';
import { runAssignCells } from './bench.ts';
import type { CommandIo } from './command-io.ts';
import { adminOption, collecting, digitsUpTo, RepeatableOption, wholeNumber } from './flags.ts';

type Flags = {
  readonly problem?: string;
  readonly group?: string;
  readonly admin: HostPort;
  readonly cells?: true;
  readonly assignor?: readonly string[];
  readonly module?: readonly AssignorModule[];
  readonly compare?: true;
  readonly json?: true;
  readonly limit: number;
  readonly write?: string;
  readonly addMember?: readonly NewMember[];
  readonly removeMember?: readonly string[];
  readonly removeProcess?: readonly string[];
  readonly standbys?: string;
  readonly tags?: readonly string[];
  readonly lag?: string;
  readonly tasks?: NonNullable<CellEdits['tasks']>;
  readonly once?: true;
  readonly assignment?: true;
  readonly warm?: string;
  readonly measure?: string;
};

const MOVES_LIMIT = 50;
const NOT_WITH_CELLS: (keyof Flags)[] = [
  'problem',
  'group',
  'assignor',
  'module',
  'compare',
  'json',
  'write',
  'standbys',
  'tags',
  'lag',
  'tasks',
  'removeProcess',
  'removeMember',
  'addMember',
];
const ONLY_WITH_CELLS = ['once', 'assignment', 'warm', 'measure'] as const;
const EXAMPLES = `
Examples:
  headgate assign --group orders                                 what a rebalance would move now
  headgate assign --group orders --add-member --compare          and with one member more, by every assignor
  headgate assign --group orders --remove-process P --standbys 2
  headgate assign --group orders --add-member c@p3,zone=a        a new process, with its tags
  headgate assign --group orders --module mine=./mine.mjs        by an assignor of your own
  headgate assign --problem headgate-data/problems/FILE.json     a problem at which an assignor failed, again`;

/** The command `assign`, with all its flags. */
export function addAssign(program: Command, io: CommandIo): void {
  const command = program
    .command('assign')
    .description('what would move: assigns the tasks of a group without touching it')
    .option(
      '--problem <file>',
      'the group as a problem file has it (docs/problem-files.md), packed by gzip or not; - is standard input',
    )
    .option('--group <id>', 'the group as it runs now; asks the admin server')
    .addOption(adminOption())
    .addOption(collecting('--assignor <name>', 'by this one; may be given many times'))
    .addOption(repeated('--module <name=path>', 'by an assignor of your own', readModules))
    .option('--compare', 'by all assignors, or those named, side by side')
    .option('--json', 'for programs')
    .option(
      '--limit <number>',
      'how many moves are shown; --json has them all',
      wholeNumber,
      MOVES_LIMIT,
    )
    .option('--write <file>', 'write the problem, as changed, to a file');
  addEdits(command);
  addCells(command);
  command.addHelpText('after', EXAMPLES).action((flags: Flags) => {
    if (flags.cells === true) return runCells(flags);
    const misplaced = ONLY_WITH_CELLS.find((flag) => flags[flag] !== undefined);
    if (misplaced !== undefined) {
      return command.error(`error: option '--${misplaced}' is only for --cells`);
    }
    if (flags.problem !== undefined && flags.group !== undefined) {
      return command.error('error: wanted only one of --problem and --group');
    }
    if (flags.group === '') return command.error('error: wanted the id of a group with --group');
    if (flags.write === '-') return command.error('error: wanted the path of a file with --write');
    if (flags.problem === undefined && flags.group === undefined) {
      return command.error('error: wanted one of --problem, --group and --cells');
    }
    return run(flags, io);
  });
}

/** Changes of the problem, in the order in which they are carried out. */
function addEdits(command: Command): void {
  command
    .option(
      '--standbys <number>',
      'what if: standbys of each task with state',
      digitsUpTo(CELL_STANDBYS_MAX),
    )
    .option('--tags <tag,..>', 'what if: the rack-aware assignment tags', readTags)
    .option('--lag <number>', 'what if: the acceptable recovery lag', digitsUpTo(INT64_MAX))
    .addOption(repeated('--tasks <subtopology=number>', 'what if: its tasks', readTasks))
    .addOption(collecting('--remove-process <id>', 'what if: it is gone; repeatable'))
    .addOption(collecting('--remove-member <id>', 'what if: it is gone; repeatable'))
    .addOption(
      repeated(
        '--add-member [id@process,tag=value,..]',
        'what if: one more; all may be left out',
        readNewMember,
      ).preset(''),
    );
}

function repeated<T>(
  flags: string,
  about: string,
  read: (text: string, before: T | undefined) => T,
): RepeatableOption {
  return new RepeatableOption(flags, `${about}; repeatable`).argParser(read);
}

function addCells(command: Command): void {
  command
    .addOption(
      new Option(
        '--cells',
        'answer cells, JSON lines on standard input; only with what follows:',
      ).conflicts(NOT_WITH_CELLS),
    )
    .option('--once', 'answer each cell with its assignment, without timing')
    .option('--assignment', 'the assignment beside the times')
    .option('--warm <seconds>', 'CPU time to warm up for, before each measurement')
    .option('--measure <seconds>', 'CPU time to measure for');
}

function run(flags: Flags, io: CommandIo): Promise<void> {
  const { problem, group, admin, assignor, standbys } = flags;
  const edits: CellEdits = {
    standbys: standbys === undefined ? undefined : Number(standbys),
    tags: flags.tags,
    lag: flags.lag,
    tasks: flags.tasks ?? [],
    removeProcesses: flags.removeProcess ?? [],
    removeMembers: flags.removeMember ?? [],
    addMembers: flags.addMember ?? [],
  };
  return assign(
    {
      from: problem === undefined ? { group: group ?? '', admin } : { file: problem },
      edits,
      ...(assignor !== undefined && { assignors: assignor }),
      modules: flags.module ?? [],
      compare: flags.compare === true,
      write: flags.write,
      limit: flags.limit,
      json: flags.json === true,
    },
    io,
  );
}

function runCells({ once, assignment, warm, measure }: Flags): Promise<void> {
  return runAssignCells([
    ...(once === true ? ['--once'] : []),
    ...(assignment === true ? ['--assignment'] : []),
    ...(warm === undefined ? [] : ['--warm', warm]),
    ...(measure === undefined ? [] : ['--measure', measure]),
  ]);
}

function readTags(text: string): readonly string[] {
  if (text.trim() === '') return [];
  const tags = text.split(',').map((tag) => tag.trim());
  if (tags.includes('') || tags.length > TAG_KEYS_MAX || hasRepeats(tags)) {
    throw new InvalidArgumentError(
      `Wanted at most ${TAG_KEYS_MAX} names, none of them empty and none twice, separated by commas.`,
    );
  }
  return tags;
}

function hasRepeats(names: readonly string[]): boolean {
  return new Set(names).size < names.length;
}

function readTasks(
  text: string,
  before: NonNullable<CellEdits['tasks']> = [],
): NonNullable<CellEdits['tasks']> {
  const [, id, tasks] = /^(.+)=(\d{1,9})$/s.exec(text) ?? [];
  if (id === undefined) throw new InvalidArgumentError('Wanted SUBTOPOLOGY=NUMBER.');
  return [...before, { id, tasks: Number(tasks) }];
}

function readNewMember(text: string, before: readonly NewMember[] = []): readonly NewMember[] {
  const [name = '', ...tagTexts] = text.split(',');
  const tags = tagTexts.map((tag) => /^([^=]+)=(.*)$/s.exec(tag)?.slice(1) ?? []);
  const at = name.lastIndexOf('@');
  const isProcessMissing = at !== -1 && at === name.length - 1;
  if (isProcessMissing || tags.some((parts) => parts.length === 0)) {
    throw new InvalidArgumentError('Wanted [ID][@PROCESS][,TAG=VALUE,..].');
  }
  const [, tagLike] = /^(?:.*@)?(.*=.*)$/s.exec(name) ?? [];
  if (tagLike !== undefined) {
    throw new InvalidArgumentError(
      `Wanted [ID][@PROCESS][,TAG=VALUE,..]: a tag stands behind a comma, as in NAME,${tagLike}.`,
    );
  }
  if (hasRepeats(tags.map(([tag = '']) => tag))) {
    throw new InvalidArgumentError('Wanted each tag once.');
  }
  const [id, process] = at === -1 ? [name, ''] : [name.slice(0, at), name.slice(at + 1)];
  const added = {
    id: id || undefined,
    process: process || undefined,
    tags: tags.length === 0 ? undefined : Object.fromEntries(tags),
  };
  return [...before, added];
}

function readModules(
  text: string,
  before: readonly AssignorModule[] = [],
): readonly AssignorModule[] {
  const entries = [...before.map(({ name, file }) => `${name}=${file}`), text];
  const { modules, fault } = modulesOf(entries);
  if (fault !== undefined) throw new InvalidArgumentError(`Wrong: ${fault}.`);
  return modules;
}
