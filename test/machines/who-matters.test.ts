import { expect } from 'chai';
import fc from 'fast-check';
import { apply } from '../../machines/apply.ts';
import { assignmentOf, metadataOf } from '../../machines/decide/member-fields.ts';
import { type WhoMatters, whoMatters } from '../../machines/decide/refine/who-matters.ts';
import { emptySlot, newMember } from '../../machines/model/empty.ts';
import type { RefinerMember } from '../../machines/model/survey.ts';
import { ownedSince } from '../../machines/model/task-list.ts';
import { NO_HELD_TASKS } from '../../machines/model/tasks.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { refinerInput, refineSoundly, type Sketch } from '../support/refiner.ts';
import { writeTasks } from '../support/task-notation.ts';
import { times } from '../support/times.ts';

const TASKS = 6;
const MEMBERS = ['A1', 'A2', 'B1', 'B2', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J'];

const anyone = fc.nat({ max: MEMBERS.length - 1 });
const rarely = fc.option(anyone, { freq: 1, nil: undefined });
/** Who runs a task and is to run it, who has a copy and is to have one, and what those say; members by number. */
const task = fc.record({
  holder: fc.oneof(
    { weight: 9, arbitrary: anyone },
    { weight: 1, arbitrary: fc.constant(undefined) },
  ),
  /** A second one, as only a log that is not ours knows it. */
  claimant: fc.oneof(
    { weight: 30, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: anyone },
  ),
  moves: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: anyone },
  ),
  isNobodys: fc.integer({ min: 0, max: 30 }).map((one) => one === 30),
  copy: rarely,
  role: fc.constantFrom('standby', 'warmup'),
  copyMoves: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: anyone },
  ),
  lag: fc.constantFrom(undefined, 0, 100, 5_000),
  onDisk: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: anyone },
  ),
});
type Task = typeof task extends fc.Arbitrary<infer T> ? T : never;

function sketchesOf(tasks: readonly Task[]): Readonly<Record<string, Sketch>> {
  const lists = MEMBERS.map(() => ({
    has: { active: [] as number[], standby: [] as number[], warmup: [] as number[] },
    target: { active: [] as number[], standby: [] as number[] },
    says: [] as string[],
  }));
  tasks.forEach((given, partition) => {
    const { holder, claimant, copy, role, onDisk, lag } = given;
    const owner = given.moves ?? holder ?? 0;
    const nextCopy = given.copyMoves ?? copy;
    for (const one of new Set([holder, claimant])) {
      if (one !== undefined) lists[one]?.has.active.push(partition);
    }
    if (!given.isNobodys) lists[owner]?.target.active.push(partition);
    if (copy !== undefined && copy !== holder && copy !== claimant) {
      lists[copy]?.has[role === 'warmup' ? 'warmup' : 'standby'].push(partition);
    }
    if (nextCopy !== undefined && nextCopy !== owner)
      lists[nextCopy]?.target.standby.push(partition);
    for (const one of new Set([copy, onDisk])) {
      if (one !== undefined && lag !== undefined) {
        lists[one]?.says.push(`0_${partition}:${10_000 - lag}/10000`);
      }
    }
  });
  const write = (partitions: readonly number[]) =>
    writeTasks(partitions.length === 0 ? [] : [{ subtopologyId: '0', partitions }]);
  return Object.fromEntries(
    lists.map(({ has, target, says }, at) => {
      const memberId = MEMBERS[at] ?? '';
      const sketch = {
        process: `p${memberId[0]}`,
        has: [has.active, has.standby, has.warmup].map(write).join('|'),
        target: [target.active, target.standby].map(write).join('|'),
        says: says.join(),
      };
      return [memberId, sketch];
    }),
  );
}

/** Who matters in the group with these members. */
function mattersIn(members: readonly RefinerMember[]): WhoMatters {
  const records = members.flatMap(({ memberId, processId, assigned, target }): GroupRecord[] => {
    const { active, standby, warmup } = assigned;
    const held = { active: ownedSince(active, 1), standby, warmup };
    const member = { ...newMember(memberId), processId, assigned: held };
    return [
      { type: 'memberMetadata', groupId: 'G', memberId, value: metadataOf(member) },
      { type: 'targetMember', groupId: 'G', memberId, value: target },
      {
        type: 'currentAssignment',
        groupId: 'G',
        memberId,
        value: { ...assignmentOf(member), pendingRevocation: NO_HELD_TASKS },
      },
    ];
  });
  const { group } = records.reduce(apply, emptySlot('G'));
  if (group === undefined) throw new Error('Records of members make a group');
  const subtopology = {
    subtopologyId: '0',
    taskCount: TASKS,
    stateful: true,
    sourceTopics: [],
    repartitionSinkTopics: [],
    stateChangelogTopics: [],
    repartitionSourceTopics: [],
  };
  return whoMatters(group, {
    topologyEpoch: 0,
    metadataHash: 0n,
    problem: undefined,
    subtopologies: [subtopology],
    missingInternalTopics: [],
  });
}

describe('whoMatters()', () => {
  it('names everybody on whom a refinement depends', () => {
    const seen = { whole: 0, part: 0, nobody: 0 };
    fc.assert(
      fc.property(fc.array(task, { minLength: TASKS, maxLength: TASKS }), (tasks) => {
        const subtopologies = [{ subtopologyId: '0', taskCount: TASKS, stateful: true }];
        const whole = refinerInput(sketchesOf(tasks), { subtopologies });
        const { members: some, isPart } = mattersIn(whole.members);
        seen[some.length === 0 ? 'nobody' : isPart ? 'part' : 'whole']++;
        const ids = new Set(some.map(({ memberId }) => memberId));
        const members = whole.members.filter(({ memberId }) => ids.has(memberId));
        expect(refineSoundly({ ...whole, members, isPart })).to.deep.equal(refineSoundly(whole));
      }),
      { numRuns: times(700) },
    );
    expect(seen.whole).to.be.greaterThan(200);
    expect(seen.part).to.be.greaterThan(200);
    expect(seen.nobody).to.be.greaterThan(20);
  });

  it('names nobody where nobody has anything: every task goes to its owner, whatever is on disk', () => {
    const unheld = task.map((one) => ({
      ...one,
      holder: undefined,
      claimant: undefined,
      copy: undefined,
    }));
    fc.assert(
      fc.property(fc.array(unheld, { minLength: TASKS, maxLength: TASKS }), (tasks) => {
        const subtopologies = [{ subtopologyId: '0', taskCount: TASKS, stateful: true }];
        const whole = refinerInput(sketchesOf(tasks), { subtopologies });
        expect(mattersIn(whole.members).members).to.deep.equal([]);
        const { slices, moves } = refineSoundly(whole);
        expect([...slices]).to.deep.equal([]);
        expect(moves.filter(({ kind }) => kind === 'staged')).to.deep.equal([]);
      }),
      { numRuns: times(100) },
    );
  });
});
