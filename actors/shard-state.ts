import type { GroupSlot } from '../machines/decision.ts';
import type { GroupState } from '../machines/model/group.ts';
import { NO_PATTERNS } from '../machines/model/patterns.ts';
import { PersistentMap } from '../machines/model/persistent-map.ts';
import { invariant } from '../machines/model/refusal.ts';
import type { Slots } from './messages.ts';
import type { LaterEntry } from './ordered-journal.ts';
import type { JournalEntry, RecordBatch } from './ports.ts';

/** A reply that leaves when its turn is committed, and what it becomes when the turn is lost. */
export type ParkedReply = { readonly send: () => void; readonly lose: (cause: unknown) => void };

/** What one drain of the mailbox decided: appended together, committed together, lost together. */
export type Turn = {
  after: Slots;
  readonly batches: RecordBatch[];
  readonly replies: ParkedReply[];
  readonly journal: (JournalEntry | LaterEntry)[];
  /** The groups it wrote to, each as it was before its first record. */
  readonly touched: Map<string, GroupSlot | undefined>;
  readonly handedOverAtMs: number;
};

/**
 * The groups of one shard: as decided (`slots`), as committed, and the turns between the two. Values never change,
 * so the committed state is a pointer and a roll-back is another.
 */
export class ShardState {
  slots: Slots = PersistentMap.empty();
  committed: Slots = PersistentMap.empty();
  /** Oldest first; each is with the log. */
  readonly turns: Turn[] = [];
  /** The newest turn that wrote to a group, for answers that must not overtake it (BA-4). */
  readonly #lastTurn = new Map<string, Turn>();

  get(groupId: string): GroupSlot | undefined {
    return this.slots.get(groupId);
  }

  /** A slot with neither group nor offsets is no slot. */
  put(slot: GroupSlot): void {
    this.slots =
      slot.group === undefined && slot.offsets.size === 0
        ? this.slots.delete(slot.groupId)
        : this.slots.set(slot.groupId, slot);
  }

  /** Starts the turn that the next decisions belong to. */
  begin(nowMs: number): Turn {
    return {
      after: this.slots,
      batches: [],
      replies: [],
      journal: [],
      touched: new Map(),
      handedOverAtMs: nowMs,
    };
  }

  /** The turn is with the log now. */
  handOver(turn: Turn): void {
    turn.after = this.slots;
    this.turns.push(turn);
    for (const groupId of turn.touched.keys()) this.#lastTurn.set(groupId, turn);
  }

  /** The newest turn an answer about this group has to wait for; without a group: about anything. */
  waitsFor(groupId: string | undefined): Turn | undefined {
    return groupId === undefined ? this.turns.at(-1) : this.#lastTurn.get(groupId);
  }

  commit(turn: Turn): void {
    invariant(
      this.turns[0] === turn,
      'turns are committed in the order they were handed over (BA-1)',
    );
    this.turns.shift();
    this.#forget(turn);
    this.committed = this.turns.length === 0 ? this.slots : turn.after;
  }

  /** Nothing is under way: what was decided without records is as good as committed. */
  settle(): void {
    if (this.turns.length === 0) this.committed = this.slots;
  }

  /**
   * Takes back every turn that is not committed (BA-3) and hands them over, oldest first. Groups that only changed
   * in memory keep that: nothing of theirs was lost. The others look at their topics anew (H-5), those that match patterns
   * too, and begin another incarnation: a run or a search that ended or started in what was lost is neither waited for nor
   * taken for a later one (OFF-2).
   */
  rollBack(nextIncarnation: () => number): Turn[] {
    const lost = this.turns.splice(0);
    for (const turn of lost.toReversed()) {
      for (const [groupId, slot] of turn.touched) {
        this.slots =
          slot === undefined ? this.slots.delete(groupId) : this.slots.set(groupId, slot);
      }
    }
    for (const groupId of new Set(lost.flatMap((turn) => [...turn.touched.keys()]))) {
      const slot = this.slots.get(groupId);
      if (slot === undefined) continue;
      const incarnation = nextIncarnation();
      const { patterns } = slot.soft;
      const soft = {
        ...slot.soft,
        refreshDue: true,
        incarnation,
        run: undefined,
        // What a search that is out finds will be dropped, and topics may have changed in what was lost.
        patterns:
          patterns === NO_PATTERNS ? patterns : { ...patterns, due: true, searching: false },
      };
      this.put({ ...slot, soft });
    }
    this.committed = this.slots;
    this.#lastTurn.clear();
    return lost;
  }

  clear(): void {
    this.slots = PersistentMap.empty();
    this.committed = PersistentMap.empty();
    this.turns.length = 0;
    this.#lastTurn.clear();
  }

  #forget(turn: Turn): void {
    for (const groupId of turn.touched.keys()) {
      if (this.#lastTurn.get(groupId) === turn) this.#lastTurn.delete(groupId);
    }
  }
}

/** Counts for the gauges (MT-1, MT-3): every state is there, also with 0. */
export function countGroups(slots: Slots): {
  groups: number;
  simpleGroups: number;
  members: number;
  committedOffsets: number;
  groupsByState: Record<GroupState, number>;
} {
  const groupsByState: Record<GroupState, number> = {
    Empty: 0,
    NotReady: 0,
    Assigning: 0,
    Reconciling: 0,
    Stable: 0,
    Dead: 0,
  };
  let groups = 0;
  let simpleGroups = 0;
  let members = 0;
  let committedOffsets = 0;
  for (const slot of slots.values()) {
    for (const partitions of slot.offsets.values()) committedOffsets += partitions.size;
    if (slot.group === undefined) {
      simpleGroups++;
      continue;
    }
    groups++;
    members += slot.group.members.size;
    groupsByState[slot.group.state]++;
  }
  return { groups, simpleGroups, members, committedOffsets, groupsByState };
}
