import { expect } from 'chai';
import type { AssignmentMember, AssignmentProblem } from '../../machines/model/assignment.ts';
import { assignmentMember, assignmentProblem, eachTaskOnce, tasks } from '../support/assignment.ts';
import { forEachState } from '../support/assignment-scenario.ts';
import { assignAndLookBack } from '../support/look-back.ts';
import { MovePredicates } from '../support/move-predicates.ts';
import { isReplay, seeds } from '../support/seeds.ts';

const SEEDS = seeds(40);

describe('explainMoves()', () => {
  for (const assignor of ['sticky', 'balanced', 'highly_available', "Kafka's sticky"] as const) {
    it(`says the first true reason for every move of ${assignor}, and of nothing else, over random groups`, () => {
      const said = { all: 0, assignor: 0 };
      for (const seed of SEEDS) {
        forEachState(seed, 'small', (scenario) => {
          const isKafka = assignor === "Kafka's sticky";
          const sound = eachTaskOnce(scenario.problem);
          const problem = isKafka ? asKafkaHasIt(sound) : { ...sound, assignor };
          const { result, moves } = assignAndLookBack(problem);
          const truth = new MovePredicates(problem, result);
          const told = moves.map(({ role, task, to }) => `${role} ${task} ${to}`).sort();
          expect(told).to.deep.equal(truth.expectedMoves());
          for (const move of moves) {
            expect(move.why, JSON.stringify(move)).to.deep.equal(truth.reasonFor(move));
            said.all += 2;
            for (const half of Object.values(move.why)) if (half === 'assignor') said.assignor++;
          }
          return result;
        });
      }
      // Where nothing can be said, the assignor is named: rarely, or the reasons miss what it does.
      if (!isReplay) expect(said.assignor / said.all).to.be.below(0.03);
    });
  }
});

describe('lookBack()', () => {
  it('says the same whatever the order of lists (P2)', () => {
    for (const seed of SEEDS) {
      forEachState(seed, 'small', (scenario) => {
        const { result, ...said } = assignAndLookBack(scenario.problem);
        const { result: _, ...again } = assignAndLookBack(scenario.shuffled());
        expect(again).to.deep.equal(said);
        return result;
      });
    }
  });
});

/** Where all members get new tasks, and nobody has a warm-up. */
function asKafkaHasIt(problem: AssignmentProblem): AssignmentProblem {
  const members = problem.members.map((each) => ({ ...each, topologyEpoch: 1, warmup: [] }));
  return { ...problem, members, placeAsKafka: true };
}

describe('reasons of moves', () => {
  const stateful = (taskCount: number, subtopologyId = '0') => ({
    subtopologyId,
    taskCount,
    stateful: true,
  });
  const stateless = (taskCount: number, subtopologyId = '1') => ({
    subtopologyId,
    taskCount,
    stateful: false,
  });
  const onDisk = (...partitions: readonly number[]) => ({
    taskOffsets: partitions.map((partition) => ({ subtopologyId: '0', partition, offset: 7n })),
  });
  const zone = (value: string) => ({ clientTags: [{ key: 'zone', value }] });

  /** `active 0_1 to A: leaving, landing`, in the order of tasks. */
  function reasons(
    members: readonly AssignmentMember[],
    overrides: Partial<AssignmentProblem>,
  ): readonly string[] {
    return assignAndLookBack(assignmentProblem({ members, ...overrides })).moves.map(
      ({ role, task, to, why }) => `${role} ${task} to ${to}: ${why.leaving}, ${why.landing}`,
    );
  }

  it('unheard and unowned: whether anything of the task is in the group', () => {
    const members = [assignmentMember('A', { processId: 'P1', ...onDisk(0) })];
    expect(reasons(members, { subtopologies: [stateful(2), stateless(1)] })).to.deep.equal([
      'active 0_0 to A: unowned, onDisk',
      'active 0_1 to A: unheard, belowShare',
      'active 1_0 to A: unowned, belowShare',
    ]);
  });

  it('aboveStatefulShare and aboveShare: a newcomer gets its share', () => {
    const members = [
      assignmentMember('A', { processId: 'P1', active: tasks({ 0: [0, 1, 2, 3], 1: [0, 1] }) }),
      assignmentMember('B', { processId: 'P2' }),
    ];
    expect(reasons(members, { subtopologies: [stateful(4), stateless(2)] })).to.deep.equal([
      'active 0_2 to B: aboveStatefulShare, belowShare',
      'active 0_3 to B: aboveStatefulShare, belowShare',
      'active 1_1 to B: aboveShare, belowShare',
    ]);
  });

  it('onDisk and processHad: who is back gets what it knows, and a sibling what its process had', () => {
    const members = [
      assignmentMember('A', { processId: 'P1', active: tasks({ 0: [0, 1, 2, 3] }) }),
      assignmentMember('B', { processId: 'P2', ...onDisk(0, 1) }),
    ];
    expect(reasons(members, { subtopologies: [stateful(4)] })).to.deep.equal([
      'active 0_0 to B: aboveStatefulShare, onDisk',
      'active 0_1 to B: aboveStatefulShare, onDisk',
    ]);
    const siblings = members.map((member) => ({ ...member, processId: 'P1', taskOffsets: [] }));
    expect(reasons(siblings, { subtopologies: [stateful(4)] })).to.deep.equal([
      'active 0_2 to B: aboveStatefulShare, processHad',
      'active 0_3 to B: aboveStatefulShare, processHad',
    ]);
  });

  it('hadStandby, hadWarmup, wasActive, copyPromoted, tooFewCopies: copies take over', () => {
    const members = [
      assignmentMember('A', { processId: 'P1', active: tasks({ 0: [0, 1, 2, 3] }) }),
      assignmentMember('B', { processId: 'P2', standby: tasks({ 0: [0, 1] }) }),
      assignmentMember('C', { processId: 'P3', warmup: tasks({ 0: [2] }) }),
    ];
    const overrides = { subtopologies: [stateful(4)], numStandbyReplicas: 1 };
    expect(reasons(members.slice(1), { ...overrides, numStandbyReplicas: 0 })).to.deep.equal([
      'active 0_0 to B: unowned, hadStandby',
      'active 0_1 to B: unowned, hadStandby',
      'active 0_2 to C: unowned, hadWarmup',
      'active 0_3 to C: unheard, belowShare',
    ]);
    expect(reasons(members.slice(0, 2), overrides)).to.deep.equal([
      'active 0_0 to B: aboveStatefulShare, hadStandby',
      'standby 0_0 to A: copyPromoted, wasActive',
      'active 0_1 to B: aboveStatefulShare, hadStandby',
      'standby 0_1 to A: copyPromoted, wasActive',
      'standby 0_2 to B: tooFewCopies, belowShare',
      'standby 0_3 to B: tooFewCopies, belowShare',
    ]);
  });

  it('newTags and sameTags: a standby moves to another zone', () => {
    const members = [
      assignmentMember('A', { processId: 'P1', ...zone('a'), active: tasks({ 0: [0] }) }),
      assignmentMember('B', { processId: 'P2', ...zone('a'), standby: tasks({ 0: [0] }) }),
      assignmentMember('C', { processId: 'P3', ...zone('b') }),
    ];
    expect(
      reasons(members, {
        subtopologies: [stateful(1)],
        numStandbyReplicas: 1,
        rackAwareAssignmentTags: ['zone'],
      }),
    ).to.deep.equal(['standby 0_0 to C: sameTags, newTags']);
  });

  it('staleOwner: an older topology is left no more than a share', () => {
    const members = [
      assignmentMember('A', { processId: 'P1', topologyEpoch: 0, active: tasks({ 1: [0, 1, 2] }) }),
      assignmentMember('B', { processId: 'P2' }),
    ];
    expect(reasons(members, { subtopologies: [stateless(3)] })).to.deep.equal([
      'active 1_2 to B: staleOwner, belowShare',
    ]);
  });

  it('claimed: two members say that they have it', () => {
    const members = [
      assignmentMember('A', { processId: 'P1', active: tasks({ 0: [0, 1] }) }),
      assignmentMember('B', { processId: 'P2', active: tasks({ 0: [1] }) }),
    ];
    expect(reasons(members, { subtopologies: [stateful(2)] })).to.deep.equal([
      'active 0_1 to B: aboveStatefulShare, claimed',
    ]);
  });

  it('noOtherProcess: a small process has a copy of everything', () => {
    const members = ['A', 'B', 'C', 'D'].map((memberId) =>
      assignmentMember(memberId, { processId: memberId === 'D' ? 'small' : 'big' }),
    );
    const said = reasons(members, { subtopologies: [stateful(4)], numStandbyReplicas: 1 });
    expect(said).to.deep.equal([
      'active 0_0 to A: unheard, belowShare',
      'standby 0_0 to D: tooFewCopies, noOtherProcess',
      'active 0_1 to D: unheard, belowShare',
      'standby 0_1 to A: tooFewCopies, belowShare',
      'active 0_2 to B: unheard, belowShare',
      'standby 0_2 to D: tooFewCopies, noOtherProcess',
      'active 0_3 to C: unheard, belowShare',
      'standby 0_3 to D: tooFewCopies, noOtherProcess',
    ]);
  });
});
