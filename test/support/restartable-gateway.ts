import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import type { BrokerAddress } from '../../src/client/connection.ts';
import { HeadgateProcess } from './headgate-process.ts';

/** A gateway that another process may ask to start again, on its address and its data. */
export class RestartableGateway {
  readonly #folder: string;
  readonly #flags: readonly string[];
  readonly #server = createServer((_, response) => {
    this.#restart().then(
      () => response.writeHead(204).end(),
      (cause: unknown) => response.writeHead(500).end(String(cause)),
    );
  });
  #process: HeadgateProcess | undefined;
  #address: BrokerAddress | undefined;

  constructor(folder: string, ...flags: readonly string[]) {
    this.#folder = folder;
    this.#flags = flags;
  }

  async start(): Promise<BrokerAddress> {
    const port = this.#address?.port ?? (await lastingPort());
    const flags = [...this.#flags, '--port', String(port)];
    this.#process = HeadgateProcess.servePlainly(this.#folder, ...flags);
    this.#address = await this.#process.ready();
    return this.#address;
  }

  /** A shell command that returns when the gateway was ended in good order and answers again. */
  async restartCommand(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    const tell = 'answer.ok || answer.text().then((text) => { throw new Error(text) })';
    const ask = `fetch('http://127.0.0.1:${port}').then((answer) => ${tell})`;
    return `${process.execPath} -e "${ask}"`;
  }

  close(): void {
    this.#server.close();
  }

  async #restart(): Promise<void> {
    await this.#process?.end('SIGTERM');
    await this.start();
  }
}

/** Ports from which no system takes one for a connection that goes out; how many of them are tried. */
const LASTING_PORTS = { from: 20_000, to: 30_000, tries: 50 };

/**
 * A free port that stays free while nobody listens there: one that the system gives to whoever asks for any may be the
 * near end of a client's connection by the time that the gateway is back.
 */
async function lastingPort(): Promise<number> {
  const { from, to, tries } = LASTING_PORTS;
  for (let i = 0; i < tries; i++) {
    const port = from + Math.floor(Math.random() * (to - from));
    const server = createSocketServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error(`Find a port from ${from} to ${to}: ${tries} are in use`);
}
