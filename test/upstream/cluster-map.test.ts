import { expect } from 'chai';
import type { KeptAddress } from '../../src/upstream/cluster-map.ts';
import { ClusterMap } from '../../src/upstream/cluster-map.ts';
import { UpstreamError } from '../../src/upstream/upstream-error.ts';
import { KeptLog } from '../support/kept-log.ts';
import { rejectionOf } from '../support/rejection-of.ts';

/** A map whose listeners are pretended; ports in `taken` cannot be had. */
function made(options: {
  bootstrapPort?: number;
  kept?: readonly KeptAddress[];
  addresses?: ReadonlyMap<number, { host: string; port: number }>;
  taken?: readonly number[];
}) {
  const saved: KeptAddress[] = [];
  const opened: string[] = [];
  let free = 40_000;
  const map = new ClusterMap({
    addresses: options.addresses ?? new Map(),
    bootstrapPort: options.bootstrapPort ?? 9092,
    addressBook: {
      load: async () => options.kept ?? [],
      save: async (address) => {
        saved.push(address);
      },
    },
    openListener: async ({ nodeId, host, port }) => {
      if (options.taken?.includes(port)) throw new Error(`port ${port} is taken`);
      opened.push(`${nodeId} ${host ?? '-'}:${port}`);
      if (port === 0) free += 1;
      return { host: host ?? 'gate', port: port === 0 ? free : port };
    },
    log: new KeptLog(),
  });
  return { map, saved, opened };
}

function node(nodeId: number, host = `b${nodeId}`) {
  return { nodeId, host, port: 9000 + nodeId, rack: null };
}

function list(...nodes: ReturnType<typeof node>[]) {
  return { nodes, controllerId: 1, clusterId: 'k' };
}

describe('ClusterMap', () => {
  it('gives port + 1 + index, in the order in which ids came (records 7.2)', async () => {
    const { map, saved } = made({});
    await map.learn(list(node(7), node(3)));
    expect([7, 3].map((id) => map.gatewayAddress(id)?.port)).to.deep.equal([9093, 9094]);
    expect(saved).to.deep.equal([
      { nodeId: 7, index: 0, port: 9093 },
      { nodeId: 3, index: 1, port: 9094 },
    ]);
  });

  it('keeps the place of an id over a restart and appends new ones (records 7.2)', async () => {
    const kept = [
      { nodeId: 7, index: 0, port: 9093 },
      { nodeId: 3, index: 4, port: 9097 },
    ];
    const { map, saved } = made({ kept });
    await map.openKept();
    expect(map.gatewayAddress(3)?.port).to.equal(9097);
    await map.learn(list(node(1), node(3), node(7)));
    expect([1, 3, 7].map((id) => map.gatewayAddress(id)?.port)).to.deep.equal([9098, 9097, 9093]);
    expect(saved).to.deep.equal([{ nodeId: 1, index: 5, port: 9098 }]);
  });

  it('with port 0 keeps the ports that were found (records 7.2)', async () => {
    const { map, opened } = made({
      bootstrapPort: 0,
      kept: [{ nodeId: 1, index: 0, port: 31_000 }],
    });
    await map.learn(list(node(1), node(2)));
    expect(opened).to.deep.equal(['1 -:31000', '2 -:0']);
  });

  it('with port 0 takes another where the kept one is taken, and keeps that', async () => {
    const { map, saved } = made({
      bootstrapPort: 0,
      kept: [{ nodeId: 1, index: 0, port: 31_000 }],
      taken: [31_000],
    });
    await map.learn(list(node(1)));
    expect(saved).to.deep.equal([{ nodeId: 1, index: 0, port: 40_001 }]);
  });

  it('uses an address set by hand (gateway.addresses)', async () => {
    const addresses = new Map([[2, { host: 'edge', port: 7002 }]]);
    const { map } = made({ addresses });
    await map.learn(list(node(2)));
    expect(map.gatewayAddress(2)).to.deep.equal({ host: 'edge', port: 7002 });
  });

  it('rejects when an address cannot be opened (4.2, fail closed)', async () => {
    const { map } = made({ taken: [9093] });
    expect(await rejectionOf(map.learn(list(node(1))))).to.be.instanceOf(UpstreamError);
    expect(map.gatewayAddress(1)).to.equal(undefined);
  });

  it('opens one listener for an id that is learnt twice at once', async () => {
    const { map, opened } = made({});
    await Promise.all([
      map.learn(list(node(1))),
      map.learnSome([node(1)]),
      map.learnSome([node(1)]),
    ]);
    expect(opened).to.deep.equal(['1 -:9093']);
  });

  it('follows a broker that moved, and keeps its own address for it', async () => {
    const { map, opened } = made({});
    await map.learn(list(node(1)));
    await map.learn(list(node(1, 'elsewhere')));
    expect(map.node(1)?.host).to.equal('elsewhere');
    expect(opened).to.have.length(1);
  });

  it('remembers the rack of a broker that is away (TOP-11)', async () => {
    const { map } = made({});
    await map.learn(list({ ...node(1), rack: 'a' } as never, node(2)));
    await map.learn(list(node(2)));
    expect(map.rackOf(1)).to.equal('a');
    expect(map.aliveIds).to.deep.equal([2]);
  });

  it('does not believe an empty list of brokers', async () => {
    const { map } = made({});
    await map.learn(list(node(1)));
    await map.learn(list());
    expect(map.aliveIds).to.deep.equal([1]);
  });
});
