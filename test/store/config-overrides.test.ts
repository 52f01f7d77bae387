import { expect } from 'chai';
import { ConfigOverrides } from '../../src/store/config-overrides.ts';
import type { KeyValues } from '../../src/store/key-values.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { ScriptedKeyValues } from '../support/scripted-key-values.ts';

const welcome = { judge: () => undefined, validateOnly: false };
const set = (...pairs: [string, string | null][]) => new Map(pairs);

async function everything(keyValues: KeyValues) {
  const overrides = await ConfigOverrides.open(keyValues);
  return (['broker', 'group'] as const).flatMap((kind) =>
    overrides.names(kind).map((name) => [kind, name, [...overrides.of(kind, name)]]),
  );
}

describe('ConfigOverrides', () => {
  it('keeps values by resource over a restart, names of every kind apart', async () => {
    const keyValues = new ScriptedKeyValues();
    const overrides = await ConfigOverrides.open(keyValues);
    await overrides.alter('group', '1', set(['a', '1'], ['__proto__', 'x']), welcome);
    await overrides.alter('broker', '1', set(['b', '2']), welcome);
    await overrides.alter('broker', '', set(['c', '3']), welcome);
    expect(await everything(keyValues)).to.deep.equal([
      ['broker', '', [['c', '3']]],
      ['broker', '1', [['b', '2']]],
      [
        'group',
        '1',
        [
          ['a', '1'],
          ['__proto__', 'x'],
        ],
      ],
    ]);
    expect(keyValues.writes.map(({ sync }) => sync)).to.deep.equal([true, true, true]);
  });

  it('removes a resource with its last value (GC-9)', async () => {
    const keyValues = new ScriptedKeyValues();
    const overrides = await ConfigOverrides.open(keyValues);
    await overrides.alter('group', 'g', set(['a', '1'], ['b', '2']), welcome);
    await overrides.alter('group', 'g', set(['a', null]), welcome);
    expect(overrides.names('group')).to.deep.equal(['g']);
    await overrides.alter('group', 'g', set(['b', null], ['never set', null]), welcome);
    expect(overrides.names('group')).to.deep.equal([]);
    expect([...overrides.of('group', 'g')]).to.deep.equal([]);
    expect(await everything(keyValues)).to.deep.equal([]);
  });

  it('alter() judges the complete set and changes nothing it refuses (GC-2)', async () => {
    const keyValues = new ScriptedKeyValues();
    const overrides = await ConfigOverrides.open(keyValues);
    await overrides.alter('group', 'g', set(['a', '1']), welcome);
    const seen: unknown[] = [];
    const refusal = await overrides.alter('group', 'g', set(['b', '2']), {
      judge: (wanted) => {
        seen.push([...wanted]);
        return 'too many';
      },
      validateOnly: false,
    });
    expect(refusal).to.equal('too many');
    expect(seen).to.deep.equal([
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ]);
    expect(await everything(keyValues)).to.deep.equal([['group', 'g', [['a', '1']]]]);
  });

  it('alter() with validateOnly judges and stores nothing (GC-4)', async () => {
    const keyValues = new ScriptedKeyValues();
    const overrides = await ConfigOverrides.open(keyValues);
    const options = { judge: () => undefined, validateOnly: true };
    expect(await overrides.alter('group', 'g', set(['a', '1']), options)).to.equal(undefined);
    expect(overrides.names('group')).to.deep.equal([]);
    expect(keyValues.writes).to.have.length(0);
  });

  it('alter() of overlapping calls sees each the one before', async () => {
    const overrides = await ConfigOverrides.open(new ScriptedKeyValues());
    const sizes: number[] = [];
    await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        overrides.alter('group', 'g', set([name, 'x']), {
          judge: (wanted) => {
            sizes.push(wanted.size);
            return undefined;
          },
          validateOnly: false,
        }),
      ),
    );
    expect(sizes).to.deep.equal([1, 2, 3]);
  });

  it('shows nothing that could not be kept, tells nobody, and goes on', async () => {
    const keyValues = new ScriptedKeyValues();
    const overrides = await ConfigOverrides.open(keyValues);
    const told: string[] = [];
    overrides.onChange((kind, name) => {
      told.push(`${kind} ${name}: ${[...overrides.of(kind, name)].join(' ')}`);
    });
    keyValues.failNext();
    const lost = rejectionOf(overrides.alter('group', 'g', set(['a', '1']), welcome));
    const kept = overrides.alter('group', 'h', set(['b', '2']), welcome);
    expect(await lost).to.be.instanceOf(StoreError);
    await kept;
    expect(overrides.names('group')).to.deep.equal(['h']);
    expect(told).to.deep.equal(['group h: b,2']);
  });

  it('of() gives the same map until the resource changes', async () => {
    const overrides = await ConfigOverrides.open(new ScriptedKeyValues());
    await overrides.alter('group', 'g', set(['a', '1']), welcome);
    const before = overrides.of('group', 'g');
    await overrides.alter('group', 'h', set(['a', '1']), welcome);
    expect(overrides.of('group', 'g')).to.equal(before);
    expect(overrides.of('group', 'none')).to.equal(overrides.of('broker', 'none'));
  });
});
