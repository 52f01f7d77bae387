import { type Refined, type RefinerInput, refine } from '../../machines/decide/refine/refine.ts';
import type { Refinement, TaskMove } from '../../machines/model/refinement.ts';
import type { RefinerMember } from '../../machines/model/survey.ts';
import { taskKey } from '../../machines/model/task-list.ts';
import type { TaskOffset, TasksByRole } from '../../machines/model/tasks.ts';
import { readTasks, writeTasks } from './task-notation.ts';

/** `active|standby|warmup` as `0:[0-2]|[]|[]`; what is left out is empty. */
export function readRoles(text = '[]'): TasksByRole {
  const [active = '[]', standby = '[]', warmup = '[]'] = text.split('|');
  return { active: readTasks(active), standby: readTasks(standby), warmup: readTasks(warmup) };
}

export function writeRoles({ active, standby, warmup }: TasksByRole): string {
  return [active, standby, warmup].map(writeTasks).join('|');
}

/** `0_2:500/20000,0_3:100`: offsets, and ends where there is one. */
export function readReports(text = ''): Pick<RefinerMember, 'taskOffsets' | 'taskEndOffsets'> {
  const taskOffsets: TaskOffset[] = [];
  const taskEndOffsets: TaskOffset[] = [];
  for (const word of text.split(',').filter((each) => each !== '')) {
    const [, subtopologyId = '', partition, offset = '0', , end] =
      /^(.+)_(\d+):(-?\d+)(\/(-?\d+))?$/.exec(word) ?? [];
    const task = { subtopologyId, partition: Number(partition) };
    taskOffsets.push({ ...task, offset: BigInt(offset) });
    if (end !== undefined) taskEndOffsets.push({ ...task, offset: BigInt(end) });
  }
  return { taskOffsets, taskEndOffsets };
}

/** A member of a refiner's input in short. */
export type Sketch = {
  readonly process?: string;
  readonly has?: string;
  readonly owes?: string;
  readonly target?: string;
  readonly says?: string;
  readonly saidAtMs?: number;
  readonly reportsCopies?: RefinerMember['reportsCopies'];
};

/** An input with one stateful subtopology `0` of eight tasks and a stateless `1`, two warm-ups, lag 100. */
export function refinerInput(
  sketches: Readonly<Record<string, Sketch>>,
  options: Partial<RefinerInput> = {},
): RefinerInput {
  return {
    subtopologies: [
      { subtopologyId: '0', taskCount: 8, stateful: true },
      { subtopologyId: '1', taskCount: 8, stateful: false },
    ],
    members: Object.entries(sketches)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([memberId, sketch]) => ({
        memberId,
        processId: sketch.process ?? `p${memberId}`,
        assigned: readRoles(sketch.has),
        revokedWarmups: readRoles(sketch.owes).warmup,
        target: readRoles(sketch.target),
        ...readReports(sketch.says),
        reportedAtMs: sketch.saidAtMs ?? (sketch.says === undefined ? undefined : 0),
        reportsCopies: sketch.reportsCopies ?? 'yes',
      })),
    isPart: false,
    warmupsMax: 2,
    acceptableRecoveryLag: 100n,
    waits: new Map(),
    nowMs: 0,
    waitMaxMs: 600_000,
    silenceMs: 65_000,
    ...options,
  };
}

/** Each member's slice as text. */
export function slicesOf(input: RefinerInput, { slices }: Refinement): Record<string, string> {
  return Object.fromEntries(
    input.members.map(({ memberId, target }) => [
      memberId,
      writeRoles(slices.get(memberId) ?? target),
    ]),
  );
}

/** What became of each task: `0_2 stays A, warmup` or `0_2 to B, caughtUp`. */
export function movesOf({ moves }: Refinement): readonly string[] {
  return moves.map((move) => {
    const task = taskKey(move.subtopologyId, move.partition);
    return `${task} ${wordsOf(move)}`;
  });
}

function wordsOf(move: TaskMove): string {
  if (move.kind === 'granted') return `to ${move.owner}, ${move.because}`;
  const verb = move.runner === move.holder ? 'stays' : 'runs on';
  return `${verb} ${move.runner}, ${move.warming}`;
}

/** Refines; fails where the refiner found that it would lose or double a task (WU-15). */
export function refineSoundly(input: RefinerInput): Refinement {
  return refinedSoundly(input).refinement;
}

/** Likewise, with what it was derived from. */
export function refinedSoundly(input: RefinerInput): Refined {
  const refined = refine(input);
  if (refined === undefined) throw new Error('The refiner broke WU-15');
  return refined;
}

/** A refinement to be compared with others: every slice is made. */
export function plain({ slices, ...rest }: Refinement): object {
  const { moves, waits, untilMs } = rest;
  return {
    slices: new Map([...slices].sort(([a], [b]) => (a < b ? -1 : 1))),
    moves,
    waits,
    untilMs,
  };
}

/** The offset and end of a copy whose restoration has not started. */
export const NOT_STARTED = 2n ** 63n - 1n;

/** Refines and gives slices and moves as text. */
export function refined(
  sketches: Readonly<Record<string, Sketch>>,
  options?: Partial<RefinerInput>,
) {
  const input = refinerInput(sketches, options);
  const refinement = refineSoundly(input);
  return { slices: slicesOf(input, refinement), moves: movesOf(refinement) };
}

/** A runs 0_0 and 0_1; 0_1 is to go to B, of whom this much is known. */
export function handOver(b: Sketch, options?: Partial<RefinerInput>, a: Sketch = {}) {
  return refined(
    {
      A: { has: '0:[0-1]', target: '0:[0]', ...a },
      B: { target: '0:[1]', ...b },
    },
    options,
  );
}
