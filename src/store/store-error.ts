/** What is wrong with the store: `locked`, `wrongShardCount`, `wrongMode`, `wrongCluster`, `newerFormat` and `foreign` end the start. */
export type StoreFault =
  | 'locked'
  | 'wrongShardCount'
  | 'wrongMode'
  | 'wrongCluster'
  | 'newerFormat'
  | 'foreign'
  | 'unreadable'
  | 'failed'
  | 'busy'
  | 'closed';

/** The store cannot do what was asked. The message is one line for the operator and names folder or key. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.fault = fault;
  }
}

/** The text of whatever was thrown, on one line. */
export function reasonOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replaceAll(/\s*\n\s*/g, ' ');
}
