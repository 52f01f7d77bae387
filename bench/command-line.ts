import { cpus } from 'node:os';
import { parseArgs } from 'node:util';

/** What a benchmark takes on its command line: `--name VALUE`, or `--name` alone. */
export type BenchOption<T> = {
  /** Undefined: not allowed. */
  readonly read: (text: string) => T | undefined;
  /** What may be written, in words: completes "wanted …"; undefined: it takes no value. */
  readonly wanted: string | undefined;
  readonly byDefault: T;
  /** The default as it would be written. */
  readonly defaultText: string;
  readonly about: string;
};

type Options = Readonly<Record<string, BenchOption<unknown>>>;
type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends BenchOption<infer T> ? T : never;
};

/** What was asked: to measure, or something to be printed first, with the exit code to end with. */
export type BenchCommand<V> =
  | { readonly kind: 'run'; readonly values: V }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'refused'; readonly text: string };

/** A number, not below zero. */
export function amount(byDefault: number, about: string): BenchOption<number> {
  const read = (text: string) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined);
  return { read, wanted: 'a number from 0 on', byDefault, defaultText: String(byDefault), about };
}

/** Whole numbers from 1 on, between commas. */
export function counts(
  byDefault: readonly number[],
  about: string,
): BenchOption<readonly number[]> {
  const read = (text: string) =>
    /^[1-9]\d{0,8}(,[1-9]\d{0,8})*$/.test(text) ? text.split(',').map(Number) : undefined;
  const wanted = 'whole numbers from 1 on, between commas';
  return { read, wanted, byDefault, defaultText: byDefault.join(), about };
}

/** A whole number from 1 on. */
export function count(byDefault: number, about: string): BenchOption<number> {
  const read = (text: string) => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined);
  const wanted = 'a whole number from 1 on';
  return { read, wanted, byDefault, defaultText: String(byDefault), about };
}

/** One of a few words. */
export function word<const W extends string>(
  words: readonly W[],
  byDefault: NoInfer<W>,
  about: string,
): BenchOption<W> {
  const read = (text: string) => words.find((each) => each === text);
  return { read, wanted: `one of ${words.join(', ')}`, byDefault, defaultText: byDefault, about };
}

/** On where it is written. */
export function flag(about: string): BenchOption<boolean> {
  return { read: () => true, wanted: undefined, byDefault: false, defaultText: '', about };
}

/**
 * Reads the command line of a benchmark.
 *
 * @param notes what `--help` says below the options: what the figures mean.
 * @returns `refused` with one line that names the option, the value seen and what is wanted.
 */
export function readCommandLine<O extends Options>(
  name: string,
  args: readonly string[],
  options: O,
  notes = '',
): BenchCommand<Values<O>> {
  const { tokens } = parseArgs({
    args: [...args],
    options: kindsOf(options),
    tokens: true,
    strict: false,
  });
  const values: Record<string, unknown> = Object.fromEntries(
    Object.entries(options).map(([each, { byDefault }]) => [each, byDefault]),
  );
  const refused = (text: string) => ({ kind: 'refused', text: `${text}\n` }) as const;
  if (tokens.some((token) => token.kind === 'option' && ['help', 'h'].includes(token.name))) {
    return { kind: 'help', text: helpText(name, options) + (notes && `\n${notes}`) };
  }
  const given = new Set<string>();
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') return refused(`Cannot use "${token.value}": wanted options`);
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) {
      const known = Object.keys(options).map((each) => `--${each}`);
      return refused(`Cannot use ${token.rawName}: wanted ${known.join(', ')}`);
    }
    const { read, wanted } = option;
    if (wanted === undefined && token.value !== undefined) {
      return refused(`Cannot use ${token.rawName}=${token.value}: wanted ${token.rawName} alone`);
    }
    const value =
      wanted !== undefined && token.value === undefined ? undefined : read(token.value ?? '');
    if (value === undefined) {
      return refused(`Cannot use ${token.rawName} "${token.value ?? ''}": wanted ${wanted}`);
    }
    if (wanted !== undefined && given.has(token.name)) {
      return refused(`Cannot use ${token.rawName} twice: wanted one value`);
    }
    given.add(token.name);
    values[token.name] = value;
  }
  // Each value was made by its own option, which is what the type says.
  return { kind: 'run', values: values as Values<O> };
}

/**
 * Runs a benchmark as its command line asks; what is wrong with that is told, and the exit code says so.
 *
 * @param notes what `--help` says below the options: what the figures mean.
 */
export async function runBench<O extends Options>(
  name: string,
  { options, notes }: { readonly options: O; readonly notes: string },
  run: (values: Values<O>) => Promise<void>,
): Promise<void> {
  const command = readCommandLine(name, process.argv.slice(2), options, notes);
  if (command.kind === 'run') return run(command.values);
  if (command.kind === 'help') process.stdout.write(command.text);
  else {
    process.stderr.write(command.text);
    process.exitCode = REFUSED;
  }
}

const REFUSED = 2;

function kindsOf(options: Options): Record<string, { type: 'string' | 'boolean' }> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { wanted }]) => [
      name,
      { type: wanted === undefined ? 'boolean' : 'string' },
    ]),
  );
}

function helpText(name: string, options: Options): string {
  const rows = Object.entries(options).map(([each, { wanted, defaultText, about }]) => {
    const written = wanted === undefined ? `--${each}` : `--${each} VALUE`;
    const rest = wanted === undefined ? '' : `: ${wanted} (default: ${defaultText})`;
    return [written, about + rest] as const;
  });
  const width = Math.max(...rows.map(([written]) => written.length));
  const lines = rows.map(([written, about]) => `  ${written.padEnd(width)}  ${about}\n`);
  return `Usage: headgate bench ${name} [options]\n\nOptions:\n${lines.join('')}`;
}

/** What each figure means, a line each below a heading, for `--help`. */
export function legend(heading: string, figures: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(figures).map((name) => name.length));
  const lines = Object.entries(figures).map(([name, text]) => `  ${name.padEnd(width)}  ${text}\n`);
  return `${heading}\n${lines.join('')}`;
}

/** Shows what was measured: a table with the machine it was measured on, or a line of JSON for each. */
export function showFigures(figures: readonly object[], json: boolean): void {
  if (json) {
    for (const each of figures) console.log(JSON.stringify(each));
    return;
  }
  console.log(`Node ${process.version}, ${cpus()[0]?.model ?? 'unknown CPU'} x ${cpus().length}`);
  console.table(figures);
}
