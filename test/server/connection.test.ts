import { expect } from 'chai';
import type {
  Answer,
  ClientConnection,
  Handler,
  IncomingRequest,
} from '../../src/server/dispatch.ts';
import { apis } from '../../src/wire/apis.ts';
import { encodeResponseFrame } from '../../src/wire/headers.ts';
import type { OpenServer } from '../support/open-server.ts';
import { openServer, serving, until } from '../support/open-server.ts';
import { WireClient } from '../support/wire-client.ts';

/** A handler whose answers come when told. */
class Held {
  readonly requests: IncomingRequest[] = [];
  private readonly settle: ((answer: Answer) => void)[] = [];

  readonly handler: Handler = (request) => {
    this.requests.push(request);
    return new Promise((resolve) => this.settle.push(resolve));
  };

  answer(at: number, answer: Answer = heartbeatAnswer(this.requests[at] as IncomingRequest)): void {
    this.settle[at]?.(answer);
  }
}

function heartbeatAnswer(request: IncomingRequest, errorCode = 0): Buffer {
  return encodeResponseFrame('Heartbeat', request.apiVersion, request.correlationId, { errorCode });
}

const at = (handler: Handler) => serving(new Map([[apis.Heartbeat.key, handler]]));
const answerAtOnce: Handler = (request) => heartbeatAnswer(request);
const correlationIds = (frames: readonly Buffer[]) => frames.map((frame) => frame.readInt32BE(0));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const BEAT = { groupId: 'g', generationId: 1, memberId: 'm' };

describe('Connection', () => {
  let server: OpenServer;
  const clients: WireClient[] = [];

  async function client(options: { allowHalfOpen?: boolean } = {}): Promise<WireClient> {
    const made = await WireClient.connect(server.port, options);
    clients.push(made);
    return made;
  }

  afterEach(async () => {
    for (const one of clients.splice(0)) one.destroy();
    const stopped = server.listener.stop(0);
    await server.clock.pass(0);
    await stopped;
  });

  it('answers 30 pipelined requests in their order, whichever answer is ready first', async () => {
    const held = new Held();
    server = await openServer(at(held.handler));
    const one = await client();
    one.write(Buffer.concat(upTo(30).map(() => one.request('Heartbeat', 4, BEAT))));
    await until(() => held.requests.length === 30);
    for (const index of upTo(30)
      .reverse()
      .filter((n) => n > 0))
      held.answer(index);
    await server.clock.settle();
    expect(one.frames).to.have.length(0);
    held.answer(0);
    expect(correlationIds(await one.take(30))).to.deep.equal(upTo(30));
  });

  it('hands requests over in their order', async () => {
    const held = new Held();
    server = await openServer(at(held.handler));
    const one = await client();
    one.write(Buffer.concat(upTo(50).map(() => one.request('Heartbeat', 4, BEAT))));
    await until(() => held.requests.length === 50);
    expect(held.requests.map((request) => request.correlationId)).to.deep.equal(upTo(50));
  });

  it('mixes answers that are ready at once with held ones in order', async () => {
    const held = new Held();
    server = await openServer(
      at((request) =>
        request.correlationId % 2 === 0 ? held.handler(request) : answerAtOnce(request),
      ),
    );
    const one = await client();
    one.write(Buffer.concat(upTo(4).map(() => one.request('Heartbeat', 4, BEAT))));
    await until(() => held.requests.length === 2);
    held.answer(1);
    held.answer(0);
    expect(correlationIds(await one.take(4))).to.deep.equal([0, 1, 2, 3]);
  });

  it('gives no place to a request that is never answered (wire 4.5, acks 0)', async () => {
    const held = new Held();
    server = await openServer(
      at((request) => {
        if (request.correlationId === 1) return 'none';
        return request.correlationId === 3 ? Promise.resolve('none') : held.handler(request);
      }),
    );
    const one = await client();
    one.write(Buffer.concat(upTo(5).map(() => one.request('Heartbeat', 4, BEAT))));
    await until(() => held.requests.length === 3);
    for (const index of upTo(3)) held.answer(index);
    expect(correlationIds(await one.take(3))).to.deep.equal([0, 2, 4]);
  });

  it('takes an answer in pieces', async () => {
    server = await openServer(
      at((request) => {
        const whole = heartbeatAnswer(request);
        return [whole.subarray(0, 3), whole.subarray(3, 7), whole.subarray(7)];
      }),
    );
    const one = await client();
    expect(await one.call('Heartbeat', 4, BEAT)).to.deep.equal({ throttleTimeMs: 0, errorCode: 0 });
  });

  it('takes no more requests than may be in flight', async () => {
    const held = new Held();
    server = await openServer(at(held.handler), { requestsInFlightMax: 5 });
    const one = await client();
    one.write(Buffer.concat(upTo(12).map(() => one.request('Heartbeat', 4, BEAT))));
    await until(() => held.requests.length === 5);
    await server.clock.settle();
    expect(held.requests).to.have.length(5);
    held.answer(0);
    held.answer(1);
    await until(() => held.requests.length === 7);
    for (const index of upTo(12)) {
      await until(() => held.requests.length > index);
      held.answer(index);
    }
    expect(correlationIds(await one.take(12))).to.deep.equal(upTo(12));
  });

  it('hands nothing over behind a request that asked it to wait', async () => {
    const seen: number[] = [];
    let release = () => {};
    server = await openServer(
      at((request) => {
        seen.push(request.correlationId);
        if (request.correlationId === 0) {
          request.connection.holdUntil(new Promise<void>((resolve) => (release = resolve)));
        }
        return heartbeatAnswer(request);
      }),
    );
    const one = await client();
    one.write(Buffer.concat(upTo(3).map(() => one.request('Heartbeat', 4, BEAT))));
    expect(correlationIds(await one.take(1))).to.deep.equal([0]);
    await server.clock.settle();
    expect(seen).to.deep.equal([0]);
    release();
    expect(correlationIds(await one.take(2))).to.deep.equal([1, 2]);
  });

  it('processes what came whole though the client has ended its side (wire 6.1)', async () => {
    const held = new Held();
    server = await openServer(at(held.handler), { requestsInFlightMax: 1 });
    const one = await client({ allowHalfOpen: true });
    one.write(Buffer.concat(upTo(3).map(() => one.request('Heartbeat', 4, BEAT))));
    one.socket.end();
    for (const index of upTo(3)) {
      await until(() => held.requests.length === index + 1);
      held.answer(index);
    }
    expect(correlationIds(await one.take(3))).to.deep.equal([0, 1, 2]);
    await one.closed;
    await until(() => server.listener.connections === 0);
    expect(server.log.told).to.deep.equal([]);
  });

  it('processes what came whole though the client is gone, and ignores the reset', async () => {
    const held = new Held();
    server = await openServer(at(held.handler), { requestsInFlightMax: 1 });
    const one = await client();
    one.write(Buffer.concat(upTo(3).map(() => one.request('Heartbeat', 4, BEAT))));
    await until(() => held.requests.length === 1);
    one.socket.resetAndDestroy();
    held.answer(0);
    await until(() => held.requests.length === 2);
    held.answer(1);
    await until(() => held.requests.length === 3);
    held.answer(2);
    await until(() => server.listener.connections === 0);
    expect(server.log.told).to.deep.equal([]);
  });

  it('S61 A client that never reads cannot fill our memory', async () => {
    const answer = (request: IncomingRequest) =>
      encodeResponseFrame('DescribeGroups', 0, request.correlationId, {
        groups: [{ groupId: 'x'.repeat(30_000) }],
      });
    let handled = 0;
    server = await openServer(
      serving(
        new Map<number, Handler>([
          [
            apis.DescribeGroups.key,
            (request) => {
              handled += 1;
              return answer(request);
            },
          ],
          [apis.Heartbeat.key, answerAtOnce],
        ]),
      ),
    );
    const deaf = await client();
    deaf.socket.pause();
    const count = 5_000;
    deaf.write(
      Buffer.concat(upTo(count).map(() => deaf.request('DescribeGroups', 0, { groups: ['g'] }))),
    );
    const other = await client();
    let before = -1;
    while (before !== handled) {
      before = handled;
      for (const _ of upTo(20)) await other.call('Heartbeat', 4, BEAT);
    }
    // The system's own buffers hold some megabytes; beyond the limit nothing is taken.
    expect(handled * 30_000).to.be.lessThan(30_000_000);
    deaf.socket.resume();
    expect(correlationIds(await deaf.take(count))).to.deep.equal(upTo(count));
  });

  it('S61 A client that never reads is freed when it resets', async () => {
    const big: Handler = (request) =>
      encodeResponseFrame('DescribeGroups', 0, request.correlationId, {
        groups: [{ groupId: 'x'.repeat(30_000) }],
      });
    server = await openServer(serving(new Map([[apis.DescribeGroups.key, big]])));
    const deaf = await client();
    deaf.socket.pause();
    const requests = upTo(1_000).map(() => deaf.request('DescribeGroups', 0, { groups: ['g'] }));
    deaf.write(Buffer.concat(requests));
    await server.clock.settle();
    deaf.socket.resetAndDestroy();
    await until(() => server.listener.connections === 0);
    expect(server.log.told).to.deep.equal([]);
  });

  it('S59 Frames may arrive in any pieces', async () => {
    server = await openServer(at(answerAtOnce));
    const one = await client();
    const request = one.request('Heartbeat', 4, BEAT);
    for (const byte of request) {
      one.write(Buffer.of(byte));
      await one.flushed();
    }
    expect(correlationIds(await one.take(1))).to.deep.equal([0]);
    const [b, c, d] = upTo(3).map(() => one.request('Heartbeat', 4, BEAT)) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    one.write(Buffer.concat([b, c, d.subarray(0, 10)]));
    expect(correlationIds(await one.take(2))).to.deep.equal([1, 2]);
    one.write(d.subarray(10));
    expect(correlationIds(await one.take(1))).to.deep.equal([3]);
    one.write(Buffer.concat(upTo(300).map(() => one.request('Heartbeat', 4, BEAT))));
    expect(correlationIds(await one.take(300))).to.deep.equal(upTo(300).map((n) => n + 4));
    const large = one.request('Heartbeat', 3, { ...BEAT, memberId: 'm'.repeat(30_000) });
    for (let from = 0; from < large.length; from += 1_400)
      one.write(large.subarray(from, from + 1_400));
    expect(correlationIds(await one.take(1))).to.deep.equal([304]);
  });

  it('S59 A frame that never completes is cut off', async () => {
    server = await openServer(at(answerAtOnce));
    const slow = await client();
    const other = await client();
    slow.write(slow.request('Heartbeat', 4, BEAT).subarray(0, 9));
    await other.call('Heartbeat', 4, BEAT);
    await server.clock.pass(20_000);
    expect(server.listener.connections).to.equal(2);
    await server.clock.pass(20_000);
    await slow.closed;
    expect(server.listener.connections).to.equal(1);
    expect(server.log.told.map(({ text }) => text)).to.deep.equal(['Connection closed: bad frame']);
    expect((await other.call('Heartbeat', 4, BEAT)).errorCode).to.equal(0);
  });

  it('closes a connection that idles, and no other', async () => {
    server = await openServer(at(answerAtOnce), { idleMs: 60_000 });
    const idle = await client();
    const busy = await client();
    await idle.call('Heartbeat', 4, BEAT);
    for (const _ of upTo(5)) {
      await busy.call('Heartbeat', 4, BEAT);
      await server.clock.pass(16_000);
    }
    await idle.closed;
    expect((await busy.call('Heartbeat', 4, BEAT)).errorCode).to.equal(0);
    expect(server.log.told).to.deep.equal([]);
  });

  it('closes a connection whose client takes nothing for as long as it might idle', async () => {
    const large = Buffer.alloc(50_000_000);
    large.writeInt32BE(large.length - 4);
    server = await openServer(at(() => large));
    const deaf = await client();
    deaf.socket.pause();
    deaf.write(deaf.request('Heartbeat', 4, BEAT));
    await until(() => server.listener.connections === 1);
    await server.clock.pass(500_000);
    expect(server.listener.connections).to.equal(1);
    await server.clock.pass(200_000);
    await until(() => server.listener.connections === 0);
    expect(server.log.told).to.deep.equal([]);
  });

  it('does not take a connection for idle while it owes an answer', async () => {
    const held = new Held();
    server = await openServer(at(held.handler), { idleMs: 60_000 });
    const one = await client();
    one.write(one.request('Heartbeat', 4, BEAT));
    await until(() => held.requests.length === 1);
    await server.clock.pass(300_000);
    held.answer(0);
    expect(correlationIds(await one.take(1))).to.deep.equal([0]);
  });

  it('S58 A nonsensical frame ends its own connection and nothing else', async () => {
    server = await openServer(at(answerAtOnce), { requestBytesMax: 1_000 });
    const member = await client();
    const int32 = (value: number) => {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32BE(value);
      return bytes;
    };
    const bad: readonly Buffer[] = [
      Buffer.from('16030100f5010000f1', 'hex'),
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      int32(-1),
      int32(0),
      Buffer.concat([int32(3), Buffer.alloc(3)]),
      int32(1_001),
      Buffer.concat([int32(10), Buffer.from('270f0000000000010000', 'hex')]),
      Buffer.concat([int32(10), Buffer.from('000c004d000000010000', 'hex')]),
      Buffer.concat([int32(6), Buffer.from('000c00040000', 'hex')]),
      Buffer.concat([int32(9), Buffer.from('000c0000000000010063', 'hex').subarray(0, 9)]),
    ];
    for (const bytes of bad) {
      const one = await client();
      one.write(bytes);
      await one.closed;
      expect(one.frames).to.deep.equal([]);
      expect((await member.call('Heartbeat', 4, BEAT)).errorCode).to.equal(0);
    }
    expect(server.log.told.map(({ level }) => level)).to.deep.equal(bad.map(() => 'info'));
    expect(JSON.stringify(server.log.told[0]?.fields)).to.include('TLS');
  });

  it('S58 Five hundred bad connections leave a member alone', async () => {
    server = await openServer(at(answerAtOnce));
    const member = await client();
    for (const _ of upTo(10)) {
      const bad = await Promise.all(upTo(50).map(() => client()));
      for (const one of bad) one.write(Buffer.from('160301000000', 'hex'));
      await Promise.all(bad.map((one) => one.closed));
      expect((await member.call('Heartbeat', 4, BEAT)).errorCode).to.equal(0);
    }
    expect(server.log.told).to.have.length(500);
  });

  it('answers what came before a request that ends the connection, and nothing after', async () => {
    const held = new Held();
    server = await openServer(at(held.handler));
    const one = await client();
    const good = one.request('Heartbeat', 4, BEAT);
    const unknown = Buffer.from('0000000a270f0000000000010000', 'hex');
    one.write(Buffer.concat([good, unknown, one.request('Heartbeat', 4, BEAT)]));
    await until(() => held.requests.length === 1);
    held.answer(0);
    expect(correlationIds(await one.take(2))).to.deep.equal([0]);
    await one.closed;
    expect(held.requests).to.have.length(1);
  });

  it('closes when a handler fails, with one log line and no answer', async () => {
    server = await openServer(
      at(() => {
        throw new Error('broken');
      }),
    );
    const one = await client();
    one.write(one.request('Heartbeat', 4, BEAT));
    await one.closed;
    expect(one.frames).to.deep.equal([]);
    expect(server.log.told.map(({ level, text }) => [level, text])).to.deep.equal([
      ['error', 'Request failed'],
    ]);
  });

  it('sends the answers that are ready before a handler closes it', async () => {
    const held = new Held();
    server = await openServer(at(held.handler));
    const one = await client();
    one.write(Buffer.concat(upTo(3).map(() => one.request('Heartbeat', 4, BEAT))));
    await until(() => held.requests.length === 3);
    held.answer(0);
    await server.clock.settle();
    held.requests[1]?.connection.closeSoon('upstream is gone');
    expect(correlationIds(await one.take(3))).to.deep.equal([0]);
    await one.closed;
  });

  it('tells when the client takes answers again', async () => {
    const connections: ClientConnection[] = [];
    const large = Buffer.alloc(50_000_000);
    large.writeInt32BE(large.length - 4);
    server = await openServer(
      at((request) => {
        connections.push(request.connection);
        return large;
      }),
    );
    const one = await client();
    one.socket.pause();
    one.write(one.request('Heartbeat', 4, BEAT));
    await until(() => connections[0]?.isCongested === true);
    const told: string[] = [];
    connections[0]?.whenTaking(() => told.push('taking'));
    expect(told).to.deep.equal([]);
    one.socket.resume();
    await until(() => told.length === 1);
    connections[0]?.whenTaking(() => told.push('at once'));
    expect(told).to.deep.equal(['taking', 'at once']);
  });
});
