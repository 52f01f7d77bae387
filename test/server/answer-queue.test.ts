import { expect } from 'chai';
import fc from 'fast-check';
import type { Slot } from '../../src/server/answer-queue.ts';
import { AnswerQueue } from '../../src/server/answer-queue.ts';

/** A step of a history: a request comes, with an answer at once or later; or one of those owed is answered. */
const step = fc.oneof(
  fc.constant({ does: 'ask' } as const),
  fc.record({ does: fc.constant('askReady' as const), bytes: fc.nat({ max: 9 }) }),
  fc.record({
    does: fc.constant('settle' as const),
    which: fc.nat({ max: 20 }),
    bytes: fc.nat({ max: 9 }),
  }),
);

describe('AnswerQueue', () => {
  it('gives answers in the order of the requests, each once, whatever order they come in', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new AnswerQueue();
        const owed: { slot: Slot; id: number }[] = [];
        const ready = new Map<number, Buffer>();
        let asked = 0;
        let taken = 0;
        for (const one of steps) {
          if (one.does === 'ask') {
            owed.push({ slot: queue.append(), id: asked });
            asked += 1;
          } else if (one.does === 'askReady') {
            const answer = Buffer.alloc(one.bytes);
            queue.append(answer);
            ready.set(asked, answer);
            asked += 1;
          } else {
            const [chosen] = owed.splice(one.which % Math.max(1, owed.length), 1);
            if (chosen === undefined) continue;
            const answer = Buffer.alloc(one.bytes);
            queue.settle(chosen.slot, answer);
            ready.set(chosen.id, answer);
          }
          for (let next = queue.take(); next !== undefined; next = queue.take()) {
            expect(next).to.equal(ready.get(taken));
            ready.delete(taken);
            taken += 1;
          }
          // What is left cannot go: the first request is still owed its answer.
          expect(ready.has(taken)).to.equal(false);
          expect(queue.size).to.equal(asked - taken);
          const held = [...ready.values()].reduce((sum, { length }) => sum + length, 0);
          expect(queue.heldBytes).to.equal(held);
        }
      }),
    );
  });

  it('counts the bytes of answers in pieces, and none for one without bytes', () => {
    const queue = new AnswerQueue();
    queue.append();
    queue.append([Buffer.alloc(2), Buffer.alloc(3)]);
    queue.append('none');
    expect(queue.heldBytes).to.equal(5);
  });
});
