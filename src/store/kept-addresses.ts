import type { KeyValues } from './key-values.ts';
import { keysUnder } from './key-values.ts';
import { keyOf, prefixes, toJson } from './layout.ts';

/** The gateway's own address for one upstream node. */
export type KeptAddress = {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
};

/**
 * Keeps which of the gateway's addresses stands for which upstream node, so that clients find the same broker at the
 * same address after a restart.
 *
 * Source: records-and-configs 7.2, gateway.addresses.
 */
export class KeptAddresses {
  readonly #keyValues: KeyValues;

  constructor(keyValues: KeyValues) {
    this.#keyValues = keyValues;
  }

  /** All of them, in no particular order. */
  async load(): Promise<readonly KeptAddress[]> {
    const addresses: KeptAddress[] = [];
    for await (const entries of this.#keyValues.scan(keysUnder(keyOf(prefixes.addresses)))) {
      for (const [, value] of entries) addresses.push(JSON.parse(value.toString('utf8')));
    }
    return addresses;
  }

  /** Adds these, or replaces those of the same node id; resolves when they are durable. */
  async save(addresses: readonly KeptAddress[]): Promise<void> {
    await this.#keyValues.write(
      addresses.map(({ nodeId, host, port }) => ({
        type: 'put',
        key: keyOf(prefixes.addresses, int32Key(nodeId)),
        value: toJson({ nodeId, host, port }),
      })),
      { sync: true },
    );
  }
}

function int32Key(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}
