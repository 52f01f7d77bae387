import { expect } from 'chai';
import fc from 'fast-check';
import type { TopicMetadata } from '../../machines/model/topics.ts';
import { type TopicLook, UpstreamTopics } from '../../src/cluster/upstream-topics.ts';
import { KeptLog } from '../support/kept-log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { rejectionOf } from '../support/rejection-of.ts';

function topic(name: string, partitionCount: number, topicId = 'a', racks: string[] = []) {
  return { name, topicId, partitionCount, racks: Array(partitionCount).fill(racks) };
}

/** Topics over a cluster that is as a test says. */
function made(options: { pollMs?: number; chance?: number } = {}) {
  const clock = new ManualClock();
  const cluster = new Map<string, TopicMetadata | 'unclear'>();
  const looks: ('all' | readonly string[])[] = [];
  const changes: (readonly string[])[] = [];
  const state = {
    isAway: false,
    /** It answers about topics that are named, not about all there are. */
    listsNothing: false,
    inUse: [] as string[],
    held: undefined as Promise<void> | undefined,
  };
  const topics = new UpstreamTopics({
    look: async (names) => {
      looks.push(names);
      if (state.held !== undefined) await state.held;
      if (state.isAway) throw new Error('away');
      return names.map((name): TopicLook => ({ name, seen: cluster.get(name) ?? 'missing' }));
    },
    lookAtAll: async (isWanted) => {
      looks.push('all');
      if (state.held !== undefined) await state.held;
      if (state.isAway || state.listsNothing) throw new Error('away');
      const names = [...cluster.keys()];
      const looked = names.filter(isWanted);
      return {
        names,
        looks: looked.map((name): TopicLook => ({ name, seen: cluster.get(name) ?? 'missing' })),
      };
    },
    clock,
    log: new KeptLog(),
    pollMs: options.pollMs ?? 5_000,
    listPollMs: 30_000,
    chance: () => options.chance ?? 0.5,
    namesInUse: () => state.inUse,
  });
  topics.onChange((names) => changes.push(names));
  topics.start();
  return { clock, cluster, looks, changes, state, topics };
}

describe('UpstreamTopics', () => {
  it('ensureKnown() looks once at names that nobody asked for yet (4.11)', async () => {
    const { topics, cluster, looks, changes } = made();
    cluster.set('in', topic('in', 2));
    await topics.ensureKnown(['in']);
    await topics.ensureKnown(['in']);
    expect(looks).to.deep.equal([['in']]);
    expect(topics.view().topic('in')).to.deep.equal(topic('in', 2));
    expect(changes).to.deep.equal([['in']]);
  });

  it('ensureKnown() looks again at what was not there: a join may follow a creation (4.11)', async () => {
    const { topics, cluster } = made();
    await topics.ensureKnown(['in']);
    expect(topics.knows(['in'])).to.equal(true);
    cluster.set('in', topic('in', 1));
    await topics.ensureKnown(['in']);
    expect(topics.view().topic('in')?.partitionCount).to.equal(1);
  });

  it('ensureKnown() looks once for all that ask at a time', async () => {
    const { topics, looks } = made();
    await Promise.all(Array.from({ length: 100 }, () => topics.ensureKnown(['in', 'out'])));
    expect(looks).to.deep.equal([['in', 'out']]);
  });

  it('ensureKnown() resolves when the cluster is away; the names stay unknown', async () => {
    const { topics, state } = made();
    state.isAway = true;
    expect(await topics.ensureKnown(['in'])).to.equal(false);
    expect(topics.knows(['in'])).to.equal(false);
    state.isAway = false;
    expect(await topics.ensureKnown(['in'])).to.equal(true);
  });

  it('ensureKnown() waits five seconds at most', async () => {
    const { topics, state, clock } = made();
    state.held = new Promise(() => undefined);
    let isDone = false;
    const waiting = topics.ensureKnown(['in']).then(() => {
      isDone = true;
    });
    await clock.pass(4_999);
    expect(isDone).to.equal(false);
    await clock.pass(1);
    await waiting;
  });

  it('polls the names that were asked for and those in use, with jitter', async () => {
    const { topics, clock, looks, state } = made({ pollMs: 1_000, chance: 1 });
    await topics.ensureKnown(['in']);
    state.inUse = ['changelog'];
    // The quick looks of the start come before the pace of the poll.
    await clock.pass(20_000);
    expect(looks.at(-1)).to.deep.equal(['in', 'changelog']);
    const before = looks.length;
    await clock.pass(11_000);
    expect(looks.length - before).to.equal(10);
  });

  it('shows growth and new topics at once (4.11)', async () => {
    const { topics, cluster, clock, changes } = made();
    cluster.set('in', topic('in', 2));
    await topics.ensureKnown(['in', 'out']);
    cluster.set('in', topic('in', 3));
    cluster.set('out', topic('out', 1));
    await clock.pass(6_000);
    expect(topics.view().topic('in')?.partitionCount).to.equal(3);
    expect(changes).to.deep.equal([['in'], ['in', 'out']]);
  });

  for (const [what, after] of [
    ['deletion', undefined],
    ['fewer partitions', topic('in', 1)],
    ['another id', topic('in', 2, 'b')],
  ] as const) {
    it(`believes ${what} when two looks in a row say so (4.11)`, async () => {
      const { topics, cluster, clock, changes } = made();
      cluster.set('in', topic('in', 2));
      await topics.ensureKnown(['in']);
      const next = () => clock.pass(5_000);
      if (after === undefined) cluster.delete('in');
      else cluster.set('in', after);
      topics.poke();
      await clock.settle();
      expect(topics.view().topic('in')?.topicId).to.equal('a');
      expect(topics.view().topic('in')?.partitionCount).to.equal(2);
      await next();
      expect(topics.view().topic('in')).to.deep.equal(after);
      expect(changes).to.have.length(2);
    });
  }

  it('does not believe one look of a broker that lags', async () => {
    const { topics, cluster, clock, changes } = made();
    cluster.set('in', topic('in', 2));
    await topics.ensureKnown(['in']);
    cluster.delete('in');
    topics.poke();
    await clock.settle();
    cluster.set('in', topic('in', 2));
    await clock.pass(20_000);
    expect(topics.view().topic('in')).to.deep.equal(topic('in', 2));
    expect(changes).to.deep.equal([['in']]);
  });

  it('keeps what it knows while the cluster is away or unclear', async () => {
    const { topics, cluster, clock, state } = made();
    cluster.set('in', topic('in', 2));
    await topics.ensureKnown(['in']);
    state.isAway = true;
    await clock.pass(20_000);
    state.isAway = false;
    cluster.set('in', 'unclear');
    await clock.pass(20_000);
    expect(topics.view().topic('in')).to.deep.equal(topic('in', 2));
  });

  it('tells of racks that changed (TOP-11)', async () => {
    const { topics, cluster, clock, changes } = made();
    cluster.set('in', topic('in', 1, 'a', ['east']));
    await topics.ensureKnown(['in']);
    cluster.set('in', topic('in', 1, 'a', ['east', 'west']));
    await clock.pass(6_000);
    expect(changes).to.have.length(2);
  });

  it('poke() looks at once and some more times soon', async () => {
    const { topics, clock, looks } = made({ pollMs: 60_000 });
    await topics.ensureKnown(['in']);
    await clock.pass(100_000);
    const before = looks.length;
    topics.poke();
    await clock.settle();
    expect(looks.length - before).to.equal(1);
    await clock.pass(3_200);
    expect(looks.length - before).to.equal(6);
  });

  it('gives an old view that does not change', async () => {
    const { topics, cluster } = made();
    await topics.ensureKnown(['in']);
    const before = topics.view();
    cluster.set('in', topic('in', 1));
    await topics.ensureKnown(['in']);
    expect(before.topic('in')).to.equal(undefined);
  });

  it('forgets names that nobody needs any more', async () => {
    const { topics, clock, looks } = made();
    await topics.ensureKnown(['in']);
    await clock.pass(400_000);
    expect(looks.at(-1)).to.deep.equal(['in']);
    expect(topics.knows(['in'])).to.equal(false);
  });

  it('comes to show what is there, whatever happened before', async () => {
    const steps = fc.array(
      fc.record({ name: fc.constantFrom('a', 'b'), count: fc.nat({ max: 3 }) }),
      {
        maxLength: 8,
      },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const { topics, cluster, clock } = made({ pollMs: 100 });
        await topics.ensureKnown(['a', 'b']);
        for (const { name, count } of history) {
          if (count === 0) cluster.delete(name);
          else cluster.set(name, topic(name, count));
          await clock.pass(120);
        }
        await clock.pass(400);
        for (const name of ['a', 'b']) {
          expect(topics.view().topic(name)).to.deep.equal(cluster.get(name));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('listAll() lists all topics, and again when the list is older than five seconds', async () => {
    const { topics, cluster, looks, clock } = made();
    cluster.set('b', topic('b', 1)).set('a', topic('a', 1));
    const lists = [await topics.listAll(), await topics.listAll()];
    expect(lists).to.deep.equal(Array(2).fill({ version: 1, names: ['a', 'b'] }));
    expect(looks).to.deep.equal(['all']);
    await clock.pass(4_999);
    cluster.set('c', topic('c', 1));
    expect((await topics.listAll()).version).to.equal(1);
    await clock.pass(1);
    expect(await topics.listAll()).to.deep.equal({ version: 2, names: ['a', 'b', 'c'] });
  });

  it('listAll() looks once for all that ask at a time', async () => {
    const { topics, looks } = made();
    await Promise.all(Array.from({ length: 100 }, () => topics.listAll()));
    expect(looks).to.deep.equal(['all']);
  });

  it('listAll() rejects when the cluster is away, or silent for five seconds', async () => {
    const { topics, state, clock } = made();
    state.isAway = true;
    expect(await rejectionOf(topics.listAll())).to.include({ message: 'away' });
    state.held = new Promise(() => undefined);
    const silent = rejectionOf(topics.listAll());
    await clock.pass(5_000);
    expect(await silent).to.include({
      message: 'The topics upstream were not listed after 5000 ms',
    });
  });

  it('tells of topics that nobody named, as long as lists are wanted (R-6)', async () => {
    const { topics, cluster, clock, changes, looks } = made();
    cluster.set('a', topic('a', 1)).set('b', topic('b', 1));
    await topics.listAll();
    cluster.set('c', topic('c', 1));
    cluster.delete('a');
    await clock.pass(40_000);
    expect(changes).to.deep.equal([['c', 'a']]);
    cluster.delete('b');
    await clock.pass(900_000);
    looks.length = 0;
    await clock.pass(100_000);
    expect(looks).not.to.include('all');
    expect(changes).to.deep.equal([['c', 'a'], ['b']]);
    expect(await topics.listAll()).to.include({ version: 4 });
  });

  it('goes on looking at topics in use when all topics cannot be listed', async () => {
    const { topics, cluster, clock, state, changes } = made();
    cluster.set('in', topic('in', 1));
    await topics.ensureKnown(['in']);
    await topics.listAll();
    state.listsNothing = true;
    await clock.pass(60_000);
    cluster.set('in', topic('in', 2));
    changes.length = 0;
    await clock.pass(10_000);
    expect(changes).to.deep.equal([['in']]);
  });

  it('keeps a topic in the list that is only doubted to be gone', async () => {
    const { topics, cluster, clock } = made();
    cluster.set('a', topic('a', 1)).set('b', topic('b', 1));
    await topics.ensureKnown(['a']);
    await topics.listAll();
    cluster.clear();
    await clock.pass(5_000);
    expect((await topics.listAll()).names).to.deep.equal(['a']);
    expect(topics.view().topic('a')).not.to.equal(undefined);
    await clock.pass(5_000);
    expect((await topics.listAll()).names).to.deep.equal([]);
    expect(topics.view().topic('a')).to.equal(undefined);
  });

  it('poke() has all topics listed soon, if lists are wanted', async () => {
    const { topics, cluster, clock, looks } = made();
    topics.poke();
    await clock.pass(4_000);
    expect(looks).not.to.include('all');
    await topics.listAll();
    cluster.set('new', topic('new', 1));
    topics.poke();
    await clock.pass(1_000);
    expect(await topics.listAll()).to.deep.equal({ version: 2, names: ['new'] });
    await clock.pass(4_000);
    expect(looks.filter((look) => look === 'all').length).to.be.within(2, 6);
  });
});
