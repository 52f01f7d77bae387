import { pino, stdSerializers, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { Log } from '../../actors/ports.ts';
import type { LogConfig } from '../config/config.ts';

/** A log with an end: what is still held is written by `flush`. */
export type Logger = { readonly log: Log; flush(): void };

const STANDARD_ERROR = 2;
/** Log lines that nobody takes are dropped beyond this many bytes, rather than kept. */
const HELD_BYTES_MAX = 8 * 1_024 * 1_024;

/**
 * A log on standard error: JSON lines, or text for people when `log.pretty` says so. A field named `err` or `error`
 * may hold an Error.
 *
 * @param isTerminal what `auto` stands for.
 */
export function createLogger(
  { level, pretty: prettiness }: LogConfig,
  { isTerminal }: { readonly isTerminal: boolean },
): Logger {
  const forPeople = prettiness === 'true' || (prettiness === 'auto' && isTerminal);
  // People read along, so their lines leave at once. For machines the write is taken off the event loop.
  const destination = forPeople
    ? pretty({ destination: STANDARD_ERROR, sync: true, colorize: isTerminal })
    : pino.destination({ dest: STANDARD_ERROR, sync: false, maxLength: HELD_BYTES_MAX });
  const log = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: stdSerializers.err, error: stdSerializers.err },
    },
    destination,
  );
  return {
    log,
    flush: () => {
      // Before the descriptor is open there is nothing to flush, and asking throws.
      if ('flushSync' in destination) destination.flushSync();
    },
  };
}
