import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BrokerAddress } from '../src/client/connection.ts';
import { AS_SERVED } from './as-served.ts';
import type { LoopDelay } from './loop-delay.ts';

const READY_MS = 30_000;
/** How long a server may take to say how it fared. */
const ANSWER_MS = 10_000;
/** What Linux counts processor time in, whatever the machine. */
const TICKS_PER_SECOND = 100;
/** Nobody is to expire while ten thousand others are joining. */
const SESSION_MS = 3_600_000;

/** A server of its own process, with its store in a folder, run as `npm start` runs it. */
export function startServer(folder: string, more: readonly string[] = []): ChildProcess {
  const program = fileURLToPath(new URL('../src/main.js', import.meta.url));
  const settings = [
    'group.streams.initial.rebalance.delay.ms=0',
    'group.streams.assignment.interval.ms=0',
    `group.streams.max.session.timeout.ms=${SESSION_MS}`,
    `group.streams.session.timeout.ms=${SESSION_MS}`,
    'log.level=error',
    ...more,
  ];
  return spawn(
    process.execPath,
    [
      ...AS_SERVED,
      ...['--import', new URL('./report-loop-delay.js', import.meta.url).href],
      program,
      ...['serve', '--port', '0', '--admin-port', 'off', '--data-dir', folder],
      ...settings.flatMap((setting) => ['--set', setting]),
    ],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
}

/** Where it listens, once it does. */
export function readyAddress(server: ChildProcess): Promise<BrokerAddress> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The server is not ready')), READY_MS);
    server.once('exit', (code) => reject(new Error(`The server ended with ${code}`)));
    if (server.stdout === null) return;
    createInterface({ input: server.stdout }).on('line', (line) => {
      const [, host, port] = /^Headgate ready on (.+):(\d+)$/.exec(line) ?? [];
      if (host === undefined) return;
      clearTimeout(timer);
      resolve({ host, port: Number(port) });
    });
  });
}

type LoopDelayQuestion = { readonly loopDelay: 'start' | 'stop' };

/** Whether a message to a server is a question of {@link measureServerLoop}. */
export function isLoopDelayQuestion(message: unknown): message is LoopDelayQuestion {
  const asked = typeof message === 'object' && message !== null && 'loopDelay' in message;
  return asked && (message.loopDelay === 'start' || message.loopDelay === 'stop');
}

/** Measures how long the event loop of a server is held while something goes on. */
export async function measureServerLoop<T>(
  server: ChildProcess,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly loopDelay: LoopDelay }> {
  const ask = (question: LoopDelayQuestion) => server.send(question);
  ask({ loopDelay: 'start' });
  const result = await work();
  const answer = once(server, 'message', { signal: AbortSignal.timeout(ANSWER_MS) });
  ask({ loopDelay: 'stop' });
  const [{ loopDelay }] = (await answer) as [{ readonly loopDelay: LoopDelay }];
  return { result, loopDelay };
}

export async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await ended;
}

/** Processor time of a process so far, user and system. */
export async function cpuSeconds(pid: number | undefined): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The command's name may hold blanks; it ends with the last bracket. User and system time are fields 14 and 15.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
