import type { Clock, Log, TopicList, TopicsPort } from '../../actors/ports.ts';
import type { TopicMetadata, TopicsView } from '../../machines/model/topics.ts';
import { within } from '../within.ts';
import { UpstreamNames } from './upstream-names.ts';

/** What a look at the cluster says of one topic; `unclear`: it did not say, ask again. */
export type TopicLook = {
  readonly name: string;
  readonly seen: TopicMetadata | 'missing' | 'unclear';
};

/** Looks at topics by name: one entry for each. Rejects when the cluster cannot be asked. */
export type LookAtTopics = (names: readonly string[]) => Promise<readonly TopicLook[]>;

/** Looks at all topics: their names, and as {@link LookAtTopics} those that are wanted. Rejects as it does. */
export type LookAtAllTopics = (isWanted: (name: string) => boolean) => Promise<{
  readonly names: readonly string[];
  readonly looks: readonly TopicLook[];
}>;

export type UpstreamTopicsParts = {
  readonly look: LookAtTopics;
  readonly lookAtAll: LookAtAllTopics;
  readonly clock: Clock;
  readonly log: Log;
  readonly pollMs: number;
  /** `upstream.topic.list.poll.ms`. */
  readonly listPollMs: number;
  /** 0 to 1, for the jitter of the poll. */
  readonly chance: () => number;
  /** Names that live topologies need now; asked before each poll. */
  readonly namesInUse: () => Iterable<string>;
};

/** Of the poll interval, up or down. */
const JITTER = 0.1;
/** After a reason to look at once: brokers learn of a change one after the other. */
const QUICK_LOOKS_MS = [100, 200, 400, 800, 1_600] as const;
/** A name that no topology needs is forgotten after this long. */
const FORGET_AFTER_MS = 300_000;
const NAMES_PER_LOOK = 2_000;
const NAMES_MAX = 100_000;
/** How long a join waits for the first look at its topics, or at all of them. */
const FIRST_LOOK_MS = 5_000;

/**
 * The topics of the cluster upstream, as far as someone asked for them, looked at again and again.
 *
 * What grows or appears counts at once. What shrinks, vanishes or comes with another id counts when two looks in a
 * row say the same: brokers can lag behind each other, and a topic taken for gone costs a group its tasks.
 *
 * Source: wire.md 4.11; coordination TOP-11, TOP-12.
 */
export class UpstreamTopics implements TopicsPort {
  private readonly parts: UpstreamTopicsParts;
  /** Null: looked at, is not there. */
  private readonly known = new Map<string, TopicMetadata | null>();
  /** What the last look said where one more is needed to believe it. */
  private readonly doubtful = new Map<string, string>();
  private readonly wantedAtMs = new Map<string, number>();
  private readonly firstLooks = new Map<string, Promise<void>>();
  private readonly names: UpstreamNames;
  private listing: Promise<void> | undefined;
  private readonly listeners: ((names: readonly string[]) => void)[] = [];
  private shown: TopicsView = viewOf(new Map());
  private quickLooks = 0;
  private polling: Promise<void> | undefined;
  private isPokedMeanwhile = false;
  private isStopped = true;
  private cancelTimer = (): void => undefined;

  constructor(parts: UpstreamTopicsParts) {
    this.parts = parts;
    this.names = new UpstreamNames(parts.listPollMs);
  }

  view(): TopicsView {
    return this.shown;
  }

  onChange(listener: (names: readonly string[]) => void): void {
    this.listeners.push(listener);
  }

  /** Says whether all these names have been looked at: whether their absence means that they are not there. */
  knows(names: readonly string[]): boolean {
    return names.every((name) => this.known.has(name));
  }

  /** As {@link knows}, after a look at those that have not been; waits 5 s at most. Never rejects. */
  async learns(names: readonly string[]): Promise<boolean> {
    return this.knows(names) || this.ensureKnown(names);
  }

  /** Looks at names that are not known or were not there; waits 5 s at most. */
  async ensureKnown(names: readonly string[]): Promise<boolean> {
    const nowMs = this.parts.clock.monotonicMs();
    for (const name of names) this.want(name, nowMs);
    const asked = names.filter((name) => !this.known.get(name) && this.wantedAtMs.has(name));
    const fresh = asked.filter((name) => !this.firstLooks.has(name));
    if (fresh.length > 0) {
      const look = this.lookAt(fresh).catch((error: unknown) => this.logFailure(error));
      const settled = look.then(() => {
        for (const name of fresh) this.firstLooks.delete(name);
      });
      for (const name of fresh) this.firstLooks.set(name, settled);
    }
    const looks = new Set(asked.flatMap((name) => this.firstLooks.get(name) ?? []));
    if (looks.size > 0) await within(this.parts.clock, FIRST_LOOK_MS, Promise.all(looks));
    return this.knows(names);
  }

  async listAll(): Promise<TopicList> {
    const fresh = this.names.ask(this.parts.clock.monotonicMs());
    if (fresh !== undefined) return fresh;
    this.listing ??= this.lookAtAll().finally(() => {
      this.listing = undefined;
    });
    let failure: unknown = new Error(
      `The topics upstream were not listed after ${FIRST_LOOK_MS} ms`,
    );
    let isListed = false;
    const listed = this.listing.then(
      () => {
        isListed = true;
      },
      (error: unknown) => {
        failure = error;
      },
    );
    await within(this.parts.clock, FIRST_LOOK_MS, listed);
    const list = this.names.last;
    if (!isListed || list === undefined) throw failure;
    return list;
  }

  /** Begins to poll. */
  start(): void {
    this.isStopped = false;
    this.arm(this.parts.pollMs);
  }

  stop(): void {
    this.isStopped = true;
    this.cancelTimer();
  }

  /** Looks at once, and some more times soon: something about the topics has been changed. */
  poke(): void {
    if (this.isStopped) return;
    this.quickLooks = 0;
    if (this.polling === undefined) this.poll();
    else this.isPokedMeanwhile = true;
  }

  private want(name: string, nowMs: number): void {
    if (this.wantedAtMs.size < NAMES_MAX || this.wantedAtMs.has(name)) {
      this.wantedAtMs.set(name, nowMs);
    }
  }

  private arm(delayMs: number): void {
    this.cancelTimer();
    if (!this.isStopped) this.cancelTimer = this.parts.clock.after(delayMs, () => this.poll());
  }

  private poll(): void {
    this.cancelTimer();
    this.polling = this.pollOnce()
      .catch((error: unknown) => this.logFailure(error))
      .then(() => {
        this.polling = undefined;
        if (this.isPokedMeanwhile) {
          this.isPokedMeanwhile = false;
          this.poll();
        } else this.arm(this.nextDelayMs());
      });
  }

  private nextDelayMs(): number {
    const { pollMs, chance } = this.parts;
    const quickMs = QUICK_LOOKS_MS[this.quickLooks] ?? Number.POSITIVE_INFINITY;
    this.quickLooks += 1;
    // What is doubted waits for the second look alone.
    if (this.doubtful.size > 0) return Math.min(quickMs, pollMs, QUICK_LOOKS_MS[0]);
    return Math.min(quickMs, pollMs * (1 + JITTER * (2 * chance() - 1)));
  }

  private async pollOnce(): Promise<void> {
    const nowMs = this.parts.clock.monotonicMs();
    for (const name of this.parts.namesInUse()) this.want(name, nowMs);
    for (const [name, wantedAtMs] of this.wantedAtMs) {
      if (nowMs - wantedAtMs > FORGET_AFTER_MS) this.forget(name);
    }
    const isQuick = this.quickLooks <= QUICK_LOOKS_MS.length;
    if (this.names.isDue(nowMs, isQuick)) {
      try {
        return await this.lookAtAll();
      } catch (error) {
        // An answer with all topics can be too much for a cluster that still answers about those in use.
        this.logFailure(error);
      }
    }
    await this.lookAt([...this.wantedAtMs.keys()]);
  }

  /** What is wanted and not among all topics is not there. */
  private async lookAtAll(): Promise<void> {
    const wanted = [...this.wantedAtMs.keys()];
    const { names, looks } = await this.parts.lookAtAll((name) => this.wantedAtMs.has(name));
    const seen = new Set(names);
    const absent = wanted.filter((name) => !seen.has(name));
    this.take([...looks, ...absent.map((name) => ({ name, seen: 'missing' as const }))]);
    // What is only doubted to be gone is still there.
    const doubted = absent.filter((name) => this.known.get(name));
    const changed = this.names.take([...names, ...doubted], this.parts.clock.monotonicMs());
    if (changed.length > 0) for (const listener of this.listeners) listener(changed);
  }

  private forget(name: string): void {
    this.wantedAtMs.delete(name);
    this.doubtful.delete(name);
    // Nobody uses it, so nobody is told.
    if (this.known.delete(name)) this.shown = viewOf(this.known);
  }

  private async lookAt(names: readonly string[]): Promise<void> {
    for (let from = 0; from < names.length; from += NAMES_PER_LOOK) {
      this.take(await this.parts.look(names.slice(from, from + NAMES_PER_LOOK)));
    }
  }

  private take(looks: readonly TopicLook[]): void {
    const changed = looks.flatMap((look) => (this.takeOne(look) ? look.name : []));
    if (changed.length === 0) return;
    this.shown = viewOf(this.known);
    this.parts.log.debug({ topics: changed }, 'Topics upstream have changed');
    for (const listener of this.listeners) listener(changed);
  }

  /** Says whether what is shown of the topic changed. */
  private takeOne({ name, seen }: TopicLook): boolean {
    if (seen === 'unclear') return false;
    const before = this.known.get(name) ?? null;
    const after = seen === 'missing' ? null : seen;
    const told = JSON.stringify(after);
    if (isLoss(before, after) && this.doubtful.get(name) !== told) {
      this.doubtful.set(name, told);
      return false;
    }
    this.doubtful.delete(name);
    this.known.set(name, after);
    return told !== JSON.stringify(before);
  }

  private logFailure(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.parts.log.debug({ reason }, 'Topics upstream could not be looked at');
  }
}

/** Gone, smaller, or another topic of the same name. */
function isLoss(before: TopicMetadata | null, after: TopicMetadata | null): boolean {
  if (before === null) return false;
  return (
    after === null ||
    after.topicId !== before.topicId ||
    after.partitionCount < before.partitionCount
  );
}

function viewOf(known: ReadonlyMap<string, TopicMetadata | null>): TopicsView {
  const topics = new Map(known);
  return { topic: (name) => topics.get(name) ?? undefined };
}
