import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';
import type { Entry } from '../../src/store/key-values.ts';
import { LevelKeyValues } from '../../src/store/level-key-values.ts';
import type { StoreError } from '../../src/store/store-error.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

type Chained = ReturnType<ClassicLevel<Buffer, Buffer>['batch']>;
const engine = ClassicLevel.prototype as unknown as {
  open(): Promise<void>;
  batch(): Chained;
  getMany(...args: unknown[]): Promise<unknown>;
};

const KEY = Buffer.of(0x10, 1);
const put = (text: string) => [{ type: 'put', key: KEY, value: Buffer.from(text) }] as const;

type Faults = {
  /** How often reads of what was there before fail. */
  readonly readsFailing?: number;
  /** How often what was there before cannot be written. */
  readonly undosFailing?: number;
  /** Is waited for before what was there before is written. */
  readonly beforeUndo?: () => Promise<void>;
};

/**
 * Lets the next write of the engine fail, and comes up with it after all when the folder is opened again, as LevelDB
 * may.
 */
async function withFailingEngine(
  { readsFailing = 0, undosFailing = 0, beforeUndo = async () => undefined }: Faults,
  work: () => Promise<void>,
): Promise<void> {
  const { open, batch, getMany } = engine;
  const lost: Entry[] = [];
  let writesBegun = 0;
  let readsToFail = readsFailing;
  engine.batch = function (this: typeof engine) {
    const chained = batch.apply(this);
    const nth = writesBegun++;
    if (nth > 1 + undosFailing) return chained;
    const write = chained.write.bind(chained);
    if (nth === 0) {
      chained.put = (...entry: Entry) => {
        lost.push(entry);
        return chained;
      };
    }
    chained.write = async () => {
      if (nth <= undosFailing) throw new Error('told to fail');
      await beforeUndo();
      await write();
    };
    return chained;
  };
  engine.getMany = async function (this: typeof engine, ...args) {
    if (readsToFail-- > 0) throw new Error('told to fail');
    return getMany.apply(this, args);
  };
  engine.open = async function (this: typeof engine) {
    await open.apply(this);
    const again = batch.apply(this);
    for (const [key, value] of lost.splice(0)) again.put(key, value);
    await again.write();
  };
  try {
    await work();
  } finally {
    for (const name of ['open', 'batch', 'getMany']) Reflect.deleteProperty(engine, name);
  }
}

async function keptIn(folder: string): Promise<string | undefined> {
  const store = await LevelKeyValues.open({ folder, shardCount: 50 });
  const kept = await store.get(KEY);
  await store.close();
  return kept?.toString();
}

describe('LevelKeyValues after a failed write', () => {
  for (const readsFailing of [0, 1]) {
    it(`puts back what was there and goes on, ${readsFailing} reads failing`, () =>
      inTemporaryFolder(async (folder) => {
        const store = await LevelKeyValues.open({ folder, shardCount: 50 });
        await store.write(put('first'), { sync: true });
        const other = [{ type: 'put', key: Buffer.of(0x10, 2), value: KEY }] as const;
        await withFailingEngine({ readsFailing }, async () => {
          await rejectionOf(store.write(put('lost'), { sync: true }));
          for (let at = 0; at < readsFailing; at++) {
            await rejectionOf(store.write(other, { sync: true }));
          }
          await store.write(other, { sync: true });
          expect((await store.get(KEY))?.toString()).to.equal('first');
          await store.close();
        });
        expect(await keptIn(folder)).to.equal('first');
      }));
  }

  it('reads nothing of it while it is being undone', () =>
    inTemporaryFolder(async (folder) => {
      const store = await LevelKeyValues.open({ folder, shardCount: 50 });
      await store.write(put('first'), { sync: true });
      const read: unknown[] = [];
      const beforeUndo = async () => {
        read.push(await store.get(KEY).then(String, ({ fault }: StoreError) => fault));
        const scan = store.scan({ from: KEY, to: Buffer.of(0xff) });
        read.push(await scan.next().then(String, ({ fault }: StoreError) => fault));
      };
      await withFailingEngine({ beforeUndo }, async () => {
        await rejectionOf(store.write(put('lost'), { sync: true }));
        await store.write(put('next'), { sync: true });
        read.push(String(await store.get(KEY)));
        await store.close();
      });
      expect(read).to.deep.equal(['failed', 'failed', 'next']);
    }));

  it('tries again when it cannot be undone, and lets go of the folder meanwhile', () =>
    inTemporaryFolder(async (folder) => {
      const store = await LevelKeyValues.open({ folder, shardCount: 50 });
      await store.write(put('first'), { sync: true });
      const other = [{ type: 'put', key: Buffer.of(0x10, 2), value: KEY }] as const;
      await withFailingEngine({ undosFailing: 1 }, async () => {
        await rejectionOf(store.write(put('lost'), { sync: true }));
        const refused = await rejectionOf(store.write(other, { sync: true }));
        expect(String(refused)).to.match(/Repair the store in .*: told to fail$/);
        await store.write(other, { sync: true });
        expect((await store.get(KEY))?.toString()).to.equal('first');
        await store.close();
      });
    }));

  it('lets nothing of it come back when it is closed before the next write', () =>
    inTemporaryFolder(async (folder) => {
      const store = await LevelKeyValues.open({ folder, shardCount: 50 });
      await store.write(put('first'), { sync: true });
      await withFailingEngine({}, async () => {
        await rejectionOf(store.write(put('lost'), { sync: true }));
        await store.close();
        expect(await keptIn(folder)).to.equal('first');
      });
    }));
});
