import { expect } from 'chai';
import { type KeyRange, type KeyValues, keysUnder } from '../../src/store/key-values.ts';
import { LevelKeyValues } from '../../src/store/level-key-values.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const engines: Record<string, (use: (engine: KeyValues) => Promise<void>) => Promise<void>> = {
  MemoryKeyValues: (use) => use(new MemoryKeyValues()),
  LevelKeyValues: (use) =>
    inTemporaryFolder(async (folder) => {
      const engine = await LevelKeyValues.open({ folder, shardCount: 50 });
      await use(engine);
      await engine.close();
    }),
};

const bytes = (...values: number[]) => Buffer.from(values);
const put = (key: Buffer, value: string) =>
  ({ type: 'put', key, value: Buffer.from(value) }) as const;

async function scanned(
  engine: KeyValues,
  range: KeyRange,
  options?: { readonly backwards?: boolean; readonly limit?: number },
): Promise<string[]> {
  const found: string[] = [];
  for await (const entries of engine.scan(range, options)) {
    for (const [key, value] of entries) found.push(`${key.toString('hex')}=${value}`);
  }
  return found;
}

for (const [name, withEngine] of Object.entries(engines)) {
  describe(`KeyValues: ${name}`, () => {
    it('get() gives what write() put, undefined for what is not there or was deleted', () =>
      withEngine(async (engine) => {
        await engine.write([put(bytes(9, 1), 'one'), put(bytes(9, 2), 'two')], { sync: true });
        await engine.write([{ type: 'del', key: bytes(9, 2) }], { sync: false });
        expect((await engine.get(bytes(9, 1)))?.toString()).to.equal('one');
        expect(await engine.get(bytes(9, 2))).to.equal(undefined);
        expect(await engine.get(bytes(9, 3))).to.equal(undefined);
      }));

    it('write() makes changes in their order, also of one key', () =>
      withEngine(async (engine) => {
        const key = bytes(9, 1);
        await engine.write([{ type: 'del', key }, put(key, 'a'), put(key, 'b')], { sync: false });
        expect((await engine.get(key))?.toString()).to.equal('b');
      }));

    it('write() lands in the order of the calls', () =>
      withEngine(async (engine) => {
        const key = bytes(9, 1);
        const writes = Array.from({ length: 50 }, (_, at) =>
          engine.write([put(key, String(at))], { sync: at % 2 === 0 }),
        );
        await Promise.all(writes);
        expect((await engine.get(key))?.toString()).to.equal('49');
      }));

    it('scan() gives a range in the order of unsigned bytes, from either end, up to a limit', () =>
      withEngine(async (engine) => {
        const keys = [bytes(9, 0xff), bytes(9), bytes(9, 0x80), bytes(9, 1), bytes(10), bytes(8)];
        await engine.write(
          keys.map((key) => put(key, 'x')),
          { sync: false },
        );
        const range = keysUnder(bytes(9));
        expect(await scanned(engine, range)).to.deep.equal(['09=x', '0901=x', '0980=x', '09ff=x']);
        expect(await scanned(engine, range, { backwards: true, limit: 2 })).to.deep.equal([
          '09ff=x',
          '0980=x',
        ]);
        expect(await scanned(engine, range, { limit: 1 })).to.deep.equal(['09=x']);
      }));

    it('scan() gives more entries than fit one chunk, each once', () =>
      withEngine(async (engine) => {
        const keys = Array.from({ length: 2500 }, (_, at) => bytes(9, at >> 8, at & 0xff));
        await engine.write(
          keys.map((key) => put(key, 'x')),
          { sync: false },
        );
        expect(await scanned(engine, keysUnder(bytes(9)))).to.deep.equal(
          keys.map((key) => `${key.toString('hex')}=x`),
        );
      }));

    it('refuses everything after close()', () =>
      withEngine(async (engine) => {
        await engine.close();
        const faults = [
          await rejectionOf(engine.get(bytes(9))),
          await rejectionOf(engine.write([], { sync: false })),
          await rejectionOf(scanned(engine, keysUnder(bytes(9)))),
        ];
        expect(faults.map((fault) => (fault as { fault?: string }).fault)).to.deep.equal([
          'closed',
          'closed',
          'closed',
        ]);
      }));
  });
}

describe('keysUnder()', () => {
  it('ends where the prefix cannot go on, past bytes that are full', () => {
    expect(keysUnder(bytes(1, 0xff))).to.deep.equal({ from: bytes(1, 0xff), to: bytes(2) });
    expect(keysUnder(bytes(1, 2))).to.deep.equal({ from: bytes(1, 2), to: bytes(1, 3) });
  });
});
