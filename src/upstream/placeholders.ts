import type { Clock, GroupWatcher, Log } from '../../actors/ports.ts';
import type { GroupState } from '../../machines/model/group.ts';
import { errorCode } from '../wire/errors.ts';
import type { KeyedLocks } from './keyed-locks.ts';
import type { UpstreamPool } from './pool.ts';
import type { JoinOutcome } from './shadow-joins.ts';
import { MOVED, ShadowJoins } from './shadow-joins.ts';
import type { Identity } from './shadow-member.ts';
import { beatShadowGroup, leaveShadowGroup } from './shadow-member.ts';
import { reasonOf, UpstreamError } from './upstream-error.ts';

/** Whether a group upstream is held for us, see {@link JoinOutcome}; `fenced`: another gateway has taken it. */
export type Hold = JoinOutcome['hold'] | 'fenced';

export type PlaceholdersParts = {
  readonly pool: UpstreamPool;
  readonly locks: KeyedLocks;
  readonly clock: Clock;
  readonly log: Log;
  readonly shardCount: number;
  /** The state of a streams group as of the last commit; undefined: there is none. */
  readonly stateOf: (groupId: string) => GroupState | undefined;
};

type Placeholder = {
  readonly groupId: string;
  identity: Identity | undefined;
  joining: Promise<Hold> | undefined;
  /** What the last join came to, or that another gateway has the place; undefined before the first. */
  hold: Hold | undefined;
  /** Another gateway has the place, as far as is known: a leave would turn it out. */
  isLost: boolean;
  /** Joins that came to nothing, in a row. */
  failures: number;
  /** What the operator was told last of such a join. */
  told: Hold | undefined;
  /** How often another gateway has taken the group. */
  takenOver: number;
  /** On the monotonic clock: until then it joins for nobody (fenced), or for members alone. */
  retryAtMs: number;
  /** Beats without an answer in a row. */
  missedBeats: number;
  /** On the monotonic clock: until then a member may be on its way in. */
  neededUntilMs: number;
  cancelBeat: () => void;
};

const BEAT_RETRY_FIRST_MS = 500;
const MEMBER_ON_ITS_WAY_MS = 10_000;
const REJOIN_FIRST_MS = 1_000;
/** Between joins that nobody asked for. What upstream refuses seldom changes; that it is away does. */
const REJOIN_MAX_MS: Readonly<Record<'conflict' | 'forbidden' | 'unavailable', number>> = {
  conflict: 60_000,
  forbidden: 60_000,
  unavailable: 5_000,
};
const FENCE_FIRST_MS = 60_000;
const FENCE_MAX_MS = 900_000;

const REBALANCING = errorCode('REBALANCE_IN_PROGRESS');
const FENCED = errorCode('FENCED_INSTANCE_ID');

/**
 * One placeholder member upstream for each streams group with members: it keeps offsets from expiring and strangers
 * out, and its identity on every commit is the fence between gateways.
 *
 * It joins with the first member and leaves when the group is empty; {@link sweep} puts right what was missed, after
 * a restart too. Losing the membership (the session ran out) means joining again, at intervals that double while
 * upstream says no. Losing it to another under the same instance id means that the group is another gateway's: nothing
 * is answered for it here until its members' sessions have ended and a while has passed, which doubles with each time.
 * So whoever comes then begins anew and reads the offsets that the other has committed.
 *
 * Source: wire.md 4.9, 4.10; coordination JOIN-3.
 */
export class Placeholders implements GroupWatcher {
  private readonly parts: PlaceholdersParts;
  private readonly joins: ShadowJoins;
  private readonly byGroup = new Map<string, Placeholder>();
  /** Groups that have no placeholder for sure. Of other empty groups one of an earlier process may still be there. */
  private readonly tidied = new Set<string>();
  private isClosed = false;

  constructor(parts: PlaceholdersParts) {
    this.parts = parts;
    this.joins = new ShadowJoins(parts);
  }

  /** The identity that commits carry now; undefined while not joined. */
  identity(groupId: string): Identity | undefined {
    return this.byGroup.get(groupId)?.identity;
  }

  /** Whether another gateway has the group, so that nothing may be answered for it here. */
  isFenced(groupId: string): boolean {
    const placeholder = this.byGroup.get(groupId);
    if (placeholder?.isLost !== true) return false;
    return this.hasMembers(groupId) || this.mustWait(placeholder);
  }

  /** How many placeholders there are, by what became of them; one that joins for the first time counts as nothing yet. */
  counts(): ReadonlyMap<Hold, number> {
    const counts = new Map<Hold, number>();
    for (const { hold } of this.byGroup.values()) {
      if (hold !== undefined) counts.set(hold, (counts.get(hold) ?? 0) + 1);
    }
    return counts;
  }

  /** For a member that comes: joins unless that is done or under way. Never rejects. */
  async ensure(groupId: string): Promise<Hold> {
    const placeholder = this.placeholder(groupId);
    placeholder.neededUntilMs = this.nowMs() + MEMBER_ON_ITS_WAY_MS;
    if (this.isFenced(groupId)) return 'fenced';
    if (placeholder.identity !== undefined) return 'joined';
    placeholder.joining ??= this.locked(groupId, () => this.join(placeholder)).finally(() => {
      placeholder.joining = undefined;
    });
    return placeholder.joining;
  }

  /** As {@link ensure}, but for no member in particular: after a join that came to nothing it waits a while. */
  keep(groupId: string): void {
    const placeholder = this.byGroup.get(groupId);
    if (placeholder === undefined || !this.mustWait(placeholder)) void this.ensure(groupId);
  }

  /**
   * Runs work on the group upstream while the placeholder is away and no join can come in between; afterwards it joins
   * again if the group has members.
   *
   * @throws what `work` throws, and UpstreamError when the placeholder cannot leave or another gateway has the group.
   */
  async whileAway<T>(groupId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.locked(groupId, async () => {
        await this.leaveNow(groupId);
        return work();
      });
    } finally {
      if (this.hasMembers(groupId)) this.keep(groupId);
    }
  }

  /**
   * Upstream turned the identity away on a commit: with 82 the group is lost, otherwise the placeholder joins again.
   * Says nothing if the identity is no longer the one in use.
   */
  distrust(groupId: string, identity: Identity, code: number): void {
    const placeholder = this.byGroup.get(groupId);
    if (placeholder === undefined || placeholder.identity !== identity) return;
    this.lose(placeholder, code);
  }

  groupChanged(groupId: string, state: GroupState): void {
    if (this.isClosed) return;
    if (state === 'Empty' || state === 'Dead') this.leaveSoon(groupId);
    else if (this.identity(groupId) === undefined) this.keep(groupId);
  }

  /** Brings placeholders and groups together again. @param groupIds all streams groups. */
  sweep(groupIds: readonly string[]): void {
    if (this.isClosed) return;
    const nowMs = this.nowMs();
    const mayLeave = (groupId: string): boolean =>
      !this.hasMembers(groupId) && nowMs >= (this.byGroup.get(groupId)?.neededUntilMs ?? 0);
    for (const groupId of groupIds) {
      if (this.hasMembers(groupId)) this.keep(groupId);
      else if (!this.tidied.has(groupId) && mayLeave(groupId)) this.leaveSoon(groupId);
    }
    const live = new Set(groupIds);
    for (const groupId of this.tidied) if (!live.has(groupId)) this.tidied.delete(groupId);
    for (const placeholder of this.byGroup.values()) {
      const { groupId } = placeholder;
      if (!mayLeave(groupId)) continue;
      if (!placeholder.isLost) this.leaveSoon(groupId);
      else if (!live.has(groupId) && !this.mustWait(placeholder)) this.byGroup.delete(groupId);
    }
  }

  /** Stops the beats. The placeholders stay: whoever comes next takes over. */
  close(): void {
    this.isClosed = true;
    this.joins.close();
    for (const { cancelBeat } of this.byGroup.values()) cancelBeat();
  }

  private nowMs(): number {
    return this.parts.clock.monotonicMs();
  }

  private mustWait({ retryAtMs }: Placeholder): boolean {
    return this.nowMs() < retryAtMs;
  }

  private hasMembers(groupId: string): boolean {
    const state = this.parts.stateOf(groupId);
    return state !== undefined && state !== 'Empty' && state !== 'Dead';
  }

  private placeholder(groupId: string): Placeholder {
    const known = this.byGroup.get(groupId);
    if (known !== undefined) return known;
    const made: Placeholder = {
      groupId,
      identity: undefined,
      joining: undefined,
      hold: undefined,
      isLost: false,
      failures: 0,
      told: undefined,
      takenOver: 0,
      retryAtMs: 0,
      missedBeats: 0,
      neededUntilMs: 0,
      cancelBeat: () => undefined,
    };
    this.byGroup.set(groupId, made);
    return made;
  }

  private async locked<T>(groupId: string, work: () => Promise<T>): Promise<T> {
    return this.parts.locks.run(groupId, ['placeholder'], work);
  }

  private async join(placeholder: Placeholder): Promise<Hold> {
    const { groupId } = placeholder;
    // Whatever it comes to: a join that nobody heard the answer to may have taken the place.
    this.tidied.delete(groupId);
    const outcome = await this.joins.join(groupId);
    if (outcome.hold !== 'joined') {
      this.refused(placeholder, outcome);
      return outcome.hold;
    }
    placeholder.identity = outcome.identity;
    placeholder.hold = 'joined';
    placeholder.isLost = false;
    placeholder.failures = 0;
    placeholder.told = undefined;
    placeholder.retryAtMs = 0;
    placeholder.missedBeats = 0;
    this.armBeat(placeholder, this.joins.beatMs());
    this.parts.log.info({ groupId, ...outcome.identity }, 'Placeholder has joined upstream');
    return 'joined';
  }

  /** The operator is told once of what stays as it is. */
  private refused(
    placeholder: Placeholder,
    { hold, reason }: Exclude<JoinOutcome, { readonly hold: 'joined' }>,
  ): void {
    const backOffMs = Math.min(REJOIN_FIRST_MS * 2 ** placeholder.failures, REJOIN_MAX_MS[hold]);
    const isNews = placeholder.told !== hold && hold !== 'unavailable';
    placeholder.failures = Math.min(placeholder.failures + 1, 16);
    placeholder.retryAtMs = this.nowMs() + backOffMs;
    placeholder.hold = hold;
    const { log } = this.parts;
    const fields = { groupId: placeholder.groupId, hold, reason, backOffMs };
    if (!isNews) log.debug(fields, 'Placeholder could not join');
    else {
      placeholder.told = hold;
      log.warn(fields, 'Placeholder was refused upstream');
    }
  }

  private armBeat(placeholder: Placeholder, delayMs: number): void {
    placeholder.cancelBeat();
    if (this.isClosed) return;
    placeholder.cancelBeat = this.parts.clock.after(delayMs, () => void this.beat(placeholder));
  }

  /** Never rejects. */
  private async beat(placeholder: Placeholder): Promise<void> {
    const { groupId, identity } = placeholder;
    if (identity === undefined) return;
    const code = await this.askBeat(groupId, identity);
    if (placeholder.identity !== identity) return;
    if (code === 0) {
      placeholder.missedBeats = 0;
      this.armBeat(placeholder, this.joins.beatMs());
    } else if (code === undefined || MOVED.includes(code)) {
      this.parts.pool.forgetCoordinator(groupId);
      const backOffMs = BEAT_RETRY_FIRST_MS * 2 ** Math.min(placeholder.missedBeats, 10);
      placeholder.missedBeats += 1;
      this.armBeat(placeholder, Math.min(backOffMs, this.joins.beatMs()));
    } else this.lose(placeholder, code);
  }

  /** Undefined: upstream could not be asked. */
  private async askBeat(groupId: string, identity: Identity): Promise<number | undefined> {
    const { pool, log } = this.parts;
    try {
      const connection = await pool.node(await pool.coordinatorId(groupId));
      return await beatShadowGroup(connection, groupId, identity);
    } catch (error) {
      log.debug({ groupId, reason: reasonOf(error) }, 'Placeholder could not beat');
      return undefined;
    }
  }

  private lose(placeholder: Placeholder, code: number): void {
    const { groupId } = placeholder;
    const { log } = this.parts;
    placeholder.identity = undefined;
    placeholder.cancelBeat();
    if (code === FENCED) {
      const backOffMs = Math.min(FENCE_FIRST_MS * 2 ** placeholder.takenOver, FENCE_MAX_MS);
      placeholder.takenOver = Math.min(placeholder.takenOver + 1, 16);
      placeholder.hold = 'fenced';
      placeholder.isLost = true;
      placeholder.retryAtMs = this.nowMs() + backOffMs;
      log.error(
        { groupId, backOffMs },
        'Another gateway has taken the group over, it is not served here until it is empty',
      );
      return;
    }
    placeholder.hold = 'unavailable';
    if (code === REBALANCING) log.debug({ groupId }, 'Placeholder joins again');
    else log.warn({ groupId, code }, 'Placeholder lost its place upstream, joins again');
    if (this.hasMembers(groupId)) this.keep(groupId);
  }

  private leaveSoon(groupId: string): void {
    if (this.byGroup.get(groupId)?.isLost === true || this.tidied.has(groupId)) return;
    const left = this.locked(groupId, async () => {
      // A member may have come while this waited.
      if (!this.hasMembers(groupId)) await this.leaveNow(groupId);
    });
    left.catch((error: unknown) => {
      // The sweep comes by again.
      const reason = reasonOf(error);
      this.parts.log.debug({ groupId, reason }, 'Placeholder could not leave');
    });
  }

  /** @throws UpstreamError */
  private async leaveNow(groupId: string): Promise<void> {
    const { pool } = this.parts;
    const placeholder = this.byGroup.get(groupId);
    // A leave goes by the shard's name: it would turn out whoever has it now.
    if (placeholder?.isLost === true) {
      throw new UpstreamError('refused', `Another gateway coordinates "${groupId}" now`);
    }
    if (placeholder !== undefined) {
      placeholder.identity = undefined;
      placeholder.hold = undefined;
      placeholder.cancelBeat();
    }
    const connection = await pool.node(await pool.coordinatorId(groupId));
    const code = await leaveShadowGroup(connection, groupId, this.joins.instanceId(groupId));
    if (MOVED.includes(code)) {
      pool.forgetCoordinator(groupId);
      throw new UpstreamError('refused', `Cannot leave "${groupId}" upstream: error ${code}`);
    }
    this.tidied.add(groupId);
    if (placeholder?.joining === undefined) this.byGroup.delete(groupId);
  }
}
