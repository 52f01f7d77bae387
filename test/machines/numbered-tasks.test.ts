import { expect } from 'chai';
import fc from 'fast-check';
import {
  NumberedTargets,
  NumberedTasks,
  type TaskNumbering,
} from '../../machines/model/numbered-tasks.ts';
import { countTasksIn, sameTasksByRole } from '../../machines/model/task-list.ts';
import type { TasksByRole } from '../../machines/model/tasks.ts';
import { TaskNumbers } from '../../workers/task-numbers.ts';
import { listOf } from '../support/keeping-assignor.ts';

const IDS = ['0', '1', '10'];

/** Three subtopologies of this many tasks each. */
function numberingOf(taskCount: number): TaskNumbering {
  return new TaskNumbers(
    IDS.map((subtopologyId) => ({ subtopologyId, taskCount, stateful: true })),
  );
}

/** A target whose lists begin somewhere in longer ones. */
function numbered(numbering: TaskNumbering, active: number[], standby: number[]): NumberedTasks {
  const list = (own: number[]) => ({
    start: Int32Array.of(0, 2, 2 + own.length),
    tasks: Int32Array.of(0, 1, ...own),
  });
  return new NumberedTasks(new NumberedTargets(numbering, list(active), list(standby)), 1);
}

/** The same as plain lists. */
function plain(taskCount: number, active: number[], standby: number[]): TasksByRole {
  const list = (own: number[]) =>
    listOf(
      own.map((task) => ({
        subtopologyId: IDS[Math.floor(task / taskCount)] ?? '',
        partition: task % taskCount,
      })),
    );
  return { active: list(active), standby: list(standby), warmup: [] };
}

const own = fc
  .uniqueArray(fc.nat({ max: 8 }), { maxLength: 5 })
  .map((tasks) => tasks.sort((a, b) => a - b));

describe('NumberedTasks', () => {
  it('reads like plain lists, whoever looks', () => {
    fc.assert(
      fc.property(own, own, (active, standby) => {
        const tasks = numbered(numberingOf(3), active, standby);
        const wanted = plain(3, active, standby);
        expect({
          active: tasks.active,
          standby: tasks.standby,
          warmup: tasks.warmup,
        }).to.deep.equal(wanted);
        expect(JSON.parse(JSON.stringify(tasks))).to.deep.equal(wanted);
        expect([countTasksIn(tasks, 'active'), countTasksIn(wanted, 'active')]).to.deep.equal(
          Array(2).fill(active.length),
        );
        const { active: first } = tasks;
        tasks.letGo();
        expect(tasks.active).to.equal(first);
        expect(tasks.standby).to.deep.equal(wanted.standby);
      }),
    );
  });

  it('is the same as what holds the same tasks, in numbers of its own, of others, or in lists', () => {
    const numbering = numberingOf(3);
    fc.assert(
      fc.property(own, own, own, own, fc.boolean(), (active, standby, other, others, equal) => {
        const a = numbered(numbering, active, standby);
        const theirs = [equal ? active : other, equal ? standby : others] as const;
        const isSame =
          String(theirs[0]) === String(active) && String(theirs[1]) === String(standby);
        const all = [
          numbered(numbering, ...theirs),
          numbered(numberingOf(3), ...theirs),
          plain(3, ...theirs),
        ];
        for (const b of all) {
          expect(sameTasksByRole(a, b)).to.equal(isSame);
          expect(sameTasksByRole(b, a)).to.equal(isSame);
        }
        // With more tasks per subtopology the same number is another task.
        const grown = numberingOf(9);
        expect(sameTasksByRole(a, numbered(grown, active, standby))).to.equal(
          [...active, ...standby].every((task) => task < 3),
        );
        expect(
          sameTasksByRole({ ...plain(3, active, standby), warmup: plain(3, [0], []).active }, a),
        ).to.equal(false);
      }),
    );
  });
});
