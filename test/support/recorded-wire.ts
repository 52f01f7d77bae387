import type { HeartbeatAnswer, StatusName } from '../../machines/commands.ts';
import type { ErrorName } from '../../machines/model/refusal.ts';

type Fields = Readonly<Record<string, unknown>>;
type Body = Record<string, unknown>;

/** The numbers of the errors that these traces hold. */
export const ERROR_CODES: Partial<Record<ErrorName, number>> = {
  UNKNOWN_SERVER_ERROR: -1,
  NONE: 0,
  COORDINATOR_NOT_AVAILABLE: 15,
  UNKNOWN_MEMBER_ID: 25,
  INVALID_REQUEST: 42,
  GROUP_ID_NOT_FOUND: 69,
  GROUP_MAX_SIZE_REACHED: 81,
  FENCED_INSTANCE_ID: 82,
  FENCED_MEMBER_EPOCH: 110,
  UNRELEASED_INSTANCE_ID: 111,
  STREAMS_INVALID_TOPOLOGY: 130,
};
/** Numbers of the statuses; written down once more, so that a wrong one in the program is found. */
export const STATUS_CODES: Readonly<Record<StatusName, number>> = {
  STALE_TOPOLOGY: 0,
  MISSING_SOURCE_TOPICS: 1,
  INCORRECTLY_PARTITIONED_TOPICS: 2,
  MISSING_INTERNAL_TOPICS: 3,
  SHUTDOWN_APPLICATION: 4,
  ASSIGNMENT_DELAYED: 5,
  MISSING_CLIENT_TAGS: 6,
};

/** Offsets of a trace as the exact numbers they stand for; null where none are sent. */
export function exactOffsets(list: unknown): unknown {
  if (!Array.isArray(list)) return list ?? null;
  return list.map((each: Fields) => ({
    ...each,
    offset: BigInt(String(each['offset']).replace('long:', '')),
  }));
}

/** The answer as its wire form names things, for a version. */
export function onTheWire(answer: HeartbeatAnswer, version: number): Body {
  const { error, statuses, acceptableRecoveryLag, topologyDescriptionRequired, ...rest } = answer;
  const errorCode = ERROR_CODES[error];
  if (errorCode === undefined) throw new Error(`No code known for ${error}`);
  const byVersion =
    version >= 1
      ? { acceptableRecoveryLag, topologyDescriptionRequired }
      : { acceptableRecoveryLagLegacy: 0 };
  const status = statuses.map(({ status: name, detail }) => ({
    statusCode: STATUS_CODES[name],
    statusDetail: detail,
  }));
  return plain({ ...rest, ...byVersion, errorCode, status }) as Body;
}

/** The value as JSON has it; large numbers as the traces write them. */
export function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, field) => {
      if (typeof field !== 'bigint') return field;
      const small = Number(field);
      return Number.isSafeInteger(small) ? small : `long:${field}`;
    }),
  );
}
