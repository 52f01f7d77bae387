import { Loads } from './loads.ts';
import type { Copy, Mover, RefinerMember, Report } from './mover.ts';
import { TaskPlaces } from './task-places.ts';

/** Everything the refiner decides by. */
export type Facts = {
  /** In (subtopology, partition) order. */
  readonly movers: readonly Mover[];
  /** Undefined: the task does not move. */
  readonly moverOf: (subtopologyId: string, partition: number) => Mover | undefined;
  readonly loads: Loads;
  /** How many warm-ups of stateful tasks members have, with those they are to give up. */
  readonly warmupCount: number;
  readonly acceptableRecoveryLag: bigint;
  /** How much members have left to restore, of those for whom it was asked. */
  readonly restoringLags: Map<RefinerMember, bigint>;
  /** The movers of which members have restored something, of those for whom it was asked. */
  readonly started: Map<RefinerMember, ReadonlySet<Mover>>;
};

/**
 * Finds the stateful tasks that are not active where the target wants them, and what is known of each.
 *
 * @param input.members by member id.
 */
export function gatherFacts(input: {
  readonly subtopologies: ConstructorParameters<typeof TaskPlaces>[0];
  readonly members: readonly RefinerMember[];
  readonly isPart: boolean;
  readonly acceptableRecoveryLag: bigint;
}): Facts {
  const { members, acceptableRecoveryLag } = input;
  const places = new TaskPlaces(input.subtopologies);
  const movers = findMovers(places, members, input.isPart);
  if (movers.found.length > 0) {
    findCopies(places, members, movers);
    hearReports(places, members, movers);
  }
  let warmupCount = 0;
  for (const { assigned, revokedWarmups } of members) {
    warmupCount += places.countIn(assigned.warmup) + places.countIn(revokedWarmups);
  }
  return {
    movers: movers.found,
    moverOf: (subtopologyId, partition) => movers.at(places.of(subtopologyId, partition) ?? -1),
    loads: new Loads(members, places),
    warmupCount,
    acceptableRecoveryLag,
    restoringLags: new Map(),
    started: new Map(),
  };
}

type Open<T> = { -readonly [K in keyof T]: T[K] };
/** A mover about which more is to be found. */
type Found = Open<Omit<Mover, 'copies' | 'holderReport'>> & {
  copies: readonly FoundCopy[];
  holderReport: Open<Report> | undefined;
};
type FoundCopy = Omit<Copy, 'report'> & { report: Open<Report> | undefined };

const NO_COPIES: readonly FoundCopy[] = [];
const NO_MEMBERS: readonly RefinerMember[] = [];

/** The movers, also by the place of their task. */
class Movers {
  readonly found: Found[] = [];
  /** The number of the mover from 1; 0 = the task does not move. */
  readonly #numbers: Int32Array;

  constructor(placeCount: number) {
    this.#numbers = new Int32Array(placeCount);
  }

  add(place: number, mover: Found): void {
    this.#numbers[place] = this.found.push(mover);
  }

  at(place: number): Found | undefined {
    const number = this.#numbers[place] ?? 0;
    return number === 0 ? undefined : this.found[number - 1];
  }
}

function findMovers(
  places: TaskPlaces,
  members: readonly RefinerMember[],
  isPart: boolean,
): Movers {
  // Numbers of members, from 1; 0 = nobody.
  const holders = new Int32Array(places.count);
  const owners = new Int32Array(places.count);
  members.forEach(({ assigned, target }, at) => {
    places.forEachIn(assigned.active, (place) => {
      if (holders[place] === 0) holders[place] = at + 1;
    });
    places.forEachIn(target.active, (place) => {
      if (owners[place] === 0) owners[place] = at + 1;
    });
  });
  const movers = new Movers(places.count);
  places.forEach((place, subtopologyId, partition) => {
    const holder = holders[place] ?? 0;
    const owner = owners[place] ?? 0;
    if (holder === owner && (isPart || owner !== 0)) return;
    movers.add(place, {
      subtopologyId,
      partition,
      holder: members[holder - 1],
      holderReport: undefined,
      owner: members[owner - 1],
      copies: NO_COPIES,
      standbyTargets: NO_MEMBERS,
    });
  });
  return movers;
}

function findCopies(places: TaskPlaces, members: readonly RefinerMember[], movers: Movers): void {
  for (const member of members) {
    for (const role of ['standby', 'warmup'] as const) {
      places.forEachIn(member.assigned[role], (place) => {
        const mover = movers.at(place);
        if (mover === undefined) return;
        mover.copies = withOne(mover.copies, { member, role, report: undefined });
      });
    }
    places.forEachIn(member.target.standby, (place) => {
      const mover = movers.at(place);
      if (mover !== undefined) mover.standbyTargets = withOne(mover.standbyTargets, member);
    });
  }
}

/** A spread would go through an iterator, for the one that there is of most. */
function withOne<T>(list: readonly T[], one: T): readonly T[] {
  return list.length === 0 ? [one] : [...list, one];
}

/** Puts what members report to the tasks that they have; what lies on their disks is found where somebody asks. */
function hearReports(places: TaskPlaces, members: readonly RefinerMember[], movers: Movers): void {
  for (const member of members) {
    for (const what of ['offset', 'end'] as const) {
      const reports = what === 'offset' ? member.taskOffsets : member.taskEndOffsets;
      for (const { subtopologyId, partition, offset } of reports) {
        const mover = movers.at(places.of(subtopologyId, partition) ?? -1);
        if (mover === undefined) continue;
        if (mover.holder === member) {
          mover.holderReport ??= { offset: undefined, end: undefined };
          mover.holderReport[what] = offset;
        }
        for (const copy of mover.copies) {
          if (copy.member !== member) continue;
          copy.report ??= { offset: undefined, end: undefined };
          copy.report[what] = offset;
        }
      }
    }
  }
}
