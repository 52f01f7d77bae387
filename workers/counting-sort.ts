import { at } from './dense.ts';

/** Room for {@link sortByKey}: as many entries as items, and more buckets than the keys' range. */
export type SortScratch = { readonly spare: Int32Array; readonly buckets: Int32Array };

/**
 * Sorts the entries from `from` up to `to` of a list of items by their key, keeping the order of equals. Costs one look at
 * each where all keys are the same. Keys are 0 and above.
 *
 * @returns whether there are different keys.
 */
export function sortByKey(
  list: Int32Array,
  from: number,
  to: number,
  key: Int32Array,
  { spare, buckets }: SortScratch,
): boolean {
  let least = NO_KEY;
  let most = 0;
  for (let i = from; i < to; i++) {
    const each = at(key, at(list, i));
    if (each > most) most = each;
    if (each < least) least = each;
  }
  if (most <= least) return false;
  const range = most - least + 1;
  buckets.fill(0, 0, range + 1);
  for (let i = from; i < to; i++) {
    const above = at(key, at(list, i)) - least + 1;
    buckets[above] = at(buckets, above) + 1;
  }
  for (let k = 1; k < range; k++) buckets[k] = at(buckets, k) + at(buckets, k - 1);
  for (let i = from; i < to; i++) {
    const each = at(list, i);
    const bucket = at(key, each) - least;
    const place = at(buckets, bucket);
    spare[place] = each;
    buckets[bucket] = place + 1;
  }
  for (let i = from; i < to; i++) list[i] = at(spare, i - from);
  return true;
}

const NO_KEY = 2 ** 31 - 1;
