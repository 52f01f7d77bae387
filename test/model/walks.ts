import type { SeededRandom } from '../support/seeded-random.ts';
import { FairSchedule } from './fair-schedule.ts';
import { fingerprint } from './fingerprint.ts';
import { brokenLaw, brokenStepLaw } from './laws.ts';
import { type Move, movesOf, type Played, play } from './moves.ts';
import type { Setup } from './setup.ts';
import { startOf } from './start.ts';
import type { World } from './world.ts';

export type Walked = {
  /** Times that a world was met with the fingerprint of another one, and compared with it. */
  readonly compared: number;
  /** Two worlds of one fingerprint part ways, or a law does not hold. */
  readonly broken: string | undefined;
  /** The way of the last walk, and where it ended. */
  readonly path: readonly Move[];
  readonly world: World;
};

/**
 * Wanders through worlds at random, far beyond what is explored. Holds every law to them; and the fingerprint to its
 * promise: of two worlds that it takes for one, the same moves lead to worlds that it takes for one. At the end of each
 * way the fair schedule has to come to rest.
 */
export function walk(
  setup: Setup,
  given: { readonly random: SeededRandom; readonly walks: number; readonly steps: number },
): Walked {
  const known = new Map<string, { readonly world: World; readonly next: string }>();
  const schedule = new FairSchedule(setup);
  const walked = { compared: 0, path: [] as Move[], world: startOf(setup).world };
  for (let each = 0; each < given.walks; each++) {
    walked.path = [];
    for (const { before, move, played } of wander(setup, given.random, given.steps)) {
      const text = fingerprint(setup, before);
      const met = known.get(text);
      if (met?.world !== before) {
        const next = nextOf(setup, before);
        if (met === undefined) known.set(text, { world: before, next });
        else if (met.next === next) walked.compared++;
        else return { ...walked, broken: firstDifference(met.next, next) };
      }
      walked.path.push(move);
      walked.world = played.world;
      const broken = brokenStepLaw(before, played) ?? brokenLaw(setup, played.world);
      if (broken !== undefined) return { ...walked, broken };
    }
    const rest = schedule.follow(walked.world);
    if (typeof rest !== 'number') {
      return { ...walked, path: [...walked.path, ...rest.path], broken: rest.broken };
    }
  }
  return { ...walked, broken: undefined };
}

/** One way through worlds, chosen at random among all moves. */
export function* wander(
  setup: Setup,
  random: SeededRandom,
  steps: number,
): Generator<{ readonly before: World; readonly move: Move; readonly played: Played }> {
  let before = startOf(setup).world;
  for (let step = 0; step < steps; step++) {
    const moves = movesOf(setup, before);
    const move = moves[random.below(moves.length)];
    if (move === undefined) return;
    const played = play(setup, before, move);
    yield { before, move, played };
    before = played.world;
  }
}

function nextOf(setup: Setup, world: World): string {
  return movesOf(setup, world)
    .map((move) => `${move.kind} ${move.at} ${readable(setup, play(setup, world, move).world)}`)
    .join('\n');
}

function readable(setup: Setup, world: World): string {
  return [...fingerprint(setup, world)].map((each) => each.charCodeAt(0)).join('.');
}

function firstDifference(one: string, other: string): string {
  const others = other.split('\n');
  const lines = one.split('\n');
  const at = lines.findIndex((line, index) => line !== others[index]);
  return `One fingerprint, two ways: ${lines[at]} or ${others[at]}`;
}
