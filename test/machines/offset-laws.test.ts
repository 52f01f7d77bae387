import { expect } from 'chai';
import fc from 'fast-check';
import { apply } from '../../machines/apply.ts';
import { decideCommit, decideExpiry, judgeCommit } from '../../machines/decide/offsets.ts';
import { COORDINATOR, offsetRecord, slotOf } from './group-samples.ts';
import { CONTEXT, commitOf, EMPTY, LIVE, SIMPLE, TOPICS, withOffsets } from './offset-samples.ts';

describe('offsets of any group', () => {
  const slots = fc.constantFrom(undefined, EMPTY, SIMPLE, LIVE, withOffsets(LIVE));
  const requests = fc
    .record({
      memberId: fc.constantFrom('', 'A', 'Z'),
      memberEpoch: fc.integer({ min: -2, max: 7 }),
      instanceId: fc.constantFrom(null, 'i'),
      transactional: fc.boolean(),
      apiVersion: fc.constantFrom(2, 5, 6, 8, 9, 10),
      in: fc.uniqueArray(fc.nat({ max: 5 })),
      other: fc.uniqueArray(fc.nat({ max: 1 })),
    })
    .map(({ in: ins, other, ...rest }) => commitOf({ in: ins, other }, rest));

  it('judgeCommit() answers what decideCommit() answers, and what it accepts can be fetched', () => {
    fc.assert(
      fc.property(slots, requests, (slot, request) => {
        const decision = decideCommit(slot, request, CONTEXT);
        const answer = judgeCommit(slot, request, TOPICS, COORDINATOR);
        expect(decision.reply).to.deep.equal({ kind: 'answer', value: answer });
        const after = decision.records.reduce(apply, slot ?? slotOf([]));
        const accepted = answer.topics.flatMap(({ name, partitions }) =>
          partitions.flatMap(({ partition, error }) =>
            error === 'NONE' ? [[name, partition] as const] : [],
          ),
        );
        expect(decision.records).to.have.length(accepted.length);
        for (const [topic, partition] of accepted) {
          expect(after.offsets.get(topic)?.get(partition)?.commitTimestampMs).to.equal(5_000);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('errors of one request are one error, apart from partitions that do not exist', () => {
    fc.assert(
      fc.property(slots, requests, (slot, request) => {
        const errors = judgeCommit(slot, request, TOPICS, COORDINATOR).topics.flatMap((topic) =>
          topic.partitions.map((one) => one.error),
        );
        const rest = errors.filter((error) => error !== 'UNKNOWN_TOPIC_OR_PARTITION');
        expect(new Set(rest).size).to.be.at.most(1);
      }),
    );
  });

  const offsets = fc.array(
    fc.record({
      topic: fc.constantFrom('in', 'other'),
      partition: fc.nat({ max: 3 }),
      commitTimestampMs: fc.nat({ max: 3_000 }),
      expireTimestampMs: fc.constantFrom(-1, -1, 1_500),
    }),
    { maxLength: 8 },
  );

  it('expiry leaves nothing to expire, and keeps what is young or read by members (EX-2 to EX-4)', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(EMPTY, LIVE, slotOf([])),
        offsets,
        fc.nat({ max: 5_000 }),
        (base, committed, nowMs) => {
          const before = committed
            .map(({ topic, partition, ...rest }) => offsetRecord(topic, partition, rest))
            .reduce(apply, base);
          const context = { nowMs, coordinator: COORDINATOR };
          const decision = decideExpiry(before, context);
          let after = before;
          for (const record of decision?.records ?? []) after = apply(after, record);
          expect(decideExpiry(after, context)).to.equal(undefined);
          for (const [topic, partitions] of before.offsets) {
            for (const [partition, { commitTimestampMs, expireTimestampMs }] of partitions) {
              const end = expireTimestampMs < 0 ? commitTimestampMs + 1_000 : expireTimestampMs;
              const isKept = nowMs < end || (base === LIVE && topic === 'in');
              expect(after.offsets.get(topic)?.has(partition) ?? false).to.equal(isKept);
            }
          }
          expect(after.group === undefined).to.equal(
            base !== LIVE && (base.group === undefined || after.offsets.size === 0),
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});
