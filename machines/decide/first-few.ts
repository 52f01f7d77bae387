const SHOWN_MAX = 3;

/**
 * Names for a text that people read: at most three, then how many were left out, so that no list makes an answer
 * long (topology-and-admin 6.1, 6.8).
 */
export function firstFew(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_MAX).join(', ');
  return names.length > SHOWN_MAX ? `${shown} and ${names.length - SHOWN_MAX} more` : shown;
}
