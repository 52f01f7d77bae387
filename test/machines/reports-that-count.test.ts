import { expect } from 'chai';
import type { HeartbeatRequest } from '../../machines/commands.ts';
import { makesDifference, type Reporter } from '../../machines/decide/refine/watched.ts';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import { readReports, refinedSoundly, refinerInput } from '../support/refiner.ts';
import { Stage } from '../support/stage.ts';

const of = (partition: number): readonly TaskOffset[] => [
  { subtopologyId: '0', partition, offset: 0n },
];

describe('makesDifference() (WU-2)', () => {
  it('counts reports of tasks that move, and what those have to restore whom they move to', () => {
    const input = refinerInput(
      {
        A: { has: '0:[0-1]', target: '0:[0]' },
        B: { has: '0:[2]', target: '0:[1-2]' },
      },
      { subtopologies: [{ subtopologyId: '0', taskCount: 3, stateful: true }] },
    );
    const { basis } = refinedSoundly(input);
    if (basis === undefined) throw new Error('A task moves');
    const counts = (memberId: string, change: Partial<Reporter>) => {
      const before = input.members.find((each) => each.memberId === memberId);
      if (before === undefined) throw new Error(`There is no member ${memberId}`);
      return makesDifference(basis.survey, before, { ...before, ...change }, 100n);
    };
    const restores = (partition: number) => readReports(`0_${partition}:0/5000`);
    expect([
      counts('A', restores(1)),
      counts('B', { taskOffsets: of(1) }),
      counts('B', restores(1)),
      counts('B', restores(2)),
      counts('B', { reportsCopies: 'no' }),
    ]).to.deep.equal([true, true, true, true, true]);
    expect([
      counts('A', { taskOffsets: of(1) }),
      counts('A', restores(0)),
      counts('A', { reportsCopies: 'no' }),
      counts('B', restores(0)),
      counts('B', readReports('0_2:4950/5000')),
    ]).to.deep.equal([false, false, false, false, false]);
  });
});

describe('a report in a group where one task moves', () => {
  it('has the refinement found anew only when it can make a difference', () => {
    const stage = new Stage({ in: 4, topology: 'T' });
    const { coordinator } = stage;
    coordinator.settings = { ...coordinator.settings, numWarmupReplicas: 2 };
    stage.join('A');
    stage.settle('A');
    stage.join('B');
    stage.settle('A', 'B');
    const derived = () => coordinator.slot.soft.derived;
    const isKeptAfter = (memberId: string, said: Partial<HeartbeatRequest>) => {
      stage.beat('A');
      const before = derived();
      stage.beat(memberId, 'silent', { with: said });
      return derived() === before;
    };
    expect(stage.member('B').told.warmup).to.deep.equal([
      { subtopologyId: '0', partitions: [2, 3] },
    ]);
    const left = (partition: number) => ({ taskOffsets: of(partition) });
    const restores = (partition: number) => readReports(`0_${partition}:0/50000`);
    expect([
      isKeptAfter('A', left(0)),
      isKeptAfter('A', restores(0)),
      isKeptAfter('B', left(0)),
      // Nobody waits for what A has of them, as long as it runs them.
      isKeptAfter('A', left(2)),
      isKeptAfter('A', left(0)),
    ]).to.deep.equal([true, true, true, true, true]);
    expect([
      isKeptAfter('B', left(2)),
      isKeptAfter('B', { taskOffsets: [{ subtopologyId: '0', partition: 2, offset: 1n }] }),
      isKeptAfter('A', restores(2)),
    ]).to.deep.equal([false, false, false]);
  });
});
