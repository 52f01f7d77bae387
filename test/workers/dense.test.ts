import { setFlagsFromString } from 'node:v8';
import { expect } from 'chai';
import { createDense, type Dense, denseBytes, openDense } from '../../workers/dense.ts';

const SIZE = {
  subtopologies: 3,
  tasks: 50,
  members: 10,
  processes: 10,
  replicas: 1,
  slots: 1,
  tagKeys: 0,
  tagGroups: 1,
  candidates: 20,
};
const FACTS = { algorithm: 0, held: 5, copies: 2, stale: 0 };

/** Whether code that was compiled for one value is good for the other. */
function haveSameShape(): (a: object, b: object) => boolean {
  setFlagsFromString('--allow-natives-syntax');
  return new Function('a', 'b', 'return %HaveSameMap(a, b)') as ReturnType<typeof haveSameShape>;
}

describe('openDense()', () => {
  it('gives values of one shape, run after run, so that an assignor is compiled once', () => {
    const buffer = new SharedArrayBuffer(denseBytes(SIZE));
    const made: Dense = createDense(buffer, SIZE, FACTS);
    const same = haveSameShape();
    const all = Array.from({ length: 40 }, () => openDense(buffer));
    expect(all.filter((each) => same(each, made)).length).to.equal(40);
  });

  it('gives what was created, and refuses a buffer with something else', () => {
    const buffer = new SharedArrayBuffer(denseBytes(SIZE));
    const made = createDense(buffer, SIZE, FACTS);
    made.prevActive.fill(7);
    expect(openDense(buffer)).to.deep.equal(made);
    expect(() => openDense(new SharedArrayBuffer(64))).to.throw(
      'Cannot open assignment buffer: magic 0, wanted 1212629297',
    );
  });
});
