import { rows } from '../config/definitions.ts';
import { settingsMarkdown } from '../config/settings-docs.ts';
import type { CommandIo } from './command-io.ts';
import { type ConfigFlags, loadConfig } from './load-config.ts';
import { jsonText, table } from './table.ts';

export type PrintConfigFlags = ConfigFlags & {
  readonly markdown?: boolean;
  readonly json?: boolean;
};

/** Prints every setting with its value and where that comes from; or the table of settings as Markdown. */
export function printConfig(flags: PrintConfigFlags, io: CommandIo): void {
  if (flags.markdown === true) {
    io.out(settingsMarkdown());
    return;
  }
  const { config, warnings } = loadConfig(flags, io);
  for (const warning of warnings) io.err(`${warning}\n`);
  if (flags.json === true) {
    const settings = config.settings.map(({ name, text, source }) => {
      const { type, unit = null, allowed, dynamic, inert, notYet, about } = rows[name];
      return { name, value: text, source, type, unit, allowed, dynamic, inert, notYet, about };
    });
    io.out(jsonText(settings));
    return;
  }
  // The words that faults are told in.
  const places = { flag: 'command line', file: flags.config ?? 'file' } as const;
  const lines = config.settings.map(({ name, text, source }) => [
    name,
    text ?? '-',
    source === 'flag' || source === 'file' ? places[source] : source,
  ]);
  io.out(table(['SETTING', 'VALUE', 'FROM'], lines));
  io.err('\nWhat each one means: headgate config --markdown\n');
}
