import { apply, applyTargets } from '../apply.ts';
import type { Context, Effect, GroupDecision, GroupSlot, Reply } from '../decision.ts';
import { emptySlot, UNHEARD_MEMBER } from '../model/empty.ts';
import type { Group } from '../model/group.ts';
import type { Untold } from '../model/look-back.ts';
import type { Member } from '../model/member.ts';
import { invariant } from '../model/refusal.ts';
import type { GroupSoft, MemberSoft } from '../model/soft.ts';
import type { TargetsOfGroup } from '../off-target.ts';
import type { GroupRecord, MadeTarget } from '../records.ts';

const NO_RECORDS: readonly GroupRecord[] = [];
const NO_EFFECTS: readonly Effect[] = [];
const NO_WORDS: readonly string[] = [];

/**
 * A decision in the making. Each record is folded in as it is written, so that every later step sees what the
 * earlier ones decided; nothing leaves it but the finished {@link GroupDecision}. It lives inside one decision
 * only, and one that writes nothing allocates nothing for it.
 */
export class Draft {
  readonly context: Context;
  #slot: GroupSlot;
  #soft: GroupSoft;
  #records: GroupRecord[] | undefined;
  #effects: Effect[] | undefined;
  #because: string[] | undefined;
  #untold: Untold | undefined;

  constructor(slot: GroupSlot, context: Context) {
    this.context = context;
    this.#slot = slot;
    this.#soft = slot.soft;
  }

  /** A draft over a group that this very decision makes: nothing of an earlier life under its id is left (OFF-2). */
  static ofNewGroup(
    slot: GroupSlot | undefined,
    group: Group,
    soft: GroupSoft,
    context: Context,
  ): Draft {
    return new Draft({ ...(slot ?? emptySlot(group.groupId)), group, soft }, context);
  }

  /** The group with all that was written so far. */
  get group(): Group {
    const { group } = this.#slot;
    invariant(group !== undefined, 'a decision about a group has one');
    return group;
  }

  get soft(): GroupSoft {
    return this.#soft;
  }

  get hasGroup(): boolean {
    return this.#slot.group !== undefined;
  }

  hasMember(memberId: string): boolean {
    return this.#slot.group?.members.has(memberId) === true;
  }

  member(memberId: string): Member {
    const member = this.group.members.get(memberId);
    invariant(member !== undefined, 'a decision about a member has one');
    return member;
  }

  softOf(memberId: string): MemberSoft {
    return this.#soft.members.get(memberId) ?? UNHEARD_MEMBER;
  }

  write(record: GroupRecord): void {
    this.#records ??= [];
    this.#records.push(record);
    this.#slot = apply(this.#slot, record);
  }

  /** As {@link write} one by one; a large group gets a target for each member. @param made the group's targets with them. */
  writeTargets(records: readonly MadeTarget[], made: TargetsOfGroup): void {
    this.#records = [...(this.#records ?? NO_RECORDS), ...records];
    this.#slot = applyTargets(this.#slot, made);
  }

  cause(effect: Effect): void {
    this.#effects ??= [];
    this.#effects.push(effect);
  }

  say(words: string): void {
    this.#because ??= [];
    this.#because.push(words);
  }

  /** Leaves a target to be told of when its run has been looked back on. */
  tellLater(untold: Omit<Untold, 'place'>): void {
    this.#untold = { ...untold, place: this.#because?.length ?? 0 };
  }

  change(soft: Partial<GroupSoft>): void {
    this.#soft = { ...this.#soft, ...soft };
  }

  changeMember(memberId: string, soft: Partial<MemberSoft>): void {
    const next = { ...this.softOf(memberId), ...soft };
    this.change({ members: this.#soft.members.set(memberId, next) });
  }

  done<T>(reply: Reply<T>): GroupDecision<T> {
    return {
      records: this.#records ?? NO_RECORDS,
      folded: this.#slot,
      soft: this.#soft,
      reply,
      effects: this.#effects ?? NO_EFFECTS,
      because: this.#because ?? NO_WORDS,
      untold: this.#untold,
    };
  }
}
