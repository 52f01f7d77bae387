import { type KeyValues, keysUnder } from './key-values.ts';
import { keyOf, prefixes, toJson } from './layout.ts';

/** The gateway's own address for one upstream node: its place in the row of ports, and the port that was found. */
export type KeptAddress = {
  readonly nodeId: number;
  readonly index: number;
  readonly port: number;
};

/**
 * Keeps which of the gateway's addresses stands for which upstream node, so that clients find the same broker at the
 * same address after a restart. Rejects with `StoreError`.
 *
 * Source: records-and-configs 7.2, gateway.addresses.
 */
export class KeptAddresses {
  readonly #keyValues: KeyValues;

  constructor(keyValues: KeyValues) {
    this.#keyValues = keyValues;
  }

  /** All of them, in no order to rely on. */
  async load(): Promise<readonly KeptAddress[]> {
    const addresses: KeptAddress[] = [];
    for await (const entries of this.#keyValues.scan(keysUnder(keyOf(prefixes.addresses)))) {
      for (const [, value] of entries) addresses.push(JSON.parse(value.toString('utf8')));
    }
    return addresses;
  }

  /** Keeps this one beside the others, in the place of one of the same node id; resolves when it is durable. */
  async save({ nodeId, index, port }: KeptAddress): Promise<void> {
    const key = keyOf(prefixes.addresses, int32Key(nodeId));
    const value = toJson({ nodeId, index, port });
    await this.#keyValues.write([{ type: 'put', key, value }], { sync: true });
  }
}

function int32Key(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}
