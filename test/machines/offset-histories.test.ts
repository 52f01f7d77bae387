import { expect } from 'chai';
import fc from 'fast-check';
import { apply } from '../../machines/apply.ts';
import { decideDelete } from '../../machines/decide/delete.ts';
import {
  decideCommit,
  decideExpiry,
  decideOffsetDelete,
  decideTopicsDeleted,
} from '../../machines/decide/offsets.ts';
import type { GroupDecision, GroupSlot } from '../../machines/decision.ts';
import { emptySlot } from '../../machines/model/empty.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import { UNKNOWN_TOPIC } from '../../machines/model/topics.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { compacted } from '../support/group-records.ts';
import { topicIdOf, topicsOf } from '../support/topology-samples.ts';
import { COORDINATOR, GROUP, groupRecords, slotOf } from './group-samples.ts';

const TOPICS = topicsOf({ in: 3, other: 2 });

type Step =
  | { readonly kind: 'commit'; readonly topic: string; readonly partition: number; offset: bigint }
  | { readonly kind: 'offsetDelete'; readonly topic: string; readonly partition: number }
  | { readonly kind: 'topicDeleted'; readonly topic: string }
  | { readonly kind: 'expire' | 'delete' | 'start' };

const topic = fc.constantFrom('in', 'other');
const partition = fc.nat({ max: 2 });
const steps = fc.array(
  fc.record({
    afterMs: fc.nat({ max: 400 }),
    step: fc.oneof<fc.Arbitrary<Step>[]>(
      fc.record({
        kind: fc.constant('commit'),
        topic,
        partition,
        offset: fc.bigInt(-1n, 2n ** 62n),
      }),
      fc.record({
        kind: fc.constant('commit'),
        topic,
        partition,
        offset: fc.bigInt(-1n, 2n ** 62n),
      }),
      fc.record({ kind: fc.constant('offsetDelete'), topic, partition }),
      fc.record({ kind: fc.constant('topicDeleted'), topic }),
      fc.record({ kind: fc.constantFrom('expire', 'delete', 'start') }),
    ),
  }),
  { maxLength: 25 },
);

function decide(
  slot: GroupSlot,
  step: Step,
  nowMs: number,
): Pick<GroupDecision<unknown>, 'records'> | undefined {
  switch (step.kind) {
    case 'commit': {
      const { offset } = step;
      const committed = { partition: step.partition, offset, leaderEpoch: -1, metadata: '' };
      const request = {
        groupId: GROUP,
        memberId: '',
        memberEpoch: -1,
        instanceId: null,
        transactional: false,
        apiVersion: 9,
        topics: [{ name: step.topic, topicId: UNKNOWN_TOPIC, partitions: [committed] }],
      };
      return decideCommit(slot, request, { nowMs, topics: TOPICS, coordinator: COORDINATOR });
    }
    case 'offsetDelete': {
      const topics = [{ name: step.topic, partitions: [step.partition] }];
      return decideOffsetDelete(slot, { groupId: GROUP, topics }, { topics: TOPICS });
    }
    case 'topicDeleted':
      return decideTopicsDeleted(slot, [{ name: step.topic, topicId: topicIdOf(step.topic) }]);
    case 'expire':
      return decideExpiry(slot, { nowMs, coordinator: COORDINATOR });
    case 'delete':
      return decideDelete(slot);
    case 'start':
      return { records: groupRecords() };
  }
}

/** The same by the definitions alone: offsets as `topic-partition` to offset and time, and whether a group is there. */
class SlowGroup {
  hasGroup = false;
  readonly offsets = new Map<string, { readonly offset: bigint; readonly atMs: number }>();

  take(step: Step, nowMs: number): void {
    if (step.kind === 'commit') {
      const exists = step.partition < (TOPICS.topic(step.topic)?.partitionCount ?? 0);
      if (exists) {
        const key = `${step.topic}-${step.partition}`;
        this.offsets.set(key, { offset: step.offset, atMs: nowMs });
      }
    } else if (step.kind === 'offsetDelete') {
      this.offsets.delete(`${step.topic}-${step.partition}`);
    } else if (step.kind === 'topicDeleted') {
      this.#drop((key) => key.startsWith(`${step.topic}-`));
    } else if (step.kind === 'expire') {
      this.#drop((_, atMs) => nowMs - atMs >= COORDINATOR.offsetsRetentionMs);
      if (this.offsets.size === 0) this.hasGroup = false;
    } else if (step.kind === 'delete') {
      this.#drop(() => true);
      this.hasGroup = false;
    } else {
      this.hasGroup = true;
    }
  }

  #drop(isGone: (key: string, atMs: number) => boolean): void {
    for (const [key, { atMs }] of this.offsets) if (isGone(key, atMs)) this.offsets.delete(key);
  }
}

/** What can be seen of a slot, as plain data. */
function seen(slot: GroupSlot) {
  const offsets = [...slot.offsets].flatMap(([name, partitions]) =>
    [...partitions].map(([index, committed]) => [
      `${name}-${index}`,
      { offset: committed.offset, atMs: committed.commitTimestampMs },
    ]),
  );
  return {
    hasGroup: slot.group !== undefined,
    epochs: [slot.group?.groupEpoch, slot.group?.assignmentEpoch, slot.group?.topology?.epoch],
    offsets: Object.fromEntries(offsets),
  };
}

describe('offsets, deletion and expiry over any history of a group without members', () => {
  it('agree with a slow model, and every prefix of the log, whole or compacted, replays to what was lived', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const model = new SlowGroup();
        const log: GroupRecord[] = [];
        let slot = emptySlot(GROUP);
        let nowMs = 0;
        for (const { afterMs, step } of history) {
          nowMs += afterMs;
          let records: readonly GroupRecord[] = [];
          try {
            records = decide(slot, step, nowMs)?.records ?? [];
          } catch (refusal) {
            if (!(refusal instanceof Refusal)) throw refusal;
            expect(refusal.error).to.equal('GROUP_ID_NOT_FOUND');
          }
          slot = records.reduce(apply, slot);
          log.push(...records);
          model.take(step, nowMs);

          const { hasGroup, offsets } = seen(slot);
          expect({ hasGroup, offsets }).to.deep.equal({
            hasGroup: model.hasGroup,
            offsets: Object.fromEntries(model.offsets),
          });
          expect(seen(slotOf(log))).to.deep.equal(seen(slot));
          expect(seen(slotOf(compacted(log)))).to.deep.equal(seen(slot));
        }
      }),
      { numRuns: 200 },
    );
  });
});
