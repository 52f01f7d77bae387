import { expect } from 'chai';
import fc from 'fast-check';
import { apply } from '../../machines/apply.ts';
import { assignmentOf } from '../../machines/decide/member-fields.ts';
import { emptySlot, newMember } from '../../machines/model/empty.ts';
import type { Group } from '../../machines/model/group.ts';
import { countTasks, ownedSince } from '../../machines/model/task-list.ts';
import type { GroupRecord } from '../../machines/records.ts';
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

function recordsOf({ memberId, has, target }: Step): readonly GroupRecord[] {
  const groupId = 'G';
  const { active, standby, warmup } = readRoles(has);
  const member = {
    ...newMember(memberId),
    assigned: { active: ownedSince(active, 1), standby, warmup },
  };
  const targetRecord: GroupRecord = {
    type: 'targetMember',
    groupId,
    memberId,
    value: target === undefined ? null : readRoles(target),
  };
  if (has !== undefined) {
    return [
      targetRecord,
      { type: 'currentAssignment', groupId, memberId, value: assignmentOf(member) },
    ];
  }
  // A member goes in this order, and a target may well be there before its member.
  return [
    { type: 'targetMember', groupId, memberId, value: null },
    { type: 'currentAssignment', groupId, memberId, value: null },
    { type: 'memberMetadata', groupId, memberId, value: null },
    targetRecord,
  ];
}

/** Read slowly: by what is written of their tasks. */
function offTargetOf({ members, targets }: Group): readonly string[] {
  return [...members.keys()].filter((memberId) => {
    const assigned = members.get(memberId)?.assigned ?? readRoles();
    return writeRoles(assigned) !== writeRoles(targets.get(memberId) ?? readRoles());
  });
}

function targetTasksOf({ members, targets }: Group): number {
  return [...members.keys()].reduce(
    (sum, memberId) => sum + countTasks(targets.get(memberId)?.active ?? []),
    0,
  );
}

describe('members off target', () => {
  it('are those that have other tasks than the target gives them, after every record (WU-2)', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 24 }), (steps) => {
        let slot = emptySlot('G');
        for (const record of steps.flatMap(recordsOf)) {
          slot = apply(slot, record);
          const { group } = slot;
          if (group === undefined) continue;
          expect([...group.offTarget.keys()].sort()).to.deep.equal([...offTargetOf(group)].sort());
          expect(group.targetTasks).to.equal(targetTasksOf(group));
        }
      }),
    );
  });
});
