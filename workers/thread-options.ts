/** Has `require` refuse the modules of threads, so that they are imported. */
const NO_REQUIRE = '--no-experimental-require-module';

/**
 * What all pools start their threads with. A pool tries `require` before it imports a thread's file, and Node 20 aborts the
 * whole process when a thread is ended while it loads a module that way: at a stop soon after the start, or at a
 * deadline on a machine under load.
 */
export const threadOptions: { readonly execArgv: string[]; readonly recordTiming: false } = {
  execArgv: process.allowedNodeEnvironmentFlags.has(NO_REQUIRE) ? [NO_REQUIRE] : [],
  recordTiming: false,
};
