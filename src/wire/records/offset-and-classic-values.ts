import { array, bytes, i32, i64, message, str, struct, uuid } from '../schema.ts';

/** Record type 0. */
export const legacyOffsetCommitValue = message(
  { versions: [0, 0] },
  {
    offset: i64,
    metadata: str,
    commitTimestamp: i64,
  },
);

/** Record type 1. */
export const offsetCommitValue = message(
  { versions: [0, 4], flexibleSince: 4 },
  {
    offset: i64,
    leaderEpoch: i32.since(3).default(-1).ignorable(),
    metadata: str,
    commitTimestamp: i64,
    expireTimestamp: i64.since(1).until(1).default(-1n).ignorable(),
    topicId: uuid.since(4).tagged(0).ignorable(),
  },
);

const memberMetadata = struct({
  memberId: str,
  groupInstanceId: str.nullable().since(3).ignorable(),
  clientId: str,
  clientHost: str,
  rebalanceTimeout: i32.since(1).default(-1).ignorable(),
  sessionTimeout: i32,
  subscription: bytes,
  assignment: bytes,
});

/** Record type 2. */
export const groupMetadataValue = message(
  { versions: [0, 4], flexibleSince: 4 },
  {
    protocolType: str,
    generation: i32,
    protocol: str.orNull(),
    leader: str.orNull(),
    currentStateTimestamp: i64.since(2).default(-1n).ignorable(),
    members: array(memberMetadata),
  },
);
