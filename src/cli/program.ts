import { Command, InvalidArgumentError, Option } from 'commander';
import { charts } from '../../machines/charts.ts';
import { CHART_FORMATS, type ChartFormat } from '../charts/render-chart.ts';
import type { AdminClient } from '../client/admin.ts';
import { rows, type SettingName } from '../config/definitions.ts';
import type { HostPort } from '../config/host-port.ts';
import { defaultText } from '../config/settings-docs.ts';
import { VERSION } from '../version.ts';
import { addAssign } from './add-assign.ts';
import { BENCHMARKS, runBenchmark } from './bench.ts';
import { codecKeys, runCodec } from './codec.ts';
import type { CommandIo } from './command-io.ts';
import { type DemoFlags, demo } from './demo.ts';
import { adminOption, collecting, readHostPort, refuseSecondValues, wholeNumber } from './flags.ts';
import { configureGroup, type GroupConfigFlags } from './group-config.ts';
import {
  deleteGroups,
  describeGroup,
  type LiveFrom,
  listGroups,
  type Printing,
  showMembers,
  showOffsets,
} from './groups.ts';
import type { ConfigFlags } from './load-config.ts';
import { type PrintConfigFlags, printConfig } from './print-config.ts';
import { BOOTSTRAP_TEXT, connectTo, type Places } from './same-coordinator.ts';
import { serve } from './serve.ts';
import { jsonText } from './table.ts';
import { visualize } from './visualize.ts';
import { askWhy, whyText } from './why.ts';

const WHY_LIMIT = 100;

/** The command line, as a value: parse it with `parseAsync`. Errors of use and of work are thrown. */
export function buildProgram(io: CommandIo): Command {
  const program = new Command('headgate')
    .description('A Kafka Streams group coordinator: on its own, or in front of a Kafka cluster.')
    .version(VERSION, '--version', 'print the version of this build')
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .exitOverride()
    .enablePositionalOptions()
    .showHelpAfterError('(--help lists what can be asked)');
  addServe(program, io);
  addConfig(program, io);
  addGroups(program, io);
  addVisualize(program, io);
  addBench(program);
  addAssign(program, io);
  program
    .command('demo')
    .description('three members join a coordinator, one leaves, and the journal tells why')
    .option('--keep', 'the group lives on until Ctrl-C; tells what to try on it')
    .action((flags: DemoFlags) => demo(flags, io));
  program
    .command('codec')
    .description('read and write messages: JSON lines from standard input to standard output')
    .option('--keys', 'print the API keys whose messages are known')
    .action(async ({ keys }: { keys?: true }) => {
      if (keys === true) io.out(`${JSON.stringify(codecKeys())}\n`);
      else await runCodec(process.stdin, process.stdout);
    });
  refuseSecondValues(program);
  return program;
}

/** Flags of settings that are typed often; their words are those of the table. */
function withConfigFlags(command: Command): Command {
  const setting = (flags: string, name: SettingName) => {
    const { about, unit } = rows[name];
    const text = defaultText(rows[name]).replaceAll('`', '');
    command.option(flags, `${about} (${name}${unit === undefined ? '' : `, ${unit}`}: ${text})`);
  };
  command.option('--config <file>', 'A properties file.');
  command.addOption(collecting('--set <key=value>', 'One setting; may be given many times.'));
  setting('--host <host>', 'host');
  setting('--port <number>', 'port');
  setting('--admin-port <number|off>', 'admin.port');
  setting('--data-dir <folder>', 'data.dir');
  setting('--upstream <host:port,..>', 'upstream.bootstrap.servers');
  setting('--fail-fast', 'upstream.fail.fast');
  return command.addHelpText('after', '\nAll settings: headgate config --markdown');
}

function addServe(program: Command, io: CommandIo): void {
  withConfigFlags(program.command('serve'))
    .description('run a coordinator')
    .action((flags: ConfigFlags) => serve(flags, io));
}

function addConfig(program: Command, io: CommandIo): void {
  withConfigFlags(program.command('config'))
    .description('check the settings and print them with where they come from')
    .option('--markdown', 'the table of all settings, as docs/settings.md')
    .option('--json', 'for programs')
    .action((flags: PrintConfigFlags) => printConfig(flags, io));
}

type GroupsFlags = Places & { readonly json?: true };
type Asked = Printing & LiveFrom & { readonly client: AdminClient };

function addGroups(program: Command, io: CommandIo): void {
  const groups = program.command('groups').description('look at groups, and delete them');
  const ask = (line: string, about: string) =>
    groups
      .command(line)
      .description(about)
      .addOption(bootstrapOption())
      .addOption(liveOption())
      .option('--json', 'for programs');
  const asked = async (flags: GroupsFlags, work: (parts: Asked) => Promise<void>) => {
    const client = await connectTo(flags);
    try {
      await work({ client, io, json: flags.json === true, admin: flags.admin });
    } finally {
      client.close();
    }
  };
  ask('list', 'streams groups with their states')
    .option('--all', 'groups of all types')
    .action((flags: GroupsFlags & { all?: true }) =>
      asked(flags, ({ client, ...print }) =>
        listGroups(client, { ...print, all: flags.all === true }),
      ),
    );
  ask('describe <group>', 'state, epochs and topology').action(
    (group: string, flags: GroupsFlags) =>
      asked(flags, ({ client, ...print }) => describeGroup(client, group, print)),
  );
  ask('members <group>', 'members with their tasks').action((group: string, flags: GroupsFlags) =>
    asked(flags, ({ client, ...print }) => showMembers(client, group, print)),
  );
  ask('offsets <group>', 'committed offsets and how far they lag').action(
    (group: string, flags: GroupsFlags) =>
      asked(flags, ({ client, ...print }) => showOffsets(client, group, print)),
  );
  ask('delete <group...>', 'delete groups without members').action(
    (ids: string[], flags: GroupsFlags) =>
      asked(flags, ({ client, ...print }) => deleteGroups(client, ids, print)),
  );
  ask('config <group>', 'settings of a group with where they come from; changes them first')
    .addOption(collecting('--set <key=value>', 'one setting; may be given many times'))
    .addOption(collecting('--unset <key>', "back to the broker's value; may be given many times"))
    .action((group: string, flags: GroupsFlags & Partial<GroupConfigFlags>) =>
      asked(flags, ({ client, ...print }) => {
        const { set = [], unset = [] } = flags;
        return configureGroup(client, group, { ...print, set, unset });
      }),
    );
  addWhy(groups, io);
}

type WhyFlags = {
  readonly admin: HostPort;
  readonly task?: string;
  readonly member?: string;
  readonly limit: number;
  readonly json?: true;
};

function addWhy(groups: Command, io: CommandIo): void {
  groups
    .command('why <group>')
    .description('what was decided about a group, and why')
    .addOption(adminOption())
    .option('--task <task>', 'only about this task, as 0_2', readTask)
    .option('--member <member>', 'only about this member')
    .option('--limit <number>', 'how many decisions, the newest', wholeNumber, WHY_LIMIT)
    .option('--json', 'for programs')
    .action(async (group: string, { json, ...options }: WhyFlags) => {
      const answer = await askWhy(group, options);
      if (json === true) io.out(jsonText(answer));
      else if (answer.entries.length > 0)
        io.out(whyText(answer.entries, { whole: options.task === undefined }));
      else io.err(`${nothingKnown(group, options)}\n`);
    });
}

/** A subtopology may have any name. */
function readTask(text: string): string {
  if (!/^.+_\d+$/s.test(text))
    throw new InvalidArgumentError('Wanted SUBTOPOLOGY_PARTITION, as 0_2.');
  return text;
}

function nothingKnown(group: string, { task, member }: Pick<WhyFlags, 'task' | 'member'>): string {
  const about = [
    ...(task === undefined ? [] : [`task ${task}`]),
    ...(member === undefined ? [] : [`member "${member}"`]),
  ].join(' and ');
  return about === ''
    ? `The journal of group "${group}" has no entries`
    : `Nothing is known about ${about} in the journal of group "${group}"`;
}

type VisualizeFlags = {
  readonly format: ChartFormat;
  readonly out?: string;
  readonly group?: string;
  readonly admin: HostPort;
};

function addVisualize(program: Command, io: CommandIo): void {
  const names = charts.map(({ name }) => name);
  program
    .command('visualize')
    .description('draw a state chart that runs')
    .argument('[chart]', `one of ${names.join(', ')}`, 'group')
    .addOption(new Option('--format <format>', 'how').choices(CHART_FORMATS).default('svg'))
    .option('--out <file>', 'write there instead of to standard output')
    .option('--group <id>', 'mark the states that this live group is in')
    .addOption(adminOption())
    .action((name: string, flags: VisualizeFlags) => visualize(name, flags, io));
}

function addBench(program: Command): void {
  const names = Object.keys(BENCHMARKS);
  const about = Object.entries(BENCHMARKS).map(([name, text]) => `  ${name.padEnd(12)}${text}`);
  program
    .command('bench')
    .description('measure, in a process of its own')
    .argument('<benchmark>', `one of ${names.join(', ')}`, oneOf(names))
    .argument('[args...]', 'what that program takes')
    .allowUnknownOption()
    .passThroughOptions()
    .addHelpText('after', `\nBenchmarks:\n${about.join('\n')}`)
    .action((name: string, args: readonly string[]) => runBenchmark(name, args));
}

function liveOption(): Option {
  const about =
    "the coordinator's admin server: finds the coordinator; describe and members also tell what it knows";
  return new Option('--admin <host:port>', about).argParser(readHostPort);
}

function bootstrapOption(): Option {
  const about = `where to connect (default: the coordinator of --admin, else ${BOOTSTRAP_TEXT})`;
  return new Option('--bootstrap <host:port,..>', about).argParser((text: string) =>
    text.split(',').map(readHostPort),
  );
}

function oneOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    if (!words.includes(text)) throw new InvalidArgumentError(`Wanted ${words.join(' or ')}.`);
    return text;
  };
}
