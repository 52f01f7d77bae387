import { execFile } from 'node:child_process';
import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';
import type { Clock } from '../../actors/ports.ts';
import { type Change, keysUnder } from '../../src/store/key-values.ts';
import { LevelKeyValues } from '../../src/store/level-key-values.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);
const storeProcess = fileURLToPath(new URL('../support/store-process.js', import.meta.url));

async function refusalOf(folder: string, shardCount: number): Promise<[string, string]> {
  const thrown = await rejectionOf(LevelKeyValues.open({ folder, shardCount }));
  if (!(thrown instanceof StoreError)) throw thrown;
  expect(thrown.message).not.to.include('\n');
  return [thrown.fault, thrown.message];
}

describe('LevelKeyValues.open()', () => {
  it('makes a folder, parents included, and finds what was written in it', () =>
    inTemporaryFolder(async (parent) => {
      const folder = join(parent, 'deep', 'down');
      const key = Buffer.of(0x10, 1);
      const first = await LevelKeyValues.open({ folder, shardCount: 50 });
      await first.write([{ type: 'put', key, value: Buffer.from('kept') }], { sync: true });
      await first.close();
      const second = await LevelKeyValues.open({ folder, shardCount: 50 });
      expect((await second.get(key))?.toString()).to.equal('kept');
      await second.close();
    }));

  it('refuses by name a folder of another number of shards (LG-2)', () =>
    inTemporaryFolder(async (folder) => {
      await (await LevelKeyValues.open({ folder, shardCount: 50 })).close();
      expect(await refusalOf(folder, 12)).to.deep.equal([
        'wrongShardCount',
        `Open the store in ${folder}: it was made with offsets.topic.num.partitions=50, not 12`,
      ]);
      await (await LevelKeyValues.open({ folder, shardCount: 50 })).close();
    }));

  it('refuses by name a newer format', () =>
    inTemporaryFolder(async (folder) => {
      const store = await LevelKeyValues.open({ folder, shardCount: 50 });
      const value = Buffer.from('{"format":2,"shards":50}');
      await store.write([{ type: 'put', key: Buffer.of(0), value }], { sync: true });
      await store.close();
      expect(await refusalOf(folder, 50)).to.deep.equal([
        'newerFormat',
        `Open the store in ${folder}: its format is 2, this build knows up to 1`,
      ]);
    }));

  it('refuses a database of somebody else and leaves it as it is', () =>
    inTemporaryFolder(async (folder) => {
      const other = new ClassicLevel(folder);
      await other.put('key', 'theirs');
      await other.close();
      expect(await refusalOf(folder, 50)).to.deep.equal([
        'foreign',
        `Open the store in ${folder}: it holds other data`,
      ]);
      await other.open();
      expect(await other.keys().all()).to.deep.equal(['key']);
      await other.close();
    }));

  it('refuses a path that is a file', () =>
    inTemporaryFolder(async (parent) => {
      const file = join(parent, 'file');
      await writeFile(file, 'not a folder');
      expect((await refusalOf(file, 50))[0]).to.equal('unreadable');
    }));

  it('refuses a folder that another process holds, until that lets go', () =>
    inTemporaryFolder(async (folder) => {
      const store = await LevelKeyValues.open({ folder, shardCount: 50 });
      const whileHeld = await run(process.execPath, [storeProcess, 'open', folder]);
      expect(whileHeld.stdout).to.equal(
        `locked Open the store in ${folder}: it is in use by another process (--data-dir)\n`,
      );
      await store.close();
      const afterwards = await run(process.execPath, [storeProcess, 'open', folder]);
      expect(afterwards.stdout).to.equal('opened\n');
    }));
});

describe('LevelKeyValues.scan()', () => {
  it('gives few entries at a time, so that whoever makes records of them lets others in between', () =>
    inTemporaryFolder(async (folder) => {
      const store = await LevelKeyValues.open({ folder, shardCount: 50 });
      const changes: Change[] = Array.from({ length: 250 }, (_, nth) => ({
        type: 'put',
        key: Buffer.of(0x10, nth),
        value: Buffer.alloc(10),
      }));
      await store.write(changes, { sync: false });
      const lengths: number[] = [];
      for await (const chunk of store.scan(keysUnder(Buffer.of(0x10)))) lengths.push(chunk.length);
      await store.close();
      expect(lengths).to.deep.equal([100, 100, 50]);
    }));
});

describe('LevelKeyValues.write()', () => {
  for (const [what, count, valueBytes, turnsWanted] of [
    ['many changes', 1_001, 1, 2],
    ['large changes', 5, 300 * 1024, 2],
  ] as const) {
    it(`makes ${what} some at a time, lets others have the event loop in between, and writes all`, () =>
      inTemporaryFolder(async (folder) => {
        let turns = 0;
        const clock: Pick<Clock, 'after' | 'soon'> = {
          after: () => () => undefined,
          soon: (callback) => {
            turns++;
            setImmediate(callback);
          },
        };
        const store = await LevelKeyValues.open({ folder, shardCount: 50, clock });
        const changes: Change[] = Array.from({ length: count }, (_, nth) => ({
          type: 'put',
          key: Buffer.of(0x10, nth >> 8, nth & 0xff),
          value: Buffer.alloc(valueBytes, nth),
        }));
        const last: Change = { type: 'del', key: Buffer.of(0x10, 0, 0) };
        await store.write([...changes, last], { sync: true });
        const kept: Change[] = [];
        for await (const entries of store.scan(keysUnder(Buffer.of(0x10)))) {
          for (const [key, value] of entries) kept.push({ type: 'put', key, value });
        }
        await store.close();
        expect(kept).to.deep.equal(changes.slice(1));
        expect(turns).to.equal(turnsWanted);
      }));
  }

  it('goes on failing when the folder was taken away, and does not make an empty store there', () =>
    inTemporaryFolder(async (parent) => {
      const folder = join(parent, 'store');
      const store = await LevelKeyValues.open({ folder, shardCount: 50 });
      // More than the engine keeps in one file of its log: it has to begin another.
      const value = Buffer.alloc(3 * 1024 * 1024);
      const write = () =>
        store.write([{ type: 'put', key: Buffer.of(0x10), value }], { sync: true });
      await write();
      await rm(folder, { recursive: true });
      await rejectionOf(repeatedly(write, 5));
      expect(await rejectionOf(write())).to.be.instanceOf(StoreError);
      expect(await rejectionOf(access(join(folder, 'CURRENT')))).to.include({ code: 'ENOENT' });
      await store.close();
    }));
});

async function repeatedly(action: () => Promise<void>, times: number): Promise<void> {
  for (let done = 0; done < times; done += 1) await action();
}
