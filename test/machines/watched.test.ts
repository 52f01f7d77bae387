import { expect } from 'chai';
import type { HeartbeatRequest } from '../../machines/commands.ts';
import { isWatched } from '../../machines/decide/refine/watched.ts';
import type { TaskOffset } from '../../machines/model/tasks.ts';
import { refinerInput, refineSoundly } from '../support/refiner.ts';
import { Stage } from '../support/stage.ts';

const of = (partition: number): readonly TaskOffset[] => [
  { subtopologyId: '0', partition, offset: 0n },
];

describe('isWatched() (WU-2)', () => {
  it('counts reports of tasks that move, and all of whom they move to, but no others', () => {
    const { watched } = refineSoundly(
      refinerInput(
        {
          A: { has: '0:[0-1]', target: '0:[0]' },
          B: { has: '0:[2]', target: '0:[1-2]' },
        },
        { subtopologies: [{ subtopologyId: '0', taskCount: 3, stateful: true }] },
      ),
    );
    const asked: readonly (readonly [memberId: string, partition: number])[] = [
      ['A', 0],
      ['A', 1],
      ['B', 2],
      ['C', 2],
      ['C', 1],
    ];
    expect(asked.map(([memberId, at]) => isWatched(watched, memberId, [of(at)]))).to.deep.equal([
      false,
      true,
      true,
      false,
      true,
    ]);
  });
});

describe('a report in a group where one task moves', () => {
  it('has the refinement found anew only when it is about that task or from its new owner', () => {
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
    expect([
      isKeptAfter('A', left(0)),
      isKeptAfter('A', left(2)),
      isKeptAfter('A', left(0)),
      isKeptAfter('A', left(1)),
      isKeptAfter('B', left(0)),
    ]).to.deep.equal([true, false, false, true, false]);
  });
});
