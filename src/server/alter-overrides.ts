import type { Outcome, OverrideStore } from './ports.ts';

/** One change of a resource's kept values. */
export type OverrideChange = {
  readonly kind: 'broker' | 'group';
  readonly name: string;
  readonly changes: ReadonlyMap<string, string | null>;
  readonly validateOnly: boolean;
  /** The refusal of the change, if any, by the complete set after it. */
  readonly judge: (wanted: ReadonlyMap<string, string>) => Outcome | undefined;
};

/** Makes the change and says what became of it; a store that fails is an outcome too. */
export async function alterOverrides(
  overrides: OverrideStore,
  { kind, name, changes, validateOnly, judge }: OverrideChange,
): Promise<Outcome> {
  try {
    const refusal = await overrides.alter(kind, name, changes, { judge, validateOnly });
    return refusal ?? { error: 'NONE', message: null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { error: 'UNKNOWN_SERVER_ERROR', message: `Cannot keep configs: ${reason}` };
  }
}
