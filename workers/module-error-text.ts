import { inspect, types } from 'node:util';

/** So many causes behind an error are told. */
const CAUSES_MAX = 3;
/** So much is shown of what was thrown and is no error. */
const SHOWN_MAX = 300;

/**
 * What a module threw, for people: an error's name, message and place in the module, and the causes behind it; of anything
 * else, what it looks like. Runs none of the module's code but its getters.
 *
 * @param href of the module: the place told is the first of the error's stack that lies in it.
 */
export function moduleErrorText(thrown: unknown, href: string): string {
  try {
    if (!isError(thrown)) return `It threw ${shown(thrown)}, which is no Error`;
    const place = (thrown.stack ?? '').split('\n').find((line) => line.includes(href));
    const told = place === undefined ? titleOf(thrown) : `${titleOf(thrown)} (${place.trim()})`;
    return told + causesOf(thrown);
  } catch {
    return 'Something that cannot be told';
  }
}

function causesOf(error: Error): string {
  let text = '';
  let { cause } = error;
  for (let count = 0; cause !== undefined && count < CAUSES_MAX; count++) {
    text += `; cause: ${isError(cause) ? titleOf(cause) : shown(cause)}`;
    cause = isError(cause) ? cause.cause : undefined;
  }
  return text;
}

function titleOf({ name, message }: Error): string {
  if (message === '') return name;
  return name === 'Error' ? message : `${name}: ${message}`;
}

/** Those of other realms, as of `node:vm`, are no instances of the class that is known here. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

/** In one line. */
function shown(value: unknown): string {
  const text = inspect(value, {
    breakLength: Number.POSITIVE_INFINITY,
    compact: true,
    customInspect: false,
    maxStringLength: SHOWN_MAX,
  });
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}
