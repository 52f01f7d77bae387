import { spawnSync } from 'node:child_process';
import { writeFileSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { FrameReader, frameOf } from './frames.ts';
import { moduleErrorText } from './module-error-text.ts';
import { type ModuleAnswer, writeAnswer } from './module-frames.ts';
import type { GuardOrders } from './module-guard.ts';
import { readAssignment, readQuestion } from './module-problem.ts';
import { parseQuestion } from './module-question.ts';
import { endProcessGroup } from './process-group.ts';
import { threadOptions } from './thread-options.ts';
import { lowerPriority } from './thread-priority.ts';

/** The program of the process in which one assignor module runs; `module-process.ts` starts it. */

/** Where answers go; standard output is the module's own. */
const ANSWERS_FD = 3;

type OwnAssign = (problem: unknown) => unknown;

async function main(memoryMaxBytes: number): Promise<void> {
  standBack();
  const workerData: GuardOrders = {
    parentPid: process.ppid,
    memoryMaxBytes,
    answersFd: ANSWERS_FD,
  };
  const { execArgv } = threadOptions;
  new Worker(new URL('./module-guard.js', import.meta.url), { workerData, execArgv }).unref();
  const answers = new Socket({ fd: ANSWERS_FD });
  const say = (answer: ModuleAnswer) => answers.write(frameOf(...writeAnswer(answer)));

  // What a module throws while nobody waits for it: it has lost its way, and begins anew.
  process.on('uncaughtException', (error) => {
    const text = `An error was left to itself: ${moduleErrorText(error, href)}`;
    writeSync(ANSWERS_FD, frameOf(...writeAnswer({ kind: 'fault', fault: 'ended', text })));
    process.exit(1);
  });

  const assign = await load(say);
  if (assign === undefined) return;
  say({ kind: 'ready' });
  const reader = new FrameReader(Number.POSITIVE_INFINITY);
  for await (const chunk of process.stdin) {
    for (const frame of reader.push(chunk as Buffer)) say(await answer(assign, frame));
  }
  // Nobody asks any more, whatever the module still has open or running.
  endProcessGroup(process.pid);
}

/** The first to go where processors or memory are short; and no signal of a terminal ends it before its parent does. */
function standBack(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  lowerPriority();
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // There is no such thing here.
  }
}

/** @returns undefined where there is none; its parent was told why. */
async function load(say: (answer: ModuleAnswer) => void): Promise<OwnAssign | undefined> {
  let found: unknown;
  try {
    found = ((await import(href)) as { readonly default?: unknown }).default;
  } catch (error) {
    const text = moduleErrorText(error, href);
    const place = error instanceof SyntaxError && !text.includes(href) ? placeInSyntax() : '';
    say({ kind: 'fault', fault: 'load', text: text + place });
    return undefined;
  }
  if (typeof found === 'function') return found as OwnAssign;
  const text = `Its default export is of type ${typeof found}, wanted a function`;
  say({ kind: 'fault', fault: 'load', text });
  return undefined;
}

async function answer(assign: OwnAssign, frame: Buffer): Promise<ModuleAnswer> {
  const question = readQuestion(parseQuestion(frame));
  let returned: unknown;
  try {
    returned = await assign(question.problem);
  } catch (error) {
    return { kind: 'fault', fault: 'threw', text: moduleErrorText(error, href) };
  }
  try {
    return { kind: 'placed', placement: readAssignment(returned, question) };
  } catch (error) {
    return { kind: 'fault', fault: 'invalid', text: moduleErrorText(error, href) };
  }
}

const CHECK_MS = 5_000;

/**
 * Where the module does not parse: an error that is caught does not tell, one that nobody catches does. The module is read
 * once more, by a process that runs nothing of it.
 *
 * @returns nothing where it is not the module itself that does not parse, but one that it imports.
 */
function placeInSyntax(): string {
  const { error, stderr } = spawnSync(process.execPath, ['--check', file], {
    encoding: 'utf8',
    timeout: CHECK_MS,
  });
  if (error !== undefined) return '';
  const [line = ''] = stderr.split('\n');
  return line.startsWith(file) || line.startsWith(href) ? ` (at ${line.trim()})` : '';
}

const [, , file = '', memoryMaxBytes = ''] = process.argv;
const { href } = pathToFileURL(file);
await main(Number(memoryMaxBytes));
