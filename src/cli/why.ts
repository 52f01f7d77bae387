import { namesWord } from '../admin/names-word.ts';
import type { JournalAnswer } from '../admin/views.ts';
import type { HostPort } from '../config/host-port.ts';
import { askAdmin } from './admin-http.ts';

type JournalEntry = JournalAnswer['entries'][number];

export type WhyOptions = {
  readonly admin: HostPort;
  /** Only what names this task, as `0_2`. */
  readonly task?: string | undefined;
  /** Only what this member did or what names it. */
  readonly member?: string | undefined;
  readonly limit: number;
};

/** Asks for the history of a group, oldest first, of what matters to a task or a member if one is named. */
export async function askWhy(
  groupId: string,
  { admin, task, member, limit }: WhyOptions,
): Promise<JournalAnswer> {
  const query = new URLSearchParams({ limit: String(limit) });
  // One word at a time: the server narrows down by the rarer one, the rest happens here.
  const word = task ?? member;
  if (word !== undefined) query.set('word', word);
  const path = `/groups/${encodeURIComponent(groupId)}/journal?${query}`;
  const answer = await askAdmin<JournalAnswer>(admin, path);
  return { ...answer, entries: answer.entries.flatMap((entry) => narrowed(entry, task, member)) };
}

/** An entry with the lines that name the task; none when it has nothing to do with task or member. */
function narrowed(
  entry: JournalEntry,
  task: string | undefined,
  member: string | undefined,
): readonly JournalEntry[] {
  const because =
    task === undefined ? entry.because : entry.because.filter((line) => namesWord(line, task));
  const isAbout =
    member === undefined ||
    entry.memberId === member ||
    entry.because.some((line) => namesWord(line, member));
  return isAbout && (task === undefined || because.length > 0) ? [{ ...entry, because }] : [];
}

/** The history in plain words. */
export function whyText(entries: readonly JournalEntry[]): string {
  return entries.map(entryText).join('');
}

/** What happened, and to whom. The end of a run is no doing of the member whose heartbeat asked for it. */
function causeText(cause: string, memberId: string | null): string {
  if (memberId === null) return cause;
  if (cause === 'target ready') return `target ready (asked for by ${memberId})`;
  if (cause === 'session expired') return `session of ${memberId} expired`;
  if (cause === 'rebalance timed out') return `rebalance of ${memberId} timed out`;
  return `${cause} of ${memberId}`;
}

function entryText(entry: JournalEntry): string {
  const { atMs, cause, memberId, state, groupEpoch, assignmentEpoch, because } = entry;
  const time = new Date(atMs).toISOString().replace('T', ' ').replace('Z', '');
  const target =
    assignmentEpoch === groupEpoch ? '' : `, its target still of epoch ${assignmentEpoch}`;
  const head = `${time}  ${causeText(cause, memberId)}: group ${state}, epoch ${groupEpoch}${target}\n`;
  return head + because.map((line) => `    ${line}\n`).join('');
}
