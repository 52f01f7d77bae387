import { type ErrorName, Refusal } from '../../machines/model/refusal.ts';

/** Error and text of the refusal that was thrown; undefined when nothing was. Anything else that is thrown passes. */
export function refusalOf(
  run: () => unknown,
): { readonly error: ErrorName; readonly text: string | null } | undefined {
  try {
    run();
    return undefined;
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return { error: refusal.error, text: refusal.text };
  }
}
