import { expect } from 'chai';
import fc from 'fast-check';
import { Mailbox } from '../../actors/mailbox.ts';

describe('Mailbox', () => {
  it('refuses what comes from outside when full, never what comes from inside', () => {
    const mailbox = new Mailbox<number>(2);
    expect([mailbox.offer(1), mailbox.offer(2), mailbox.offer(3)]).to.deep.equal([
      true,
      true,
      false,
    ]);
    mailbox.push(4);
    expect([mailbox.take(), mailbox.take(), mailbox.take(), mailbox.take()]).to.deep.equal([
      1,
      2,
      4,
      undefined,
    ]);
  });

  it('is first in, first out over any mix of putting and taking', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(), fc.constant('take')), { maxLength: 200 }),
        (steps) => {
          const mailbox = new Mailbox<number>(1000);
          const model: number[] = [];
          for (const step of steps) {
            if (typeof step === 'number') {
              mailbox.push(step);
              model.push(step);
            } else expect(mailbox.take()).to.equal(model.shift());
          }
          expect(mailbox.size).to.equal(model.length);
          expect(mailbox.drain()).to.deep.equal(model);
        },
      ),
    );
  });
});
