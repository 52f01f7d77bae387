import type { Clock } from '../../actors/ports.ts';
import type { ResponseInput } from '../../src/wire/apis.ts';
import { errorCode } from '../../src/wire/errors.ts';
import type { FakeBrokerOptions } from './fake-broker.ts';
import { FakeBroker } from './fake-broker.ts';

type ClassicMember = { memberId: string; instanceId: string | null };

/** A classic group upstream, as far as a placeholder and its commits need one. */
export type ClassicGroup = {
  protocolType: string;
  generationId: number;
  members: ClassicMember[];
  /** Of the consumer protocol instead; no client of that is played here. */
  isConsumerGroup?: boolean;
  readonly offsets: Map<string, bigint>;
};

export type FakeTopic = { topicId: string; partitionCount: number };

/** The host of every broker upstream: no client's answer may carry it. The gateway's own is 127.0.0.1. */
export const UPSTREAM_HOST = 'localhost';

/** Some brokers of one cluster: metadata, coordinators, classic groups with static members, offsets. */
export class FakeCluster {
  readonly clusterId = 'fake-cluster';
  readonly brokers: FakeBroker[] = [];
  readonly topics = new Map<string, FakeTopic>();
  readonly groups = new Map<string, ClassicGroup>();
  /** Coordinates all groups. */
  coordinatorId = 1;
  private members = 0;

  static async open(
    clock: Clock,
    brokerCount = 1,
    options: Pick<FakeBrokerOptions, 'versions' | 'features'> = {},
  ): Promise<FakeCluster> {
    const cluster = new FakeCluster();
    for (let nodeId = 1; nodeId <= brokerCount; nodeId++) {
      const { clusterId } = cluster;
      const broker = await FakeBroker.open({ nodeId, clusterId, clock, ...options });
      cluster.brokers.push(broker);
      cluster.script(broker);
    }
    return cluster;
  }

  broker(nodeId: number): FakeBroker {
    const broker = this.brokers.find((one) => one.nodeId === nodeId);
    if (broker === undefined) throw new Error(`No broker ${nodeId}`);
    return broker;
  }

  /** Adds a broker while the cluster runs. */
  async add(clock: Clock, nodeId: number): Promise<FakeBroker> {
    const broker = await FakeBroker.open({ nodeId, clusterId: this.clusterId, clock });
    this.brokers.push(broker);
    this.script(broker);
    return broker;
  }

  async stop(): Promise<void> {
    await Promise.all(this.brokers.map((broker) => broker.stop()));
  }

  group(groupId: string): ClassicGroup {
    const known = this.groups.get(groupId);
    if (known !== undefined) return known;
    const made = { protocolType: '', generationId: 0, members: [], offsets: new Map() };
    this.groups.set(groupId, made);
    return made;
  }

  nodes() {
    return this.brokers.map(({ nodeId, port }) => ({
      nodeId,
      host: UPSTREAM_HOST,
      port,
      rack: `rack-${nodeId}`,
    }));
  }

  private script(broker: FakeBroker): void {
    broker.on('Metadata', ({ topics }) => this.metadata(topics?.map(({ name }) => name ?? '')));
    broker.on('FindCoordinator', ({ key, coordinatorKeys }, { apiVersion }) => {
      const node = this.nodes().find(({ nodeId }) => nodeId === this.coordinatorId);
      if (node === undefined) throw new Error('The coordinator is no broker');
      const { nodeId, host, port } = node;
      if (apiVersion < 4) return { nodeId, host, port, errorMessage: key };
      return { coordinators: coordinatorKeys.map((each) => ({ key: each, nodeId, host, port })) };
    });
    broker.on('DescribeCluster', () => ({
      clusterId: this.clusterId,
      controllerId: 1,
      brokers: this.nodes().map(({ nodeId, host, port }) => ({ brokerId: nodeId, host, port })),
    }));
    broker.on('JoinGroup', (body) => this.join(body));
    broker.on('ConsumerGroupDescribe', ({ groupIds }) => ({
      groups: groupIds.map((groupId) => {
        const isThere = this.groups.get(groupId)?.isConsumerGroup === true;
        return { groupId, errorCode: isThere ? 0 : errorCode('GROUP_ID_NOT_FOUND') };
      }),
    }));
    broker.on('SyncGroup', ({ groupId, memberId }) => this.judged(groupId, memberId));
    broker.on('Heartbeat', ({ groupId, memberId, groupInstanceId }) =>
      this.judged(groupId, memberId, groupInstanceId),
    );
    broker.on('LeaveGroup', ({ groupId, members }) => {
      const joined = this.groups.get(groupId)?.members ?? [];
      const left = members.map(({ memberId, groupInstanceId }) => {
        const at = joined.findIndex((one) => one.instanceId === groupInstanceId);
        if (at >= 0) joined.splice(at, 1);
        return { memberId, groupInstanceId, errorCode: at < 0 ? 25 : 0 };
      });
      return { members: left };
    });
    broker.on('OffsetCommit', (body) => this.commit(body));
    broker.on('TxnOffsetCommit', (body) => this.commit(body));
    broker.on('OffsetFetch', ({ groups }) => ({
      groups: groups.map(({ groupId, topics }) => ({
        groupId,
        topics: (topics ?? []).map(({ name, partitionIndexes }) => ({
          name,
          partitions: partitionIndexes.map((partitionIndex) => ({
            partitionIndex,
            committedOffset:
              this.groups.get(groupId)?.offsets.get(`${name} ${partitionIndex}`) ?? -1n,
            metadata: '',
          })),
        })),
      })),
    }));
    broker.on('OffsetDelete', ({ groupId, topics }) => {
      const group = this.groups.get(groupId);
      if (group === undefined) return { errorCode: errorCode('GROUP_ID_NOT_FOUND') };
      if (group.members.length > 0) return { errorCode: errorCode('NON_EMPTY_GROUP') };
      return {
        topics: topics.map(({ name, partitions }) => ({
          name,
          partitions: partitions.map(({ partitionIndex }) => {
            group.offsets.delete(`${name} ${partitionIndex}`);
            return { partitionIndex };
          }),
        })),
      };
    });
    broker.on('DeleteGroups', ({ groupsNames }) => ({
      results: groupsNames.map((groupId) => {
        const group = this.groups.get(groupId);
        if (group === undefined) return { groupId, errorCode: errorCode('GROUP_ID_NOT_FOUND') };
        if (group.members.length > 0) return { groupId, errorCode: errorCode('NON_EMPTY_GROUP') };
        this.groups.delete(groupId);
        return { groupId };
      }),
    }));
    broker.on('ListGroups', ({ typesFilter }) => ({
      groups: [...this.groups]
        .map(([groupId, { protocolType, members, isConsumerGroup }]) => ({
          groupId,
          protocolType,
          groupState: members.length > 0 ? 'Stable' : 'Empty',
          groupType: isConsumerGroup === true ? 'consumer' : 'classic',
        }))
        .filter(({ groupType }) => typesFilter.length === 0 || typesFilter.includes(groupType)),
    }));
    broker.on('CreateTopics', ({ topics }) => ({
      topics: topics.map(({ name, numPartitions }) => {
        if (this.topics.has(name)) return { name, errorCode: errorCode('TOPIC_ALREADY_EXISTS') };
        this.setTopic(name, numPartitions);
        return { name, numPartitions };
      }),
    }));
  }

  setTopic(name: string, partitionCount: number): void {
    const known = this.topics.get(name);
    const topicId = known?.topicId ?? `${name}-`.padEnd(21, 'x').slice(0, 21).concat('A');
    this.topics.set(name, { topicId, partitionCount });
  }

  private metadata(names: readonly string[] | undefined): ResponseInput<'Metadata'> {
    return {
      brokers: this.nodes(),
      clusterId: this.clusterId,
      controllerId: 1,
      topics: (names ?? [...this.topics.keys()]).map((name) => {
        const topic = this.topics.get(name);
        if (topic === undefined)
          return { name, errorCode: errorCode('UNKNOWN_TOPIC_OR_PARTITION') };
        const partitions = Array.from({ length: topic.partitionCount }, (_, partitionIndex) => ({
          partitionIndex,
          leaderId: 1,
          replicaNodes: [1],
          isrNodes: [1],
        }));
        return { name, topicId: topic.topicId, partitions };
      }),
    };
  }

  private join(body: {
    readonly groupId: string;
    readonly protocolType: string;
    readonly groupInstanceId: string | null;
  }): ResponseInput<'JoinGroup'> {
    const { groupId, protocolType, groupInstanceId: instanceId } = body;
    const group = this.group(groupId);
    if (group.members.length > 0 && group.protocolType !== protocolType) {
      return { errorCode: errorCode('INCONSISTENT_GROUP_PROTOCOL') };
    }
    // A broker dissolves an empty consumer group for a classic member.
    group.isConsumerGroup = false;
    group.protocolType = protocolType;
    this.members += 1;
    const memberId = `member-${this.members}`;
    const known = group.members.find((one) => one.instanceId === instanceId);
    if (known === undefined) {
      group.generationId += 1;
      group.members.push({ memberId, instanceId });
    } else known.memberId = memberId;
    const { generationId } = group;
    return {
      generationId,
      memberId,
      leader: memberId,
      protocolType,
      protocolName: 'placeholder',
      members: [{ memberId, groupInstanceId: instanceId, metadata: Buffer.alloc(0) }],
    };
  }

  private judged(groupId: string, memberId: string, instanceId: string | null = null) {
    return { errorCode: this.judge(this.group(groupId), memberId, instanceId) };
  }

  private judge(group: ClassicGroup, memberId: string, instanceId: string | null): number {
    if (instanceId !== null) {
      const holder = group.members.find((one) => one.instanceId === instanceId);
      if (holder === undefined) return errorCode('UNKNOWN_MEMBER_ID');
      if (holder.memberId !== memberId) return errorCode('FENCED_INSTANCE_ID');
    }
    const isKnown = group.members.some((one) => one.memberId === memberId);
    return isKnown ? 0 : errorCode('UNKNOWN_MEMBER_ID');
  }

  private commit(body: {
    readonly groupId: string;
    readonly memberId: string;
    readonly groupInstanceId: string | null;
    readonly topics: readonly {
      readonly name: string;
      readonly partitions: readonly {
        readonly partitionIndex: number;
        readonly committedOffset: bigint;
      }[];
    }[];
  }) {
    const group = this.group(body.groupId);
    const isSimple = body.memberId === '' && group.members.length === 0;
    const code = isSimple ? 0 : this.judge(group, body.memberId, body.groupInstanceId);
    return {
      topics: body.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex, committedOffset }) => {
          if (code === 0) group.offsets.set(`${name} ${partitionIndex}`, committedOffset);
          return { partitionIndex, errorCode: code };
        }),
      })),
    };
  }
}
