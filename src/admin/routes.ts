import type { GroupCoordinator, GroupView } from '../../actors/group-coordinator.ts';
import type { JournalEntry } from '../../actors/ports.ts';
import { type Chart, charts } from '../../machines/charts.ts';
import { shardOf } from '../../machines/model/ids.ts';
import { readChartModel } from '../charts/chart-model.ts';
import { renderChart } from '../charts/render-chart.ts';
import { formatHostPort, type HostPort } from '../config/host-port.ts';
import { groupPieces, joinPieces } from '../problem/cell-text.ts';
import { VERSION } from '../version.ts';
import { HttpError } from './http-error.ts';
import { namesWord } from './names-word.ts';
import { compilePattern } from './pattern.ts';
import {
  chartMarks,
  type GroupsAnswer,
  type JournalAnswer,
  readyView,
  type StatusAnswer,
  stateView,
  summaryView,
} from './views.ts';

/** The history of decisions, newest `limit` of a group, oldest first. */
export interface JournalReader {
  read(groupId: string, options: { readonly limit: number }): Promise<readonly JournalEntry[]>;
}

/** Where answers come from. */
export type AdminSources = {
  readonly coordinator: Pick<GroupCoordinator, 'groupIds' | 'view' | 'problem' | 'shards'>;
  readonly journal: JournalReader;
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  /** A gateway has reached its cluster once; always true for a standalone coordinator. */
  readonly upstreamReached: () => boolean;
  /** Where clients reach this coordinator, as it advertises itself: first the address to begin at. */
  readonly addresses: () => readonly HostPort[];
};

/** An answer's status and body, before it is written. */
export type HttpAnswer = {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
};

type Asked = { readonly path: readonly string[]; readonly query: URLSearchParams };
type Route = {
  /** Segments of the path; `*` stands for any one. */
  readonly path: readonly string[];
  readonly about: string;
  readonly answer: (asked: Asked, sources: AdminSources) => HttpAnswer | Promise<HttpAnswer>;
};

const GROUPS_LIMIT = 1_000;
const GROUPS_LIMIT_MAX = 10_000;
const JOURNAL_LIMIT = 100;
const JOURNAL_LIMIT_MAX = 1_000;
/** How far back a pattern looks. */
const JOURNAL_SEARCHED_MAX = 10_000;

const routes: readonly Route[] = [
  { path: ['metrics'], about: 'numbers, for Prometheus', answer: answerMetrics },
  { path: ['health', 'live'], about: 'the process runs', answer: () => json({ live: true }) },
  { path: ['health', 'ready'], about: 'clients can be served', answer: answerReady },
  { path: ['status'], about: 'where clients reach this coordinator', answer: answerStatus },
  { path: ['groups'], about: 'streams groups: ?match=&after=&limit=', answer: answerGroups },
  { path: ['groups', '*', 'state'], about: 'a group as it is now', answer: answerState },
  {
    path: ['groups', '*', 'problem'],
    about: 'what an assignor would be asked about a group now, as a problem file',
    answer: answerProblem,
  },
  {
    path: ['groups', '*', 'journal'],
    about: 'what was decided and why: ?word=&match=&limit=',
    answer: answerJournal,
  },
  {
    path: ['charts', '*'],
    about: `state charts, {${charts.map(({ name }) => name).join(',')}}.{svg,json}: ?group=`,
    answer: answerChart,
  },
  { path: [], about: 'this list', answer: () => json({ paths: index() }) },
];

function index(): Readonly<Record<string, string>> {
  return Object.fromEntries(routes.map(({ path, about }) => [`/${path.join('/')}`, about]));
}

/**
 * Answers one request of the admin server.
 *
 * @param url path and query, as they came.
 * @throws {HttpError} 400 for a query that makes no sense, 404 for what is not there.
 */
export async function answerAdmin(url: string, sources: AdminSources): Promise<HttpAnswer> {
  const { path, query } = parseUrl(url);
  const route = routes.find(
    (candidate) =>
      candidate.path.length === path.length &&
      candidate.path.every((segment, at) => segment === '*' || segment === path[at]),
  );
  if (route === undefined) throw new HttpError(404, `Cannot find ${url}: GET / lists what is here`);
  return route.answer({ path, query }, sources);
}

function parseUrl(url: string): Asked {
  const [path = '', ...query] = url.split('?');
  try {
    return {
      path: path.split('/').filter(Boolean).map(decodeURIComponent),
      query: new URLSearchParams(query.join('?')),
    };
  } catch (cause) {
    throw new HttpError(400, `Cannot read the path ${path}: wanted percent escapes of UTF-8`, {
      cause,
    });
  }
}

async function answerMetrics(_: Asked, { metrics }: AdminSources): Promise<HttpAnswer> {
  return { status: 200, contentType: metrics.contentType, body: await metrics.text() };
}

function answerReady(_: Asked, { coordinator, upstreamReached }: AdminSources): HttpAnswer {
  const view = readyView(coordinator.shards(), { upstreamReached: upstreamReached() });
  return { ...json(view), status: view.ready ? 200 : 503 };
}

function answerStatus(_: Asked, { addresses }: AdminSources): HttpAnswer {
  const answer: StatusAnswer = { version: VERSION, addresses: addresses().map(formatHostPort) };
  return json(answer);
}

async function answerGroups({ query }: Asked, { coordinator }: AdminSources): Promise<HttpAnswer> {
  const limit = limitOf(query, { usual: GROUPS_LIMIT, max: GROUPS_LIMIT_MAX });
  const matches = await compilePattern(query.get('match'));
  const after = query.get('after');
  const ids = coordinator.groupIds().filter((id) => matches(id));
  const groups = ids
    .filter((id) => after === null || id > after)
    .slice(0, limit)
    .map((id) => coordinator.view(id))
    .filter((view) => view !== undefined);
  const answer: GroupsAnswer = { total: ids.length, groups: groups.map(summaryView) };
  return json(answer);
}

function answerState({ path }: Asked, sources: AdminSources): HttpAnswer {
  return json(stateView(viewOf(path[1] ?? '', sources)));
}

/** Made piece by piece: nobody else waits for the whole of a large group. */
async function answerProblem({ path }: Asked, { coordinator }: AdminSources): Promise<HttpAnswer> {
  const groupId = path[1] ?? '';
  viewOf(groupId, { coordinator });
  const problem = coordinator.problem(groupId);
  if (problem === undefined) {
    const text = `Cannot give the problem of group "${groupId}": its topology is not ready`;
    throw new HttpError(409, text);
  }
  const dump = { at: new Date().toISOString(), why: 'asked', by: `headgate ${VERSION}` };
  const body = await joinPieces(groupPieces(problem, { dump }));
  return { status: 200, contentType: 'application/json; charset=utf-8', body };
}

/** Also of a group that is gone: its history is kept longer than itself. */
async function answerJournal({ path, query }: Asked, sources: AdminSources): Promise<HttpAnswer> {
  const groupId = path[1] ?? '';
  const limit = limitOf(query, { usual: JOURNAL_LIMIT, max: JOURNAL_LIMIT_MAX });
  const pattern = query.get('match');
  const word = query.get('word') ?? '';
  const matches = await compilePattern(pattern);
  const read = pattern === null && word === '' ? limit : JOURNAL_SEARCHED_MAX;
  const entries = await sources.journal.read(groupId, { limit: read });
  const found = entries.filter((entry) =>
    textsOf(entry).some((text) => namesWord(text, word) && matches(text)),
  );
  if (entries.length === 0 && sources.coordinator.view(groupId) === undefined) {
    throw new HttpError(404, `Cannot find group "${groupId}": neither it nor its history is here`);
  }
  const answer: JournalAnswer = { groupId, entries: found.slice(-limit) };
  return json(answer);
}

/** What is searched. Lines name a part of the tasks that move, the moves one by one name more. */
function textsOf({ cause, memberId, because, report }: JournalEntry): readonly string[] {
  const moves = report?.moves.flatMap(({ said, tasks }) => [said, ...tasks]) ?? [];
  return [cause, memberId ?? '', ...because, ...moves];
}

async function answerChart({ path, query }: Asked, sources: AdminSources): Promise<HttpAnswer> {
  const [, name, format] = /^(\w+)\.(svg|json)$/.exec(path[1] ?? '') ?? [];
  const chart = charts.find((candidate) => candidate.name === name);
  if (chart === undefined) {
    const names = charts.map((candidate) => candidate.name).join(', ');
    throw new HttpError(404, `Cannot find chart ${path[1]}: there are ${names}, as svg or json`);
  }
  const groupId = query.get('group');
  const model = readChartModel(chart, groupId === null ? {} : marksOf(chart, groupId, sources));
  return format === 'json'
    ? json(model)
    : { status: 200, contentType: 'image/svg+xml', body: await renderChart(model, 'svg') };
}

function marksOf(chart: Chart, groupId: string, sources: AdminSources) {
  const shards = sources.coordinator.shards();
  const number = shardOf(groupId, Math.max(1, shards.length));
  const shard = shards.find((status) => status.shard === number);
  return chartMarks(chart.name, viewOf(groupId, sources), shard);
}

function viewOf(groupId: string, { coordinator }: Pick<AdminSources, 'coordinator'>): GroupView {
  const view = coordinator.view(groupId);
  if (view === undefined) throw new HttpError(404, `Cannot find streams group "${groupId}"`);
  return view;
}

function limitOf(
  query: URLSearchParams,
  { usual, max }: { readonly usual: number; readonly max: number },
): number {
  const text = query.get('limit');
  if (text === null) return usual;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > max) {
    throw new HttpError(400, `Cannot use limit=${text}: wanted a whole number from 1 to ${max}`);
  }
  return limit;
}

function json(value: object): HttpAnswer {
  return {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: `${JSON.stringify(value)}\n`,
  };
}
