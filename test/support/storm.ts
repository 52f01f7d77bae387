import { expect } from 'chai';
import { AdminClient } from '../../src/client/admin.ts';
import { ClientError } from '../../src/client/client-error.ts';
import { type BrokerAddress, ClientConnection } from '../../src/client/connection.ts';
import type { HeartbeatAnswer } from '../../src/client/member.ts';
import type { RequestInput, ResponseOf } from '../../src/wire/apis.ts';
import { errorName } from '../../src/wire/errors.ts';
import type { SeededRandom } from './seeded-random.ts';

type DescribedGroup = ResponseOf<'StreamsGroupDescribe'>['groups'][number];
type Tasks = NonNullable<HeartbeatAnswer['activeTasks']>;

const TOPIC = 'in';
const PARTITIONS = 48;
/** One heartbeat in so many is a leave. */
const BEATS_PER_LEAVE = 6;
const CALM_ROUNDS_MAX = 30;

/** A member of a storm, and what the coordinator has promised it. */
class StormMember {
  readonly groupId: string;
  readonly memberId: string;
  /** The last epoch it was answered; 0: it is not in the group, or does not know. */
  memberEpoch = 0;
  /** The active tasks it was answered last. */
  given: Tasks = [];
  /** A request of it was not answered: what it asked for may have happened. */
  inDoubt = false;
  #connection: ClientConnection | undefined;

  constructor(groupId: string, memberId: string) {
    this.groupId = groupId;
    this.memberId = memberId;
  }

  async connect(address: BrokerAddress): Promise<void> {
    this.#connection = await ClientConnection.open(address, { clientId: this.memberId });
  }

  close(): void {
    this.#connection?.close();
  }

  /** Joins if it is not in the group, else says what it owns, which is all it was given. */
  async beat(): Promise<HeartbeatAnswer> {
    const owned = { activeTasks: this.given, standbyTasks: [], warmupTasks: [] };
    if (this.memberEpoch > 0) {
      return this.#send({ memberEpoch: this.memberEpoch, ...owned });
    }
    return this.#send({
      memberEpoch: 0,
      rebalanceTimeoutMs: 60_000,
      processId: `process of ${this.memberId}`,
      topology: { epoch: 0, subtopologies: [{ subtopologyId: '0', sourceTopics: [TOPIC] }] },
      clientTags: [],
      activeTasks: [],
      standbyTasks: [],
      warmupTasks: [],
    });
  }

  leave(): Promise<HeartbeatAnswer> {
    return this.#send({ memberEpoch: -1 });
  }

  async #send(fields: RequestInput<'StreamsGroupHeartbeat'>): Promise<HeartbeatAnswer> {
    if (this.#connection === undefined) throw new Error(`${this.memberId} is not connected`);
    const wasInDoubt = this.inDoubt;
    this.inDoubt = true;
    const answer = await this.#connection.request('StreamsGroupHeartbeat', {
      groupId: this.groupId,
      memberId: this.memberId,
      endpointInformationEpoch: -1,
      ...fields,
    });
    const error = errorName(answer.errorCode);
    if (error === 'NONE') this.#keep(answer);
    else {
      // Only who does not know what became of its last request may be told that it is out.
      const outOnes = ['UNKNOWN_MEMBER_ID', 'FENCED_MEMBER_EPOCH'];
      expect(outOnes, `${this.memberId}: ${answer.errorMessage}`).to.include(error);
      expect(wasInDoubt, `${this.memberId} was answered and then told ${error}`).to.equal(true);
      this.memberEpoch = 0;
      this.given = [];
    }
    this.inDoubt = false;
    return answer;
  }

  #keep({ memberEpoch, activeTasks }: HeartbeatAnswer): void {
    if (memberEpoch < 0) {
      this.memberEpoch = 0;
      this.given = [];
      return;
    }
    expect(memberEpoch, this.memberId).to.be.at.least(this.memberEpoch);
    this.memberEpoch = memberEpoch;
    if (activeTasks !== null) this.given = activeTasks;
  }
}

/** Members of several groups that join, beat and leave as fast as they are answered, until their coordinator dies. */
export class Storm {
  readonly #members: readonly StormMember[];
  readonly #groupIds: readonly string[];
  readonly #random: SeededRandom;
  /** The highest epoch of each group that anybody was told of. */
  readonly #epochsTold = new Map<string, number>();
  /** Joins sent so far. */
  joins = 0;

  constructor(options: {
    readonly members: number;
    readonly groups: number;
    readonly random: SeededRandom;
  }) {
    this.#random = options.random;
    this.#groupIds = Array.from({ length: options.groups }, (_, at) => `storm-${at}`);
    this.#members = Array.from(
      { length: options.members },
      (_, at) => new StormMember(`storm-${at % options.groups}`, `member-${at}`),
    );
  }

  static async createTopic(address: BrokerAddress): Promise<void> {
    const connection = await ClientConnection.open(address, { clientId: 'storm' });
    const { topics } = await connection.request('CreateTopics', {
      topics: [{ name: TOPIC, numPartitions: PARTITIONS, replicationFactor: 1 }],
      timeoutMs: 5_000,
    });
    connection.close();
    expect(topics.map(({ errorCode }) => errorName(errorCode))).to.deep.equal(['NONE']);
  }

  /**
   * Lets everybody go on at once and calls `kill` in the middle: when `answers` heartbeats were answered. Resolves when
   * the last member has lost its connection.
   */
  async rage(address: BrokerAddress, answers: number, kill: () => void): Promise<void> {
    let answered = 0;
    await this.#onEveryMember(async (member) => {
      await member.connect(address);
      for (;;) {
        const isLeaving = member.memberEpoch > 0 && this.#random.below(BEATS_PER_LEAVE) === 0;
        if (member.memberEpoch === 0) this.joins++;
        await (isLeaving ? member.leave() : member.beat());
        answered++;
        if (answered === answers) kill();
      }
    });
  }

  /**
   * Looks at what a restarted coordinator knows: everything answered still holds (BA-1).
   * - No group has an epoch below one that was told, or that a member of it has.
   * - A member whose every request was answered is exactly where its last answer left it; one in doubt is there or later.
   * - No task has two owners.
   */
  async check(address: BrokerAddress): Promise<void> {
    const admin = await AdminClient.connect([address], { clientId: 'storm' });
    try {
      for (const groupId of this.#groupIds) {
        const members = this.#members.filter((member) => member.groupId === groupId);
        for (const { memberEpoch } of members) this.#tell(groupId, memberEpoch);
        if (!this.#epochsTold.has(groupId)) continue;
        const { group } = await admin.describe(groupId);
        expect(group.groupEpoch, groupId).to.be.at.least(this.#epochsTold.get(groupId) ?? 0);
        this.#tell(groupId, group.groupEpoch);
        for (const member of members) checkMember(member, group);
        checkOwners(group);
      }
    } finally {
      admin.close();
    }
  }

  /** Everybody joins, beats and stays, until every group is stable with all its tasks. */
  async calmDown(address: BrokerAddress): Promise<void> {
    for (const member of this.#members) await member.connect(address);
    const admin = await AdminClient.connect([address], { clientId: 'storm' });
    for (let round = 0; ; round++) {
      await Promise.all(this.#members.map((member) => member.beat()));
      const groups = await Promise.all(this.#groupIds.map((groupId) => admin.describe(groupId)));
      if (groups.every(({ group }) => group.groupState === 'Stable')) break;
      expect(round, 'rounds until every group is stable').to.be.below(CALM_ROUNDS_MAX);
    }
    await this.check(address);
    for (const groupId of this.#groupIds) {
      const owned = this.#members
        .filter((member) => member.groupId === groupId)
        .flatMap(({ given }) => given.flatMap(({ partitions }) => partitions))
        .sort((a, b) => a - b);
      expect(owned, groupId).to.deep.equal(Array.from({ length: PARTITIONS }, (_, at) => at));
    }
    for (const member of this.#members) member.close();
    admin.close();
  }

  #tell(groupId: string, epoch: number): void {
    if (epoch > (this.#epochsTold.get(groupId) ?? 0)) this.#epochsTold.set(groupId, epoch);
  }

  /** Runs `work` until its connection is lost; whatever else goes wrong is told. */
  async #onEveryMember(work: (member: StormMember) => Promise<void>): Promise<void> {
    const outcomes = await Promise.allSettled(this.#members.map((member) => work(member)));
    for (const member of this.#members) member.close();
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      const { reason } = outcome;
      if (!(reason instanceof ClientError) || reason.failure === 'timeout') throw reason;
    }
  }
}

function checkMember(member: StormMember, { members }: DescribedGroup): void {
  const seen = members.find(({ memberId }) => memberId === member.memberId);
  if (!member.inDoubt) {
    const wanted = member.memberEpoch === 0 ? undefined : [member.memberEpoch, member.given];
    expect(seen && [seen.memberEpoch, seen.assignment.activeTasks], member.memberId).to.deep.equal(
      wanted,
    );
  } else if (seen !== undefined) {
    expect(seen.memberEpoch, member.memberId).to.be.at.least(member.memberEpoch);
  }
}

function checkOwners({ members, groupId }: DescribedGroup): void {
  const owners = new Map<number, string>();
  for (const { memberId, assignment } of members) {
    for (const partition of assignment.activeTasks.flatMap(({ partitions }) => partitions)) {
      const other = owners.get(partition);
      expect(other, `owner of ${partition} in ${groupId} beside ${memberId}`).to.equal(undefined);
      owners.set(partition, memberId);
    }
  }
}
