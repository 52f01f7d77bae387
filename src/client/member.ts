import { randomUUID } from 'node:crypto';
import type { RequestInput, RequestOf, ResponseOf } from '../wire/apis.ts';
import { errorName } from '../wire/errors.ts';
import { ClientError } from './client-error.ts';
import { type BrokerAddress, ClientConnection } from './connection.ts';

export type HeartbeatAnswer = ResponseOf<'StreamsGroupHeartbeat'>;
export type MemberTopology = NonNullable<RequestInput<'StreamsGroupHeartbeat'>['topology']>;
type TaskIds = NonNullable<RequestOf<'StreamsGroupHeartbeat'>['activeTasks']>;

/** Tasks by role, as the wire has them. */
export type MemberTasks = {
  readonly activeTasks: TaskIds;
  readonly standbyTasks: TaskIds;
  readonly warmupTasks: TaskIds;
};

export type MemberOptions = {
  readonly groupId: string;
  /** Left out: one subtopology without state that reads `topics`. */
  readonly topology?: MemberTopology;
  readonly topics?: readonly string[];
  /** Left out: a new UUID. */
  readonly memberId?: string;
  /** Left out: a process of its own. */
  readonly processId?: string;
  readonly rebalanceTimeoutMs?: number;
};

/**
 * Throws when a heartbeat was answered with an error.
 *
 * @param what completes "Cannot …".
 * @throws {ClientError} `refused`, with the error's name and text.
 */
export function expectAccepted({ errorCode, errorMessage }: HeartbeatAnswer, what: string): void {
  if (errorCode === 0) return;
  const error = errorName(errorCode);
  const reason = errorMessage ?? 'the broker gives no reason';
  throw new ClientError('refused', `Cannot ${what}: ${error}: ${reason}`, { error });
}

const JOIN_EPOCH = 0;
const LEAVE_EPOCH = -1;
const REBALANCE_TIMEOUT_MS = 300_000;
const NO_TASKS: MemberTasks = { activeTasks: [], standbyTasks: [], warmupTasks: [] };

/**
 * A member of a streams group that is led by hand: it sends a heartbeat when told and processes nothing. As a real client
 * it says what it owns only when that changed.
 */
export class ScriptedMember {
  readonly memberId: string;
  readonly processId: string;
  readonly #connection: ClientConnection;
  readonly #options: MemberOptions;
  #memberEpoch = JOIN_EPOCH;
  #owned: MemberTasks = NO_TASKS;
  #given: MemberTasks = NO_TASKS;
  #ownedIsNews = false;

  constructor(connection: ClientConnection, options: MemberOptions) {
    this.#connection = connection;
    this.#options = options;
    this.memberId = options.memberId ?? randomUUID();
    this.processId = options.processId ?? randomUUID();
  }

  /** A member on a connection of its own, which {@link close} ends. */
  static async connect({ host, port, ...options }: BrokerAddress & MemberOptions) {
    const connection = await ClientConnection.open({ host, port }, { clientId: 'scripted' });
    return new ScriptedMember(connection, options);
  }

  get memberEpoch(): number {
    return this.#memberEpoch;
  }

  /** The tasks it says it runs. */
  get owned(): MemberTasks {
    return this.#owned;
  }

  /** The tasks it was given last. */
  get given(): MemberTasks {
    return this.#given;
  }

  /** Joins from nothing, with the whole topology. */
  join(): Promise<HeartbeatAnswer> {
    this.#owned = NO_TASKS;
    this.#given = NO_TASKS;
    return this.#send({
      memberEpoch: JOIN_EPOCH,
      topology: this.#options.topology ?? plainTopology(this.#options.topics ?? []),
      rebalanceTimeoutMs: this.#options.rebalanceTimeoutMs ?? REBALANCE_TIMEOUT_MS,
      processId: this.processId,
      clientTags: [],
      ...NO_TASKS,
    });
  }

  /** A heartbeat; carries the owned tasks if {@link adopt} changed them since they were last sent. */
  beat(): Promise<HeartbeatAnswer> {
    return this.#send({
      memberEpoch: this.#memberEpoch,
      ...(this.#ownedIsNews ? this.#owned : {}),
    });
  }

  /** Starts and stops tasks until it runs what it was given; the next heartbeat says so. */
  adopt(): void {
    this.#owned = this.#given;
    this.#ownedIsNews = true;
  }

  /** {@link adopt}, and the heartbeat that says so. */
  acknowledge(): Promise<HeartbeatAnswer> {
    this.adopt();
    return this.beat();
  }

  /** Leaves for good. */
  async leave(): Promise<HeartbeatAnswer> {
    const answer = await this.#send({ memberEpoch: LEAVE_EPOCH });
    this.#owned = NO_TASKS;
    this.#given = NO_TASKS;
    return answer;
  }

  /** Ends its connection, without a word to the group. */
  close(): void {
    this.#connection.close();
  }

  async #send(
    fields: RequestInput<'StreamsGroupHeartbeat'> & { readonly memberEpoch: number },
  ): Promise<HeartbeatAnswer> {
    const answer = await this.#connection.request('StreamsGroupHeartbeat', {
      groupId: this.#options.groupId,
      memberId: this.memberId,
      endpointInformationEpoch: -1,
      ...fields,
    });
    if (answer.errorCode !== 0) return answer;
    if (fields.activeTasks !== undefined) this.#ownedIsNews = false;
    this.#memberEpoch = answer.memberEpoch;
    const { activeTasks, standbyTasks, warmupTasks } = answer;
    if (activeTasks !== null && standbyTasks !== null && warmupTasks !== null) {
      this.#given = { activeTasks, standbyTasks, warmupTasks };
    }
    return answer;
  }
}

function plainTopology(sourceTopics: readonly string[]): MemberTopology {
  return { epoch: 0, subtopologies: [{ subtopologyId: '0', sourceTopics }] };
}
