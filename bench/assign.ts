import { fileURLToPath } from 'node:url';
import type { AssignmentMember, AssignmentProblem } from '../machines/model/assignment.ts';
import { findBreach } from '../workers/check.ts';
import { AssignorPool } from '../workers/pool.ts';
import { decodeResult, encodeProblem } from '../workers/problem.ts';
import { SharedBuffers } from '../workers/shared-buffers.ts';
import { assignSticky } from '../workers/sticky.ts';

/** One shape of group to assign. */
type Cell = {
  readonly members: number;
  readonly perProcess: number;
  readonly subtopologies: number;
  readonly partitions: number;
  readonly standbys: number;
  /** One member joins a settled group; otherwise nobody holds anything. */
  readonly incremental: boolean;
};

/** What one cell took, best of its runs, in ms. */
export type AssignFigures = {
  readonly cell: string;
  readonly members: number;
  readonly tasks: number;
  readonly standbys: number;
  /** Objects to dense arrays, on the event loop. */
  readonly encodeMs: number;
  /** The assignor, on its thread. */
  readonly runMs: number;
  /** The result checker, on that thread. */
  readonly checkMs: number;
  /** Dense arrays to lists, on the event loop. */
  readonly decodeMs: number;
  /** All of it through the pool, from asking to having it. */
  readonly endToEndMs: number;
  /** Of the result; the same on every machine. */
  readonly checkValue: string;
  /** How many times longer the reference implementation took than the assignor; only when asked for. */
  readonly referenceTimes?: number;
};

/** An assignor to compare with, such as the tests' reference. */
type OtherAssignor = (problem: AssignmentProblem) => unknown;

const SMALL: readonly Cell[] = [false, true].flatMap((incremental) =>
  [0, 1].map((standbys) => ({
    members: 12,
    perProcess: 2,
    subtopologies: 4,
    partitions: 12,
    standbys,
    incremental,
  })),
);

const LARGE: readonly Cell[] = [1, 50].flatMap((perProcess) =>
  [0, 1, 2].flatMap((standbys) =>
    [false, true].map((incremental) => ({
      members: 1000,
      perProcess,
      subtopologies: 100,
      partitions: 100,
      standbys,
      incremental,
    })),
  ),
);

/**
 * Measures the assignor on the grid of sticky cells (1000 members, 10,000 tasks, half of them stateful, offsets
 * reported), or on a small one.
 *
 * @param options.runs how often each step is run; the best counts.
 */
export async function benchAssign(options: {
  readonly small: boolean;
  readonly runs: number;
  readonly reference?: OtherAssignor;
}): Promise<AssignFigures[]> {
  const pool = new AssignorPool({ threads: 1, queueMax: 1, log: { warn() {} } });
  try {
    const figures: AssignFigures[] = [];
    for (const cell of options.small ? SMALL : LARGE) {
      figures.push(await measure(cell, pool, options));
    }
    return figures;
  } finally {
    await pool.close();
  }
}

async function measure(
  cell: Cell,
  pool: AssignorPool,
  { runs, reference }: { readonly runs: number; readonly reference?: OtherAssignor },
): Promise<AssignFigures> {
  const problem = problemOf(cell);
  const buffers = new SharedBuffers();
  const encode = () => {
    const encoded = encodeProblem(problem, buffers);
    buffers.give(encoded.dense.buffer);
    return encoded;
  };
  const encodeMs = best(runs, encode);
  const encoded = encode();
  const runMs = best(runs, () => assignSticky(encoded.dense));
  const checkMs = best(runs, () => findBreach(encoded.dense));
  const decodeMs = best(runs, () => decodeResult(encoded));
  let endToEndMs = Infinity;
  for (let run = 0; run < runs; run++) {
    const before = performance.now();
    await pool.assign(problem, { deadlineMs: 30_000 });
    endToEndMs = Math.min(endToEndMs, performance.now() - before);
  }
  const referenceMs = reference && best(3, () => reference(problem));
  const { members, perProcess, subtopologies, partitions, standbys, incremental } = cell;
  return {
    cell: `m${members}-k${perProcess}-s${subtopologies}-p${partitions}-r${standbys}-${incremental ? 'incremental' : 'full'}`,
    members,
    tasks: subtopologies * partitions,
    standbys,
    encodeMs,
    runMs,
    checkMs,
    decodeMs,
    endToEndMs,
    checkValue: checkValueOf([encoded.dense.active, encoded.dense.standby]),
    ...(referenceMs !== undefined && { referenceTimes: referenceMs / runMs }),
  };
}

/** Every second subtopology is stateful; each stateful task is reported by one member and, with less, by the next. */
function problemOf(cell: Cell): AssignmentProblem {
  const subtopologies = Array.from({ length: cell.subtopologies }, (_, s) => ({
    subtopologyId: String(s).padStart(3, '0'),
    taskCount: cell.partitions,
    stateful: s % 2 === 0,
  }));
  const present = cell.incremental ? cell.members - 1 : cell.members;
  const members = Array.from({ length: present }, (_, m) => bareMember(m, cell.perProcess));
  const empty: AssignmentProblem = {
    groupId: 'bench',
    assignor: 'sticky',
    topologyEpoch: 1,
    subtopologies,
    members,
    numStandbyReplicas: cell.standbys,
    acceptableRecoveryLag: 10_000n,
    rackAwareAssignmentTags: [],
  };
  if (!cell.incremental) return { ...empty, members: withOffsets(empty) };
  const encoded = encodeProblem(empty, new SharedBuffers());
  assignSticky(encoded.dense);
  const held = decodeResult(encoded).members;
  const holding = members.map((member, m) => ({ ...member, ...held[m] }));
  const newcomer = bareMember(cell.members - 1, cell.perProcess);
  return { ...empty, members: [...withOffsets({ ...empty, members: holding }), newcomer] };
}

function bareMember(m: number, perProcess: number): AssignmentMember {
  return {
    memberId: `member-${String(m).padStart(5, '0')}`,
    instanceId: null,
    rackId: null,
    processId: `process-${String(Math.floor(m / perProcess)).padStart(5, '0')}`,
    clientTags: [],
    topologyEpoch: 1,
    active: [],
    standby: [],
    warmup: [],
    taskOffsets: [],
    taskEndOffsets: [],
  };
}

function withOffsets({ subtopologies, members }: AssignmentProblem): AssignmentMember[] {
  const reports = members.map((): AssignmentMember['taskOffsets'][number][] => []);
  let task = 0;
  for (const { subtopologyId, taskCount, stateful } of subtopologies) {
    if (!stateful) continue;
    for (let partition = 0; partition < taskCount; partition++, task++) {
      for (const [step, sum] of [
        [0, 2_000_000],
        [1, 1_000_000],
      ] as const) {
        const offset = BigInt(sum + task);
        reports[(task + step) % members.length]?.push({ subtopologyId, partition, offset });
      }
    }
  }
  return members.map((member, m) => ({ ...member, taskOffsets: reports[m] ?? [] }));
}

function best(runs: number, step: () => unknown): number {
  let bestMs = Infinity;
  for (let run = 0; run < runs; run++) {
    const before = performance.now();
    step();
    bestMs = Math.min(bestMs, performance.now() - before);
  }
  return bestMs;
}

function checkValueOf(arrays: readonly Int32Array[]): string {
  let hash = 0x811c9dc5;
  for (const array of arrays) {
    for (const value of array) hash = Math.imul(hash ^ value, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

async function main(args: readonly string[]): Promise<void> {
  const small = args.includes('--small');
  // The reference is part of the tests and not of what is installed.
  const reference = args.includes('--reference')
    ? (await import('../test/support/reference-sticky.ts')).referenceSticky
    : undefined;
  const figures = await benchAssign({ small, runs: 200, ...(reference && { reference }) });
  if (args.includes('--json')) {
    for (const each of figures) console.log(JSON.stringify(each));
    return;
  }
  console.log(`node ${process.version}, ${process.arch}; ms, best of 200`);
  console.table(
    Object.fromEntries(
      figures.map(({ cell, members: _, tasks: __, standbys: ___, ...rest }) => [
        cell,
        Object.fromEntries(
          Object.entries(rest).map(([name, value]) => [
            name,
            typeof value === 'number' ? Number(value.toFixed(3)) : value,
          ]),
        ),
      ]),
    ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
