import type { Log } from '../../actors/ports.ts';
import type { Address } from './connection.ts';
import { reasonOf, UpstreamError } from './upstream-error.ts';

/** A broker as upstream tells of it. */
export type UpstreamNode = Address & { readonly nodeId: number; readonly rack: string | null };

/** What is kept of a gateway address: the place in the row of ports, and the port that was found. */
export type KeptAddress = {
  readonly nodeId: number;
  readonly index: number;
  readonly port: number;
};

/** Where gateway addresses are kept from one start to the next: clients come back to the ones they remember. */
export interface AddressBook {
  load(): Promise<readonly KeptAddress[]>;
  /** Keeps this one beside the others; resolves when it is durable. */
  save(address: KeptAddress): Promise<void>;
}

/**
 * Opens the listener of a virtual broker. `port` 0 = any.
 *
 * @returns the address that clients are told. Rejects when the port cannot be had.
 */
export type OpenListener = (wanted: {
  readonly nodeId: number;
  /** Undefined: where the bootstrap listener listens. */
  readonly host: string | undefined;
  readonly port: number;
}) => Promise<Address>;

export type ClusterMapParts = {
  /** Set by hand, by node id (`gateway.addresses`). */
  readonly addresses: ReadonlyMap<number, Address>;
  /** Of the bootstrap listener as configured; 0 = any, and so are those of the nodes. */
  readonly bootstrapPort: number;
  readonly addressBook: AddressBook;
  readonly openListener: OpenListener;
  readonly log: Log;
};

/** A cluster that claims more brokers than this is not believed: each costs a port. */
const NODES_MAX = 1_000;

/**
 * The brokers upstream and the gateway's address for each: one listener for each node id, opened before its address
 * is told to anyone, and kept while the process lives even if the broker goes.
 *
 * Without an address set by hand the port is the bootstrap port + 1 + the node's place in the row; places are kept
 * in the address book, new ids go to the end. With port 0 the ports found are kept.
 *
 * Source: wire.md 4.1, 4.2, 4.7; records-and-configs 7.2.
 */
export class ClusterMap {
  private readonly parts: ClusterMapParts;
  private nodesById: ReadonlyMap<number, UpstreamNode> = new Map();
  private alive: readonly number[] = [];
  private readonly racks = new Map<number, string | null>();
  private readonly gateways = new Map<number, Address>();
  private readonly opening = new Map<number, Promise<Address>>();
  private readonly kept = new Map<number, KeptAddress>();
  private loading: Promise<void> | undefined;
  private controller = -1;
  private cluster: string | null = null;

  constructor(parts: ClusterMapParts) {
    this.parts = parts;
  }

  /** Brokers that the last whole list named, ascending. */
  get aliveIds(): readonly number[] {
    return this.alive;
  }
  /** -1 = not known. */
  get controllerId(): number {
    return this.controller;
  }
  /** Null = not known. */
  get clusterId(): string | null {
    return this.cluster;
  }

  node(nodeId: number): UpstreamNode | undefined {
    return this.nodesById.get(nodeId);
  }

  /** The rack a broker was last seen in, also of one that is away; undefined where none is known. */
  rackOf(nodeId: number): string | undefined {
    return this.racks.get(nodeId) ?? undefined;
  }

  /** The address clients are told for a node; undefined until {@link learn} or {@link addressOf} opened it. */
  gatewayAddress(nodeId: number): Address | undefined {
    return this.gateways.get(nodeId);
  }

  /**
   * Takes in a whole list of brokers, as Metadata gives it, and opens what listeners it asks for.
   *
   * @throws UpstreamError when a listener cannot be opened: the list must then not be passed on.
   */
  async learn(list: {
    readonly nodes: readonly UpstreamNode[];
    readonly controllerId: number;
    readonly clusterId: string | null;
  }): Promise<void> {
    // A broker that has just started may not know the others yet.
    if (list.nodes.length === 0) return;
    if (list.nodes.some((node) => this.isNew(node))) {
      this.nodesById = new Map([
        ...this.nodesById,
        ...list.nodes.map((node) => [node.nodeId, node] as const),
      ]);
      for (const { nodeId, rack } of list.nodes) this.racks.set(nodeId, rack);
    }
    this.alive = list.nodes.map((node) => node.nodeId).sort((a, b) => a - b);
    this.controller = list.controllerId;
    this.cluster = list.clusterId ?? this.cluster;
    await this.openAll(list.nodes.map((node) => node.nodeId));
  }

  /** Takes in brokers that an answer names in passing, such as a coordinator; otherwise as {@link learn}. */
  async learnSome(nodes: readonly (Address & { readonly nodeId: number })[]): Promise<void> {
    const unknown = nodes.filter((node) => !this.nodesById.has(node.nodeId));
    if (unknown.length > 0) {
      this.nodesById = new Map([
        ...this.nodesById,
        ...unknown.map(
          ({ nodeId, host, port }) => [nodeId, { nodeId, host, port, rack: null }] as const,
        ),
      ]);
    }
    await this.openAll(nodes.map((node) => node.nodeId));
  }

  /** Opens again the listeners of all nodes that are in the address book, before upstream was asked. */
  async openKept(): Promise<void> {
    await this.load();
    await this.openAll([...this.kept.keys()]);
  }

  private isNew(node: UpstreamNode): boolean {
    const known = this.nodesById.get(node.nodeId);
    return (
      known === undefined ||
      known.host !== node.host ||
      known.port !== node.port ||
      known.rack !== node.rack
    );
  }

  private async openAll(nodeIds: readonly number[]): Promise<void> {
    for (const nodeId of nodeIds) if (!this.gateways.has(nodeId)) await this.open(nodeId);
  }

  private async open(nodeId: number): Promise<Address> {
    const underWay = this.opening.get(nodeId);
    if (underWay !== undefined) return underWay;
    if (this.gateways.size + this.opening.size >= NODES_MAX) {
      throw new UpstreamError('refused', `Cannot open one more address: ${NODES_MAX} are open`);
    }
    const opening = this.openNow(nodeId).finally(() => this.opening.delete(nodeId));
    this.opening.set(nodeId, opening);
    return opening;
  }

  private async openNow(nodeId: number): Promise<Address> {
    await this.load();
    const address = await this.listen(nodeId).catch((error: unknown) => {
      const text = `Cannot open an address for upstream broker ${nodeId}: ${reasonOf(error)}`;
      this.parts.log.error({ nodeId }, text);
      throw new UpstreamError('refused', text, { cause: error });
    });
    this.gateways.set(nodeId, address);
    this.parts.log.info({ nodeId, ...address }, 'Address opened for an upstream broker');
    return address;
  }

  private async listen(nodeId: number): Promise<Address> {
    const { addresses, bootstrapPort, openListener, log } = this.parts;
    const set = addresses.get(nodeId);
    if (set !== undefined) return openListener({ nodeId, ...set });
    const kept = this.kept.get(nodeId);
    const index = kept?.index ?? this.nextIndex();
    const port = bootstrapPort === 0 ? (kept?.port ?? 0) : bootstrapPort + 1 + index;
    // The place is taken before the port is open, so that two new nodes do not get the same one.
    this.kept.set(nodeId, { nodeId, index, port });
    const address = await openListener({ nodeId, host: undefined, port }).catch(
      async (error: unknown) => {
        if (bootstrapPort !== 0 || port === 0) throw error;
        log.warn({ nodeId, port, reason: reasonOf(error) }, 'Kept port is taken, another is used');
        return openListener({ nodeId, host: undefined, port: 0 });
      },
    );
    if (kept === undefined || kept.port !== address.port) {
      const found = { nodeId, index, port: address.port };
      this.kept.set(nodeId, found);
      await this.parts.addressBook.save(found);
    }
    return address;
  }

  private nextIndex(): number {
    return Math.max(-1, ...[...this.kept.values()].map((kept) => kept.index)) + 1;
  }

  private async load(): Promise<void> {
    this.loading ??= this.parts.addressBook.load().then((entries) => {
      for (const entry of entries) this.kept.set(entry.nodeId, entry);
    });
    await this.loading;
  }
}
