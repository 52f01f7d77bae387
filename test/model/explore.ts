import { brokenRest, FAIR_MOVES_MAX, FairSchedule, type Violation } from './fair-schedule.ts';
import { fingerprint } from './fingerprint.ts';
import { brokenLaw, brokenStepLaw } from './laws.ts';
import { isFair, type Move, type MoveKind, movesOf, play } from './moves.ts';
import type { Setup } from './setup.ts';
import { startOf } from './start.ts';
import type { World } from './world.ts';

export type Bounds = {
  /** Moves from the first world. */
  readonly depthMax: number;
  /** Distinct worlds; at this many nothing further is opened. */
  readonly worldsMax: number;
};

export type Explored = {
  /** Distinct worlds. */
  readonly worlds: number;
  /** Moves played. */
  readonly moves: number;
  readonly movesByKind: ReadonlyMap<MoveKind, number>;
  /** Worlds first met after so many moves. */
  readonly worldsByDepth: readonly number[];
  /** Every reachable world was opened. */
  readonly isWhole: boolean;
  /** The most moves that a fair schedule took to come to rest. */
  readonly fairMovesMax: number;
  readonly violation: Violation | undefined;
};

/**
 * Opens the worlds of a setup, those with the shortest ways first, and holds every law to each. From every world a fair
 * schedule has to come to rest, with everybody where it should be. Stops at the first violation.
 */
export function explore(setup: Setup, bounds: Bounds): Explored {
  return new Explorer(setup, bounds).run();
}

class Explorer {
  readonly #setup: Setup;
  readonly #bounds: Bounds;
  readonly #indexes = new Map<string, number>();
  /** By index: the world it was first reached from, and how. */
  readonly #parents: number[] = [];
  readonly #moves: (Move | undefined)[] = [];
  /** By index: where the fair schedule goes next; itself when at rest; -1 when not opened. */
  readonly #fairNext: number[] = [];
  readonly #movesByKind = new Map<MoveKind, number>();
  readonly #worldsByDepth: number[] = [];
  #played = 0;
  #violation: Violation | undefined;

  constructor(setup: Setup, bounds: Bounds) {
    this.#setup = setup;
    this.#bounds = bounds;
  }

  run(): Explored {
    const { stackTraceLimit } = Error;
    // Refusals are thrown by the thousand, and nobody asks where.
    Error.stackTraceLimit = 0;
    try {
      return this.#explore();
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  #explore(): Explored {
    const first = startOf(this.#setup).world;
    this.#add(fingerprint(this.#setup, first), -1, undefined);
    let frontier: [number, World][] = [[0, first]];
    while (frontier.length > 0 && this.#violation === undefined) {
      this.#worldsByDepth.push(frontier.length);
      const isLast =
        this.#worldsByDepth.length > this.#bounds.depthMax ||
        this.#indexes.size >= this.#bounds.worldsMax;
      if (isLast) break;
      const next: [number, World][] = [];
      for (const [index, world] of frontier) {
        this.#open(index, world, next);
        if (this.#violation !== undefined) break;
      }
      frontier = next;
    }
    const fairMovesMax = this.#violation === undefined ? this.#comeToRest(frontier) : 0;
    return {
      worlds: this.#indexes.size,
      moves: this.#played,
      movesByKind: this.#movesByKind,
      worldsByDepth: this.#worldsByDepth,
      isWhole: frontier.length === 0,
      fairMovesMax,
      violation: this.#violation,
    };
  }

  #add(text: string, parent: number, move: Move | undefined): number {
    const index = this.#indexes.size;
    this.#indexes.set(text, index);
    this.#parents.push(parent);
    this.#moves.push(move);
    this.#fairNext.push(-1);
    return index;
  }

  #open(index: number, world: World, next: [number, World][]): void {
    const setup = this.#setup;
    this.#fairNext[index] = index;
    for (const move of movesOf(setup, world)) {
      this.#played++;
      this.#movesByKind.set(move.kind, (this.#movesByKind.get(move.kind) ?? 0) + 1);
      const played = this.#play(index, world, move);
      if (played === undefined) return;
      const text = fingerprint(setup, played);
      let to = this.#indexes.get(text);
      if (to === undefined) {
        to = this.#add(text, index, move);
        next.push([to, played]);
        const broken = brokenLaw(setup, played);
        if (broken !== undefined) {
          this.#violation = { broken, path: this.#pathTo(to) };
          return;
        }
      }
      if (isFair(move) && this.#fairNext[index] === index) this.#fairNext[index] = to;
    }
    if (this.#fairNext[index] !== index) return;
    const broken = brokenRest(setup, world);
    if (broken !== undefined) this.#violation = { broken, path: this.#pathTo(index) };
  }

  #play(index: number, world: World, move: Move): World | undefined {
    try {
      const played = play(this.#setup, world, move);
      const broken = brokenStepLaw(world, played);
      if (broken === undefined) return played.world;
      this.#violation = { broken, path: [...this.#pathTo(index), move] };
    } catch (cause) {
      const broken = cause instanceof Error ? cause.message : String(cause);
      this.#violation = { broken, path: [...this.#pathTo(index), move] };
    }
    return undefined;
  }

  #pathTo(index: number): Move[] {
    const path: Move[] = [];
    for (let at = index; at > 0; at = this.#parents[at] ?? 0) {
      const move = this.#moves[at];
      if (move !== undefined) path.push(move);
    }
    return path.reverse();
  }

  /** Follows the fair schedule from every world. @returns the most moves it took. */
  #comeToRest(frontier: readonly [number, World][]): number {
    const lengths = new Int32Array(this.#indexes.size).fill(-1);
    const schedule = new FairSchedule(this.#setup);
    for (const [index, world] of frontier) {
      const followed = schedule.follow(world);
      if (typeof followed === 'number') lengths[index] = followed;
      else {
        this.#violation = { ...followed, path: [...this.#pathTo(index), ...followed.path] };
        return 0;
      }
    }
    let most = 0;
    for (let index = 0; index < lengths.length; index++) {
      const way: number[] = [];
      let at = index;
      while ((lengths[at] ?? 0) < 0 && this.#fairNext[at] !== at) {
        way.push(at);
        at = this.#fairNext[at] ?? at;
        if (way.length > FAIR_MOVES_MAX) {
          this.#violation = { broken: 'The fair schedule does not end', path: this.#pathTo(index) };
          return 0;
        }
      }
      let length = Math.max(0, lengths[at] ?? 0);
      lengths[at] = length;
      for (const each of way.reverse()) lengths[each] = ++length;
      most = Math.max(most, length);
    }
    return most;
  }
}
