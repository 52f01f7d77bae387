import type { MovedTasks } from '../../machines/model/look-back.ts';
import { namesWord } from '../admin/names-word.ts';
import type { JournalAnswer } from '../admin/views.ts';
import type { HostPort } from '../config/host-port.ts';
import { askAdmin } from './admin-http.ts';
import { qualityText } from './quality-text.ts';

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
  const isAbout =
    member === undefined ||
    entry.memberId === member ||
    entry.because.some((line) => namesWord(line, member)) ||
    entry.report?.moves.some(({ said }) => namesWord(said, member)) === true;
  if (!isAbout) return [];
  if (task === undefined) return [entry];
  const narrow = aboutTask(entry, task);
  return narrow.because.length > 0 ? [narrow] : [];
}

/** Lines name a part of the tasks that move: a move that none of them names has a line made for it. */
function aboutTask(entry: JournalEntry, task: string): JournalEntry {
  const because = entry.because.filter((line) => namesWord(line, task));
  const { report } = entry;
  if (report === undefined) return { ...entry, because };
  const moves = report.moves.filter(({ tasks }) => tasks.includes(task));
  const isSaid = ({ role }: MovedTasks): boolean => because.some((line) => roleOf(line) === role);
  const lines = moves
    .filter((move) => !isSaid(move))
    .map(({ role, said }) => `${role === 'standby' ? 'standby of ' : ''}${task} ${said}`)
    .map((line) => `Target of epoch ${entry.assignmentEpoch}: ${line}`);
  return { ...entry, because: [...because, ...lines], report: { ...report, moves } };
}

/** Which role a line of a target is about; undefined: it is no such line. */
function roleOf(line: string): MovedTasks['role'] | undefined {
  const [, words] = /^Target of epoch \d+: (.*)/s.exec(line) ?? [];
  if (words === undefined) return undefined;
  return /^standbys? of /.test(words) ? 'standby' : 'active';
}

/** The history in plain words; how good targets are only when all of it is told. */
export function whyText(
  entries: readonly JournalEntry[],
  { whole = true }: { readonly whole?: boolean } = {},
): string {
  return entries.map((entry) => entryText(entry, whole)).join('');
}

/** What happened, and to whom. The end of a run is no doing of the member whose heartbeat asked for it. */
function causeText(cause: string, memberId: string | null): string {
  if (memberId === null) return cause;
  if (cause === 'target ready') return `target ready (asked for by ${memberId})`;
  if (cause === 'session expired') return `session of ${memberId} expired`;
  if (cause === 'rebalance timed out') return `rebalance of ${memberId} timed out`;
  return `${cause} of ${memberId}`;
}

function entryText(entry: JournalEntry, whole: boolean): string {
  const { atMs, cause, memberId, state, groupEpoch, assignmentEpoch, because, report } = entry;
  const time = new Date(atMs).toISOString().replace('T', ' ').replace('Z', '');
  const target =
    assignmentEpoch === groupEpoch ? '' : `, its target still of epoch ${assignmentEpoch}`;
  const head = `${time}  ${causeText(cause, memberId)}: group ${state}, epoch ${groupEpoch}${target}\n`;
  const quality = whole && report !== undefined ? [`Quality: ${qualityText(report.figures)}`] : [];
  return head + [...because, ...quality].map((line) => `    ${line}\n`).join('');
}
