import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AssignmentProblem, gatherProblem } from '../../machines/model/assignment.ts';
import type {
  Assignment,
  Assignor,
  Member,
  Problem,
  Task,
  TaskId,
} from '../../workers/assignor-api.d.ts';
import { readAssignment, readQuestion } from '../../workers/module-problem.ts';
import { parseQuestion, writeQuestion } from '../../workers/module-question.ts';
import { encodeProblem, listResult, readResult } from '../../workers/problem.ts';
import { SharedBuffers } from '../../workers/shared-buffers.ts';
import runAssignment, { type AssignmentOutcome } from '../../workers/thread.ts';
import {
  assignDirectly,
  assignmentMember,
  assignmentProblem,
  tasks,
} from '../support/assignment.ts';
import { AssignmentScenario } from '../support/assignment-scenario.ts';
import { projectRoot } from '../support/oracle.ts';

const buffers = new SharedBuffers();

/** The way of a problem to a module and back, without the process in between. */
function ask(problem: AssignmentProblem) {
  const encoded = encodeProblem(problem, buffers);
  const question = readQuestion(parseQuestion(writeQuestion(gatherProblem(problem), encoded)));
  return {
    problem: question.problem,
    /** What the checker says to an author's answer; the result, if nothing. */
    answer: (assignment: unknown) => {
      const placement = readAssignment(assignment, question);
      const outcome = runAssignment({ buffer: encoded.dense.buffer, placement });
      return outcome.status === 'assigned' ? listResult(problem, readResult(encoded)) : outcome;
    },
  };
}

const GROUP = assignmentProblem({
  subtopologies: [
    { subtopologyId: '0', taskCount: 2, stateful: true },
    { subtopologyId: 'out_1', taskCount: 1, stateful: false },
  ],
  numStandbyReplicas: 2,
  rackAwareAssignmentTags: ['zone'],
  members: [
    assignmentMember('a', {
      processId: 'P2',
      instanceId: 'one',
      rackId: 'r1',
      clientTags: [
        { key: 'zone', value: 'z1' },
        { key: 'disk', value: 'nvme' },
      ],
      active: tasks({ 0: [0], out_1: [0] }),
      taskOffsets: [{ subtopologyId: '0', partition: 1, offset: 5n }],
    }),
    assignmentMember('b', {
      processId: 'P1',
      standby: tasks({ 0: [0] }),
      topologyEpoch: 7,
      taskOffsets: [{ subtopologyId: '0', partition: 0, offset: 90n }],
      taskEndOffsets: [{ subtopologyId: '0', partition: 0, offset: 100n }],
    }),
  ],
});

const INVALID: Readonly<Record<string, [unknown, string]>> = {
  nothing: [undefined, 'It returned undefined, wanted a Map or an object by member id'],
  'a list': [[], 'It returned an array, wanted a Map or an object by member id'],
  'a member that is none': [{ z: {} }, 'No member is called "z"'],
  'a member by something else than its id': [new Map([[7, {}]]), 'No member is called 7'],
  'tasks that are none': [{ a: 3 }, 'Tasks of member "a" are 3, wanted { active, standby }'],
  'a list that is none': [
    { a: { active: '0_0' } },
    'List active of member "a" is "0_0", wanted an array',
  ],
  'a task that is none': [
    { a: { active: ['0_9'] } },
    'List active of member "a" names "0_9", which is no task',
  ],
  'a task in another form': [
    { a: { active: [{ taskId: '0_0' }] } },
    'List active of member "a" names an object, which is no task',
  ],
  'a list with holes': [
    { a: { active: new Array(2) } },
    'List active of member "a" names undefined, which is no task',
  ],
  'a list of holes without end': [
    { a: { active: new Array(1e9) } },
    'List active of member "a" names undefined, which is no task',
  ],
  'a task that is none beside all others': [
    { a: { active: ['0_0', '0_1', 'out_1_0', '9_9'] } },
    'List active of member "a" names "9_9", which is no task',
  ],
  'more tasks than there are': [
    { a: { active: ['0_0', '0_1', 'out_1_0', '0_0'] } },
    'List active of member "a" has 4 entries; there are 3 tasks',
  ],
  'a list by another name': [
    { a: { actives: ['0_0', '0_1', 'out_1_0'] } },
    '"actives" of member "a" is not known: wanted only active, standby',
  ],
  'a task twice': [
    { a: { active: ['0_0'] }, b: { active: ['0_0'] } },
    'Task 0_0 is active on both "a" and "b"',
  ],
  'a standby without state': [
    { a: { standby: ['out_1_0'] } },
    'Task out_1_0 has no state, so it can have no standby',
  ],
  'too many standbys': [{ a: { standby: ['0_0', '0_0'] } }, 'Task 0_0 has more than 1 standbys'],
  'a task twice on a process': [
    { a: { active: ['0_0', '0_1', 'out_1_0'], standby: ['0_0'] } },
    'Task 0_0 is twice on process "P2": active on "a" and standby on "a"',
  ],
  'not all tasks': [{ a: { active: ['0_0', 'out_1_0'] } }, 'Task 0_1 is active on no member'],
};

describe('an assignor module', () => {
  it('is told the group in names', () => {
    const expected: Problem = {
      groupId: 'g',
      tasks: [
        {
          taskId: '0_0',
          subtopologyId: '0',
          partition: 0,
          stateful: true,
          activeOn: 'a',
          copies: [{ memberId: 'b', processId: 'P1', role: 'standby', caughtUp: true, offset: 90 }],
        },
        {
          taskId: '0_1',
          subtopologyId: '0',
          partition: 1,
          stateful: true,
          activeOn: null,
          copies: [{ memberId: 'a', processId: 'P2', role: 'disk', caughtUp: false, offset: 5 }],
        },
        {
          taskId: 'out_1_0',
          subtopologyId: 'out_1',
          partition: 0,
          stateful: false,
          activeOn: 'a',
          copies: [],
        },
      ],
      members: [
        {
          memberId: 'a',
          processId: 'P2',
          instanceId: 'one',
          rackId: 'r1',
          clientTags: { zone: 'z1', disk: 'nvme' },
          takesNewTasks: true,
          active: ['0_0', 'out_1_0'],
          standby: [],
        },
        {
          memberId: 'b',
          processId: 'P1',
          instanceId: null,
          rackId: null,
          clientTags: {},
          takesNewTasks: false,
          active: [],
          standby: ['0_0'],
        },
      ],
      processes: [
        { processId: 'P1', memberIds: ['b'] },
        { processId: 'P2', memberIds: ['a'] },
      ],
      standbysPerTask: 1,
      rackAwareAssignmentTags: ['zone'],
    };
    expect(ask(GROUP).problem).to.deep.equal(expected);
  });

  for (const [title, [assignment, wanted]] of Object.entries(INVALID)) {
    it(`is told what is wrong with its answer: ${title}`, () => {
      expect(() => ask(GROUP).answer(assignment)).to.throw(Error, wanted);
    });
  }

  it('may answer with a Map or an object, and gets what it asked for', () => {
    const assignment = { a: { active: ['out_1_0', '0_1', '0_0'] }, b: { standby: ['0_0'] } };
    const expected = {
      members: [
        { active: tasks({ 0: [0, 1], out_1: [0] }), standby: [] },
        { active: [], standby: tasks({ 0: [0] }) },
      ],
      unassigned: [],
    };
    expect(ask(GROUP).answer(assignment)).to.deep.equal(expected);
    expect(ask(GROUP).answer(new Map(Object.entries(assignment)))).to.deep.equal(expected);
  });

  it('is held to the hard invariants (H5, ASG-11)', () => {
    const broken = (assignment: Assignment) => {
      const outcome = ask(GROUP).answer(assignment) as AssignmentOutcome;
      return outcome.status === 'broken' ? outcome.breach.split(':')[0] : outcome.status;
    };
    const all = ['0_0', '0_1', 'out_1_0'];
    expect(broken({ a: { active: all } })).to.equal('H5');
    expect(broken({ b: { active: all } })).to.equal('ASG-11');
  });

  it('is told which task has too few standbys', () => {
    const fresh = {
      ...GROUP,
      members: GROUP.members.map((each) => ({ ...each, topologyEpoch: 1 })),
    };
    const answer = { a: { active: ['0_0', '0_1', 'out_1_0'] }, b: { standby: ['0_1'] } };
    expect(() => ask(fresh).answer(answer)).to.throw(Error, 'Task 0_0 has 0 standbys, wanted 1');
  });

  it('may do with its copy of the group what it likes', () => {
    const { problem, answer } = ask(GROUP);
    const { tasks: told, members } = problem as unknown as { tasks: Task[]; members: Member[] };
    const [first] = told.splice(0);
    told.push(...members.splice(0).map(() => first as Task));
    expect(
      answer({ a: { active: ['out_1_0', '0_1', '0_0'] }, b: { standby: ['0_0'] } }),
    ).to.have.property('members');
  });

  it('is not held to the quotas of sticky (H7)', () => {
    const uneven = assignmentProblem({
      subtopologies: [{ subtopologyId: '0', taskCount: 4, stateful: false }],
      members: [assignmentMember('a'), assignmentMember('b')],
    });
    const all = tasks({ 0: [0, 1, 2, 3] });
    expect(ask(uneven).answer({ a: { active: ['0_0', '0_1', '0_2', '0_3'] } })).to.deep.equal({
      members: [
        { active: all, standby: [] },
        { active: [], standby: [] },
      ],
      unassigned: [],
    });
  });

  it('says with the words of the API what an assignor of ours says in numbers', () => {
    // Members are numbered in another order where tasks are placed as Kafka places them.
    const asKafka = randomProblems(20).map((problem) => ({ ...problem, placeAsKafka: true }));
    for (const problem of [...randomProblems(40), ...asKafka]) {
      const ours = assignDirectly(problem);
      const names = (list: (typeof ours)['unassigned']): TaskId[] =>
        list.flatMap(({ subtopologyId, partitions }) =>
          partitions.map((partition) => `${subtopologyId}_${partition}`),
        );
      const assignment = new Map(
        problem.members.map(({ memberId }, i) => {
          const { active = [], standby = [] } = ours.members[i] ?? {};
          return [memberId, { active: names(active), standby: names(standby) }];
        }),
      );
      expect(ask(problem).answer(assignment)).to.deep.equal(ours);
    }
  });
});

describe('the example in docs/own-assignor.md', () => {
  it('breaks no invariant, with standbys or without, while all members take new tasks (H1 to H6)', async () => {
    const text = readFileSync(join(projectRoot, 'docs/own-assignor.md'), 'utf8');
    const [, code = ''] = /^```js\n(.*?)^```$/ms.exec(text) ?? [];
    const url = `data:text/javascript,${encodeURIComponent(code)}`;
    const { default: assign } = (await import(url)) as { default: Assignor };
    let standbys = 0;
    for (const problem of randomProblems(80)) {
      const { problem: told, answer } = ask(problem);
      if (told.members.some(({ takesNewTasks }) => !takesNewTasks)) continue;
      standbys += told.standbysPerTask;
      expect(answer(await assign(told))).to.have.property('members');
    }
    expect(standbys).to.be.above(0);
  });
});

describe('docs/examples/nvme-first.mjs', () => {
  let nvmeFirst: Assignor;
  before(async () => {
    const { href } = new URL(`file://${projectRoot}/docs/examples/nvme-first.mjs`);
    ({ default: nvmeFirst } = (await import(href)) as { default: Assignor });
  });

  it('breaks no invariant, whatever the group (H1 to H6, ASG-11)', async () => {
    for (const problem of randomProblems(150)) {
      const { problem: told, answer } = ask(problem);
      expect(answer(await nvmeFirst(told))).to.have.property('members');
    }
  });

  it('keeps standbys where they are when a member comes, up to an even share', async () => {
    const member = (memberId: string, active: readonly number[], standby: readonly number[]) =>
      assignmentMember(memberId, {
        processId: memberId,
        clientTags: [{ key: 'disk', value: 'nvme' }],
        active: active.length === 0 ? [] : tasks({ 0: [...active] }),
        standby: standby.length === 0 ? [] : tasks({ 0: [...standby] }),
      });
    const problem = assignmentProblem({
      subtopologies: [{ subtopologyId: '0', taskCount: 6, stateful: true }],
      members: [
        member('a', [0, 1, 2], [3, 4, 5]),
        member('b', [3, 4, 5], [0, 1, 2]),
        member('c', [], []),
      ],
      numStandbyReplicas: 1,
    });
    const { problem: told, answer } = ask(problem);
    expect(answer(await nvmeFirst(told))).to.deep.equal({
      members: [
        { active: tasks({ 0: [0, 1] }), standby: tasks({ 0: [3, 4] }) },
        { active: tasks({ 0: [2, 3] }), standby: tasks({ 0: [0, 1, 5] }) },
        { active: tasks({ 0: [4, 5] }), standby: tasks({ 0: [2] }) },
      ],
      unassigned: [],
    });
  });

  it('puts state on the members with the tag, and leaves it there', async () => {
    const problem = assignmentProblem({
      subtopologies: [
        { subtopologyId: '0', taskCount: 4, stateful: true },
        { subtopologyId: '1', taskCount: 2, stateful: false },
      ],
      members: ['a', 'b', 'c'].map((memberId) =>
        assignmentMember(memberId, {
          processId: memberId,
          clientTags: [{ key: 'disk', value: memberId === 'a' ? 'hdd' : 'nvme' }],
          active: memberId === 'c' ? tasks({ 0: [0, 1] }) : [],
        }),
      ),
    });
    const { problem: told, answer } = ask(problem);
    expect(answer(await nvmeFirst(told))).to.deep.equal({
      members: [
        { active: tasks({ 1: [0, 1] }), standby: [] },
        { active: tasks({ 0: [2, 3] }), standby: [] },
        { active: tasks({ 0: [0, 1] }), standby: [] },
      ],
      unassigned: [],
    });
  });
});

/** Small groups that lived through some changes, stale members and tasks on disk among them. */
function randomProblems(count: number): AssignmentProblem[] {
  return Array.from({ length: count }, (_, seed) => {
    const scenario = new AssignmentScenario(seed, 'small');
    for (let change = 0; change < 3; change++) {
      scenario.settle(assignDirectly(scenario.problem));
      scenario.change();
    }
    return scenario.problem;
  }).filter(({ members }) => members.length > 0);
}
