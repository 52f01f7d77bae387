/** Gives `count` random bytes. */
export type RandomBytes = (count: number) => Uint8Array;

/**
 * A random id as Kafka writes them: URL-safe base64 of 16 bytes, 22 characters. It is a UUID of version 4, so never
 * one of Kafka's reserved ids, and never begins with `-`, which command lines take for an option.
 */
export function makeUuid(random: RandomBytes): string {
  const bytes = Buffer.from(random(16));
  bytes.writeUInt8(bytes.readUInt8(0) & 0x7f, 0);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('base64url');
}
