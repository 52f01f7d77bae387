import { apply } from '../machines/apply.ts';
import type { HeartbeatAnswer } from '../machines/commands.ts';
import { refusedAnswer } from '../machines/decide/answer.ts';
import { decideExpiry, decideTopicsDeleted } from '../machines/decide/offsets.ts';
import { decideSearch, decideSearchOver } from '../machines/decide/patterns.ts';
import { isAway } from '../machines/decide/static-member.ts';
import { decideRunOver, decideWaitOver } from '../machines/decide/target.ts';
import { topicsChanged } from '../machines/decide/topics-changed.ts';
import type {
  Context,
  Effect,
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
import { contextOf, type ShardEnvironment } from './environment.ts';
import { decisionOfTimer } from './fired.ts';
import type { ShardStatus } from './group-coordinator.ts';
import { Jobs } from './jobs.ts';
import { journalEntry } from './journal-entry.ts';
import { loadShard } from './loader.ts';
import { errorOfLostWrite } from './log-errors.ts';
import { Mailbox } from './mailbox.ts';
import type { AnyCommand, AnyQuestion, GroupCommand, Message } from './messages.ts';
import { ParkedReplies } from './parked-replies.ts';
import { ShardLog } from './shard-log.ts';
import { countGroups } from './shard-state.ts';
import { armLoadedTimers, syncTimers, waitKey } from './shard-timers.ts';
import type { TimerPurpose } from './timer-purpose.ts';
import { Timers } from './timers.ts';

/** Messages taken in one turn; the rest waits for the next, so that sockets get their share. */
const TURN_MESSAGES_MAX = 2000;

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
  readonly #log: ShardLog;
  readonly #mailbox: Mailbox<Message>;
  readonly #timers: Timers<TimerPurpose>;
  readonly #effects: Effects;
  readonly #parked = new ParkedReplies();
  #life: Life = 'initial';
  #drainPlanned = false;

  constructor(shard: number, env: ShardEnvironment) {
    this.shard = shard;
    this.#env = env;
    this.#log = new ShardLog({
      shard,
      env,
      committed: () => this.#planDrain(),
      lost: (decided, cause) => this.#lost(decided, cause),
    });
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
      patterns: env.patterns,
      runOver: (groupId, outcome) => this.#inside({ kind: 'runOver', groupId, outcome }),
      searchOver: (groupId, outcome) => this.#inside({ kind: 'searchOver', groupId, outcome }),
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
      this.#log.start(slots);
      this.#enter('LOADED');
      armLoadedTimers(this.#log.slots, this.#timers, (groupId) => contextOf(groupId, this.#env));
      this.#planSweep();
      for (const slot of this.#log.slots.values()) {
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

  /** Ends the shard: what waits is answered with 16, timers stop (BA-15). */
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
    return this.#log.isIdle && this.#mailbox.size === 0;
  }

  /** The committed groups, for views. */
  get committed() {
    return this.#log.committed;
  }

  status(): ShardStatus {
    return {
      shard: this.shard,
      state: this.#life,
      queued: this.#mailbox.size,
      ...countGroups(this.#log.committed),
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
    if (this.#log.isFull) return;
    this.#drainPlanned = true;
    this.#env.clock.soon(() => this.#drain());
  }

  #drain(): void {
    this.#drainPlanned = false;
    if (this.#life !== 'active') return;
    const startedMs = this.#env.clock.monotonicMs();
    for (let taken = 0; taken < TURN_MESSAGES_MAX; taken++) {
      const message = this.#mailbox.take();
      if (message === undefined) break;
      this.#take(message);
    }
    this.#log.endTurn();
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
      case 'searchOver':
        this.#quietly(message.groupId, 'topics searched', null, (slot, context) =>
          decideSearchOver(slot, message.outcome, context),
        );
        return;
      case 'topicsChanged':
        this.#topicsChanged(message.names);
        return;
      case 'topicsDeleted':
        for (const slot of this.#log.slots.values()) {
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
      const decision = command.decide(this.#log.get(groupId), contextOf(groupId, this.#env));
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
    // Whoever waits for an earlier run waits in vain: that run was given up, or this one would not have started.
    const earlier = this.#parked.get(groupId);
    if (earlier !== undefined && earlier.held.run !== held.run) {
      this.#parked.takeAny(groupId);
      this.#answerWithout(groupId, earlier);
    }
    this.#parked.park(groupId, held, reply);
    const purpose = { type: 'answerWait', groupId, run: held.run } as const;
    this.#timers.arm(waitKey(groupId), this.#env.coordinator.assignorAnswerWaitMs, purpose);
  }

  #refuse(command: AnyCommand, cause: unknown): void {
    if (cause instanceof Refusal) {
      this.#answer(command.groupId, command, command.refuse(cause.error, cause.text));
      return;
    }
    const error = errorOfLostWrite(cause);
    this.#env.log.error(
      { err: cause, groupId: command.groupId, cause: command.cause },
      'Decision failed',
    );
    command.reply(command.refuse(error, null));
  }

  #answer<T>(groupId: string, command: Pick<GroupCommand<T>, 'refuse' | 'reply'>, value: T): void {
    this.#log.whenCommitted(groupId, {
      send: () => command.reply(value),
      lose: (cause) => command.reply(command.refuse(errorOfLostWrite(cause), null)),
    });
  }

  #question(question: AnyQuestion): void {
    try {
      if (question.of === 'committed') {
        question.reply(question.ask(this.#log.committed));
        return;
      }
      const value = question.ask(this.#log.slots);
      this.#log.whenCommitted(question.groupId, {
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
      const decision = decide(this.#log.get(groupId), contextOf(groupId, this.#env));
      if (decision === undefined) return;
      const slot = this.#carryOut(groupId, cause, memberId, decision);
      this.#endWaitOfTheGone(groupId, slot);
    } catch (error) {
      this.#env.log.error({ err: error, groupId, memberId, cause }, 'Decision failed');
    }
  }

  #runOver(groupId: string, outcome: RunOutcome): void {
    const slot = this.#log.get(groupId);
    const parked = this.#parked.take(groupId, outcome.run);
    if (parked !== undefined) this.#timers.cancel(waitKey(groupId));
    try {
      const decision =
        slot && decideRunOver(slot, outcome, parked?.held, contextOf(groupId, this.#env));
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

  #topicsChanged(names: ReadonlySet<string>): void {
    for (const slot of this.#log.slots.values()) {
      const soft = topicsChanged(slot, names);
      if (soft === undefined) continue;
      this.#log.put({ ...slot, soft });
      if (!soft.patterns.due) continue;
      this.#quietly(slot.groupId, 'topics changed', null, (current, context) =>
        current === undefined ? undefined : decideSearch(current, context),
      );
    }
  }

  #endWait(groupId: string, run: number): void {
    const parked = this.#parked.take(groupId, run);
    if (parked !== undefined) this.#answerWithout(groupId, parked);
  }

  /** Answers a parked heartbeat with what its member has, run or no run. */
  #answerWithout(groupId: string, parked: NonNullable<ReturnType<ParkedReplies['get']>>): void {
    try {
      const decision = decideWaitOver(
        this.#log.get(groupId),
        parked.held,
        contextOf(groupId, this.#env),
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
    const member = slot?.group?.members.get(parked?.held.request.memberId ?? '');
    if (parked === undefined || (member !== undefined && !isAway(member))) return;
    this.#parked.takeAny(groupId);
    this.#timers.cancel(waitKey(groupId));
    this.#answerWithout(groupId, parked);
  }

  #planSweep(): void {
    this.#timers.arm('sweep', this.#env.offsetsRetentionCheckMs, { type: 'sweep' });
  }

  #sweep(): void {
    for (const slot of this.#log.slots.values()) {
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
    const { records, soft, effects, because } = decision;
    const before = this.#log.get(groupId);
    if (records.length > 0 || before?.soft !== soft) {
      // What the log would never take must not join a turn: it would take the others of the turn with it.
      const batch = records.length > 0 ? this.#log.admit(records) : undefined;
      let slot = before ?? emptySlot(groupId);
      for (const record of records) slot = apply(slot, record);
      if (slot.soft !== soft) slot = { ...slot, soft };
      this.#log.put(slot);
      this.#countHurried(before, slot);
      if (batch !== undefined) this.#log.write(groupId, before, batch);
      if (isRebalance(cause, before, slot)) this.#env.metrics.rebalanced();
    }
    const slot = this.#log.get(groupId);
    if (because.length > 0) {
      const nowMs = this.#env.clock.nowMs();
      this.#log.remember(journalEntry({ groupId, slot, cause, memberId, because, nowMs }));
    }
    for (const effect of effects) this.#takeInHand(groupId, effect);
    return slot;
  }

  #takeInHand(groupId: string, effect: Effect): void {
    const send = () => this.#effects.carryOut(groupId, effect);
    // A timer and a run go back with their batch; a topic that was asked for stays (C-2).
    if (effect.type === 'createTopics') this.#log.whenCommitted(groupId, { send, lose: () => {} });
    else send();
  }

  #countHurried(before: GroupSlot | undefined, after: GroupSlot | undefined): void {
    this.#env.hurried.count +=
      (after?.soft.hurriedMembers ?? 0) - (before?.soft.hurriedMembers ?? 0);
  }

  /** Groups went back to what is committed: so do their timers, and whoever waits there is told to try again. */
  #lost(decided: ReadonlyMap<string, GroupSlot | undefined>, cause: unknown): void {
    for (const [groupId, was] of decided) {
      const slot = this.#log.get(groupId);
      this.#countHurried(was, slot);
      syncTimers(groupId, slot, was, this.#timers, contextOf(groupId, this.#env));
      const parked = this.#parked.takeAny(groupId);
      for (const reply of parked?.replies ?? []) {
        reply(refusedAnswer(errorOfLostWrite(cause), null));
      }
    }
    this.#planDrain();
  }
}

/** Epochs raised by heartbeats count, those of leaves and time-outs do not (GE-9, MT-5). */
function isRebalance(cause: string, before: GroupSlot | undefined, after: GroupSlot): boolean {
  if (cause !== 'heartbeat' && cause !== 'join') return false;
  return (after.group?.groupEpoch ?? 0) > (before?.group?.groupEpoch ?? 0);
}
