import { array, bool, i8, i16, i32, message, str, uuid } from '../schema.ts';

/** Source: wire.md section 3, key 71. */
export const getTelemetrySubscriptionsRequest = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    clientInstanceId: uuid,
  },
);

/** Source: wire.md section 3, key 71. */
export const getTelemetrySubscriptionsResponse = message(
  { versions: [0, 0], flexibleSince: 0 },
  {
    throttleTimeMs: i32,
    errorCode: i16,
    clientInstanceId: uuid,
    subscriptionId: i32,
    acceptedCompressionTypes: array(i8),
    pushIntervalMs: i32,
    telemetryMaxBytes: i32,
    deltaTemporality: bool,
    requestedMetrics: array(str),
  },
);
