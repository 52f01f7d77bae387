import { expect } from 'chai';
import { clientsError, shadowFault, verdictFor } from '../../src/upstream/commit-errors.ts';

describe('clientsError()', () => {
  it('passes what upstream says of topic, offset, group right and producer (4.10)', () => {
    const passed = [0, 3, 12, 14, 15, 16, 28, 29, 30, 7, 47, 90, 53];
    expect(passed.map((code) => clientsError(code, true))).to.deep.equal(passed);
  });

  it('turns what speaks of the shadow group into 14 (4.10)', () => {
    for (const code of [22, 25, 27, 68, 69, 113, -1]) expect(clientsError(code, true)).to.equal(14);
  });

  it('turns 82 into 16 while the identity is in use, else into 14 (4.9)', () => {
    expect(clientsError(82, true)).to.equal(16);
    expect(clientsError(82, false)).to.equal(14);
  });

  it('never tells a producer 82 or 120: stream threads die of them (6.3)', () => {
    expect(clientsError(120, true)).to.equal(22);
    for (let code = -1; code <= 140; code++) {
      expect([82, 120]).not.to.include(clientsError(code, code % 2 === 0));
    }
  });
});

describe('shadowFault()', () => {
  it('sees a lost and a taken place, and nothing in other errors', () => {
    const faults = [22, 25, 82, 0, 14, 16, 27, 69, -1].map(shadowFault);
    const none = undefined;
    expect(faults).to.deep.equal(['lost', 'lost', 'fenced', none, none, none, none, none, none]);
  });
});

describe('verdictFor()', () => {
  const plain = { transactional: false, apiVersion: 9 };
  const old = { transactional: true, apiVersion: 5 };
  const recent = { transactional: true, apiVersion: 6 };

  it('tells an OffsetCommit 25 and 113, never 22 (4.10)', () => {
    expect(verdictFor('UNKNOWN_MEMBER_ID', plain)).to.equal('UNKNOWN_MEMBER_ID');
    expect(verdictFor('STALE_MEMBER_EPOCH', plain)).to.equal('STALE_MEMBER_EPOCH');
    expect(verdictFor('ILLEGAL_GENERATION', plain)).to.equal('STALE_MEMBER_EPOCH');
  });

  it('tells a TxnOffsetCommit before version 6 22 in the place of 113 and 69 (4.10)', () => {
    expect(verdictFor('UNKNOWN_MEMBER_ID', old)).to.equal('UNKNOWN_MEMBER_ID');
    expect(verdictFor('STALE_MEMBER_EPOCH', old)).to.equal('ILLEGAL_GENERATION');
    expect(verdictFor('GROUP_ID_NOT_FOUND', old)).to.equal('ILLEGAL_GENERATION');
    expect(verdictFor('STALE_MEMBER_EPOCH', recent)).to.equal('STALE_MEMBER_EPOCH');
    expect(verdictFor('GROUP_ID_NOT_FOUND', recent)).to.equal('GROUP_ID_NOT_FOUND');
  });
});
