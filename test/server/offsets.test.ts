import { expect } from 'chai';
import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { Authorizer } from '../../src/server/authorize.ts';
import { answerOffsetCommit } from '../../src/server/handlers/offset-commit.ts';
import { answerOffsetDelete } from '../../src/server/handlers/offset-delete.ts';
import { answerOffsetFetch } from '../../src/server/handlers/offset-fetch.ts';
import { encodeResponseFrame } from '../../src/wire/headers.ts';
import { ZERO_UUID } from '../../src/wire/reader.ts';
import { incoming } from '../support/incoming.ts';
import { standaloneParts } from '../support/standalone-parts.ts';
import { decodeAnswer } from '../support/wire-client.ts';

const without = (...denied: readonly string[]): Authorizer => ({
  allows: (_, operation, type, name) => !denied.includes(`${operation} ${type} ${name}`),
});
const UNKNOWN_ID = 'BBBBBBBBBBBBBBBBBBBBBA';
const TOPICS = { topics: { in: 3, out: 1 } };

describe('answerOffsetCommit()', () => {
  /** Partition 1 is refused, all others are committed. */
  const commit: GroupCoordinator['commit'] = async ({ topics }) => ({
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partition }) => ({
        partition,
        error: partition === 1 ? 'OFFSET_METADATA_TOO_LARGE' : 'NONE',
      })),
    })),
  });
  const partition = (partitionIndex: number, committedMetadata: string | null = 'm') => ({
    partitionIndex,
    committedOffset: 2n ** 60n,
    committedLeaderEpoch: 4,
    committedMetadata,
  });
  const request = {
    groupId: 'g',
    generationIdOrMemberEpoch: 3,
    memberId: 'm',
    groupInstanceId: 'i',
    retentionTimeMs: -1n,
  };
  const errors = (
    topics: readonly {
      partitions?: readonly { errorCode?: number | undefined }[] | undefined;
    }[] = [],
  ) => topics.map(({ partitions = [] }) => partitions.map(({ errorCode }) => errorCode));

  it('leaves a topic out of which no partition is asked about, if it exists', async () => {
    const parts = await standaloneParts({ commit }, TOPICS);
    const topics = ['in', 'none', 'out'].map((name) => ({
      name,
      topicId: ZERO_UUID,
      partitions: name === 'out' ? [partition(0)] : [],
    }));
    const response = await answerOffsetCommit(parts)({ ...request, topics }, incoming(9));
    expect(response.topics?.map(({ name }) => name)).to.deep.equal(['none', 'out']);
    expect(errors(response.topics)).to.deep.equal([[], [0]]);
  });

  it('hands names, ids and numbers over exactly, and answers at each partition', async () => {
    const parts = await standaloneParts({ commit }, TOPICS);
    const topics = [
      { name: 'in', topicId: ZERO_UUID, partitions: [partition(0), partition(1, null)] },
      { name: 'none', topicId: ZERO_UUID, partitions: [partition(0)] },
    ];
    const response = await answerOffsetCommit(parts)({ ...request, topics }, incoming(9));
    expect(errors(response.topics)).to.deep.equal([[0, 12], [0]]);
    const handed = (index: number, metadata: string) => ({
      partition: index,
      offset: 2n ** 60n,
      leaderEpoch: 4,
      metadata,
    });
    expect(parts.calls[0]?.args).to.deep.equal([
      {
        groupId: 'g',
        memberId: 'm',
        memberEpoch: 3,
        instanceId: 'i',
        transactional: false,
        apiVersion: 9,
        retentionMs: undefined,
        topics: [
          {
            name: 'in',
            topicId: parts.catalogue.byName('in')?.topicId,
            partitions: [handed(0, 'm'), handed(1, '')],
          },
          { name: 'none', topicId: ZERO_UUID, partitions: [handed(0, 'm')] },
        ],
      },
    ]);
  });

  it('hands over how long old clients want their offsets kept', async () => {
    const parts = await standaloneParts({ commit }, TOPICS);
    const topics = [{ name: 'in', topicId: ZERO_UUID, partitions: [partition(0)] }];
    for (const retentionTimeMs of [0n, 5_000n, -7n, 2n ** 63n - 1n])
      await answerOffsetCommit(parts)({ ...request, retentionTimeMs, topics }, incoming(4));
    expect(
      parts.calls.map(({ args }) => (args[0] as { retentionMs?: number }).retentionMs),
    ).to.deep.equal([0, 5_000, 0, Number.MAX_SAFE_INTEGER]);
  });

  it('finds topics by id from version 10 on, answers by id, and 100 for one that is not there', async () => {
    const parts = await standaloneParts({ commit }, TOPICS);
    const id = parts.catalogue.byName('in')?.topicId ?? '';
    const topics = [
      { name: '', topicId: UNKNOWN_ID, partitions: [partition(0), partition(2)] },
      { name: '', topicId: id, partitions: [partition(2)] },
    ];
    const body = await answerOffsetCommit(parts)({ ...request, topics }, incoming(10));
    const frame = encodeResponseFrame('OffsetCommit', 10, 1, body).subarray(4);
    expect(decodeAnswer('OffsetCommit', 10, frame).topics).to.deep.equal([
      {
        name: '',
        topicId: UNKNOWN_ID,
        partitions: [
          { partitionIndex: 0, errorCode: 100 },
          { partitionIndex: 2, errorCode: 100 },
        ],
      },
      { name: '', topicId: id, partitions: [{ partitionIndex: 2, errorCode: 0 }] },
    ]);
  });

  it('answers 30 everywhere without READ on the group, 29 for topics one may not read', async () => {
    const parts = await standaloneParts({ commit }, TOPICS);
    const topics = ['in', 'out'].map((name) => ({
      name,
      topicId: ZERO_UUID,
      partitions: [partition(0)],
    }));
    const codes = async (...denied: readonly string[]) => {
      const answer = answerOffsetCommit({ ...parts, authorizer: without(...denied) });
      return errors((await answer({ ...request, topics }, incoming(9))).topics);
    };
    expect(await codes('READ GROUP g')).to.deep.equal([[30], [30]]);
    expect(await codes('READ TOPIC in', 'READ TOPIC out')).to.deep.equal([[29], [29]]);
    expect(parts.calls).to.deep.equal([]);
    expect(await codes('READ TOPIC in')).to.deep.equal([[29], [0]]);
  });
});

describe('answerOffsetFetch()', () => {
  const fetched = (name: string, partition: number, offset: bigint) => ({
    name,
    partitions: [{ partition, offset, leaderEpoch: 7, metadata: 'm', error: 'NONE' as const }],
  });
  const fetchOffsets: GroupCoordinator['fetchOffsets'] = async ({ topics }) => ({
    error: 'NONE',
    topics:
      topics === null
        ? [fetched('in', 0, 5n), fetched('gone', 0, 6n)]
        : topics.map(({ name }) => fetched(name, 0, 5n)),
  });
  const found = {
    partitionIndex: 0,
    committedOffset: 5n,
    committedLeaderEpoch: 7,
    metadata: 'm',
    errorCode: 0,
  };
  const nothing = {
    partitionIndex: 1,
    committedOffset: -1n,
    committedLeaderEpoch: -1,
    metadata: '',
    errorCode: 0,
  };
  const flat = {
    groupId: 'g',
    topics: [{ name: 'in', partitionIndexes: [0, 1] }],
    groups: [],
    requireStable: false,
  };
  const grouped = (
    topics: readonly { name?: string; topicId?: string; partitionIndexes: number[] }[] | null,
    requireStable = false,
  ) => ({
    groupId: '',
    topics: [],
    requireStable,
    groups: [
      {
        groupId: 'g',
        memberId: 'm',
        memberEpoch: 3,
        topics: topics?.map((one) => ({ name: '', topicId: ZERO_UUID, ...one })) ?? null,
      },
    ],
  });

  async function answered(
    request: Parameters<ReturnType<typeof answerOffsetFetch>>[0],
    version: number,
    change: { answers?: Partial<GroupCoordinator>; authorizer?: Authorizer } = {},
  ) {
    const parts = await standaloneParts(change.answers ?? { fetchOffsets }, TOPICS);
    const { authorizer = parts.authorizer } = change;
    const body = await answerOffsetFetch({ ...parts, authorizer })(request, incoming(version));
    const frame = encodeResponseFrame('OffsetFetch', version, 1, body).subarray(4);
    const idOf = (name: string) => parts.catalogue.byName(name)?.topicId ?? '';
    return { response: decodeAnswer('OffsetFetch', version, frame), calls: parts.calls, idOf };
  }

  it('answers one group without member below version 8', async () => {
    for (const version of [1, 4, 5, 7]) {
      const { response, calls } = await answered(flat, version);
      const [first, second] = response.topics[0]?.partitions ?? [];
      const leaderEpoch = version < 5 ? -1 : 7;
      expect(first).to.deep.equal({ ...found, committedLeaderEpoch: leaderEpoch });
      expect(second).to.deep.equal(nothing);
      expect(calls[0]?.args).to.deep.equal([
        {
          groupId: 'g',
          memberId: null,
          memberEpoch: -1,
          topics: [{ name: 'in', partitions: [0, 1] }],
        },
        { stable: false },
      ]);
    }
  });

  it('has the error of the group at the top from version 2 on, at each partition in version 1', async () => {
    const answers: Partial<GroupCoordinator> = {
      fetchOffsets: async () => ({ error: 'NOT_COORDINATOR', topics: [] }),
    };
    const { response: first } = await answered(flat, 1, { answers });
    expect(first.topics[0]?.partitions.map(({ errorCode }) => errorCode)).to.deep.equal([16, 16]);
    const { response: second } = await answered(flat, 2, { answers });
    expect([second.errorCode, second.topics]).to.deep.equal([16, []]);
  });

  it('hands member, epoch and stability over from version 9 on', async () => {
    const { response, calls } = await answered(
      grouped([{ name: 'in', partitionIndexes: [0, 1] }], true),
      9,
    );
    expect(response.groups).to.deep.equal([
      {
        groupId: 'g',
        errorCode: 0,
        topics: [{ name: 'in', topicId: ZERO_UUID, partitions: [found, nothing] }],
      },
    ]);
    expect(calls[0]?.args).to.deep.equal([
      {
        groupId: 'g',
        memberId: 'm',
        memberEpoch: 3,
        topics: [{ name: 'in', partitions: [0, 1] }],
      },
      { stable: true },
    ]);
  });

  it('answers by id in version 10, with 100 for one that is not there', async () => {
    const { idOf } = await answered(grouped([]), 10);
    const topics = [
      { topicId: UNKNOWN_ID, partitionIndexes: [1] },
      { topicId: idOf('in'), partitionIndexes: [0] },
    ];
    const { response } = await answered(grouped(topics), 10);
    expect(response.groups[0]?.topics).to.deep.equal([
      { name: '', topicId: UNKNOWN_ID, partitions: [{ ...nothing, errorCode: 100 }] },
      { name: '', topicId: idOf('in'), partitions: [found] },
    ]);
  });

  it('gives everything for null, by id what has one', async () => {
    const names = (await answered(grouped(null), 9)).response.groups[0]?.topics;
    expect(names?.map(({ name }) => name)).to.deep.equal(['in', 'gone']);
    const { response, idOf } = await answered(grouped(null), 10);
    expect(response.groups[0]?.topics.map(({ topicId }) => topicId)).to.deep.equal([idOf('in')]);
  });

  it('hides the group without DESCRIBE on it (30), and topics one may not describe', async () => {
    const group = await answered(grouped(null), 9, { authorizer: without('DESCRIBE GROUP g') });
    expect(group.response.groups).to.deep.equal([{ groupId: 'g', topics: [], errorCode: 30 }]);
    const authorizer = without('DESCRIBE TOPIC in');
    const all = await answered(grouped(null), 9, { authorizer });
    expect(all.response.groups[0]?.topics.map(({ name }) => name)).to.deep.equal(['gone']);
    const named = await answered(grouped([{ name: 'in', partitionIndexes: [1] }]), 9, {
      authorizer,
    });
    expect(named.response.groups[0]?.topics[0]?.partitions).to.deep.equal([
      { ...nothing, errorCode: 29 },
    ]);
  });

  it('answers several groups at once', async () => {
    const { groups } = grouped([]);
    const request = {
      ...grouped([]),
      groups: [...groups, ...groups.map((one) => ({ ...one, groupId: 'h' }))],
    };
    const { response } = await answered(request, 9);
    expect(response.groups.map(({ groupId }) => groupId)).to.deep.equal(['g', 'h']);
  });
});

describe('answerOffsetDelete()', () => {
  const deleteOffsets: GroupCoordinator['deleteOffsets'] = async ({ groupId, topics }) =>
    groupId === 'none'
      ? { error: 'GROUP_ID_NOT_FOUND', topics: [] }
      : {
          error: 'NONE',
          topics: topics.map(({ name, partitions }) => ({
            name,
            partitions: partitions.map((partition) => ({
              partition,
              error: name === 'out' ? 'GROUP_SUBSCRIBED_TO_TOPIC' : 'NONE',
            })),
          })),
        };

  async function remove(
    topics: Readonly<Record<string, readonly number[]>>,
    groupId = 'g',
    authorizer: Authorizer = without(),
  ) {
    const parts = await standaloneParts({ deleteOffsets }, TOPICS);
    const asked = Object.entries(topics).map(([name, partitions]) => ({
      name,
      partitions: partitions.map((partitionIndex) => ({ partitionIndex })),
    }));
    const answer = answerOffsetDelete({ ...parts, authorizer });
    const response = await answer({ groupId, topics: asked }, incoming(0));
    const codes = response.topics?.map(({ name, partitions = [] }) => [
      name,
      partitions.map(({ partitionIndex, errorCode }) => [partitionIndex, errorCode]),
    ]);
    return { error: response.errorCode ?? 0, codes, calls: parts.calls };
  }

  it('answers 3 for what does not exist and hands the rest over', async () => {
    const { error, codes, calls } = await remove({ in: [0, 9], nowhere: [0], out: [0] });
    expect(error).to.equal(0);
    expect(codes).to.deep.equal([
      [
        'in',
        [
          [0, 0],
          [9, 3],
        ],
      ],
      ['nowhere', [[0, 3]]],
      ['out', [[0, 86]]],
    ]);
    expect(calls[0]?.args).to.deep.equal([
      {
        groupId: 'g',
        topics: [
          { name: 'in', partitions: [0] },
          { name: 'out', partitions: [0] },
        ],
      },
    ]);
  });

  it('leaves a topic out of which no partition is named, if it exists', async () => {
    expect((await remove({ in: [], nowhere: [] })).codes).to.deep.equal([['nowhere', []]]);
  });

  it('says that the group is not there though no topic is either', async () => {
    expect(await remove({ nowhere: [0] }, 'none')).to.deep.include({ error: 69, codes: undefined });
  });

  it('refuses an empty id (24) and who may not delete (30) or read the topic (29)', async () => {
    expect((await remove({ in: [0] }, '')).error).to.equal(24);
    expect((await remove({ in: [0] }, 'g', without('DELETE GROUP g'))).error).to.equal(30);
    const { codes } = await remove({ in: [0] }, 'g', without('READ TOPIC in'));
    expect(codes).to.deep.equal([['in', [[0, 29]]]]);
  });
});
