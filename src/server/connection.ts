import type { Socket } from 'node:net';
import type { Clock, Log } from '../../actors/ports.ts';
import { FrameSplitter } from '../wire/frame.ts';
import type { Slot } from './answer-queue.ts';
import { AnswerQueue, bytesOf } from './answer-queue.ts';
import { ANONYMOUS } from './authorize.ts';
import { clientHost } from './client-host.ts';
import type { Answer, ClientConnection, Dispatch, ListenerInfo } from './dispatch.ts';
import type { ServerMetrics } from './ports.ts';

/** The bounds of one connection. */
export type ConnectionLimits = {
  /** Requests taken and not yet answered; at this many, reading stops. */
  readonly requestsInFlightMax: number;
  /** Longest frame, without its length. */
  readonly requestBytesMax: number;
  /** Bytes of answers that the client has not taken; above this, reading stops. */
  readonly unsentBytesMax: number;
  /** Without a byte in or out for this long, and nothing to answer, the connection is closed. */
  readonly idleMs: number;
  /** A frame that began must be whole after this long. */
  readonly frameCompletionMs: number;
};

export type ConnectionParts = {
  readonly socket: Socket;
  readonly listener: ListenerInfo;
  readonly dispatch: Dispatch;
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: ServerMetrics | undefined;
};

/** How long the last answers of a connection that is to close may take to leave. */
const LINGER_MS = 5_000;
/** At a stop, how long a client has to end its side once it was sent everything: some only do so at their next request. */
const LINGER_AT_STOP_MS = 500;
const API_KEY_BYTES = 2;
const NO_API = -1;
const NO_FRAMES: readonly Buffer[] = [];

let connectionsMade = 0;

/**
 * One client connection: bytes to frames, frames to the dispatch, answers back in the order of the requests.
 *
 * Requests are handed over as they come; answers may be ready in any order and leave in that of the requests. Reading
 * stops while too many requests are unanswered, while the client does not take its answers, and while a handler asked
 * for it; what was read in one piece then waits here. Requests that came whole are processed even if the client has
 * gone. What ends the connection ends nothing else.
 *
 * Source: wire.md 4.5, 4.12, 6.1.
 */
export class Connection implements ClientConnection {
  readonly id: number;
  readonly clientHost: string;
  readonly principal = ANONYMOUS;
  readonly listener: ListenerInfo;
  software = { name: '', version: '' };
  isClosed = false;

  private readonly socket: Socket;
  private readonly dispatch: Dispatch;
  private readonly limits: ConnectionLimits;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly metrics: ServerMetrics | undefined;
  private readonly splitter: FrameSplitter;

  /** Whole frames not handed over yet: at most what one chunk held, as reading stops meanwhile. */
  private waiting: readonly Buffer[] = NO_FRAMES;
  private waitingFrom = 0;
  private holds = 0;

  private readonly answers = new AnswerQueue();
  private readonly outgoing: Buffer[] = [];
  private outgoingBytes = 0;
  private isFlushPlanned = false;
  private readonly flush = () => {
    this.isFlushPlanned = false;
    this.writeOutgoing();
    // What the system took at once is followed by no `drain`.
    this.proceed();
  };

  private isReading = true;
  private clientEnded = false;
  /** Graceful stop: nothing more is read, what was taken is answered. */
  private isFinishing = false;
  private isEnded = false;
  /** An answer that waits for its turn is the last one: nothing behind it is taken. */
  private isClosing = false;
  /** Set once the connection is to be closed whatever waits. */
  private isDoomed = false;
  private closingSinceMs: number | undefined;
  private lastActivityMs: number;
  private frameBeganMs: number | undefined;

  private closeListeners: (() => void)[] = [];
  private takingListeners: (() => void)[] = [];

  constructor(parts: ConnectionParts) {
    const { socket, limits, clock } = parts;
    connectionsMade += 1;
    this.id = connectionsMade;
    this.clientHost = clientHost(socket.remoteAddress);
    this.listener = parts.listener;
    this.socket = socket;
    this.dispatch = parts.dispatch;
    this.limits = limits;
    this.clock = clock;
    this.log = parts.log;
    this.metrics = parts.metrics;
    this.splitter = new FrameSplitter(limits.requestBytesMax);
    this.lastActivityMs = clock.monotonicMs();
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('end', () => this.clientEnd());
    socket.on('drain', () => this.drained());
    socket.on('close', () => this.closed());
    // A peer that resets or vanishes is no event of ours; `close` follows.
    socket.on('error', (error) =>
      this.log.debug({ err: error, connection: this.id }, 'Socket error'),
    );
  }

  get isCongested(): boolean {
    return this.unsentBytes > this.limits.unsentBytesMax;
  }

  /** Requests taken and not answered. */
  get requestsInFlight(): number {
    return this.answers.size;
  }

  whenTaking(callback: () => void): void {
    if (this.isClosed || !this.isCongested) callback();
    else this.takingListeners.push(callback);
  }

  onClose(callback: () => void): void {
    if (this.isClosed) callback();
    else this.closeListeners.push(callback);
  }

  holdUntil(settled: Promise<unknown>): void {
    this.holds += 1;
    const release = () => {
      this.holds -= 1;
      this.proceed();
    };
    settled.then(release, release);
  }

  closeSoon(reason: string): void {
    if (this.isClosed || this.isDoomed) return;
    this.log.debug({ connection: this.id, client: this.clientHost, reason }, 'Connection closing');
    this.doom();
  }

  /** Stops reading, answers what was taken, then closes; at once when nothing is owed. */
  finish(): void {
    this.isFinishing = true;
    if (this.owesNothing && this.unsentBytes === 0) this.socket.destroy();
    else this.proceed();
  }

  /** Closes at once. */
  destroy(): void {
    this.socket.destroy();
  }

  /** Closes what idles, what never completes its frame and what does not take its last answers. */
  sweep(nowMs: number): void {
    const { idleMs, frameCompletionMs } = this.limits;
    if (this.closingSinceMs !== undefined) {
      if (nowMs - this.closingSinceMs > LINGER_MS) this.socket.destroy();
      return;
    }
    const isFrameLate =
      this.isReading &&
      this.frameBeganMs !== undefined &&
      nowMs - this.frameBeganMs > frameCompletionMs;
    if (isFrameLate) this.fault(`A frame was not whole after ${frameCompletionMs} ms`);
    const isAtRest = this.answers.size === 0 || this.isCongested;
    if (isAtRest && nowMs - this.lastActivityMs > idleMs) {
      const fields = { connection: this.id, client: this.clientHost, idleMs };
      this.log.debug(fields, 'Connection closed: idle');
      this.socket.destroy();
    }
  }

  private get unsentBytes(): number {
    return this.socket.writableLength + this.outgoingBytes + this.answers.heldBytes;
  }

  private get hasWaiting(): boolean {
    return this.waitingFrom < this.waiting.length;
  }

  /** Every request taken has its answer, on its way at least. */
  private get owesNothing(): boolean {
    return !this.hasWaiting && this.answers.size === 0 && this.holds === 0;
  }

  private receive(chunk: Buffer): void {
    if (this.isDoomed || this.isFinishing) return;
    const nowMs = this.clock.monotonicMs();
    this.lastActivityMs = nowMs;
    let frames: Buffer[];
    try {
      frames = this.splitter.push(chunk);
    } catch (error) {
      this.fault(error instanceof Error ? error.message : String(error));
      return;
    }
    if (this.splitter.isBetweenFrames) this.frameBeganMs = undefined;
    else if (frames.length > 0 || this.frameBeganMs === undefined) this.frameBeganMs = nowMs;
    this.waiting = this.hasWaiting ? [...this.waiting.slice(this.waitingFrom), ...frames] : frames;
    this.waitingFrom = 0;
    this.proceed();
  }

  private clientEnd(): void {
    this.clientEnded = true;
    this.proceed();
  }

  private drained(): void {
    this.lastActivityMs = this.clock.monotonicMs();
    this.proceed();
  }

  private closed(): void {
    this.isClosed = true;
    this.outgoing.length = 0;
    this.outgoingBytes = 0;
    const listeners = this.closeListeners;
    this.closeListeners = [];
    for (const listener of listeners) listener();
    this.proceed();
  }

  /** Bytes that cannot be followed: one log line, and the end of this connection. */
  private fault(reason: string): void {
    const fields = { connection: this.id, client: this.clientHost, reason };
    this.log.info(fields, 'Connection closed: bad frame');
    this.doom();
  }

  /** Hands over what may be, and settles what follows from it: reading or not, ending or not. */
  private proceed(): void {
    while (this.hasWaiting && this.mayTake()) {
      const frame = this.waiting[this.waitingFrom] as Buffer;
      this.waitingFrom += 1;
      this.handOver(frame);
    }
    if (!this.hasWaiting) this.dropWaiting();
    if (this.isClosed || !this.isCongested) this.tellTaking();
    this.maybeEnd();
    this.settleReading();
  }

  private mayTake(): boolean {
    if (this.isDoomed || this.isClosing || this.holds > 0) return false;
    if (this.answers.size >= this.limits.requestsInFlightMax) return false;
    return this.isClosed || !this.isCongested;
  }

  private handOver(frame: Buffer): void {
    const answer = this.dispatch.handle(frame, this);
    const apiKey = frame.length < API_KEY_BYTES ? NO_API : frame.readInt16BE(0);
    const takenMs = this.lastActivityMs;
    if (answer instanceof Promise) {
      const slot = this.answers.append();
      const settle = (settled: Answer) => {
        this.measure(apiKey, takenMs);
        this.complete(slot, settled);
      };
      answer.then(settle, () => settle('close'));
      return;
    }
    this.measure(apiKey, takenMs);
    if (this.answers.size === 0) {
      this.emit(answer);
      this.planFlush();
    } else {
      this.answers.append(answer);
      if (answer === 'close') this.isClosing = true;
    }
  }

  private measure(apiKey: number, takenMs: number): void {
    if (this.metrics === undefined) return;
    this.metrics.requestAnswered(apiKey, this.clock.monotonicMs() - takenMs);
  }

  private dropWaiting(): void {
    this.waiting = NO_FRAMES;
    this.waitingFrom = 0;
  }

  private complete(slot: Slot, answer: Answer): void {
    this.answers.settle(slot, answer);
    for (let next = this.answers.take(); next !== undefined; next = this.answers.take()) {
      this.emit(next);
    }
    // With nothing left to wait for, nothing could join this write.
    if (this.answers.size === 0) this.writeOutgoing();
    else this.planFlush();
    this.proceed();
  }

  private planFlush(): void {
    if (this.isFlushPlanned || this.outgoing.length === 0) return;
    this.isFlushPlanned = true;
    process.nextTick(this.flush);
  }

  private emit(answer: Answer): void {
    if (answer === 'none' || this.isClosed || this.isDoomed) return;
    if (answer === 'close') {
      this.doom();
      return;
    }
    if (Buffer.isBuffer(answer)) this.outgoing.push(answer);
    else this.outgoing.push(...answer);
    this.outgoingBytes += bytesOf(answer);
  }

  /** All answers of a turn go down in one write. */
  private writeOutgoing(): void {
    const { outgoing, socket } = this;
    const [first] = outgoing;
    if (first === undefined) return;
    this.outgoingBytes = 0;
    this.lastActivityMs = this.clock.monotonicMs();
    if (outgoing.length === 1) {
      socket.write(first);
    } else {
      socket.cork();
      for (const bytes of outgoing) socket.write(bytes);
      socket.uncork();
    }
    // Emptied, not replaced: a dead old list would keep the answers it held alive until the next full collection.
    outgoing.length = 0;
  }

  private doom(): void {
    if (this.isDoomed) return;
    this.isDoomed = true;
    this.closingSinceMs = this.clock.monotonicMs();
    this.dropWaiting();
    this.writeOutgoing();
    this.socket.destroySoon();
  }

  /** Sends our end when nothing is left to say. */
  private maybeEnd(): void {
    const isOver = this.clientEnded || this.isFinishing;
    if (!isOver || this.isEnded || this.isDoomed || this.isClosed) return;
    if (!this.owesNothing) return;
    this.isEnded = true;
    this.closingSinceMs = this.clock.monotonicMs();
    this.writeOutgoing();
    this.socket.end(() => {
      if (this.isFinishing)
        this.onClose(this.clock.after(LINGER_AT_STOP_MS, () => this.socket.destroy()));
    });
  }

  private settleReading(): void {
    if (this.isClosed || this.isDoomed) return;
    // After our end the rest is read and thrown away, so that the client's end is seen.
    const wanted = this.isEnded || (!this.isFinishing && !this.hasWaiting && !this.isFull());
    if (wanted === this.isReading) return;
    this.isReading = wanted;
    if (!wanted) {
      this.socket.pause();
      return;
    }
    // The time it stood still here was not the client's.
    if (this.frameBeganMs !== undefined) this.frameBeganMs = this.clock.monotonicMs();
    this.socket.resume();
  }

  private isFull(): boolean {
    return (
      this.holds > 0 || this.answers.size >= this.limits.requestsInFlightMax || this.isCongested
    );
  }

  private tellTaking(): void {
    if (this.takingListeners.length === 0) return;
    const listeners = this.takingListeners;
    this.takingListeners = [];
    for (const listener of listeners) listener();
  }
}
