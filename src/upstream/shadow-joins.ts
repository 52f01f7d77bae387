import type { Clock, Log } from '../../actors/ports.ts';
import { shardOf } from '../../machines/model/ids.ts';
import { errorCode } from '../wire/errors.ts';
import type { UpstreamPool } from './pool.ts';
import type { Identity, Joined } from './shadow-member.ts';
import { joinShadowGroup } from './shadow-member.ts';
import { UpstreamError } from './upstream-error.ts';

/**
 * What came of a join: an identity, or why the group upstream is not held for us: `conflict` a group of another kind
 * has the id, `forbidden` we may not join, `unavailable` upstream cannot say now.
 */
export type JoinOutcome =
  | { readonly hold: 'joined'; readonly identity: Identity }
  | { readonly hold: 'conflict' | 'forbidden' | 'unavailable'; readonly reason: string };

export type ShadowJoinsParts = {
  readonly pool: UpstreamPool;
  readonly clock: Clock;
  readonly log: Log;
  readonly shardCount: number;
};

/** The longest that brokers allow by default first; a broker that allows less says 26. */
const SESSION_TIMEOUTS_MS = [1_800_000, 300_000, 45_000, 10_000] as const;
const BEATS_PER_SESSION = 10;
const BEAT_MAX_MS = 30_000;
const ATTEMPTS_MAX = 8;
const BACK_OFF_FIRST_MS = 50;
const BACK_OFF_MAX_MS = 2_000;
/**
 * A join waits upstream for group.initial.rebalance.delay.ms (3 s by default), so many groups that start together must
 * not wait for each other. Each join under way has a connection of its own.
 */
const AT_ONCE_MAX = 128;

const codes = {
  badSession: errorCode('INVALID_SESSION_TIMEOUT'),
  notAllowed: errorCode('GROUP_AUTHORIZATION_FAILED'),
};
/** The coordinator upstream is elsewhere, or not ready. */
export const MOVED: readonly number[] = [
  errorCode('COORDINATOR_LOAD_IN_PROGRESS'),
  errorCode('COORDINATOR_NOT_AVAILABLE'),
  errorCode('NOT_COORDINATOR'),
];
const CONFLICTS: readonly number[] = [
  errorCode('INCONSISTENT_GROUP_PROTOCOL'),
  errorCode('GROUP_ID_NOT_FOUND'),
  errorCode('GROUP_MAX_SIZE_REACHED'),
];

/**
 * Joins groups upstream as their placeholders, so many at a time, each with some attempts: a cluster that never had a
 * group makes its place for them when first asked, and a coordinator may be moving.
 *
 * Source: wire.md 4.9, 4.10; coordination JOIN-3.
 */
export class ShadowJoins {
  private readonly parts: ShadowJoinsParts;
  private readonly waiting: (() => void)[] = [];
  private underWay = 0;
  private sessionChoice = 0;
  private isClosed = false;

  constructor(parts: ShadowJoinsParts) {
    this.parts = parts;
  }

  /** Waits until there is room for one more join, then joins. Never rejects. */
  async join(groupId: string): Promise<JoinOutcome> {
    await this.turn();
    try {
      return await this.joinInTurn(groupId);
    } finally {
      this.underWay -= 1;
      this.waiting.shift()?.();
    }
  }

  /** Names the shard: whoever serves it joins under this name (wire.md 4.9). */
  instanceId(groupId: string): string {
    return `headgate-shard-${shardOf(groupId, this.parts.shardCount)}`;
  }

  /** How often a placeholder beats. */
  beatMs(): number {
    return Math.min(this.sessionTimeoutMs() / BEATS_PER_SESSION, BEAT_MAX_MS);
  }

  /** No further attempts. */
  close(): void {
    this.isClosed = true;
  }

  private async turn(): Promise<void> {
    while (this.underWay >= AT_ONCE_MAX) {
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    }
    this.underWay += 1;
  }

  private async joinInTurn(groupId: string): Promise<JoinOutcome> {
    let last: JoinOutcome = { hold: 'unavailable', reason: 'The gateway is being closed' };
    for (let attempt = 0; attempt < ATTEMPTS_MAX && !this.isClosed; attempt++) {
      const { outcome, isFinal } = await this.attempt(groupId);
      if (outcome.hold !== 'joined') this.parts.pool.forgetCoordinator(groupId);
      if (isFinal) return outcome;
      last = outcome;
      await this.pause(Math.min(BACK_OFF_FIRST_MS * 2 ** attempt, BACK_OFF_MAX_MS));
    }
    return last;
  }

  private async attempt(groupId: string): Promise<Attempt> {
    try {
      return this.verdict(await this.tryJoin(groupId));
    } catch (error) {
      const isForeseen = error instanceof UpstreamError;
      if (!isForeseen) this.parts.log.error({ groupId, err: error }, 'Placeholder could not join');
      const outcome = unavailable(isForeseen ? error.message : 'It failed for a reason of our own');
      // A cluster that never had a group makes its place for them when first asked.
      return { outcome, isFinal: !isForeseen || error.fault !== 'refused' };
    }
  }

  /** What an answer means, after putting right what can be. */
  private verdict(joined: Joined): Attempt {
    if (joined.kind === 'joined') {
      return { outcome: { hold: 'joined', identity: joined.identity }, isFinal: true };
    }
    if (joined.kind === 'taken') {
      const reason = `A group of type ${joined.type} has the id`;
      return { outcome: { hold: 'conflict', reason }, isFinal: true };
    }
    const { step, code } = joined;
    const reason = `Upstream refused the ${step} with error ${code}`;
    if (code === codes.badSession && this.sessionChoice < SESSION_TIMEOUTS_MS.length - 1) {
      this.sessionChoice += 1;
      return { outcome: unavailable(reason), isFinal: false };
    }
    if (MOVED.includes(code) || step === 'sync') {
      return { outcome: unavailable(reason), isFinal: false };
    }
    if (code === codes.notAllowed) return { outcome: { hold: 'forbidden', reason }, isFinal: true };
    const hold = CONFLICTS.includes(code) ? 'conflict' : 'unavailable';
    return { outcome: { hold, reason }, isFinal: true };
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

  private sessionTimeoutMs(): number {
    return SESSION_TIMEOUTS_MS[this.sessionChoice] ?? SESSION_TIMEOUTS_MS[0];
  }

  private async pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.parts.clock.after(delayMs, resolve);
    });
  }
}

type Attempt = { readonly outcome: JoinOutcome; readonly isFinal: boolean };

function unavailable(reason: string): JoinOutcome {
  return { hold: 'unavailable', reason };
}
