import { expect } from 'chai';
import type { JournalEntry } from '../../actors/ports.ts';
import type { KeyValues } from '../../src/store/key-values.ts';
import { keysUnder } from '../../src/store/key-values.ts';
import { keyOf, prefixes } from '../../src/store/layout.ts';
import { type JournalBounds, LevelJournal } from '../../src/store/level-journal.ts';
import { LevelKeyValues } from '../../src/store/level-key-values.ts';
import { KeptLog } from '../support/kept-log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ScriptedKeyValues } from '../support/scripted-key-values.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';

const roomy: JournalBounds = { retentionMs: 1e9, bytesMax: 1e9 };

function entry(groupId: string, groupEpoch: number, atMs = 0): JournalEntry {
  return {
    groupId,
    atMs,
    groupEpoch,
    assignmentEpoch: groupEpoch,
    state: 'Stable',
    cause: 'heartbeat',
    memberId: null,
    because: ['Task 0_1 moved: its owner left'],
  };
}

async function setUp(options: { bounds?: JournalBounds; keyValues?: KeyValues } = {}) {
  const clock = new ManualClock(0);
  const log = new KeptLog();
  const keyValues = options.keyValues ?? new ScriptedKeyValues();
  const bounds = options.bounds ?? roomy;
  const journal = await LevelJournal.open({ keyValues, clock, log, bounds });
  const epochs = async (groupId: string, limit = 100_000) =>
    (await journal.read(groupId, { limit })).map(({ groupEpoch }) => groupEpoch);
  return { clock, log, journal, epochs };
}

/** All that the journal keeps under its two prefixes, in entries and in bytes of keys and values. */
async function contents(keyValues: KeyValues): Promise<{ entries: number; order: number }> {
  const count = async (prefix: number) => {
    let found = 0;
    for await (const entries of keyValues.scan(keysUnder(keyOf(prefix)))) found += entries.length;
    return found;
  };
  return { entries: await count(prefixes.journal), order: await count(prefixes.journalOrder) };
}

describe('LevelJournal', () => {
  it('read() gives whole entries of one group, the newest, oldest first', async () => {
    const { journal } = await setUp();
    for (const epoch of [1, 2, 3]) {
      journal.write(entry('g', epoch));
      journal.write(entry('gg', epoch));
    }
    expect(await journal.read('g', { limit: 2 })).to.deep.equal([
      { sequence: 2, ...entry('g', 2) },
      { sequence: 4, ...entry('g', 3) },
    ]);
    expect(await journal.read('none', { limit: 2 })).to.deep.equal([]);
  });

  it('read() goes on after a sequence', async () => {
    const { journal } = await setUp();
    for (const epoch of [1, 2, 3, 4]) journal.write(entry('g', epoch));
    expect(await journal.read('g', { limit: 2, after: 0 })).to.deep.equal([
      { sequence: 1, ...entry('g', 2) },
      { sequence: 2, ...entry('g', 3) },
    ]);
    expect(await journal.read('g', { limit: 2, after: 3 })).to.deep.equal([]);
  });

  it('keeps apart groups whose names begin alike or are empty', async () => {
    const { journal, epochs } = await setUp();
    const names = ['', 'a', 'aa', 'a\u0000', 'ä', 'a'.repeat(300)];
    for (const [at, name] of names.entries()) journal.write(entry(name, at));
    for (const [at, name] of names.entries()) expect(await epochs(name)).to.deep.equal([at]);
  });

  it('write() writes nothing itself; the entries of a tenth of a second go down together, unsynced', async () => {
    const keyValues = new ScriptedKeyValues();
    const { clock, journal } = await setUp({ keyValues });
    journal.write(entry('g', 1));
    await clock.pass(99);
    journal.write(entry('g', 2));
    expect(keyValues.writes).to.have.length(0);
    await clock.pass(1);
    expect(keyValues.writes.map(({ sync }) => sync)).to.deep.equal([false]);
    expect((await contents(keyValues)).entries).to.equal(2);
  });

  it('writes entries that come while others are written', async () => {
    const keyValues = new ScriptedKeyValues();
    const { clock, journal } = await setUp({ keyValues });
    keyValues.hold();
    journal.write(entry('g', 1));
    await clock.pass(100);
    journal.write(entry('g', 2));
    keyValues.release();
    await clock.settle();
    await clock.pass(100);
    expect((await contents(keyValues)).entries).to.equal(2);
  });

  it('writes much in parts, so that none holds the event loop for long', async () => {
    const keyValues = new ScriptedKeyValues();
    const { journal, epochs } = await setUp({ keyValues });
    for (let epoch = 0; epoch < 600; epoch++) journal.write(entry('g', epoch));
    await journal.flush();
    // Of each entry itself and its age, and once the totals.
    expect(keyValues.writes.map(({ changes }) => changes.length)).to.deep.equal([501, 501, 201]);
    expect(await epochs('g')).to.deep.equal(Array.from({ length: 600 }, (_, epoch) => epoch));
  });

  it('prunes more than it writes when its bounds have become narrower, never all at once', async () => {
    const keyValues = new ScriptedKeyValues();
    const before = await setUp({ keyValues });
    for (let epoch = 0; epoch < 120; epoch++) before.journal.write(entry('g', epoch));
    await before.journal.close();
    const { journal, epochs } = await setUp({ keyValues, bounds: { ...roomy, bytesMax: 2_000 } });
    const oldest: (number | undefined)[] = [];
    for (const epoch of [120, 121, 122, 123]) {
      journal.write(entry('g', epoch));
      oldest.push((await epochs('g'))[0]);
    }
    const kept = await epochs('g');
    expect(oldest).to.deep.equal([50, 100, 123 - kept.length, 124 - kept.length]);
    expect(journal.bytes).to.be.within(1, 2_000);
  });

  it('drops with one warning what is more than can be written, and says when it is over', async () => {
    const keyValues = new ScriptedKeyValues();
    const { log, journal, epochs } = await setUp({ keyValues });
    for (let epoch = 0; epoch < 10_003; epoch++) journal.write(entry('g', epoch));
    expect(await epochs('g')).to.deep.equal(Array.from({ length: 10_000 }, (_, epoch) => epoch));
    expect(log.lines).to.deep.equal([
      {
        level: 'warn',
        fields: { reason: 'more than can be written' },
        text: 'Journal entries are dropped',
      },
      { level: 'info', fields: { dropped: 3 }, text: 'Journal is kept again' },
    ]);
  });

  it('drops with one warning what the store refuses, and goes on', async () => {
    const keyValues = new ScriptedKeyValues();
    const { log, journal, epochs } = await setUp({ keyValues });
    keyValues.failNext(2);
    for (const epoch of [1, 2, 3]) {
      journal.write(entry('g', epoch));
      await journal.flush();
    }
    expect(await epochs('g')).to.deep.equal([3]);
    expect(log.lines.map(({ level, text }) => [level, text])).to.deep.equal([
      ['warn', 'Journal entries are dropped'],
      ['info', 'Journal is kept again'],
    ]);
  });

  it('prunes the oldest entries of all groups beyond journal.max.bytes', async () => {
    const keyValues = new ScriptedKeyValues();
    const bounds = { ...roomy, bytesMax: 2_000 };
    const { journal, epochs } = await setUp({ keyValues, bounds });
    for (let epoch = 0; epoch < 40; epoch++) {
      journal.write(entry(epoch % 2 === 0 ? 'even' : 'odd', epoch));
      await journal.flush();
      expect(journal.bytes).to.be.at.most(2_000);
    }
    const [even, odd] = [await epochs('even'), await epochs('odd')];
    const left = [...even, ...odd].sort((a, b) => a - b);
    expect(left).to.deep.equal(
      Array.from({ length: left.length }, (_, at) => 40 - left.length + at),
    );
    expect(left.length).to.be.greaterThan(3);
    expect(await contents(keyValues)).to.deep.equal({ entries: left.length, order: left.length });
  });

  it('prunes entries older than journal.retention.ms', async () => {
    const { clock, journal, epochs } = await setUp({ bounds: { ...roomy, retentionMs: 1_000 } });
    journal.write(entry('g', 1, clock.nowMs()));
    await clock.pass(600);
    journal.write(entry('g', 2, clock.nowMs()));
    await clock.pass(600);
    journal.write(entry('g', 3, clock.nowMs()));
    expect(await epochs('g')).to.deep.equal([2, 3]);
  });

  it('goes on after a restart: sequence, size and pruning', () =>
    inTemporaryFolder(async (folder) => {
      const bounds = { ...roomy, bytesMax: 2_000 };
      let sequence = -1;
      for (let life = 0; life < 3; life++) {
        const keyValues = await LevelKeyValues.open({ folder, shardCount: 1 });
        const { journal } = await setUp({ keyValues, bounds });
        for (let epoch = 0; epoch < 10; epoch++) journal.write(entry('g', epoch));
        const newest = (await journal.read('g', { limit: 1 }))[0]?.sequence ?? Number.NaN;
        expect(newest).to.equal(sequence + 10);
        sequence = newest;
        expect(journal.bytes).to.be.within(1, 2_000);
        await journal.close();
        await keyValues.close();
      }
    }));

  it('close() writes what waits and takes no more', async () => {
    const keyValues = new ScriptedKeyValues();
    const { journal } = await setUp({ keyValues });
    journal.write(entry('g', 1));
    await journal.close();
    journal.write(entry('g', 2));
    await journal.flush();
    expect((await contents(keyValues)).entries).to.equal(1);
  });
});
