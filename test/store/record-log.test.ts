import { expect } from 'chai';
import fc from 'fast-check';
import { LogError, type RecordBatch, type RecordLog } from '../../actors/ports.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { LevelKeyValues } from '../../src/store/level-key-values.ts';
import { LevelLog } from '../../src/store/level-log.ts';
import { MemoryLog } from '../../src/store/memory.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { FaultyLog } from '../support/faulty-log.ts';
import { anyRecord, batchOf, compacted, epochRecord } from '../support/group-records.ts';
import { promptly } from '../support/promptly.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const logs: Record<string, (use: (log: RecordLog) => Promise<void>) => Promise<void>> = {
  MemoryLog: (use) => use(new MemoryLog()),
  'FaultyLog without a fault': (use) => use(new FaultyLog(new MemoryLog())),
  'LevelLog in memory': (use) => use(new LevelLog(new MemoryKeyValues(), promptly)),
  'LevelLog in a folder': (use) =>
    inTemporaryFolder(async (folder) => {
      const keyValues = await LevelKeyValues.open({ folder, shardCount: 50 });
      await use(new LevelLog(keyValues, promptly));
      await keyValues.close();
    }),
};

async function loaded(log: RecordLog, shard: number): Promise<GroupRecord[]> {
  const records: GroupRecord[] = [];
  await log.load(
    shard,
    (record) => records.push(record),
    () => expect.fail('no unknown records here'),
  );
  return records;
}

for (const [name, withLog] of Object.entries(logs)) {
  describe(`RecordLog: ${name}`, () => {
    it('load() gives per key the last value appended, tombstones gone or last', () =>
      withLog(async (log) => {
        await log.append([batchOf(3, epochRecord('g', 1), epochRecord('h', 1))]);
        await log.append([
          batchOf(3, epochRecord('g', 2)),
          batchOf(3, { ...epochRecord('h', 0), value: null }),
        ]);
        expect(compacted(await loaded(log, 3))).to.deep.equal([epochRecord('g', 2)]);
      }));

    it('load() gives the records of its own shard alone', () =>
      withLog(async (log) => {
        await Promise.all([
          log.append([batchOf(0, epochRecord('zero', 1))]),
          log.append([batchOf(255, epochRecord('last of a byte', 1))]),
          log.append([batchOf(256, epochRecord('first of the next', 1))]),
        ]);
        expect(await loaded(log, 0)).to.deep.equal([epochRecord('zero', 1)]);
        expect(await loaded(log, 1)).to.deep.equal([]);
        expect(await loaded(log, 255)).to.deep.equal([epochRecord('last of a byte', 1)]);
        expect(await loaded(log, 256)).to.deep.equal([epochRecord('first of the next', 1)]);
      }));

    it('append() of overlapping calls resolves in their order', () =>
      withLog(async (log) => {
        const order: number[] = [];
        await Promise.all(
          [1, 2, 3, 4].map(async (epoch) => {
            await log.append([batchOf(1, epochRecord('g', epoch))]);
            order.push(epoch);
          }),
        );
        expect(order).to.deep.equal([1, 2, 3, 4]);
        expect((await loaded(log, 1)).at(-1)).to.deep.equal(epochRecord('g', 4));
      }));

    it('append() of nothing resolves', () => withLog((log) => log.append([])));

    it('append() after close() is refused with KAFKA_STORAGE_ERROR', () =>
      withLog(async (log) => {
        await log.close();
        const refusal = await rejectionOf(log.append([batchOf(1, epochRecord('g', 1))]));
        expect(refusal).to.be.instanceOf(LogError);
        expect((refusal as LogError).error).to.equal('KAFKA_STORAGE_ERROR');
      }));
  });
}

describe('MemoryLog', () => {
  it('keeps whole batches, and prefix() is a log of its own', async () => {
    const log = new MemoryLog();
    const batches = [1, 2, 3].map((epoch) => batchOf(1, epochRecord('g', epoch)));
    for (const batch of batches) await log.append([batch]);
    const before = log.prefix(2);
    await log.append([batchOf(1, epochRecord('g', 4))]);
    expect(before.batches).to.deep.equal(batches.slice(0, 2));
    await before.append([batchOf(1, epochRecord('g', 9))]);
    expect(log.batches.map((batch) => batch.records[0])).to.deep.equal(
      [1, 2, 3, 4].map((epoch) => epochRecord('g', epoch)),
    );
  });
});

describe('LevelLog and MemoryLog', () => {
  const anyBatch: fc.Arbitrary<RecordBatch> = fc
    .record({ shard: fc.nat({ max: 2 }), records: fc.array(anyRecord, { maxLength: 6 }) })
    .map(({ shard, records }) => batchOf(shard, ...records));

  async function agree(keyed: RecordLog, batches: readonly RecordBatch[]): Promise<void> {
    const memory = new MemoryLog();
    for (const batch of batches) void memory.append([batch]);
    await Promise.all(batches.map((batch) => keyed.append([batch])));
    for (const shard of [0, 1, 2]) {
      const whole = compacted(await loaded(memory, shard));
      const records = await loaded(keyed, shard);
      expect(records).to.have.length(whole.length);
      expect(compacted(records)).to.deep.equal(whole);
    }
  }

  it('a load of level is the compaction of a load of memory', () =>
    fc.assert(
      fc.asyncProperty(fc.array(anyBatch, { maxLength: 12 }), (batches) =>
        agree(new LevelLog(new MemoryKeyValues(), promptly), batches),
      ),
    ));

  it('also from a folder that was closed and opened between', () =>
    fc.assert(
      fc.asyncProperty(fc.array(anyBatch, { minLength: 4, maxLength: 12 }), (batches) =>
        inTemporaryFolder(async (folder) => {
          const open = () => LevelKeyValues.open({ folder, shardCount: 3 });
          const first = await open();
          const before = new LevelLog(first, promptly);
          await Promise.all(batches.map((batch) => before.append([batch])));
          await before.close();
          await first.close();
          const second = await open();
          await agree(new LevelLog(second, promptly), batches);
          await second.close();
        }),
      ),
      { numRuns: 10 },
    ));
});

describe('FaultyLog', () => {
  const outcomes = (appends: readonly Promise<void>[]) =>
    Promise.all(
      appends.map((append) =>
        append.then(
          () => 'kept',
          (error: LogError) => error.error,
        ),
      ),
    );

  it('fails the n-th append and what is called behind it for its shard, and no other', async () => {
    const inner = new MemoryLog();
    const log = new FaultyLog(inner);
    log.failAppend(2, 'REQUEST_TIMED_OUT');
    const shards = [1, 1, 2, 1];
    const appends = shards.map((shard, epoch) =>
      log.append([batchOf(shard, epochRecord('g', epoch))]),
    );
    expect(await outcomes(appends)).to.deep.equal([
      'kept',
      'REQUEST_TIMED_OUT',
      'kept',
      'REQUEST_TIMED_OUT',
    ]);
    expect(await outcomes([log.append([batchOf(1, epochRecord('g', 9))])])).to.deep.equal(['kept']);
    expect(inner.batches.map(({ shard }) => shard)).to.deep.equal([1, 2, 1]);
  });

  it('hold() keeps appends waiting until release()', async () => {
    const inner = new MemoryLog();
    const log = new FaultyLog(inner);
    log.hold();
    const appends = [1, 2].map((epoch) => log.append([batchOf(1, epochRecord('g', epoch))]));
    await Promise.resolve();
    expect([inner.batches.length, log.waiting, log.called]).to.deep.equal([0, 2, 2]);
    log.release();
    expect(await outcomes(appends)).to.deep.equal(['kept', 'kept']);
    expect(inner.batches).to.have.length(2);
  });
});
