import { at } from './dense.ts';

/** Whether a value is among the first `length` of a short list. */
export function includes(list: Int32Array, length: number, value: number): boolean {
  for (let i = 0; i < length; i++) if (at(list, i) === value) return true;
  return false;
}
