import type { Grant, TaskMove, Warming } from '../model/refinement.ts';
import { appendTask, type OpenTaskList } from '../model/task-list.ts';
import type { Draft } from './draft.ts';
import { LINES_MAX, type Move, sayLines } from './say-moves.ts';

/**
 * Says which stateful tasks go to their new owner and why, and which wait for what: one line for all tasks of which the
 * same is to be said, and nothing of a task of which the same was said before. Words are found for the lines that are
 * kept, however many tasks move.
 *
 * @param before the moves of the intermediate assignment before this one; both in the order of tasks.
 */
export function sayRefined(
  draft: Pick<Draft, 'context' | 'group' | 'say'>,
  before: readonly TaskMove[],
  moves: readonly TaskMove[],
): void {
  const lines: Line[] = [];
  let unsaid = 0;
  let at = 0;
  for (const move of moves) {
    while (isOfEarlierTask(before[at], move)) at++;
    if (isNoNews(before[at], move) || !isWorthSaying(move)) continue;
    const line = lineFor(lines, move);
    if (line !== undefined) appendTask(line.tasks, move.subtopologyId, move.partition);
    else if (lines.length === LINES_MAX) unsaid++;
    else {
      const { subtopologyId, partition } = move;
      lines.push({ move, tasks: [{ subtopologyId, partitions: [partition] }] });
    }
  }
  const said = lines.map(({ move, tasks }): Move => {
    const [one, many] = wordsFor(move, draft.context);
    return { tasks, words: (isOne) => ['', isOne ? one : many] };
  });
  sayLines(draft, `Warm-ups of epoch ${draft.group.assignmentEpoch}`, said, unsaid);
}

/** Tasks of which the same is said as of one move. */
type Line = { readonly move: TaskMove; readonly tasks: OpenTaskList };

/** A loop: asked with a function that is made anew for each of ten thousand moves, it leaves 400 KB to the collector. */
function lineFor(lines: readonly Line[], move: TaskMove): Line | undefined {
  for (const line of lines) if (isSaidAlike(line.move, move)) return line;
  return undefined;
}

function isOfEarlierTask(one: TaskMove | undefined, other: TaskMove): boolean {
  if (one === undefined) return false;
  return one.subtopologyId === other.subtopologyId
    ? one.partition < other.partition
    : one.subtopologyId < other.subtopologyId;
}

/** The same was said of the same task, but for numbers. */
function isNoNews(before: TaskMove | undefined, move: TaskMove): boolean {
  return (
    before !== undefined &&
    before.subtopologyId === move.subtopologyId &&
    before.partition === move.partition &&
    before.owner === move.owner &&
    hasSameEnd(before, move)
  );
}

function hasSameEnd(one: TaskMove, other: TaskMove): boolean {
  if (one.kind === 'granted') return other.kind === 'granted' && one.because === other.because;
  return other.kind === 'staged' && one.runner === other.runner && one.warming === other.warming;
}

/** One line can say both: what follows the names of the tasks is the same. */
function isSaidAlike(one: TaskMove, other: TaskMove): boolean {
  return (
    one.owner === other.owner &&
    one.holder === other.holder &&
    hasSameEnd(one, other) &&
    (saidLag(one) === saidLag(other) || !tellsLag(one))
  );
}

/** Where nobody had a task, what the target says is all there is to say, unless something of it is on disk. */
function isWorthSaying(move: TaskMove): boolean {
  if (move.kind === 'staged') return true;
  if (GRANTS[move.because] === undefined) return false;
  return move.holder !== undefined || move.because === 'onDisk';
}

const TELLING_LAG: ReadonlySet<Grant | Warming> = new Set([
  'caughtUp',
  'waited',
  'warmup',
  'standby',
] as const);

function tellsLag(move: TaskMove): boolean {
  return TELLING_LAG.has(move.kind === 'granted' ? move.because : move.warming);
}

/** Clients count to the last record: a copy with nothing left to restore is one ahead of the end. */
function saidLag({ lag }: TaskMove): bigint | undefined {
  return lag !== undefined && lag < 0n ? 0n : lag;
}

type Limits = Pick<Draft['context'], 'settings' | 'coordinator'>;

/** What follows the names of the tasks, for one task and for many. */
function wordsFor(move: TaskMove, limits: Limits): readonly [string, string] {
  const { holder, owner } = move;
  if (move.kind === 'granted') {
    const why = GRANTS[move.because]?.(move, limits) ?? '';
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

function isNow(move: TaskMove): string {
  const lag = saidLag(move);
  return lag === undefined ? 'not heard of yet' : `is ${lag}`;
}
