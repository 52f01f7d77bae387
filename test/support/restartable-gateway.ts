import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
    const port = this.#address === undefined ? [] : ['--port', String(this.#address.port)];
    this.#process = HeadgateProcess.servePlainly(this.#folder, ...this.#flags, ...port);
    this.#address = await this.#process.ready();
    return this.#address;
  }

  /** A shell command that returns when the gateway was ended in good order and answers again. */
  async restartCommand(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    const ask = `fetch('http://127.0.0.1:${port}').then((answer) => process.exit(answer.ok ? 0 : 1))`;
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
