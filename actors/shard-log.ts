import type { GroupSlot } from '../machines/decision.ts';
import type { GroupRecord } from '../machines/records.ts';
import type { ShardEnvironment } from './environment.ts';
import type { Slots } from './messages.ts';
import { type LaterEntry, OrderedJournal } from './ordered-journal.ts';
import { type JournalEntry, LogError, type RecordBatch } from './ports.ts';
import { type ParkedReply, ShardState, type Turn } from './shard-state.ts';

/** Turns with the log at a time. Beyond it the shard stops deciding, its mailbox fills, and clients are told to retry. */
const TURNS_IN_FLIGHT_MAX = 64;

type ShardLogParts = {
  readonly shard: number;
  readonly env: Pick<
    ShardEnvironment,
    | 'assignor'
    | 'clock'
    | 'recordLog'
    | 'journal'
    | 'watcher'
    | 'metrics'
    | 'log'
    | 'commitTimeoutMs'
    | 'nextIncarnation'
  >;
  /** A turn is committed and its answers have left. */
  readonly committed: () => void;
  /** Groups went back to what is committed; each as it had been decided. Their answers leave after this. */
  readonly lost: (decided: ReadonlyMap<string, GroupSlot | undefined>, cause: unknown) => void;
};

/**
 * A shard's groups and what becomes of their changes: what one turn writes is handed to the log together, answers wait
 * for it, and what cannot be written is taken back.
 *
 * Source: records-and-configs BA-1 to BA-5, BA-9.
 */
export class ShardLog {
  readonly #parts: ShardLogParts;
  readonly #state = new ShardState();
  readonly #journal: OrderedJournal;
  /** The turn at hand, once something was written in it. */
  #turn: Turn | undefined;

  constructor(parts: ShardLogParts) {
    this.#parts = parts;
    this.#journal = new OrderedJournal(parts.env);
  }

  /** Begins with what was loaded. */
  start(slots: Slots): void {
    this.#state.slots = slots;
    this.#state.settle();
  }

  /** As decided. */
  get slots(): Slots {
    return this.#state.slots;
  }

  /** As of the last commit. */
  get committed(): Slots {
    return this.#state.committed;
  }

  get isFull(): boolean {
    return this.#state.turns.length >= TURNS_IN_FLIGHT_MAX;
  }

  /** Whether everything handed over is committed or lost. */
  get isIdle(): boolean {
    return this.#state.turns.length === 0;
  }

  get(groupId: string): GroupSlot | undefined {
    return this.#state.get(groupId);
  }

  put(slot: GroupSlot): void {
    this.#state.put(slot);
  }

  /** One operation's records as a batch that the log can take; throws `LogError` when it never could. */
  admit(records: readonly GroupRecord[]): RecordBatch {
    const { shard, env } = this.#parts;
    return env.recordLog.admit({ shard, timestampMs: env.clock.nowMs(), records });
  }

  /**
   * Adds a batch, admitted and applied, to the turn.
   *
   * @param before the group as it was before it.
   */
  write(groupId: string, before: GroupSlot | undefined, batch: RecordBatch): void {
    this.#turn ??= this.#state.begin(this.#parts.env.clock.monotonicMs());
    this.#turn.batches.push(batch);
    if (!this.#turn.touched.has(groupId)) this.#turn.touched.set(groupId, before);
  }

  /**
   * Tells the journal once the turn is committed; at once if nothing was written in it. An entry that is not made yet is
   * told when it is, and those of its group that follow after it.
   */
  remember(entry: JournalEntry | LaterEntry): void {
    if (this.#turn === undefined) this.#journal.tell(entry);
    else this.#turn.journal.push(entry);
  }

  /**
   * Sends at once when nothing that the answer depends on is still with the log (BA-4).
   *
   * @param groupId what it is about; undefined: everything in the shard.
   */
  whenCommitted(groupId: string | undefined, reply: ParkedReply): void {
    const turn = this.#turn;
    const isOfThisTurn = turn !== undefined && (groupId === undefined || turn.touched.has(groupId));
    const waitsFor = isOfThisTurn ? turn : this.#state.waitsFor(groupId);
    if (waitsFor === undefined) reply.send();
    else waitsFor.replies.push(reply);
  }

  /** Hands over what the turn wrote. */
  endTurn(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined) {
      this.#state.settle();
      return;
    }
    this.#state.handOver(turn);
    const { env, shard } = this.#parts;
    // Nobody waits for the log without end; what was written may still be committed later (BA-9).
    const cancelDeadline = env.clock.after(env.commitTimeoutMs, () => {
      env.log.error({ shard }, 'Records were not written in time');
      const cause = new LogError('REQUEST_TIMED_OUT', 'Writing records: not durable in time');
      for (const reply of turn.replies.splice(0)) reply.lose(cause);
    });
    env.recordLog.append(turn.batches).then(
      () => {
        cancelDeadline();
        this.#commit(turn);
      },
      (cause: unknown) => {
        cancelDeadline();
        this.#lose(turn, cause);
      },
    );
  }

  #commit(turn: Turn): void {
    if (!this.#state.turns.includes(turn)) return;
    const { env, committed } = this.#parts;
    this.#state.commit(turn);
    env.metrics.committed(env.clock.monotonicMs() - turn.handedOverAtMs);
    for (const entry of turn.journal) this.#journal.tell(entry);
    for (const groupId of turn.touched.keys()) {
      const group = turn.after.get(groupId)?.group;
      env.watcher.groupChanged(groupId, group?.state ?? 'Dead');
      if (group === undefined) env.assignor.forget(groupId);
    }
    for (const reply of turn.replies) reply.send();
    committed();
  }

  /** Everything from the first lost turn on goes back to the last committed state (BA-3). */
  #lose(turn: Turn, cause: unknown): void {
    if (!this.#state.turns.includes(turn)) return;
    const { env, shard, lost } = this.#parts;
    const decided = this.#state.slots;
    const turns = this.#state.rollBack(env.nextIncarnation);
    env.log.error({ err: cause, shard, turns: turns.length }, 'Records could not be written');
    const groupIds = new Set(turns.flatMap((each) => [...each.touched.keys()]));
    lost(new Map([...groupIds].map((groupId) => [groupId, decided.get(groupId)])), cause);
    for (const each of turns) for (const reply of each.replies) reply.lose(cause);
  }
}
