import { expect } from 'chai';
import type { JournalEntry } from '../../actors/ports.ts';
import { AdminStage, entry } from '../support/admin-stage.ts';
import { needRe2 } from '../support/re2.ts';

describe('the journal on the admin server', () => {
  let stage: AdminStage;
  beforeEach(async () => {
    stage = await new AdminStage().open();
  });
  afterEach(() => stage.close());

  it('GET /groups/{id}/journal gives the newest, oldest first', async () => {
    stage.journal = [1, 2, 3].map((atMs) => entry({ atMs, because: [`Task 0_${atMs} moves`] }));
    const timesOf = async (query: string) => {
      const { body } = await stage.ask(`/groups/orders/journal${query}`);
      return JSON.parse(body).entries.map(({ atMs }: JournalEntry) => atMs);
    };
    expect(await timesOf('')).to.deep.equal([1, 2, 3]);
    expect(await timesOf('?limit=2')).to.deep.equal([2, 3]);
  });

  it('GET /groups/{id}/journal finds a word, and not what only contains it', async () => {
    stage.journal = ['0_1 moves', '10_1 moves', '0_1', '0_12', 'of 0_1, 0_2'].map((text, at) =>
      entry({ atMs: at, because: [text] }),
    );
    const { body } = await stage.ask('/groups/orders/journal?word=0_1');
    const times = JSON.parse(body).entries.map(({ atMs }: JournalEntry) => atMs);
    expect(times).to.deep.equal([0, 2, 4]);
  });

  it('GET /groups/{id}/journal searches', async function () {
    await needRe2(this);
    stage.journal = [1, 2, 3].map((atMs) => entry({ atMs, because: [`Task 0_${atMs} moves`] }));
    const timesOf = async (query: string) => {
      const { body } = await stage.ask(`/groups/orders/journal${query}`);
      return JSON.parse(body).entries.map(({ atMs }: JournalEntry) => atMs);
    };
    expect(await timesOf('?match=0_1')).to.deep.equal([1]);
    expect(await timesOf('?match=nothing')).to.deep.equal([]);
    expect(await timesOf('?match=0_&limit=1')).to.deep.equal([3]);
  });

  it('keeps the journal of a group that is gone, and knows none of one that never was', async () => {
    stage.journal = [entry({ groupId: 'gone' })];
    expect((await stage.ask('/groups/gone/journal')).status).to.equal(200);
    expect((await stage.ask('/groups/orders/journal')).status).to.equal(200);
    expect((await stage.ask('/groups/never/journal')).status).to.equal(404);
  });
});
