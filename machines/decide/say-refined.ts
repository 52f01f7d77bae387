import type { Grant, TaskMove, Warming } from '../model/refinement.ts';
import { taskKey, toTaskList } from '../model/task-list.ts';
import type { TaskIds } from '../model/tasks.ts';
import type { Draft } from './draft.ts';
import { type Move, sayLines } from './say-moves.ts';

/**
 * Says which stateful tasks go to their new owner and why, and which wait for what: one line for all tasks of which the
 * same is to be said, and nothing of a task of which the same was said before.
 *
 * @param before the moves of the intermediate assignment before this one.
 */
export function sayRefined(
  draft: Pick<Draft, 'context' | 'group' | 'say'>,
  before: readonly TaskMove[],
  moves: readonly TaskMove[],
): void {
  const said = new Set(before.map(gistOf));
  const lines = new Map<string, { words: readonly [string, string]; tasks: TaskIds[] }>();
  for (const move of moves) {
    if (said.has(gistOf(move))) continue;
    const words = wordsFor(move, draft.context);
    if (words === undefined) continue;
    const [one, many] = words;
    const line = lines.get(one);
    if (line === undefined) lines.set(one, { words: [one, many], tasks: [move.task] });
    else line.tasks.push(move.task);
  }
  const grouped = [...lines.values()].map(({ words: [one, many], tasks }): Move => {
    return { tasks: toTaskList(tasks), words: (isOne) => ['', isOne ? one : many] };
  });
  sayLines(draft, `Warm-ups of epoch ${draft.group.assignmentEpoch}`, grouped);
}

/** Equal for moves of which the same is to be said, but for numbers. */
function gistOf({ task, owner, ...move }: TaskMove): string {
  const [partition = 0] = task.partitions;
  const end = move.kind === 'granted' ? move.because : `${move.runner} ${move.warming}`;
  return `${taskKey(task.subtopologyId, partition)} ${owner} ${end}`;
}

type Limits = Pick<Draft['context'], 'settings' | 'coordinator'>;

/** What follows the names of the tasks, for one task and for many; undefined: nothing that the target does not say. */
function wordsFor(move: TaskMove, limits: Limits): readonly [string, string] | undefined {
  const { holder, owner } = move;
  if (move.kind === 'granted') {
    const why = GRANTS[move.because]?.(move, limits);
    // Where nobody had a task, what the target says is all there is to say, unless something of it is on disk.
    if (why === undefined || (holder === undefined && move.because !== 'onDisk')) return undefined;
    const way = holder === undefined ? `to ${owner}` : `from ${holder} to ${owner}`;
    return holder === undefined
      ? [`goes ${way}: ${why}`, `go ${way}: ${why}`]
      : [`moves ${way}: ${why}`, `move ${way}: ${why}`];
  }
  const until = WARMINGS[move.warming](move, limits);
  return move.runner === holder
    ? [`stays with ${holder} ${until}`, `stay with ${holder} ${until}`]
    : [
        `runs on ${move.runner}, whose copy is caught up, ${until}`,
        `run on ${move.runner}, whose copies are caught up, ${until}`,
      ];
}

type Words = (move: TaskMove, limits: Limits) => string;

const GRANTS: Readonly<Record<Grant, Words | undefined>> = {
  sameProcess: undefined,
  caughtUp: (move, limits) => `a copy there is ${within(move, limits)}`,
  atRest: ({ owner }) => `a copy there stands still, and ${owner} sees nothing more to restore`,
  neverReports: ({ owner }) => `${owner} speaks a version in which copies are not reported`,
  waited: (move, { coordinator, settings }) =>
    `a copy there got no closer for ${coordinator.warmupWaitMaxMs} ms, to within ` +
    `${settings.acceptableRecoveryLag} (${isNow(move)})`,
  onDisk: ({ owner }) => `the process of ${owner} has state of it on disk`,
  cold: () => 'nobody has a copy that is caught up',
};

const WARMINGS: Readonly<Record<Warming, Words>> = {
  warmup: (move, limits) => `until a warm-up on ${move.owner} is ${within(move, limits)}`,
  standby: (move, limits) => `until a standby beside ${move.owner} is ${within(move, limits)}`,
  noRoom: ({ owner }, { settings }) =>
    `until a warm-up is free for ${owner} (of ${settings.numWarmupReplicas})`,
  unheard: ({ owner }) => `until ${owner} is heard`,
  ownerGone: () => 'until there is a new target: the member it was to go to is gone',
};

function within(move: TaskMove, { settings }: Limits): string {
  return `within ${settings.acceptableRecoveryLag} (${isNow(move)})`;
}

function isNow({ lag }: TaskMove): string {
  if (lag === undefined) return 'not heard of yet';
  // Clients count to the last record: a copy with nothing left to restore is one ahead of the end.
  return `is ${lag < 0n ? 0n : lag}`;
}
