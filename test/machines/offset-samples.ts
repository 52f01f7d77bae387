import { expect } from 'chai';
import { apply } from '../../machines/apply.ts';
import type { CommitRequest } from '../../machines/commands.ts';
import { decideCommit, judgeCommit } from '../../machines/decide/offsets.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import type { ErrorName } from '../../machines/model/refusal.ts';
import { UNKNOWN_TOPIC } from '../../machines/model/topics.ts';
import { REPARTITIONED, topicsOf } from '../support/topology-samples.ts';
import { COORDINATOR, GROUP, groupRecords, offsetRecord, slotOf } from './group-samples.ts';

export const TOPICS = topicsOf({ in: 4, other: 1, 'app-r-repartition': 4, 'app-agg-changelog': 4 });
export const CONTEXT = { nowMs: 5_000, topics: TOPICS, coordinator: COORDINATOR };

type Committed = { readonly [topic: string]: readonly number[] };

/** A plain commit of version 9 by nobody, with what is said otherwise. */
export function commitOf(
  offsets: Committed,
  overrides: Partial<CommitRequest> = {},
): CommitRequest {
  return {
    groupId: GROUP,
    memberId: '',
    memberEpoch: -1,
    instanceId: null,
    transactional: false,
    apiVersion: 9,
    topics: Object.entries(offsets).map(([name, partitions]) => ({
      name,
      topicId: UNKNOWN_TOPIC,
      partitions: partitions.map((partition) => ({
        partition,
        offset: 5n,
        leaderEpoch: -1,
        metadata: '',
      })),
    })),
    ...overrides,
  };
}

/** The errors of a commit in the order of its partitions; deciding must answer what judging says. */
export function errorsOf(
  slot: GroupSlot | undefined,
  request: CommitRequest,
): readonly ErrorName[] {
  const judged = judgeCommit(slot, request, TOPICS, COORDINATOR);
  expect(decideCommit(slot, request, CONTEXT).reply).to.deep.equal({
    kind: 'answer',
    value: judged,
  });
  return judged.topics.flatMap((topic) => topic.partitions.map((one) => one.error));
}

/** A has 0_0 since epoch 2, 0_1 since 4, is to give up 0_2, has repartition task 1_3 since 1; epoch 5. */
export const LIVE = slotOf(
  groupRecords(
    {
      A: {
        memberEpoch: 5,
        assigned: {
          active: [
            { subtopologyId: '0', partitions: [0, 1], assignmentEpochs: [2, 4] },
            { subtopologyId: '1', partitions: [3], assignmentEpochs: [1] },
          ],
          standby: [{ subtopologyId: '0', partitions: [3] }],
          warmup: [],
        },
        pendingRevocation: {
          active: [{ subtopologyId: '0', partitions: [2], assignmentEpochs: [2] }],
          standby: [],
          warmup: [],
        },
      },
    },
    { topology: REPARTITIONED },
  ),
);
export const EMPTY = slotOf(groupRecords());
export const SIMPLE = slotOf([offsetRecord('in', 0)]);
export const byA = (memberEpoch: number, overrides: Partial<CommitRequest> = {}) => ({
  memberId: 'A',
  memberEpoch,
  ...overrides,
});

/** With an offset of each topic that the group reads, keeps or has nothing to do with. */
export const withOffsets = (slot: GroupSlot) =>
  [
    offsetRecord('in', 0),
    offsetRecord('in', 1),
    offsetRecord('app-r-repartition', 0),
    offsetRecord('app-agg-changelog', 0),
    offsetRecord('other', 0),
  ].reduce(apply, slot);
