import { expect } from 'chai';
import fc from 'fast-check';
import { type MemberTasks, NO_MEMBER_TASKS } from '../../workers/member-tasks.ts';
import { numbersBefore, TasksByMember } from '../../workers/tasks-by-member.ts';

describe('TasksByMember', () => {
  it('has after any patches what each member has', () => {
    const change = fc.record({
      member: fc.nat({ max: 4 }),
      tasks: fc.uniqueArray(fc.nat({ max: 99 }), { maxLength: 60 }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const lists = newLists(5);
        const has: MemberTasks[] = Array.from({ length: 5 }, () => NO_MEMBER_TASKS);
        for (const { member, tasks } of changes) {
          patch(lists, has, member, tasks);
          const wanted = has.map(({ active }) => [...active].sort((a, b) => a - b));
          expect(
            has.map((_, m) => [...lists.tasks.subarray(lists.start[m], lists.start[m + 1])]),
          ).to.deep.equal(wanted);
          expect([...lists.stateful]).to.deep.equal(
            wanted.map((each) => each.filter(isEven).length),
          );
          expect(lists.tasks).to.have.length(wanted.flat().length);
        }
      }),
    );
  });

  it('keeps no memory of lists that are gone', () => {
    const many = Array.from({ length: 10_000 }, (_, task) => task);
    for (const letGo of ['rebuild', 'patch'] as const) {
      const lists = newLists(2);
      const has = [NO_MEMBER_TASKS, NO_MEMBER_TASKS];
      for (const tasks of [many, many.slice(1), many]) patch(lists, has, 0, tasks);
      expect(lists.bytes).to.be.above(80_000);
      for (let time = 0; time < 2; time++) {
        if (letGo === 'rebuild') lists.rebuild(2, () => {});
        else patch(lists, has, 0, []);
      }
      patch(lists, has, 0, []);
      expect(lists.bytes).to.be.below(1_000);
    }
  });
});

const isEven = (task: number) => task % 2 === 0;

/** Of members that have nothing. */
function newLists(memberCount: number): TasksByMember {
  const lists = new TasksByMember(({ active }) => active, isEven);
  lists.rebuild(memberCount, () => {});
  return lists;
}

/** Gives a member other tasks. */
function patch(lists: TasksByMember, has: MemberTasks[], m: number, tasks: readonly number[]) {
  const before = has[m] as MemberTasks;
  const after = { ...NO_MEMBER_TASKS, active: tasks };
  has[m] = after;
  const changes = [{ before, beforeNumber: m, after, afterNumber: m }];
  lists.patch(has.length, changes, numbersBefore(has.length, changes, undefined));
}
