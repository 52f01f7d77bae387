/** What a promise rejected with; fails when it did not. */
export async function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  const outcome = await work.then(
    (value) => ({ value }),
    (thrown: unknown) => ({ thrown }),
  );
  if ('thrown' in outcome) return outcome.thrown;
  throw new Error(`Expected a rejection, got ${JSON.stringify(outcome.value)}`);
}
