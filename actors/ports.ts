import type { GroupProblem, GroupResult } from '../machines/model/assignment.ts';
import type { StandIn } from '../machines/model/assignors.ts';
import type { GroupState } from '../machines/model/group.ts';
import type { AssignmentFigures, LookBack, TargetReport } from '../machines/model/look-back.ts';
import type { PatternSearch } from '../machines/model/patterns.ts';
import type { GroupSettings } from '../machines/model/settings.ts';
import type { TopicsView } from '../machines/model/topics.ts';
import type { CreatableTopic } from '../machines/model/topology.ts';
import type { GroupRecord } from '../machines/records.ts';

/** Time as the outside gives it. */
export interface Clock {
  /** Wall clock, ms since 1970. */
  nowMs(): number;
  /** Never runs backwards, ms. For deadlines. */
  monotonicMs(): number;
  /** Calls back once, no sooner than `delayMs` from now. The result cancels it. */
  after(delayMs: number, callback: () => void): () => void;
  /** Calls back after what is at hand now: the end of the turn. */
  soon(callback: () => void): void;
}

/** One operation's records: one atomic batch (BA-1). All records carry `timestampMs` (LG-10). */
export type RecordBatch = {
  readonly shard: number;
  readonly timestampMs: number;
  readonly records: readonly GroupRecord[];
};

/** Why an append failed, in the words of the log (records-and-configs 5.2). */
export type LogErrorName =
  | 'NOT_ENOUGH_REPLICAS'
  | 'REQUEST_TIMED_OUT'
  | 'NOT_LEADER_OR_FOLLOWER'
  | 'KAFKA_STORAGE_ERROR'
  | 'NETWORK_EXCEPTION'
  | 'MESSAGE_TOO_LARGE'
  | 'UNKNOWN_SERVER_ERROR';

/** What a {@link RecordLog} rejects with. */
export class LogError extends Error {
  override readonly name = 'LogError';
  readonly error: LogErrorName;
  constructor(error: LogErrorName, message: string, options?: { cause: unknown }) {
    super(message, options);
    this.error = error;
  }
}

/**
 * Where a shard's records go. A load gives, per key, the last value appended (compacted or whole, oldest first).
 */
export interface RecordLog {
  /**
   * The batch as it is to be appended, if it could be written at all: if it has a form on disk, of a size that is taken.
   * Throws {@link LogError} if not. To be asked before the batch joins others in an append, which fails as a whole; an
   * append of what was never admitted does the work of both.
   */
  admit(batch: RecordBatch): RecordBatch;
  /**
   * Appends batches of one shard, in order, each whole or not at all. Resolves when they are durable. Appends
   * may overlap; they become durable in the order of the calls. Once one fails, every later append of that shard
   * already called fails as well, so that nothing is kept that stood on what was lost; calls after the rejection
   * was delivered start afresh. Rejects with {@link LogError}.
   */
  append(batches: readonly RecordBatch[]): Promise<void>;
  /**
   * Hands over all records of one shard, then resolves. `onUnknown` is told of record types it does not know
   * (skipped, LG-6); a known record that does not parse rejects.
   */
  load(
    shard: number,
    onRecord: (record: GroupRecord) => void,
    onUnknown: (recordType: number) => void,
  ): Promise<void>;
  close(): Promise<void>;
}

/** What a run came to. */
export type AssignedRun = GroupResult & {
  /** Why, and how good it is: known some time later, or never. Left out by who assigns without looking back. */
  readonly lookBack?: RunLookBack;
};

/** Never rejects. */
export type RunLookBack = Promise<LookBack | undefined>;

/** Computes assignments off the event loop. */
export interface AssignorPort {
  /** Rejects when the run failed, was refused by the result checker, or passed its deadline. */
  assign(problem: GroupProblem, options: { readonly deadlineMs: number }): Promise<AssignedRun>;
  /** A run of this problem, or of one that is little else, is to come. Costs what changed since the last one. */
  prepare(problem: GroupProblem): void;
  /** The group is no more: nothing is kept of it. */
  forget(groupId: string): void;
}

/** The names of all topics there are. */
export type TopicList = {
  /** Grows with every change of the names. */
  readonly version: number;
  readonly names: readonly string[];
};

/** The cluster's topics. */
export interface TopicsPort {
  /** The newest look; cheap, called for every heartbeat. */
  view(): TopicsView;
  /** `listener` is told the names of topics that were created, deleted or changed, after `view()` shows it. */
  onChange(listener: (names: readonly string[]) => void): void;
  /**
   * Sees to it that `view()` has been asked about these names at least once; a gateway looks at the cluster,
   * a catalogue of one's own resolves at once. Never rejects.
   *
   * @returns whether that was done for each; what could not be found out stays unknown, and is not missing.
   */
  ensureKnown(names: readonly string[]): Promise<boolean>;
  /**
   * Lists every topic; {@link onChange} tells of later changes for as long as lists are asked for now and then. Rejects
   * when the cluster cannot be asked within some seconds.
   */
  listAll(): Promise<TopicList>;
}

/** Finds the topics that source topic patterns match, off the event loop. */
export interface PatternsPort {
  /**
   * Searches all topics there are, each pattern against whole names. `view()` of the topics knows what is found.
   * Takes some seconds at most and never rejects: what went wrong is in the result.
   */
  search(patterns: readonly string[]): Promise<PatternSearch>;
}

/** Creates internal topics; success is noticed through {@link TopicsPort} alone (C-9). */
export interface TopicCreatorPort {
  /** Asks for the topics not already being made nor failing; returns at once (C-2, C-4, C-5). */
  create(topics: readonly CreatableTopic[], failureTtlMs: number): void;
  /** Live failures of these topics as text for the status detail (C-8); undefined if none. */
  failures(topics: readonly CreatableTopic[]): string | undefined;
}

/** Settings that may change while the process runs. */
export interface SettingsPort {
  /** The settings of a group in force; the same object until one of them changes. */
  group(groupId: string): GroupSettings;
}

/** One entry of the history of decisions. */
export type JournalEntry = {
  readonly groupId: string;
  readonly atMs: number;
  readonly groupEpoch: number;
  readonly assignmentEpoch: number;
  readonly state: GroupState;
  /** What the decision answered: `heartbeat`, `session expired`, `target ready`, … */
  readonly cause: string;
  readonly memberId: string | null;
  readonly because: readonly string[];
  /** Of a run's target: what moves, one by one, and how good it is. */
  readonly report?: TargetReport;
};

/** Takes the history of decisions; bounded by age and size, never in the way of an answer. */
export interface JournalPort {
  write(entry: JournalEntry): void;
}

/** Is told, after the commit, what became of groups; a gateway keeps its upstream placeholder in step. */
export interface GroupWatcher {
  groupChanged(groupId: string, state: GroupState): void;
}

/** Numbers about the runtime (records-and-configs 10). Calls are cheap and never throw. */
export interface RuntimeMetrics {
  rebalanced(): void;
  offsetsCommitted(count: number): void;
  offsetsDeleted(count: number): void;
  offsetsExpired(count: number): void;
  /** Ms that a turn of a shard's mailbox took. */
  processed(runMs: number): void;
  /** Ms from applied to committed. */
  committed(waitMs: number): void;
  /** Ms of a load. */
  loaded(ms: number): void;
  /** Ms from a run's start to its outcome, and those of them on a thread, where that is known. */
  assignmentRun(outcome: 'assigned' | 'failed', ms: number, threadMs?: number): void;
  /** A target was installed whose run measured it. */
  targetInstalled(figures: AssignmentFigures): void;
  /** One of our assignors assigned in place of a user's own. */
  assignorStoodIn(standIn: StandIn): void;
}

/** Events for the operator. Fields by name; the text is fixed. */
export interface Log {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}
