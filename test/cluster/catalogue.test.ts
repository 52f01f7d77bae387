import { expect } from 'chai';
import { Catalogue, type CatalogueOutcome } from '../../src/cluster/catalogue.ts';
import type { NewTopic } from '../../src/server/ports.ts';
import type { KeyValues } from '../../src/store/key-values.ts';
import { ScriptedKeyValues } from '../support/scripted-key-values.ts';

const now = { validateOnly: false };

/** Ids that tell themselves apart: the first byte counts. */
function counting(): (count: number) => Uint8Array {
  let next = 0;
  return (count) => new Uint8Array(count).fill(next++, 0, 1);
}

function openOn(keyValues: KeyValues): Promise<Catalogue> {
  return Catalogue.open({ keyValues, random: counting(), defaultPartitionCount: 3 });
}

async function setUp() {
  const keyValues = new ScriptedKeyValues();
  const catalogue = await openOn(keyValues);
  const told: string[] = [];
  catalogue.onChange((names) => {
    for (const name of names) {
      told.push(`${name} ${catalogue.view().topic(name)?.partitionCount ?? 'gone'}`);
    }
  });
  return { keyValues, catalogue, told };
}

function wanted(name: string, more: Partial<NewTopic> = {}): NewTopic {
  return { name, partitionCount: 1, replicationFactor: -1, configs: new Map(), ...more };
}

const judgement = ({ error, message }: CatalogueOutcome) => `${error}: ${message}`;

describe('Catalogue', () => {
  it('createTogether() shows all topics in one step and leaves out what is refused', async () => {
    const { catalogue } = await setUp();
    const seen: (readonly string[])[] = [];
    catalogue.onChange((names) => seen.push(names));
    const outcomes = await catalogue.createTogether([
      wanted('a'),
      wanted('b', { partitionCount: 0 }),
      wanted('c'),
      wanted('a'),
    ]);
    expect(outcomes.map(({ error }) => error)).to.deep.equal([
      'NONE',
      'INVALID_PARTITIONS',
      'NONE',
      'TOPIC_ALREADY_EXISTS',
    ]);
    expect(seen).to.deep.equal([['a', 'c']]);
    expect(catalogue.list().map(({ name }) => name)).to.deep.equal(['a', 'c']);
  });

  it('create() makes a topic with an id of its own, shows it and tells of it', async () => {
    const { catalogue, told } = await setUp();
    const configs = new Map([
      ['cleanup.policy', 'compact'],
      ['retention.ms', null],
    ]);
    const outcome = await catalogue.create(wanted('in', { partitionCount: 2, configs }), now);
    const topic = {
      name: 'in',
      topicId: 'AAAAAAAAQACAAAAAAAAAAA',
      partitionCount: 2,
      racks: [[], []],
      internal: false,
      configs: new Map([['cleanup.policy', 'compact']]),
    };
    expect(outcome).to.deep.equal({ error: 'NONE', message: null, topic });
    expect(catalogue.view().topic('in')).to.deep.equal(topic);
    expect(catalogue.byName('in')).to.deep.equal(topic);
    expect(catalogue.byId(topic.topicId)).to.deep.equal(topic);
    expect(catalogue.list()).to.deep.equal([topic]);
    expect(told).to.deep.equal(['in 2']);
  });

  it('create() takes the default number of partitions for -1', async () => {
    const { catalogue } = await setUp();
    const outcome = await catalogue.create(wanted('in', { partitionCount: -1 }), now);
    expect(outcome.topic?.partitionCount).to.equal(3);
  });

  it('create() refuses what cannot be, and changes nothing', async () => {
    const { keyValues, catalogue, told } = await setUp();
    const config = (name: string, value: string) =>
      wanted('in', { configs: new Map([[name, value]]) });
    const refusals = [];
    for (const topic of [
      wanted(''),
      wanted('..'),
      wanted('x'.repeat(250)),
      wanted('a b'),
      wanted('in', { partitionCount: 0 }),
      wanted('in', { partitionCount: -2 }),
      wanted('in', { partitionCount: 100_001 }),
      wanted('in', { replicationFactor: 2 }),
      wanted('in', { replicationFactor: 0 }),
      config('cleanup.polisy', 'compact'),
      config('cleanup.policy', 'compact,remove'),
    ]) {
      refusals.push(judgement(await catalogue.create(topic, now)));
    }
    expect(refusals).to.deep.equal([
      'INVALID_TOPIC_EXCEPTION: Name a topic: the name is empty',
      'INVALID_TOPIC_EXCEPTION: Name a topic: ".." is not allowed',
      'INVALID_TOPIC_EXCEPTION: Name a topic: 250 characters, at most 249',
      'INVALID_TOPIC_EXCEPTION: Name a topic: "a b" has characters other than letters, digits, ".", "_" and "-"',
      'INVALID_PARTITIONS: Create topic in: 0 partitions, wanted 1 to 100000, or -1',
      'INVALID_PARTITIONS: Create topic in: -2 partitions, wanted 1 to 100000, or -1',
      'INVALID_PARTITIONS: Create topic in: 100001 partitions, wanted 1 to 100000, or -1',
      'INVALID_REPLICATION_FACTOR: Create topic in: replication factor 2, wanted 1 or -1, as there is one node',
      'INVALID_REPLICATION_FACTOR: Create topic in: replication factor 0, wanted 1 or -1, as there is one node',
      'INVALID_CONFIG: Set topic config cleanup.polisy: there is no such config',
      'INVALID_CONFIG: Set topic config cleanup.policy: "compact,remove", wanted compact, delete or both',
    ]);
    expect(keyValues.writes).to.have.length(0);
    expect(told).to.deep.equal([]);
  });

  it('create() of one name twice at once makes one topic', async () => {
    const { catalogue } = await setUp();
    const outcomes = await Promise.all([
      catalogue.create(wanted('in'), now),
      catalogue.create(wanted('in'), now),
    ]);
    expect(outcomes.map(judgement)).to.deep.equal([
      'NONE: null',
      'TOPIC_ALREADY_EXISTS: Create topic in: it exists already',
    ]);
    expect(catalogue.list()).to.have.length(1);
  });

  it('delete() takes a topic away; one of the same name gets another id', async () => {
    const { catalogue, told } = await setUp();
    const first = await catalogue.create(wanted('in'), now);
    expect(await catalogue.delete('in')).to.deep.equal(first);
    expect(catalogue.byId(first.topic?.topicId ?? '')).to.equal(undefined);
    expect(judgement(await catalogue.delete('in'))).to.equal(
      'UNKNOWN_TOPIC_OR_PARTITION: Delete topic in: there is no such topic',
    );
    const second = await catalogue.create(wanted('in'), now);
    expect(second.topic?.topicId).not.to.equal(first.topic?.topicId);
    expect(told).to.deep.equal(['in 1', 'in gone', 'in 1']);
  });

  it('grow() raises the count alone; a look taken before stays as it was', async () => {
    const { catalogue, told } = await setUp();
    await catalogue.create(wanted('in', { partitionCount: 2 }), now);
    const before = catalogue.view();
    const { topic } = await catalogue.grow('in', 4, now);
    expect([topic?.partitionCount, topic?.racks.length]).to.deep.equal([4, 4]);
    expect(before.topic('in')?.partitionCount).to.equal(2);
    expect(catalogue.view()).not.to.equal(before);
    const refusals = [
      await catalogue.grow('in', 4, now),
      await catalogue.grow('in', 3, now),
      await catalogue.grow('in', 100_001, now),
      await catalogue.grow('out', 4, now),
    ];
    expect(refusals.map(({ error }) => error)).to.deep.equal([
      'INVALID_PARTITIONS',
      'INVALID_PARTITIONS',
      'INVALID_PARTITIONS',
      'UNKNOWN_TOPIC_OR_PARTITION',
    ]);
    expect(told).to.deep.equal(['in 2', 'in 4']);
  });

  it('alterConfigs() sets and takes away values, and judges the whole', async () => {
    const { catalogue } = await setUp();
    await catalogue.create(wanted('in', { configs: new Map([['retention.ms', '5']]) }), now);
    const alter = (...pairs: [string, string | null][]) =>
      catalogue.alterConfigs('in', new Map(pairs), now);
    expect((await alter(['retention.ms', null], ['segment.ms', '7'])).error).to.equal('NONE');
    expect((await alter(['retention.ms', '-2'])).error).to.equal('INVALID_CONFIG');
    expect([...(catalogue.byName('in')?.configs ?? [])]).to.deep.equal([['segment.ms', '7']]);
  });

  it('changes nothing with validateOnly, and judges as always', async () => {
    const { keyValues, catalogue } = await setUp();
    const dry = { validateOnly: true };
    const made = await catalogue.create(wanted('in', { partitionCount: 5 }), dry);
    expect([made.error, made.topic?.partitionCount]).to.deep.equal(['NONE', 5]);
    expect((await catalogue.create(wanted('in', { partitionCount: 0 }), dry)).error).to.equal(
      'INVALID_PARTITIONS',
    );
    expect(catalogue.list()).to.deep.equal([]);
    expect(keyValues.writes).to.have.length(0);
  });

  it('is the same after a restart', async () => {
    const { keyValues, catalogue } = await setUp();
    await catalogue.create(wanted('b', { partitionCount: 2 }), now);
    await catalogue.create(wanted('a', { configs: new Map([['segment.ms', '7']]) }), now);
    await catalogue.create(wanted('c'), now);
    await catalogue.grow('b', 6, now);
    await catalogue.delete('c');
    const again = await openOn(keyValues);
    expect(again.list()).to.deep.equal(catalogue.list());
    expect(again.list().map(({ name }) => name)).to.deep.equal(['a', 'b']);
    expect(keyValues.writes.every(({ sync }) => sync)).to.equal(true);
  });

  it('shows nothing that could not be kept', async () => {
    const { keyValues, catalogue, told } = await setUp();
    keyValues.failNext();
    const [lost, kept] = await Promise.all([
      catalogue.create(wanted('a'), now),
      catalogue.create(wanted('b'), now),
    ]);
    expect(judgement(lost)).to.equal('UNKNOWN_SERVER_ERROR: Write the store: told to fail');
    expect(judgement(kept)).to.equal('NONE: null');
    expect(told).to.deep.equal(['b 1']);
  });

  it('knows what topics are of the cluster itself', async () => {
    const { catalogue } = await setUp();
    const outcome = await catalogue.create(wanted('__consumer_offsets'), now);
    expect(outcome.topic?.internal).to.equal(true);
  });
});
