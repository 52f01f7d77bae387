import { expect } from 'chai';
import type { AssignmentMember } from '../../machines/model/assignment.ts';
import { LeastLoaded } from '../../workers/least-loaded.ts';
import { LOOKS } from '../../workers/many-groups.ts';
import {
  assignDirectly,
  assignmentMember,
  assignmentProblem,
  tasks,
} from '../support/assignment.ts';
import { forEachState } from '../support/assignment-scenario.ts';
import { seeds } from '../support/seeds.ts';

/** Members a, b, … each of a process of its own: A, B, …. */
function alone(...overrides: readonly Partial<AssignmentMember>[]): AssignmentMember[] {
  return overrides.map((each, i) => {
    const memberId = String.fromCharCode(97 + i);
    return assignmentMember(memberId, { processId: memberId.toUpperCase(), ...each });
  });
}

describe('pickForDiversity() (assignors 5)', () => {
  const tags = (zone?: string, cluster?: string) => ({
    clientTags: [
      ...(zone === undefined ? [] : [{ key: 'zone', value: zone }]),
      ...(cluster === undefined ? [] : [{ key: 'cluster', value: cluster }]),
    ],
  });
  const standbyOn = (
    members: readonly AssignmentMember[],
    keys: readonly string[],
    numStandbyReplicas = 1,
  ): string[] => {
    const result = assignDirectly(
      assignmentProblem({
        subtopologies: [{ subtopologyId: '0', taskCount: 1, stateful: true }],
        numStandbyReplicas,
        rackAwareAssignmentTags: keys,
        members,
      }),
    );
    return members.flatMap(({ memberId }, i) =>
      (result.members[i]?.standby.length ?? 0) > 0 ? [memberId] : [],
    );
  };
  const active = { active: tasks({ '0': [0] }) };

  it('puts the standby on another value of the first key', () => {
    const members = alone({ ...active, ...tags('z1') }, tags('z1'), tags('z2'));
    expect(standbyOn(members, ['zone'])).to.deep.equal(['c']);
    expect(standbyOn(members, [])).to.deep.equal(['b']);
  });

  it('lets lower keys decide among equals, and never outweigh the first', () => {
    const members = alone(
      { ...active, ...tags('z1', 'c1') },
      tags('z1', 'c2'),
      tags('z2', 'c1'),
      tags('z2', 'c2'),
    );
    expect(standbyOn(members, ['zone', 'cluster'])).to.deep.equal(['d']);
    expect(standbyOn(members.slice(0, 3), ['zone', 'cluster'])).to.deep.equal(['c']);
  });

  it('gives a key up when it has no new value left, and goes on with the next', () => {
    const members = alone({ ...active, ...tags('z1', 'c1') }, tags('z1', 'c1'), tags('z1', 'c2'));
    expect(standbyOn(members, ['zone', 'cluster'])).to.deep.equal(['c']);
  });

  it('never counts a missing value as new, and still places all standbys (S16)', () => {
    const members = alone({ ...active, ...tags('z1') }, {}, tags('z2'));
    expect(standbyOn(members, ['zone'])).to.deep.equal(['c']);
    expect(standbyOn(members, ['zone'], 2)).to.deep.equal(['b', 'c']);
  });

  it('prefers the previous holder among processes that do equally well', () => {
    const members = alone({ ...active, ...tags('z1') }, tags('z2'), {
      ...tags('z2'),
      standby: tasks({ '0': [0] }),
    });
    expect(standbyOn(members, ['zone'])).to.deep.equal(['c']);
  });

  for (const assignor of ['sticky', 'highly_available']) {
    it(`gives nothing new to a stale process though no group has room (2.1, ${assignor})`, () => {
      // All are full with one task; d's tags are b's, and it alone has state of the task.
      const members = [
        assignmentMember('a', { processId: 'A', ...tags('z1') }),
        assignmentMember('b', { processId: 'B', ...tags('z0'), active: tasks({ '0': [1] }) }),
        assignmentMember('c', { processId: 'A', ...tags('z1') }),
        assignmentMember('d', {
          processId: 'D',
          ...tags('z0'),
          topologyEpoch: 0,
          taskOffsets: [{ subtopologyId: '0', partition: 0, offset: 5n }],
        }),
        assignmentMember('e', { processId: 'E', ...tags('z2') }),
      ];
      const result = assignDirectly(
        assignmentProblem({
          assignor,
          subtopologies: [{ subtopologyId: '0', taskCount: 2, stateful: true }],
          numStandbyReplicas: 1,
          rackAwareAssignmentTags: ['zone'],
          members,
        }),
      );
      expect(result.members).to.deep.equal([
        { active: tasks({ '0': [0] }), standby: [] },
        { active: tasks({ '0': [1] }), standby: tasks({ '0': [0] }) },
        { active: [], standby: [] },
        { active: [], standby: [] },
        { active: [], standby: tasks({ '0': [1] }) },
      ]);
    });
  }

  it('gives the same whether few processes are looked at, or all groups of equal tags', () => {
    const usual = { ...LOOKS };
    const ways = [
      { groups: Infinity, processes: 16, parts: 64 },
      { groups: 0, processes: 16, parts: 64 },
      { groups: 0, processes: 2, parts: 0 },
      { groups: 0, processes: 1, parts: 64 },
      { groups: 0, processes: 16, parts: 3 },
    ];
    try {
      for (const seed of seeds(60)) {
        forEachState(seed, 'small', ({ problem }) => {
          for (const assignor of ['sticky', 'balanced', 'highly_available']) {
            const [result, ...others] = ways.map((way) => {
              Object.assign(LOOKS, way);
              return assignDirectly({ ...problem, assignor });
            });
            for (const other of others) expect(other, `${assignor} ${seed}`).to.deep.equal(result);
          }
          return assignDirectly(problem);
        });
      }
    } finally {
      Object.assign(LOOKS, usual);
    }
  }).timeout(60_000);

  for (const keys of [['host'], ['zone', 'host'], ['host', 'zone']]) {
    it(`asks for few of the groups of equal tags where hosts are told apart (${keys})`, () => {
      const members = Array.from({ length: 300 }, (_, i) => {
        const processId = `p${String(i).padStart(3, '0')}`;
        const clientTags = [
          { key: 'host', value: processId },
          { key: 'zone', value: `z${i % 2}` },
        ];
        return assignmentMember(`m-${processId}`, { processId, clientTags });
      });
      const asked = countCalls(LeastLoaded.prototype, 'firstUnmarked', () => {
        assignDirectly(
          assignmentProblem({
            subtopologies: [{ subtopologyId: '0', taskCount: 900, stateful: true }],
            numStandbyReplicas: 2,
            rackAwareAssignmentTags: keys,
            members,
          }),
        );
      });
      expect(asked / (900 * 2)).to.be.below(300 / 10);
    });
  }
});

/** How often a method is called in the course of something. */
function countCalls<K extends string>(
  owner: Record<K, (...args: never[]) => unknown>,
  name: K,
  run: () => void,
): number {
  const method = owner[name];
  let calls = 0;
  owner[name] = function (this: unknown, ...args: never[]) {
    calls++;
    return method.apply(this, args);
  };
  try {
    run();
  } finally {
    owner[name] = method;
  }
  return calls;
}
