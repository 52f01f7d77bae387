import type { LookedBack } from '../machines/decide/looked-back.ts';
import type { Context, GroupDecision, GroupSlot, RunOutcome } from '../machines/decision.ts';
import type { SearchOutcome } from '../machines/model/patterns.ts';
import type { PersistentMap } from '../machines/model/persistent-map.ts';
import type { ErrorName } from '../machines/model/refusal.ts';
import type { Length } from './mailbox.ts';
import type { RunLookBack } from './ports.ts';
import type { TimerPurpose } from './timer-purpose.ts';
import type { Fired } from './timers.ts';

/** Everything known in one shard, by group id. */
export type Slots = PersistentMap<GroupSlot>;

/** A command to one group: decided on its slot, answered once what it wrote and saw is committed. */
export type GroupCommand<T> = {
  readonly kind: 'command';
  readonly groupId: string;
  /** Named in the journal. */
  readonly cause: string;
  readonly memberId: string | null;
  readonly length: Length;
  /** Undefined: there is nothing to do, and nobody waits. */
  readonly decide: (slot: GroupSlot | undefined, context: Context) => GroupDecision<T> | undefined;
  /** The same answer as an error. */
  readonly refuse: (error: ErrorName, text: string | null) => T;
  readonly reply: (answer: T) => void;
};

/** A question that changes nothing. */
export type Question<T> = {
  readonly kind: 'question';
  /**
   * `committed`: the state of the last commit, answered at once. `applied`: everything decided so far in this group,
   * answered once that is committed (BA-4).
   */
  readonly of: 'committed' | 'applied';
  /** The group it is about; undefined: the whole shard. */
  readonly groupId: string | undefined;
  readonly length: Length;
  readonly ask: (slots: Slots) => T;
  readonly refuse: (error: ErrorName) => T;
  readonly reply: (answer: T) => void;
};

// biome-ignore lint/suspicious/noExplicitAny: a queue holds commands with answers of every type; each keeps its own.
export type AnyCommand = GroupCommand<any>;
// biome-ignore lint/suspicious/noExplicitAny: as above.
export type AnyQuestion = Question<any>;

/** Everything that reaches a shard. What changes state is one of these; there is no other way in. */
export type Message =
  | AnyCommand
  | AnyQuestion
  | { readonly kind: 'timer'; readonly fired: Fired<TimerPurpose> }
  | {
      readonly kind: 'runOver';
      readonly groupId: string;
      readonly outcome: RunOutcome;
      readonly lookBack: RunLookBack | undefined;
    }
  | { readonly kind: 'lookedBack'; readonly groupId: string; readonly found: LookedBack }
  | { readonly kind: 'searchOver'; readonly groupId: string; readonly outcome: SearchOutcome }
  | { readonly kind: 'topicsChanged'; readonly names: ReadonlySet<string> }
  | {
      readonly kind: 'topicsDeleted';
      readonly topics: readonly { readonly name: string; readonly topicId: string }[];
    };

/** Lines of what is about all groups of a shard: news of topics do not wait for who asks about all groups. */
const ALL_GROUPS = Symbol('all groups');
const NEWS = Symbol('news of topics');

/** What this message keeps its place among: the messages of its group, or others of its kind that are about all groups. */
export function lineOf(message: Message): string | symbol {
  switch (message.kind) {
    case 'timer':
      return message.fired.what.type === 'sweep' ? ALL_GROUPS : message.fired.what.groupId;
    case 'question':
      return message.groupId ?? ALL_GROUPS;
    case 'topicsChanged':
    case 'topicsDeleted':
      return NEWS;
    default:
      return message.groupId;
  }
}

/**
 * What a message takes. News of topics are short although they may not be: a heartbeat that comes after them is to know of
 * them.
 */
export function lengthOf(message: Message): Length {
  switch (message.kind) {
    case 'command':
    case 'question':
      return message.length;
    case 'lookedBack':
    case 'topicsChanged':
    case 'topicsDeleted':
      return 'short';
    default:
      return 'long';
  }
}
