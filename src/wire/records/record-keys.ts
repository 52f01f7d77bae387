import { i32, message, str } from '../schema.ts';

/** Keys are never flexible and have one version; the record type that stands before them is not part of it (LG-3). */
export const groupKey = message({ versions: [0, 0] }, { groupId: str });

export const memberKey = message({ versions: [0, 0] }, { groupId: str, memberId: str });

/** Of record type 2, which names the field differently. */
export const classicGroupKey = message({ versions: [0, 0] }, { group: str });

export const offsetKey = message({ versions: [0, 0] }, { group: str, topic: str, partition: i32 });

export const regularExpressionKey = message(
  { versions: [0, 0] },
  { groupId: str, regularExpression: str },
);
