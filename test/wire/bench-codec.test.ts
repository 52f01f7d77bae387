import { expect } from 'chai';
import { benchCodec } from '../../bench/codec.ts';

describe('benchCodec()', () => {
  it('does all its work', () => {
    const checks = benchCodec(10).map(({ check }) => check);
    expect(checks).to.deep.equal([70, 700, 1260]);
  });
});
