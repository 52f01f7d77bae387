import { type Command, InvalidArgumentError, Option } from 'commander';
import { type HostPort, parseHostPort } from '../config/host-port.ts';

const ADMIN: HostPort = { host: '127.0.0.1', port: 10_093 };

/** An option that collects the texts it is given; undefined when it is not given at all. */
export function collecting(flags: string, about: string): RepeatableOption {
  return new RepeatableOption(flags, about).argParser(
    (value: string, before: readonly string[] = []) => [...before, value],
  );
}

/** Where the admin server is, with its usual place as the default. */
export function adminOption(): Option {
  return new Option('--admin <host:port>', "the coordinator's admin server")
    .argParser(readHostPort)
    .default(ADMIN, `${ADMIN.host}:${ADMIN.port}`);
}

export function readHostPort(text: string): HostPort {
  const place = parseHostPort(text.trim());
  if (place === undefined) throw new InvalidArgumentError('Wanted host:port.');
  return place;
}

/** A whole number from 1 up to nine digits. */
export function wholeNumber(text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number === 0) throw new InvalidArgumentError('Wanted a whole number from 1 on.');
  return number;
}

/** The digits of a whole number from 0 to `max`, which may be one that no number holds exactly. */
export function digitsUpTo(max: number | bigint): (text: string) => string {
  return (text) => {
    if (/^\d{1,19}$/.test(text) && BigInt(text) <= max) return text;
    throw new InvalidArgumentError(`Wanted a whole number from 0 to ${max}.`);
  };
}

/** An option that takes another value each time it is given; its parser is handed what came before. */
export class RepeatableOption extends Option {}

/**
 * Refuses a second value of an option that takes one, in a command and those below it: it would take the place of the
 * first without a word.
 */
export function refuseSecondValues(command: Command): void {
  for (const option of command.options) {
    const takesOne = option.required || option.optional;
    if (!takesOne || option instanceof RepeatableOption) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`error: option '${option.flags}' is given twice`);
      isGiven = true;
    });
  }
  for (const below of command.commands) refuseSecondValues(below);
}
