import { expect } from 'chai';
import { findBreach } from '../../workers/check.ts';
import type { Dense } from '../../workers/dense.ts';
import { encodeProblem } from '../../workers/problem.ts';
import { SharedBuffers } from '../../workers/shared-buffers.ts';
import { assignSticky } from '../../workers/sticky.ts';
import { assignmentMember, assignmentProblem, tasks } from '../support/assignment.ts';

/**
 * Members 0 to 5, two per process; tasks 0 to 5 stateless, 6 to 11 stateful. Member m has actives m and 6 + m, and as
 * standby the stateful task of the member two on. `break_` then breaks it.
 */
function breachOf(break_: (dense: Dense) => void, frozenMember?: number): string | undefined {
  const members = ['a', 'b', 'c', 'd', 'e', 'f'].map((memberId, m) =>
    assignmentMember(memberId, {
      processId: `P${m >> 1}`,
      topologyEpoch: m === frozenMember ? 0 : 1,
      active: tasks({ l: [m], s: [m] }),
      standby: tasks({ s: [(m + 2) % 6] }),
    }),
  );
  const subtopologies = [
    { subtopologyId: 'l', taskCount: 6, stateful: false },
    { subtopologyId: 's', taskCount: 6, stateful: true },
  ];
  const problem = assignmentProblem({ members, subtopologies, numStandbyReplicas: 1 });
  const { dense } = encodeProblem(problem, new SharedBuffers());
  assignSticky(dense);
  break_(dense);
  return findBreach(dense);
}

/** Writes per-member lists as they are handed out, and the owners to match. */
function setActives(dense: Dense, lists: readonly (readonly number[])[]): void {
  dense.activeTask.set(lists.flat());
  dense.active.fill(-1);
  lists.forEach((list, m) => {
    dense.activeStart[m + 1] = (dense.activeStart[m] ?? 0) + list.length;
    for (const t of list) dense.active[t] = m;
  });
}

/** As {@link setActives}; a list that does not fit the places is written all the same. */
function setStandbys(dense: Dense, lists: readonly (readonly number[])[]): void {
  dense.standbyTask.set(lists.flat());
  dense.standby.fill(-1);
  lists.forEach((list, m) => {
    dense.standbyStart[m + 1] = (dense.standbyStart[m] ?? 0) + list.length;
    for (const t of list) dense.standby[t] = m;
  });
}

const STANDBYS = [[8], [9], [10], [11], [6], [7]];

describe('findBreach()', () => {
  it('finds nothing in a sound result', () => {
    expect(breachOf(() => {})).to.equal(undefined);
    expect(breachOf(() => {}, 3)).to.equal(undefined);
  });

  it('finds a task that is active nowhere, or twice (H1)', () => {
    expect(
      breachOf((dense) => setActives(dense, [[0], [1, 7], [2, 8], [3, 9], [4, 10], [5, 11]])),
    ).to.equal('H1: task 6 is active nowhere');
    expect(
      breachOf((dense) =>
        setActives(dense, [
          [0, 6],
          [0, 7],
          [2, 8],
          [3, 9],
          [4, 10],
          [5, 11],
        ]),
      ),
    ).to.equal('H1: task 0 is active on 0 and 1');
    expect(
      breachOf((dense) => {
        dense.active[3] = 0;
      }),
    ).to.equal('H1: task 3 has two different owners');
  });

  it('finds unknown tasks and lists that do not fit (H2)', () => {
    expect(
      breachOf((dense) =>
        setActives(dense, [
          [0, 12],
          [1, 7],
          [2, 8],
          [3, 9],
          [4, 10],
          [5, 11],
        ]),
      ),
    ).to.equal('H2: active 12 of 0 is unknown or out of order');
    expect(
      breachOf((dense) => {
        dense.activeStart[2] = 99;
      }),
    ).to.equal('H2: active list of 1 ends at 99');
    expect(breachOf((dense) => setStandbys(dense, [[-1], ...STANDBYS.slice(1)]))).to.equal(
      'H2: standby -1 of 0 is unknown or out of order',
    );
  });

  it('finds a task twice on a process (H3)', () => {
    // Task 7 is active on member 1, of the same process as member 0.
    expect(breachOf((dense) => setStandbys(dense, [[7], [9], [10], [11], [6], [8]]))).to.equal(
      'H3: task 7 twice on 0',
    );
  });

  it('finds a standby of a stateless task (H4)', () => {
    expect(breachOf((dense) => setStandbys(dense, [[2], ...STANDBYS.slice(1)]))).to.equal(
      'H4: stateless task 2 has a standby',
    );
  });

  it('finds too few and too many standbys (H5)', () => {
    expect(breachOf((dense) => setStandbys(dense, [[], ...STANDBYS.slice(1)]))).to.equal(
      'H5: task 8 has 0 standbys, wanted 1',
    );
    expect(breachOf((dense) => setStandbys(dense, [[8], [9], [10], [11], [6], [8]]))).to.equal(
      'H5: task 8 has more than 1 standbys',
    );
  });

  it('finds a member above its share of all or of stateful tasks (H7)', () => {
    expect(
      breachOf((dense) => setActives(dense, [[0, 1, 6], [7], [2, 8], [3, 9], [4, 10], [5, 11]])),
    ).to.equal('H7: 0 has 3 actives, at most 2');
    expect(
      breachOf((dense) =>
        setActives(dense, [
          [6, 7],
          [0, 1],
          [2, 8],
          [3, 9],
          [4, 10],
          [5, 11],
        ]),
      ),
    ).to.equal('H7: 0 has 2 stateful actives, at most 1');
  });

  it('finds a new task on a stale member (ASG-11)', () => {
    expect(
      breachOf(
        (dense) =>
          setActives(dense, [
            [1, 6],
            [0, 7],
            [2, 8],
            [3, 9],
            [4, 10],
            [5, 11],
          ]),
        0,
      ),
    ).to.equal('ASG-11: active 1 is new on 0');
    expect(breachOf((dense) => setStandbys(dense, [[9], [8], [10], [11], [6], [7]]), 0)).to.equal(
      'ASG-11: standby 9 is new on 0',
    );
  });

  it('finds lists that differ from the places that the assignor worked with', () => {
    expect(
      breachOf((dense) => {
        dense.standby.set([4, 5, 0, 1, 2, 2], 6);
      }),
    ).to.equal('H2: lists of the result differ from its places');
  });

  it('finds any one number of a result that is another', () => {
    const words = new Set<string>();
    for (const name of RESULT) {
      breachOf((dense) => {
        const { length } = dense[name];
        for (let i = 0; i < length; i++) {
          const right = dense[name][i] as number;
          for (let wrong = -1; wrong <= 12; wrong++) {
            if (wrong === right || isUnused(dense, name, i)) continue;
            dense[name][i] = wrong;
            const breach = findBreach(dense);
            expect(breach, `${name}[${i}] = ${wrong} instead of ${right}`).to.not.equal(undefined);
            words.add(breach?.slice(0, 2) ?? '');
          }
          dense[name][i] = right;
        }
        expect(findBreach(dense)).to.equal(undefined);
      });
    }
    expect([...words].sort()).to.deep.equal(['H1', 'H2', 'H3', 'H4', 'H5']);
  });
});

const RESULT = [
  'active',
  'standby',
  'activeStart',
  'activeTask',
  'standbyStart',
  'standbyTask',
] as const;

/** Places for standbys of stateless tasks are no part of the result, nor is the room of the lists behind their end. */
function isUnused(dense: Dense, name: (typeof RESULT)[number], i: number): boolean {
  if (name === 'standby') return i < 6;
  return name === 'standbyTask' && i >= (dense.standbyStart[6] as number);
}
