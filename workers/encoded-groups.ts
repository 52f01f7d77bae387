import { setImmediate } from 'node:timers/promises';
import type { GroupProblem } from '../machines/model/assignment.ts';
import { EncodedGroup } from './encoded-group.ts';
import { type EncodedProblem, viewOf, writeProblem } from './problem.ts';
import type { ProblemView } from './problem-view.ts';
import type { SharedBuffers } from './shared-buffers.ts';

/** Bytes kept at most, of all groups together. */
const BYTES_MAX = 128 << 20;
/** Tasks and offsets read in one go; the event loop has its turn before the next ones. */
const READ_MAX = 5_000;
/** A group of so many members is written down in steps, too: each may have taken note of an epoch since. */
const MANY_MEMBERS = 200;

type Kept = {
  readonly view: ProblemView;
  readonly group: EncodedGroup;
  /** A run is being written down. */
  busy: boolean;
  /** Its group may be asked for again. */
  isWanted: boolean;
  /** As they were counted. */
  bytes: number;
};

/** Groups in numbers, each kept from run to run, those that have not been asked for the longest forgotten first. */
export class EncodedGroups {
  readonly #buffers: SharedBuffers;
  readonly #bytesMax: number;
  /** The one asked for last comes last. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(buffers: SharedBuffers, { bytesMax = BYTES_MAX } = {}) {
    this.#buffers = buffers;
    this.#bytesMax = bytesMax;
  }

  /** The ids of the groups kept, the one asked for last at the end. */
  get kept(): readonly string[] {
    return [...this.#kept.keys()];
  }

  /**
   * Writes a problem into a buffer of its own. The event loop has its turn before each step of a group that is new here,
   * before the first and the last one of a large group, and where much has changed since the group was last asked for.
   */
  async encode(problem: GroupProblem, { withOffsets = false } = {}): Promise<EncodedProblem> {
    const kept = this.#take(problem);
    // Two runs of one group under way at once, as after a roll-back: the second one starts from nothing.
    const group = kept.busy ? new EncodedGroup(kept.view) : kept.group;
    const isKept = group === kept.group;
    if (isKept) kept.busy = true;
    const isNew = group.isEmpty;
    const isLong = isNew || problem.members.size >= MANY_MEMBERS;
    try {
      if (isLong) await setImmediate();
      group.follow(problem);
      if (isNew) await setImmediate();
      while (!group.read(READ_MAX)) await setImmediate();
      if (isNew) await setImmediate();
      group.settle();
      if (isLong) await setImmediate();
      return writeProblem(group, problem, this.#buffers, withOffsets);
    } finally {
      if (isKept) {
        kept.busy = false;
        this.#put(problem.groupId, kept);
      }
    }
  }

  /** Follows a problem without writing it down; reads no more than one go. */
  prepare(problem: GroupProblem): void {
    const kept = this.#take(problem);
    if (kept.busy) return;
    kept.group.follow(problem);
    kept.group.read(READ_MAX);
    this.#put(problem.groupId, kept);
  }

  /** Keeps nothing of a group any more, nor of a run of it that is being written down. */
  forget(groupId: string): void {
    const kept = this.#kept.get(groupId);
    if (kept !== undefined) kept.isWanted = false;
    this.#forget(groupId);
  }

  #take(problem: GroupProblem): Kept {
    const { groupId } = problem;
    const view = viewOf(problem);
    const kept = this.#kept.get(groupId);
    if (kept?.view === view) return kept;
    this.forget(groupId);
    const made: Kept = {
      view,
      group: new EncodedGroup(view),
      busy: false,
      isWanted: true,
      bytes: 0,
    };
    this.#kept.set(groupId, made);
    return made;
  }

  /** Keeps a group as the one asked for last, at the cost of others if need be. */
  #put(groupId: string, kept: Kept): void {
    if (!kept.isWanted) return;
    this.#forget(groupId);
    this.#kept.set(groupId, kept);
    kept.bytes = kept.group.bytes;
    this.#bytes += kept.bytes;
    for (const [other] of this.#kept) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#forget(other);
    }
  }

  #forget(groupId: string): void {
    const kept = this.#kept.get(groupId);
    if (kept === undefined) return;
    this.#kept.delete(groupId);
    this.#bytes -= kept.bytes;
  }
}
