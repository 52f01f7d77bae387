import fc from 'fast-check';
import type { RefinerInput } from '../../machines/decide/refine/refine.ts';
import type { RefinerMember } from '../../machines/model/survey.ts';
import type { Role, TaskOffset, TasksByRole } from '../../machines/model/tasks.ts';
import { listOf } from './keeping-assignor.ts';

/** By member. */
export const PROCESSES = ['pA', 'pA', 'pB', 'pB', 'pC', 'pD'];
/** How many stateful tasks there are. */
export const STATEFUL = 7;
export const LAG = 100n;

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

/** A state of a group in short. */
export const start = fc.record({
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
export type Start = typeof start extends fc.Arbitrary<infer T> ? T : never;

/** A sound state: a task is active once at most and wanted active once exactly, a process has one copy of it. */
export function inputOf({ tasks, versions, warmupsMax }: Start): RefinerInput {
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
