import { expect } from 'chai';
import fc from 'fast-check';
import { findMoves, type Way } from '../../machines/decide/moves.ts';
import type { TargetChange } from '../../machines/model/look-back.ts';
import { taskKey, toTaskList } from '../../machines/model/task-list.ts';
import type { TaskList, TasksByRole } from '../../machines/model/tasks.ts';
import { NO_TASKS_BY_ROLE } from '../../machines/model/tasks.ts';
import { toEnd } from '../support/to-end.ts';

const MEMBERS = ['A', 'B', 'C', 'D'];
const TASKS = ['0', '1'].flatMap((subtopologyId) =>
  [0, 1, 2].map((partition) => ({ subtopologyId, partitions: [partition] })),
);

/** Who is to have each task: one member or nobody as active, any others as standby. */
const target = fc.array(
  fc.record({
    active: fc.option(fc.constantFrom(...MEMBERS), { nil: undefined }),
    standby: fc.subarray(MEMBERS),
  }),
  { minLength: TASKS.length, maxLength: TASKS.length },
);

type Target = readonly {
  readonly active: string | undefined;
  readonly standby: readonly string[];
}[];

function targetOf(memberId: string, owners: Target): TasksByRole {
  const tasksWhere = (has: (owner: Target[number]) => boolean): TaskList =>
    toTaskList(TASKS.filter((_, t) => has(owners[t] ?? { active: undefined, standby: [] })));
  return {
    active: tasksWhere(({ active }) => active === memberId),
    standby: tasksWhere(({ standby }) => standby.includes(memberId)),
    warmup: [],
  };
}

function changesOf(before: Target, after: Target): TargetChange[] {
  return MEMBERS.map((memberId) => ({
    memberId,
    before: targetOf(memberId, before),
    after: targetOf(memberId, after),
  }));
}

/** `active 0_1 A B`, for each task. */
function linesOf(ways: readonly Way[]): string[] {
  return ways.flatMap(({ role, from, to, tasks }) =>
    tasks.flatMap(({ subtopologyId, partitions }) =>
      partitions.map((partition) => `${role} ${taskKey(subtopologyId, partition)} ${from} ${to}`),
    ),
  );
}

function expectedMoves(before: Target, after: Target): string[] {
  return TASKS.flatMap(({ subtopologyId, partitions: [partition = 0] }, t) => {
    const task = taskKey(subtopologyId, partition);
    const was = before[t];
    const is = after[t];
    return [
      ...(was?.active === is?.active ? [] : [`active ${task} ${was?.active} ${is?.active}`]),
      ...pairs(
        (was?.standby ?? []).filter((memberId) => is?.standby.includes(memberId) !== true),
        (is?.standby ?? []).filter((memberId) => was?.standby.includes(memberId) !== true),
      ).map(([from, to]) => `standby ${task} ${from} ${to}`),
    ];
  });
}

function pairs(taken: readonly string[], given: readonly string[]) {
  const count = Math.max(taken.length, given.length);
  return Array.from({ length: count }, (_, at) => [taken[at], given[at]] as const);
}

const all = { ways: Number.POSITIVE_INFINITY, tasks: 0 };
const nothing = () => () => undefined;

describe('findMoves()', () => {
  it('finds each task that moves once, and nothing else', () => {
    fc.assert(
      fc.property(target, target, (before, after) => {
        const found = findMoves(changesOf(before, after), nothing, all);
        const { ways, taskCount } = toEnd(found).result;
        const lines = linesOf(ways);
        expect(lines.sort()).to.deep.equal(expectedMoves(before, after).sort());
        expect(taskCount).to.equal(lines.length);
        // One way for all tasks that go it.
        const names = ways.map(({ role, from, to }) => `${role} ${from} ${to}`);
        expect(new Set(names).size).to.equal(names.length);
      }),
    );
  });

  it('stops after every hundred changes, so that others have their turn', () => {
    const changes = Array.from({ length: 250 }, (_, nth) => ({
      memberId: `m${nth}`,
      before: NO_TASKS_BY_ROLE,
      after: { ...NO_TASKS_BY_ROLE, active: [{ subtopologyId: '0', partitions: [nth] }] },
    }));
    const { result, stops } = toEnd(findMoves(changes, nothing, { ways: 1, tasks: 1 }));
    expect(result.taskCount).to.equal(250);
    // Six walks through the changes.
    expect(stops).to.equal(6 * 2);
  });

  it('stops telling when there is enough, at the end of a member, and counts on', () => {
    fc.assert(
      fc.property(target, target, fc.nat(6), fc.nat(8), (before, after, ways, tasks) => {
        const changes = changesOf(before, after);
        const whole = toEnd(findMoves(changes, nothing, all)).result;
        const part = toEnd(findMoves(changes, nothing, { ways, tasks })).result;
        expect(part.taskCount).to.equal(whole.taskCount);
        expect(part.ways).to.deep.equal(whole.ways.slice(0, part.ways.length));
        if (part.ways.length < whole.ways.length) {
          expect(part.ways.length).to.be.at.least(ways);
          expect(linesOf(part.ways).length).to.be.at.least(tasks);
        }
      }),
    );
  });

  it('parts the tasks of a way by reason, and asks for none that is not told', () => {
    const owners = TASKS.map((_, t) => ({ active: t === 5 ? 'B' : 'A', standby: [] }));
    const changes = changesOf([], owners);
    const even = { leaving: 'unheard', landing: 'belowShare' } as const;
    const odd = { leaving: 'unowned', landing: 'onDisk' } as const;
    const asked: string[] = [];
    const found = findMoves(
      changes,
      (memberId, role, subtopologyId) => {
        asked.push(`${role} ${subtopologyId} ${memberId}`);
        return (partition) => (partition % 2 === 0 ? even : odd);
      },
      { ways: 1, tasks: 1 },
    );
    const { ways } = toEnd(found).result;
    const toA = { role: 'active', from: undefined, to: 'A' };
    expect(ways).to.deep.equal([
      {
        ...toA,
        why: even,
        tasks: [
          { subtopologyId: '0', partitions: [0, 2] },
          { subtopologyId: '1', partitions: [0] },
        ],
      },
      {
        ...toA,
        why: odd,
        tasks: [
          { subtopologyId: '0', partitions: [1] },
          { subtopologyId: '1', partitions: [1] },
        ],
      },
    ]);
    expect(asked).to.deep.equal(['active 0 A', 'active 1 A']);
  });
});
