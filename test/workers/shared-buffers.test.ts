import { expect } from 'chai';
import { SharedBuffers } from '../../workers/shared-buffers.ts';

describe('SharedBuffers', () => {
  it('hands a buffer out again only after it was given back, in classes of powers of two', () => {
    const buffers = new SharedBuffers();
    const one = buffers.take(20_000);
    expect(one.byteLength).to.equal(32_768);
    const other = buffers.take(20_000);
    expect(other).to.not.equal(one);
    buffers.give(one);
    expect(buffers.take(40_000)).to.not.equal(one);
    expect(buffers.take(32_768)).to.equal(one);
  });

  it('keeps no more than its bounds', () => {
    const few = new SharedBuffers({ keepMax: 1 });
    const [a, b] = [few.take(1), few.take(1)];
    few.give(a);
    few.give(b);
    expect(few.take(1)).to.equal(a);
    expect(few.take(1)).to.not.equal(b);

    const small = new SharedBuffers({ bytesMax: 20_000 });
    const [c, d] = [small.take(1), small.take(20_000)];
    small.give(d);
    small.give(c);
    expect(small.take(20_000)).to.not.equal(d);
    expect(small.take(1)).to.equal(c);
  });
});
