import type { ApiName, ResponseInput } from './apis.ts';
import { apis } from './apis.ts';
import type { Fields } from './schema.ts';

/** Where a response, or a part of one, has error codes. */
type Places = {
  readonly hasOwn: boolean;
  readonly inside: readonly { readonly field: string; readonly places: Places }[];
};
type Body = Readonly<Record<string, unknown>>;

const ERROR_CODE = 'errorCode';
const NONE: ReadonlySet<number> = new Set();

const placesByApi: ReadonlyMap<ApiName, Places | undefined> = new Map(
  Object.values(apis).map(({ name, response }) => [name, placesIn(response.fields)]),
);

/** The error codes other than 0 that a response carries, anywhere in it; each once. Looks at lists that can have any. */
export function errorsIn<N extends ApiName>(name: N, body: ResponseInput<N>): ReadonlySet<number> {
  const places = placesByApi.get(name);
  return (places && collect(places, body as Body, undefined)) ?? NONE;
}

function placesIn(fields: Fields): Places | undefined {
  const inside = Object.entries(fields).flatMap(([field, { type }]) => {
    const inner = type.kind === 'array' ? type.item.type : type;
    const places = inner.kind === 'struct' ? placesIn(inner.fields) : undefined;
    return places === undefined ? [] : [{ field, places }];
  });
  const hasOwn = ERROR_CODE in fields;
  return hasOwn || inside.length > 0 ? { hasOwn, inside } : undefined;
}

/** Adds to what was found so far; makes a set when the first error is there, since most answers have none. */
function collect(
  { hasOwn, inside }: Places,
  body: Body,
  soFar: Set<number> | undefined,
): Set<number> | undefined {
  let found = soFar;
  const code = hasOwn ? body[ERROR_CODE] : 0;
  if (typeof code === 'number' && code !== 0) found = (found ?? new Set()).add(code);
  for (const { field, places } of inside) {
    const value = body[field];
    if (Array.isArray(value)) for (const item of value) found = collect(places, item, found);
    else if (typeof value === 'object' && value !== null) {
      found = collect(places, value as Body, found);
    }
  }
  return found;
}
