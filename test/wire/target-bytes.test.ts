import { expect } from 'chai';
import fc from 'fast-check';
import { extentOf, NumberedTargets } from '../../machines/model/numbered-tasks.ts';
import type { TasksByRole } from '../../machines/model/tasks.ts';
import type { TargetMemberRecord } from '../../machines/records.ts';
import { encodeRecord } from '../../src/wire/records/group-record.ts';
import { targetBytesMax } from '../../src/wire/records/target-bytes.ts';

const text = fc.constantFrom('', 'a', 'member-1', 'ü', '日本語', '💡'.repeat(50), 'x'.repeat(300));
const list = fc.array(
  fc.record({
    subtopologyId: text,
    partitions: fc.array(fc.nat({ max: 2 ** 31 - 1 }), { minLength: 1, maxLength: 4 }),
  }),
  { maxLength: 4 },
);
const target = fc.record({ active: list, standby: list, warmup: list });

function bytesOf(record: TargetMemberRecord): number {
  const { key, value } = encodeRecord(record);
  return key.length + (value?.length ?? 0);
}

function recordOf(groupId: string, memberId: string, value: TasksByRole | null) {
  return { type: 'targetMember', groupId, memberId, value } as const;
}

describe('targetBytesMax()', () => {
  it('is no less than what key and value take', () => {
    fc.assert(
      fc.property(text, text, fc.option(target), (groupId, memberId, value) => {
        const record = recordOf(groupId, memberId, value);
        expect(targetBytesMax(record)).to.be.at.least(bytesOf(record));
      }),
    );
  });

  it('is the same of a target in numbers, whose lists are not made for it', () => {
    const numbering = {
      subtopologyIds: ['0', 'long-id'],
      base: Int32Array.of(0, 2, 4),
      subtopologyOf: Int32Array.of(0, 0, 1, 1),
    };
    const actives = { start: Int32Array.of(0, 3, 4), tasks: Int32Array.of(0, 1, 2, 3) };
    const standbys = { start: Int32Array.of(0, 0, 3), tasks: Int32Array.of(0, 1, 2) };
    const value = new NumberedTargets(numbering, actives, standbys).at(1);
    if (value === undefined) throw new Error('Expected a target');
    const plain: TasksByRole = {
      active: [{ subtopologyId: 'long-id', partitions: [1] }],
      standby: [
        { subtopologyId: '0', partitions: [0, 1] },
        { subtopologyId: 'long-id', partitions: [0] },
      ],
      warmup: [],
    };
    expect(extentOf(value)).to.deep.equal({ tasks: 4, entries: 3, idLength: 'long-id'.length });
    expect(extentOf(plain)).to.deep.equal(extentOf(value));
    expect(targetBytesMax(recordOf('g', 'm', value))).to.equal(
      targetBytesMax(recordOf('g', 'm', plain)),
    );
  });

  it('is near to what many tasks of few subtopologies take, however long their ids are (BA-1)', () => {
    const partitions = Array.from({ length: 1000 }, (_, partition) => partition);
    const lists = [{ subtopologyId: 'x'.repeat(40), partitions }];
    const record = recordOf('g', 'm', { active: lists, standby: lists, warmup: [] });
    expect(targetBytesMax(record)).to.be.below(1.1 * bytesOf(record));
  });
});
