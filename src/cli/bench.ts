import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CommandError, WRONGLY_ASKED } from './command-io.ts';

/** The benchmarks that can be started by name, and what each measures. */
export const BENCHMARKS: Readonly<Record<string, string>> = {
  assign:
    "assignors on grids of cells, also beside the one in Kafka's jar (--grid, --against-kafka)",
  churn: 'heartbeats of members at rest, while other groups get new assignments all at once',
  heartbeats: 'heartbeats of members at rest, against a server in a process of its own',
  refine: 'heartbeats that find out which tasks wait for a warm-up, in large groups',
};

/** Runs a benchmark as a process of its own, so that it measures nothing of this one. */
export async function runBenchmark(name: string, args: readonly string[]): Promise<void> {
  await runProgram(name, args);
}

/** Answers assignor cells, JSON lines from standard input to standard output, as a process of its own. */
export async function runAssignCells(args: readonly string[]): Promise<void> {
  await runProgram('assign-cells', args);
}

async function runProgram(name: string, args: readonly string[]): Promise<void> {
  const program = fileURLToPath(new URL(`../../bench/${name}.js`, import.meta.url));
  if (!existsSync(program)) throw new CommandError(`Cannot start ${program}: it is not built`);
  const child = spawn(process.execPath, [program, ...args], { stdio: 'inherit' });
  const outcome = await new Promise<string | number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  if (outcome === WRONGLY_ASKED) {
    throw new CommandError(`Cannot start ${name}: --help lists what it takes`, {
      exitCode: WRONGLY_ASKED,
    });
  }
  if (outcome !== 0) throw new CommandError(`The program ${name} ended with ${outcome}`);
}
