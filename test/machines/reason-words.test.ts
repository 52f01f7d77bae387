import { expect } from 'chai';
import { reasonWords } from '../../machines/decide/reason-words.ts';
import { LANDING, LEAVING } from '../../machines/model/look-back.ts';

describe('reasonWords()', () => {
  const context = { to: 'B', assignor: 'sticky', statefulShare: 10.4, activeShare: 20 };
  const leftWords = (isOne: boolean) =>
    LEAVING.map((leaving) =>
      reasonWords({ leaving, landing: 'assignor' }, { ...context, isOne }).replace(/;.*$/, ''),
    );
  const landedWords = (isOne: boolean) =>
    LANDING.map((landing) =>
      reasonWords({ leaving: 'unowned', landing }, { ...context, isOne }).replace(/^[^;]+; /, ''),
    );

  it('says that the owner left where that is known', () => {
    const words = (leaving: (typeof LEAVING)[number]) =>
      reasonWords({ leaving, landing: 'belowShare' }, { ...context, isOne: true, hasLeft: true });
    expect([words('unowned'), words('unheard')]).to.deep.equal([
      'its owner left; B needs it for an even share',
      'its owner left, and no member reports state of it; B needs it for an even share',
    ]);
  });

  it('says why one task left, and why several did', () => {
    expect(leftWords(true)).to.deep.equal([
      'no member was assigned it, or reports state of it',
      'no member was assigned it',
      'its owner has an older topology',
      'its owner had more than an even share of tasks with state (10.4)',
      'its owner had more than an even share of tasks (20)',
      'the process of its owner had more than an even share',
      'its owner had more than an even share of the subtopology',
      'its owner has an even share (20) without it',
      'there were too few standbys',
      'a process with a standby runs it now',
      'a standby was no different from the other copies by its tags',
      'who had a standby has an even share of all tasks without it',
      'sticky placed it anew',
    ]);
    expect(leftWords(false)).to.deep.equal([
      'no member was assigned them, or reports state of them',
      'no member was assigned them',
      'their owner has an older topology',
      'their owner had more than an even share of tasks with state (10.4)',
      'their owner had more than an even share of tasks (20)',
      'the process of their owner had more than an even share',
      'their owner had more than an even share of the subtopology',
      'their owner has an even share (20) without them',
      'there were too few standbys',
      'processes with standbys run them now',
      'a standby was no different from the other copies by its tags',
      'who had a standby has an even share of all tasks without them',
      'sticky placed them anew',
    ]);
  });

  it('says why one task is here, and why several are', () => {
    expect(landedWords(true)).to.deep.equal([
      'B had it as active',
      'B had a standby',
      'B had a warm-up',
      'B says that it had it',
      'the process of B had it',
      'the process of B has its state on disk',
      'B has a tag value that no other copy has',
      'B needs it for an even share',
      'every process has a copy',
      'sticky placed it',
    ]);
    expect(landedWords(false)).to.deep.equal([
      'B had them as active',
      'B had standbys',
      'B had warm-ups',
      'B says that it had them',
      'the process of B had them',
      'the process of B has their state on disk',
      'B has a tag value that no other copy has',
      'B needs them for an even share',
      'every process has a copy',
      'sticky placed them',
    ]);
  });
});
