import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ambientEnvironment } from './headgate-process.ts';

/** The project's folder: tests run from a folder of compiled files somewhere below it. */
export const projectRoot = findRoot(fileURLToPath(new URL('.', import.meta.url)));
export const oracleScript = join(projectRoot, 'test/oracle/oracle.sh');

function findRoot(from: string): string {
  const at = from.search(/[/\\](dist|\.build)[/\\]/);
  return at < 0 ? join(from, '../..') : from.slice(0, at);
}

/** Where Kafka's jars are kept; the scripts take it from ORACLE_HOME. */
export const oracleHome =
  process.env['ORACLE_HOME'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'kafka-oracle');

/** What the scripts are started with. */
export const oracleEnvironment = { ...ambientEnvironment, ORACLE_HOME: oracleHome };

/** Why tests with the real Kafka cannot run here; undefined if they can. */
export function whyNoOracle(): string | undefined {
  for (const [command, argument] of [
    ['java', '-version'],
    ['mvn', '-v'],
  ] as const) {
    if (spawnSync(command, [argument], { stdio: 'ignore' }).status !== 0) {
      return `no ${command} here: tests with the real Kafka need Java 17 and Maven`;
    }
  }
  return undefined;
}

export type Run = { readonly code: number | null; readonly output: string };

/** Runs a command to its end; kills it past the deadline. Output is what it wrote on both streams. */
export function run(
  command: string,
  args: readonly string[],
  options: {
    timeoutMs: number;
    env?: Record<string, string>;
    cwd?: string;
    onLine?: (line: string) => void;
  },
): Promise<Run> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? projectRoot,
      env: { ...oracleEnvironment, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        output += `${line}\n`;
        options.onLine?.(line);
      });
    }
    const timer = setTimeout(() => killGroup(child, 'SIGKILL'), options.timeoutMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    });
  });
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended already.
  }
}

/** A stock tool of Kafka, or a Java file of ours with Kafka's classes at hand. */
export function kafkaTool(
  main: string,
  args: readonly string[],
  { version = '4.4.0' }: { readonly version?: string } = {},
): Promise<Run> {
  const options = { timeoutMs: 90_000, env: { KAFKA_VERSION: version } };
  return run('bash', [oracleScript, 'tool', main, ...args], options);
}

/** Ports that were free a moment ago, in a row. */
export async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const base = 20_000 + Math.floor(Math.random() * 12_000);
    const free = await Promise.all(Array.from({ length: count }, (_, i) => isFree(base + i)));
    if (free.every(Boolean)) return base;
  }
  throw new Error(`No ${count} free ports in a row were found`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

export type RealBroker = { readonly address: string; readonly pid: number; stop(): Promise<void> };

/** Boots a real Kafka broker on loopback with its data in a folder of its own. */
export async function startKafka(
  version: string,
  settings: Record<string, string | number> = {},
): Promise<RealBroker> {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-kafka-'));
  const port = await freePorts(2);
  const env = { KAFKA_VERSION: version };
  const pairs = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  const started = await runDetached(['start', folder, String(port), ...pairs], env);
  if (started.code !== 0) throw new Error(`Kafka ${version} did not start: ${started.output}`);
  const pid = Number(spawnSync('cat', [join(folder, 'pid')], { encoding: 'utf8' }).stdout);
  return {
    address: `127.0.0.1:${port}`,
    pid,
    async stop() {
      await runDetached(['stop', folder], env);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The script leaves a broker behind that keeps its output open: only the exit counts, not the end of the streams. */
function runDetached(args: readonly string[], env: Record<string, string>): Promise<Run> {
  return new Promise((resolve) => {
    const child = spawn('bash', [oracleScript, ...args], {
      env: { ...oracleEnvironment, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000);
    });
    child.on('exit', (code) => {
      child.stderr.destroy();
      resolve({ code, output });
    });
  });
}
