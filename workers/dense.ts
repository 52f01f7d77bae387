import { ASSIGNORS } from '../machines/model/assignors.ts';
import { FIGURES } from '../machines/model/look-back.ts';

/** Numbers of a problem that fix the length of every array. */
export type DenseSizes = {
  readonly subtopologies: number;
  readonly tasks: number;
  readonly members: number;
  readonly processes: number;
  /** Standbys asked for per stateful task; counts in the total quota. */
  readonly replicas: number;
  /** Standbys a task can have at most: `replicas`, or one less than there are processes. */
  readonly slots: number;
  readonly tagKeys: number;
  /** Groups of processes with equal tags; 1 without tag keys. */
  readonly tagGroups: number;
  readonly candidates: number;
};

/** What can be run: our assignors, and Kafka's own sticky, which places tasks down to which of equals it takes. */
export const ALGORITHMS = [...ASSIGNORS, 'kafka_sticky'] as const;

/** Numbers of a problem that fix no length. */
export type DenseFacts = {
  /** What is to run, by its place in {@link ALGORITHMS}. */
  readonly algorithm: number;
  /** Tasks that somebody has as active. */
  readonly held: number;
  /** Candidates that hold a copy now, in whatever role; the others have it on disk. */
  readonly copies: number;
  /** Members with a stale topology epoch. */
  readonly stale: number;
};

/** Why a member is a candidate for a task. */
export const CANDIDATE = { standby: 0, warmup: 1, disk: 2, secondActive: 3 } as const;

const MAGIC = 0x48474131;
const SIZES = [
  'subtopologies',
  'tasks',
  'members',
  'processes',
  'replicas',
  'slots',
  'tagKeys',
  'tagGroups',
  'candidates',
] as const satisfies readonly (keyof DenseSizes)[];
const FACTS = [
  'algorithm',
  'held',
  'copies',
  'stale',
] as const satisfies readonly (keyof DenseFacts)[];
/** Int32 words; an even number, so that what lies behind it is aligned. */
const HEADER_WORDS = 16;

/** Hands out consecutive parts of a buffer; without one it only counts their bytes. */
class Arena {
  bytes = HEADER_WORDS * 4;
  readonly buffer: SharedArrayBuffer;
  readonly #counts: boolean;

  constructor(buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? NO_BUFFER;
    this.#counts = buffer === undefined;
  }

  f64(length: number): Float64Array {
    const from = this.#take(length * 8);
    return this.#counts ? NO_DOUBLES : new Float64Array(this.buffer, from, length);
  }

  i32(length: number): Int32Array {
    const from = this.#take(length * 4);
    return this.#counts ? NO_INTS : new Int32Array(this.buffer, from, length);
  }

  u8(length: number): Uint8Array {
    const from = this.#take(length);
    return this.#counts ? NO_BYTES : new Uint8Array(this.buffer, from, length);
  }

  /** Parts begin at whole words of eight bytes: shared memory is copied word by word where both ends do, else byte by byte. */
  #take(bytes: number): number {
    const from = this.bytes;
    this.bytes += Math.ceil(bytes / 8) * 8;
    return from;
  }
}

const NO_BUFFER = new SharedArrayBuffer(0);
const NO_DOUBLES = new Float64Array(0);
const NO_INTS = new Int32Array(0);
const NO_BYTES = new Uint8Array(0);

/**
 * Every array of a problem, in the order it lies in the buffer.
 * Tasks are numbered by (subtopology id, partition), members and processes by id, all in code-unit order.
 * `xStart` and `x` together are lists by row: row i is `x[xStart[i]]` up to `x[xStart[i + 1]]`.
 */
function layOut(size: DenseSizes, facts: DenseFacts, arena: Arena) {
  const {
    subtopologies: S,
    tasks: T,
    members: M,
    processes: P,
    slots: R,
    tagKeys: K,
    candidates: C,
  } = size;
  // One literal, so that all have one shape to the compiler. A copy with something added would have a shape of its own
  // each time, and no code could be compiled for it.
  return {
    size,
    facts,
    /** A result: the measures of the run, and one per tag key. See figures.ts. */
    figures: arena.f64(FIGURES.length + K),
    // The problem, by task. These lie where they lay as long as the topology and the number of standbys are the same.
    /** First task of each subtopology. */
    base: arena.i32(S + 1),
    subtopologyOf: arena.i32(T),
    /** The member that holds the task as active, or -1. */
    prevActive: arena.i32(T),
    /** The same by member, each list ascending; see `heldStart`. */
    heldTask: arena.i32(T),
    candStart: arena.i32(T + 1),
    /** Where in its list the candidates begin that only have the task on disk; before them are those that hold a copy. */
    candDisk: arena.i32(T),

    // Results, by task.
    /** Member or -1. */
    active: arena.i32(T),
    /** `slots` members per task, the rest -1. */
    standby: arena.i32(T * R),
    activeTask: arena.i32(T),
    standbyTask: arena.i32(T * R),

    // Scratch of a run, by task; dirty at its start.
    standbyCount: arena.i32(T),
    /** Of those, the ones that are on an account. */
    fixed: arena.i32(T),
    order: arena.i32(T),
    /** Tasks that have no owner yet, ascending. */
    rest: arena.i32(T),
    /** Tasks that nobody held, or that were taken from who held them, each once; all that move are among them. */
    loose: arena.i32(T),
    few: arena.i32(T),
    /** The process that is to run the task, before one of its members is chosen. */
    taskProc: arena.i32(T),
    /** Tasks, or places of standbys, by process. */
    entry: arena.i32(T * Math.max(1, R)),
    fewSorted: arena.i32(T),

    // The problem, by member, process and candidate.
    procOf: arena.i32(M),
    procStart: arena.i32(P + 1),
    procMember: arena.i32(M),
    /** Where a member is among those of its process. */
    placeInProcess: arena.i32(M),
    /** How many members a process has. */
    procCapacity: arena.i32(P),
    /** Index of the process's value of the key among the values of that key; -1 missing. Row = process. */
    tagValue: arena.i32(P * K),
    /** Group of the processes with the same tags. */
    tagGroup: arena.i32(P),
    /** By rank, best first (section 4). */
    candMember: arena.i32(C),
    heldStart: arena.i32(M + 1),
    /** How many of a member's actives are stateful. */
    heldStateful: arena.i32(M),
    /** Candidates by member, each list ascending: in `candTask` first all tasks that members hold copies of... */
    copyStart: arena.i32(M + 1),
    /** ...then all that they only have on disk. */
    diskStart: arena.i32(M + 1),
    candTask: arena.i32(C),

    // Results, by member.
    activeStart: arena.i32(M + 1),
    standbyStart: arena.i32(M + 1),

    // Scratch.
    entryStart: arena.i32(P + 1),
    count: arena.i32(M),
    planned: arena.i32(M),
    procNext: arena.i32(P),
    procLevel: arena.i32(P),
    procEnd: arena.i32(P),
    procOutside: arena.i32(P),
    procWindow: arena.i32(M),
    procCount: arena.i32(P),
    procActive: arena.i32(P),
    procFirst: arena.i32(P),
    procCursor: arena.i32(P),
    procHeld: arena.i32(P),
    procOver: arena.i32(P),
    procPull: arena.i32(P),
    procStateless: arena.i32(P),
    procGroup: arena.i32(P),
    procOrder: arena.i32(P),
    binItem: arena.i32(P),
    binLow: arena.i32(P),
    binBehind: arena.i32(P),
    binSpare: arena.i32(P),
    /** Processes that a pass wants to pass over, each marked with what it is passed over for. */
    marks: arena.i32(P),
    /** For counting sorts of processes by anything that is counted. */
    buckets: arena.i32(T + M + P + 2),
    groupBest: arena.i32(P),
    groupRoom: arena.i32(P),
    /** Processes that hold the task at hand. */
    holders: arena.i32(R + 1),

    binDropped: arena.u8(P),
    binIsBehind: arena.u8(P),
    /** 1 = has a member that lacks tasks. */
    procLacks: arena.u8(P),
    /** 1 = holds no stateful active; see `findReturnedProcesses`. */
    procReturned: arena.u8(P),

    /** Results: why a task, by its number and beside `standbyTask`, is new where it is; 0 = it is not. See explain.ts. */
    activeReason: arena.u8(T),
    standbyReason: arena.u8(T * R),

    /** 1 = has a changelog. */
    stateful: arena.u8(S),
    /** 1 = stale topology epoch: keeps, but gets nothing new (2.1). */
    frozen: arena.u8(M),
    /** Lag within the bound, judged by the exact sums. */
    candCaughtUp: arena.u8(C),
    candRole: arena.u8(C),
    buffer: arena.buffer,
  };
}

/** A problem, its result and the scratch of its run, as views into one shared buffer (section 9.2). */
export type Dense = ReturnType<typeof layOut>;

/** Bytes a problem of this size needs. */
export function denseBytes(size: DenseSizes): number {
  const arena = new Arena();
  layOut(size, NO_FACTS, arena);
  return arena.bytes;
}

const NO_FACTS: DenseFacts = { algorithm: 0, held: 0, copies: 0, stale: 0 };

/** Makes a buffer hold a problem of this size; the arrays still contain whatever was there. */
export function createDense(buffer: SharedArrayBuffer, size: DenseSizes, facts: DenseFacts): Dense {
  const header = new Int32Array(buffer, 0, HEADER_WORDS);
  header.set([MAGIC, ...SIZES.map((name) => size[name]), ...FACTS.map((name) => facts[name])]);
  return openDense(buffer);
}

/** Opens a buffer that {@link createDense} made, in any thread. Refuses one that it did not make. */
export function openDense(buffer: SharedArrayBuffer): Dense {
  const [magic, ...words] = new Int32Array(buffer, 0, HEADER_WORDS);
  if (magic !== MAGIC)
    throw new Error(`Cannot open assignment buffer: magic ${magic}, wanted ${MAGIC}`);
  const size = named(SIZES, words);
  const facts = named(FACTS, words.slice(SIZES.length));
  return layOut(size, facts, new Arena(buffer));
}

function named<K extends string>(names: readonly K[], words: readonly number[]): Record<K, number> {
  return Object.fromEntries(names.map((name, i) => [name, words[i]])) as Record<K, number>;
}

/** The number at an index that is known to be inside. */
export function at(values: Int32Array, index: number): number {
  return values[index] as number;
}

/** Whether the flag at an index that is known to be inside is set. */
export function isSet(flags: Uint8Array, index: number): boolean {
  return flags[index] === 1;
}
