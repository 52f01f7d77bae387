/** RE2, as far as it is used here. */
export type Re2 = {
  /** Throws a SyntaxError for what RE2 does not take. */
  new (pattern: string, flags: string): { test(text: string): boolean };
  /** Patterns that are matched together; `match` gives the places of those that match. Throws for what is too large. */
  readonly Set: new (
    patterns: readonly string[],
    flags: string,
    options: { readonly anchor: 'both' },
  ) => { test(text: string): boolean; match(text: string): readonly number[] };
};

/**
 * Loads RE2, a native package that is compiled where no ready one can be had, and left out where that fails: loaded
 * when first asked for, so that an installation without it lacks patterns alone.
 *
 * @throws whatever the import throws where the package is not there.
 */
export async function loadRe2(): Promise<Re2> {
  // Named by a variable: the compiler must not look for what may not be there.
  const name: string = 're2';
  const { default: RE2 }: { default: Re2 } = await import(name);
  return RE2;
}
