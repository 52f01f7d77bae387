import type { Log } from '../../actors/ports.ts';

/** Remembered clients; past this many nobody new is told of. */
const TOLD_MAX = 1_000;

/** Says something in the log once per client id, however often that client does the same. */
export function toldOnce(log: Log, text: string): (clientId: string, groupId: string) => void {
  const told = new Set<string>();
  return (clientId, groupId) => {
    if (told.has(clientId) || told.size >= TOLD_MAX) return;
    told.add(clientId);
    log.info({ clientId, groupId }, text);
  };
}
