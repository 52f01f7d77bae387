import { expect } from 'chai';
import { idleContext } from '../../bench/heartbeat-decision.ts';
import { sayRefined } from '../../machines/decide/say-refined.ts';
import { newGroup } from '../../machines/model/empty.ts';
import type { TaskMove } from '../../machines/model/refinement.ts';

type Staged = Extract<TaskMove, { kind: 'staged' }>;

/** A task that stays with A until something of B is caught up. */
function staged(partition: number, change: Partial<Staged> = {}): TaskMove {
  const way = { holder: 'A', owner: 'B', runner: 'A' };
  return {
    subtopologyId: '0',
    partition,
    lag: undefined,
    kind: 'staged',
    warming: 'noRoom',
    ...way,
    ...change,
  };
}

function said(moves: readonly TaskMove[], before: readonly TaskMove[] = []): readonly string[] {
  const words: string[] = [];
  const group = { ...newGroup('G'), assignmentEpoch: 7 };
  sayRefined({ context: idleContext(1), group, say: (text) => words.push(text) }, before, moves);
  return words;
}

describe('sayRefined()', () => {
  it('says in one line what is the same of many tasks, lags where it tells them', () => {
    const moves = [
      staged(0, { warming: 'warmup', lag: 50_000n }),
      staged(1),
      staged(2, { warming: 'warmup', lag: 50_000n }),
      staged(3, { warming: 'warmup', lag: -1n }),
      staged(4, { warming: 'warmup', lag: 0n }),
      staged(5, { lag: 3n }),
      staged(6, { runner: 'C' }),
    ];
    expect(said(moves)).to.deep.equal([
      'Warm-ups of epoch 7: 0_0, 0_2 stay with A until a warm-up on B is within 10000 (is 50000)',
      'Warm-ups of epoch 7: 0_1, 0_5 stay with A until a warm-up is free for B (of 2)',
      'Warm-ups of epoch 7: 0_3, 0_4 stay with A until a warm-up on B is within 10000 (is 0)',
      'Warm-ups of epoch 7: 0_6 runs on C, whose copy is caught up, until a warm-up is free for B (of 2)',
    ]);
  });

  it('says nothing of a task of which the same was said before, but for numbers', () => {
    const before = [staged(1), staged(2, { warming: 'warmup' }), staged(4), staged(9)];
    const moves = [
      staged(0),
      staged(1, { lag: 5n }),
      staged(2),
      staged(3),
      staged(4, { owner: 'C' }),
      { ...staged(9, { subtopologyId: '1' }) },
    ];
    expect(said(moves, before)).to.deep.equal([
      'Warm-ups of epoch 7: 0_0, 0_2, 0_3, 1_9 stay with A until a warm-up is free for B (of 2)',
      'Warm-ups of epoch 7: 0_4 stays with A until a warm-up is free for C (of 2)',
    ]);
  });

  it('says nothing that the target does not say: who gets a task that nobody had, or within a process', () => {
    const granted = { subtopologyId: '0', owner: 'B', lag: undefined, kind: 'granted' } as const;
    const moves: readonly TaskMove[] = [
      { ...granted, partition: 0, holder: undefined, because: 'cold' },
      { ...granted, partition: 1, holder: 'A', because: 'sameProcess' },
      { ...granted, partition: 2, holder: undefined, because: 'onDisk' },
      { ...granted, partition: 3, holder: 'A', because: 'cold' },
    ];
    expect(said(moves)).to.deep.equal([
      'Warm-ups of epoch 7: 0_2 goes to B: the process of B has state of it on disk',
      'Warm-ups of epoch 7: 0_3 moves from A to B: nobody has a copy that is caught up',
    ]);
  });

  it('says twenty lines, and how many more tasks there are', () => {
    const moves = Array.from({ length: 60 }, (_, at) => staged(at, { owner: `B${at % 30}` }));
    const words = said(moves);
    expect(words.length).to.equal(21);
    expect(words[0]).to.equal(
      'Warm-ups of epoch 7: 0_0, 0_30 stay with A until a warm-up is free for B0 (of 2)',
    );
    expect(words[20]).to.equal('Warm-ups of epoch 7: and 20 more moves');
  });
});
