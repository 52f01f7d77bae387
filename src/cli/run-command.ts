import { CommanderError } from 'commander';
import { ConfigError } from '../config/resolve.ts';
import { CommandError, type CommandIo, WRONGLY_ASKED } from './command-io.ts';
import { plainText } from './plain-text.ts';
import { buildProgram } from './program.ts';

/** Failures whose message is one clear line and all there is to say: the world is not as it should be. */
const PLAIN_FAILURES: ReadonlySet<string> = new Set([
  'ClientError',
  'StoreError',
  'ListenError',
  'AdminListenError',
  'UpstreamError',
  'AssignorModuleError',
]);

/**
 * Carries out a command line and says what went wrong. Never rejects.
 *
 * @param args without the program's own name.
 * @returns the exit code: 0 done, 1 it failed, 2 it was asked for in the wrong way.
 */
export async function runCommand(args: readonly string[], world: CommandIo): Promise<number> {
  const io: CommandIo = {
    ...world,
    out: (text) => world.out(plainText(text)),
    err: (text) => world.err(plainText(text)),
  };
  try {
    await buildProgram(io).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, io);
  }
}

function report(error: unknown, io: CommandIo): number {
  if (error instanceof CommanderError) {
    // It has said so itself; help that was asked for is no failure.
    return error.exitCode === 0 ? 0 : WRONGLY_ASKED;
  }
  if (error instanceof ConfigError) {
    const count = error.faults.length;
    io.err(`Cannot use the settings, ${count === 1 ? '1 fault' : `${count} faults`}:\n`);
    for (const line of error.message.split('\n')) io.err(`  ${line}\n`);
    return WRONGLY_ASKED;
  }
  if (error instanceof CommandError) {
    io.err(`${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof Error && PLAIN_FAILURES.has(error.name)) {
    io.err(`${error.message}\n`);
    return 1;
  }
  // What nobody foresaw is a fault of ours: everything that helps to find it.
  io.err(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
}
