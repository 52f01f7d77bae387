import { expect } from 'chai';
import { loadOf, surveyOf } from '../../machines/decide/refine/survey.ts';
import { handOver, NOT_STARTED, refined, refinerInput } from '../support/refiner.ts';

describe('refine(): which tasks move (WU-8, WU-9)', () => {
  it('gives the target where every stateful task is with its owner, and stateless ones at once (WU-8, H17)', () => {
    const { slices, moves } = refined({
      A: { has: '0:[0];1:[0-1]', target: '0:[0];1:[0]' },
      B: { has: '0:[1]|[]|0:[5]', target: '0:[1];1:[1]|0:[0]', says: '0_5:0/900' },
    });
    expect(slices).to.deep.equal({ A: '0:[0];1:[0]|[]|[]', B: '0:[1];1:[1]|0:[0]|[]' });
    expect(moves).to.deep.equal([]);
  });

  it('keeps a task with its holder and plants a warm-up on its owner (WU-9.4, WU-11)', () => {
    expect(handOver({})).to.deep.equal({
      slices: { A: '0:[0-1]|[]|[]', B: '[]|[]|0:[1]' },
      moves: ['0_1 stays A, warmup'],
    });
  });

  it('grants a task whose copy on the process of its owner is caught up, the bound included (WU-9.3, X13)', () => {
    const granted = {
      slices: { A: '0:[0]|[]|[]', B: '0:[1]|[]|[]' },
      moves: ['0_1 to B, caughtUp'],
    };
    expect(handOver({ has: '[]|[]|0:[1]', says: '0_1:900/1000' })).to.deep.equal(granted);
    expect(handOver({ has: '[]|0:[1]', says: '0_1:1001/1000' })).to.deep.equal(granted);
    expect(handOver({ has: '[]|[]|0:[1]', says: '0_1:899/1000' }).moves).to.deep.equal([
      '0_1 stays A, warmup',
    ]);
    const sibling = refined({
      A: { has: '0:[1]' },
      B1: { process: 'pB', target: '0:[1]' },
      B2: { process: 'pB', has: '[]|0:[1]', says: '0_1:1000/1000' },
    });
    expect(sibling.moves).to.deep.equal(['0_1 to B1, caughtUp']);
  });

  it('takes an offset without an end, or of a restoration not started, for unknown (WU-6, OFS-3)', () => {
    const staged = ['0_1 stays A, warmup'];
    for (const says of ['0_1:1000', `0_1:${NOT_STARTED}/${NOT_STARTED}`, `0_1:5/${NOT_STARTED}`]) {
      expect(handOver({ has: '[]|[]|0:[1]', says }).moves, says).to.deep.equal(staged);
    }
  });

  it('compares offsets digit by digit (S17)', () => {
    const moveAt = (says: string) => handOver({ has: '[]|[]|0:[1]', says }).moves;
    expect(moveAt('0_1:9007199254740892/9007199254740993')).to.deep.equal(['0_1 stays A, warmup']);
    expect(moveAt('0_1:9007199254740893/9007199254740993')).to.deep.equal(['0_1 to B, caughtUp']);
    expect(moveAt('0_1:9223372036854775000/9223372036854775806')).to.deep.equal([
      '0_1 stays A, warmup',
    ]);
  });

  it('moves a task inside a process at once, whatever is reported (WU-9.3)', () => {
    const { moves, slices } = refined({
      A1: { process: 'pA', has: '0:[0]' },
      A2: { process: 'pA', target: '0:[0]' },
    });
    expect(moves).to.deep.equal(['0_0 to A2, sameProcess']);
    expect(slices).to.deep.equal({ A1: '[]|[]|[]', A2: '0:[0]|[]|[]' });
  });

  it('leaves a task whose owner is gone where it is, or with a caught-up copy, and warms nothing (WU-9.2)', () => {
    expect(refined({ A: { has: '0:[0]' } })).to.deep.equal({
      slices: { A: '0:[0]|[]|[]' },
      moves: ['0_0 stays A, ownerGone'],
    });
    const copies = {
      A: { has: '[]|0:[0]', target: '[]|0:[0]', says: '0_0:800/1000' },
      B: { has: '[]|0:[0]', target: '[]|0:[0]', says: '0_0:950/1000' },
    };
    expect(refined(copies)).to.deep.equal({
      slices: { A: '[]|0:[0]|[]', B: '0:[0]|[]|[]' },
      moves: ['0_0 runs on B, ownerGone'],
    });
    expect(refined({ A: copies.A })).to.deep.equal({ slices: { A: '[]|0:[0]|[]' }, moves: [] });
  });

  it('gives a task that nobody holds to the process that has it on disk (WU-9.5)', () => {
    const { moves } = refined({
      A: { has: '[]|0:[0]', target: '[]|0:[0]', says: '0_0:1000/1000' },
      B: { target: '0:[0]', says: '0_0:10' },
    });
    expect(moves).to.deep.equal(['0_0 to B, onDisk']);
  });

  it('has the best caught-up copy run what nobody runs: no standby of the target, then least load, then id (WU-9.6, WU-10)', () => {
    const crowd = {
      A: { has: '[]|0:[0]', target: '[]|0:[0]', says: '0_0:1000/1000' },
      B: { has: '[]|0:[0,3-4]', target: '[]|0:[3-4]', says: '0_0:1000/1000' },
      C: { has: '[]|0:[0]', says: '0_0:1000/1000' },
      D: { has: '[]|0:[0]', says: '0_0:1000/1000' },
      E: { has: '[]|0:[0]', says: '0_0:10/1000' },
      O: { target: '0:[0]' },
    };
    const { moves, slices } = refined(crowd);
    expect(moves).to.deep.equal(['0_0 runs on C, warmup']);
    expect(slices['C']).to.equal('0:[0]|[]|[]');
    expect(slices['O']).to.equal('[]|[]|0:[0]');
    const { C, D, ...fewer } = crowd;
    expect(refined({ ...fewer, D: { ...D, has: '[]|0:[0,1-3]' } }).moves).to.deep.equal([
      '0_0 runs on B, warmup',
    ]);
    expect(refined({ A: crowd.A, O: crowd.O }).moves).to.deep.equal(['0_0 runs on A, warmup']);
    expect(C.says).to.equal(D.says);
  });

  it('grants cold what nobody runs and nobody has a copy of (WU-9.6)', () => {
    expect(refined({ A: {}, B: { target: '0:[0]' } }).moves).to.deep.equal(['0_0 to B, cold']);
  });

  it('takes a holder that restores for one that does not run the task, unless it is caught up (WU-6, WU-9.6, X18)', () => {
    const from = (says: string) => handOver({}, {}, { has: '0:[0-1]', says }).moves;
    expect(from('0_1:10/1000')).to.deep.equal(['0_1 to B, cold']);
    expect(from('0_1:950/1000')).to.deep.equal(['0_1 stays A, warmup']);
    expect(from('0_1:1000/1000')).to.deep.equal(['0_1 stays A, warmup']);
  });

  it('takes an offset without an end for one that a running task left behind', () => {
    expect(handOver({}, {}, { has: '0:[0-1]', says: '0_1:10' }).moves).to.deep.equal([
      '0_1 stays A, warmup',
    ]);
  });

  it('of two members that hold a task sees the one with the lower id', () => {
    const { moves } = refined({
      A: { has: '0:[0]' },
      B: { has: '0:[0]' },
      C: { target: '0:[0]' },
    });
    expect(moves).to.deep.equal(['0_0 stays A, warmup']);
  });

  it('ignores tasks that the topology does not have', () => {
    const { moves } = refined({
      A: { has: '0:[9];7:[0]|0:[12]', target: '7:[0]', says: '0_9:1/2,7_0:1/9' },
    });
    expect(moves).to.deep.equal([]);
  });
});

describe('loadOf()', () => {
  it('counts the load of a process per member, stateful tasks in all roles (WU-7)', () => {
    const survey = surveyOf(
      refinerInput({
        A1: { process: 'pA', has: '0:[0-2];1:[0-7]|0:[3]|0:[4]' },
        A2: { process: 'pA' },
      }),
    );
    expect(loadOf(survey, 0)).to.equal(2.5);
  });
});
