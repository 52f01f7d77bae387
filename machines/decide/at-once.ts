/** Does work that stops now and then without stopping, for who has to wait for it anyway. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
