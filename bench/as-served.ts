/** What Node is told where Headgate serves, by `npm start` and by itself: what is measured runs like that. */
export const AS_SERVED: readonly string[] = [
  '--v8-pool-size=0',
  '--no-allocation-site-pretenuring',
];
