import { at, type Dense } from './dense.ts';
import type { Quota } from './quota.ts';
import type { Run } from './run.ts';

/** Which candidates are meant: who holds a copy now, or who has state on disk and no role. */
export type CandidateKind = 'copies' | 'disk';

/** In the order of worth: whoever holds a copy goes before all who only have it on disk. */
export const CANDIDATE_KINDS: readonly CandidateKind[] = ['copies', 'disk'];

/** Whether a problem has candidates of a kind at all. */
export function hasCandidates({ size, facts }: Dense, kind: CandidateKind): boolean {
  return kind === 'copies' ? facts.copies > 0 : size.candidates > facts.copies;
}

/** Where the candidates of a kind begin in a task's list, and where they end. */
export function candidatesFrom(dense: Dense, task: number, kind: CandidateKind): number {
  return kind === 'copies' ? at(dense.candStart, task) : at(dense.candDisk, task);
}

export function candidatesTo(dense: Dense, task: number, kind: CandidateKind): number {
  return kind === 'copies' ? at(dense.candDisk, task) : at(dense.candStart, task + 1);
}

/** Whether a candidate itself has to have room, or a sibling may take its place: state belongs to a process. */
export type Landing = 'member' | 'sibling';

/**
 * Walks a task's candidates of a kind and takes the first one with room, replaced by a later one only if that one is as
 * much caught up, and its process load and member count are both smaller. Processes marked with the task hold it
 * already and do not count.
 *
 * @returns a member, or -1.
 *
 * Source: assignors 4, 6.1 (step 2), section 3 (Q9).
 */
export function bestCandidate(
  run: Run,
  task: number,
  kind: CandidateKind,
  landing: Landing,
  quota: Quota,
): number {
  const { dense, members } = run;
  const { candMember, candCaughtUp, marks, procOf, procCount, procCapacity, count } = dense;
  let best = -1;
  let bestProcess = -1;
  let bestCaughtUp = 0;
  const end = candidatesTo(dense, task, kind);
  for (let c = candidatesFrom(dense, task, kind); c < end; c++) {
    let member = at(candMember, c);
    const process = at(procOf, member);
    if (at(marks, process) === task) continue;
    if (at(count, member) >= quota.limit) {
      if (landing === 'member') continue;
      member = members.least(process);
      if (at(count, member) >= quota.limit) continue;
    }
    const caughtUp = candCaughtUp[c] as number;
    if (
      best === -1 ||
      (at(count, member) < at(count, best) &&
        caughtUp >= bestCaughtUp &&
        at(procCount, process) * at(procCapacity, bestProcess) <
          at(procCount, bestProcess) * at(procCapacity, process))
    ) {
      best = member;
      bestProcess = process;
      bestCaughtUp = caughtUp;
    }
  }
  return best;
}
