const SEED = 0x9747_b28c;
const MULTIPLIER = 0x5bd1_e995;
const SHIFT = 24;

/** MurmurHash2 in 32 bits as Kafka's producers hash keys; a signed int32. */
export function murmur2(bytes: Uint8Array): number {
  const { length } = bytes;
  const at = (index: number): number => bytes[index] as number;
  let hash = SEED ^ length;
  const whole = length - (length % 4);
  for (let index = 0; index < whole; index += 4) {
    let word = at(index) | (at(index + 1) << 8) | (at(index + 2) << 16) | (at(index + 3) << 24);
    word = Math.imul(word, MULTIPLIER);
    word = Math.imul(word ^ (word >>> SHIFT), MULTIPLIER);
    hash = Math.imul(hash, MULTIPLIER) ^ word;
  }
  const left = length - whole;
  if (left === 3) hash ^= at(whole + 2) << 16;
  if (left >= 2) hash ^= at(whole + 1) << 8;
  if (left >= 1) hash = Math.imul(hash ^ at(whole), MULTIPLIER);
  hash = Math.imul(hash ^ (hash >>> 13), MULTIPLIER);
  return hash ^ (hash >>> 15);
}

/** The partition that a producer without a partitioner of its own sends a key to. */
export function partitionOfKey(key: Uint8Array, partitionCount: number): number {
  return (murmur2(key) & 0x7fff_ffff) % partitionCount;
}
