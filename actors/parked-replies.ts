import type { HeartbeatAnswer } from '../machines/commands.ts';
import type { HeldHeartbeat } from '../machines/decision.ts';

/** A heartbeat whose answer waits for the run it started (OFF-8). */
export type ParkedHeartbeat = {
  readonly groupId: string;
  held: HeldHeartbeat;
  /** More than one when the member asked again meanwhile: all get the same answer. */
  readonly replies: ((answer: HeartbeatAnswer) => void)[];
};

/** A member that gave up on its connection and asks again; beyond this it is not a client that waits for answers. */
const REPLIES_MAX = 8;

/** At most one heartbeat per group waits: a group has one run in flight, and only what started it waits for it. */
export class ParkedReplies {
  readonly #byGroup = new Map<string, ParkedHeartbeat>();

  get size(): number {
    return this.#byGroup.size;
  }

  park(groupId: string, held: HeldHeartbeat, reply: (answer: HeartbeatAnswer) => void): void {
    this.#byGroup.set(groupId, { groupId, held, replies: [reply] });
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

  /**
   * A further heartbeat of the member that waits takes over the wait; the older request gets the same answer.
   *
   * @returns false when it is somebody else, or too many wait already: answer it now.
   */
  takeOver(
    parked: ParkedHeartbeat,
    held: HeldHeartbeat,
    reply: (answer: HeartbeatAnswer) => void,
  ): boolean {
    if (parked.held.request.memberId !== held.request.memberId) return false;
    if (parked.replies.length >= REPLIES_MAX) return false;
    parked.held = {
      ...held,
      joined: held.joined || parked.held.joined,
      created: parked.held.created,
    };
    parked.replies.push(reply);
    return true;
  }

  takeAll(): ParkedHeartbeat[] {
    const all = [...this.#byGroup.values()];
    this.#byGroup.clear();
    return all;
  }
}
