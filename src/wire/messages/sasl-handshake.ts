import { array, i16, message, str } from '../schema.ts';

/** Source: wire.md section 3, key 17. */
export const saslHandshakeRequest = message(
  { versions: [0, 1] },
  {
    mechanism: str,
  },
);

/** Source: wire.md section 3, key 17. */
export const saslHandshakeResponse = message(
  { versions: [0, 1] },
  {
    errorCode: i16,
    mechanisms: array(str),
  },
);
