import { array, i16, i32, message, str, struct, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 20. */
export const deleteTopicsRequest = message(
  { versions: [1, 6], flexibleSince: 4 },
  {
    topics: array(
      struct({
        name: str.nullable(),
        topicId: uuid,
      }),
    ).since(6),
    topicNames: array(str).until(5).ignorable(),
    timeoutMs: i32,
  },
);

/** Source: wire.md section 3, key 20. */
export const deleteTopicsResponse = message(
  { versions: [1, 6], flexibleSince: 4 },
  {
    throttleTimeMs: i32,
    responses: array(
      struct({
        name: str.orNull(6),
        topicId: uuid.since(6).ignorable(),
        errorCode: i16,
        errorMessage: str.nullable().since(5).ignorable(),
      }),
    ),
  },
);
