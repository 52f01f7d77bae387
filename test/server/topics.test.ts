import { expect } from 'chai';
import type { Authorizer } from '../../src/server/authorize.ts';
import {
  answerCreatePartitions,
  answerCreateTopics,
  answerDeleteTopics,
  answerListPartitionReassignments,
} from '../../src/server/handlers/topics.ts';
import { ZERO_UUID } from '../../src/wire/reader.ts';
import { incoming } from '../support/incoming.ts';
import type { TestParts } from '../support/standalone-parts.ts';
import { standaloneParts } from '../support/standalone-parts.ts';

const without = (...denied: readonly string[]): Authorizer => ({
  allows: (_, operation, type, name) => !denied.includes(`${operation} ${type} ${name}`),
});

type Wanted = {
  readonly name: string;
  readonly numPartitions?: number;
  readonly replicationFactor?: number;
  readonly assignments?: readonly { partitionIndex: number; brokerIds: readonly number[] }[];
  readonly configs?: readonly { name: string; value: string | null }[];
};

async function create(
  parts: TestParts,
  topics: readonly Wanted[],
  options: { readonly validateOnly?: boolean; readonly authorizer?: Authorizer } = {},
) {
  const { validateOnly = false, authorizer = parts.authorizer } = options;
  const request = {
    timeoutMs: 1_000,
    validateOnly,
    topics: topics.map((one) => ({
      numPartitions: -1,
      replicationFactor: -1,
      assignments: [],
      configs: [],
      ...one,
    })),
  };
  const { topics: created = [] } = await answerCreateTopics({ ...parts, authorizer })(
    request,
    incoming(7),
  );
  return created;
}
const codes = (answers: readonly { readonly errorCode?: number | undefined }[] = []) =>
  answers.map(({ errorCode = 0 }) => errorCode);

describe('answerCreateTopics()', () => {
  it('creates topics, with the default count for -1, and tells what they are', async () => {
    const parts = await standaloneParts();
    const created = await create(parts, [
      { name: 'a', numPartitions: 4, configs: [{ name: 'retention.ms', value: '5' }] },
      { name: 'b' },
    ]);
    expect(
      created.map(({ name, topicId, numPartitions, replicationFactor }) => ({
        name,
        topicId,
        numPartitions,
        replicationFactor,
      })),
    ).to.deep.equal(
      [
        { name: 'a', numPartitions: 4 },
        { name: 'b', numPartitions: 3 },
      ].map((one) => ({
        ...one,
        topicId: parts.catalogue.byName(one.name)?.topicId,
        replicationFactor: 1,
      })),
    );
    const shown = created[0]?.configs?.find(({ name }) => name === 'retention.ms');
    expect(shown).to.deep.equal({
      name: 'retention.ms',
      value: '5',
      readOnly: false,
      configSource: 1,
      isSensitive: false,
    });
  });

  it('refuses 36, 17, 37, 38, 40, and a topic that is named twice with 42', async () => {
    const parts = await standaloneParts({}, { topics: { there: 1 } });
    const created = await create(parts, [
      { name: 'there' },
      { name: 'a/b' },
      { name: 'none', numPartitions: 0 },
      { name: 'three', replicationFactor: 3 },
      { name: 'odd', configs: [{ name: 'cleanup.policy', value: 'never' }] },
      { name: 'twice' },
      { name: 'twice' },
      { name: 'good' },
    ]);
    expect(codes(created)).to.deep.equal([36, 17, 37, 38, 40, 42, 42, 0]);
    expect(created[0]).to.have.all.keys('name', 'errorCode', 'errorMessage');
    expect(
      created.slice(0, 7).every(({ errorMessage }) => typeof errorMessage === 'string'),
    ).to.equal(true);
    expect(parts.catalogue.list().map(({ name }) => name)).to.deep.equal(['good', 'there']);
  });

  it('only judges with validateOnly', async () => {
    const parts = await standaloneParts();
    const options = { validateOnly: true };
    const [judged] = await create(parts, [{ name: 'a', numPartitions: 2 }], options);
    expect(judged).to.deep.include({ topicId: ZERO_UUID, numPartitions: 2 });
    expect(codes(await create(parts, [{ name: 'a', numPartitions: 0 }], options))).to.deep.equal([
      37,
    ]);
    expect(parts.catalogue.list()).to.deep.equal([]);
  });

  it('takes replicas that are listed if they are on this node alone', async () => {
    const parts = await standaloneParts();
    const on = (...brokers: number[]) =>
      brokers.map((broker, partitionIndex) => ({ partitionIndex, brokerIds: [broker] }));
    const created = await create(parts, [
      { name: 'a', assignments: on(1, 1) },
      { name: 'b', assignments: on(1, 2) },
      { name: 'c', assignments: [{ partitionIndex: 1, brokerIds: [1] }] },
      { name: 'd', numPartitions: 1, assignments: on(1) },
    ]);
    expect(codes(created)).to.deep.equal([0, 42, 42, 42]);
    expect(parts.catalogue.byName('a')?.partitionCount).to.equal(2);
  });

  it('needs CREATE on the cluster or on the topic', async () => {
    const parts = await standaloneParts();
    const both = ['CREATE CLUSTER kafka-cluster', 'CREATE TOPIC a'];
    const authorizer = without(...both);
    expect(
      codes(await create(parts, [{ name: 'a' }, { name: 'b' }], { authorizer })),
    ).to.deep.equal([29, 0]);
  });
});

describe('answerCreatePartitions()', () => {
  async function grow(parts: TestParts, ...topics: readonly (readonly [string, number])[]) {
    const request = {
      timeoutMs: 1_000,
      validateOnly: false,
      topics: topics.map(([name, count]) => ({ name, count, assignments: null })),
    };
    return codes((await answerCreatePartitions(parts)(request, incoming(3))).results);
  }

  it('raises a count, and refuses the same, fewer (37), unknown (3) and twice (42)', async () => {
    const parts = await standaloneParts({}, { topics: { a: 2, b: 2, c: 2 } });
    expect(await grow(parts, ['a', 5], ['b', 2], ['none', 3], ['c', 3], ['c', 4])).to.deep.equal([
      0, 37, 3, 42, 42,
    ]);
    expect(parts.catalogue.list().map(({ partitionCount }) => partitionCount)).to.deep.equal([
      5, 2, 2,
    ]);
  });

  it('takes new replicas that are on this node, one list for each new partition', async () => {
    const parts = await standaloneParts({}, { topics: { a: 2 } });
    const assign = async (...lists: number[][]) => {
      const assignments = lists.map((brokerIds) => ({ brokerIds }));
      const topics = [{ name: 'a', count: 4, assignments }];
      const request = { topics, timeoutMs: 1_000, validateOnly: true };
      return codes((await answerCreatePartitions(parts)(request, incoming(3))).results)[0];
    };
    expect(await assign([1], [1])).to.equal(0);
    expect(await assign([1])).to.equal(42);
    expect(await assign([1], [2])).to.equal(42);
  });
});

describe('answerDeleteTopics()', () => {
  type Named = { readonly name: string | null; readonly topicId: string };

  async function remove(parts: TestParts, topics: readonly Named[], version = 6) {
    const request = {
      timeoutMs: 1_000,
      topics: version >= 6 ? topics : [],
      topicNames: version >= 6 ? [] : topics.map(({ name }) => name ?? ''),
    };
    return (await answerDeleteTopics(parts)(request, incoming(version))).responses ?? [];
  }
  const named = (name: string): Named => ({ name, topicId: ZERO_UUID });

  it('deletes by name and by id, and has groups forget what they committed there (EX-7)', async () => {
    const forgotten: string[] = [];
    const parts = await standaloneParts(
      { topicsDeleted: (topics) => void forgotten.push(...topics.map(({ name }) => name)) },
      { topics: { a: 1, b: 1, c: 1 } },
    );
    const id = parts.catalogue.byName('b')?.topicId ?? '';
    const gone = await remove(parts, [
      named('a'),
      { name: null, topicId: id },
      named('none'),
      { name: null, topicId: 'BBBBBBBBBBBBBBBBBBBBBA' },
      { name: 'c', topicId: id },
      { name: null, topicId: ZERO_UUID },
    ]);
    expect(gone.map(({ name, errorCode }) => [name, errorCode])).to.deep.equal([
      ['a', 0],
      ['b', 0],
      ['none', 3],
      [null, 100],
      ['c', 42],
      [null, 42],
    ]);
    expect(parts.catalogue.list().map(({ name }) => name)).to.deep.equal(['c']);
    expect(forgotten).to.deep.equal(['a', 'b']);
  });

  it('deletes by name in old versions', async () => {
    const parts = await standaloneParts({ topicsDeleted: () => {} }, { topics: { a: 1 } });
    expect(codes(await remove(parts, [named('a'), named('a')], 5))).to.deep.equal([0, 3]);
  });

  it('does not tell the name behind an id to who may not delete it', async () => {
    const parts = await standaloneParts({}, { topics: { a: 1 } });
    const topicId = parts.catalogue.byName('a')?.topicId ?? '';
    const denied = { ...parts, authorizer: without('DELETE TOPIC a') };
    expect(await remove(denied, [{ name: null, topicId }])).to.deep.equal([
      { name: null, topicId, errorCode: 100, errorMessage: null },
    ]);
    expect(codes(await remove(denied, [named('a')]))).to.deep.equal([29]);
  });
});

describe('answerListPartitionReassignments()', () => {
  it('knows of none', async () => {
    const answer = answerListPartitionReassignments();
    const response = await answer({ timeoutMs: 1_000, topics: null }, incoming(0));
    expect(response).to.deep.equal({ errorMessage: null });
  });
});
