import { expect } from 'chai';
import { type Clock, LogError } from '../../actors/ports.ts';
import type { TasksByRole } from '../../machines/model/tasks.ts';
import type { GroupRecord, TargetMemberRecord } from '../../machines/records.ts';
import { keyOf, prefixes, uint16Key } from '../../src/store/layout.ts';
import { defaultLevelLogBounds, LevelLog, type LevelLogBounds } from '../../src/store/level-log.ts';
import { batchOf, epochRecord } from '../support/group-records.ts';
import { promptly } from '../support/promptly.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { ScriptedKeyValues } from '../support/scripted-key-values.ts';

/** Targets of as many members, in the order of their keys, each of so many tasks. */
function targetRecords(count: number, tasks = 1): TargetMemberRecord[] {
  return Array.from({ length: count }, (_, nth) => ({
    type: 'targetMember',
    groupId: 'g',
    memberId: `member-${String(nth).padStart(4, '0')}`,
    value: targetOf(Array.from({ length: tasks }, (_, task) => nth + task * count)),
  }));
}

function targetOf(partitions: readonly number[]): TasksByRole {
  return { active: [{ subtopologyId: '0', partitions }], standby: [], warmup: [] };
}

function setUp(bounds: Partial<LevelLogBounds> = {}, clock: Pick<Clock, 'soon'> = promptly) {
  const keyValues = new ScriptedKeyValues();
  const log = new LevelLog(keyValues, clock, { ...defaultLevelLogBounds, ...bounds });
  /** Appends one record, gives `kept` or the name of the error. */
  const append = (shard: number, epoch: number) =>
    log.append([batchOf(shard, epochRecord(`g${shard}`, epoch))]).then(
      () => 'kept',
      (error: LogError) => error.error,
    );
  /** The epoch kept for a shard. */
  const epochOf = async (shard: number) => {
    const epochs: number[] = [];
    const onRecord = (record: GroupRecord) => {
      if (record.type === 'targetMetadata') epochs.push(record.value?.assignmentEpoch ?? -1);
    };
    await log.load(shard, onRecord, () => undefined);
    return epochs;
  };
  return { keyValues, log, append, epochOf };
}

/** Until the write that the first append began is under way. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('LevelLog.append()', () => {
  it('writes what all shards append in one turn in one synced write', async () => {
    const { keyValues, append } = setUp();
    await Promise.all([append(1, 1), append(2, 1), append(3, 1)]);
    expect(keyValues.writes.map(({ changes, sync }) => [changes.length, sync])).to.deep.equal([
      [3, true],
    ]);
  });

  it('writes what comes while a write is under way in the next one', async () => {
    const { keyValues, append } = setUp();
    keyValues.hold();
    const first = append(1, 1);
    await turn();
    const others = Array.from({ length: 99 }, (_, at) => append(at % 5, at));
    keyValues.release();
    await Promise.all([first, ...others]);
    expect(keyValues.writes.map(({ changes }) => changes.length)).to.deep.equal([1, 99]);
  });

  it('parts what is more than one write takes, in order', async () => {
    const one = setUp();
    await one.append(1, 1);
    const size = one.keyValues.writes[0]?.changes[0];
    if (size?.type !== 'put') throw new Error('Expected a put');
    const writeBytesMax = 2 * (size.key.length + size.value.length);
    const { keyValues, append, epochOf } = setUp({ writeBytesMax });
    await Promise.all([1, 2, 3, 4, 5].map((epoch) => append(1, epoch)));
    expect(keyValues.writes.map(({ changes }) => changes.length)).to.deep.equal([2, 2, 1]);
    expect(await epochOf(1)).to.deep.equal([5]);
  });

  it('fails all of a failed write and what is queued for its shards, and no other (BA-3)', async () => {
    const { keyValues, append, epochOf } = setUp();
    keyValues.hold();
    keyValues.failNext();
    const inIt = [append(1, 1), append(2, 1)];
    await turn();
    const behind = [append(1, 2), append(3, 1), append(2, 2), append(1, 3)];
    keyValues.release();
    expect(await Promise.all(inIt)).to.deep.equal(['KAFKA_STORAGE_ERROR', 'KAFKA_STORAGE_ERROR']);
    expect(await Promise.all(behind)).to.deep.equal([
      'KAFKA_STORAGE_ERROR',
      'kept',
      'KAFKA_STORAGE_ERROR',
      'KAFKA_STORAGE_ERROR',
    ]);
    expect(await append(1, 4)).to.equal('kept');
    expect([await epochOf(1), await epochOf(2), await epochOf(3)]).to.deep.equal([[4], [], [1]]);
  });

  it('starts afresh for a call made when the rejection is delivered', async () => {
    const { keyValues, append, epochOf } = setUp();
    keyValues.failNext();
    const outcomes = await append(1, 1).then(async (first) => [first, await append(1, 2)]);
    expect(outcomes).to.deep.equal(['KAFKA_STORAGE_ERROR', 'kept']);
    expect(await epochOf(1)).to.deep.equal([2]);
  });

  it('refuses one that is too large, and what stands behind it (BA-5)', async () => {
    const { log, append, epochOf } = setUp({ batchBytesMax: 100 });
    const large = rejectionOf(log.append([batchOf(1, epochRecord('g'.repeat(100), 1))]));
    const outcomes = await Promise.all([append(1, 2), append(2, 1)]);
    expect(await large)
      .to.be.instanceOf(LogError)
      .with.property('error', 'MESSAGE_TOO_LARGE');
    expect(outcomes).to.deep.equal(['MESSAGE_TOO_LARGE', 'kept']);
    expect(await epochOf(1)).to.deep.equal([]);
  });

  it('admit() refuses what could never be written, before it joins others', async () => {
    const { log, append } = setUp({ batchBytesMax: 100 });
    const batch = batchOf(1, epochRecord('g'.repeat(100), 1));
    expect(() => log.admit(batch))
      .to.throw(LogError)
      .with.property('error', 'MESSAGE_TOO_LARGE');
    expect(await append(1, 2)).to.equal('kept');
  });

  for (const [what, records, turnsWanted] of [
    ['many targets', targetRecords(1_000), 10],
    ['large targets', targetRecords(20, 20_000), 5],
  ] as const) {
    it(`makes ${what} some at a time, and lets others have the event loop in between`, async () => {
      const turns: (() => void)[] = [];
      const { keyValues, log } = setUp({}, { soon: (callback) => turns.push(callback) });
      const appended = log.append([batchOf(1, ...records)]);
      let turnsTaken = 0;
      while (keyValues.writes.length === 0) {
        const callbacks = turns.splice(0);
        turnsTaken += callbacks.length;
        for (const callback of callbacks) callback();
        await turn();
      }
      await appended;
      expect(turnsTaken).to.equal(turnsWanted);
      expect(keyValues.writes.map(({ changes }) => changes.length)).to.deep.equal([records.length]);
      const loaded: GroupRecord[] = [];
      await log.load(
        1,
        (record) => loaded.push(record),
        () => undefined,
      );
      expect(loaded).to.deep.equal(records);
    });
  }

  it('fails targets that have no form on disk, what stands behind them, and no other (BA-3)', async () => {
    const { log, append, epochOf } = setUp();
    const bad = targetRecords(200).map((record, nth) =>
      nth < 199 ? record : { ...record, value: targetOf([2 ** 40]) },
    );
    const before = append(1, 1);
    const failed = rejectionOf(log.append([batchOf(1, ...bad)]));
    const others = [append(1, 2), append(2, 1)];
    expect(await before).to.equal('kept');
    expect(await failed)
      .to.be.instanceOf(LogError)
      .with.property('error', 'UNKNOWN_SERVER_ERROR');
    expect(await Promise.all(others)).to.deep.equal(['UNKNOWN_SERVER_ERROR', 'kept']);
    expect([await epochOf(1), await epochOf(2)]).to.deep.equal([[1], [1]]);
  });

  it('admit() refuses a row of targets that could be too large, before any is made (BA-5)', () => {
    const { log } = setUp({ batchBytesMax: 10_000 });
    expect(() => log.admit(batchOf(1, ...targetRecords(1_000))))
      .to.throw(LogError)
      .with.property('error', 'MESSAGE_TOO_LARGE');
  });

  it('refuses with an error that clients retry when too much waits, and recovers', async () => {
    const { keyValues, append, epochOf } = setUp({ queuedBytesMax: 100 });
    keyValues.hold();
    const outcomes = Array.from({ length: 20 }, (_, at) => append(at, 1));
    await turn();
    keyValues.release();
    const told = await Promise.all(outcomes);
    expect(new Set(told)).to.deep.equal(new Set(['kept', 'NOT_ENOUGH_REPLICAS']));
    expect(told.indexOf('NOT_ENOUGH_REPLICAS')).to.be.greaterThan(told.lastIndexOf('kept'));
    expect(await append(19, 2)).to.equal('kept');
    expect(await epochOf(19)).to.deep.equal([2]);
  });

  it('refuses a record that cannot be written (SC-10)', async () => {
    const { log, append } = setUp();
    const tasks = { active: [], standby: [], warmup: [] };
    const record: GroupRecord = {
      type: 'currentAssignment',
      groupId: 'g',
      memberId: 'm',
      value: {
        memberEpoch: 1,
        previousMemberEpoch: 0,
        state: 'unknown',
        assigned: tasks,
        pendingRevocation: tasks,
      },
    };
    const refusal = await rejectionOf(log.append([batchOf(1, record)]));
    expect(refusal).to.be.instanceOf(LogError).with.property('error', 'UNKNOWN_SERVER_ERROR');
    expect(await append(1, 1)).to.equal('kept');
  });
});

describe('LevelLog.close()', () => {
  it('waits for the appends already called', async () => {
    const { log, append } = setUp();
    const order: string[] = [];
    const appended = append(1, 1).then((outcome) => order.push(outcome));
    await log.close();
    order.push('closed');
    await appended;
    expect(order).to.deep.equal(['kept', 'closed']);
  });
});

describe('LevelLog.load()', () => {
  const keyOfType = (recordType: number) =>
    keyOf(prefixes.records, uint16Key(1), uint16Key(recordType), Buffer.from([0, 1, 0x67]));

  it('tells of records of unknown types and goes on (LG-6)', async () => {
    const { keyValues, log, append } = setUp();
    await append(1, 7);
    const value = Buffer.from([0, 0]);
    await keyValues.write(
      [18, 99].map((recordType) => ({ type: 'put', key: keyOfType(recordType), value })),
      { sync: true },
    );
    const seen: unknown[] = [];
    await log.load(
      1,
      (record) => seen.push(record),
      (recordType) => seen.push(recordType),
    );
    expect(seen).to.deep.equal([18, epochRecord('g1', 7), 99]);
  });

  for (const [what, recordType, value] of [
    ['a known record that does not parse', 17, [0, 0, 1]],
    ['a known record of an unsupported version', 17, [0, 9, 0, 0, 0, 1]],
  ] as const) {
    it(`rejects for ${what} (LG-6)`, async () => {
      const { keyValues, log } = setUp();
      await keyValues.write(
        [{ type: 'put', key: keyOfType(recordType), value: Buffer.from(value) }],
        { sync: true },
      );
      const refusal = await rejectionOf(
        log.load(
          1,
          () => undefined,
          () => undefined,
        ),
      );
      expect(refusal).to.be.instanceOf(LogError).with.property('error', 'KAFKA_STORAGE_ERROR');
      expect(String(refusal)).to.match(/Load shard 1: /);
    });
  }
});
