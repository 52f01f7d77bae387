import type { ClientConnection, IncomingRequest } from '../../src/server/dispatch.ts';

/** A connection without a socket, for handlers; it keeps what it was asked to wait for. */
export class FakeConnection implements ClientConnection {
  readonly id = 1;
  readonly clientHost = '/127.0.0.1';
  readonly principal = 'User:ANONYMOUS';
  readonly listener = { nodeId: 1, host: 'localhost', port: 9092 } as const;
  software = { name: '', version: '' };
  isClosed = false;
  isCongested = false;
  readonly holds: Promise<unknown>[] = [];
  readonly closeReasons: string[] = [];

  whenTaking(callback: () => void): void {
    callback();
  }

  onClose(): void {}

  holdUntil(settled: Promise<unknown>): void {
    this.holds.push(settled);
  }

  closeSoon(reason: string): void {
    this.closeReasons.push(reason);
  }
}

/** A request as handlers get it; only the header counts. */
export function incoming(
  apiVersion: number,
  connection: ClientConnection = new FakeConnection(),
): IncomingRequest {
  return {
    apiKey: 0,
    apiVersion,
    correlationId: 0,
    clientId: 'client-A',
    frame: Buffer.alloc(0),
    bodyOffset: 0,
    connection,
    tally: { errorAnswered: () => undefined },
  };
}
