import { expect } from 'chai';
import fc from 'fast-check';
import { apply } from '../../machines/apply.ts';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { emptySlot } from '../../machines/model/empty.ts';
import type { Profile } from '../../machines/model/profile.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import { countTasks, sameTasks, taskKey } from '../../machines/model/task-list.ts';
import { NO_TASKS_BY_ROLE } from '../../machines/model/tasks.ts';
import type { GroupRecord } from '../../machines/records.ts';
import { keepingAssignor, listOf } from '../support/keeping-assignor.ts';
import type { Outcome } from '../support/lone-coordinator.ts';
import { GROUP_ID, LoneCoordinator } from '../support/lone-coordinator.ts';
import { plainGroup, slowHolders, slowState } from '../support/plain-group.ts';
import type { Said } from '../support/play-member.ts';
import { PlayMember } from '../support/play-member.ts';
import { times } from '../support/times.ts';
import { info, subtopology, topology } from '../support/topology-samples.ts';

/** Two subtopologies over one topic, the second with state. */
const TOPOLOGY = topology(
  subtopology('0', { sourceTopics: ['in'] }),
  subtopology('1', { sourceTopics: ['in2'], stateChangelogTopics: [info('log')] }),
);

type Action =
  | {
      readonly kind: 'beat';
      readonly who: number;
      readonly said: Said;
      readonly lost: boolean;
      /** How far its copies are behind; undefined: it says nothing of them. */
      readonly lag: number | undefined;
    }
  | { readonly kind: 'join'; readonly who: number; readonly lost: boolean }
  | { readonly kind: 'leave' | 'forget'; readonly who: number }
  | { readonly kind: 'clock'; readonly ms: number }
  | { readonly kind: 'grow' | 'vanish' | 'release' | 'fail' | 'waited' | 'failOver' }
  | { readonly kind: 'hold'; readonly on: boolean }
  | { readonly kind: 'standbys' | 'warmups'; readonly count: number };

const who = fc.nat({ max: 4 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('beat' as const),
      who,
      said: fc.constantFrom<Said>('silent', 'told', 'all'),
      lost: fc.boolean(),
      lag: fc.constantFrom(undefined, undefined, 0, 10_000, 10_001),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('join' as const), who, lost: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('leave' as const, 'forget' as const), who }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('clock' as const), ms: fc.nat({ max: 30_000 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'grow' as const,
        'vanish' as const,
        'release' as const,
        'fail' as const,
        'waited' as const,
        'failOver' as const,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hold' as const), on: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('standbys' as const), count: fc.nat({ max: 1 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('warmups' as const), count: fc.nat({ max: 2 }) }),
  },
);

const start = fc.record({
  actions: fc.array(action, { minLength: 5, maxLength: 60 }),
  seed: fc.nat(),
  delayMs: fc.constantFrom(0, 0, 3000),
  intervalMs: fc.constantFrom(0, 0, 1000),
  waitMs: fc.constantFrom(0, 100),
  handoverMs: fc.constantFrom(0, 300),
  warmups: fc.constantFrom(0, 1, 2),
});

/** Any assignment that keeps the hard rules: one active owner per task, one copy per process. */
function anyAssignor(seed: number): (problem: AssignmentProblem) => AssignmentResult {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % limit;
  };
  return ({ members, subtopologies, numStandbyReplicas }) => {
    const active = members.map(() => [] as { subtopologyId: string; partition: number }[]);
    const standby = members.map(() => [] as { subtopologyId: string; partition: number }[]);
    for (const { subtopologyId, taskCount, stateful } of subtopologies) {
      for (let partition = 0; partition < taskCount; partition++) {
        const owner = below(members.length);
        active[owner]?.push({ subtopologyId, partition });
        const other = below(members.length);
        const elsewhere = members[other]?.processId !== members[owner]?.processId;
        if (stateful && numStandbyReplicas > 0 && elsewhere) {
          standby[other]?.push({ subtopologyId, partition });
        }
      }
    }
    return {
      members: members.map((_, at) => ({
        active: listOf(active[at] ?? []),
        standby: listOf(standby[at] ?? []),
      })),
      unassigned: [],
    };
  };
}

const HARMLESS = new Set([
  'NONE',
  'UNKNOWN_MEMBER_ID',
  'FENCED_MEMBER_EPOCH',
  'GROUP_ID_NOT_FOUND',
]);

/** One group and five clients in three processes. */
class History {
  readonly coordinator: LoneCoordinator;
  readonly clients = ['pA', 'pA', 'pB', 'pB', 'pC'].map(
    (processId, at) => new PlayMember(`m${at}`, processId, TOPOLOGY),
  );
  readonly profile: Profile;
  #partitions = 2;
  #warmupsMax: number;

  constructor(profile: Profile, { seed, ...given }: Omit<Start, 'actions'>) {
    this.profile = profile;
    this.coordinator = new LoneCoordinator(anyAssignor(seed));
    this.#warmupsMax = given.warmups;
    const { coordinator } = this;
    coordinator.behaviour = resolveBehaviour(profile);
    coordinator.settings = {
      ...coordinator.settings,
      initialRebalanceDelayMs: given.delayMs,
      assignmentIntervalMs: given.intervalMs,
      numWarmupReplicas: given.warmups,
    };
    coordinator.coordinator = {
      ...coordinator.coordinator,
      assignorAnswerWaitMs: given.waitMs,
      handoverHeartbeatIntervalMs: given.handoverMs,
    };
    this.#setTopics();
  }

  #setTopics(): void {
    for (const name of ['in', 'in2', 'log']) this.coordinator.setTopic(name, this.#partitions);
  }

  play(each: Action): void {
    const { coordinator } = this;
    switch (each.kind) {
      case 'beat':
        this.#send(each.who, each.lost, (client) => ({
          ...client.request(each.said),
          ...client.reports(each.lag),
        }));
        break;
      case 'join':
        this.#send(each.who, each.lost, (client) => client.join());
        break;
      case 'leave':
        this.#send(each.who, true, (client) => client.leave());
        break;
      case 'forget':
        // The process was started anew: it remembers nothing and joins.
        this.#send(each.who, false, (client) => client.join());
        break;
      case 'clock':
        this.#deliver(coordinator.advance(each.ms));
        break;
      case 'grow':
        this.#partitions = Math.min(6, this.#partitions + 1);
        this.#setTopics();
        break;
      case 'vanish':
        coordinator.setTopic('in', 0);
        break;
      case 'release':
        this.#deliver(coordinator.release());
        break;
      case 'fail':
        this.#deliver(coordinator.fail('it broke'));
        break;
      case 'waited':
        this.#deliver(coordinator.endWaits());
        break;
      case 'failOver':
        this.#deliver(coordinator.failOver());
        break;
      case 'hold':
        coordinator.holdRuns = each.on;
        break;
      case 'standbys':
        coordinator.settings = { ...coordinator.settings, numStandbyReplicas: each.count };
        break;
      case 'warmups':
        this.#warmupsMax = Math.max(this.#warmupsMax, each.count);
        coordinator.settings = { ...coordinator.settings, numWarmupReplicas: each.count };
        break;
    }
  }

  #send(
    at: number,
    lost: boolean,
    request: (client: PlayMember) => ReturnType<PlayMember['join']>,
  ): void {
    const client = this.clients[at];
    if (client === undefined) return;
    const sent = request(client);
    const outcome = this.coordinator.heartbeat(sent, {
      clientId: client.memberId,
      clientHost: '/127.0.0.1',
      apiVersion: 1,
    });
    const { answer } = outcome;
    if (answer === undefined) return;
    expect(HARMLESS, answer.errorMessage ?? '').to.include(answer.error);
    if (!lost) client.read(answer);
  }

  #deliver({ answer }: Outcome): void {
    this.clients.find(({ memberId }) => memberId === answer?.memberId)?.read(answer as never);
  }

  check(): void {
    const { slot, log } = this.coordinator;
    const { group, soft } = slot;
    const replayed = log.reduce(apply, emptySlot(GROUP_ID)).group;
    expect(plainGroup(replayed), 'a replay gives what was lived').to.deep.equal(plainGroup(group));
    const loaded = compacted(log).reduce(apply, emptySlot(GROUP_ID)).group;
    expect(plainGroup(loaded), 'so does a compacted log').to.deep.equal(plainGroup(group));
    if (group === undefined) return;
    expect(group.state).to.equal(slowState(group));
    expect(group.assignmentEpoch).to.be.at.most(group.groupEpoch);
    for (const { memberEpoch, memberId } of group.members.values()) {
      expect(memberEpoch, memberId).to.be.at.most(group.assignmentEpoch);
    }
    this.#checkOwners();
    const warmups = [...group.members.values()].reduce(
      (sum, { assigned, pendingRevocation }) =>
        sum + countTasks(assigned.warmup) + countTasks(pendingRevocation.warmup),
      0,
    );
    expect(warmups, 'no more warm-ups than there may ever have been').to.be.at.most(
      this.#warmupsMax,
    );
    const hurried = [...soft.members.values()].filter((member) => member.hurried).length;
    expect(soft.hurriedMembers).to.equal(hurried);
    for (const memberId of soft.members.keys()) {
      expect(group.members.has(memberId), `${memberId} left something behind`).to.equal(true);
    }
  }

  #checkOwners(): void {
    const { group } = this.coordinator.slot;
    if (group === undefined) return;
    const { active, copies } = slowHolders(group);
    for (const [task, members] of active) {
      expect(members, `active ${task} has one owner`).to.have.length(1);
      const holder = group.holders.active.get(task);
      expect(holder).to.equal(group.members.get(members[0] ?? '')?.processId);
    }
    expect(group.holders.active.size).to.equal(active.size);
    for (const [task, byProcess] of copies) {
      if (task.startsWith('0')) continue;
      for (const [processId, members] of byProcess) {
        expect(members, `${processId} has one copy of ${task}`).to.have.length(1);
      }
    }
    // As the clients see it: what they were told and have not closed.
    const running = new Map<string, string>();
    for (const client of this.clients) {
      if (!group.members.has(client.memberId)) continue;
      if (client.epoch === 0) continue;
      for (const { subtopologyId, partitions } of client.runs.active) {
        for (const partition of partitions) {
          const task = taskKey(subtopologyId, partition);
          expect(running.get(task), `${task} also runs on ${client.memberId}`).to.equal(undefined);
          running.set(task, client.memberId);
        }
      }
    }
  }

  /** Everybody beats and does what it is told; afterwards nothing is left to do. */
  calmDown(): void {
    const { coordinator } = this;
    coordinator.holdRuns = false;
    coordinator.assignor = keepingAssignor;
    this.#setTopics();
    while (coordinator.heldRuns.length > 0) this.#deliver(coordinator.release());
    this.#deliver(coordinator.endWaits());
    // Kafka tells a member its tasks once; whoever missed it learns them by joining (X11).
    if (this.profile === 'kafka') {
      for (let at = 0; at < 5; at++) this.play({ kind: 'join', who: at, lost: false });
    }
    for (let round = 0; round < 40; round++) {
      for (let at = 0; at < 5; at++) {
        this.play({ kind: 'beat', who: at, said: 'told', lost: false, lag: 0 });
      }
      this.check();
      this.play({ kind: 'clock', ms: 2000 });
    }
    const { group } = coordinator.slot;
    expect(group?.state).to.equal('Stable');
    expect(group?.members.size).to.equal(5);
    for (const client of this.clients) {
      const target = group?.targets.get(client.memberId) ?? NO_TASKS_BY_ROLE;
      expect(client.epoch).to.equal(group?.assignmentEpoch);
      expect(sameTasks(client.told.active, target.active), client.memberId).to.equal(true);
      expect(sameTasks(client.told.standby, target.standby), client.memberId).to.equal(true);
      expect(client.told.warmup, client.memberId).to.deep.equal([]);
    }
    const records = coordinator.log.length;
    for (let at = 0; at < 5; at++) {
      this.play({ kind: 'beat', who: at, said: 'silent', lost: false, lag: undefined });
    }
    expect(coordinator.log.length, 'idle heartbeats write nothing').to.equal(records);
  }
}

type Start = typeof start extends fc.Arbitrary<infer T> ? T : never;

/** The last value of each key, in the order of the keys: what a compacted store gives back. */
function compacted(log: readonly GroupRecord[]): readonly GroupRecord[] {
  const last = new Map<string, GroupRecord>();
  for (const record of log) {
    const part = 'memberId' in record ? record.memberId : '';
    last.set(`${record.type} ${part}`, record);
  }
  return [...last]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, record]) => record)
    .filter(({ value }) => value !== null);
}

for (const profile of ['kip', 'kafka'] as const) {
  describe(`random histories, profile ${profile}`, () => {
    it('keep one owner, one copy, ordered epochs, a true log, and settle when it is calm', () => {
      fc.assert(
        fc.property(start, ({ actions, ...given }) => {
          const history = new History(profile, given);
          for (const each of actions) {
            history.play(each);
            history.check();
          }
          history.calmDown();
        }),
        { numRuns: times(20) },
      );
    }).timeout(60_000);
  });
}
