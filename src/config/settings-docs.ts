import { ASSIGNOR_NAME, streamsGroupConfigs } from '../../machines/model/streams-group-configs.ts';
import { sections } from './definitions.ts';
import { resolveConfig } from './resolve.ts';
import type { Setting } from './setting.ts';

const HEAD = `# Settings

Written by \`headgate config --markdown\` from the one table that also checks them.

A setting comes from, the strongest first: a flag of the command line (\`--port\`, \`--set key=value\`), the environment
(\`HEADGATE_\` and the name in upper case with underscores for dots, as \`HEADGATE_DATA_DIR\`), the properties file of \`--config\`,
the default. What is wrong is reported all at once, and the process ends with code 2. Other broker settings of Kafka may
stand in the file; they are named in one warning and have no effect. (Kubernetes gives pods variables of the same form for a
service named \`headgate\`: set \`enableServiceLinks: false\` there.)

A default in two parts depends on \`protocol.profile\`. A setting marked *dynamic* can be changed while the process runs, with
\`kafka-configs.sh --entity-type brokers\`. One marked *no effect* is known and checked because Kafka has it.
What a setting marked *not yet* steers is not built so far: it is checked, kept and told to clients, and changes nothing else.
`;

/** The table of settings as the Markdown of `docs/settings.md`. */
export function settingsMarkdown(): string {
  const parts = sections.map(({ title, settings }) =>
    [
      `## ${title}`,
      '',
      '| name | default | allowed | meaning |',
      '|---|---|---|---|',
      ...Object.entries(settings).map(([name, row]) => tableLine(name, row)),
      '',
    ].join('\n'),
  );
  return [HEAD, ...parts, groupsMarkdown()].join('\n');
}

const GROUPS_HEAD = `## Of one group

A group may have values of its own, above those of the broker: \`headgate groups config GROUP --set key=value\`, or
\`kafka-configs.sh --entity-type groups\`. They may be set before there is such a group, and outlive it. What is allowed follows the
broker's bounds (\`min\` and \`max\` above); here with their defaults. The heartbeat interval stays below the session timeout.

| name | stands above | allowed |
|---|---|---|`;

/** No value of any type: what is wanted instead is what is allowed. */
const NO_VALUE = ',';

/** What is allowed beside what the settings by themselves tell. */
const MORE_ALLOWED: Readonly<Record<string, string>> = {
  [ASSIGNOR_NAME]:
    ', or a name of `assignors.modules`; [which one to choose, and which one it is by default](assignors.md)',
};

function groupsMarkdown(): string {
  const { group } = resolveConfig({}).config;
  const lines = streamsGroupConfigs.map(({ name, brokerConfig, wantedInstead }) => {
    const allowed = (wantedInstead(NO_VALUE, group) ?? '') + (MORE_ALLOWED[name] ?? '');
    return `| \`${name}\` | \`${brokerConfig}\` | ${allowed} |`;
  });
  return [GROUPS_HEAD, ...lines, ''].join('\n');
}

function tableLine(name: string, row: Setting<unknown>): string {
  const marks = [
    row.dynamic ? '*dynamic*' : '',
    row.inert ? '*no effect*' : '',
    row.notYet ? '*not yet*' : '',
  ].filter(Boolean);
  const allowed = row.unit === undefined ? row.allowed : `${row.allowed} (${row.unit})`;
  const meaning = [row.about, ...marks].join(' ');
  return `| \`${name}\` | ${defaultText(row)} | ${allowed} | ${meaning} |`;
}

/** The default in words; both of them where the profiles differ. */
export function defaultText(row: Setting<unknown>): string {
  const [kip, kafka] = [row.format(row.defaultFor('kip')), row.format(row.defaultFor('kafka'))];
  const shown = (text: string | null) => (text === null || text === '' ? 'none' : `\`${text}\``);
  return kip === kafka ? shown(kip) : `${shown(kip)} (kip), ${shown(kafka)} (kafka)`;
}
