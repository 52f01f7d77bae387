#!/usr/bin/env -S node --v8-pool-size=0
import { setFlagsFromString } from 'node:v8';
import { runCommand } from './cli/run-command.ts';
import { systemClock } from './clock.ts';
import { startCoordinator } from './coordinator.ts';
import { createLogger } from './observe/logger.ts';

// While members join, much of what a request makes lives on for a while. V8 would learn from it to make the same things
// old from the start, and from then on every heartbeat would leave garbage that only a full collection finds.
setFlagsFromString('--no-allocation-site-pretenuring');

const LINGER_MS = 2_000;

// A reader that has seen enough closes the pipe: no failure, and no reason for a stack.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

const code = await runCommand(process.argv.slice(2), {
  input: () => process.stdin,
  out: (text) => {
    process.stdout.write(text);
  },
  err: (text) => {
    process.stderr.write(text);
  },
  isTerminal: process.stderr.isTTY === true,
  environment: process.env,
  createLogger,
  startCoordinator,
  onStop: (listener) => {
    process.on('SIGINT', listener);
    process.on('SIGTERM', listener);
  },
  after: systemClock.after,
  exit: (exitCode) => process.exit(exitCode),
});
process.exitCode = code;
// A call of the system that does not return would keep a process that is done with its work.
setTimeout(() => process.exit(), LINGER_MS).unref();
