import { array, bool, i8, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 32. */
export const describeConfigsRequest = message(
  { versions: [1, 4], flexibleSince: 4 },
  {
    resources: array(
      struct({
        resourceType: i8,
        resourceName: str,
        configurationKeys: array(str).orNull(),
      }),
    ),
    includeSynonyms: bool,
    includeDocumentation: bool.since(3),
  },
);

/** Source: wire.md section 3, key 32. */
export const describeConfigsResponse = message(
  { versions: [1, 4], flexibleSince: 4 },
  {
    throttleTimeMs: i32,
    results: array(
      struct({
        errorCode: i16,
        errorMessage: str.orNull(),
        resourceType: i8,
        resourceName: str,
        configs: array(
          struct({
            name: str,
            value: str.orNull(),
            readOnly: bool,
            configSource: i8.default(-1),
            isSensitive: bool,
            synonyms: array(
              struct({
                name: str,
                value: str.orNull(),
                source: i8,
              }),
            ),
            configType: i8.since(3).ignorable(),
            documentation: str.orNull().since(3).ignorable(),
          }),
        ),
      }),
    ),
  },
);
