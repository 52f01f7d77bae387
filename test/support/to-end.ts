/** What a piece of work that stops now and then comes to, and how often it stopped. */
export function toEnd<T>(work: Generator<void, T>): { readonly result: T; readonly stops: number } {
  for (let stops = 0; ; stops++) {
    const { done, value } = work.next();
    if (done === true) return { result: value, stops };
  }
}
