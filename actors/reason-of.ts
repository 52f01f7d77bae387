/** What a failure says of itself, for log, journal and answers. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
