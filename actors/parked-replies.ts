import type { HeartbeatAnswer } from '../machines/commands.ts';
import type { HeldHeartbeat } from '../machines/decision.ts';

/** A heartbeat whose answer waits for the run it started (OFF-8). */
export type ParkedHeartbeat = {
  readonly groupId: string;
  readonly held: HeldHeartbeat;
  /** More than one when the member asked again meanwhile: all get the same answer. */
  readonly replies: ((answer: HeartbeatAnswer) => void)[];
};

/** At most one heartbeat per group waits: a group has one run in flight, and only what started it waits for it. */
export class ParkedReplies {
  readonly #byGroup = new Map<string, ParkedHeartbeat>();

  get size(): number {
    return this.#byGroup.size;
  }

  /** A further heartbeat of the member that waits takes over the wait; the older request gets the same answer. */
  park(groupId: string, held: HeldHeartbeat, reply: (answer: HeartbeatAnswer) => void): void {
    const parked = this.#byGroup.get(groupId);
    const waits = parked?.held.run === held.run ? parked : undefined;
    const replies = [...(waits?.replies ?? []), reply];
    const joined = held.joined || (waits?.held.joined ?? false);
    const created = held.created || (waits?.held.created ?? false);
    this.#byGroup.set(groupId, { groupId, held: { ...held, joined, created }, replies });
  }

  get(groupId: string): ParkedHeartbeat | undefined {
    return this.#byGroup.get(groupId);
  }

  /** The parked heartbeat of this very run, taken out. */
  take(groupId: string, run: number): ParkedHeartbeat | undefined {
    const parked = this.#byGroup.get(groupId);
    if (parked === undefined || parked.held.run !== run) return undefined;
    this.#byGroup.delete(groupId);
    return parked;
  }

  /** Takes out whatever of this group waits. */
  takeAny(groupId: string): ParkedHeartbeat | undefined {
    const parked = this.#byGroup.get(groupId);
    this.#byGroup.delete(groupId);
    return parked;
  }

  takeAll(): ParkedHeartbeat[] {
    const all = [...this.#byGroup.values()];
    this.#byGroup.clear();
    return all;
  }
}
