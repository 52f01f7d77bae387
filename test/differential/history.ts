/** Fields of a step, a request or an answer, by their names in a recorded trace. */
export type Fields = Readonly<Record<string, unknown>>;

/** One step in the form that test/recorded/README.md describes, not answered yet. */
export type Step = Fields & { readonly do: string; readonly as?: string };

/** What stands above the steps of a recorded trace. */
export type HistoryHead = {
  readonly name: string;
  readonly title: string;
  readonly rules: readonly string[];
  /** The seed all of it was drawn from. */
  readonly seed: number;
  /** Heartbeats that find internal topics missing wait until they were made. */
  readonly awaitInternalTopics: true;
  readonly topics: Readonly<Record<string, number>>;
  readonly topologies: Readonly<Record<string, Fields>>;
  readonly members: Readonly<Record<string, Fields>>;
  readonly groupConfigs: Fields;
};

/** Partitions by subtopology, as a recorded trace writes a task list. */
export type ShortTasks = Readonly<Record<string, readonly number[]>>;
export type OwnedTasks = {
  readonly activeTasks: ShortTasks;
  readonly standbyTasks: ShortTasks;
  readonly warmupTasks: ShortTasks;
};

export const NO_TASKS: OwnedTasks = { activeTasks: {}, standbyTasks: {}, warmupTasks: {} };
export const TASK_LISTS = ['activeTasks', 'standbyTasks', 'warmupTasks'] as const;
