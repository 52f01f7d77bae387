import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { askAdmin } from '../../src/cli/admin-http.ts';
import { rejectionOf } from '../support/rejection-of.ts';

/** Ports that browsers keep away from, and `fetch` with them. */
const SHUNNED = [10_080, 6_000, 6_566, 6_665, 6_666, 6_667, 6_668, 6_669, 6_697];

/** Whether the server could have the port. */
const listens = (server: Server, port: number) =>
  new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });

describe('askAdmin()', () => {
  const servers: Server[] = [];

  /** Where `server` listens: on the first port of these that is free. */
  async function placeOf(server: Server, ports: readonly number[] = [0]) {
    for (const wanted of ports) {
      if (!(await listens(server, wanted))) continue;
      servers.push(server);
      return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
    }
    throw new Error(`None of the ports ${ports.join()} is free`);
  }

  const refusal = (port: number, reason: string) => ({
    name: 'CommandError',
    message: `Cannot reach the admin server at 127.0.0.1:${port}: ${reason} (--admin)`,
  });

  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('reaches a port that browsers keep away from', async () => {
    const server = createHttpServer(({ url }, response) => response.end(JSON.stringify({ url })));
    const place = await placeOf(server, SHUNNED);
    expect(await askAdmin(place, '/groups/a%20b/journal?limit=1')).to.deep.equal({
      url: '/groups/a%20b/journal?limit=1',
    });
  });

  it('says that nobody listens, also on such a port', async () => {
    const server = createServer();
    const place = await placeOf(server, SHUNNED);
    await new Promise((resolve) => server.close(resolve));
    expect(await rejectionOf(askAdmin(place, '/'))).to.include(
      refusal(place.port, 'nobody listens there'),
    );
  });

  it('says that what listens there speaks no HTTP: it hangs up, or says something else', async () => {
    const ends = createServer((socket) => socket.once('data', () => socket.end()));
    const talks = createServer((socket) => socket.resume().end('220 ready\r\n'));
    for (const server of [ends, talks]) {
      const place = await placeOf(server);
      expect(await rejectionOf(askAdmin(place, '/'))).to.include(
        refusal(place.port, 'what listens there speaks no HTTP'),
      );
    }
  });

  it('says that an answer was cut off', async () => {
    const server = createHttpServer((_, response) => {
      response.writeHead(200, { 'Content-Length': 9 });
      response.write('{"a"', () => response.destroy());
    });
    const place = await placeOf(server);
    expect(await rejectionOf(askAdmin(place, '/'))).to.include(
      refusal(place.port, 'the connection ended within the answer'),
    );
  });

  it('gives the reason that the server gives, or the status where it gives none, and names the server', async () => {
    const answers = ['{"error":"Cannot find group \\"g\\""}', 'Not here'];
    const server = createHttpServer((_, response) => response.writeHead(404).end(answers.shift()));
    const place = await placeOf(server);
    for (const reason of ['Cannot find group "g"', 'status 404 and no reason']) {
      const message = `${reason} (--admin ${place.host}:${place.port})`;
      expect(await rejectionOf(askAdmin(place, '/'))).to.include({ message });
    }
  });
});
