import { expect } from 'chai';
import type { Handler, IncomingRequest, VersionTable } from '../../src/server/dispatch.ts';
import { createDispatch } from '../../src/server/dispatch.ts';
import { encodeRequestFrame } from '../../src/wire/headers.ts';
import { FakeConnection } from '../support/incoming.ts';
import { KeptLog } from '../support/kept-log.ts';

const HEARTBEAT = 12;
const METADATA = 3;
const DONE = Buffer.from('done');

function frame(version = 4, clientId: string | null = 'c'): Buffer {
  const header = { correlationId: 7, clientId };
  const body = { groupId: 'g', generationId: 1, memberId: 'm' };
  return encodeRequestFrame('Heartbeat', version, header, body).subarray(4);
}

function dispatchOf(
  handler: Handler,
  change: { readonly fallback?: Handler; readonly versions?: VersionTable } = {},
) {
  const log = new KeptLog();
  const versions: VersionTable = change.versions ?? new Map([[HEARTBEAT, { min: 1, max: 4 }]]);
  const { fallback } = change;
  const dispatch = createDispatch({
    handlers: new Map([[HEARTBEAT, handler]]),
    versions: () => versions,
    log,
    ...(fallback === undefined ? {} : { fallback }),
  });
  return { handle: (bytes: Buffer) => dispatch.handle(bytes, new FakeConnection()), log };
}

describe('createDispatch()', () => {
  it('hands the header over read and the body unread', () => {
    const seen: IncomingRequest[] = [];
    const { handle } = dispatchOf((request) => {
      seen.push(request);
      return DONE;
    });
    const bytes = frame();
    expect(handle(bytes)).to.equal(DONE);
    const { connection, tally: _, ...rest } = seen[0] as IncomingRequest;
    expect(rest).to.deep.equal({
      apiKey: HEARTBEAT,
      apiVersion: 4,
      correlationId: 7,
      clientId: 'c',
      frame: bytes,
      bodyOffset: 12,
    });
    expect(rest.frame).to.equal(bytes);
    expect(connection.clientHost).to.equal('/127.0.0.1');
  });

  it('takes a null client id for the empty one (wire 1.6)', () => {
    const seen: string[] = [];
    const { handle } = dispatchOf(({ clientId }) => {
      seen.push(clientId);
      return DONE;
    });
    handle(frame(4, null));
    expect(seen).to.deep.equal(['']);
  });

  it('judges key and version before the header is read', () => {
    const { handle, log } = dispatchOf(() => DONE);
    // Nothing behind key and version, which are not served.
    expect(handle(Buffer.from('270f0000', 'hex'))).to.equal('close');
    expect(handle(Buffer.from('000c0005', 'hex'))).to.equal('close');
    expect(handle(Buffer.from('000c0000', 'hex'))).to.equal('close');
    expect(handle(Buffer.from('000c0004', 'hex'))).to.equal('close');
    expect(log.told.map(({ fields }) => (fields as { reason: string }).reason)).to.deep.equal([
      'API key 9999 is not served',
      'API key 12: version 5, served are 1 to 4',
      'API key 12: version 0, served are 1 to 4',
      'Header: WireError: 4 bytes wanted, 0 left (byte 4)',
    ]);
  });

  it('gives keys that are served without a handler to the fallback', () => {
    const versions: VersionTable = new Map([
      [HEARTBEAT, { min: 0, max: 4 }],
      [METADATA, { min: 0, max: 13 }],
    ]);
    const header = { correlationId: 1, clientId: 'c' };
    const metadata = encodeRequestFrame('Metadata', 13, header, {}).subarray(4);
    const passedOn = Buffer.from('passed on');
    const handler: Handler = () => DONE;
    expect(dispatchOf(handler, { versions, fallback: () => passedOn }).handle(metadata)).to.equal(
      passedOn,
    );
    expect(dispatchOf(handler, { versions }).handle(metadata)).to.equal('close');
  });

  it('closes with one error line when a handler throws or rejects, and never rejects itself', async () => {
    const failing: readonly Handler[] = [
      () => {
        throw new Error('broken');
      },
      () => Promise.reject(new Error('broken')),
    ];
    for (const handler of failing) {
      const { handle, log } = dispatchOf(handler);
      expect(await handle(frame())).to.equal('close');
      expect(log.told.map(({ level, text }) => [level, text])).to.deep.equal([
        ['error', 'Request failed'],
      ]);
    }
  });
});
