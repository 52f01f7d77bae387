import type { SeededRandom } from '../support/seeded-random.ts';
import { fingerprint } from './fingerprint.ts';
import { brokenLaw, brokenStepLaw } from './laws.ts';
import { type Move, movesOf, play } from './moves.ts';
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
 * promise: of two worlds that it takes for one, the same moves lead to worlds that it takes for one.
 */
export function walk(
  setup: Setup,
  given: { readonly random: SeededRandom; readonly walks: number; readonly steps: number },
): Walked {
  const known = new Map<string, { readonly world: World; readonly next: string }>();
  let compared = 0;
  let path: Move[] = [];
  let { world } = startOf(setup);
  for (let each = 0; each < given.walks; each++) {
    ({ world } = startOf(setup));
    path = [];
    for (let step = 0; step < given.steps; step++) {
      const moves = movesOf(setup, world);
      const text = fingerprint(setup, world);
      const before = known.get(text);
      if (before?.world !== world) {
        const next = nextOf(setup, world, moves);
        if (before === undefined) known.set(text, { world, next });
        else if (before.next === next) compared++;
        else return { compared, broken: firstDifference(before.next, next), path, world };
      }
      const move = moves[given.random.below(moves.length)];
      if (move === undefined) break;
      path.push(move);
      const played = play(setup, world, move);
      const broken = brokenStepLaw(world, played) ?? brokenLaw(setup, played.world);
      if (broken !== undefined) return { compared, broken, path, world };
      world = played.world;
    }
  }
  return { compared, broken: undefined, path, world };
}

function nextOf(setup: Setup, world: World, moves: readonly Move[]): string {
  return moves
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
