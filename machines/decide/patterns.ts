import type { HeartbeatRequest } from '../commands.ts';
import type { Context, GroupDecision, GroupSlot, HeartbeatDecision } from '../decision.ts';
import { JOIN_EPOCH } from '../model/ids.ts';
import {
  type GroupPatterns,
  NO_PATTERNS,
  type PatternMatch,
  type PatternSearch,
  type SearchOutcome,
} from '../model/patterns.ts';
import type { Behaviour } from '../model/profile.ts';
import { Refusal } from '../model/refusal.ts';
import type { Topology } from '../model/topology.ts';
import { refusedAnswer } from './answer.ts';
import { Draft } from './draft.ts';
import { firstFew } from './first-few.ts';
import { hasPatterns, isUnresolved, patternsOf, resolveTopology } from './resolve-topology.ts';

/** Searches of a group begin at least so far apart. */
const SEARCH_INTERVAL_MS = 10_000;
/** After one that failed while nothing is held, so far. */
const RETRY_MS = 1_000;
/** Topics are searched anew after this time, whether any are known to have changed or not. */
const REFRESH_MS = 600_000;

/**
 * Refuses a join with patterns where patterns are not resolved (REQ-12, R-9).
 *
 * @throws Refusal INVALID_REQUEST.
 */
export function refusePatterns({ topology }: HeartbeatRequest, behaviour: Behaviour): void {
  if (behaviour.resolveSourceTopicRegex) return;
  const one = topology?.subtopologies.find((each) => each.sourceTopicRegex.length > 0);
  if (one === undefined) return;
  throw new Refusal(
    'INVALID_REQUEST',
    `Cannot use topology: subtopology "${one.subtopologyId}" has a source topic pattern, which is not taken here`,
  );
}

/**
 * Refuses a join whose patterns are none, by the search that came with it.
 *
 * @throws Refusal INVALID_REGULAR_EXPRESSION; INVALID_REQUEST where patterns cannot be matched at all.
 */
export function refuseBadPatterns({ patternSearch }: HeartbeatRequest): void {
  if (patternSearch?.kind !== 'refused') return;
  throw new Refusal(patternSearch.error, `Cannot use topology: ${patternSearch.reason}`);
}

/**
 * Has a heartbeat come again when nobody knows yet what the patterns of a topology it is about stand for: those of the
 * join's, or after a load those of the group's. The group is as good as not loaded until then: a topology with patterns
 * taken for missing sources would cost it all its tasks. For the same reason the session of a member that asks goes on:
 * however long the search takes, nobody who speaks is taken for gone.
 *
 * @param draft nothing was written to it so far; who speaks is a member, unless it joins.
 * @returns the answer COORDINATOR_LOAD_IN_PROGRESS, which clients try again, and a search that sees to the group's own
 *   patterns.
 * @throws Refusal the same error, when it is the join that comes without a search of its patterns.
 */
export function awaitPatterns(
  draft: Draft,
  request: HeartbeatRequest,
): HeartbeatDecision | undefined {
  if (!draft.context.behaviour.resolveSourceTopicRegex) return undefined;
  const { group, soft } = draft;
  const { topology, patternSearch } = request;
  const brings = request.memberEpoch === JOIN_EPOCH && topology !== null ? topology : undefined;
  const isFound = isTold(patternSearch);
  const heldEpoch = soft.patterns.resolved?.topologyEpoch;
  const bringsUnknown =
    brings !== undefined && hasPatterns(brings) && !isFound && heldEpoch !== brings.epoch;
  const lacksOwn =
    isUnresolved(group, soft) && !(isFound && brings?.epoch === group.topology?.epoch);
  if (!bringsUnknown && !lacksOwn) return undefined;
  const reason = patternSearch?.kind === 'failed' ? `: ${patternSearch.reason}` : '';
  const text = `Source topic patterns are not resolved yet${reason}`;
  if (!lacksOwn) throw new Refusal('COORDINATOR_LOAD_IN_PROGRESS', text);
  searchIfDue(draft);
  if (request.memberEpoch > JOIN_EPOCH) {
    const delayMs = draft.context.settings.sessionTimeoutMs;
    draft.cause({ type: 'armSession', memberId: request.memberId, delayMs });
  }
  return draft.done({ kind: 'answer', value: refusedAnswer('COORDINATOR_LOAD_IN_PROGRESS', text) });
}

/**
 * Sees to the patterns of the group's topology: takes what the search of a join found if it is newer than what is held,
 * and asks for another search when one is due.
 */
export function settlePatterns(draft: Draft, request: HeartbeatRequest): void {
  const { group, soft, context } = draft;
  const { topology } = group;
  if (topology === undefined || !hasPatterns(topology)) {
    if (soft.patterns !== NO_PATTERNS) draft.change({ patterns: NO_PATTERNS });
    return;
  }
  if (!context.behaviour.resolveSourceTopicRegex) return;
  const { patternSearch } = request;
  const isAboutOurs = request.topology?.epoch === topology.epoch;
  if (isAboutOurs && isTold(patternSearch) && isNewer(patternSearch, topology, soft.patterns)) {
    changePatterns(draft, { due: false, failed: false, searchedAtMs: context.nowMs });
    takeSearch(draft, topology, patternSearch);
  }
  searchIfDue(draft);
}

/** A search for a group whose topics changed, unless there was one a moment ago; the next heartbeat makes up for it. */
export function decideSearch(
  slot: GroupSlot,
  context: Context,
): GroupDecision<undefined> | undefined {
  if (slot.group === undefined || slot.group.members.size === 0) return undefined;
  const draft = new Draft(slot, context);
  searchIfDue(draft);
  if (draft.soft === slot.soft) return undefined;
  return draft.done({ kind: 'answer', value: undefined });
}

/**
 * A search is over: what it found counts from the next heartbeat on. One for a group or a topology that is no more is
 * dropped; one that came to nothing leaves what is held as it is.
 */
export function decideSearchOver(
  slot: GroupSlot | undefined,
  outcome: SearchOutcome,
  context: Context,
): GroupDecision<undefined> | undefined {
  const topology = slot?.group?.topology;
  if (slot === undefined || topology === undefined) return undefined;
  if (outcome.incarnation !== slot.soft.incarnation) return undefined;
  const draft = new Draft(slot, context);
  const { search } = outcome;
  const failed = !isTold(search);
  changePatterns(draft, { searching: false, failed });
  if (failed) draft.say(`Source topic patterns could not be searched for: ${search.reason}`);
  if (failed || outcome.topologyEpoch !== topology.epoch) changePatterns(draft, { due: true });
  else if (isNewer(search, topology, slot.soft.patterns)) takeSearch(draft, topology, search);
  return draft.done({ kind: 'answer', value: undefined });
}

/** A search that says what patterns stand for, or that it can be nothing. */
type Told = Extract<PatternSearch, { kind: 'found' | 'unusable' }>;

/** A pattern that a join was let in with is no bad one: that it is refused now is taken for a failure. */
function isTold(search: PatternSearch | undefined): search is Told {
  return search?.kind === 'found' || search?.kind === 'unusable';
}

/** Whether a search tells more than is held: of later names; or anything at all, where nothing is held. */
function isNewer(search: Told, topology: Topology, { resolved }: GroupPatterns): boolean {
  if (resolved?.topologyEpoch !== topology.epoch) return true;
  return search.kind === 'unusable' || search.topicsVersion > resolved.topicsVersion;
}

function takeSearch(draft: Draft, topology: Topology, search: Told): void {
  const { patterns } = draft.soft;
  const held = patterns.resolved?.topologyEpoch === topology.epoch ? patterns.resolved : undefined;
  if (search.kind === 'unusable') {
    draft.say(`Source topic patterns cannot be resolved: ${search.reason}`);
    // A refresh that comes to nothing leaves the group what it has.
    if (held === undefined)
      keep(draft, topology, { topicsVersion: -1, matches: [], fault: search.reason });
    return;
  }
  const { topicsVersion, matches } = search;
  const words = held === undefined ? undefined : describeChange(held.matches, matches);
  if (held !== undefined && held.fault === undefined && words === undefined) {
    changePatterns(draft, { resolved: { ...held, topicsVersion } });
    return;
  }
  if (words !== undefined) draft.say(words);
  keep(draft, topology, { topicsVersion, matches, fault: undefined });
}

function keep(
  draft: Draft,
  topology: Topology,
  found: Pick<NonNullable<GroupPatterns['resolved']>, 'topicsVersion' | 'matches' | 'fault'>,
): void {
  const { context, soft } = draft;
  const resolved = {
    ...found,
    topologyEpoch: topology.epoch,
    ...resolveTopology(topology, found.matches, context.topics),
  };
  // A fault that comes or goes changes a text that no topic tells of.
  const isAsTold = soft.patterns.resolved?.fault === found.fault;
  draft.change({ refreshDue: true, configured: isAsTold ? soft.configured : undefined });
  changePatterns(draft, { resolved });
}

function searchIfDue(draft: Draft): void {
  const { group, soft, context } = draft;
  const { topology } = group;
  const { due, searching, searchedAtMs, failed } = soft.patterns;
  if (topology === undefined || !hasPatterns(topology) || searching) return;
  if (!context.behaviour.resolveSourceTopicRegex) return;
  const isPast = (periodMs: number): boolean =>
    searchedAtMs === undefined ||
    context.nowMs < searchedAtMs ||
    context.nowMs - searchedAtMs >= periodMs;
  const isHeld = !isUnresolved(group, soft);
  const isWanted = due || !isHeld || isPast(REFRESH_MS);
  if (!isWanted || !isPast(failed && !isHeld ? RETRY_MS : SEARCH_INTERVAL_MS)) return;
  changePatterns(draft, { due: false, searching: true, searchedAtMs: context.nowMs });
  const { incarnation } = soft;
  const query = { incarnation, topologyEpoch: topology.epoch, patterns: patternsOf(topology) };
  draft.cause({ type: 'searchTopics', query });
}

function changePatterns(draft: Draft, patterns: Partial<GroupPatterns>): void {
  draft.change({ patterns: { ...draft.soft.patterns, ...patterns } });
}

/** What patterns match now and did not, and the other way round; undefined when it is the same. */
function describeChange(
  before: readonly PatternMatch[],
  after: readonly PatternMatch[],
): string | undefined {
  const were = new Set(before.flatMap(({ topics }) => topics));
  const are = new Set(after.flatMap(({ topics }) => topics));
  const more = [...are].filter((name) => !were.has(name));
  const less = [...were].filter((name) => !are.has(name));
  const words = [
    ...(more.length === 0 ? [] : [`match ${firstFew(more)} as well`]),
    ...(less.length === 0 ? [] : [`match ${firstFew(less)} no more`]),
  ];
  return words.length === 0 ? undefined : `Source topic patterns ${words.join(', ')}`;
}
