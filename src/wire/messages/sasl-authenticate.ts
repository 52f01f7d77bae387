import { bytes, i16, i64, message, str } from '../schema.ts';

/** Source: wire.md section 3, key 36. */
export const saslAuthenticateRequest = message(
  { versions: [0, 2], flexibleSince: 2 },
  {
    authBytes: bytes,
  },
);

/** Source: wire.md section 3, key 36. */
export const saslAuthenticateResponse = message(
  { versions: [0, 2], flexibleSince: 2 },
  {
    errorCode: i16,
    errorMessage: str.orNull(),
    authBytes: bytes,
    sessionLifetimeMs: i64.since(1).ignorable(),
  },
);
