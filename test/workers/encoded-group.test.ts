import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import {
  type AssignmentProblem,
  type GroupProblem,
  gatherProblem,
} from '../../machines/model/assignment.ts';
import { ASSIGNORS } from '../../machines/model/assignors.ts';
import { PersistentMap } from '../../machines/model/persistent-map.ts';
import { EncodedGroup } from '../../workers/encoded-group.ts';
import { EncodedGroups } from '../../workers/encoded-groups.ts';
import { type EncodedProblem, encodeProblem, viewOf, writeProblem } from '../../workers/problem.ts';
import { SharedBuffers } from '../../workers/shared-buffers.ts';
import runAssignment from '../../workers/thread.ts';
import { assignDirectly, assignmentMember, assignmentProblem } from '../support/assignment.ts';
import { range } from '../support/assignment-measures.ts';
import { AssignmentScenario, Chance } from '../support/assignment-scenario.ts';
import { listOf } from '../support/keeping-assignor.ts';

/** What a thread reads of a problem. */
const INPUTS = [
  'base',
  'stateful',
  'subtopologyOf',
  'procOf',
  'procStart',
  'procMember',
  'placeInProcess',
  'procCapacity',
  'tagValue',
  'tagGroup',
  'frozen',
  'prevActive',
  'heldStart',
  'heldTask',
  'heldStateful',
  'candStart',
  'candDisk',
  'candMember',
  'candCaughtUp',
  'candRole',
  'copyStart',
  'diskStart',
  'candTask',
] as const;

function inputsOf({ dense, memberIds, numbering, candOffset }: EncodedProblem): object {
  const { size, facts } = dense;
  const arrays = INPUTS.map((name) => [name, Array.from(dense[name])]);
  return {
    size,
    facts,
    memberIds,
    ids: numbering.subtopologyIds,
    candOffset: Array.from(candOffset ?? []),
    ...Object.fromEntries(arrays),
  };
}

/** Has a thread's work done in a problem's buffer, which is not to touch the problem itself. */
function runIn({ dense: { buffer } }: EncodedProblem): void {
  if (runAssignment({ buffer }).status === 'assigned') runAssignment({ buffer, looksBack: true });
}

/** The next problem as a group's maps have it: who did not change is the same value as before. */
function follow(before: GroupProblem, next: AssignmentProblem): GroupProblem {
  const made = gatherProblem(next);
  return {
    ...made,
    members: shared(before.members, made.members),
    reports: shared(before.reports, made.reports),
  };
}

function shared<V extends object>(
  before: PersistentMap<V>,
  after: PersistentMap<V>,
): PersistentMap<V> {
  let map = before;
  for (const [key] of before) if (!after.has(key)) map = map.delete(key);
  for (const [key, value] of after) {
    const was = before.get(key);
    if (was === undefined || !isDeepStrictEqual(was, value)) map = map.set(key, value);
  }
  return map;
}

function writeOnce(group: EncodedGroup, problem: GroupProblem): object {
  group.follow(problem);
  group.read();
  const written = writeProblem(group, problem, new SharedBuffers(), true);
  const inputs = inputsOf(written);
  written.release();
  return inputs;
}

describe('EncodedGroup', () => {
  for (const placeAsKafka of [false, true]) {
    it(`writes what nothing but the present problem gives, whatever came before${placeAsKafka ? ', as Kafka' : ''}`, () => {
      for (let seed = 0; seed < 60; seed++) {
        const scenario = new AssignmentScenario(seed, 'small');
        const assignor = placeAsKafka ? 'sticky' : (ASSIGNORS[seed % ASSIGNORS.length] ?? 'sticky');
        const question = { assignor, placeAsKafka };
        let problem = gatherProblem({ ...scenario.problem, ...question });
        const group = new EncodedGroup(viewOf(problem));
        const buffers = new SharedBuffers();
        for (let round = 0; round < 6; round++) {
          group.follow(problem);
          while (!group.read(7));
          if (seed % 2 === 0) group.settle();
          const kept = writeProblem(group, problem, buffers, true);
          const made = encodeProblem({ ...scenario.problem, ...question }, buffers);
          expect(inputsOf(kept)).to.deep.equal(inputsOf(made), `seed ${seed}, round ${round}`);
          runIn(kept);
          expect(inputsOf(kept)).to.deep.equal(inputsOf(made), `seed ${seed}, after ${round}`);
          // A buffer that is not given back is lost with its thread.
          if (seed % 3 > 0 || round % 3 > 0) kept.release();
          buffers.give(made.dense.buffer);
          if (round % 2 === 0) scenario.settle(assignDirectly(scenario.problem));
          scenario.change();
          problem = follow(problem, { ...scenario.problem, ...question });
        }
      }
    });
  }

  it('tells the same by member as by task, whatever was claimed twice', () => {
    for (let seed = 0; seed < 60; seed++) {
      const scenario = new AssignmentScenario(seed, 'small');
      for (let round = 0; round < 4; round++) {
        const { dense } = encodeProblem(scenario.problem, new SharedBuffers());
        const { size, facts, prevActive, candStart, candDisk, candMember } = dense;
        const tasks = range(0, size.tasks - 1);
        const members = range(0, size.members - 1);
        const isCandidate = (m: number, from: number | undefined, to: number | undefined) =>
          candMember.subarray(from, to).includes(m);
        const rows = (start: Int32Array, list: Int32Array) =>
          members.map((m) => [...list.subarray(start[m], start[m + 1])]);
        expect(rows(dense.heldStart, dense.heldTask)).to.deep.equal(
          members.map((m) => tasks.filter((t) => prevActive[t] === m)),
        );
        expect([...dense.heldStateful]).to.deep.equal(
          members.map(
            (m) =>
              tasks.filter(
                (t) => prevActive[t] === m && dense.stateful[dense.subtopologyOf[t] ?? 0] === 1,
              ).length,
          ),
        );
        expect(rows(dense.copyStart, dense.candTask)).to.deep.equal(
          members.map((m) => tasks.filter((t) => isCandidate(m, candStart[t], candDisk[t]))),
        );
        expect(rows(dense.diskStart, dense.candTask)).to.deep.equal(
          members.map((m) => tasks.filter((t) => isCandidate(m, candDisk[t], candStart[t + 1]))),
        );
        expect(dense.copyStart[size.members]).to.equal(facts.copies);
        scenario.settle(assignDirectly(scenario.problem));
        scenario.change();
      }
    }
  });

  it('puts one change after another into what is there (S12: claims, copies and state on disk)', () => {
    for (let seed = 0; seed < 40; seed++) {
      const chance = new Chance(seed);
      const partition = () => chance.between(0, 59);
      const tasks = (most: number) =>
        listOf(
          Array.from({ length: chance.between(0, most) }, () => ({
            subtopologyId: chance.pick(['0', '1', '2']),
            partition: partition(),
          })),
        );
      const sum = () => chance.pick([0n, 5n, 5n, 7n, 2n ** 60n, 2n ** 60n + 1n, 2n ** 63n - 1n]);
      const member = (memberId: string) =>
        assignmentMember(memberId, {
          processId: `p${chance.between(0, 4)}`,
          active: tasks(4),
          standby: tasks(3),
          warmup: tasks(1),
          taskOffsets: Array.from({ length: chance.between(0, 5) }, () => ({
            subtopologyId: chance.pick(['0', '1']),
            partition: partition(),
            offset: sum(),
          })),
          taskEndOffsets: [],
        });
      const subtopologies = ['0', '1', '2'].map((subtopologyId) => ({
        subtopologyId,
        taskCount: 60,
        stateful: subtopologyId !== '2',
      }));
      let members = Array.from({ length: 12 }, (_, i) => member(`m${10 + i}`));
      let problem = gatherProblem(assignmentProblem({ subtopologies, members }));
      const group = new EncodedGroup(viewOf(problem));
      for (let step = 0; step < 40; step++) {
        const next = assignmentProblem({ subtopologies, members });
        problem = follow(problem, next);
        const kept = writeOnce(group, problem);
        expect(kept).to.deep.equal(
          inputsOf(encodeProblem(next, new SharedBuffers())),
          `seed ${seed}, step ${step}`,
        );
        const memberId = `m${10 + chance.between(0, 19)}`;
        members = members.filter((each) => each.memberId !== memberId);
        if (chance.between(0, 2) > 0) members = [...members, member(memberId)];
      }
    }
  });

  it('reads a member again only when what it has or reports is new', () => {
    const members = ['a', 'b', 'c'].map((memberId) =>
      assignmentMember(memberId, { active: [{ subtopologyId: '0', partitions: [0] }] }),
    );
    const problem = gatherProblem(
      assignmentProblem({
        subtopologies: [{ subtopologyId: '0', taskCount: 3, stateful: true }],
        members,
      }),
    );
    let reads = 0;
    const view = viewOf(problem);
    const group = new EncodedGroup({
      ...view,
      read: (...args) => {
        reads++;
        return view.read(...args);
      },
    });
    const readsOf = (next: GroupProblem): number => {
      reads = 0;
      group.follow(next);
      group.read();
      return reads;
    };
    const a = problem.members.get('a');
    if (a === undefined) throw new Error('no member');
    const moved = {
      ...problem,
      members: problem.members.set('a', { ...a, assigned: { ...a.assigned } }),
    };
    const renamed = { ...moved, members: moved.members.set('a', { ...a, rackId: 'r' }) };
    const taskOffsets = [{ subtopologyId: '0', partition: 1, offset: 5n }];
    const reported = {
      ...renamed,
      reports: renamed.reports.set('b', { taskOffsets, taskEndOffsets: [] }),
    };
    const left = { ...reported, members: reported.members.delete('c') };
    expect(
      [problem, problem, moved, { ...renamed, numStandbyReplicas: 1 }, reported, left].map(readsOf),
    ).to.deep.equal([3, 0, 1, 1, 1, 0]);
  });
});

describe('a member that reports a great many sums', () => {
  const taskCount = 60_000;
  const sums = (offset: bigint) =>
    Array.from({ length: taskCount }, (_, partition) => ({
      subtopologyId: '0',
      partition,
      offset,
    }));
  const partitions = Array.from({ length: taskCount }, (_, partition) => partition);
  const cases = [
    ['larger than doubles tell apart', { taskOffsets: sums(2n ** 60n) }],
    ['not started', { taskOffsets: sums(2n ** 63n - 1n) }],
    ['of tasks that another one has, too', { active: [{ subtopologyId: '0', partitions }] }],
  ] as const;
  for (const [name, what] of cases) {
    it(`is read in time that grows as they do: ${name}`, () => {
      const problem = assignmentProblem({
        subtopologies: [{ subtopologyId: '0', taskCount, stateful: true }],
        members: [
          assignmentMember('a', { active: [{ subtopologyId: '0', partitions }] }),
          assignmentMember('b', what),
        ],
      });
      const { dense } = encodeProblem(problem, new SharedBuffers());
      expect(dense.size.candidates).to.equal(taskCount);
    }).timeout(10_000);
  }
});

describe('EncodedGroups', () => {
  const problemOf = (groupId: string, taskCount: number, members = 1) =>
    gatherProblem(
      assignmentProblem({
        groupId,
        subtopologies: [{ subtopologyId: '0', taskCount, stateful: false }],
        members: Array.from({ length: members }, (_, nth) => assignmentMember(`m${nth}`)),
      }),
    );

  it('forgets the groups that were not asked for the longest when it keeps too much', () => {
    const groups = new EncodedGroups(new SharedBuffers(), { bytesMax: 28_000 });
    for (const groupId of ['g', 'h', 'i']) groups.prepare(problemOf(groupId, 40));
    expect(groups.kept).to.deep.equal(['h', 'i']);
    groups.prepare(problemOf('h', 40));
    groups.prepare(problemOf('g', 1));
    groups.prepare(problemOf('j', 40));
    expect(groups.kept).to.deep.equal(['h', 'g', 'j']);
    groups.prepare(problemOf('k', 1000));
    expect(groups.kept).to.deep.equal([]);
  });

  it('keeps nothing of a group that is no more, nor of a run of it that ends later', async () => {
    const groups = new EncodedGroups(new SharedBuffers());
    for (const groupId of ['g', 'h']) groups.prepare(problemOf(groupId, 40));
    const running = groups.encode(problemOf('h', 40, 300));
    groups.forget('g');
    groups.forget('h');
    expect(groups.kept).to.deep.equal([]);
    (await running).release();
    expect(groups.kept).to.deep.equal([]);
    (await groups.encode(problemOf('h', 40))).release();
    expect(groups.kept).to.deep.equal(['h']);
  });

  it('lets the event loop have its turn between the steps of a group that is new, and of one that is large', async () => {
    const groups = new EncodedGroups(new SharedBuffers());
    const turnsOf = async (problem: GroupProblem) => {
      let turns = 0;
      let next = setImmediate(function count() {
        turns++;
        next = setImmediate(count);
      });
      await groups.encode(problem);
      clearImmediate(next);
      return turns;
    };
    expect(await turnsOf(problemOf('g', 40))).to.equal(4);
    expect(await turnsOf(problemOf('g', 41))).to.equal(0);
    expect(await turnsOf(problemOf('g', 41, 200))).to.equal(2);
  });

  it('counts the buffers of groups, too, those that are out as well', async () => {
    const groups = new EncodedGroups(new SharedBuffers(), { bytesMax: 12 << 20 });
    const encoded = [];
    for (const groupId of ['g', 'h', 'i', 'j']) {
      encoded.push(await groups.encode(problemOf(groupId, 20_000)));
    }
    expect(groups.kept).to.deep.equal(['h', 'i', 'j']);
    for (const each of encoded) each.release();
    await groups.encode(problemOf('k', 20_000));
    expect(groups.kept).to.deep.equal(['i', 'j', 'k']);
  });

  it('writes two problems of one group down at once without mixing them', async () => {
    const groups = new EncodedGroups(new SharedBuffers());
    const many = Array.from({ length: 3 }, (_, i) => problemOf('g', 6000 + i));
    const busy = many.map((problem) =>
      groups.encode({
        ...problem,
        members: PersistentMap.from(
          Array.from({ length: 6000 }, (_, m) => {
            const memberId = `m${m}`;
            return [
              memberId,
              { ...assignmentMember(memberId), assigned: { active: [], standby: [], warmup: [] } },
            ];
          }),
        ),
      }),
    );
    groups.prepare(problemOf('g', 1));
    const sizes = (await Promise.all(busy)).map(({ dense }) => [
      dense.size.tasks,
      dense.size.members,
    ]);
    expect(sizes).to.deep.equal([6000, 6001, 6002].map((tasks) => [tasks, 6000]));
  });
});
