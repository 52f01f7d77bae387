import type { GroupCoordinator } from '../../actors/group-coordinator.ts';
import type { Profile } from '../../machines/model/profile.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import { Catalogue } from '../../src/cluster/catalogue.ts';
import { TopicConfigResources } from '../../src/cluster/topic-config-resources.ts';
import { resolveConfig } from '../../src/config/resolve.ts';
import { GroupSettingsInForce } from '../../src/group-settings.ts';
import { allowAll } from '../../src/server/authorize.ts';
import { brokerConfigResources } from '../../src/server/broker-config-resources.ts';
import { groupConfigResources } from '../../src/server/group-config-resources.ts';
import type { HandlerParts } from '../../src/server/handler-parts.ts';
import { ConfigOverrides } from '../../src/store/config-overrides.ts';
import { MemoryKeyValues } from '../../src/store/memory-key-values.ts';
import { fakeGroupCoordinator } from './fake-group-coordinator.ts';
import { KeptLog } from './kept-log.ts';

export type TestParts = HandlerParts & {
  readonly catalogue: Catalogue;
  readonly log: KeptLog;
  readonly calls: ReturnType<typeof fakeGroupCoordinator>['calls'];
};

/**
 * What standalone handlers stand on: a catalogue and settings in memory, and a coordinator that answers as told.
 *
 * @param topics partition counts by name.
 */
export async function standaloneParts(
  answers: Partial<GroupCoordinator> = {},
  options: {
    readonly topics?: Readonly<Record<string, number>>;
    readonly settings?: Readonly<Record<string, string>>;
    readonly profile?: Profile;
    /** Settings of every broker are this node's, as in a gateway. */
    readonly standsForAll?: boolean;
    /** Of an earlier call, for a start with what was kept then. */
    readonly keyValues?: MemoryKeyValues;
  } = {},
): Promise<TestParts> {
  const { topics = {}, settings = {}, profile = 'kip', standsForAll = false } = options;
  const { keyValues = new MemoryKeyValues() } = options;
  let ids = 0;
  const random = (count: number) => {
    ids += 1;
    return new Uint8Array(count).fill(ids);
  };
  const catalogue = await Catalogue.open({ keyValues, random, defaultPartitionCount: 3 });
  for (const [name, partitionCount] of Object.entries(topics)) {
    const wanted = { name, partitionCount, replicationFactor: 1, configs: new Map() };
    await catalogue.create(wanted, { validateOnly: false });
  }
  const overrides = await ConfigOverrides.open(keyValues);
  const { config } = resolveConfig({ flags: { 'protocol.profile': profile, ...settings } });
  const broker = brokerConfigResources({
    overrides,
    config,
    nodeId: 1,
    standsForAll,
  });
  const behaviour = resolveBehaviour(profile);
  const log = new KeptLog();
  const inForce = new GroupSettingsInForce({ config, overrides, nodeId: 1, log });
  const { coordinator, calls } = fakeGroupCoordinator(answers);
  return {
    coordinator,
    calls,
    carriesData: false,
    topics: catalogue,
    patterns: { search: async () => ({ kind: 'failed', reason: 'nobody searches here' }) },
    catalogue,
    configs: {
      topic: new TopicConfigResources(catalogue),
      broker,
      group: groupConfigResources({
        overrides,
        broker: () => inForce.broker(),
        brokerChain: broker.chain,
        behaviour,
      }),
    },
    identity: { clusterId: 'cluster-1', nodeId: 1 },
    authorizer: allowAll,
    behaviour,
    streamsEnabled: true,
    log,
  };
}
