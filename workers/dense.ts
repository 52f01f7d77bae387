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

/** Why a member is a candidate for a task. */
export const CANDIDATE = { standby: 0, warmup: 1, disk: 2, secondActive: 3 } as const;

const MAGIC = 0x48474131;
const HEADER = [
  'magic',
  'subtopologies',
  'tasks',
  'members',
  'processes',
  'replicas',
  'slots',
  'tagKeys',
  'tagGroups',
  'candidates',
] as const;
/** Int32 words; an even number, so that the doubles behind it are aligned. */
const HEADER_WORDS = 16;

type Kinds = { readonly f64: Float64Array; readonly i32: Int32Array; readonly u8: Uint8Array };

/**
 * Every array of a problem, in the order it lies in the buffer: widest first, so that all are aligned.
 * Tasks are numbered by (subtopology id, partition), members and processes by id, all in code-unit order.
 * `xStart` and `x` together are lists by row: row i is `x[xStart[i]]` up to `x[xStart[i + 1]]`.
 */
function arraysOf(size: DenseSizes) {
  const {
    subtopologies: S,
    tasks: T,
    members: M,
    processes: P,
    slots: R,
    tagKeys: K,
    candidates: C,
  } = size;
  return {
    /** Offset sum, rounded above 2^53: -1 unknown, Infinity not started. The order of the list is the exact one. */
    candOffset: ['f64', C],
    /** First task of each subtopology. */
    base: ['i32', S + 1],
    subtopologyOf: ['i32', T],
    procOf: ['i32', M],
    procStart: ['i32', P + 1],
    procMember: ['i32', M],
    /** Index of the process's value of the key among the values of that key; -1 missing. Row = process. */
    tagValue: ['i32', P * K],
    /** Group of the processes with the same tags. */
    tagGroup: ['i32', P],
    /** The member that holds the task as active, or -1. */
    prevActive: ['i32', T],
    candStart: ['i32', T + 1],
    /** By rank, best first (section 4). */
    candMember: ['i32', C],

    // Results.
    /** Member or -1. */
    active: ['i32', T],
    /** `slots` members per task, the rest -1. */
    standby: ['i32', T * R],
    activeStart: ['i32', M + 1],
    activeTask: ['i32', T],
    standbyStart: ['i32', M + 1],
    standbyTask: ['i32', T * R],

    // Scratch of a run; dirty at its start.
    standbyCount: ['i32', T],
    order: ['i32', T],
    cursor: ['i32', T + 1],
    count: ['i32', M],
    procCount: ['i32', P],
    procCapacity: ['i32', P],
    procStateless: ['i32', P],
    memberGroup: ['i32', M],
    procGroup: ['i32', P],
    procOrder: ['i32', P],
    groupBest: ['i32', P],
    /** Processes that hold the task at hand. */
    holders: ['i32', R + 1],

    /** 1 = has a changelog. */
    stateful: ['u8', S],
    /** 1 = stale topology epoch: keeps, but gets nothing new (2.1). */
    frozen: ['u8', M],
    /** Lag within the bound, judged by the exact sums. */
    candCaughtUp: ['u8', C],
    candRole: ['u8', C],
  } as const satisfies Record<string, readonly [keyof Kinds, number]>;
}

type Arrays = ReturnType<typeof arraysOf>;
type Views = { readonly [Name in keyof Arrays]: Kinds[Arrays[Name][0]] };

/** A problem, its result and the scratch of its run, as views into one shared buffer (section 9.2). */
export type Dense = Views & { readonly size: DenseSizes; readonly buffer: SharedArrayBuffer };

/** Bytes a problem of this size needs. */
export function denseBytes(size: DenseSizes): number {
  let bytes = HEADER_WORDS * 4;
  for (const [kind, length] of Object.values(arraysOf(size))) bytes += length * WIDTH[kind];
  return bytes;
}

/** Makes a buffer hold a problem of this size; the arrays still contain whatever was there. */
export function createDense(buffer: SharedArrayBuffer, size: DenseSizes): Dense {
  const header = new Int32Array(buffer, 0, HEADER_WORDS);
  const words = { magic: MAGIC, ...size };
  HEADER.forEach((name, word) => {
    header[word] = words[name];
  });
  return viewDense(buffer, size);
}

/** Opens a buffer that {@link createDense} made, in any thread. Refuses one that it did not make. */
export function openDense(buffer: SharedArrayBuffer): Dense {
  const header = new Int32Array(buffer, 0, HEADER_WORDS);
  const words = HEADER.map((name, word) => [name, at(header, word)] as const);
  const { magic, ...size } = Object.fromEntries(words) as Record<(typeof HEADER)[number], number>;
  if (magic !== MAGIC)
    throw new Error(`Cannot open assignment buffer: magic ${magic}, wanted ${MAGIC}`);
  return viewDense(buffer, size);
}

const WIDTH = { f64: 8, i32: 4, u8: 1 } as const;

function viewDense(buffer: SharedArrayBuffer, size: DenseSizes): Dense {
  let offset = HEADER_WORDS * 4;
  const views: Record<string, Kinds[keyof Kinds]> = {};
  for (const [name, [kind, length]] of Object.entries(arraysOf(size))) {
    if (kind === 'f64') views[name] = new Float64Array(buffer, offset, length);
    else if (kind === 'i32') views[name] = new Int32Array(buffer, offset, length);
    else views[name] = new Uint8Array(buffer, offset, length);
    offset += length * WIDTH[kind];
  }
  return { ...(views as Views), size, buffer };
}

/** The number at an index that is known to be inside. */
export function at(values: Int32Array, index: number): number {
  return values[index] as number;
}

/** Whether the flag at an index that is known to be inside is set. */
export function isSet(flags: Uint8Array, index: number): boolean {
  return flags[index] === 1;
}
