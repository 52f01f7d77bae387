import { expect } from 'chai';
import { Serial } from '../../src/store/serial.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { rejectionOf } from '../support/rejection-of.ts';

describe('Serial', () => {
  it('runs one piece of work at a time, in order, past one that fails', async () => {
    const serial = new Serial();
    const events: string[] = [];
    const work = (name: string) => async () => {
      events.push(`${name} begins`);
      await Promise.resolve();
      events.push(`${name} ends`);
      if (name === 'b') throw new Error('b fails');
      return name;
    };
    const [a, b, c] = [serial.run(work('a')), serial.run(work('b')), serial.run(work('c'))];
    expect(await rejectionOf(b)).to.have.property('message', 'b fails');
    expect(await Promise.all([a, c])).to.deep.equal(['a', 'c']);
    expect(events).to.deep.equal(
      ['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
  });

  it('refuses more than may wait, and takes more when it is done', async () => {
    const serial = new Serial(2);
    const waiting = [serial.run(async () => 1), serial.run(async () => 2)];
    const refusal = await rejectionOf(serial.run(async () => 3));
    expect(refusal).to.be.instanceOf(StoreError).with.property('fault', 'busy');
    await Promise.all(waiting);
    expect(await serial.run(async () => 4)).to.equal(4);
  });
});
