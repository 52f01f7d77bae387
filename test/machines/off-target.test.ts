import { expect } from 'chai';
import fc from 'fast-check';
import { findOffTarget } from '../../machines/decide/refine/off-target.ts';
import { newGroup, newMember } from '../../machines/model/empty.ts';
import type { Group } from '../../machines/model/group.ts';
import { countTasks, ownedSince } from '../../machines/model/task-list.ts';
import { readRoles, writeRoles } from '../support/refiner.ts';

const roles = fc.constantFrom(
  '[]|[]|[]',
  '0:[0]|[]|[]',
  '0:[1]|[]|[]',
  '[]|0:[0]|[]',
  '[]|[]|0:[0]',
);
const step = fc.record({
  memberId: fc.constantFrom('A', 'B', 'C', 'D'),
  /** What changes; undefined = it is no more. */
  has: fc.option(roles, { nil: undefined }),
  target: fc.option(roles, { nil: undefined }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function after(group: Group, { memberId, has, target }: Step): Group {
  const { members, targets } = group;
  const { active, standby, warmup } = readRoles(has);
  const assigned = { active: ownedSince(active, 1), standby, warmup };
  return {
    ...group,
    members:
      has === undefined
        ? members.delete(memberId)
        : members.set(memberId, { ...newMember(memberId), assigned }),
    targets:
      target === undefined ? targets.delete(memberId) : targets.set(memberId, readRoles(target)),
  };
}

/** Read slowly: by what is written of their tasks. */
function offTargetOf({ members, targets }: Group): ReadonlySet<string> {
  const ids = [...members.keys()].filter((memberId) => {
    const assigned = members.get(memberId)?.assigned ?? readRoles();
    return writeRoles(assigned) !== writeRoles(targets.get(memberId) ?? readRoles());
  });
  return new Set(ids);
}

function targetTasksOf({ members, targets }: Group): number {
  return [...members.keys()].reduce(
    (sum, memberId) => sum + countTasks(targets.get(memberId)?.active ?? []),
    0,
  );
}

describe('findOffTarget()', () => {
  it('finds who has other tasks than the target gives, whatever changed since it looked last', () => {
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 6 }), (rounds) => {
        let group = newGroup('G');
        let found = findOffTarget(undefined, group);
        for (const steps of rounds) {
          group = steps.reduce(after, group);
          found = findOffTarget(found, group);
          expect(found.offTarget).to.deep.equal(offTargetOf(group));
          expect(found.targetTasks).to.equal(targetTasksOf(group));
        }
        expect(findOffTarget(undefined, group).offTarget).to.deep.equal(found.offTarget);
        expect(findOffTarget(found, group).offTarget).to.equal(found.offTarget);
      }),
    );
  });
});
