import type { CommandIo } from './command-io.ts';

/** What a second request to stop ends the process with. */
const CUT_OFF = 130;

/** Is aborted at the first request to stop; the second ends the process at once. */
export function stopSignal({ onStop, exit }: Pick<CommandIo, 'onStop' | 'exit'>): AbortSignal {
  const stopping = new AbortController();
  onStop(() => {
    if (stopping.signal.aborted) exit(CUT_OFF);
    else stopping.abort();
  });
  return stopping.signal;
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
}
