import { expect } from 'chai';
import { apiByKey, apis, isFlexibleApi } from '../../src/wire/apis.ts';
import {
  decodeRequestHeader,
  decodeResponseHeader,
  encodeRequestFrame,
  encodeResponseFrame,
  requestHeaderVersion,
  responseHeaderVersion,
} from '../../src/wire/headers.ts';
import { WireError } from '../../src/wire/wire-error.ts';

describe('headers', () => {
  it('responseHeaderVersion() is 0 for every version of ApiVersions (1.2)', () => {
    const versions = [0, 2, 3, 4, 5, 99];
    expect(versions.map((version) => responseHeaderVersion(18, version))).to.deep.equal([
      0, 0, 0, 0, 0, 0,
    ]);
    expect(versions.map((version) => requestHeaderVersion(18, version))).to.deep.equal([
      1, 1, 2, 2, 2, 2,
    ]);
  });

  it('isFlexibleApi() knows where keys that are only passed on become flexible (1.2)', () => {
    const flexible = (key: number) => [0, 1, 2].map((version) => isFlexibleApi(key, version));
    expect(flexible(43)).to.deep.equal([false, false, true]);
    expect(flexible(45)).to.deep.equal([true, true, true]);
    expect(flexible(66)).to.deep.equal([true, true, true]);
    expect(flexible(17)).to.deep.equal([false, false, false]);
    expect(flexible(47)).to.deep.equal([false, false, false]);
    expect(apiByKey(66)).to.equal(undefined);
  });

  it('decodeRequestHeader() reads a header of an unknown version of ApiVersions (2.4)', () => {
    const frame = Buffer.from('0012006300000007000163 00aabb'.replace(' ', ''), 'hex');
    expect(decodeRequestHeader(frame)).to.deep.equal({
      apiKey: 18,
      apiVersion: 99,
      correlationId: 7,
      clientId: 'c',
      bodyOffset: 12,
    });
  });

  it('decodeRequestHeader() keeps a null client id apart from an empty one and skips tags', () => {
    const withNull = Buffer.from('0003000900000001ffff01050100', 'hex');
    const withEmpty = Buffer.from('0003000800000001 0000'.replace(' ', ''), 'hex');
    expect(decodeRequestHeader(withNull)).to.include({ clientId: null, bodyOffset: 14 });
    expect(decodeRequestHeader(withEmpty)).to.include({ clientId: '', bodyOffset: 10 });
  });

  it('decodeRequestHeader() refuses a header that is cut short', () => {
    for (const hex of ['', '0012', '001200000000000100', '005800000000000100016b']) {
      expect(() => decodeRequestHeader(Buffer.from(hex, 'hex')), hex).to.throw(WireError);
    }
  });

  it('decodeResponseHeader() skips tags from the first flexible version on', () => {
    const frame = Buffer.from('00000009010501aa00', 'hex');
    expect(decodeResponseHeader(frame, 3, 9)).to.deep.equal({ correlationId: 9, bodyOffset: 8 });
    expect(decodeResponseHeader(frame, 3, 8)).to.deep.equal({ correlationId: 9, bodyOffset: 4 });
  });

  it('encodeResponseFrame() gives frames that later ones do not overwrite', () => {
    const text = 'x'.repeat(30_000);
    const long = (correlationId: number) =>
      encodeResponseFrame('ListGroups', 5, correlationId, {
        groups: Array.from({ length: 60 }, () => ({ groupId: text })),
      });
    const frames = [1, 2].flatMap((id) => [long(id), encodeResponseFrame('Heartbeat', 4, id, {})]);
    const ids = frames.map((frame) => frame.readInt32BE(4));
    expect(ids).to.deep.equal([1, 1, 2, 2]);
    for (const frame of frames) expect(frame.length).to.equal(4 + frame.readInt32BE(0));
  });

  it('encodeRequestFrame() is in order again after a body that could not be written', () => {
    const header = { correlationId: 3, clientId: null };
    const bad = () => encodeRequestFrame('Heartbeat', 2, header, { groupInstanceId: 'i' });
    expect(bad).to.throw(WireError, 'groupInstanceId: Version 2 has no such field');
    const frame = encodeRequestFrame('Heartbeat', 0, header, { groupId: 'g', memberId: 'm' });
    expect(frame.toString('hex')).to.equal(
      `00000014${'000c000000000003ffff'}${'000167'}00000000${'00016d'}`,
    );
  });

  it('apis refuse versions that they do not have', () => {
    const { minVersion, maxVersion } = apis.OffsetCommit;
    for (const version of [minVersion - 1, maxVersion + 1, 2.5, -1]) {
      const encode = () => encodeResponseFrame('OffsetCommit', version, 1, {});
      expect(encode, String(version)).to.throw(WireError, 'known are 2 to 10');
    }
  });
});
