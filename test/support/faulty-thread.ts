import { createDense, openDense } from '../../workers/dense.ts';
import runAssignment, { type AssignmentJob, type AssignmentOutcome } from '../../workers/thread.ts';

/** What a faulty thread does with a problem of this many tasks; any other number it assigns as it should. */
export const FAULT = { hang: 101, throw: 102, exit: 103, exitOnce: 104, break: 105 } as const;

/** A thread that does wrong on demand: the entry of a pool's thread in tests. */
// biome-ignore lint/style/noDefaultExport: it stands in for the real thread file
export default function run(job: AssignmentJob): AssignmentOutcome {
  const { size, facts } = openDense(job.buffer);
  if (size.tasks === FAULT.hang) for (;;);
  if (size.tasks === FAULT.throw) throw new Error('Thrown on purpose');
  if (size.tasks === FAULT.exit) process.exit(7);
  if (size.tasks === FAULT.exitOnce && size.members === 1) {
    // The buffer is what the next thread gets to see: leave a mark in a place of the header that nobody uses.
    const mark = new Int32Array(job.buffer, 60, 1);
    if (mark[0] !== 1) {
      mark[0] = 1;
      process.exit(7);
    }
    createDense(job.buffer, size, facts);
  }
  if (size.tasks === FAULT.break) return { status: 'broken', breach: 'H1: on purpose' };
  return runAssignment(job);
}
