/** Member epochs with a meaning of their own on the wire. */
export const JOIN_EPOCH = 0;
export const LEAVE_EPOCH = -1;
export const STATIC_LEAVE_EPOCH = -2;

/** Group and assignment epoch of a group that was just made (JOIN-1, WR-11). */
export const FIRST_GROUP_EPOCH = 1;
/** Validated topology epoch while the topology is not ready (SC-5). */
export const NOT_VALIDATED = -1;
/** Epochs are int32 and must not wrap (WR-12). */
export const LAST_EPOCH = 2 ** 31 - 1;

/** Java's `String.hashCode`: over UTF-16 code units, in 32 bits. */
export function javaHashCode(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}

/**
 * The shard a group belongs to, as Kafka picks its log partition.
 *
 * Source: records-and-configs LG-2.
 */
export function shardOf(groupId: string, shardCount: number): number {
  const hash = javaHashCode(groupId);
  return (hash === -(2 ** 31) ? 0 : Math.abs(hash)) % shardCount;
}

/** Code-unit order, which Java and JavaScript share; never a locale's. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
