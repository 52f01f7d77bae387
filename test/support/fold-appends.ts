import { expect } from 'chai';
import type { RecordBatch } from '../../actors/ports.ts';
import { apply } from '../../machines/apply.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { emptySlot } from '../../machines/model/empty.ts';
import type { Group } from '../../machines/model/group.ts';

/**
 * Folds a log append by append, and sees to it that within the life of a group no epoch ever falls.
 *
 * @param log.batches everything in the log; `log.appends` the last of it, as it was appended.
 * @returns per group what it was before the appends, and after each that touched it.
 */
export function foldAppends(
  groupIds: readonly string[],
  log: {
    readonly batches: readonly RecordBatch[];
    readonly appends: readonly (readonly RecordBatch[])[];
  },
): ReadonlyMap<string, readonly (Group | undefined)[]> {
  const slots = new Map<string, GroupSlot>();
  const appended = log.appends.flat().length;
  for (const batch of log.batches.slice(0, log.batches.length - appended)) fold(slots, batch);
  const folded = new Map(groupIds.map((groupId) => [groupId, [slots.get(groupId)?.group]]));
  for (const append of log.appends) {
    for (const batch of append) fold(slots, batch);
    const touched = append.flatMap(({ records }) => records.map(({ groupId }) => groupId));
    for (const groupId of new Set(touched)) folded.get(groupId)?.push(slots.get(groupId)?.group);
  }
  return folded;
}

/** One decision. A group that was deleted and made anew in one append is another life. */
function fold(slots: Map<string, GroupSlot>, { records }: RecordBatch): void {
  const before = new Map(slots);
  for (const record of records) {
    const slot = slots.get(record.groupId) ?? emptySlot(record.groupId);
    slots.set(record.groupId, apply(slot, record));
  }
  for (const [groupId, { group }] of slots) {
    const was = before.get(groupId)?.group;
    if (group !== undefined && was !== undefined && group !== was) refuseFallenEpochs(was, group);
  }
}

function refuseFallenEpochs(before: Group, after: Group): void {
  expect(after.groupEpoch, 'group epoch').to.be.at.least(before.groupEpoch);
  expect(after.assignmentEpoch, 'assignment epoch').to.be.at.least(before.assignmentEpoch);
  expect(after.assignmentEpoch).to.be.at.most(after.groupEpoch);
  for (const { memberId, memberEpoch } of after.members.values()) {
    const was = before.members.get(memberId)?.memberEpoch ?? 0;
    expect(memberEpoch, `epoch of ${memberId}`).to.be.at.least(was);
  }
}
