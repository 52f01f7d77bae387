import { expect } from 'chai';
import type { Authorizer } from '../../src/server/authorize.ts';
import { answerFindCoordinator } from '../../src/server/handlers/find-coordinator.ts';
import {
  answerDescribeCluster,
  answerDescribeTopicPartitions,
  answerMetadata,
} from '../../src/server/handlers/metadata.ts';
import { ZERO_UUID } from '../../src/wire/reader.ts';
import { incoming } from '../support/incoming.ts';
import { standaloneParts } from '../support/standalone-parts.ts';

const hiding = (hidden: string): Authorizer => ({
  allows: (_, _operation, _type, name) => name !== hidden,
});
const UNKNOWN_ID = 'BBBBBBBBBBBBBBBBBBBBBA';
const PLAIN = {
  allowAutoTopicCreation: true,
  includeClusterAuthorizedOperations: false,
  includeTopicAuthorizedOperations: false,
};

describe('answerMetadata()', () => {
  async function ask(
    topics: readonly { readonly name: string | null; readonly topicId?: string }[] | null,
    version = 13,
    change: { readonly authorizer?: Authorizer; readonly operations?: boolean } = {},
  ) {
    const parts = await standaloneParts({}, { topics: { b: 2, a: 1 } });
    const answer = answerMetadata({ ...parts, authorizer: change.authorizer ?? parts.authorizer });
    const asked = topics?.map(({ name, topicId = ZERO_UUID }) => ({ name, topicId })) ?? null;
    const request = {
      ...PLAIN,
      topics: asked,
      includeTopicAuthorizedOperations: change.operations === true,
      includeClusterAuthorizedOperations: change.operations === true,
    };
    return { parts, response: await answer(request, incoming(version)) };
  }
  const errors = (response: Awaited<ReturnType<typeof ask>>['response']) =>
    response.topics?.map(({ name, errorCode = 0 }) => [name, errorCode]);

  it('shows this node alone, controller and leader of everything, at the address of the listener', async () => {
    const { response, parts } = await ask([{ name: 'b' }]);
    const replicas = { leaderId: 1, leaderEpoch: 0, replicaNodes: [1], isrNodes: [1] };
    expect(response).to.deep.equal({
      brokers: [{ nodeId: 1, host: 'localhost', port: 9092 }],
      clusterId: 'cluster-1',
      controllerId: 1,
      topics: [
        {
          name: 'b',
          topicId: parts.catalogue.byName('b')?.topicId,
          isInternal: false,
          partitions: [
            { partitionIndex: 0, ...replicas },
            { partitionIndex: 1, ...replicas },
          ],
          topicAuthorizedOperations: -2_147_483_648,
        },
      ],
      clusterAuthorizedOperations: -2_147_483_648,
    });
  });

  it('shows all topics for null, and in version 0 for an empty list; else an empty list asks for none', async () => {
    const names = async (topics: [] | null, version: number) =>
      errors((await ask(topics, version)).response)?.map(([name]) => name);
    expect(await names(null, 13)).to.deep.equal(['a', 'b']);
    expect(await names([], 0)).to.deep.equal(['a', 'b']);
    expect(await names([], 1)).to.deep.equal([]);
  });

  it('answers 3 for a topic that is not there, 17 for a name no topic can have, and creates nothing', async () => {
    const { response, parts } = await ask(
      ['none', 'a/b', '', '..', 'x'.repeat(250)].map((name) => ({ name })),
    );
    expect(errors(response)?.map(([, error]) => error)).to.deep.equal([3, 17, 17, 17, 17]);
    expect(parts.catalogue.list()).to.have.length(2);
  });

  it('finds topics by id, and answers 100 without a name for one that is not there', async () => {
    const parts = await standaloneParts({}, { topics: { a: 1 } });
    const topicId = parts.catalogue.byName('a')?.topicId ?? '';
    const topics = [
      { name: null, topicId },
      { name: null, topicId: UNKNOWN_ID },
    ];
    const response = await answerMetadata(parts)({ ...PLAIN, topics }, incoming(12));
    expect(response.topics?.map(({ name, errorCode }) => [name, errorCode])).to.deep.equal([
      ['a', undefined],
      [null, 100],
    ]);
    expect(response.topics?.[1]?.topicId).to.equal(UNKNOWN_ID);
    const old = await answerMetadata(parts)({ ...PLAIN, topics }, incoming(11));
    expect(old.topics?.[1]?.name).to.equal('');
  });

  it('hides topics one may not describe: left out of all, 29 by name (topology-and-admin 18)', async () => {
    const authorizer = hiding('a');
    expect(errors((await ask(null, 13, { authorizer })).response)).to.deep.equal([['b', 0]]);
    const named = await ask([{ name: 'a' }, { name: 'b' }], 13, { authorizer });
    expect(errors(named.response)).to.deep.equal([
      ['a', 29],
      ['b', 0],
    ]);
  });

  it('tells operations only in the versions that can', async () => {
    const told = async (version: number) => {
      const { response } = await ask([{ name: 'a' }], version, { operations: true });
      return [
        response.clusterAuthorizedOperations,
        response.topics?.[0]?.topicAuthorizedOperations,
      ];
    };
    const none = -2_147_483_648;
    expect(await told(7)).to.deep.equal([none, none]);
    expect(await told(10)).to.deep.equal([3_488, 3_576]);
    expect(await told(11)).to.deep.equal([none, 3_576]);
  });
});

describe('answerDescribeTopicPartitions()', () => {
  type Cursor = { readonly topicName: string; readonly partitionIndex: number };

  /** Asks until nothing is left, as the admin client does; gives what each answer held. */
  async function askAll(names: readonly string[], limit: number): Promise<unknown[][]> {
    const parts = await standaloneParts({}, { topics: { a: 3, b: 1, c: 2 } });
    const answer = answerDescribeTopicPartitions(parts);
    const rounds: unknown[][] = [];
    let cursor: Cursor | null = null;
    do {
      const topics = names.map((name) => ({ name }));
      const response = await answer({ topics, responsePartitionLimit: limit, cursor }, incoming(0));
      rounds.push(
        (response.topics ?? []).map(({ name, errorCode = 0, partitions = [] }) => [
          name,
          errorCode,
          partitions.map(({ partitionIndex }) => partitionIndex),
        ]),
      );
      cursor = (response.nextCursor ?? null) as Cursor | null;
    } while (cursor !== null && rounds.length < 20);
    return rounds;
  }

  it('answers every topic asked for, also one that is not there (wire 6.5)', async () => {
    expect(await askAll(['c', 'none', 'a'], 2_000)).to.deep.equal([
      [
        ['a', 0, [0, 1, 2]],
        ['c', 0, [0, 1]],
        ['none', 3, []],
      ],
    ]);
  });

  it('sends lists of eligible leaders, not null: the Java admin client fails on that', async () => {
    const answer = answerDescribeTopicPartitions(await standaloneParts({}, { topics: { a: 1 } }));
    const request = { topics: [{ name: 'a' }], responsePartitionLimit: 10, cursor: null };
    const { topics = [] } = await answer(request, incoming(0));
    expect(topics[0]?.partitions).to.deep.equal([
      {
        partitionIndex: 0,
        leaderId: 1,
        leaderEpoch: 0,
        replicaNodes: [1],
        isrNodes: [1],
        eligibleLeaderReplicas: [],
        lastKnownElr: [],
      },
    ]);
  });

  it('answers all topics for an empty list', async () => {
    expect((await askAll([], 2_000)).flat().map((one) => (one as [string])[0])).to.deep.equal([
      'a',
      'b',
      'c',
    ]);
  });

  it('goes on where it stopped until nothing is left', async () => {
    expect(await askAll([], 2)).to.deep.equal([
      [['a', 0, [0, 1]]],
      [
        ['a', 0, [2]],
        ['b', 0, [0]],
      ],
      [['c', 0, [0, 1]]],
    ]);
  });

  it('takes a limit that is no limit for 1', async () => {
    expect(await askAll(['a'], 0)).to.deep.equal([
      [['a', 0, [0]]],
      [['a', 0, [1]]],
      [['a', 0, [2]]],
    ]);
  });
});

describe('answerDescribeCluster()', () => {
  const request = { includeClusterAuthorizedOperations: false, includeFencedBrokers: false };

  it('shows this node, its own controller', async () => {
    const answer = answerDescribeCluster(await standaloneParts());
    expect(await answer({ ...request, endpointType: 1 }, incoming(2))).to.deep.equal({
      clusterId: 'cluster-1',
      controllerId: 1,
      brokers: [{ brokerId: 1, host: 'localhost', port: 9092 }],
      clusterAuthorizedOperations: -2_147_483_648,
    });
  });

  it('refuses to describe controllers (114) and what is unknown (115)', async () => {
    const answer = answerDescribeCluster(await standaloneParts());
    const code = async (endpointType: number) =>
      (await answer({ ...request, endpointType }, incoming(2))).errorCode;
    expect([await code(2), await code(3)]).to.deep.equal([114, 115]);
  });
});

describe('answerFindCoordinator()', () => {
  const nowhere = { nodeId: -1, host: '', port: -1 };

  async function find(keyType: number, keys: readonly string[], version = 6) {
    const answer = answerFindCoordinator(await standaloneParts());
    return answer({ key: keys[0] ?? '', keyType, coordinatorKeys: keys }, incoming(version));
  }

  it('finds every group here', async () => {
    const here = { nodeId: 1, host: 'localhost', port: 9092, errorCode: 0, errorMessage: '' };
    expect(await find(0, ['g', 'h'])).to.deep.equal({
      coordinators: [
        { key: 'g', ...here },
        { key: 'h', ...here },
      ],
    });
    expect(await find(0, ['g'], 3)).to.deep.equal(here);
    expect(await find(0, [])).to.deep.equal({ coordinators: [] });
  });

  it('answers 15 for a transaction, and for a partition of a share group', async () => {
    const codes = async (keyType: number, key: string, version = 6) =>
      (await find(keyType, [key], version)).coordinators?.map(({ errorCode }) => errorCode);
    expect(await codes(1, 'tx')).to.deep.equal([15]);
    expect(await codes(2, `g:${UNKNOWN_ID}:0`)).to.deep.equal([15]);
  });

  it('answers 42 for a key type that does not exist, with a text, and for a share key that is none', async () => {
    const { coordinators } = await find(9, ['x'], 4);
    expect(coordinators).to.deep.equal([
      {
        key: 'x',
        ...nowhere,
        errorCode: 42,
        errorMessage: 'Cannot find coordinator: key type 9, wanted 0, 1 or 2',
      },
    ]);
    const refused = { key: 'x', ...nowhere, errorCode: 42, errorMessage: '' };
    expect(await find(2, ['x'], 5)).to.deep.equal({ coordinators: [refused] });
    expect(await find(2, ['x'], 6)).to.deep.equal({ coordinators: [refused] });
  });
});
