import type { TopicList } from '../../actors/ports.ts';

/** No list is wanted any more when nobody asked for one this long: longer than groups that have patterns wait. */
const WANTED_MS = 900_000;
/** A list this young is not asked for again. */
const FRESH_MS = 5_000;
/** While topics are being changed through the gateway, lists are so far apart. */
const QUICK_GAP_MS = 500;

/**
 * The names of all topics upstream, kept only while someone asks for lists now and then: an answer with all topics is
 * large.
 */
export class UpstreamNames {
  private readonly pollMs: number;
  private list: TopicList | undefined;
  private version = 0;
  private listedAtMs = Number.NEGATIVE_INFINITY;
  private wantedAtMs = Number.NEGATIVE_INFINITY;

  /** @param pollMs `upstream.topic.list.poll.ms`. */
  constructor(pollMs: number) {
    this.pollMs = pollMs;
  }

  /** The list, if it is young enough; from now on lists are wanted. */
  ask(nowMs: number): TopicList | undefined {
    this.wantedAtMs = nowMs;
    return nowMs - this.listedAtMs < FRESH_MS ? this.list : undefined;
  }

  /** Says whether the next look is to be at all topics; drops a list that nobody wants. */
  isDue(nowMs: number, isQuick: boolean): boolean {
    if (nowMs - this.wantedAtMs > WANTED_MS) {
      this.list = undefined;
      return false;
    }
    return nowMs - this.listedAtMs >= (isQuick ? QUICK_GAP_MS : this.pollMs);
  }

  /** Takes a new list. @returns the names that came or went; none for a first list, of which nobody knows another. */
  take(names: Iterable<string>, nowMs: number): readonly string[] {
    this.listedAtMs = nowMs;
    const after = new Set(names);
    const before = this.list && new Set(this.list.names);
    const came = before === undefined ? [] : [...after].filter((name) => !before.has(name));
    const went = before === undefined ? [] : [...before].filter((name) => !after.has(name));
    const changed = [...came, ...went];
    if (before !== undefined && changed.length === 0) return changed;
    this.version += 1;
    this.list = { version: this.version, names: [...after].sort() };
    return changed;
  }

  /** The list that was taken last. */
  get last(): TopicList | undefined {
    return this.list;
  }
}
