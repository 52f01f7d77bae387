/** A topic of the cluster as the coordinator sees it. */
export type TopicMetadata = {
  readonly name: string;
  /** URL-safe base64 of the 16 bytes, 22 characters. */
  readonly topicId: string;
  readonly partitionCount: number;
  /** Per partition the racks of its replicas, ascending, each once; an empty list where none is known. */
  readonly racks: readonly (readonly string[])[];
};

/** The topic id that says "unknown": 16 zero bytes. */
export const UNKNOWN_TOPIC = 'A'.repeat(22);

/** A consistent look at the cluster's topics; a change makes a new one. */
export interface TopicsView {
  topic(name: string): TopicMetadata | undefined;
}
