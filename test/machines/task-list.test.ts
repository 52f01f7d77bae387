import { expect } from 'chai';
import fc from 'fast-check';
import {
  areDisjoint,
  countTasks,
  forEachTask,
  hasTask,
  intersectTasks,
  isSubset,
  nameTasks,
  ownedSince,
  sameActiveTasks,
  sameTasks,
  subtractTasks,
  taskKey,
  toTaskList,
  unionActiveTasks,
  unionTasks,
  withoutEpochs,
} from '../../machines/model/task-list.ts';
import type { ActiveTaskList, TaskIds, TaskList } from '../../machines/model/tasks.ts';

const sent = fc.array(
  fc.record({
    subtopologyId: fc.constantFrom('0', '1', '10', 'b'),
    partitions: fc.array(fc.nat({ max: 5 }), { maxLength: 5 }),
  }),
  { maxLength: 4 },
);

/** The same as sets of names, where nothing can go wrong. */
function names(tasks: readonly TaskIds[]): Set<string> {
  return new Set(
    tasks.flatMap(({ subtopologyId, partitions }) =>
      partitions.map((partition) => taskKey(subtopologyId, partition)),
    ),
  );
}

function checkOrder(tasks: TaskList): void {
  const ids = tasks.map(({ subtopologyId }) => subtopologyId);
  expect(ids).to.deep.equal([...new Set(ids)].sort());
  for (const { partitions } of tasks) {
    expect(partitions).to.deep.equal([...new Set(partitions)].sort((a, b) => a - b));
    expect(partitions).not.to.deep.equal([]);
  }
}

describe('task lists', () => {
  it('are sets in a fixed order, whatever came in (SC-9)', () => {
    fc.assert(
      fc.property(sent, (tasks) => {
        const list = toTaskList(tasks);
        checkOrder(list);
        expect(names(list)).to.deep.equal(names(tasks));
        expect(toTaskList(list)).to.equal(list);
        expect(countTasks(list)).to.equal(names(tasks).size);
      }),
    );
  });

  it('agree with plain sets in every operation', () => {
    fc.assert(
      fc.property(sent, sent, (one, other) => {
        const [a, b] = [toTaskList(one), toTaskList(other)];
        const [setA, setB] = [names(a), names(b)];
        const both = [...setA].filter((name) => setB.has(name));
        const results: readonly [TaskList, readonly string[]][] = [
          [intersectTasks(a, b), both],
          [subtractTasks(a, b), [...setA].filter((name) => !setB.has(name))],
          [unionTasks(a, b), [...new Set([...setA, ...setB])]],
        ];
        for (const [list, expected] of results) {
          checkOrder(list);
          expect([...names(list)].sort()).to.deep.equal([...expected].sort());
        }
        expect(areDisjoint(a, b)).to.equal(both.length === 0);
        expect(isSubset(a, b)).to.equal(both.length === setA.size);
        expect(sameTasks(a, b)).to.equal(both.length === setA.size && both.length === setB.size);
        forEachTask(a, (id, at) => {
          expect(hasTask(b, id, at)).to.equal(setB.has(taskKey(id, at)));
        });
      }),
    );
  });

  it('keep the epoch of each active task (REC-5)', () => {
    const epochsOf = (list: ActiveTaskList) => {
      const epochs = new Map<string, number>();
      forEachTask(list, (id, at, epoch) => epochs.set(taskKey(id, at), epoch));
      return epochs;
    };
    fc.assert(
      fc.property(sent, sent, (one, other) => {
        const old = ownedSince(toTaskList(one), 3);
        const added = ownedSince(subtractTasks(toTaskList(other), old), 7);
        const all = unionActiveTasks(old, added);
        const expected = new Map([...epochsOf(old), ...epochsOf(added)]);
        expect(epochsOf(all)).to.deep.equal(expected);
        const kept = intersectTasks(all, added);
        expect(epochsOf(kept)).to.deep.equal(epochsOf(added));
        expect(sameActiveTasks(subtractTasks(all, added), old)).to.equal(true);
        expect(withoutEpochs(all)).to.deep.equal(unionTasks(toTaskList(one), toTaskList(other)));
      }),
    );
  });

  it('tell apart the same tasks since other epochs', () => {
    const tasks = toTaskList([{ subtopologyId: '0', partitions: [1] }]);
    expect(sameActiveTasks(ownedSince(tasks, 1), ownedSince(tasks, 2))).to.equal(false);
  });

  it('nameTasks() names some and counts the rest', () => {
    const tasks = toTaskList([{ subtopologyId: '0', partitions: [0, 1, 2, 3] }]);
    expect(nameTasks(tasks, 2)).to.equal('0_0, 0_1 and 2 more');
    expect(nameTasks(tasks)).to.equal('0_0, 0_1, 0_2, 0_3');
  });

  it('of many subtopologies are held against each other in few steps', () => {
    let reads = 0;
    const many = (partition: number) =>
      Array.from({ length: 4_096 }, (_, at) => ({
        get subtopologyId() {
          reads++;
          return String(at).padStart(4, '0');
        },
        partitions: [partition],
      }));
    expect([areDisjoint(many(0), many(1)), areDisjoint(many(0), many(0))]).to.deep.equal([
      true,
      false,
    ]);
    // At most 13 looks for each, two reads a look.
    expect(reads).to.be.below(2 * 4_096 * 30);
  });
});
