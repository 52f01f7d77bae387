import type { HeartbeatAnswer, HeartbeatRequest } from '../../machines/commands.ts';
import { forEachTask, taskKey } from '../../machines/model/task-list.ts';
import type { Topology } from '../../machines/model/topology.ts';
import { assignDirectly } from './assignment.ts';
import { Harness, type HarnessOptions, someClient } from './harness.ts';
import { PlayMember, type Said } from './play-member.ts';
import { topologyOf } from './stage.ts';
import { ToldTasks } from './told-tasks.ts';

const SETTLED_ROUNDS = 3;
const ROUNDS_MAX = 30;

type Extra = { readonly groupId?: string; readonly with?: Partial<HeartbeatRequest> };

/**
 * The members of the scenarios by name, over the real actors; the group is `g` unless said otherwise. Whatever a
 * scenario is about, S08 and S10 are held to in it.
 */
export class Troupe {
  harness: Harness;
  readonly topology: Topology;
  readonly #members = new Map<string, PlayMember>();
  readonly #told = new Map<string, ToldTasks>();

  constructor(harness: Harness, topology: Topology = topologyOf('S')) {
    this.harness = harness;
    this.topology = topology;
  }

  /** A troupe before shards that are loaded, with `in(partitions)` and the changelog of TOPO-T. */
  static async open(
    options: Omit<HarnessOptions, 'compute'> & {
      readonly partitions?: number;
      readonly topology?: 'S' | 'T';
    },
  ): Promise<Troupe> {
    const { partitions = 2, topology = 'S', ...given } = options;
    const harness = await new Harness({ compute: assignDirectly, ...given }).start();
    harness.topics.set('in', partitions);
    if (topology === 'T') harness.topics.set('app-store-changelog', partitions);
    return new Troupe(harness, topologyOf(topology));
  }

  member(name: string, processId = `p${name}`): PlayMember {
    const known = this.#members.get(name);
    if (known !== undefined) return known;
    const made = new PlayMember(name, processId, this.topology);
    this.#members.set(name, made);
    return made;
  }

  join(name: string, extra: Extra & { readonly processId?: string } = {}) {
    return this.harness.soon(this.joining(name, extra));
  }

  /** A join whose answer may wait; the member reads it when it comes. */
  joining(
    name: string,
    extra: Extra & { readonly processId?: string } = {},
  ): Promise<HeartbeatAnswer> {
    return this.#send(name, this.member(name, extra.processId).join(), extra);
  }

  beat(name: string, said: Said = 'silent', extra: Extra = {}): Promise<HeartbeatAnswer> {
    return this.harness.soon(this.#send(name, this.member(name).request(said), extra));
  }

  leave(name: string, extra: Extra = {}): Promise<HeartbeatAnswer> {
    return this.harness.soon(this.#send(name, this.member(name).leave(), extra));
  }

  /** Everybody named beats and does as told, until three rounds change nothing. `each` sees every answer. */
  async settle(
    names: readonly string[],
    each: (name: string) => void = () => {},
    extra: Extra = {},
  ): Promise<void> {
    let calm = 0;
    for (let round = 0; calm < SETTLED_ROUNDS; round++) {
      if (round === ROUNDS_MAX) throw new Error(`Not settled after ${ROUNDS_MAX} rounds`);
      const before = names.map((name) => this.#standing(name)).join();
      for (const name of names) {
        await this.beat(name, 'told', extra);
        each(name);
      }
      calm = names.map((name) => this.#standing(name)).join() === before ? calm + 1 : 0;
    }
  }

  /** `subtopology_partition` of the active tasks it was told. */
  activeOf(name: string): readonly string[] {
    const keys: string[] = [];
    forEachTask(this.member(name).told.active, (id, at) => keys.push(taskKey(id, at)));
    return keys;
  }

  #standing(name: string): string {
    const { epoch, told } = this.member(name);
    return `${epoch} ${JSON.stringify(told)}`;
  }

  #send(name: string, request: HeartbeatRequest, extra: Extra): Promise<HeartbeatAnswer> {
    const { groupId = 'g' } = extra;
    const sent = { ...request, groupId, ...extra.with };
    const told = this.#told.get(groupId) ?? new ToldTasks();
    this.#told.set(groupId, told);
    return this.harness.router.heartbeat(sent, someClient).then((answer) => {
      if (answer.error === 'NONE') {
        told.heard(sent);
        told.told(answer);
      }
      told.hold(this.harness.router.view(groupId)?.group);
      this.member(name).read(answer);
      return answer;
    });
  }
}
