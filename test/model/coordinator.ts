import { apply } from '../../machines/apply.ts';
import type {
  Client as Asker,
  HeartbeatAnswer,
  HeartbeatRequest,
} from '../../machines/commands.ts';
import { refusedAnswer } from '../../machines/decide/answer.ts';
import type {
  Context,
  Effect,
  GroupDecision,
  GroupSlot,
  HeldHeartbeat,
  RunOutcome,
} from '../../machines/decision.ts';
import { emptySlot, newSoft } from '../../machines/model/empty.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import type { TopicsView } from '../../machines/model/topics.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { recordKey } from '../support/group-records.ts';
import { COORDINATOR_SETTINGS, GROUP_ID, GROUP_SETTINGS } from '../support/lone-coordinator.ts';
import { runAssignor } from '../support/run-assignor.ts';
import { topicsOf } from '../support/topology-samples.ts';
import { partitionCounts, type Setup } from './setup.ts';
import type { Coordinator, RunOut } from './world.ts';

/** How far the clock jumps when it moves: past every assignment interval. */
export const INTERVAL_MS = 1000;
/** Runs that are out at the same time: the one in flight, and one of an earlier life or one given up. */
export const RUNS_OUT_MAX = 2;

/** An answer on its way: to whoever asked in this step, or to the one whose answer waited. */
export type Sent = {
  readonly memberId: string;
  readonly answer: HeartbeatAnswer;
  readonly to: 'asker' | 'waiter';
};

/** What one step of the coordinator came to. */
export type Outcome = {
  readonly coordinator: Coordinator;
  readonly sent: readonly Sent[];
  readonly records: readonly GroupRecord[];
  /** Runs of the assignor that ended, in whatever way. */
  readonly ended: readonly RunOut[];
  /** The asker's answer waits. */
  readonly held: boolean;
};

/** Carries out decisions about one group, as its shard does; one step, one outcome. */
export class Play {
  #now: Coordinator;
  readonly #setup: Setup;
  readonly #sent: Sent[] = [];
  readonly #records: GroupRecord[] = [];
  readonly #ended: RunOut[] = [];
  #held = false;

  constructor(setup: Setup, coordinator: Coordinator) {
    this.#setup = setup;
    this.#now = coordinator;
  }

  done(): Outcome {
    return {
      coordinator: this.#now,
      sent: this.#sent,
      records: this.#records,
      ended: this.#ended,
      held: this.#held,
    };
  }

  heartbeat(request: HeartbeatRequest): Outcome {
    const { memberId } = request;
    const asker: Asker = { clientId: memberId, clientHost: '/127.0.0.1', apiVersion: 1 };
    try {
      const { heartbeat } = this.#setup.decisions;
      const decision = heartbeat(this.#slotOrNone, request, asker, this.#context());
      this.#carryOut(decision);
      const { reply } = decision;
      if (reply.kind === 'answer') this.#send(memberId, reply.value, 'asker');
      else this.#park(reply.held);
      this.#endWaitOfTheGone();
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause;
      this.#send(memberId, refusedAnswer(cause.error, cause.text), 'asker');
    }
    return this.done();
  }

  sessionExpired(memberId: string): Outcome {
    this.#change({ sessions: this.#now.sessions.filter((each) => each !== memberId) });
    const { sessionExpired } = this.#setup.decisions;
    return this.#quietly(sessionExpired(this.#slotOrNone, memberId, this.#context()));
  }

  rebalanceExpired(memberId: string): Outcome {
    const armedEpoch = this.#now.rebalances.get(memberId) ?? 0;
    this.#cancelRebalance(memberId);
    const { rebalanceExpired } = this.#setup.decisions;
    return this.#quietly(rebalanceExpired(this.#slotOrNone, memberId, armedEpoch, this.#context()));
  }

  initialDelayOver(): Outcome {
    this.#change({ delayRuns: false });
    const { initialDelayOver } = this.#setup.decisions;
    return this.#quietly(initialDelayOver(this.#slotOrNone, this.#context()));
  }

  /** A run that is out ends, with its result or in failure. */
  runOver(at: number, kind: RunOutcome['kind']): Outcome {
    const out = this.#now.runs[at];
    if (out === undefined) return this.done();
    this.#ended.push(out);
    this.#change({ runs: this.#now.runs.toSpliced(at, 1) });
    const { run, result } = out;
    const outcome: RunOutcome =
      kind === 'assigned'
        ? { kind, ...run, result }
        : { kind, incarnation: run.incarnation, run: run.run, reason: 'it broke' };
    const { parked, slot } = this.#now;
    const isOurs = run.incarnation === slot.soft.incarnation;
    const waiter = isOurs && parked?.run === run.run ? parked : undefined;
    if (waiter !== undefined) this.#change({ parked: undefined });
    const { runOver } = this.#setup.decisions;
    const decision = runOver(this.#slotOrNone, outcome, waiter, this.#context());
    this.#carryOut(decision);
    if (waiter !== undefined && decision.reply.kind === 'answer') {
      this.#answer(waiter, decision.reply.value);
    }
    return this.done();
  }

  waitOver(): Outcome {
    const { parked } = this.#now;
    if (parked !== undefined) this.#endWait(parked);
    return this.done();
  }

  delete(): Outcome {
    this.#carryOut(this.#setup.decisions.delete(this.#slotOrNone));
    return this.done();
  }

  /** Another coordinator loads the log; what was in memory is gone, what is out stays out. */
  restart(): Outcome {
    const incarnation = this.#now.incarnation + 1;
    const loaded = slotOf(this.#now.log);
    const isThere = loaded.group !== undefined;
    this.#change({
      slot: isThere ? { ...loaded, soft: newSoft(incarnation) } : loaded,
      incarnation,
      parked: undefined,
      sessions: [],
      rebalances: new Map(),
      delayRuns: false,
    });
    for (const effect of this.#setup.decisions.loaded(this.#now.slot, this.#context())) {
      this.#perform(effect);
    }
    return this.done();
  }

  /** The source topic goes, or is there again. */
  turnSource(): Outcome {
    this.#change({ sourceExists: !this.#now.sourceExists });
    const { slot } = this.#now;
    const soft = this.#setup.decisions.topicsChanged(slot, new Set(['in']));
    if (soft !== undefined) this.#change({ slot: { ...slot, soft } });
    return this.done();
  }

  passTime(): Outcome {
    this.#change({ nowMs: this.#now.nowMs + INTERVAL_MS });
    return this.done();
  }

  get #slotOrNone(): GroupSlot | undefined {
    const { slot } = this.#now;
    return slot.group === undefined ? undefined : slot;
  }

  #context(): Context {
    const { incarnation, nowMs, sourceExists } = this.#now;
    return { ...fixedContext(this.#setup, sourceExists), nowMs, freshIncarnation: incarnation + 1 };
  }

  #change(part: Partial<Coordinator>): void {
    this.#now = { ...this.#now, ...part };
  }

  #send(memberId: string, answer: HeartbeatAnswer, to: Sent['to']): void {
    this.#sent.push({ memberId, answer, to });
  }

  #answer({ request }: HeldHeartbeat, answer: HeartbeatAnswer | undefined): void {
    if (answer !== undefined) this.#send(request.memberId, answer, 'waiter');
  }

  #quietly(decision: GroupDecision<unknown> | undefined): Outcome {
    if (decision !== undefined) {
      this.#carryOut(decision);
      this.#endWaitOfTheGone();
    }
    return this.done();
  }

  #carryOut({ records, soft, effects }: GroupDecision<unknown>): void {
    const before = this.#now;
    this.#records.push(...records);
    let log = before.log;
    if (records.length > 0) {
      const next = new Map(log);
      for (const record of records) {
        if (record.value === null) next.delete(recordKey(record));
        else next.set(recordKey(record), record);
      }
      log = next;
    }
    this.#change({
      slot: { ...records.reduce(apply, before.slot), soft },
      log,
      incarnation: Math.max(before.incarnation, soft.incarnation),
    });
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    const { sessions, rebalances, runs } = this.#now;
    switch (effect.type) {
      case 'armSession':
        if (sessions.includes(effect.memberId)) return;
        this.#change({ sessions: [...sessions, effect.memberId] });
        return;
      case 'armRebalance':
        this.#change({
          rebalances: new Map(rebalances).set(effect.memberId, effect.memberEpoch),
        });
        return;
      case 'cancelRebalance':
        this.#cancelRebalance(effect.memberId);
        return;
      case 'cancelMember':
        this.#cancelRebalance(effect.memberId);
        this.#change({ sessions: sessions.filter((each) => each !== effect.memberId) });
        return;
      case 'armInitialDelay':
        this.#change({ delayRuns: true });
        return;
      case 'cancelInitialDelay':
        this.#change({ delayRuns: false });
        return;
      case 'startRun': {
        const { run } = effect;
        const out = { run, result: runAssignor(this.#setup.assignor, run.problem) };
        this.#change({ runs: [...runs, out].slice(-RUNS_OUT_MAX) });
        return;
      }
      case 'prepareRun':
      case 'createTopics':
        return;
    }
  }

  #cancelRebalance(memberId: string): void {
    const { rebalances } = this.#now;
    if (!rebalances.has(memberId)) return;
    const next = new Map(rebalances);
    next.delete(memberId);
    this.#change({ rebalances: next });
  }

  #park(held: HeldHeartbeat): void {
    this.#held = true;
    const earlier = this.#now.parked;
    if (earlier !== undefined && earlier.run !== held.run) this.#endWait(earlier);
    const taken = this.#now.parked;
    this.#change({
      parked: {
        ...held,
        joined: held.joined || (taken?.joined ?? false),
        created: held.created || (taken?.created ?? false),
      },
    });
  }

  #endWait(held: HeldHeartbeat): void {
    this.#change({ parked: undefined });
    const { waitOver } = this.#setup.decisions;
    const decision = waitOver(this.#slotOrNone, held, this.#context());
    this.#carryOut(decision);
    if (decision.reply.kind === 'answer') this.#answer(held, decision.reply.value);
  }

  #endWaitOfTheGone(): void {
    const { parked, slot } = this.#now;
    if (parked === undefined || slot.group?.members.has(parked.request.memberId)) return;
    this.#endWait(parked);
  }
}

/** What a load finds in a compacted log. */
export function slotOf(log: Coordinator['log']): GroupSlot {
  return inKeyOrder(log).reduce(apply, emptySlot(GROUP_ID));
}

/** The records of a compacted log as a store of keys gives them. */
export function inKeyOrder(log: Coordinator['log']): readonly GroupRecord[] {
  return [...log].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, record]) => record);
}

type FixedContext = Omit<Context, 'nowMs' | 'freshIncarnation'>;
const contexts = new WeakMap<Setup, Map<boolean, FixedContext>>();

/** Made once per setup: settings are compared by identity on the way of every heartbeat. */
function fixedContext(setup: Setup, sourceExists: boolean): FixedContext {
  const known = contexts.get(setup)?.get(sourceExists);
  if (known !== undefined) return known;
  const counts = partitionCounts(setup);
  if (!sourceExists) delete counts['in'];
  const topics: TopicsView = topicsOf(counts);
  const made: FixedContext = {
    settings: {
      ...GROUP_SETTINGS,
      numStandbyReplicas: setup.standbys,
      numWarmupReplicas: setup.warmups,
      initialRebalanceDelayMs: setup.initialDelay ? 3000 : 0,
      assignmentIntervalMs: setup.assignmentInterval ? INTERVAL_MS : 0,
    },
    coordinator: {
      ...COORDINATOR_SETTINGS,
      assignorAnswerWaitMs: setup.answersWait ? 100 : 0,
      handoverHeartbeatIntervalMs: setup.profile === 'kip' ? 300 : 0,
    },
    behaviour: resolveBehaviour(setup.profile),
    topics,
    mayHurry: true,
    creationFailures: () => undefined,
  };
  const bySource = contexts.get(setup) ?? new Map<boolean, FixedContext>();
  contexts.set(setup, bySource.set(sourceExists, made));
  return made;
}
