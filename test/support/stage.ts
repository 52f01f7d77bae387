import type { HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import { decideDelete } from '../../machines/decide/delete.ts';
import type { Profile } from '../../machines/model/profile.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import type { ErrorName } from '../../machines/model/refusal.ts';
import type { Topology } from '../../machines/model/topology.ts';
import { keepingAssignor } from './keeping-assignor.ts';
import type { Outcome } from './lone-coordinator.ts';
import { LoneCoordinator } from './lone-coordinator.ts';
import type { Said } from './play-member.ts';
import { PlayMember } from './play-member.ts';
import { writeTasks } from './task-notation.ts';
import { ToldTasks } from './told-tasks.ts';
import { info, subtopology, topology } from './topology-samples.ts';

/** TOPO-S of the scenarios: subtopology `0` reads `in`, no state; TOPO-T with a changelog. */
export function topologyOf(kind: 'S' | 'T'): Topology {
  const stateChangelogTopics = kind === 'T' ? [info('app-store-changelog')] : [];
  return topology(subtopology('0', { sourceTopics: ['in'], stateChangelogTopics }));
}

/**
 * The fixtures of the scenarios: a lone coordinator, topics, and members by name in processes. Whatever a scenario is
 * about, S08 and S10 are held to in it.
 */
export class Stage {
  readonly coordinator = new LoneCoordinator(keepingAssignor);
  readonly topology: Topology;
  readonly #members = new Map<string, PlayMember>();
  readonly #told = new ToldTasks();

  constructor(
    given: { readonly in?: number; readonly topology?: 'S' | 'T'; readonly profile?: Profile } = {},
  ) {
    const { in: partitions = 2, topology = 'S', profile = 'kip' } = given;
    this.topology = topologyOf(topology);
    this.coordinator.behaviour = resolveBehaviour(profile);
    this.coordinator.setTopic('in', partitions);
    if (topology === 'T') this.coordinator.setTopic('app-store-changelog', partitions);
  }

  member(name: string, processId = `p${name}`): PlayMember {
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const made = new PlayMember(name, processId, this.topology);
    this.#members.set(name, made);
    return made;
  }

  /** A full join; the member starts with nothing. */
  join(
    name: string,
    options: {
      readonly processId?: string;
      readonly with?: Partial<HeartbeatRequest>;
      readonly version?: number;
    } = {},
  ): HeartbeatAnswer | undefined {
    const member = this.member(name, options.processId);
    return this.#send(member, { ...member.join(), ...options.with }, options);
  }

  /** A heartbeat with the last epoch it was given; `lost`: it never reads the answer. */
  beat(
    name: string,
    said: Said = 'silent',
    options: {
      readonly lost?: boolean;
      readonly with?: Partial<HeartbeatRequest>;
      readonly version?: number;
    } = {},
  ): HeartbeatAnswer | undefined {
    const member = this.member(name);
    return this.#send(member, { ...member.request(said), ...options.with }, options);
  }

  leave(name: string, fields: Partial<HeartbeatRequest> = {}): HeartbeatAnswer | undefined {
    const member = this.member(name);
    return this.#send(member, { ...member.leave(), ...fields }, { lost: true });
  }

  /** Everybody beats and reports what it was told, until three rounds change nothing. */
  settle(...names: readonly string[]): void {
    for (let calm = 0, round = 0; calm < 3; round++) {
      if (round > 100) throw new Error('The group does not settle');
      const { length } = this.coordinator.log;
      for (const name of names) this.beat(name, 'told');
      calm = this.coordinator.log.length === length ? calm + 1 : 0;
    }
  }

  /** Group state and epochs, then each member with its epoch and assigned tasks: `A 3 0:[0]|[]`. */
  describe(): readonly string[] {
    const { group } = this.coordinator.slot;
    if (group === undefined) return ['no group'];
    const members = [...group.members.values()].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
    return [
      `${group.state} ${group.groupEpoch}/${group.assignmentEpoch}`,
      ...members.map(({ memberId, memberEpoch, assigned }) => {
        const tasks = [assigned.active, assigned.standby].map(writeTasks).join('|');
        return `${memberId} ${memberEpoch} ${tasks}`;
      }),
    ];
  }

  /** Lets time pass in small steps, while the named members keep beating with what `said` says. */
  pass(ms: number, said: Said, ...names: readonly string[]): void {
    for (let passed = 0; passed < ms; passed += 1000) {
      this.deliver(this.coordinator.advance(Math.min(1000, ms - passed)));
      for (const name of names) this.beat(name, said);
    }
  }

  /** Deletes the group, as DeleteGroups would. */
  deleteGroup(): void {
    this.coordinator.carryOut(decideDelete(this.coordinator.slotOrNone));
  }

  /** The answer of a step that was nobody's request reaches the member it is for. */
  deliver(outcome: Outcome): void {
    const { answer } = outcome;
    if (answer === undefined) return;
    this.#told.told(answer);
    this.#told.hold(this.coordinator.slot.group);
    this.#members.get(answer.memberId)?.read(answer);
  }

  #send(
    member: PlayMember,
    request: HeartbeatRequest,
    { lost = false, version = 1 }: { readonly lost?: boolean; readonly version?: number },
  ): HeartbeatAnswer | undefined {
    const client = {
      clientId: `client-${member.memberId}`,
      clientHost: '/127.0.0.1',
      apiVersion: version,
    };
    const { answer } = this.coordinator.heartbeat(request, client);
    if ((answer?.error ?? 'NONE') === 'NONE') this.#told.heard(request);
    if (answer !== undefined) this.#told.told(answer);
    this.#told.hold(this.coordinator.slot.group);
    if (answer !== undefined && !lost) member.read(answer);
    return answer;
  }
}

/** The error of an answer. */
export function errorOf(answer: HeartbeatAnswer | undefined): ErrorName | undefined {
  return answer?.error;
}

/** The active tasks of an answer as text; undefined where it carries no lists. */
export function activeOf(answer: HeartbeatAnswer | undefined): string | undefined {
  const tasks = answer?.activeTasks ?? null;
  return tasks === null ? undefined : writeTasks(tasks);
}

/** The names of an answer's statuses. */
export function statusesOf(answer: HeartbeatAnswer | undefined): readonly string[] {
  return answer?.statuses.map(({ status }) => status) ?? [];
}
