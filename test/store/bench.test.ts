import { expect } from 'chai';
import { benchStore } from '../../bench/store.ts';

describe('bench/store', () => {
  for (const [appended, concurrency, appendsEach] of [
    ['target', 1, 5],
    ['target', 10, 5],
    ['target', 200, 3],
    ['currentAssignment', 20, 5],
  ] as const) {
    it(`appends a ${appended} by ${concurrency} callers at once, all of it found again`, async () => {
      const { appends, writes, check } = await benchStore({ appended, concurrency, appendsEach });
      expect({ appends, check }).to.deep.equal({
        appends: concurrency * appendsEach,
        check: concurrency * appendsEach,
      });
      expect(writes).to.equal(appendsEach);
    });
  }
});
