import { expect } from 'chai';
import { benchStore } from '../../bench/store.ts';

describe('bench/store', () => {
  for (const [concurrency, appendsEach] of [
    [1, 5],
    [10, 5],
    [200, 3],
  ] as const) {
    it(`appends by ${concurrency} callers at once, all of it found again`, async () => {
      const { appends, writes, check } = await benchStore(concurrency, appendsEach);
      expect({ appends, check }).to.deep.equal({
        appends: concurrency * appendsEach,
        check: concurrency * appendsEach,
      });
      expect(writes).to.equal(appendsEach);
    });
  }
});
