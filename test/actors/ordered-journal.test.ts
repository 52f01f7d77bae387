import { expect } from 'chai';
import { OrderedJournal } from '../../actors/ordered-journal.ts';
import type { JournalEntry } from '../../actors/ports.ts';
import { KeptLog } from '../support/kept-log.ts';

function entry(groupId: string, cause: string): JournalEntry {
  return {
    groupId,
    atMs: 0,
    groupEpoch: 1,
    assignmentEpoch: 1,
    state: 'Stable',
    cause,
    memberId: null,
    because: [],
  };
}

/** An entry in the making, and how that ends. */
function later(groupId: string, cause: string) {
  let end: { resolve(made: JournalEntry): void; reject(cause: Error): void } | undefined;
  const made = new Promise<JournalEntry>((resolve, reject) => {
    end = { resolve, reject };
  });
  return {
    entry: { groupId, made },
    finish: async () => {
      end?.resolve(entry(groupId, cause));
      await settled();
    },
    fail: async () => {
      end?.reject(new Error('no reasons'));
      await settled();
    },
  };
}

/** Everything that a settled promise leads to has happened. */
const settled = () => new Promise<void>((done) => setImmediate(done));

describe('OrderedJournal', () => {
  let told: string[];
  let log: KeptLog;
  let journal: OrderedJournal;

  beforeEach(() => {
    told = [];
    log = new KeptLog();
    const write = ({ groupId, cause }: JournalEntry) => void told.push(`${groupId} ${cause}`);
    journal = new OrderedJournal({ journal: { write }, log });
  });

  it('lets what follows wait for an entry in the making, in its group alone', async () => {
    const [first, second] = [later('g', '2'), later('g', '4')];
    journal.tell(entry('g', '1'));
    journal.tell(first.entry);
    journal.tell(entry('g', '3'));
    journal.tell(second.entry);
    journal.tell(entry('g', '5'));
    journal.tell(entry('other', '1'));
    await second.finish();
    expect(told).to.deep.equal(['g 1', 'other 1']);
    await first.finish();
    expect(told).to.deep.equal(['g 1', 'other 1', 'g 2', 'g 3', 'g 4', 'g 5']);
    journal.tell(entry('g', '6'));
    expect(told.at(-1)).to.equal('g 6');
  });

  it('goes on after an entry that could not be made, and says so', async () => {
    const lost = later('g', '1');
    journal.tell(lost.entry);
    journal.tell(entry('g', '2'));
    await lost.fail();
    expect(told).to.deep.equal(['g 2']);
    expect(log.lines.map(({ text }) => text)).to.deep.equal(['Cannot tell why tasks move']);
  });

  it('keeps at most a thousand waiting, and tells the others at once', async () => {
    const slow = later('g', 'slow');
    journal.tell(slow.entry);
    for (let at = 0; at < 1_002; at++) journal.tell(entry('g', String(at)));
    expect(told).to.deep.equal(['g 1000', 'g 1001']);
    await slow.finish();
    expect(told.slice(0, 4)).to.deep.equal(['g 1000', 'g 1001', 'g slow', 'g 0']);
    expect(told.length).to.equal(1_003);
  });
});
