import type { HeartbeatAnswer } from '../machines/commands.ts';
import { refusedAnswer } from '../machines/decide/answer.ts';
import { isAway } from '../machines/decide/static-member.ts';
import { decideRunOver, decideWaitOver } from '../machines/decide/target.ts';
import type { GroupSlot, HeldHeartbeat, RunOutcome } from '../machines/decision.ts';
import { Refusal } from '../machines/model/refusal.ts';
import type { Carrier } from './carrier.ts';
import { contextOf, type ShardEnvironment } from './environment.ts';
import { errorOfLostWrite } from './log-errors.ts';
import { type ParkedHeartbeat, ParkedReplies } from './parked-replies.ts';
import type { RunLookBack } from './ports.ts';
import { reasonOf } from './reason-of.ts';
import type { ShardLog } from './shard-log.ts';
import { waitKey } from './shard-timers.ts';
import type { TimerPurpose } from './timer-purpose.ts';
import type { Timers } from './timers.ts';

type Reply = (answer: HeartbeatAnswer) => void;

/**
 * The heartbeats of a shard whose answers wait for the run of the assignor that they started. Each is answered once:
 * when the run is over, when it waited long enough, when its member is gone, or when what it decided was lost (OFF-8).
 */
export class HeldAnswers {
  readonly #env: ShardEnvironment;
  readonly #log: ShardLog;
  readonly #timers: Timers<TimerPurpose>;
  readonly #carrier: Carrier;
  readonly #parked = new ParkedReplies();

  constructor(parts: {
    env: ShardEnvironment;
    log: ShardLog;
    timers: Timers<TimerPurpose>;
    carrier: Carrier;
  }) {
    this.#env = parts.env;
    this.#log = parts.log;
    this.#timers = parts.timers;
    this.#carrier = parts.carrier;
  }

  hold(groupId: string, held: HeldHeartbeat, reply: Reply): void {
    // Whoever waits for an earlier run waits in vain: that run was given up, or this one would not have started.
    const earlier = this.#parked.get(groupId);
    if (earlier !== undefined && earlier.held.run !== held.run) {
      this.#parked.takeAny(groupId);
      this.#answerWithout(earlier);
    }
    this.#parked.park(groupId, held, reply);
    const purpose = { type: 'answerWait', groupId, run: held.run } as const;
    this.#timers.arm(waitKey(groupId), this.#env.coordinator.assignorAnswerWaitMs, purpose);
  }

  /** A run ended: its target is installed, and whoever waits for it is answered in the same batch. */
  runOver(groupId: string, outcome: RunOutcome, lookBack: RunLookBack | undefined): void {
    const slot = this.#log.get(groupId);
    // Runs are numbered anew in each life of a group (OFF-2).
    const isOfThisLife = outcome.incarnation === slot?.soft.incarnation;
    const parked = isOfThisLife ? this.#parked.take(groupId, outcome.run) : undefined;
    if (parked !== undefined) this.#timers.cancel(waitKey(groupId));
    if (slot === undefined) {
      if (parked !== undefined) this.#answerWithout(parked);
      return;
    }
    try {
      this.#conclude(slot, outcome, parked, lookBack);
    } catch (cause) {
      const { incarnation, run } = outcome;
      this.#env.log.error({ err: cause, groupId, run }, 'Target could not be installed');
      this.#giveUp(slot, { kind: 'failed', incarnation, run, reason: reasonOf(cause) }, parked);
    }
  }

  #conclude(
    slot: GroupSlot,
    outcome: RunOutcome,
    parked: ParkedHeartbeat | undefined,
    lookBack?: RunLookBack,
  ): void {
    const { groupId } = slot;
    const decision = decideRunOver(slot, outcome, parked?.held, contextOf(groupId, this.#env));
    const memberId = parked?.held.request.memberId ?? null;
    this.#carrier.carryOut({ groupId, cause: 'target ready', memberId }, decision, lookBack);
    const { reply } = decision;
    if (parked === undefined) return;
    if (reply.kind === 'answer' && reply.value !== undefined) this.#answer(parked, reply.value);
    else this.#answerWithout(parked);
  }

  /** Nobody waits for a target that could not be installed: it is as if its run had failed, and there will be another (OFF-6). */
  #giveUp(
    slot: GroupSlot,
    failed: Extract<RunOutcome, { kind: 'failed' }>,
    parked: ParkedHeartbeat | undefined,
  ): void {
    try {
      this.#conclude(slot, failed, parked);
    } catch (cause) {
      this.#env.log.error({ err: cause, groupId: slot.groupId }, 'Decision failed');
      if (parked !== undefined) {
        this.#answer(parked, refusedAnswer('COORDINATOR_NOT_AVAILABLE', null));
      }
    }
  }

  /** The wait for this run was long enough. */
  waitOver(groupId: string, run: number): void {
    const parked = this.#parked.take(groupId, run);
    if (parked !== undefined) this.#answerWithout(parked);
  }

  /** A member that left or was fenced while its answer waited gets the answer it would get now. */
  endWaitOfTheGone(groupId: string, slot: GroupSlot | undefined): void {
    const parked = this.#parked.get(groupId);
    if (parked === undefined) return;
    const member = slot?.group?.members.get(parked.held.request.memberId);
    if (member !== undefined && !isAway(member)) return;
    this.#parked.takeAny(groupId);
    this.#timers.cancel(waitKey(groupId));
    this.#answerWithout(parked);
  }

  /** What the held heartbeat of this group decided was not written: its sender is told to try again. */
  lose(groupId: string, cause: unknown): void {
    const answer = refusedAnswer(errorOfLostWrite(cause), null);
    for (const reply of this.#parked.takeAny(groupId)?.replies ?? []) reply(answer);
  }

  /** The shard ends. */
  close(): void {
    for (const { replies } of this.#parked.takeAll()) {
      for (const reply of replies) reply(refusedAnswer('NOT_COORDINATOR', null));
    }
  }

  /** Answers a parked heartbeat with what its member has, run or no run. */
  #answerWithout(parked: ParkedHeartbeat): void {
    const { groupId, held } = parked;
    try {
      const decision = decideWaitOver(this.#log.get(groupId), held, contextOf(groupId, this.#env));
      const { memberId } = held.request;
      this.#carrier.carryOut({ groupId, cause: 'heartbeat', memberId }, decision);
      if (decision.reply.kind === 'answer') this.#answer(parked, decision.reply.value);
    } catch (cause) {
      if (cause instanceof Refusal) {
        this.#answer(parked, refusedAnswer(cause.error, cause.text));
        return;
      }
      this.#env.log.error({ err: cause, groupId }, 'Decision failed');
      this.#answer(parked, refusedAnswer('COORDINATOR_NOT_AVAILABLE', null));
    }
  }

  #answer({ groupId, replies }: ParkedHeartbeat, answer: HeartbeatAnswer): void {
    for (const reply of replies) {
      this.#carrier.answer(groupId, { reply, refuse: refusedAnswer }, answer);
    }
  }
}
