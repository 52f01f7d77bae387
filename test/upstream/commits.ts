import type { ResponseOf } from '../../src/wire/apis.ts';

type CommitApi = 'OffsetCommit' | 'TxnOffsetCommit';

/** The member of group `g` that commits. */
export const MEMBER = { memberId: 'm', generationIdOrMemberEpoch: 3 };

/** Commits 7 for these partitions of `in`. */
export function commitOf(partitions: readonly number[], member: object = MEMBER, groupId = 'g') {
  return {
    groupId,
    ...member,
    topics: [
      {
        name: 'in',
        partitions: partitions.map((partitionIndex) => ({
          partitionIndex,
          committedOffset: 7n,
          committedLeaderEpoch: 4,
          committedMetadata: 'meta',
        })),
      },
    ],
  };
}

/** The error of each partition, in the order of the answer. */
export function codesOf(answer: ResponseOf<CommitApi>): readonly number[] {
  return answer.topics.flatMap(({ partitions }) => partitions.map(({ errorCode }) => errorCode));
}
