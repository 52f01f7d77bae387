/** Castagnoli, reflected. */
const POLYNOMIAL = 0x82f6_3b78;

const table = new Int32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  table[byte] = crc;
}

/**
 * CRC-32C of the bytes from `start` to `end`, 0 to 2^32 - 1; "123456789" gives 0xE3069283. Node's own crc32 has
 * the other polynomial.
 *
 * Source: wire.md 3.4.
 */
export function crc32c(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  let crc = -1;
  for (let at = start; at < end; at++) {
    crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] as number)) & 0xff] as number);
  }
  return ~crc >>> 0;
}
