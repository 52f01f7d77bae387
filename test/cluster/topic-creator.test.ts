import { expect } from 'chai';
import type { CreatableTopic } from '../../machines/model/topology.ts';
import { Catalogue } from '../../src/cluster/catalogue.ts';
import { createInCatalogue } from '../../src/cluster/create-in-catalogue.ts';
import { type CreateOutcome, TopicCreator } from '../../src/cluster/topic-creator.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { KeptLog } from '../support/kept-log.ts';
import { ManualClock } from '../support/manual-clock.ts';

const TTL_MS = 10_000;
const TIMEOUT_MS = 30_000;

function topics(...names: string[]): readonly CreatableTopic[] {
  return names.map((name) => ({ name, partitions: 1, replicationFactor: -1, configs: [] }));
}

type Request = {
  readonly names: readonly string[];
  readonly answer: (outcomes: readonly CreateOutcome[]) => void;
  readonly fail: (error: Error) => void;
};

function setUp() {
  const clock = new ManualClock();
  const requests: Request[] = [];
  const there = new Set<string>();
  const creator = new TopicCreator({
    isThere: (name) => there.has(name),
    createTopics: (wanted) =>
      new Promise((answer, fail) => {
        requests.push({ names: wanted.map(({ name }) => name), answer, fail });
      }),
    clock,
    log: new KeptLog(),
    timeoutMs: TIMEOUT_MS,
  });
  const asked = () => requests.map(({ names }) => names);
  const answer = async (...outcomes: readonly CreateOutcome[]) => {
    requests.at(-1)?.answer(outcomes);
    await clock.settle();
  };
  return { clock, creator, requests, there, asked, answer };
}

const ok = (name: string): CreateOutcome => ({ name, error: 'NONE', message: null });
const bad = (name: string, message: string | null = null): CreateOutcome => ({
  name,
  error: 'POLICY_VIOLATION',
  message,
});

describe('TopicCreator', () => {
  it('asks once, in one request, for topics that are being made, for whichever group (C-4, C-5, C-10)', () => {
    const { creator, asked } = setUp();
    creator.create(topics('a', 'b'), TTL_MS);
    creator.create(topics('a', 'b'), TTL_MS);
    creator.create(topics('b', 'c'), TTL_MS);
    expect(asked()).to.deep.equal([['a', 'b'], ['c']]);
  });

  it('makes no topic that has come to be since the group looked', async () => {
    const { creator, there, asked, answer } = setUp();
    creator.create(topics('a', 'b'), TTL_MS);
    there.add('a');
    await answer(ok('a'), ok('b'));
    creator.create(topics('a'), TTL_MS);
    creator.create(topics('a', 'b'), TTL_MS);
    expect(asked()).to.deep.equal([['a', 'b'], ['b']]);
  });

  it('may be asked again after it was answered: success shows elsewhere (C-6, C-9)', async () => {
    const { creator, asked, answer } = setUp();
    creator.create(topics('a'), TTL_MS);
    await answer(ok('a'));
    expect(creator.failures(topics('a'))).to.equal(undefined);
    creator.create(topics('a'), TTL_MS);
    expect(asked()).to.deep.equal([['a'], ['a']]);
  });

  it('leaves a topic that failed alone until its failure expires (C-6, C-7)', async () => {
    const { clock, creator, asked, answer } = setUp();
    creator.create(topics('a', 'b'), TTL_MS);
    await answer(bad('a', 'not here'), ok('b'));
    creator.create(topics('a'), TTL_MS);
    await clock.pass(TTL_MS - 1);
    creator.create(topics('a'), TTL_MS);
    expect(asked()).to.deep.equal([['a', 'b']]);
    expect(creator.failures(topics('a', 'b'))).to.equal('creation failed: a (not here)');
    await clock.pass(1);
    expect(creator.failures(topics('a', 'b'))).to.equal(undefined);
    creator.create(topics('a'), TTL_MS);
    expect(asked()).to.deep.equal([['a', 'b'], ['a']]);
  });

  it('failures() tells of up to three, then how many more (C-8)', async () => {
    const { creator, answer } = setUp();
    const five = topics('a', 'b', 'c', 'd', 'e');
    creator.create(five, TTL_MS);
    await answer(...five.map(({ name }) => bad(name)));
    const three = 'a (POLICY_VIOLATION), b (POLICY_VIOLATION), c (POLICY_VIOLATION)';
    expect(creator.failures(five)).to.equal(`creation failed: ${three} and 2 more`);
    expect(creator.failures(five.slice(0, 3))).to.equal(`creation failed: ${three}`);
    expect(creator.failures(topics('other'))).to.equal(undefined);
  });

  it('does not take it amiss that a topic exists already (C-6)', async () => {
    const { creator, answer } = setUp();
    creator.create(topics('a'), TTL_MS);
    await answer({ name: 'a', error: 'TOPIC_ALREADY_EXISTS', message: 'It is there' });
    expect(creator.failures(topics('a'))).to.equal(undefined);
  });

  it('holds a failed call, and a topic without an answer, for failures (C-6)', async () => {
    const { clock, creator, requests, answer } = setUp();
    creator.create(topics('a', 'b'), TTL_MS);
    await answer(ok('a'));
    creator.create(topics('c'), TTL_MS);
    requests.at(-1)?.fail(new Error('No controller'));
    await clock.settle();
    expect(creator.failures(topics('a', 'b', 'c'))).to.equal(
      'creation failed: b (no answer for this topic), c (No controller)',
    );
  });

  it('gives up on an answer that does not come', async () => {
    const { clock, creator, asked, answer } = setUp();
    creator.create(topics('a'), TTL_MS);
    await clock.pass(TIMEOUT_MS);
    expect(creator.failures(topics('a'))).to.equal(
      'creation failed: a (No answer within 30000 ms)',
    );
    await answer(ok('a'));
    await clock.pass(TTL_MS);
    creator.create(topics('a'), TTL_MS);
    expect(asked()).to.deep.equal([['a'], ['a']]);
  });

  it('holds at most 1000 failures and gives up the one that expires first (C-7)', async () => {
    const { creator, answer } = setUp();
    creator.create(topics('short'), TTL_MS);
    await answer(bad('short'));
    const names = Array.from({ length: 1000 }, (_, at) => `t${at}`);
    creator.create(topics(...names), 2 * TTL_MS);
    await answer(...names.map((name) => bad(name)));
    expect(creator.failures(topics('short'))).to.equal(undefined);
    expect(creator.failures(topics(...names))).to.match(/ and 997 more$/);
  });

  it('shortens a text that is too long for a heartbeat', async () => {
    const { creator, answer } = setUp();
    creator.create(topics('a'), TTL_MS);
    await answer(bad('a', 'x'.repeat(1000)));
    expect(creator.failures(topics('a'))).to.equal(`creation failed: a (${'x'.repeat(199)}…)`);
  });

  it('with createInCatalogue() makes topics in the catalogue (C-11)', async () => {
    const clock = new ManualClock();
    const catalogue = await Catalogue.open({
      keyValues: new MemoryKeyValues(),
      random: (count) => new Uint8Array(count),
      defaultPartitionCount: 1,
    });
    const creator = new TopicCreator({
      createTopics: createInCatalogue(catalogue),
      isThere: (name) => catalogue.view().topic(name) !== undefined,
      clock,
      log: new KeptLog(),
      timeoutMs: TIMEOUT_MS,
    });
    const wanted: readonly CreatableTopic[] = [
      {
        name: 'app-store-changelog',
        partitions: 4,
        replicationFactor: -1,
        configs: [{ key: 'cleanup.policy', value: 'compact' }],
      },
      { name: 'app-other', partitions: 2, replicationFactor: 3, configs: [] },
    ];
    creator.create(wanted, TTL_MS);
    await clock.settle();
    const made = catalogue
      .list()
      .map(({ name, partitionCount, configs }) => [name, partitionCount, [...configs]]);
    expect(made).to.deep.equal([['app-store-changelog', 4, [['cleanup.policy', 'compact']]]]);
    expect(creator.failures(wanted)).to.equal(
      'creation failed: app-other (Create topic app-other: replication factor 3, wanted 1 or -1, as there is one node)',
    );
  });
});
