import { expect } from 'chai';
import type { ErrorName } from '../../machines/model/refusal.ts';
import { ERROR_CODES, errorCode, errorName } from '../../src/wire/errors.ts';

describe('errors', () => {
  it('errorCode() and errorName() are each the way back of the other', () => {
    for (const [name, code] of Object.entries(ERROR_CODES)) {
      expect(errorName(code)).to.equal(name);
    }
    expect(new Set(Object.values(ERROR_CODES)).size).to.equal(Object.keys(ERROR_CODES).length);
  });

  it("errorCode() knows the core's names (records-and-configs 11)", () => {
    const names: readonly ErrorName[] = ['NONE', 'FENCED_MEMBER_EPOCH', 'STREAMS_INVALID_TOPOLOGY'];
    expect(names.map(errorCode)).to.deep.equal([0, 110, 130]);
  });

  it('errorName() takes a number that is not known as an unknown server error', () => {
    expect(errorName(9999)).to.equal('UNKNOWN_SERVER_ERROR');
  });
});
