import { LANDING, LEAVING, type MoveReason } from '../machines/model/look-back.ts';

/** A reason is eight bits: one half says why the task left, the other why it is here, both counted from 1. 0: it is not new. */
const HALF = 16;

/** Halves of codes; a sum of one of each is a code. */
export const LEAVE = halvesOf(LEAVING, HALF);
export const LAND = halvesOf(LANDING, 1);

function halvesOf<K extends string>(
  names: readonly K[],
  unit: number,
): Readonly<Record<K, number>> {
  return Object.fromEntries(names.map((name, i) => [name, (i + 1) * unit])) as Record<K, number>;
}

/** By code. */
const REASONS: readonly (MoveReason | undefined)[] = Array.from(
  { length: HALF * HALF },
  (_, code) => {
    const leaving = LEAVING[Math.floor(code / HALF) - 1];
    const landing = LANDING[(code % HALF) - 1];
    return leaving === undefined || landing === undefined ? undefined : { leaving, landing };
  },
);

/** What can be seen from before and after, whoever assigned and whatever for. */
const FACTS: ReadonlySet<MoveReason['leaving']> = new Set([
  'unheard',
  'unowned',
  'staleOwner',
  'tooFewCopies',
  'copyPromoted',
]);

/** By code, of an assignor whose motives are not known. */
const FACTUAL: readonly (MoveReason | undefined)[] = REASONS.map((reason) => {
  if (reason === undefined) return undefined;
  const leaving = FACTS.has(reason.leaving) ? reason.leaving : 'assignor';
  return REASONS[LEAVE[leaving] + LAND.assignor];
});

/** What a code of `dense.activeReason` or `dense.standbyReason` stands for; undefined: the task is not new there. */
export function reasonOfCode(code: number): MoveReason | undefined {
  return REASONS[code];
}

/**
 * As {@link reasonOfCode}, of what a user's own assignor placed. Even shares and copies that there are already are what ours
 * go by: of another it is said what was to be placed, and that it placed it.
 */
export function factualReasonOfCode(code: number): MoveReason | undefined {
  return FACTUAL[code];
}
