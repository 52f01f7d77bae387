import { expect } from 'chai';
import fc from 'fast-check';
import type { RefinerMember } from '../../machines/decide/refine/mover.ts';
import type { RefinerInput } from '../../machines/decide/refine/refine.ts';
import { makesDifference } from '../../machines/decide/refine/watched.ts';
import type { Refinement } from '../../machines/model/refinement.ts';
import { forEachTask, sameTasksByRole, taskKey } from '../../machines/model/task-list.ts';
import type { Role, TaskOffset, TasksByRole } from '../../machines/model/tasks.ts';
import { listOf } from '../support/keeping-assignor.ts';
import { refineSoundly } from '../support/refiner.ts';
import { checkRefinement } from '../support/refiner-laws.ts';

const PROCESSES = ['pA', 'pA', 'pB', 'pB', 'pC', 'pD'];
const STATEFUL = 7;
const LAG = 100n;

/** Per task and process: what it has now, what the target gives it, which of its members; and what it reports. */
const spot = fc.record({
  now: fc.constantFrom<Role | undefined>(undefined, undefined, 'active', 'standby', 'warmup'),
  next: fc.constantFrom<Role | undefined>(undefined, undefined, 'active', 'standby'),
  member: fc.nat({ max: 1 }),
  nextMember: fc.nat({ max: 1 }),
  lag: fc.constantFrom<bigint | 'none' | 'noEnd' | 'notStarted'>(
    'none',
    'none',
    'noEnd',
    'notStarted',
    -1n,
    0n,
    LAG,
    LAG + 1n,
    5000n,
  ),
});
type Spot = typeof spot extends fc.Arbitrary<infer T> ? T : never;

const start = fc.record({
  tasks: fc.array(fc.tuple(spot, spot, spot, spot), { minLength: 1, maxLength: STATEFUL }),
  versions: fc.array(
    fc.constantFrom<RefinerMember['reportsCopies']>('yes', 'yes', 'yes', 'no', 'unknown'),
    {
      minLength: PROCESSES.length,
      maxLength: PROCESSES.length,
    },
  ),
  warmupsMax: fc.integer({ min: 1, max: 4 }),
});
type Start = typeof start extends fc.Arbitrary<infer T> ? T : never;

/** A sound state: a task is active once at most and wanted active once exactly, a process has one copy of it. */
function inputOf({ tasks, versions, warmupsMax }: Start): RefinerInput {
  const empty = () => ({ active: [], standby: [], warmup: [] }) as Record<Role, Task[]>;
  const members = PROCESSES.map(() => ({
    now: empty(),
    next: empty(),
    offsets: [] as TaskOffset[],
    ends: [] as TaskOffset[],
  }));
  tasks.forEach((spots, partition) => {
    const holder = spots.findIndex(({ now }) => now === 'active');
    const owner = Math.max(
      0,
      spots.findIndex(({ next }) => next === 'active'),
    );
    spots.forEach((each, process) => {
      const task = { subtopologyId: '0', partition };
      const at = memberAt(process, each.member);
      const now = each.now === 'active' && process !== holder ? undefined : each.now;
      if (now !== undefined) members[at]?.now[now].push(task);
      const nextAt = memberAt(process, each.nextMember);
      if (process === owner) members[nextAt]?.next.active.push(task);
      else if (each.next === 'standby') members[nextAt]?.next.standby.push(task);
      report(each, task, members[at]);
    });
  });
  return {
    subtopologies: [
      { subtopologyId: '0', taskCount: STATEFUL, stateful: true },
      { subtopologyId: '1', taskCount: 2, stateful: false },
    ],
    members: members.map(({ now, next, offsets, ends }, at) => ({
      memberId: `m${at}`,
      processId: PROCESSES[at] ?? '',
      assigned: rolesOf(now),
      revokedWarmups: [],
      target: rolesOf(next),
      taskOffsets: offsets,
      taskEndOffsets: ends,
      reportedAtMs: 0,
      reportsCopies: versions[at] ?? 'yes',
    })),
    isPart: false,
    warmupsMax,
    acceptableRecoveryLag: LAG,
    waits: new Map(),
    nowMs: 0,
    waitMaxMs: 600_000,
    silenceMs: 65_000,
  };
}

type Task = { readonly subtopologyId: string; readonly partition: number };

/** Processes pA and pB have two members. */
function memberAt(process: number, which: number): number {
  return process < 2 ? 2 * process + which : process + 2;
}

function rolesOf(tasks: Record<Role, Task[]>): TasksByRole {
  return {
    active: listOf(tasks.active),
    standby: listOf(tasks.standby),
    warmup: listOf(tasks.warmup),
  };
}

function report(
  { lag }: Spot,
  task: Task,
  to: { readonly offsets: TaskOffset[]; readonly ends: TaskOffset[] } | undefined,
): void {
  if (to === undefined || lag === 'none') return;
  const end = 10_000n;
  const offset = typeof lag === 'bigint' ? end - lag : lag === 'noEnd' ? 7n : 2n ** 63n - 1n;
  to.offsets.push({ ...task, offset });
  if (lag !== 'noEnd') to.ends.push({ ...task, offset: end });
}

/** The members when all of them have reconciled to a refinement, with the lag each copy then has. */
function reconciled(
  { members }: RefinerInput,
  { slices }: Refinement,
  lagOf: (member: RefinerMember, key: string) => bigint | undefined,
): readonly RefinerMember[] {
  return members.map((member) => {
    const assigned = slices.get(member.memberId) ?? member.target;
    const taskOffsets: TaskOffset[] = [];
    const taskEndOffsets: TaskOffset[] = [];
    for (const role of ['standby', 'warmup'] as const) {
      forEachTask(assigned[role], (subtopologyId, partition) => {
        const lag = lagOf(member, taskKey(subtopologyId, partition));
        if (lag === undefined) return;
        taskOffsets.push({ subtopologyId, partition, offset: 10_000n - lag });
        taskEndOffsets.push({ subtopologyId, partition, offset: 10_000n });
      });
    }
    return { ...member, assigned, taskOffsets, taskEndOffsets, reportsCopies: 'yes' };
  });
}

/** Refines and reconciles until nothing changes; every step is held to the laws. @returns how many steps that took. */
function run(
  from: RefinerInput,
  lagOf: (round: number, key: string) => bigint | undefined,
  stepMs: number,
): number {
  const holders = new Map<string, string[]>();
  let input = from;
  for (let round = 1; round <= 100; round++) {
    const refinement = refineSoundly(input);
    checkRefinement(input, refinement);
    const members = reconciled(input, refinement, (_, key) => lagOf(round, key));
    noteHolders(holders, members);
    const isHome = members.every(({ assigned, target }) => sameTasksByRole(assigned, target));
    if (isHome) {
      for (const [key, past] of holders) {
        expect(new Set(past).size, `${key} never goes back: ${past}`).to.equal(past.length);
        expect(past.length, `${key} moves twice at most: ${past}`).to.be.at.most(3);
      }
      return round;
    }
    input = { ...input, members, waits: refinement.waits, nowMs: input.nowMs + stepMs };
  }
  throw new Error('The target is not reached in 100 steps');
}

function noteHolders(holders: Map<string, string[]>, members: readonly RefinerMember[]): void {
  for (const { memberId, assigned } of members) {
    forEachTask(assigned.active, (subtopologyId, partition) => {
      const key = taskKey(subtopologyId, partition);
      const past = holders.get(key) ?? [];
      if (past.at(-1) !== memberId) past.push(memberId);
      holders.set(key, past);
    });
  }
}

describe('refine(): laws', () => {
  it('holds H9 to H19 in any sound state', () => {
    fc.assert(
      fc.property(start, (given) => {
        const input = inputOf(given);
        checkRefinement(input, refineSoundly(input));
      }),
      { numRuns: 500 },
    );
  });

  it('gives the same whatever the order of reports, and twice', () => {
    fc.assert(
      fc.property(start, (given) => {
        const input = inputOf(given);
        const members = input.members.map((member) => ({
          ...member,
          taskOffsets: member.taskOffsets.toReversed(),
          taskEndOffsets: member.taskEndOffsets.toReversed(),
        }));
        const refinement = refineSoundly(input);
        expect(refineSoundly(input)).to.deep.equal(refinement);
        expect(refineSoundly({ ...input, members })).to.deep.equal(refinement);
      }),
      { numRuns: 100 },
    );
  });

  it('gives the same whatever a member reports that makes no difference (WU-2)', () => {
    let unwatched = 0;
    const reports = fc.uniqueArray(
      fc.record({
        subtopologyId: fc.constant('0'),
        partition: fc.nat({ max: STATEFUL - 1 }),
        offset: fc.constantFrom(0n, 9_950n, 10_000n, 2n ** 63n - 1n),
      }),
      { selector: ({ partition }) => partition, maxLength: 3 },
    );
    const which = fc.nat({ max: PROCESSES.length - 1 });
    fc.assert(
      fc.property(start, which, reports, reports, (given, at, taskOffsets, taskEndOffsets) => {
        // Without tasks that nobody has nor is to have, which are watched too.
        const taskCount = given.tasks.length;
        const subtopologies = [{ subtopologyId: '0', taskCount, stateful: true }];
        const input = { ...inputOf(given), subtopologies };
        const before = input.members[at];
        if (before === undefined) throw new Error('There are as many members as processes');
        const after = { ...before, taskOffsets, taskEndOffsets, reportedAtMs: 5_000 };
        const refinement = refineSoundly(input);
        if (makesDifference(refinement.watched, before, after, LAG)) return;
        unwatched++;
        expect(refineSoundly({ ...input, members: input.members.with(at, after) })).to.deep.equal(
          refinement,
        );
      }),
      { numRuns: 1_000 },
    );
    expect(unwatched).to.be.greaterThan(100);
  });

  it('reaches the target in as many steps as the budget asks for when copies catch up, and no task goes back', () => {
    fc.assert(
      fc.property(start, (given) => {
        const input = inputOf(given);
        const steps = run(input, () => 0n, 1000);
        // Per round of warm-ups one step to plant and one to grant; one more for what was unheard of.
        const rounds = Math.ceil(given.tasks.length / given.warmupsMax);
        expect(steps).to.be.at.most(2 * rounds + 3);
      }),
      { numRuns: 300 },
    );
  });

  it('reaches the target whatever lags are reported, and no task goes back', () => {
    const lags = fc.array(fc.option(fc.bigInt({ min: -1n, max: 300n }), { nil: undefined }), {
      minLength: 20,
      maxLength: 20,
    });
    fc.assert(
      fc.property(start, lags, (given, some) => {
        const lagOf = (round: number, key: string) =>
          some[(round * 7 + key.charCodeAt(key.length - 1)) % some.length];
        run(inputOf(given), lagOf, 200_000);
      }),
      { numRuns: 300 },
    );
  });

  it('reaches the target when nothing is ever reported, because waits end', () => {
    fc.assert(
      fc.property(start, (given) => {
        run(inputOf(given), () => undefined, 200_000);
      }),
      { numRuns: 150 },
    );
  });
});
