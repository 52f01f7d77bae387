import { expect } from 'chai';
import fc from 'fast-check';
import { FrameReader, frameOf } from '../../workers/frames.ts';

describe('FrameReader', () => {
  it('gives back the frames, however the stream was cut', () => {
    const frames = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 6 });
    fc.assert(
      fc.property(frames, fc.array(fc.nat({ max: 9 })), (sent, cuts) => {
        const stream = Buffer.concat(sent.map((frame) => frameOf(frame)));
        const reader = new FrameReader(20);
        const got: Buffer[] = [];
        let from = 0;
        for (const length of [...cuts, stream.byteLength]) {
          got.push(...reader.push(stream.subarray(from, from + length)));
          from += length;
        }
        expect(got.map((frame) => [...frame])).to.deep.equal(sent.map((frame) => [...frame]));
      }),
    );
  });

  it('refuses a frame that is too long before it keeps any of it', () => {
    const reader = new FrameReader(10);
    expect(() => reader.push(frameOf(new Uint8Array(11)).subarray(0, 4))).to.throw(
      RangeError,
      'Frame refused: 11 bytes, wanted at most 10',
    );
  });
});
