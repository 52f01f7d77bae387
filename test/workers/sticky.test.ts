import { expect } from 'chai';
import type { AssignmentMember } from '../../machines/model/assignment.ts';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import {
  assignDirectly,
  holdResult,
  assignmentMember as member,
  assignmentProblem as problem,
  tasks,
} from '../support/assignment.ts';

const stateful = (subtopologyId: string, taskCount: number) => ({
  subtopologyId,
  taskCount,
  stateful: true,
});
const stateless = (subtopologyId: string, taskCount: number) => ({
  subtopologyId,
  taskCount,
  stateful: false,
});
const offset = (subtopologyId: string, partition: number, value: bigint): TaskOffset => ({
  subtopologyId,
  partition,
  offset: value,
});
const only = (bySubtopology: Record<string, number[]>) => ({
  active: tasks(bySubtopology),
  standby: [],
});
const NOTHING = { active: [], standby: [] };
const NOT_STARTED = 2n ** 63n - 1n;

/** Members a, b, … each of a process of its own: A, B, …. */
function alone(...overrides: readonly Partial<AssignmentMember>[]): AssignmentMember[] {
  return overrides.map((each, i) => {
    const memberId = String.fromCharCode(97 + i);
    return member(memberId, { processId: memberId.toUpperCase(), ...each });
  });
}

describe('assignSticky(), assignors section 7', () => {
  it('gives every member an empty list when there are no tasks', () => {
    const members = alone({}, {});
    expect(assignDirectly(problem({ members }))).to.deep.equal({
      members: [NOTHING, NOTHING],
      unassigned: [],
    });
    expect(assignDirectly(problem({ members, subtopologies: [stateful('0', 0)] }))).to.deep.equal({
      members: [NOTHING, NOTHING],
      unassigned: [],
    });
  });

  it('refuses tasks without members', () => {
    expect(() => assignDirectly(problem({ subtopologies: [stateful('0', 1)] }))).to.throw(
      '{"status":"noProcess"}',
    );
  });

  it('gives one task each when there are more members than tasks, and holders keep theirs', () => {
    const members = alone({}, { active: tasks({ '0': [1] }) }, {}, { active: tasks({ '0': [0] }) });
    const result = assignDirectly(problem({ members, subtopologies: [stateful('0', 2)] }));
    expect(result.members).to.deep.equal([
      NOTHING,
      only({ '0': [1] }),
      NOTHING,
      only({ '0': [0] }),
    ]);
  });

  it('takes the first of equal processes (assignors 8)', () => {
    const members = alone({ active: tasks({ '0': [1] }) }, {}, {});
    const asked = problem({ subtopologies: [stateless('0', 2)], members });
    const held = only({ '0': [1] });
    expect(assignDirectly(asked).members).to.deep.equal([held, only({ '0': [0] }), NOTHING]);
  });

  it('gives no standby in a group of one process (H5)', () => {
    const members = [member('a'), member('b')];
    const result = assignDirectly(
      problem({ members, subtopologies: [stateful('0', 2)], numStandbyReplicas: 1 }),
    );
    expect(result.members).to.deep.equal([only({ '0': [0] }), only({ '0': [1] })]);
  });

  it('puts a copy on every process when there are too few, also a tiny one (H5)', () => {
    const members = [
      member('a1', { processId: 'A' }),
      member('a2', { processId: 'A' }),
      member('a3', { processId: 'A' }),
      member('b', { processId: 'B' }),
    ];
    const result = assignDirectly(
      problem({ members, subtopologies: [stateful('0', 4)], numStandbyReplicas: 2 }),
    );
    expect(result.members).to.deep.equal([
      { active: tasks({ '0': [0] }), standby: tasks({ '0': [1] }) },
      only({ '0': [2] }),
      only({ '0': [3] }),
      { active: tasks({ '0': [1] }), standby: tasks({ '0': [0, 2, 3] }) },
    ]);
  });

  it('gives a process of 64 members 64 times the tasks of a process of one', () => {
    const members = [
      ...Array.from({ length: 64 }, (_, i) => member(`big${i}`, { processId: 'big' })),
      member('small', { processId: 'small' }),
    ];
    const result = assignDirectly(problem({ members, subtopologies: [stateful('0', 650)] }));
    const counts = result.members.map(({ active }) => active[0]?.partitions.length);
    expect(counts).to.deep.equal(Array(65).fill(10));
  });

  it('lets the smaller member id keep an active that two claim, the other is a candidate', () => {
    const both = { active: tasks({ '0': [0], '1': [0] }) };
    // 1_0 is above the share of a; b is a candidate for it, c has less to do.
    const result = assignDirectly(
      problem({
        members: alone(both, { ...both, processId: 'Z' }, {}),
        subtopologies: [stateful('0', 1), stateful('1', 1)],
      }),
    );
    expect(result.members).to.deep.equal([only({ '0': [0] }), only({ '1': [0] }), NOTHING]);
  });

  it('ignores what is held of tasks that are gone', () => {
    const members = alone({
      active: tasks({ '0': [0, 7], gone: [0] }),
      standby: tasks({ gone: [1] }),
      warmup: tasks({ '0': [9] }),
      taskOffsets: [offset('gone', 0, 5n), offset('0', 7, 5n), offset('0', -1, 5n)],
    });
    const result = assignDirectly(problem({ members, subtopologies: [stateful('0', 1)] }));
    expect(result).to.deep.equal({ members: [only({ '0': [0] })], unassigned: [] });
  });

  it('places tasks of grown and of new subtopologies, and moves nothing for them', () => {
    const members = alone({ active: tasks({ '0': [0] }) }, { active: tasks({ '0': [1] }) });
    const result = assignDirectly(
      problem({ members, subtopologies: [stateful('0', 3), stateful('1', 1)] }),
    );
    expect(result.members).to.deep.equal([only({ '0': [0, 2] }), only({ '0': [1], '1': [0] })]);
  });

  it('forgets standbys and offsets of a subtopology that became stateless', () => {
    const members = alone(
      { active: tasks({ '0': [0] }) },
      { standby: tasks({ '0': [0] }), taskOffsets: [offset('0', 1, 5n)] },
      { taskOffsets: [offset('0', 1, 9n)] },
    );
    const result = assignDirectly(
      problem({ members, subtopologies: [stateless('0', 2)], numStandbyReplicas: 1 }),
    );
    expect(result.members).to.deep.equal([only({ '0': [0] }), only({ '0': [1] }), NOTHING]);
  });

  it('prefers who holds a copy now, then the larger sum, "not started" last, then the member id', () => {
    const give = (...reports: readonly Partial<AssignmentMember>[]) => {
      const result = assignDirectly(
        problem({ members: alone(...reports), subtopologies: [stateful('0', 1)] }),
      );
      return result.members.findIndex(({ active }) => active.length > 0);
    };
    const reports = (value: bigint) => ({ taskOffsets: [offset('0', 0, value)] });
    expect(give({}, {}), 'nobody').to.equal(0);
    expect(give({}, reports(5n)), 'who reports').to.equal(1);
    expect(give(reports(5n), { standby: tasks({ '0': [0] }) }), 'who holds').to.equal(1);
    expect(give(reports(5n), { warmup: tasks({ '0': [0] }) }), 'who warms up').to.equal(1);
    expect(give(reports(5n), reports(6n)), 'larger sum').to.equal(1);
    expect(give(reports(NOT_STARTED), reports(1n)), 'not started').to.equal(1);
    expect(give(reports(2n ** 60n), reports(2n ** 60n + 1n)), 'exact above 2^53').to.equal(1);
    expect(give({}, reports(0n), reports(NOT_STARTED)), 'equal').to.equal(1);
    expect(
      give(
        { warmup: tasks({ '0': [0] }), ...reports(1000n) },
        { standby: tasks({ '0': [0] }), ...reports(9990n) },
      ),
      'most caught up (S15)',
    ).to.equal(1);
  });

  it('orders ids by code units: subtopology "10" before "2", members and processes too', () => {
    const members = [
      member('z', { processId: 'P\u{1f600}' }),
      // U+FF5E is after U+1F600 by code point, and also after its first code unit D83D.
      member('é', { processId: 'P\uff5e' }),
    ];
    const result = assignDirectly(
      problem({ members, subtopologies: [stateful('2', 1), stateful('10', 1)] }),
    );
    expect(result.members).to.deep.equal([only({ '10': [0] }), only({ '2': [0] })]);
  });

  it('answers in the order of the problem, sorted or not', () => {
    const [a, b] = alone({ active: tasks({ '0': [1] }) }, { active: tasks({ '0': [0] }) });
    const subtopologies = [stateful('0', 2)];
    const result = assignDirectly(
      problem({ members: [b, a] as AssignmentMember[], subtopologies }),
    );
    expect(result.members).to.deep.equal([only({ '0': [0] }), only({ '0': [1] })]);
  });

  it('refuses a member that is there twice', () => {
    expect(() => assignDirectly(problem({ members: [member('a'), member('a')] }))).to.throw(
      'Cannot gather assignment problem: member "a" is there twice',
    );
  });
});

describe('assignSticky(), scenarios', () => {
  it('gives a newcomer its share and nobody else a thing (S11)', () => {
    const subtopologies = [stateful('0', 450)];
    const first = problem({
      subtopologies,
      members: Array.from({ length: 10 }, (_, i) => member(`a${i}`, { processId: 'A' })),
    });
    const settled = holdResult(first, assignDirectly(first));
    const grown = {
      ...settled,
      members: [
        ...settled.members,
        ...Array.from({ length: 10 }, (_, i) => member(`b${i}`, { processId: 'B' })),
      ],
    };
    const result = assignDirectly(grown);
    const counts = result.members.map(({ active }) => active[0]?.partitions.length ?? 0);
    expect([Math.min(...counts), Math.max(...counts)]).to.deep.equal([22, 23]);
    expect(counts.slice(10).reduce((a, b) => a + b)).to.equal(220);
    expect(assignDirectly(holdResult(grown, result))).to.deep.equal(result);
  });

  it('returns tasks to the processes that have their state on disk (S12)', () => {
    const disk = (...partitions: number[]) => ({
      taskOffsets: partitions.map((p) => offset('0', p, 100n)),
    });
    const two = problem({
      subtopologies: [stateful('0', 4)],
      members: [
        member('b', { processId: 'A', ...disk(0, 1) }),
        member('a', { processId: 'B', ...disk(2, 3) }),
      ],
    });
    expect(assignDirectly(two).members).to.deep.equal([
      only({ '0': [0, 1] }),
      only({ '0': [2, 3] }),
    ]);
    const three = { ...two, members: [...two.members, member('c', { processId: 'C' })] };
    const counts = assignDirectly(three).members.map(({ active }) => active[0]?.partitions.length);
    expect(counts).to.deep.equal([2, 1, 1]);
  });

  it('spreads stateful and stateless tasks alike (S13)', () => {
    const subtopologies = [stateless('0', 4), stateful('1', 4)];
    const result = assignDirectly(problem({ subtopologies, members: alone({}, {}) }));
    expect(result.members).to.deep.equal([
      only({ '0': [0, 2], '1': [0, 2] }),
      only({ '0': [1, 3], '1': [1, 3] }),
    ]);
  });

  it('promotes the standby when the active leaves', () => {
    const result = assignDirectly(
      problem({
        subtopologies: [stateful('0', 3)],
        members: alone(
          { active: tasks({ '0': [0] }) },
          { active: tasks({ '0': [1] }), standby: tasks({ '0': [2] }) },
        ),
      }),
    );
    expect(result.members).to.deep.equal([only({ '0': [0] }), only({ '0': [1, 2] })]);
  });

  it('brings standbys back to a process that restarts with its disk (S14)', () => {
    const start = problem({
      subtopologies: [stateful('0', 6)],
      numStandbyReplicas: 1,
      members: alone({}, {}, {}),
    });
    const settled = holdResult(start, assignDirectly(start));
    const [a, b, c] = settled.members as [AssignmentMember, AssignmentMember, AssignmentMember];
    const reports = [...b.active, ...b.standby].flatMap(({ subtopologyId, partitions }) =>
      partitions.map((partition) => offset(subtopologyId, partition, 50n)),
    );
    const back = member('b2', { processId: 'B', taskOffsets: reports });
    const result = assignDirectly({ ...settled, members: [a, back, c] });
    expect(result.members[1]).to.deep.equal({ active: b.active, standby: b.standby });
  });
});

describe('assignSticky(), stale members (assignors 2.1)', () => {
  const stale = { topologyEpoch: 0 };

  it('lets them keep their share and gives them nothing', () => {
    const result = assignDirectly(
      problem({
        subtopologies: [stateful('0', 6)],
        members: alone({ ...stale, active: tasks({ '0': [0, 1, 2, 3] }) }, stale, {}),
      }),
    );
    expect(result).to.deep.equal({
      members: [only({ '0': [0, 1, 2] }), NOTHING, only({ '0': [3, 4, 5] })],
      unassigned: [],
    });
  });

  it('lets them keep a standby, and promotes none of theirs', () => {
    const result = assignDirectly(
      problem({
        subtopologies: [stateful('0', 2)],
        numStandbyReplicas: 1,
        members: alone(
          { ...stale, standby: tasks({ '0': [0] }), warmup: tasks({ '0': [1] }) },
          {},
          {},
        ),
      }),
    );
    expect(result.members).to.deep.equal([
      { active: [], standby: tasks({ '0': [0] }) },
      { active: tasks({ '0': [0] }), standby: tasks({ '0': [1] }) },
      only({ '0': [1] }),
    ]);
  });

  it('leaves unassigned what nobody may take when all are stale', () => {
    const result = assignDirectly(
      problem({
        subtopologies: [stateful('0', 3)],
        members: alone({ ...stale, active: tasks({ '0': [0, 2] }) }, stale),
      }),
    );
    expect(result).to.deep.equal({
      members: [only({ '0': [0, 2] }), NOTHING],
      unassigned: tasks({ '0': [1] }),
    });
  });

  it('uses only the fresh members of a mixed process', () => {
    const result = assignDirectly(
      problem({
        subtopologies: [stateful('0', 2)],
        members: [member('a', stale), member('b')],
      }),
    );
    expect(result.members).to.deep.equal([NOTHING, only({ '0': [0, 1] })]);
  });
});
