import { expect } from 'chai';
import type { Answer, Handler } from '../../src/server/dispatch.ts';
import { ListenError, openListener } from '../../src/server/listener.ts';
import { apis } from '../../src/wire/apis.ts';
import { encodeResponseFrame } from '../../src/wire/headers.ts';
import { KeptLog } from '../support/kept-log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { openServer, serving, TEST_LIMITS, until } from '../support/open-server.ts';
import { rejectionOf } from '../support/rejection-of.ts';
import { WireClient } from '../support/wire-client.ts';

const answerAtOnce: Handler = ({ apiVersion, correlationId }) =>
  encodeResponseFrame('Heartbeat', apiVersion, correlationId, {});
const at = (handler: Handler) => serving(new Map([[apis.Heartbeat.key, handler]]));
const BEAT = { groupId: 'g', generationId: 1, memberId: 'm' };
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('openListener()', () => {
  it('serves a hundred connections at a time', async () => {
    const { listener, port, clock } = await openServer(at(answerAtOnce));
    const clients = await Promise.all(upTo(100).map(() => WireClient.connect(port)));
    const answers = await Promise.all(clients.map((one) => one.call('Heartbeat', 4, BEAT)));
    expect(answers.map(({ errorCode }) => errorCode)).to.deep.equal(upTo(100).map(() => 0));
    expect(listener.connections).to.equal(100);
    for (const one of clients) one.destroy();
    await until(() => listener.connections === 0);
    await listener.stop(0);
    await clock.settle();
  });

  it('refuses connections beyond the limit and says so once', async () => {
    const { listener, port, log } = await openServer(at(answerAtOnce), { connectionsMax: 2 });
    const kept = await Promise.all(upTo(2).map(() => WireClient.connect(port)));
    await Promise.all(kept.map((one) => one.call('Heartbeat', 4, BEAT)));
    const more = await Promise.all(upTo(3).map(() => WireClient.connect(port)));
    await Promise.all(more.map((one) => one.closed));
    expect((await kept[0]?.call('Heartbeat', 4, BEAT))?.errorCode).to.equal(0);
    expect(log.told).to.deep.equal([
      {
        level: 'warn',
        fields: { port, connectionsMax: 2, count: 1 },
        text: 'Connections refused',
      },
    ]);
    for (const one of kept) one.destroy();
    await listener.stop(0);
  });

  it('counts connections, and every request with its API', async () => {
    const told: string[] = [];
    const listener = await openListener({
      host: '127.0.0.1',
      port: 0,
      info: ({ host, port }) => ({ nodeId: 1, host, port }),
      dispatch: at(answerAtOnce)(new KeptLog()),
      limits: TEST_LIMITS,
      clock: new ManualClock(),
      log: new KeptLog(),
      metrics: {
        connectionOpened: () => told.push('opened'),
        connectionClosed: () => told.push('closed'),
        connectionRefused: () => told.push('refused'),
        requestAnswered: (apiKey, ms) => told.push(`answered ${apiKey} after ${ms} ms`),
      },
    });
    const client = await WireClient.connect(listener.port);
    await client.call('Heartbeat', 4, BEAT);
    client.destroy();
    await until(() => told.includes('closed'));
    expect(told).to.deep.equal(['opened', 'answered 12 after 0 ms', 'closed']);
    await listener.stop(0);
  });

  it('tells clearly when the port is taken', async () => {
    const { listener, port, clock, log } = await openServer(at(answerAtOnce));
    const error = await rejectionOf(
      openListener({
        host: '127.0.0.1',
        port,
        setBy: '--port',
        info: ({ host }) => ({ nodeId: 1, host, port }),
        dispatch: { handle: () => 'close' },
        limits: TEST_LIMITS,
        clock,
        log,
      }),
    );
    expect(error).to.be.instanceOf(ListenError);
    expect(error).to.include({
      code: 'EADDRINUSE',
      message: `Cannot listen on 127.0.0.1:${port}: the port is in use (--port)`,
    });
    await listener.stop(0);
  });

  it('stops gracefully: answers what was taken, takes nothing new, closes', async () => {
    const settle: ((answer: Answer) => void)[] = [];
    const frames: Buffer[] = [];
    const { listener, port } = await openServer(
      at(({ apiVersion, correlationId }) => {
        frames.push(encodeResponseFrame('Heartbeat', apiVersion, correlationId, {}));
        return new Promise((resolve) => settle.push(resolve));
      }),
    );
    const one = await WireClient.connect(port);
    const idle = await WireClient.connect(port);
    one.write(Buffer.concat(upTo(2).map(() => one.request('Heartbeat', 4, BEAT))));
    await until(() => frames.length === 2);
    const stopped = listener.stop(10_000);
    await idle.closed;
    one.write(one.request('Heartbeat', 4, BEAT));
    const refused = await rejectionOf(WireClient.connect(port));
    expect(refused).to.include({ code: 'ECONNREFUSED' });
    for (const index of upTo(2)) settle[index]?.(frames[index] as Buffer);
    expect(await one.take(3)).to.have.length(2);
    await one.closed;
    await stopped;
    expect(frames).to.have.length(2);
    expect(listener.connections).to.equal(0);
  });

  it('waits at a stop for no client that keeps its side open, and but a moment for one that was owed an answer', async () => {
    const answers: (() => void)[] = [];
    const { listener, port, clock } = await openServer(
      at(
        ({ apiVersion, correlationId }) =>
          new Promise((resolve) => {
            const frame = encodeResponseFrame('Heartbeat', apiVersion, correlationId, {});
            answers.push(() => resolve(frame));
          }),
      ),
    );
    const idle = await WireClient.connect(port, { allowHalfOpen: true });
    const owed = await WireClient.connect(port, { allowHalfOpen: true });
    owed.write(owed.request('Heartbeat', 4, BEAT));
    await until(() => listener.connections === 2 && answers.length === 1);
    const stopped = listener.stop(30_000);
    await until(() => listener.connections === 1);
    answers[0]?.();
    expect(await owed.take(1)).to.have.length(1);
    await owed.closed;
    expect(listener.connections).to.equal(1);
    await clock.pass(500);
    await stopped;
    for (const one of [idle, owed]) one.destroy();
  });

  it('cuts off what is not answered within the grace of a stop', async () => {
    let taken = 0;
    const { listener, port, clock } = await openServer(
      at(() => {
        taken += 1;
        return new Promise(() => {});
      }),
    );
    const one = await WireClient.connect(port);
    one.write(one.request('Heartbeat', 4, BEAT));
    await until(() => taken === 1);
    let isStopped = false;
    const stopped = listener.stop(5_000).then(() => {
      isStopped = true;
    });
    await clock.pass(4_000);
    expect(isStopped).to.equal(false);
    await clock.pass(2_000);
    await stopped;
    await one.closed;
    expect(one.frames).to.deep.equal([]);
  });
});
