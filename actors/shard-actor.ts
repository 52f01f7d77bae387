import { type LookedBack, lookedBack } from '../machines/decide/looked-back.ts';
import { decideExpiry, decideTopicsDeleted } from '../machines/decide/offsets.ts';
import { decideSearch, decideSearchOver } from '../machines/decide/patterns.ts';
import { topicsChanged } from '../machines/decide/topics-changed.ts';
import type { Context, GroupDecision, GroupSlot } from '../machines/decision.ts';
import { Refusal } from '../machines/model/refusal.ts';
import {
  type ShardState as Life,
  nextShardState,
  type ShardEvent,
} from '../machines/shard-machine.ts';
import { Carrier } from './carrier.ts';
import { Effects } from './effects.ts';
import { contextOf, type ShardEnvironment } from './environment.ts';
import { decisionOfTimer } from './fired.ts';
import type { ShardStatus } from './group-coordinator.ts';
import { HeldAnswers } from './held-answers.ts';
import { Jobs } from './jobs.ts';
import { loadShard } from './loader.ts';
import { errorOfLostWrite } from './log-errors.ts';
import { type Length, Mailbox } from './mailbox.ts';
import { type AnyCommand, type AnyQuestion, lengthOf, lineOf, type Message } from './messages.ts';
import { ShardLog } from './shard-log.ts';
import { countGroups } from './shard-state.ts';
import { armLoadedTimers, syncTimers } from './shard-timers.ts';
import type { TimerPurpose } from './timer-purpose.ts';
import { Timers } from './timers.ts';
import type { TurnTaker } from './turns.ts';

/**
 * One shard: an actor that owns its groups. Messages are taken one at a time, when it is the shard's turn; what they decide
 * is applied at once, the batches of a turn go to the log together, and answers leave when their turn is committed. Nothing
 * here waits between reading a group and writing it.
 *
 * Source: records-and-configs section 5; coordination ORD-1, ORD-2, OFF-8.
 */
export class ShardActor implements TurnTaker {
  readonly shard: number;
  readonly #env: ShardEnvironment;
  readonly #log: ShardLog;
  readonly #mailbox: Mailbox<Message>;
  readonly #timers: Timers<TimerPurpose>;
  readonly #carrier: Carrier;
  readonly #held: HeldAnswers;
  #life: Life = 'initial';

  constructor(shard: number, env: ShardEnvironment) {
    this.shard = shard;
    this.#env = env;
    this.#log = new ShardLog({
      shard,
      env,
      committed: () => this.#askForTurn(),
      lost: (decided, cause) => this.#lost(decided, cause),
    });
    this.#mailbox = new Mailbox({ limit: env.mailboxMax, lineOf, lengthOf });
    this.#timers = new Timers(env.clock, (fired) => this.#inside({ kind: 'timer', fired }));
    const effects = new Effects({
      timers: this.#timers,
      topicCreator: env.topicCreator,
      jobs: new Jobs({
        assignor: env.assignor,
        clock: env.clock,
        deadlineMs: env.assignorRunTimeoutMs,
        metrics: env.metrics,
      }),
      patterns: env.patterns,
      runOver: (groupId, outcome, lookBack) =>
        this.#inside({ kind: 'runOver', groupId, outcome, lookBack }),
      searchOver: (groupId, outcome) => this.#inside({ kind: 'searchOver', groupId, outcome }),
    });
    this.#carrier = new Carrier({
      env,
      log: this.#log,
      effects,
      lookedBack: (groupId, found) => this.#inside({ kind: 'lookedBack', groupId, found }),
    });
    this.#held = new HeldAnswers({
      env,
      log: this.#log,
      timers: this.#timers,
      carrier: this.#carrier,
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
    this.#askForTurn();
  }

  /** Takes a message from outside. What cannot be taken is answered at once with an error that clients retry. */
  post(message: AnyCommand | AnyQuestion): void {
    if (this.#life === 'active') {
      if (this.#mailbox.offer(message)) this.#askForTurn();
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
    this.#held.close();
  }

  /** Whether there is a message of this length that may be taken now. */
  waits(length: Length): boolean {
    return this.#life === 'active' && !this.#log.isFull && this.#mailbox.has(length);
  }

  take(length: Length): void {
    const message = this.#mailbox.take(length);
    if (message !== undefined) this.#take(message);
  }

  /** What the turn wrote goes to the log. */
  endTurn(): void {
    this.#log.endTurn();
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
    this.#askForTurn();
  }

  #askForTurn(): void {
    this.#env.turns.ask(this);
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
        this.#held.runOver(message.groupId, message.outcome, message.lookBack);
        return;
      case 'lookedBack':
        this.#lookedBack(message.groupId, message.found);
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
      const slot = this.#carrier.carryOut(command, decision);
      const { reply } = decision;
      if (reply.kind === 'held') this.#held.hold(groupId, reply.held, command.reply);
      else this.#carrier.answer(groupId, command, reply.value);
      this.#held.endWaitOfTheGone(groupId, slot);
    } catch (cause) {
      this.#refuse(command, cause);
    }
  }

  #refuse(command: AnyCommand, cause: unknown): void {
    if (cause instanceof Refusal) {
      this.#carrier.answer(command.groupId, command, command.refuse(cause.error, cause.text));
      return;
    }
    const error = errorOfLostWrite(cause);
    this.#env.log.error(
      { err: cause, groupId: command.groupId, cause: command.cause },
      'Decision failed',
    );
    command.reply(command.refuse(error, null));
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
    else if (purpose.type === 'answerWait') this.#held.waitOver(purpose.groupId, purpose.run);
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
      const slot = this.#carrier.carryOut({ groupId, cause, memberId }, decision);
      this.#held.endWaitOfTheGone(groupId, slot);
    } catch (error) {
      this.#env.log.error({ err: error, groupId, memberId, cause }, 'Decision failed');
    }
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

  #lookedBack(groupId: string, found: LookedBack): void {
    const slot = this.#log.get(groupId);
    const soft = lookedBack(slot, found);
    if (slot !== undefined && soft !== undefined) this.#log.put({ ...slot, soft });
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

  /** Groups went back to what is committed: so do their timers, and whoever waits there is told to try again. */
  #lost(decided: ReadonlyMap<string, GroupSlot | undefined>, cause: unknown): void {
    for (const [groupId, was] of decided) {
      const slot = this.#log.get(groupId);
      this.#carrier.countHurried(was, slot);
      syncTimers(groupId, slot, was, this.#timers, contextOf(groupId, this.#env));
      this.#held.lose(groupId, cause);
    }
    this.#askForTurn();
  }
}
