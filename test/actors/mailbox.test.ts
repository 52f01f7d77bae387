import { expect } from 'chai';
import fc from 'fast-check';
import { type Length, Mailbox } from '../../actors/mailbox.ts';

type Item = { readonly group: string; readonly length: Length; readonly nth: number };

function mailbox(limit = 1000): Mailbox<Item> {
  return new Mailbox<Item>({
    limit,
    lineOf: ({ group }) => group,
    lengthOf: ({ length }) => length,
  });
}

function item(group: string, nth: number, length: Length = 'short'): Item {
  return { group, length, nth };
}

/** Everything of one length, as group and number. */
function takeAll(box: Mailbox<Item>, length: Length): string[] {
  const taken: string[] = [];
  for (let next = box.take(length); next !== undefined; next = box.take(length)) {
    taken.push(`${next.group}${next.nth}`);
  }
  return taken;
}

describe('Mailbox', () => {
  it('refuses what comes from outside when full, never what comes from inside', () => {
    const box = mailbox(2);
    const offered = [item('a', 1), item('b', 1), item('a', 2)].map((each) => box.offer(each));
    expect(offered).to.deep.equal([true, true, false]);
    box.push(item('a', 3));
    expect(box.size).to.equal(3);
    expect(takeAll(box, 'short')).to.deep.equal(['a1', 'b1', 'a3']);
  });

  it('lets groups take turns, whatever waits of each', () => {
    const box = mailbox();
    for (let nth = 1; nth <= 4; nth++) box.push(item('a', nth));
    box.push(item('c', 1));
    box.push(item('b', 1));
    box.push(item('b', 2));
    expect(takeAll(box, 'short')).to.deep.equal(['a1', 'c1', 'b1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('keeps a short message behind the long one of its own group, and no other', () => {
    const box = mailbox();
    box.push(item('a', 1, 'long'));
    box.push(item('a', 2));
    box.push(item('b', 1));
    expect(takeAll(box, 'short')).to.deep.equal(['b1']);
    expect([box.has('short'), box.has('long')]).to.deep.equal([false, true]);
    expect(takeAll(box, 'long')).to.deep.equal(['a1']);
    expect(takeAll(box, 'short')).to.deep.equal(['a2']);
    expect(box.size).to.equal(0);
  });

  it('is first in, first out in each group, over any mix of putting and taking', () => {
    const groups = fc.constantFrom('a', 'b', 'c', 'd');
    const lengths = fc.constantFrom<Length>('short', 'long');
    const put = fc.record({ group: groups, length: lengths });
    fc.assert(
      fc.property(fc.array(fc.oneof(put, lengths), { maxLength: 200 }), (steps) => {
        const box = mailbox();
        const model = new Map<string, Item[]>();
        let nth = 0;
        for (const step of steps) {
          if (typeof step !== 'string') {
            const made = { ...step, nth: nth++ };
            box.push(made);
            model.set(step.group, [...(model.get(step.group) ?? []), made]);
            continue;
          }
          const ready = [...model.values()].filter(([first]) => first?.length === step);
          expect(box.has(step)).to.equal(ready.length > 0);
          const taken = box.take(step);
          if (taken === undefined) expect(ready).to.deep.equal([]);
          else expect(model.get(taken.group)?.shift()).to.equal(taken);
        }
        const rest = [...model.values()].flat();
        expect(box.size).to.equal(rest.length);
        expect(box.drain()).to.have.members(rest);
        expect([box.size, box.has('short'), box.has('long')]).to.deep.equal([0, false, false]);
      }),
    );
  });
});
