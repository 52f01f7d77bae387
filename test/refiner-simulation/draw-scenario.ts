import { Chance } from '../differential/chance.ts';

/** How large scenarios are; both bounds included. */
export type Shape = {
  readonly subtopologies: readonly [number, number];
  readonly partitions: readonly [number, number];
  readonly processes: readonly [number, number];
  readonly membersPerProcess: readonly [number, number];
  readonly episodes: readonly [number, number];
};

/** The sizes of assignors 10.3. */
export const SHAPES = {
  CI: {
    subtopologies: [1, 3],
    partitions: [1, 12],
    processes: [1, 6],
    membersPerProcess: [1, 3],
    episodes: [2, 5],
  },
  LARGE: {
    subtopologies: [3, 5],
    partitions: [16, 64],
    processes: [8, 30],
    membersPerProcess: [1, 4],
    episodes: [2, 4],
  },
} as const satisfies Readonly<Record<string, Shape>>;

/** Something happens to the group; then it is left alone until it rests. */
export type Event =
  | { readonly type: 'join'; readonly processId: string; readonly memberIds: readonly string[] }
  | { readonly type: 'leave'; readonly memberIds: readonly string[] }
  /** All members of a process come back under new ids, with what is on its disk. */
  | { readonly type: 'restart'; readonly processId: string; readonly memberIds: readonly string[] }
  | { readonly type: 'standbys'; readonly count: number }
  | { readonly type: 'budget'; readonly warmups: number }
  /** The coordinator forgets what it has beside its log: offsets, and the intermediate assignment. */
  | { readonly type: 'failOver' }
  /** A target that is sound and nothing else. */
  | { readonly type: 'reshuffle'; readonly seed: number }
  /** A target is computed, then members leave, then it is installed. */
  | { readonly type: 'lateTarget'; readonly seed: number; readonly memberIds: readonly string[] };

export type SimulatedTask = {
  readonly subtopologyId: string;
  readonly partition: number;
  readonly isStateful: boolean;
  /** Records of its changelog at the beginning; one in five never has any. */
  readonly records: number;
  /** Records a tick while it is processed. */
  readonly writeRate: number;
};

/** Everything that is to happen to one group, drawn from a seed. */
export type Scenario = {
  readonly seed: number;
  readonly tasks: readonly SimulatedTask[];
  /** Records of one task that a member restores in a tick. */
  readonly restoreRate: number;
  readonly acceptableRecoveryLag: number;
  readonly warmups: number;
  readonly standbys: number;
  /** The first is the beginning. */
  readonly episodes: readonly (readonly Event[])[];
};

/** Draws a scenario: the same seed and shape give the same. */
export function drawScenario(seed: number, shape: Shape): Scenario {
  const chance = new Chance(seed);
  const tasks = drawTasks(chance, shape);
  const cast = new Cast(chance, shape);
  const first = Array.from({ length: chance.between(...shape.processes) }, () => cast.addProcess());
  const restoreRate = chance.between(2_000, 9_999);
  const acceptableRecoveryLag = chance.pick([0, 100, 10_000]);
  const warmups = drawBudget(chance);
  const standbys = chance.between(0, 2);
  const later = Array.from({ length: chance.between(...shape.episodes) }, () => {
    const events = [drawEvent(chance, cast)];
    if (chance.percent(20)) events.push(drawEvent(chance, cast));
    return events;
  });
  const episodes = [first, ...later];
  return { seed, tasks, restoreRate, acceptableRecoveryLag, warmups, standbys, episodes };
}

function drawTasks(chance: Chance, shape: Shape): readonly SimulatedTask[] {
  const subtopologies = chance.between(...shape.subtopologies);
  return Array.from({ length: subtopologies }, (_, at) => {
    const isStateful = at === 0 || chance.percent(70);
    return Array.from({ length: chance.between(...shape.partitions) }, (_, partition) => {
      const isEmpty = chance.percent(20);
      return {
        subtopologyId: String(at).padStart(3, '0'),
        partition,
        isStateful,
        records: isEmpty ? 0 : chance.between(1, 30_000),
        writeRate: isEmpty ? 0 : chance.between(0, 199),
      };
    });
  }).flat();
}

function drawBudget(chance: Chance): number {
  return chance.pick([1, 1, 2, 2, 3, 5, 20]);
}

function drawEvent(chance: Chance, cast: Cast): Event {
  const kind = chance.between(0, 99);
  if (kind < 18) return cast.addProcess();
  if (kind < 30) return cast.removeProcess() ?? cast.addProcess();
  if (kind < 44) return cast.restartProcess();
  if (kind < 54) return cast.addMember();
  if (kind < 62) return cast.removeMember() ?? cast.addMember();
  if (kind < 68) return { type: 'standbys', count: chance.between(0, 2) };
  if (kind < 74) return { type: 'budget', warmups: drawBudget(chance) };
  if (kind < 82) return { type: 'failOver' };
  const seed = chance.between(1, 1_000_000);
  if (!chance.percent(50)) return { type: 'reshuffle', seed };
  const leaving = cast.removeMember();
  if (leaving === undefined) return { type: 'reshuffle', seed };
  return { type: 'lateTarget', seed, memberIds: leaving.memberIds };
}

/** Who is in the group while its history is drawn. */
class Cast {
  readonly #chance: Chance;
  readonly #shape: Shape;
  readonly #processes = new Map<string, string[]>();
  #processesMade = 0;
  #membersMade = 0;

  constructor(chance: Chance, shape: Shape) {
    this.#chance = chance;
    this.#shape = shape;
  }

  addProcess(): Event {
    const processId = `p${String(++this.#processesMade).padStart(3, '0')}`;
    const memberIds = this.#newMembers(this.#chance.between(...this.#shape.membersPerProcess));
    this.#processes.set(processId, [...memberIds]);
    return { type: 'join', processId, memberIds };
  }

  /** Undefined: it is the last one. */
  removeProcess(): Event | undefined {
    if (this.#processes.size < 2) return undefined;
    const [processId, memberIds] = this.#anyProcess();
    this.#processes.delete(processId);
    return { type: 'leave', memberIds };
  }

  restartProcess(): Event {
    const [processId, before] = this.#anyProcess();
    const memberIds = this.#newMembers(before.length);
    this.#processes.set(processId, [...memberIds]);
    return { type: 'restart', processId, memberIds };
  }

  addMember(): Event {
    const [processId, members] = this.#anyProcess();
    const memberIds = this.#newMembers(1);
    members.push(...memberIds);
    return { type: 'join', processId, memberIds };
  }

  /** Undefined: it is the last one. */
  removeMember(): Extract<Event, { type: 'leave' }> | undefined {
    if ([...this.#processes.values()].flat().length < 2) return undefined;
    const [processId, members] = this.#anyProcess();
    const memberId = this.#chance.pick(members);
    if (members.length === 1) this.#processes.delete(processId);
    else members.splice(members.indexOf(memberId), 1);
    return { type: 'leave', memberIds: [memberId] };
  }

  #anyProcess(): [string, string[]] {
    return this.#chance.pick([...this.#processes]);
  }

  #newMembers(count: number): readonly string[] {
    return Array.from({ length: count }, () => `m${String(++this.#membersMade).padStart(5, '0')}`);
  }
}
