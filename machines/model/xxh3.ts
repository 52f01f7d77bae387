/** The algorithm's own constants: a fixed secret of 192 bytes and primes. */
const SECRET = viewOfHex(
  'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f' +
    'cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c' +
    '3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8' +
    'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364' +
    'eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e' +
    '2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e',
);
const SECRET_BYTES = 192;
const PRIME32_1 = 0x9e3779b1n;
const PRIME32_2 = 0x85ebca77n;
const PRIME32_3 = 0xc2b2ae3dn;
const PRIME64_1 = 0x9e3779b185ebca87n;
const PRIME64_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME64_3 = 0x165667b19e3779f9n;
const PRIME64_4 = 0x85ebca77c2b2ae63n;
const PRIME64_5 = 0x27d4eb2f165667c5n;
const PRIME_MX1 = 0x165667919e3779f9n;
const PRIME_MX2 = 0x9fb21c651e98df25n;
const START = [
  PRIME32_3,
  PRIME64_1,
  PRIME64_2,
  PRIME64_3,
  PRIME64_4,
  PRIME32_2,
  PRIME64_5,
  PRIME32_1,
] as const;

const LOW_32 = 0xffff_ffffn;
const STRIPE_BYTES = 64;
const LANES = 8;
const LANE_BYTES = 8;
const STRIPES_PER_BLOCK = (SECRET_BYTES - STRIPE_BYTES) / LANE_BYTES;
const BLOCK_BYTES = STRIPES_PER_BLOCK * STRIPE_BYTES;

/**
 * XXH3, 64 bits, seed 0, of all the bytes; a signed int64, as Kafka stores it.
 *
 * Written for being right, not for speed: it runs when topics change, not per request.
 *
 * Source: records-and-configs 17.7.
 */
export function xxh3(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return BigInt.asIntN(64, hashOf(view));
}

function hashOf(input: DataView): bigint {
  const { byteLength } = input;
  if (byteLength > 240) return hashOfLong(input);
  if (byteLength > 128) return hashOf129To240(input);
  if (byteLength > 16) return hashOf17To128(input);
  if (byteLength > 8) return hashOf9To16(input);
  if (byteLength >= 4) return hashOf4To8(input);
  if (byteLength > 0) return hashOf1To3(input);
  return oldAvalanche(at64(SECRET, 56) ^ at64(SECRET, 64));
}

function hashOf1To3(input: DataView): bigint {
  const length = input.byteLength;
  const first = input.getUint8(0);
  const middle = input.getUint8(length >> 1);
  const last = input.getUint8(length - 1);
  const combined = ((first << 16) | (middle << 24) | last | (length << 8)) >>> 0;
  return oldAvalanche(BigInt(combined) ^ at32(SECRET, 0) ^ at32(SECRET, 4));
}

function hashOf4To8(input: DataView): bigint {
  const length = input.byteLength;
  const keyed = at32(input, length - 4) + (at32(input, 0) << 32n);
  let hash = keyed ^ at64(SECRET, 8) ^ at64(SECRET, 16);
  hash ^= rotated(hash, 49n) ^ rotated(hash, 24n);
  hash = wrap(hash * PRIME_MX2);
  hash ^= (hash >> 35n) + BigInt(length);
  hash = wrap(hash * PRIME_MX2);
  return hash ^ (hash >> 28n);
}

function hashOf9To16(input: DataView): bigint {
  const length = input.byteLength;
  const low = at64(input, 0) ^ at64(SECRET, 24) ^ at64(SECRET, 32);
  const high = at64(input, length - 8) ^ at64(SECRET, 40) ^ at64(SECRET, 48);
  return avalanche(BigInt(length) + swapped(low) + high + folded(low, high));
}

function hashOf17To128(input: DataView): bigint {
  const length = input.byteLength;
  let sum = BigInt(length) * PRIME64_1;
  // Pairs from both ends towards the middle, the outermost always.
  for (let pair = (length - 1) >> 5; pair >= 0; pair--) {
    sum += mixed(input, 16 * pair, 32 * pair);
    sum += mixed(input, length - 16 * (pair + 1), 32 * pair + 16);
  }
  return avalanche(sum);
}

function hashOf129To240(input: DataView): bigint {
  const length = input.byteLength;
  const rounds = length >> 4;
  let sum = BigInt(length) * PRIME64_1;
  for (let round = 0; round < 8; round++) sum += mixed(input, 16 * round, 16 * round);
  sum = avalanche(sum);
  for (let round = 8; round < rounds; round++) {
    sum += mixed(input, 16 * round, 16 * (round - 8) + 3);
  }
  return avalanche(sum + mixed(input, length - 16, 136 - 17));
}

function hashOfLong(input: DataView): bigint {
  const length = input.byteLength;
  const lanes: bigint[] = [...START];
  const blocks = Math.floor((length - 1) / BLOCK_BYTES);
  for (let block = 0; block < blocks; block++) {
    for (let stripe = 0; stripe < STRIPES_PER_BLOCK; stripe++) {
      accumulate(lanes, input, block * BLOCK_BYTES + stripe * STRIPE_BYTES, stripe * LANE_BYTES);
    }
    scramble(lanes);
  }
  const tail = blocks * BLOCK_BYTES;
  const stripes = Math.floor((length - 1 - tail) / STRIPE_BYTES);
  for (let stripe = 0; stripe < stripes; stripe++) {
    accumulate(lanes, input, tail + stripe * STRIPE_BYTES, stripe * LANE_BYTES);
  }
  accumulate(lanes, input, length - STRIPE_BYTES, SECRET_BYTES - STRIPE_BYTES - 7);
  let sum = BigInt(length) * PRIME64_1;
  for (let lane = 0; lane < LANES; lane += 2) {
    const offset = 11 + lane * LANE_BYTES;
    const one = laneOf(lanes, lane) ^ at64(SECRET, offset);
    const other = laneOf(lanes, lane + 1) ^ at64(SECRET, offset + LANE_BYTES);
    sum += folded(one, other);
  }
  return avalanche(sum);
}

function accumulate(lanes: bigint[], input: DataView, offset: number, secretOffset: number): void {
  for (let lane = 0; lane < LANES; lane++) {
    const value = at64(input, offset + lane * LANE_BYTES);
    const keyed = value ^ at64(SECRET, secretOffset + lane * LANE_BYTES);
    const neighbour = lane ^ 1;
    lanes[neighbour] = wrap(laneOf(lanes, neighbour) + value);
    lanes[lane] = wrap(laneOf(lanes, lane) + (keyed & LOW_32) * (keyed >> 32n));
  }
}

function scramble(lanes: bigint[]): void {
  for (let lane = 0; lane < LANES; lane++) {
    const value = laneOf(lanes, lane);
    const key = at64(SECRET, SECRET_BYTES - STRIPE_BYTES + lane * LANE_BYTES);
    lanes[lane] = wrap((value ^ (value >> 47n) ^ key) * PRIME32_1);
  }
}

function laneOf(lanes: readonly bigint[], lane: number): bigint {
  return lanes[lane] ?? 0n;
}

/** Sixteen bytes of input against sixteen of the secret. */
function mixed(input: DataView, offset: number, secretOffset: number): bigint {
  const low = at64(input, offset) ^ at64(SECRET, secretOffset);
  const high = at64(input, offset + 8) ^ at64(SECRET, secretOffset + 8);
  return folded(low, high);
}

/** The halves of the product of 128 bits, one on the other. */
function folded(one: bigint, other: bigint): bigint {
  const product = one * other;
  return wrap(product) ^ (product >> 64n);
}

function avalanche(sum: bigint): bigint {
  let hash = wrap(sum);
  hash ^= hash >> 37n;
  hash = wrap(hash * PRIME_MX1);
  return hash ^ (hash >> 32n);
}

/** The finish of the older XXH64, used for up to three bytes. */
function oldAvalanche(start: bigint): bigint {
  let hash = start ^ (start >> 33n);
  hash = wrap(hash * PRIME64_2);
  hash ^= hash >> 29n;
  hash = wrap(hash * PRIME64_3);
  return hash ^ (hash >> 32n);
}

function rotated(value: bigint, bits: bigint): bigint {
  return wrap((value << bits) | (value >> (64n - bits)));
}

function swapped(value: bigint): bigint {
  const scratch = new DataView(new ArrayBuffer(8));
  scratch.setBigUint64(0, value, true);
  return scratch.getBigUint64(0, false);
}

function wrap(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function at32(view: DataView, offset: number): bigint {
  return BigInt(view.getUint32(offset, true));
}

function at64(view: DataView, offset: number): bigint {
  return view.getBigUint64(offset, true);
}

function viewOfHex(hex: string): DataView {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at++) {
    bytes[at] = Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  }
  return new DataView(bytes.buffer);
}
