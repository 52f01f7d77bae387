import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { ClientError } from '../../src/client/client-error.ts';
import { ClientConnection } from '../../src/client/connection.ts';
import { apis } from '../../src/wire/apis.ts';
import { FrameSplitter } from '../../src/wire/frame.ts';
import { decodeRequestHeader, encodeResponseFrame } from '../../src/wire/headers.ts';
import { rejectionOf } from '../support/rejection-of.ts';

type Asked = {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  readonly socket: Socket;
};

const host = '127.0.0.1';
const quick = { clientId: 'c', connectTimeoutMs: 2_000, requestTimeoutMs: 2_000 };

describe('ClientConnection', () => {
  let server: Server;
  let port: number;
  let sockets: Socket[];
  let connection: ClientConnection | undefined;
  /** Answers everything but the handshake. */
  let answer: (asked: Asked) => void;
  let handshake: (asked: Asked) => void;

  beforeEach(async () => {
    sockets = [];
    answer = () => undefined;
    handshake = ({ socket, correlationId, apiVersion }) =>
      socket.write(encodeResponseFrame('ApiVersions', apiVersion, correlationId, versions()));
    server = createServer((socket) => {
      sockets.push(socket);
      const splitter = new FrameSplitter();
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        for (const frame of splitter.push(chunk)) {
          const asked = { ...decodeRequestHeader(frame), socket };
          (asked.apiKey === apis.ApiVersions.key ? handshake : answer)(asked);
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    port = (server.address() as AddressInfo).port;
  });

  afterEach(async () => {
    connection?.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  function versions() {
    return {
      apiKeys: [
        { apiKey: apis.ListGroups.key, minVersion: 0, maxVersion: 4 },
        { apiKey: apis.DeleteGroups.key, minVersion: 9, maxVersion: 9 },
      ],
    };
  }

  async function open(): Promise<ClientConnection> {
    connection = await ClientConnection.open({ host, port }, quick);
    return connection;
  }

  function listed({ socket, correlationId, apiVersion }: Asked, groupId: string): void {
    const groups = [{ groupId, protocolType: 'streams' }];
    socket.write(encodeResponseFrame('ListGroups', apiVersion, correlationId, { groups }));
  }

  it('takes the highest version that both sides know', async () => {
    const opened = await open();
    expect(opened.version('ListGroups')).to.equal(4);
    expect(opened.version('ListGroups', 2)).to.equal(2);
    for (const name of ['DeleteGroups', 'Metadata'] as const) {
      expect(() => opened.version(name)).to.throw(ClientError, `Cannot send ${name}`);
    }
  });

  it('falls back when the peer does not know its version of ApiVersions', async () => {
    const asked: number[] = [];
    handshake = ({ socket, correlationId, apiVersion }) => {
      asked.push(apiVersion);
      const body = apiVersion === 0 ? versions() : { ...versions(), errorCode: 35 };
      // A refusal comes in version 0, whatever was asked.
      socket.write(encodeResponseFrame('ApiVersions', 0, correlationId, body));
    };
    expect((await open()).version('ListGroups')).to.equal(4);
    expect(asked).to.deep.equal([4, 0]);
  });

  it('sends many requests before the first answer, and gives each its own', async () => {
    const asked: Asked[] = [];
    answer = (one) => {
      asked.push(one);
      if (asked.length < 3) return;
      for (const [at, each] of asked.entries()) listed(each, `g${at}`);
    };
    const opened = await open();
    const answers = await Promise.all([1, 2, 3].map(() => opened.request('ListGroups', {})));
    expect(answers.map(({ groups }) => groups[0]?.groupId)).to.deep.equal(['g0', 'g1', 'g2']);
  });

  it('reads an answer that comes byte by byte', async () => {
    answer = ({ socket, correlationId, apiVersion }) => {
      const frame = encodeResponseFrame('ListGroups', apiVersion, correlationId, { errorCode: 14 });
      for (const byte of frame) socket.write(Buffer.from([byte]));
    };
    expect(await (await open()).request('ListGroups', {})).to.include({ errorCode: 14 });
  });

  it('fails everything outstanding when the peer ends, and what comes after', async () => {
    answer = ({ socket }) => socket.destroy();
    const opened = await open();
    const both = [opened.request('ListGroups', {}), opened.request('ListGroups', {})];
    for (const request of both) {
      expect(await rejectionOf(request)).to.include({ name: 'ClientError', failure: 'lost' });
    }
    expect(await rejectionOf(opened.request('ListGroups', {}))).to.include({ failure: 'lost' });
  });

  it('gives up an answer that does not come, and the connection with it', async () => {
    const opened = await open();
    const late = await rejectionOf(opened.request('ListGroups', {}, { timeoutMs: 1 }));
    expect(late).to.include({ failure: 'timeout' });
    expect(late)
      .to.have.property('message')
      .that.equals(`The connection to ${host}:${port} gave no answer to ListGroups within 1 ms`);
  });

  it('does not take an answer to another request', async () => {
    answer = (one) => listed({ ...one, correlationId: one.correlationId + 1 }, 'g');
    const failure = await rejectionOf((await open()).request('ListGroups', {}));
    expect(failure).to.include({ failure: 'protocol' });
  });

  it('says so when what comes cannot be read', async () => {
    answer = ({ socket, correlationId }) => {
      const frame = Buffer.alloc(8);
      frame.writeInt32BE(4, 0);
      frame.writeInt32BE(correlationId, 4);
      socket.write(frame);
    };
    const failure = await rejectionOf((await open()).request('ListGroups', {}));
    expect(failure).to.include({ failure: 'protocol' });
  });

  it('says in one line that nobody listens', async () => {
    const gone = { host, port };
    await new Promise((resolve) => server.close(resolve));
    const failure = await rejectionOf(ClientConnection.open(gone, quick));
    expect(failure).to.include({
      failure: 'unreachable',
      message: `Cannot connect to ${host}:${port}: nobody listens there`,
    });
    server.listen(port, host);
  });

  it('says that the peer is no Kafka broker', async () => {
    handshake = ({ socket }) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    const failure = await rejectionOf(ClientConnection.open({ host, port }, quick));
    expect(failure).to.include({ failure: 'protocol' });
    expect(failure)
      .to.have.property('message')
      .that.matches(/^Cannot speak to .* as to a Kafka .*: this is HTTP, perhaps the admin port/);
  });
});
