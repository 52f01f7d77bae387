import { expect } from 'chai';
import fc from 'fast-check';
import { PersistentMap } from '../../machines/model/persistent-map.ts';

/** Few keys, so that they meet; `Aa` and `BB`, and whatever is built of them, have one hash. */
const key = fc.oneof(
  fc.array(fc.constantFrom('Aa', 'BB'), { maxLength: 4 }).map((parts) => parts.join('')),
  fc.nat({ max: 60 }).map((number) => `k${number}`),
);
const change = fc.record({ key, value: fc.option(fc.nat()) });

function play(changes: readonly { key: string; value: number | null }[]) {
  const plain = new Map<string, number>();
  let map = PersistentMap.empty<number>();
  for (const each of changes) {
    if (each.value === null) {
      plain.delete(each.key);
      map = map.delete(each.key);
    } else {
      plain.set(each.key, each.value);
      map = map.set(each.key, each.value);
    }
  }
  return { plain, map };
}

function setAll(map: PersistentMap<number>, entries: readonly (readonly [string, number])[]) {
  return map.setAll(
    entries.map(([each]) => each),
    entries.map(([, value]) => value),
  );
}

describe('PersistentMap', () => {
  it('tells what changed from one map to another, whatever they share', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 80 }),
        fc.array(change, { maxLength: 20 }),
        fc.array(change, { maxLength: 80 }),
        fc.boolean(),
        (first, more, other, related) => {
          const before = play(first);
          const after = play(related ? [...first, ...more] : other);
          const changes = new Map<string, unknown>();
          before.map.forEachChange(after.map, (changed, was, is) => {
            expect(changes.has(changed)).to.equal(false);
            changes.set(changed, { was, is });
          });
          const wanted = new Map<string, unknown>();
          for (const each of new Set([...before.plain.keys(), ...after.plain.keys()])) {
            const [was, is] = [before.plain.get(each), after.plain.get(each)];
            if (was !== is) wanted.set(each, { was, is });
          }
          expect(changes).to.deep.equal(wanted);
        },
      ),
    );
  });

  it('takes many at once as one by one', () => {
    const entry = fc.tuple(key, fc.nat({ max: 3 }));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), fc.array(entry), (before, entries) => {
        const { plain, map } = play(before);
        const all = setAll(map, entries);
        expect(new Map(all)).to.deep.equal(new Map([...plain, ...entries]));
        expect(all.size).to.equal(new Map([...plain, ...entries]).size);
        const oneByOne = entries.reduce((made, [each, value]) => made.set(each, value), map);
        expect([...all]).to.deep.equal([...oneByOne]);
        expect(setAll(map, [...plain])).to.equal(map);
      }),
    );
  });

  it('holds what a Map would hold', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), key, (changes, other) => {
        const { plain, map } = play(changes);
        expect(map.size).to.equal(plain.size);
        expect(new Map(map)).to.deep.equal(plain);
        expect(new Set(map.keys())).to.deep.equal(new Set(plain.keys()));
        expect([...map.values()].sort()).to.deep.equal([...plain.values()].sort());
        expect(map.get(other)).to.equal(plain.get(other));
        expect(map.has(other)).to.equal(plain.has(other));
      }),
    );
  });

  it('goes through its keys in an order that does not tell what happened before', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
        const { plain, map } = play(changes);
        expect([...map]).to.deep.equal([...PersistentMap.from([...plain].reverse())]);
      }),
    );
  });

  it('never changes: an older map still holds what it held', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), fc.array(change), (before, after) => {
        const { map } = play(before);
        const held = [...map];
        for (const each of after) {
          if (each.value === null) map.delete(each.key);
          else map.set(each.key, each.value);
        }
        expect([...map]).to.deep.equal(held);
      }),
    );
  });

  it('is the same map when nothing changes', () => {
    const map = PersistentMap.from([['a', 1]]);
    expect(map.set('a', 1)).to.equal(map);
    expect(map.delete('b')).to.equal(map);
  });

  it('grows to many keys', () => {
    const keys = Array.from({ length: 20_000 }, (_, at) => `member-${at}`);
    const map = PersistentMap.from(keys.map((each, at) => [each, at] as const));
    expect(map.size).to.equal(20_000);
    expect(keys.every((each, at) => map.get(each) === at)).to.equal(true);
    const less = keys.slice(0, 19_990).reduce((rest, each) => rest.delete(each), map);
    expect([...less.keys()].sort()).to.deep.equal(keys.slice(19_990).sort());
  });
});
