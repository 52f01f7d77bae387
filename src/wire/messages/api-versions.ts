import { array, bool, i16, i32, i64, message, str, struct } from '../schema.ts';

/** Source: wire.md section 3, key 18. */
export const apiVersionsRequest = message(
  { versions: [0, 5], flexibleSince: 3 },
  {
    clientSoftwareName: str.since(3).ignorable(),
    clientSoftwareVersion: str.since(3).ignorable(),
    clusterId: str.nullable().since(5).ignorable(),
    nodeId: i32.since(5).default(-1).ignorable(),
  },
);

/** Source: wire.md section 3, key 18. */
export const apiVersionsResponse = message(
  { versions: [0, 5], flexibleSince: 3 },
  {
    errorCode: i16,
    apiKeys: array(
      struct({
        apiKey: i16,
        minVersion: i16,
        maxVersion: i16,
      }),
    ),
    throttleTimeMs: i32.since(1).ignorable(),
    supportedFeatures: array(
      struct({
        name: str,
        minVersion: i16,
        maxVersion: i16,
      }),
    )
      .since(3)
      .tagged(0)
      .ignorable(),
    finalizedFeaturesEpoch: i64.since(3).default(-1n).tagged(1).ignorable(),
    finalizedFeatures: array(
      struct({
        name: str,
        maxVersionLevel: i16,
        minVersionLevel: i16,
      }),
    )
      .since(3)
      .tagged(2)
      .ignorable(),
    zkMigrationReady: bool.since(3).tagged(3).ignorable(),
  },
);
