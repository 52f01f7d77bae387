import { apply } from '../machines/apply.ts';
import type { LookedBack } from '../machines/decide/looked-back.ts';
import { tellTarget } from '../machines/decide/say-moves.ts';
import type { Effect, GroupDecision, GroupSlot } from '../machines/decision.ts';
import { emptySlot } from '../machines/model/empty.ts';
import type { Untold } from '../machines/model/look-back.ts';
import type { Effects } from './effects.ts';
import type { ShardEnvironment } from './environment.ts';
import { inSlices } from './in-slices.ts';
import { journalEntry } from './journal-entry.ts';
import { errorOfLostWrite } from './log-errors.ts';
import type { GroupCommand } from './messages.ts';
import type { JournalEntry, RunLookBack } from './ports.ts';
import type { ShardLog } from './shard-log.ts';

/** What a decision is about, as the journal names it. */
export type About = {
  readonly groupId: string;
  readonly cause: string;
  readonly memberId: string | null;
};

/** Carries decisions out: applies them, hands what they write to the turn, and takes their effects in hand (ORD-1, ORD-2). */
export class Carrier {
  readonly #env: ShardEnvironment;
  readonly #log: ShardLog;
  readonly #effects: Effects;
  readonly #lookedBack: (groupId: string, found: LookedBack) => void;

  constructor(parts: {
    env: ShardEnvironment;
    log: ShardLog;
    effects: Effects;
    /** Is told how good a target is that a decision installed, some time after it. */
    lookedBack: (groupId: string, found: LookedBack) => void;
  }) {
    this.#lookedBack = parts.lookedBack;
    this.#env = parts.env;
    this.#log = parts.log;
    this.#effects = parts.effects;
  }

  /**
   * Applies a decision and takes its effects in hand. What it writes joins the turn.
   *
   * @param lookBack of the run of whose target is to be told.
   * @returns the slot as it is now.
   * @throws LogError the log would not take what it writes; nothing is applied.
   */
  carryOut(
    about: About,
    decision: GroupDecision<unknown>,
    lookBack?: RunLookBack,
  ): GroupSlot | undefined {
    const { groupId, cause, memberId } = about;
    const { records, folded, soft, effects, because, untold } = decision;
    const before = this.#log.get(groupId);
    if (records.length > 0 || before?.soft !== soft) {
      // What the log would never take must not join a turn: it would take the others of the turn with it.
      const batch = records.length > 0 ? this.#log.admit(records) : undefined;
      let slot = folded ?? records.reduce(apply, before ?? emptySlot(groupId));
      if (slot.soft !== soft) slot = { ...slot, soft };
      this.#log.put(slot);
      this.countHurried(before, slot);
      if (batch !== undefined) this.#log.write(groupId, before, batch);
      if (isRebalance(cause, before, slot)) this.#env.metrics.rebalanced();
    }
    const slot = this.#log.get(groupId);
    if (because.length > 0 || untold !== undefined) {
      const nowMs = this.#env.clock.nowMs();
      const what = { groupId, slot, cause, memberId, because, report: undefined, nowMs };
      this.#log.remember(
        untold === undefined
          ? journalEntry(what)
          : { groupId, made: this.#tellOf(what, untold, lookBack) },
      );
    }
    for (const effect of effects) this.#takeInHand(groupId, effect);
    return slot;
  }

  /** Sends an answer when all that was decided in its group so far is committed. */
  answer<T>(groupId: string, to: Pick<GroupCommand<T>, 'refuse' | 'reply'>, value: T): void {
    this.#log.whenCommitted(groupId, {
      send: () => to.reply(value),
      lose: (cause) => to.reply(to.refuse(errorOfLostWrite(cause), null)),
    });
  }

  /** Keeps the count of hurried members of the process right when a group goes from one state to another (RSP-8). */
  countHurried(before: GroupSlot | undefined, after: GroupSlot | undefined): void {
    this.#env.hurried.count +=
      (after?.soft.hurriedMembers ?? 0) - (before?.soft.hurriedMembers ?? 0);
  }

  /** The journal entry of a target, once its run has been looked back on. */
  async #tellOf(
    what: Parameters<typeof journalEntry>[0],
    untold: Untold,
    lookBack: RunLookBack | undefined,
  ): Promise<JournalEntry> {
    const found = await lookBack;
    if (found !== undefined) {
      const { figures } = found;
      const { incarnation, group } = untold;
      this.#env.metrics.targetInstalled(figures);
      this.#lookedBack(what.groupId, { incarnation, group, figures });
    }
    const { because, report } = await inSlices(tellTarget(untold, found), this.#env.clock);
    const lines = what.because.toSpliced(untold.place, 0, ...because);
    return journalEntry({ ...what, because: lines, report });
  }

  #takeInHand(groupId: string, effect: Effect): void {
    const send = () => this.#effects.carryOut(groupId, effect);
    // A timer and a run go back with their batch; a topic that was asked for stays (C-2).
    if (effect.type === 'createTopics') this.#log.whenCommitted(groupId, { send, lose: () => {} });
    else send();
  }
}

/** Epochs raised by heartbeats count, those of leaves and time-outs do not (GE-9, MT-5). */
function isRebalance(cause: string, before: GroupSlot | undefined, after: GroupSlot): boolean {
  if (cause !== 'heartbeat' && cause !== 'join') return false;
  return (after.group?.groupEpoch ?? 0) > (before?.group?.groupEpoch ?? 0);
}
