import { array, bool, i8, i16, i32, message, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 19. */
export const createTopicsRequest = message(
  { versions: [2, 7], flexibleSince: 5 },
  {
    topics: array(
      struct({
        name: str,
        numPartitions: i32,
        replicationFactor: i16,
        assignments: array(
          struct({
            partitionIndex: i32,
            brokerIds: array(i32),
          }),
        ),
        configs: array(
          struct({
            name: str,
            value: str.orNull(),
          }),
        ),
      }),
    ),
    timeoutMs: i32.default(60000),
    validateOnly: bool,
  },
);

/** Source: wire.md section 3, key 19. */
export const createTopicsResponse = message(
  { versions: [2, 7], flexibleSince: 5 },
  {
    throttleTimeMs: i32,
    topics: array(
      struct({
        name: str,
        topicId: uuid.since(7).ignorable(),
        errorCode: i16,
        errorMessage: str.orNull(),
        topicConfigErrorCode: i16.since(5).tagged(0).ignorable(),
        numPartitions: i32.since(5).default(-1).ignorable(),
        replicationFactor: i16.since(5).default(-1).ignorable(),
        configs: array(
          struct({
            name: str,
            value: str.orNull(),
            readOnly: bool,
            configSource: i8.default(-1),
            isSensitive: bool,
          }),
        )
          .orNull()
          .since(5)
          .ignorable(),
      }),
    ),
  },
);
