import { array, bool, i8, i16, i32, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 57. */
export const updateFeaturesRequest = message(
  { versions: [0, 2], flexibleSince: 0 },
  {
    timeoutMs: i32.default(60000),
    featureUpdates: array(
      struct({
        feature: str,
        maxVersionLevel: i16,
        allowDowngrade: bool.until(0),
        upgradeType: i8.since(1).default(1),
      }),
    ),
    validateOnly: bool.since(1),
  },
);

/** Source: wire.md section 3, key 57. */
export const updateFeaturesResponse = message(
  { versions: [0, 2], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    errorMessage: str.orNull(),
    results: array(
      struct({
        feature: str,
        errorCode: i16,
        errorMessage: str.orNull(),
      }),
    )
      .until(1)
      .ignorable(),
  },
);
