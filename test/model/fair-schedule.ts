import { sameTasksByRole } from '../../machines/model/task-list.ts';
import { fingerprint, taskBits } from './fingerprint.ts';
import { isFair, type Move, movesOf, play } from './moves.ts';
import { MEMBERS, type Setup } from './setup.ts';
import { AWAY, type World } from './world.ts';

/** What does not hold, with a shortest way to it from the setup's start. */
export type Violation = { readonly broken: string; readonly path: readonly Move[] };

/** More moves than any fair schedule needs. */
export const FAIR_MOVES_MAX = 200;

/** The next move of the fair schedule: the first one that changes anything; undefined at rest. */
export function fairMove(
  setup: Setup,
  world: World,
): { readonly move: Move; readonly world: World; readonly text: string } | undefined {
  const before = fingerprint(setup, world);
  for (const move of movesOf(setup, world)) {
    if (!isFair(move)) break;
    const next = play(setup, world, move).world;
    const text = fingerprint(setup, next);
    if (text !== before) return { move, world: next, text };
  }
  return undefined;
}

/** Follows the fair schedule: everything is delivered, everybody does as told. Remembers the worlds it came through. */
export class FairSchedule {
  readonly #setup: Setup;
  /** Moves to rest, by fingerprint. */
  readonly #known = new Map<string, number>();

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** @returns the moves it takes from a world to rest; a path from there to what is wrong instead. */
  follow(start: World): number | Violation {
    const passed: string[] = [];
    const path: Move[] = [];
    let world = start;
    let text = fingerprint(this.#setup, world);
    let left = this.#known.get(text);
    while (left === undefined) {
      const next = fairMove(this.#setup, world);
      if (next === undefined) {
        const broken = brokenRest(this.#setup, world);
        if (broken !== undefined) return { broken, path };
        this.#known.set(text, 0);
        left = 0;
        break;
      }
      passed.push(text);
      path.push(next.move);
      if (path.length > FAIR_MOVES_MAX) return { broken: 'The fair schedule does not end', path };
      ({ world, text } = next);
      left = this.#known.get(text);
    }
    const moves = left + passed.length;
    for (const [at, each] of passed.entries()) this.#known.set(each, moves - at);
    return moves;
  }
}

/** What is wrong with a world in which nothing is left to do. */
export function brokenRest(setup: Setup, world: World): string | undefined {
  const broken = unreached(setup, world);
  if (broken !== undefined) return `At rest, but ${broken}`;
  for (const move of movesOf(setup, world)) {
    const writes = move.kind === 'beat' && play(setup, world, move).records.length > 0;
    if (writes) return `At rest, but a heartbeat of ${MEMBERS[move.at]} writes`;
  }
  return undefined;
}

/** Where the fair schedule is to end: everybody has what it should, and nothing is left to do. */
function unreached(setup: Setup, { clients, coordinator }: World): string | undefined {
  const { group } = coordinator.slot;
  const present = clients.flatMap((client, at) => (client.epoch === AWAY ? [] : [{ client, at }]));
  if (present.length === 0) {
    return group === undefined || group.state === 'Empty'
      ? undefined
      : `the group is ${group.state}`;
  }
  if (group?.state !== 'Stable') return `the group is ${group?.state ?? 'not there'}`;
  let owned = 0;
  for (const { client, at } of present) {
    const name = MEMBERS[at] ?? '';
    const target = group.targets.get(name);
    if (client.epoch !== group.assignmentEpoch) return `${name} is at ${client.epoch}`;
    if (target === undefined || !sameTasksByRole(client.runs, target)) {
      return `${name} does not run what it is to run`;
    }
    owned |= taskBits(client.runs.active);
  }
  // Members of an older topology get nothing new (X6): with nobody else there, some tasks are with nobody.
  const { epoch = 0 } = group.topology ?? {};
  if (present.every(({ client }) => client.topologyEpoch < epoch)) return undefined;
  if (owned !== allTaskBits(setup, epoch)) return 'a task is with nobody';
  return undefined;
}

function allTaskBits({ tasks: [stateless, stateful] }: Setup, topologyEpoch: number): number {
  const upTo = (count: number) => Array.from({ length: count }, (_, partition) => partition);
  if (topologyEpoch === 1) return taskBits([{ subtopologyId: '0', partitions: upTo(stateful) }]);
  return taskBits([
    { subtopologyId: '0', partitions: upTo(stateless) },
    { subtopologyId: '1', partitions: upTo(stateful) },
  ]);
}
