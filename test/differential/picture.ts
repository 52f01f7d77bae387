import { type Fields, type HistoryHead, NO_TASKS, type OwnedTasks, type Step } from './history.ts';

/** A member as its client sees it. */
export type PicturedMember = {
  readonly alias: string;
  readonly fields: Fields;
  /** The epoch it was told last; 0 before its first join. */
  readonly epoch: number;
  readonly owned: OwnedTasks;
  readonly joined: boolean;
  /** It was told tasks and has not confirmed them. */
  readonly unacknowledged: boolean;
  /** It was fenced or forgotten: a client would join again. */
  readonly mustJoin: boolean;
  /** It left with epoch -2 and may come back. */
  readonly onBreak: boolean;
};

const HEARTBEATS = new Set(['join', 'beat', 'ack', 'leave']);
const FENCING_ERRORS = new Set([25, 82, 110]);

/**
 * What clients know of a group from the answers so far, so that the next step can follow from them. It is folded from
 * answers that two servers gave alike, so it is the same for both.
 */
export class Picture {
  readonly head: HistoryHead;
  readonly topics: Map<string, number>;
  /** Whether a topic was deleted and has come back with fewer partitions. */
  hasShrunk = false;
  /** Whether there is a streams group, with members or without. */
  hasGroup = false;
  readonly #deleted = new Map<string, number>();
  readonly #members = new Map<string, PicturedMember>();

  constructor(head: HistoryHead) {
    this.head = head;
    this.topics = new Map(Object.entries(head.topics));
    for (const [alias, fields] of Object.entries(head.members)) {
      this.#members.set(alias, {
        alias,
        fields,
        epoch: 0,
        owned: NO_TASKS,
        joined: false,
        unacknowledged: false,
        mustJoin: false,
        onBreak: false,
      });
    }
  }

  get members(): readonly PicturedMember[] {
    return [...this.#members.values()];
  }

  get joined(): readonly PicturedMember[] {
    return this.members.filter(({ joined }) => joined);
  }

  /** How many places of the group are taken, by members that are there or on a break. */
  get places(): number {
    return this.members.filter(({ joined, onBreak }) => joined || onBreak).length;
  }

  /** Members that may well speak: not those whose instance id another life of theirs has. */
  get rightful(): readonly PicturedMember[] {
    return this.members.filter((one) => {
      const holder = this.#holderOf(one);
      return holder === undefined || holder.alias === one.alias;
    });
  }

  /** Other lives of a member that is on a break, itself included. */
  livesOf({ fields }: PicturedMember): readonly PicturedMember[] {
    return this.members.filter((one) => one.fields['instanceId'] === fields['instanceId']);
  }

  #holderOf({ fields: { instanceId } }: PicturedMember): PicturedMember | undefined {
    if (instanceId === undefined) return undefined;
    return this.members.find(
      (one) => one.fields['instanceId'] === instanceId && (one.joined || one.onBreak),
    );
  }

  /** Takes in what a step was answered. */
  learn(step: Step, answer: unknown): void {
    if (HEARTBEATS.has(step.do)) this.#learnHeartbeat(step, (answer ?? {}) as Fields);
    if (step.do === 'settle') this.#learnSettled((answer ?? {}) as Fields);
    if (step.do === 'deleteGroup') this.#learnDeleted((answer ?? {}) as Fields);
    this.#learnTopics(step, (answer ?? {}) as Fields);
  }

  #learnHeartbeat(step: Step, answer: Fields): void {
    const known = this.#members.get(step.as ?? '');
    if (known === undefined || step['lose'] === true) return;
    const errorCode = Number(answer['errorCode'] ?? 0);
    if (FENCING_ERRORS.has(errorCode)) this.#members.set(known.alias, { ...known, mustJoin: true });
    if (errorCode !== 0 || 'failure' in answer) return;
    const epoch = Number(answer['memberEpoch']);
    const joined = epoch >= 0;
    this.hasGroup = true;
    const told = answer['activeTasks'] !== undefined;
    if (joined && known.fields['instanceId'] !== undefined) {
      for (const other of this.livesOf(known)) {
        this.#members.set(other.alias, { ...other, joined: false, onBreak: false });
      }
    }
    this.#members.set(known.alias, {
      ...known,
      epoch,
      joined,
      mustJoin: false,
      onBreak: epoch === -2,
      owned: told ? tasksOf(answer) : step.do === 'join' ? NO_TASKS : known.owned,
      unacknowledged: joined && (told || (known.unacknowledged && step.do !== 'ack')),
    });
  }

  #learnSettled(answer: Fields): void {
    for (const [alias, member] of Object.entries((answer['members'] ?? {}) as Fields)) {
      const known = this.#members.get(alias);
      const told = member as Fields;
      if (known === undefined || 'errorCode' in told) continue;
      const epoch = Number(told['memberEpoch']);
      this.#members.set(alias, { ...known, epoch, owned: tasksOf(told), unacknowledged: false });
    }
  }

  #learnDeleted(answer: Fields): void {
    const results = (answer['results'] ?? []) as readonly Fields[];
    const isGone = results.some(
      ({ groupId, errorCode }) => groupId === '{group}' && errorCode === 0,
    );
    if (isGone) this.hasGroup = false;
  }

  #learnTopics(step: Step, answer: Fields): void {
    if (step.do === 'createTopics' || step.do === 'createPartitions') {
      for (const [name, count] of Object.entries(step['topics'] as Record<string, number>)) {
        if (answer[name] !== 0) continue;
        this.topics.set(name, count);
        this.hasShrunk ||= count < (this.#deleted.get(name) ?? 0);
      }
    }
    if (step.do === 'deleteTopics') {
      for (const name of step['topics'] as readonly string[]) {
        if (answer[name] !== 0) continue;
        this.#deleted.set(name, this.topics.get(name) ?? 0);
        this.topics.delete(name);
      }
    }
  }
}

function tasksOf(answer: Fields): OwnedTasks {
  const { activeTasks = {}, standbyTasks = {}, warmupTasks = {} } = answer as Partial<OwnedTasks>;
  return { activeTasks, standbyTasks, warmupTasks };
}
