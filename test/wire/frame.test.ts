import { expect } from 'chai';
import fc from 'fast-check';
import { FrameSplitter, REQUEST_BYTES_MAX } from '../../src/wire/frame.ts';
import { WireError } from '../../src/wire/wire-error.ts';

function framed(payload: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(payload.length);
  return Buffer.concat([length, payload]);
}

function claim(length: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(length);
  return bytes;
}

describe('FrameSplitter', () => {
  it('gives the same frames however the stream is cut', () => {
    const payloads = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 6 });
    const cuts = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(payloads, cuts, (frames, sizes) => {
        const stream = Buffer.concat(frames.map(framed));
        const splitter = new FrameSplitter(50);
        const found: Buffer[] = [];
        let turn = 0;
        for (let at = 0; at < stream.length; ) {
          const size = sizes[turn % sizes.length] ?? 1;
          found.push(...splitter.push(stream.subarray(at, at + size)));
          at += size;
          turn++;
        }
        expect(found.map((frame) => [...frame])).to.deep.equal(frames.map((frame) => [...frame]));
        expect(splitter.isBetweenFrames).to.equal(true);
        expect(splitter.bytesHeld).to.equal(0);
      }),
    );
  });

  it('puts a large frame together from many chunks', () => {
    const payload = Buffer.alloc(5_000_000, 'headgate');
    const stream = framed(payload);
    const splitter = new FrameSplitter();
    const found: Buffer[] = [];
    for (let at = 0; at < stream.length; at += 65_536) {
      found.push(...splitter.push(stream.subarray(at, at + 65_536)));
    }
    expect(found.length).to.equal(1);
    expect(found[0]?.equals(payload)).to.equal(true);
  });

  it('does not copy a frame that lies within one chunk', () => {
    const stream = framed(Buffer.from('abc'));
    const [frame] = new FrameSplitter().push(stream);
    stream.write('x', 4);
    expect(frame?.toString()).to.equal('xbc');
  });

  it('gives an empty frame at once', () => {
    expect(new FrameSplitter().push(claim(0))).to.deep.equal([Buffer.alloc(0)]);
  });

  it('refuses a length above the limit or below zero, before allocating (1.1)', () => {
    for (const length of [-1, -(2 ** 31), 101, 2 ** 31 - 1]) {
      expect(() => new FrameSplitter(100).push(claim(length)), String(length)).to.throw(WireError);
    }
    expect(new FrameSplitter(100).push(claim(100))).to.deep.equal([]);
    const refusal = () => new FrameSplitter().push(claim(REQUEST_BYTES_MAX + 1));
    expect(refusal).to.throw(WireError, 'A frame claims 104857601 bytes');
  });

  it('keeps room for what came, not for what is claimed (4.12)', () => {
    const before = process.memoryUsage().arrayBuffers;
    const splitters = Array.from({ length: 50 }, () => {
      const splitter = new FrameSplitter();
      splitter.push(claim(REQUEST_BYTES_MAX));
      splitter.push(Buffer.alloc(1000));
      return splitter;
    });
    const grown = process.memoryUsage().arrayBuffers - before;
    expect(splitters.map(({ bytesHeld }) => bytesHeld)).to.deep.equal(Array(50).fill(1000));
    expect(grown).to.be.lessThan(20_000_000);
  });

  it('says so when a peer speaks TLS (1.1)', () => {
    for (const hello of ['1603010200010001fc0303', '15030100020228']) {
      const push = () => new FrameSplitter().push(Buffer.from(hello, 'hex'));
      expect(push, hello).to.throw(WireError, 'first bytes of TLS');
    }
    const request = () => new FrameSplitter().push(Buffer.from('GET / HTTP/1.1'));
    expect(request).to.throw(WireError, 'at most 104857600 are allowed (byte 0)');
  });

  it('says so when a peer answers in HTTP', () => {
    const push = () => new FrameSplitter().push(Buffer.from('HTTP/1.1 400 Bad Request'));
    expect(push).to.throw(WireError, 'this is HTTP, perhaps the admin port');
  });
});
