import { apply } from '../machines/apply.ts';
import type { HeartbeatAnswer } from '../machines/commands.ts';
import { refusedAnswer } from '../machines/decide/answer.ts';
import { decideExpiry, decideTopicsDeleted } from '../machines/decide/offsets.ts';
import { decideRunOver, decideWaitOver } from '../machines/decide/target.ts';
import { topicsChanged } from '../machines/decide/topics-changed.ts';
import type {
  Context,
  GroupDecision,
  GroupSlot,
  HeldHeartbeat,
  RunOutcome,
} from '../machines/decision.ts';
import { emptySlot } from '../machines/model/empty.ts';
import { Refusal } from '../machines/model/refusal.ts';
import {
  type ShardState as Life,
  nextShardState,
  type ShardEvent,
} from '../machines/shard-machine.ts';
import { Effects } from './effects.ts';
import { decisionOfTimer } from './fired.ts';
import type { ShardStatus } from './group-coordinator.ts';
import { Jobs } from './jobs.ts';
import { loadShard } from './loader.ts';
import { errorOfLostWrite } from './log-errors.ts';
import { Mailbox } from './mailbox.ts';
import type { AnyCommand, AnyQuestion, GroupCommand, Message } from './messages.ts';
import { ParkedReplies } from './parked-replies.ts';
import { LogError } from './ports.ts';
import { countGroups, ShardState, type TimerPurpose, type Turn } from './shard-state.ts';
import { armLoadedTimers, syncTimers, waitKey } from './shard-timers.ts';
import type { ShardEnvironment } from './shards.ts';
import { Timers } from './timers.ts';

/** Messages taken in one turn; the rest waits for the next, so that sockets get their share. */
const TURN_MESSAGES_MAX = 2000;
/** Turns with the log at a time. Beyond it the shard stops deciding, its mailbox fills, and clients are told to retry. */
const TURNS_IN_FLIGHT_MAX = 64;

/**
 * One shard: an actor that owns its groups. Messages are taken one at a time; what they decide is applied at once,
 * the batches of a turn go to the log together, and answers leave when their turn is committed. Nothing here waits
 * between reading a group and writing it.
 *
 * Source: records-and-configs section 5; coordination ORD-1, ORD-2, OFF-8.
 */
export class ShardActor {
  readonly shard: number;
  readonly #env: ShardEnvironment;
  readonly #state = new ShardState();
  readonly #mailbox: Mailbox<Message>;
  readonly #timers: Timers<TimerPurpose>;
  readonly #effects: Effects;
  readonly #parked = new ParkedReplies();
  #life: Life = 'initial';
  #drainPlanned = false;
  #turn: Turn | undefined;

  constructor(shard: number, env: ShardEnvironment) {
    this.shard = shard;
    this.#env = env;
    this.#mailbox = new Mailbox(env.mailboxMax);
    this.#timers = new Timers(env.clock, (fired) => this.#inside({ kind: 'timer', fired }));
    this.#effects = new Effects({
      timers: this.#timers,
      topicCreator: env.topicCreator,
      jobs: new Jobs({
        assignor: env.assignor,
        clock: env.clock,
        deadlineMs: env.assignorRunTimeoutMs,
        metrics: env.metrics,
      }),
      runOver: (groupId, outcome) => this.#inside({ kind: 'runOver', groupId, outcome }),
    });
  }

  get life(): Life {
    return this.#life;
  }

  /** Loads the shard from its log. Until it is done, everything is answered with 14 (BA-11). Never rejects. */
  async load(): Promise<void> {
    if (!this.#enter('LOAD')) return;
    const startedMs = this.#env.clock.monotonicMs();
    try {
      const slots = await loadShard(this.shard, this.#env);
      if (this.#life !== 'loading') return;
      this.#state.slots = slots;
      this.#state.settle();
      this.#enter('LOADED');
      armLoadedTimers(this.#state.slots, this.#timers, (groupId) => this.#context(groupId));
      this.#planSweep();
      for (const slot of this.#state.slots.values()) {
        if (slot.group !== undefined)
          this.#env.watcher.groupChanged(slot.groupId, slot.group.state);
      }
      const ms = this.#env.clock.monotonicMs() - startedMs;
      this.#env.metrics.loaded(ms);
      this.#env.log.debug({ shard: this.shard, groups: slots.size, ms }, 'Shard loaded');
    } catch (cause) {
      // The log may be closed under a load that nobody waits for any more.
      if (!this.#enter('LOAD_FAILED')) return;
      this.#env.log.error({ shard: this.shard, err: cause }, 'Shard could not be loaded');
    }
    this.#planDrain();
  }

  /** Takes a message from outside. What cannot be taken is answered at once with an error that clients retry. */
  post(message: AnyCommand | AnyQuestion): void {
    if (this.#life === 'active') {
      if (this.#mailbox.offer(message)) this.#planDrain();
      else
        message.reply(
          message.refuse('COORDINATOR_LOAD_IN_PROGRESS', 'Too many requests are waiting'),
        );
      return;
    }
    const loading = this.#life === 'initial' || this.#life === 'loading';
    message.reply(
      message.refuse(loading ? 'COORDINATOR_LOAD_IN_PROGRESS' : 'NOT_COORDINATOR', null),
    );
  }

  /** Takes a message that only changes what is remembered; never refused. */
  tell(message: Extract<Message, { kind: 'topicsChanged' | 'topicsDeleted' }>): void {
    this.#inside(message);
  }

  /** Ends the shard: what waits is answered with 16, timers stop, memory is dropped (BA-15). */
  close(): void {
    if (!this.#enter('CLOSE')) return;
    this.#timers.clear();
    for (const message of this.#mailbox.drain()) {
      if (message.kind === 'command' || message.kind === 'question') {
        message.reply(message.refuse('NOT_COORDINATOR', null));
      }
    }
    for (const parked of this.#parked.takeAll()) {
      for (const reply of parked.replies) reply(refusedAnswer('NOT_COORDINATOR', null));
    }
  }

  /** Whether everything handed to the log was answered. */
  get idle(): boolean {
    return this.#state.turns.length === 0 && this.#mailbox.size === 0;
  }

  /** The committed groups, for views. */
  get committed() {
    return this.#state.committed;
  }

  status(): ShardStatus {
    return {
      shard: this.shard,
      state: this.#life,
      queued: this.#mailbox.size,
      ...countGroups(this.#state.committed),
    };
  }

  #enter(type: ShardEvent['type']): boolean {
    const next = nextShardState(this.#life, { type });
    const changed = next !== this.#life;
    this.#life = next;
    return changed;
  }

  #inside(message: Message): void {
    if (this.#life !== 'active') return;
    this.#mailbox.push(message);
    this.#planDrain();
  }

  #planDrain(): void {
    if (this.#drainPlanned || this.#mailbox.size === 0 || this.#life !== 'active') return;
    if (this.#state.turns.length >= TURNS_IN_FLIGHT_MAX) return;
    this.#drainPlanned = true;
    this.#env.clock.soon(() => this.#drain());
  }

  #drain(): void {
    this.#drainPlanned = false;
    if (this.#life !== 'active') return;
    const startedMs = this.#env.clock.monotonicMs();
    const turn = this.#state.begin(startedMs);
    this.#turn = turn;
    for (let taken = 0; taken < TURN_MESSAGES_MAX; taken++) {
      const message = this.#mailbox.take();
      if (message === undefined) break;
      this.#take(message);
    }
    this.#turn = undefined;
    if (turn.batches.length > 0) this.#handOver(turn);
    else this.#state.settle();
    this.#env.metrics.processed(this.#env.clock.monotonicMs() - startedMs);
    this.#planDrain();
  }

  #take(message: Message): void {
    switch (message.kind) {
      case 'command':
        this.#command(message);
        return;
      case 'question':
        this.#question(message);
        return;
      case 'timer':
        if (this.#timers.claim(message.fired)) this.#fired(message.fired.what);
        return;
      case 'runOver':
        this.#runOver(message.groupId, message.outcome);
        return;
      case 'topicsChanged':
        for (const slot of this.#state.slots.values()) {
          const soft = topicsChanged(slot, message.names);
          if (soft !== undefined) this.#state.put({ ...slot, soft });
        }
        return;
      case 'topicsDeleted':
        for (const slot of this.#state.slots.values()) {
          this.#quietly(slot.groupId, 'topics deleted', null, (current) =>
            current === undefined ? undefined : decideTopicsDeleted(current, message.topics),
          );
        }
    }
  }

  // --- commands -------------------------------------------------------------------------------------------------

  #command(command: AnyCommand): void {
    const { groupId } = command;
    try {
      const decision = command.decide(this.#state.get(groupId), this.#context(groupId));
      if (decision === undefined) return;
      const slot = this.#carryOut(groupId, command.cause, command.memberId, decision);
      if (decision.reply.kind === 'held') this.#park(groupId, decision.reply.held, command.reply);
      else this.#answer(groupId, command, decision.reply.value);
      this.#endWaitOfTheGone(groupId, slot);
    } catch (cause) {
      this.#refuse(command, cause);
    }
  }

  #park(groupId: string, held: HeldHeartbeat, reply: (answer: HeartbeatAnswer) => void): void {
    this.#parked.park(groupId, held, reply);
    const purpose = { type: 'answerWait', groupId, run: held.run } as const;
    this.#timers.arm(waitKey(groupId), this.#env.coordinator.assignorAnswerWaitMs, purpose);
  }

  #refuse(command: AnyCommand, cause: unknown): void {
    if (cause instanceof Refusal) {
      this.#answer(command.groupId, command, command.refuse(cause.error, cause.text));
      return;
    }
    this.#env.log.error(
      { err: cause, groupId: command.groupId, cause: command.cause },
      'Decision failed',
    );
    command.reply(command.refuse('COORDINATOR_NOT_AVAILABLE', null));
  }

  #answer<T>(groupId: string, command: Pick<GroupCommand<T>, 'refuse' | 'reply'>, value: T): void {
    this.#whenCommitted(groupId, {
      send: () => command.reply(value),
      lose: (cause) => command.reply(command.refuse(errorOfLostWrite(cause), null)),
    });
  }

  /** Sends at once when nothing this group's answers depend on is still with the log (BA-4). */
  #whenCommitted(
    groupId: string | undefined,
    reply: { send: () => void; lose: (cause: unknown) => void },
  ): void {
    const turn = this.#turn;
    const own =
      turn !== undefined &&
      (groupId === undefined ? turn.batches.length > 0 : turn.touched.has(groupId));
    const waitsFor = own ? turn : this.#state.waitsFor(groupId);
    if (waitsFor === undefined) reply.send();
    else waitsFor.replies.push(reply);
  }

  #question(question: AnyQuestion): void {
    try {
      if (question.of === 'committed') {
        question.reply(question.ask(this.#state.committed));
        return;
      }
      const value = question.ask(this.#state.slots);
      this.#whenCommitted(question.groupId, {
        send: () => question.reply(value),
        lose: (cause) => question.reply(question.refuse(errorOfLostWrite(cause))),
      });
    } catch (cause) {
      this.#env.log.error({ err: cause, groupId: question.groupId }, 'Question failed');
      question.reply(question.refuse('COORDINATOR_NOT_AVAILABLE'));
    }
  }

  // --- what comes from inside -------------------------------------------------------------------------------------

  #fired(purpose: TimerPurpose): void {
    if (purpose.type === 'sweep') this.#sweep();
    else if (purpose.type === 'answerWait') this.#endWait(purpose.groupId, purpose.run);
    else {
      const { cause, memberId, decide } = decisionOfTimer(purpose);
      this.#quietly(
        purpose.groupId,
        cause,
        memberId,
        (slot, context) => slot && decide(slot, context),
      );
    }
  }

  /** A decision nobody waits for. */
  #quietly(
    groupId: string,
    cause: string,
    memberId: string | null,
    decide: (slot: GroupSlot | undefined, context: Context) => GroupDecision<unknown> | undefined,
  ): void {
    try {
      const decision = decide(this.#state.get(groupId), this.#context(groupId));
      if (decision === undefined) return;
      const slot = this.#carryOut(groupId, cause, memberId, decision);
      this.#endWaitOfTheGone(groupId, slot);
    } catch (error) {
      this.#env.log.error({ err: error, groupId, memberId, cause }, 'Decision failed');
    }
  }

  #runOver(groupId: string, outcome: RunOutcome): void {
    const slot = this.#state.get(groupId);
    const parked = this.#parked.take(groupId, outcome.run);
    if (parked !== undefined) this.#timers.cancel(waitKey(groupId));
    try {
      const decision = slot && decideRunOver(slot, outcome, parked?.held, this.#context(groupId));
      if (decision !== undefined) {
        this.#carryOut(groupId, 'target ready', parked?.held.request.memberId ?? null, decision);
        if (
          decision.reply.kind === 'answer' &&
          decision.reply.value !== undefined &&
          parked !== undefined
        ) {
          this.#answerParked(groupId, parked.replies, decision.reply.value);
          return;
        }
      }
    } catch (cause) {
      this.#env.log.error(
        { err: cause, groupId, run: outcome.run },
        'Target could not be installed',
      );
    }
    if (parked !== undefined) this.#answerWithout(groupId, parked);
  }

  #endWait(groupId: string, run: number): void {
    const parked = this.#parked.take(groupId, run);
    if (parked !== undefined) this.#answerWithout(groupId, parked);
  }

  /** Answers a parked heartbeat with what its member has, run or no run. */
  #answerWithout(groupId: string, parked: NonNullable<ReturnType<ParkedReplies['get']>>): void {
    try {
      const decision = decideWaitOver(
        this.#state.get(groupId),
        parked.held,
        this.#context(groupId),
      );
      this.#carryOut(groupId, 'heartbeat', parked.held.request.memberId, decision);
      if (decision.reply.kind === 'answer')
        this.#answerParked(groupId, parked.replies, decision.reply.value);
    } catch (cause) {
      const refused =
        cause instanceof Refusal
          ? refusedAnswer(cause.error, cause.text)
          : refusedAnswer('COORDINATOR_NOT_AVAILABLE', null);
      if (!(cause instanceof Refusal))
        this.#env.log.error({ err: cause, groupId }, 'Decision failed');
      this.#answerParked(groupId, parked.replies, refused);
    }
  }

  #answerParked(
    groupId: string,
    replies: readonly ((answer: HeartbeatAnswer) => void)[],
    answer: HeartbeatAnswer,
  ): void {
    for (const reply of replies) this.#answer(groupId, { reply, refuse: refusedAnswer }, answer);
  }

  /** A member that left or was fenced while its answer waited gets the answer it would get now (OFF-8). */
  #endWaitOfTheGone(groupId: string, slot: GroupSlot | undefined): void {
    const parked = this.#parked.get(groupId);
    if (parked === undefined || slot?.group?.members.has(parked.held.request.memberId)) return;
    this.#parked.takeAny(groupId);
    this.#timers.cancel(waitKey(groupId));
    this.#answerWithout(groupId, parked);
  }

  #planSweep(): void {
    this.#timers.arm('sweep', this.#env.offsetsRetentionCheckMs, { type: 'sweep' });
  }

  #sweep(): void {
    for (const slot of this.#state.slots.values()) {
      this.#quietly(slot.groupId, 'expired', null, (current, context) => {
        const decision = current && decideExpiry(current, context);
        if (decision?.reply.kind === 'answer')
          this.#env.metrics.offsetsExpired(decision.reply.value);
        return decision;
      });
    }
    this.#planSweep();
  }

  // --- carrying out -----------------------------------------------------------------------------------------------

  /** Applies a decision and takes its effects in hand. What it writes joins the turn. */
  #carryOut(
    groupId: string,
    cause: string,
    memberId: string | null,
    decision: GroupDecision<unknown>,
  ): GroupSlot | undefined {
    const turn = this.#turn;
    const before = this.#state.get(groupId);
    if (
      decision.records.length === 0 &&
      decision.effects.length === 0 &&
      before?.soft === decision.soft
    )
      return before;
    let slot = before ?? emptySlot(groupId);
    for (const record of decision.records) slot = apply(slot, record);
    if (slot.soft !== decision.soft) slot = { ...slot, soft: decision.soft };
    this.#state.put(slot);
    this.#countHurried(before, slot);
    if (decision.records.length > 0 && turn !== undefined) {
      turn.batches.push({
        shard: this.shard,
        timestampMs: this.#env.clock.nowMs(),
        records: decision.records,
      });
      if (!turn.touched.has(groupId)) turn.touched.set(groupId, before);
      if (
        (cause === 'heartbeat' || cause === 'join') &&
        slot.group !== undefined &&
        slot.group.groupEpoch > (before?.group?.groupEpoch ?? 0)
      ) {
        this.#env.metrics.rebalanced();
      }
    }
    if (decision.because.length > 0) this.#remember(slot, cause, memberId, decision.because);
    for (const effect of decision.effects) this.#effects.carryOut(groupId, effect);
    return slot;
  }

  #remember(
    slot: GroupSlot,
    cause: string,
    memberId: string | null,
    because: readonly string[],
  ): void {
    const entry = {
      groupId: slot.groupId,
      atMs: this.#env.clock.nowMs(),
      groupEpoch: slot.group?.groupEpoch ?? 0,
      assignmentEpoch: slot.group?.assignmentEpoch ?? 0,
      state: slot.group?.state ?? ('Dead' as const),
      cause,
      memberId,
      because,
    };
    if (this.#turn === undefined) this.#env.journal.write(entry);
    else this.#turn.journal.push(entry);
  }

  #countHurried(before: GroupSlot | undefined, after: GroupSlot | undefined): void {
    this.#env.hurried.count +=
      (after?.soft.hurriedMembers ?? 0) - (before?.soft.hurriedMembers ?? 0);
  }

  #context(groupId: string): Context {
    const env = this.#env;
    return {
      nowMs: env.clock.nowMs(),
      settings: env.settings.group(groupId),
      coordinator: env.coordinator,
      behaviour: env.behaviour,
      topics: env.topics.view(),
      freshIncarnation: env.nextIncarnation(),
      mayHurry: env.hurried.count < env.hurriedMembersMax,
      creationFailures: env.creationFailures,
    };
  }

  // --- the log ----------------------------------------------------------------------------------------------------

  #handOver(turn: Turn): void {
    this.#state.handOver(turn);
    // Nobody waits for the log without end; what was written may still be committed later (BA-9).
    const cancelDeadline = this.#env.clock.after(this.#env.commitTimeoutMs, () => {
      this.#env.log.error({ shard: this.shard }, 'Records were not written in time');
      const cause = new LogError('REQUEST_TIMED_OUT', 'Writing records: not durable in time');
      for (const reply of turn.replies.splice(0)) reply.lose(cause);
    });
    this.#env.recordLog.append(turn.batches).then(
      () => {
        cancelDeadline();
        this.#committed(turn);
      },
      (cause: unknown) => {
        cancelDeadline();
        this.#lost(turn, cause);
      },
    );
  }

  #committed(turn: Turn): void {
    if (!this.#state.turns.includes(turn)) return;
    this.#state.commit(turn);
    this.#env.metrics.committed(this.#env.clock.monotonicMs() - turn.handedOverAtMs);
    for (const entry of turn.journal) this.#env.journal.write(entry);
    for (const groupId of turn.touched.keys()) {
      const state = turn.after.get(groupId)?.group?.state;
      this.#env.watcher.groupChanged(groupId, state ?? 'Dead');
    }
    for (const reply of turn.replies) reply.send();
    this.#planDrain();
  }

  /** Everything from the first lost turn on goes back to the last committed state (BA-3). */
  #lost(turn: Turn, cause: unknown): void {
    if (!this.#state.turns.includes(turn)) return;
    const decided = this.#state.slots;
    const lost = this.#state.rollBack(this.#env.nextIncarnation);
    this.#env.log.error(
      { err: cause, shard: this.shard, turns: lost.length },
      'Records could not be written',
    );
    const touched = new Set(lost.flatMap((each) => [...each.touched.keys()]));
    for (const groupId of touched) {
      const slot = this.#state.get(groupId);
      this.#countHurried(decided.get(groupId), slot);
      syncTimers(groupId, slot, decided.get(groupId), this.#timers, this.#context(groupId));
      const parked = this.#parked.takeAny(groupId);
      for (const reply of parked?.replies ?? [])
        reply(refusedAnswer(errorOfLostWrite(cause), null));
    }
    for (const each of lost) for (const reply of each.replies) reply.lose(cause);
    this.#planDrain();
  }
}
