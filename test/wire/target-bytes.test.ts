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

  it('makes no lists of a target in numbers', () => {
    const numbering = {
      subtopologyIds: ['0', 'long-id'],
      base: Int32Array.of(0, 2, 4),
      subtopologyOf: Int32Array.of(0, 0, 1, 1),
    };
    // Whoever makes a list reads tasks.
    const unread = (start: readonly number[]) => ({
      start: Int32Array.from(start),
      get tasks(): Int32Array {
        throw new Error('Read');
      },
    });
    const value = new NumberedTargets(numbering, unread([0, 3, 4]), unread([0, 0, 2])).at(1);
    if (value === undefined) throw new Error('Expected a target');
    expect(extentOf(value)).to.deep.equal({ tasks: 3, idLength: 'long-id'.length });
    const plain: TasksByRole = {
      active: [{ subtopologyId: 'long-id', partitions: [1] }],
      standby: [{ subtopologyId: '0', partitions: [0, 1] }],
      warmup: [],
    };
    expect(extentOf(plain)).to.deep.equal(extentOf(value));
    expect(targetBytesMax(recordOf('g', 'm', value))).to.be.at.least(
      bytesOf(recordOf('g', 'm', plain)),
    );
  });
});
