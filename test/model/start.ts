import { fairMove } from './fair-schedule.ts';
import { type Move, play } from './moves.ts';
import type { Setup } from './setup.ts';
import { emptyWorld, type World } from './world.ts';

/** A world, and how it came about from an empty one. */
export type Start = { readonly world: World; readonly path: readonly Move[] };

const starts = new WeakMap<Setup, Start>();

/** Where a setup begins: with nothing, or after everybody has joined and come to rest. */
export function startOf(setup: Setup): Start {
  const known = starts.get(setup) ?? begin(setup);
  starts.set(setup, known);
  return known;
}

function begin(setup: Setup): Start {
  let world = emptyWorld(setup);
  const path: Move[] = [];
  if (!setup.startsSettled) return { world, path };
  const go = (move: Move) => {
    path.push(move);
    world = play(setup, world, move).world;
  };
  for (const at of setup.processes.keys()) go({ kind: 'join', at });
  for (;;) {
    const next = fairMove(setup, world);
    if (next === undefined) return { world, path };
    go(next.move);
  }
}
