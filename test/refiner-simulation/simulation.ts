import type { HeartbeatRequest } from '../../machines/commands.ts';
import type { GroupSlot } from '../../machines/decision.ts';
import { sameTasksByRole } from '../../machines/model/task-list.ts';
import { NO_TASKS_BY_ROLE } from '../../machines/model/tasks.ts';
import { LoneCoordinator, type Outcome } from '../support/lone-coordinator.ts';
import { stickyAssignor } from '../support/sticky-assignor.ts';
import { info, subtopology, topology } from '../support/topology-samples.ts';
import { Disks } from './disks.ts';
import type { Event, Scenario } from './draw-scenario.ts';
import { type Measures, NO_MEASURES } from './measures.ts';
import { keysOf, SimulatedMember } from './simulated-member.ts';
import { syntheticAssignor } from './synthetic-assignor.ts';

/** A tick is a heartbeat of every member, and one step of processing and restoration. */
const TICK_MS = 5_000;
/** An episode that takes longer does not come to an end (P12). */
const TICKS_MAX = 4_000;
/** A client that is told other tasks heartbeats again at once; it is through with what it is told in fewer. */
const BEATS_PER_TICK_MAX = 4;
const CLIENT = { clientId: 'c', clientHost: '/1.1.1.1', apiVersion: 1 };

export type Simulated = {
  readonly measures: Measures;
  /** Tasks that came back to a member they had left while the target was the same. */
  readonly pingPongs: readonly string[];
};

/**
 * Lets a group live through a scenario, decided by the coordinator itself.
 *
 * @param refines whether targets are refined; else tasks go to their owners at once.
 * @param onHeartbeat told after every heartbeat, and after a run that ends late.
 * @throws Error an episode does not come to an end.
 */
export function simulate(
  scenario: Scenario,
  refines: boolean,
  onHeartbeat: (slot: GroupSlot) => void = () => {},
): Simulated {
  const simulation = new Simulation(scenario, refines, onHeartbeat);
  scenario.episodes.forEach((events, at) => {
    for (const event of events) simulation.happen(event);
    simulation.settle(`seed ${scenario.seed}, episode ${at}: ${JSON.stringify(events)}`);
    // Nobody can do anything about the beginning: there is no state yet.
    if (at === 0) Object.assign(simulation.measures, NO_MEASURES);
  });
  return simulation;
}

class Simulation implements Simulated {
  readonly measures: Measures = { ...NO_MEASURES };
  readonly pingPongs: string[] = [];
  readonly #coordinator = new LoneCoordinator(stickyAssignor);
  readonly #disks: Disks;
  readonly #members = new Map<string, SimulatedMember>();
  readonly #topology;
  readonly #onHeartbeat: (slot: GroupSlot) => void;
  /** Members that had a task in any role when this tick began, and the one before. */
  #holders: ReadonlyMap<string, ReadonlySet<SimulatedMember>> = new Map();
  #holdersBefore: ReadonlyMap<string, ReadonlySet<SimulatedMember>> = new Map();
  /** Members that ran each task since there is the present target. */
  readonly #runners = new Map<string, string[]>();
  #racks = 0;

  constructor(scenario: Scenario, refines: boolean, onHeartbeat: (slot: GroupSlot) => void) {
    this.#disks = new Disks(scenario);
    this.#onHeartbeat = onHeartbeat;
    const counts = new Map<string, { tasks: number; isStateful: boolean }>();
    for (const { subtopologyId, isStateful } of scenario.tasks) {
      const tasks = (counts.get(subtopologyId)?.tasks ?? 0) + 1;
      counts.set(subtopologyId, { tasks, isStateful });
    }
    const coordinator = this.#coordinator;
    coordinator.behaviour = { ...coordinator.behaviour, warmups: refines };
    coordinator.settings = {
      ...coordinator.settings,
      numStandbyReplicas: scenario.standbys,
      numWarmupReplicas: scenario.warmups,
      acceptableRecoveryLag: BigInt(scenario.acceptableRecoveryLag),
    };
    const subtopologies = [...counts].map(([id, { tasks, isStateful }]) => {
      const [source, store] = [`in-${id}`, `store-${id}-changelog`];
      coordinator.setTopic(source, tasks);
      if (isStateful) coordinator.setTopic(store, tasks);
      const stateChangelogTopics = isStateful ? [info(store)] : [];
      return subtopology(id, { sourceTopics: [source], stateChangelogTopics });
    });
    this.#topology = topology(...subtopologies);
  }

  happen(event: Event): void {
    const coordinator = this.#coordinator;
    const { settings } = coordinator;
    switch (event.type) {
      case 'join':
        this.#join(event.processId, event.memberIds);
        return;
      case 'leave':
        this.#leave(event.memberIds);
        return;
      case 'restart':
        this.#restart(event.processId, event.memberIds);
        return;
      case 'standbys':
        coordinator.settings = { ...settings, numStandbyReplicas: event.count };
        return;
      case 'budget':
        coordinator.settings = { ...settings, numWarmupReplicas: event.warmups };
        return;
      case 'failOver':
        coordinator.failOver();
        for (const member of this.#members.values()) member.meetCoordinator();
        return;
      case 'reshuffle':
        this.#retarget(event.seed);
        return;
      case 'lateTarget':
        this.#retargetLate(event.seed, event.memberIds);
    }
  }

  /** Ticks until every member has what the target gives it and every task is processed. */
  settle(what: string): void {
    for (let tick = 0; tick < TICKS_MAX; tick++) {
      this.#tick();
      if (this.#isAtRest()) return;
    }
    throw new Error(`No rest in ${TICKS_MAX} ticks: ${what}`);
  }

  #tick(): void {
    const { measures } = this;
    measures.ticks++;
    this.#holdersBefore = this.#holders;
    this.#holders = this.#whoHolds();
    for (const member of [...this.#members.values()]) this.#hear(member);
    // What was written is there when copies fetch: a member reports the end that it knows.
    for (const member of this.#members.values()) member.process();
    for (const member of this.#members.values()) member.restore();
    this.#measure();
    this.#coordinator.advance(TICK_MS);
  }

  #hear(member: SimulatedMember): void {
    for (let beat = 0; beat < BEATS_PER_TICK_MAX; beat++) {
      if (!this.#beat(member)) return;
    }
  }

  /** @returns whether the member was told other tasks. */
  #beat(member: SimulatedMember): boolean {
    const { processId } = member;
    const isHeld = (task: string): boolean => this.#holds(processId, task);
    return this.#take(member, this.#send(member.request(isHeld)));
  }

  /** A member reads its answer, unless that waits. @returns as {@link #beat}. */
  #take(member: SimulatedMember, { answer, because }: Outcome): boolean {
    this.#note(because);
    if (answer === undefined) return false;
    const before = member.read(answer);
    if (before === undefined) return false;
    for (const task of keysOf(member.has.active)) {
      if (!keysOf(before.active).includes(task)) this.#noteRunner(member, task);
    }
    for (const task of keysOf(before.warmup)) {
      const isKept = (['active', 'standby', 'warmup'] as const).some((role) =>
        member.holds(role, task),
      );
      if (!isKept) this.measures.wastedWarmups++;
    }
    return !sameTasksByRole(before, member.has);
  }

  #send(request: HeartbeatRequest): Outcome {
    const outcome = this.#coordinator.heartbeat(request, CLIENT);
    this.#onHeartbeat(this.#coordinator.slot);
    return outcome;
  }

  #note(because: readonly string[]): void {
    const isSaid = (start: string): boolean => because.some((words) => words.startsWith(start));
    if (isSaid('Target of epoch')) this.#runners.clear();
    if (isSaid('Warm-ups move on')) this.measures.refinementSteps++;
  }

  #noteRunner(member: SimulatedMember, task: string): void {
    const { memberId } = member;
    const runners = this.#runners.get(task) ?? [];
    this.#runners.set(task, runners);
    if (runners.includes(memberId)) this.pingPongs.push(`${task}: ${runners} ${memberId}`);
    runners.push(memberId);
    if (!this.#disks.isStateful(task)) return;
    const lag = Number(this.#coordinator.settings.acceptableRecoveryLag);
    const isNear = (each: SimulatedMember): boolean =>
      this.#disks.lagOn(each.processId, task) <= lag;
    if (isNear(member)) return;
    this.measures.coldHandovers++;
    const near = [...this.#members.values()].filter(isNear);
    const held = (each: SimulatedMember): boolean =>
      [this.#holders, this.#holdersBefore].some((holders) => holders.get(task)?.has(each) === true);
    if (near.length === 0) this.measures.unavoidable++;
    else if (!near.some(held)) this.measures.diskOnly++;
  }

  #measure(): void {
    const { measures } = this;
    const members = [...this.#members.values()];
    const processes = new Set(members.map(({ processId }) => processId)).size;
    const { numStandbyReplicas } = this.#coordinator.settings;
    const standbys = Math.max(0, Math.min(numStandbyReplicas, processes - 1));
    const running = new Set<string>();
    const copies = new Map<string, number>();
    let warmups = 0;
    for (const member of members) {
      for (const task of keysOf(member.has.active)) if (member.runs(task)) running.add(task);
      for (const role of ['standby', 'warmup'] as const) {
        for (const task of keysOf(member.has[role])) copies.set(task, (copies.get(task) ?? 0) + 1);
      }
      warmups += keysOf(member.has.warmup).length;
    }
    measures.taskTicksNotProcessing += this.#disks.tasks.size - running.size;
    measures.warmupsMax = Math.max(measures.warmupsMax, warmups);
    for (const count of copies.values()) {
      measures.extraCopiesMax = Math.max(measures.extraCopiesMax, count - standbys);
    }
  }

  #isAtRest(): boolean {
    const { group } = this.#coordinator.slot;
    if (group === undefined || group.state !== 'Stable') return false;
    if (group.assignmentEpoch !== group.groupEpoch) return false;
    return [...this.#members.values()].every((member) => {
      const target = group.targets.get(member.memberId) ?? NO_TASKS_BY_ROLE;
      const runs = keysOf(member.has.active).every((task) => member.runs(task));
      return runs && sameTasksByRole(member.has, target);
    });
  }

  #whoHolds(): ReadonlyMap<string, ReadonlySet<SimulatedMember>> {
    const holders = new Map<string, Set<SimulatedMember>>();
    for (const member of this.#members.values()) {
      for (const role of ['active', 'standby', 'warmup'] as const) {
        for (const task of keysOf(member.has[role])) {
          const known = holders.get(task);
          if (known === undefined) holders.set(task, new Set([member]));
          else known.add(member);
        }
      }
    }
    return holders;
  }

  #holds(processId: string, task: string): boolean {
    return [...this.#members.values()].some(
      (member) =>
        member.processId === processId &&
        (['active', 'standby', 'warmup'] as const).some((role) => member.holds(role, task)),
    );
  }

  #join(processId: string, memberIds: readonly string[]): void {
    for (const memberId of memberIds) {
      const member = new SimulatedMember(memberId, processId, this.#topology, this.#disks);
      this.#members.set(memberId, member);
    }
  }

  #leave(memberIds: readonly string[]): void {
    const processes = new Set(memberIds.map((memberId) => this.#dismiss(memberId)));
    const stay = new Set([...this.#members.values()].map(({ processId }) => processId));
    for (const processId of processes) if (!stay.has(processId)) this.#disks.lose(processId);
  }

  #restart(processId: string, memberIds: readonly string[]): void {
    for (const member of [...this.#members.values()]) {
      if (member.processId === processId) this.#dismiss(member.memberId);
    }
    this.#join(processId, memberIds);
  }

  /** @returns its process. */
  #dismiss(memberId: string): string {
    const member = this.#members.get(memberId);
    if (member === undefined) throw new Error(`There is no member ${memberId} to leave`);
    this.#members.delete(memberId);
    if (member.epoch > 0) this.#note(this.#send(member.leave()).because);
    return member.processId;
  }

  /** A target is drawn; somebody leaves before it is there. */
  #retargetLate(seed: number, leaving: readonly string[]): void {
    const coordinator = this.#coordinator;
    const asking = [...this.#members.values()].find(({ memberId }) => !leaving.includes(memberId));
    if (asking === undefined) return;
    coordinator.holdRuns = true;
    this.#retarget(seed, asking);
    this.#leave(leaving);
    coordinator.holdRuns = false;
    coordinator.assignor = syntheticAssignor(seed);
    while (coordinator.heldRuns.length > 0) {
      const outcome = coordinator.release();
      this.#onHeartbeat(coordinator.slot);
      this.#take(asking, outcome);
    }
    coordinator.assignor = stickyAssignor;
  }

  /** A member is in another rack now, which asks for a target, and that is drawn. */
  #retarget(seed: number, asking = [...this.#members.values()][0]): void {
    if (asking === undefined) return;
    this.#coordinator.assignor = syntheticAssignor(seed);
    asking.rackId = `rack-${++this.#racks}`;
    this.#beat(asking);
    this.#coordinator.assignor = stickyAssignor;
  }
}
