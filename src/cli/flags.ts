import { InvalidArgumentError, Option } from 'commander';
import { type HostPort, parseHostPort } from '../config/host-port.ts';

const ADMIN: HostPort = { host: '127.0.0.1', port: 10_093 };

/** For an option that may be given many times. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
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

/** A whole number from `min` up to nine digits. */
export function wholeNumberFrom(min: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= min)) throw new InvalidArgumentError(`Wanted a whole number from ${min} on.`);
    return number;
  };
}

/** A whole number from 1 on. */
export const wholeNumber = wholeNumberFrom(1);
