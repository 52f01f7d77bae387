import type { Clock, GroupWatcher, Log } from '../../actors/ports.ts';
import type { GroupState } from '../../machines/model/group.ts';
import { shardOf } from '../../machines/model/ids.ts';
import { errorCode } from '../wire/errors.ts';
import type { KeyedLocks } from './keyed-locks.ts';
import type { UpstreamPool } from './pool.ts';
import type { Identity, Joined } from './shadow-member.ts';
import { beatShadowGroup, joinShadowGroup, leaveShadowGroup } from './shadow-member.ts';
import { reasonOf, UpstreamError } from './upstream-error.ts';

/**
 * Whether a group upstream is held for us: `conflict` a live group of another kind holds the id, `fenced` another
 * gateway has taken the shard, `forbidden` we may not join, `unavailable` upstream cannot say now.
 */
export type Hold = 'joined' | 'conflict' | 'fenced' | 'forbidden' | 'unavailable';

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
  isFenced: boolean;
  /** Beats without an answer in a row. */
  missedBeats: number;
  /** On the monotonic clock: until then a member may be on its way in. */
  neededUntilMs: number;
  cancelBeat: () => void;
};

/** The longest that brokers allow by default first; a broker that allows less says 26. */
const SESSION_TIMEOUTS_MS = [1_800_000, 300_000, 45_000, 10_000] as const;
const BEATS_PER_SESSION = 10;
const BEAT_MAX_MS = 30_000;
const BEAT_RETRY_FIRST_MS = 500;
const MEMBER_ON_ITS_WAY_MS = 10_000;
const JOIN_ATTEMPTS_MAX = 8;
const JOIN_BACK_OFF_FIRST_MS = 50;
const JOIN_BACK_OFF_MAX_MS = 2_000;
/** Each join holds a connection of its own. */
const JOINS_AT_ONCE_MAX = 16;

const codes = {
  loading: errorCode('COORDINATOR_LOAD_IN_PROGRESS'),
  notAvailable: errorCode('COORDINATOR_NOT_AVAILABLE'),
  notCoordinator: errorCode('NOT_COORDINATOR'),
  rebalancing: errorCode('REBALANCE_IN_PROGRESS'),
  badSession: errorCode('INVALID_SESSION_TIMEOUT'),
  otherProtocol: errorCode('INCONSISTENT_GROUP_PROTOCOL'),
  otherKind: errorCode('GROUP_ID_NOT_FOUND'),
  full: errorCode('GROUP_MAX_SIZE_REACHED'),
  notAllowed: errorCode('GROUP_AUTHORIZATION_FAILED'),
  fenced: errorCode('FENCED_INSTANCE_ID'),
};
const MOVED: readonly number[] = [codes.loading, codes.notAvailable, codes.notCoordinator];
const CONFLICTS: readonly number[] = [codes.otherProtocol, codes.otherKind, codes.full];

/**
 * One placeholder member upstream for each streams group with members: it keeps offsets from expiring and strangers
 * out, and its identity on every commit is the fence between gateways.
 *
 * It joins with the first member and leaves when the group is empty; {@link sweep} puts right what was missed, after
 * a restart too. Losing the membership (the session ran out) means joining again; losing it to another under the same
 * instance id means that the shard is another's: it is not joined again while this process lives.
 *
 * Source: wire.md 4.9, 4.10; coordination JOIN-3.
 */
export class Placeholders implements GroupWatcher {
  private readonly parts: PlaceholdersParts;
  private readonly byGroup = new Map<string, Placeholder>();
  /** Empty groups whose placeholder of an earlier process may still be there: looked after once. */
  private readonly tidied = new Set<string>();
  private readonly waiting: (() => void)[] = [];
  private joinsUnderWay = 0;
  private sessionChoice = 0;
  private isClosed = false;

  constructor(parts: PlaceholdersParts) {
    this.parts = parts;
  }

  /** The identity that commits carry now; undefined while not joined. */
  identity(groupId: string): Identity | undefined {
    return this.byGroup.get(groupId)?.identity;
  }

  isFenced(groupId: string): boolean {
    return this.byGroup.get(groupId)?.isFenced ?? false;
  }

  /** Joins unless that is done or under way. Never rejects. */
  async ensure(groupId: string): Promise<Hold> {
    const placeholder = this.placeholder(groupId);
    placeholder.neededUntilMs = this.parts.clock.monotonicMs() + MEMBER_ON_ITS_WAY_MS;
    if (placeholder.isFenced) return 'fenced';
    if (placeholder.identity !== undefined) return 'joined';
    placeholder.joining ??= this.locked(groupId, () => this.join(placeholder)).finally(() => {
      placeholder.joining = undefined;
    });
    return placeholder.joining;
  }

  /**
   * Runs work on the group upstream while the placeholder is away and no join can come in between; afterwards it joins
   * again if the group has members.
   *
   * @throws what `work` throws, and UpstreamError when the placeholder cannot leave or another gateway has the shard.
   */
  async whileAway<T>(groupId: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.locked(groupId, async () => {
        await this.leaveNow(groupId);
        return work();
      });
    } finally {
      if (this.hasMembers(groupId)) void this.ensure(groupId);
    }
  }

  /**
   * Upstream turned the identity away on a commit: with 82 the shard is lost, otherwise the placeholder joins again.
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
    else if (this.identity(groupId) === undefined) void this.ensure(groupId);
  }

  /** Brings placeholders and groups together again. @param groupIds all streams groups. */
  sweep(groupIds: readonly string[]): void {
    if (this.isClosed) return;
    const nowMs = this.parts.clock.monotonicMs();
    const mayLeave = (groupId: string): boolean =>
      !this.hasMembers(groupId) && nowMs >= (this.byGroup.get(groupId)?.neededUntilMs ?? 0);
    for (const groupId of groupIds) {
      if (this.hasMembers(groupId)) void this.ensure(groupId);
      else if (!this.tidied.has(groupId) && mayLeave(groupId)) this.leaveSoon(groupId);
    }
    const live = new Set(groupIds);
    for (const groupId of this.tidied) if (!live.has(groupId)) this.tidied.delete(groupId);
    for (const groupId of this.byGroup.keys()) if (mayLeave(groupId)) this.leaveSoon(groupId);
  }

  /** Stops the beats. The placeholders stay: whoever comes next takes over. */
  close(): void {
    this.isClosed = true;
    for (const { cancelBeat } of this.byGroup.values()) cancelBeat();
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
      isFenced: false,
      missedBeats: 0,
      neededUntilMs: 0,
      cancelBeat: () => undefined,
    };
    this.byGroup.set(groupId, made);
    return made;
  }

  private async locked<T>(groupId: string, work: () => Promise<T>): Promise<T> {
    return this.parts.locks.run([`placeholder ${groupId}`], work);
  }

  private async join(placeholder: Placeholder): Promise<Hold> {
    await this.turn();
    try {
      return await this.joinInTurn(placeholder);
    } finally {
      this.joinsUnderWay -= 1;
      this.waiting.shift()?.();
    }
  }

  /** Waits until there is room for one more join. */
  private async turn(): Promise<void> {
    while (this.joinsUnderWay >= JOINS_AT_ONCE_MAX) {
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    }
    this.joinsUnderWay += 1;
  }

  private async joinInTurn(placeholder: Placeholder): Promise<Hold> {
    const { groupId } = placeholder;
    const { log } = this.parts;
    for (let attempt = 0; attempt < JOIN_ATTEMPTS_MAX && !this.isClosed; attempt++) {
      const joined = await this.tryJoin(groupId).catch((error: unknown) => {
        const isForeseen = error instanceof UpstreamError;
        if (isForeseen) log.debug({ groupId, reason: error.message }, 'Placeholder could not join');
        else log.error({ groupId, err: error }, 'Placeholder could not join');
        // A cluster that never had a group makes its place for them when first asked.
        return isForeseen && error.fault === 'refused' ? ('later' as const) : ('away' as const);
      });
      if (typeof joined === 'object' && joined.kind === 'joined') {
        placeholder.identity = joined.identity;
        placeholder.missedBeats = 0;
        this.tidied.delete(groupId);
        this.armBeat(placeholder, this.beatMs());
        log.info({ groupId, ...joined.identity }, 'Placeholder has joined upstream');
        return 'joined';
      }
      const verdict = this.verdict(groupId, joined);
      if (verdict !== 'again') return verdict;
      await this.pause(Math.min(JOIN_BACK_OFF_FIRST_MS * 2 ** attempt, JOIN_BACK_OFF_MAX_MS));
    }
    return 'unavailable';
  }

  /** What a join that did not succeed means; `again` after putting right what can be. */
  private verdict(groupId: string, joined: Joined | 'later' | 'away'): Hold | 'again' {
    const { pool, log } = this.parts;
    pool.forgetCoordinator(groupId);
    if (joined === 'away') return 'unavailable';
    if (joined === 'later') return 'again';
    if (joined.kind === 'joined') return 'joined';
    const { step, code } = joined;
    if (code === codes.badSession && this.sessionChoice < SESSION_TIMEOUTS_MS.length - 1) {
      this.sessionChoice += 1;
      return 'again';
    }
    if (MOVED.includes(code) || step === 'sync') return 'again';
    log.warn({ groupId, code }, 'Placeholder was refused upstream');
    if (code === codes.notAllowed) return 'forbidden';
    return CONFLICTS.includes(code) ? 'conflict' : 'unavailable';
  }

  private async tryJoin(groupId: string): Promise<Joined> {
    const { pool } = this.parts;
    const connection = await pool.open(await pool.coordinatorId(groupId));
    try {
      return await joinShadowGroup(connection, {
        groupId,
        instanceId: this.instanceId(groupId),
        sessionTimeoutMs: this.sessionTimeoutMs(),
      });
    } finally {
      connection.close();
    }
  }

  /** Names the shard: whoever serves it joins under this name (wire.md 4.9). */
  private instanceId(groupId: string): string {
    return `headgate-shard-${shardOf(groupId, this.parts.shardCount)}`;
  }

  private sessionTimeoutMs(): number {
    return SESSION_TIMEOUTS_MS[this.sessionChoice] ?? SESSION_TIMEOUTS_MS[0];
  }

  private beatMs(): number {
    return Math.min(this.sessionTimeoutMs() / BEATS_PER_SESSION, BEAT_MAX_MS);
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
      this.armBeat(placeholder, this.beatMs());
    } else if (code === undefined || MOVED.includes(code)) {
      this.parts.pool.forgetCoordinator(groupId);
      const backOffMs = BEAT_RETRY_FIRST_MS * 2 ** Math.min(placeholder.missedBeats, 10);
      placeholder.missedBeats += 1;
      this.armBeat(placeholder, Math.min(backOffMs, this.beatMs()));
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
    if (code === codes.fenced) {
      placeholder.isFenced = true;
      log.error(
        { groupId },
        'Another gateway has taken the group over, it is served here no longer',
      );
      return;
    }
    if (code === codes.rebalancing) log.debug({ groupId }, 'Placeholder joins again');
    else log.warn({ groupId, code }, 'Placeholder lost its place upstream, joins again');
    if (this.hasMembers(groupId)) void this.ensure(groupId);
  }

  private leaveSoon(groupId: string): void {
    if (this.isFenced(groupId)) return;
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
    if (placeholder?.isFenced === true) {
      throw new UpstreamError('refused', `Another gateway coordinates "${groupId}" now`);
    }
    if (placeholder !== undefined) {
      placeholder.identity = undefined;
      placeholder.cancelBeat();
    }
    const connection = await pool.node(await pool.coordinatorId(groupId));
    const code = await leaveShadowGroup(connection, groupId, this.instanceId(groupId));
    if (MOVED.includes(code)) {
      pool.forgetCoordinator(groupId);
      throw new UpstreamError('refused', `Cannot leave "${groupId}" upstream: error ${code}`);
    }
    this.tidied.add(groupId);
    if (placeholder?.joining === undefined) this.byGroup.delete(groupId);
  }

  private async pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.parts.clock.after(delayMs, resolve);
    });
  }
}
