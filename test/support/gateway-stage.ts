import { FakeCluster } from './fake-cluster.ts';
import { ManualClock } from './manual-clock.ts';
import { type OpenGateway, openGateway } from './open-gateway.ts';

/** A gateway in front of a cluster that is none, on a clock that moves when told. */
export class GatewayStage {
  readonly clock: ManualClock;
  readonly cluster: FakeCluster;
  /** The placeholder's in group `g`: abs(hash of "g") mod 50 = 103 mod 50. */
  readonly instanceId = 'headgate-shard-3';
  /** The heartbeat of a member that joins group `g`. */
  readonly join = { groupId: 'g', memberId: 'm', memberEpoch: 0 };
  #open: OpenGateway;

  private constructor(clock: ManualClock, cluster: FakeCluster, open: OpenGateway) {
    this.clock = clock;
    this.cluster = cluster;
    this.#open = open;
  }

  static async start(): Promise<GatewayStage> {
    const clock = new ManualClock();
    const cluster = await FakeCluster.open(clock);
    return new GatewayStage(clock, cluster, await openGateway(cluster, clock));
  }

  get open(): OpenGateway {
    return this.#open;
  }

  /** Another gateway in the place of this one, which is stopped; the groups are as they were. */
  async restart(): Promise<OpenGateway> {
    const { groups } = this.#open;
    await this.#open.stop();
    this.#open = await openGateway(this.cluster, this.clock, { groups });
    return this.#open;
  }

  /** From a client of its own. */
  async heartbeat(body: object = this.join) {
    const client = await this.open.client(1);
    return client.call('StreamsGroupHeartbeat', 1, body);
  }

  /** Group `g` is in this state now, as the coordinator committed it; Dead: there is none. */
  becomes(state: 'Stable' | 'Empty' | 'Dead'): void {
    const { groups, gateway } = this.open;
    if (state === 'Dead') groups.states.delete('g');
    else groups.states.set('g', state);
    gateway.groupWatcher.groupChanged('g', state);
  }

  async stop(): Promise<void> {
    await this.open.stop();
    await this.cluster.stop();
  }
}
