import type { FurthestOffsets, PartitionsAsked } from '../commands.ts';
import type { GroupSlot } from '../decision.ts';

/** The furthest offset committed to each partition asked for, over all these groups; -1 where none has committed. */
export function furthestOffsets(
  slots: Iterable<GroupSlot>,
  asked: readonly PartitionsAsked[],
): FurthestOffsets {
  const furthest = asked.map(({ partitions }) => partitions.map(() => -1n));
  for (const { offsets } of slots) {
    for (const [topicAt, { name, partitions }] of asked.entries()) {
      const committed = offsets.get(name);
      const ends = furthest[topicAt];
      if (committed === undefined || ends === undefined) continue;
      for (const [at, partition] of partitions.entries()) {
        const offset = committed.get(partition)?.offset ?? -1n;
        if (offset > (ends[at] ?? -1n)) ends[at] = offset;
      }
    }
  }
  return furthest;
}

/** The furthest of both, at each partition; both were asked the same. */
export function furtherOf(one: FurthestOffsets, other: FurthestOffsets): FurthestOffsets {
  return one.map((partitions, topicAt) =>
    partitions.map((offset, at) => {
      const second = other[topicAt]?.[at] ?? -1n;
      return second > offset ? second : offset;
    }),
  );
}
