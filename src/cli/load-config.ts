import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { ConfigError, type ConfigFault, resolveConfig } from '../config/resolve.ts';
import type { CommandIo } from './command-io.ts';
import { whyUnreadable } from './file-reason.ts';

/** The flags of `serve` and `config` that are settings, as they were given. */
export type ConfigFlags = {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly host?: string;
  readonly port?: string;
  readonly adminPort?: string;
  readonly dataDir?: string;
  readonly upstream?: string;
  readonly failFast?: boolean;
};

/**
 * Makes the configuration from flags, environment and file. A flag of its own counts more than `--set`.
 *
 * @throws {ConfigError} with all faults, a file that cannot be read among them.
 */
export function loadConfig(
  flags: ConfigFlags,
  io: Pick<CommandIo, 'environment'>,
): { readonly config: Config; readonly warnings: readonly string[] } {
  const faults: ConfigFault[] = [];
  const properties = readProperties(flags.config, faults);
  const input = {
    flags: [...assignments(flags.set ?? [], faults), ...ownFlags(flags)],
    environment: io.environment,
    ...(properties === undefined ? {} : { properties }),
  };
  try {
    const resolved = resolveConfig(input);
    if (faults.length > 0) throw new ConfigError(faults);
    return resolved;
  } catch (error) {
    if (!(error instanceof ConfigError) || error.faults === faults) throw error;
    throw new ConfigError([...faults, ...error.faults]);
  }
}

function readProperties(file: string | undefined, faults: ConfigFault[]) {
  if (file === undefined) return undefined;
  try {
    return { file, text: readFileSync(file, 'utf8') };
  } catch (error) {
    faults.push({
      key: `Cannot read ${file}`,
      where: '--config',
      seen: null,
      reason: whyUnreadable(error),
    });
    return undefined;
  }
}

function assignments(
  texts: readonly string[],
  faults: ConfigFault[],
): readonly (readonly [string, string])[] {
  const found: [string, string][] = [];
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at > 0) found.push([text.slice(0, at).trim(), text.slice(at + 1)]);
    else faults.push({ key: '--set', where: 'command line', seen: text, wanted: 'key=value' });
  }
  return found;
}

function ownFlags(flags: ConfigFlags): readonly (readonly [string, string])[] {
  const named: readonly (readonly [string, string | undefined])[] = [
    ['host', flags.host],
    ['port', flags.port],
    ['admin.port', flags.adminPort],
    ['data.dir', flags.dataDir],
    ['upstream.bootstrap.servers', flags.upstream],
    ['upstream.fail.fast', flags.failFast === true ? 'true' : undefined],
  ];
  return named.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
}
