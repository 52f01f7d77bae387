import type {
  AssignmentMember,
  AssignmentProblem,
  AssignmentResult,
} from '../../machines/model/assignment.ts';
import { LANDING, LEAVING, type MoveReason } from '../../machines/model/look-back.ts';
import { taskKey } from '../../machines/model/task-list.ts';
import type { TaskList, TaskOffset } from '../../machines/model/tasks.ts';
import type { ToldMove } from './look-back.ts';

type Leaving = (typeof LEAVING)[number];
type Landing = (typeof LANDING)[number];

type After = {
  readonly member: AssignmentMember;
  readonly has: AssignmentResult['members'][number];
};

/**
 * Problem and result read once more, in words and with sets, slowly: what each reason of a move promises, written down
 * from `LEAVING` and `LANDING` alone. Nobody may claim an active that another claims, nor a copy of what it has as active.
 */
export class MovePredicates {
  readonly #problem: AssignmentProblem;
  readonly #after: readonly After[];
  readonly #kinds = new Map<
    string,
    { readonly subtopologyId: string; readonly stateful: boolean }
  >();
  /** The tasks that lists name, by the list: each is asked for again and again. */
  readonly #named = new WeakMap<TaskList, readonly string[]>();

  constructor(problem: AssignmentProblem, result: AssignmentResult) {
    this.#problem = problem;
    this.#after = problem.members.map((member, i) => ({
      member,
      has: result.members[i] ?? { active: [], standby: [] },
    }));
    for (const { subtopologyId, taskCount, stateful } of problem.subtopologies) {
      for (let partition = 0; partition < taskCount; partition++) {
        this.#kinds.set(taskKey(subtopologyId, partition), { subtopologyId, stateful });
      }
    }
  }

  /** Every task that is new where it is, as `active 0_1 A`. */
  expectedMoves(): string[] {
    const moves = this.#after.flatMap(({ member, has }) => [
      ...this.#known(has.active)
        .filter((task) => !this.#known(member.active).includes(task))
        .map((task) => `active ${task} ${member.memberId}`),
      ...this.#known(has.standby)
        .filter((task) => !this.#known(member.standby).includes(task))
        .map((task) => `standby ${task} ${member.memberId}`),
    ]);
    return moves.sort();
  }

  /** The first reason that is true of the move, each half in the order of its list. */
  reasonFor({ task, role, to }: Omit<ToldMove, 'why'>): Partial<MoveReason> {
    const newcomer = this.#after.find(({ member }) => member.memberId === to);
    const leaving = LEAVING.find((each) =>
      role === 'active'
        ? this.#activeLeaves(task, each)
        : newcomer !== undefined && this.#standbyIsNeeded(task, newcomer, each),
    );
    const landing = LANDING.find((each) => this.#lands(task, role, newcomer, each));
    return { ...(leaving && { leaving }), ...(landing && { landing }) };
  }

  #activeLeaves(task: string, leaving: Leaving): boolean {
    const holder = this.#problem.members.find(({ active }) => this.#known(active).includes(task));
    const { subtopologyId, stateful } = this.#kind(task);
    if (holder === undefined) {
      const isHeardOf = this.#problem.members.some((member) => this.#hasState(member, task));
      return leaving === (stateful && !isHeardOf ? 'unheard' : 'unowned');
    }
    const process = this.#problem.members.filter((each) => each.processId === holder.processId);
    const part = process.filter((each) => this.#takesPart(each)).length;
    const held = (
      members: readonly AssignmentMember[],
      counts: (task: string) => boolean,
    ): number => members.flatMap(({ active }) => this.#known(active).filter(counts)).length;
    const all = (counts: (task: string) => boolean): number =>
      [...this.#kinds.keys()].filter(counts).length;
    const isAbove = (
      members: readonly AssignmentMember[],
      shares: number,
      counts: (task: string) => boolean,
    ): boolean => {
      const has = held(members, counts);
      return has > 1 && has * this.#sharers() > all(counts) * shares;
    };
    const any = (): boolean => true;
    const isStateful = (each: string): boolean => this.#kind(each).stateful;
    const isOfIt = (each: string): boolean => this.#kind(each).subtopologyId === subtopologyId;
    switch (leaving) {
      case 'staleOwner':
        return this.#isStale(holder);
      case 'aboveStatefulShare':
        return stateful && isAbove([holder], 1, isStateful);
      case 'aboveShare':
        return isAbove([holder], 1, any);
      case 'processAboveShare':
        return isAbove(process, part, any) || (stateful && isAbove(process, part, isStateful));
      case 'aboveSubtopologyShare':
        return isAbove([holder], 1, isOfIt) || isAbove(process, part, isOfIt);
      case 'ownerFull': {
        const has = this.#after.find(({ member }) => member === holder)?.has;
        return (this.#known(has?.active ?? []).length + 1) * this.#sharers() > this.#kinds.size;
      }
      default:
        return leaving === 'assignor';
    }
  }

  #standbyIsNeeded(task: string, newcomer: After, leaving: Leaving): boolean {
    const holders = this.#after.filter(({ member }) => this.#known(member.standby).includes(task));
    const now = this.#after.filter(({ has }) => this.#known(has.standby).includes(task));
    const former = holders.filter((each) => !now.includes(each));
    const owner = this.#ownerOf(task);
    switch (leaving) {
      case 'tooFewCopies':
        return holders.length < now.length;
      case 'copyPromoted':
        return former.some(({ member }) => member.processId === owner?.member.processId);
      case 'sameTags':
        return former.some(({ member }) => {
          const others = [owner, ...now].filter((each) => each !== undefined && each !== newcomer);
          return this.#problem.rackAwareAssignmentTags.some((tag) => {
            const isNew = (each: AssignmentMember): boolean =>
              this.#tag(each, tag) !== undefined &&
              others.every((other) => this.#tag(other?.member, tag) !== this.#tag(each, tag));
            return isNew(newcomer.member) && !isNew(member);
          });
        });
      case 'holderFull':
        return former.some((each) => this.#countTasks(each) + 1 > this.#taskShare());
      default:
        return leaving === 'assignor';
    }
  }

  #lands(
    task: string,
    role: ToldMove['role'],
    newcomer: After | undefined,
    landing: Landing,
  ): boolean {
    if (newcomer === undefined) return false;
    const { member, has } = newcomer;
    const siblings = this.#problem.members.filter(
      (each) => each.processId === member.processId && each !== member,
    );
    const holds = (each: AssignmentMember): boolean =>
      [each.active, each.standby, each.warmup].some((list) => this.#known(list).includes(task));
    const { stateful } = this.#kind(task);
    switch (landing) {
      case 'wasActive':
        return role === 'standby' && this.#known(member.active).includes(task);
      case 'hadStandby':
        return role === 'active' && this.#known(member.standby).includes(task);
      case 'hadWarmup':
        return this.#known(member.warmup).includes(task);
      case 'processHad':
        return siblings.some(holds);
      case 'onDisk':
        return (
          stateful && !holds(member) && [member, ...siblings].some((each) => reports(each, task))
        );
      case 'newTags': {
        const others = [this.#ownerOf(task), ...this.#after].filter(
          (each) =>
            each !== undefined &&
            each !== newcomer &&
            (each === this.#ownerOf(task) || this.#known(each.has.standby).includes(task)),
        );
        return (
          role === 'standby' &&
          this.#problem.rackAwareAssignmentTags.some(
            (tag) =>
              this.#tag(member, tag) !== undefined &&
              others.every((other) => this.#tag(other?.member, tag) !== this.#tag(member, tag)),
          )
        );
      }
      case 'belowShare': {
        if (role === 'standby') return this.#countTasks(newcomer) - 1 < this.#taskShare();
        const counted = this.#known(has.active).filter(
          (each) => !stateful || this.#kind(each).stateful,
        );
        const all = [...this.#kinds.values()].filter((each) => !stateful || each.stateful);
        return (counted.length - 1) * this.#sharers() < all.length;
      }
      case 'noOtherProcess': {
        const fresh = this.#problem.members.filter((each) => !this.#isStale(each));
        return (
          role === 'standby' &&
          fresh.every((each) =>
            this.#after.some(
              (other) =>
                other.member.processId === each.processId &&
                this.#known([...other.has.active, ...other.has.standby]).includes(task),
            ),
          )
        );
      }
      default:
        return landing === 'assignor';
    }
  }

  #known(list: TaskList): readonly string[] {
    const named = this.#named.get(list) ?? this.#name(list);
    this.#named.set(list, named);
    return named;
  }

  #name(list: TaskList): readonly string[] {
    return list
      .flatMap(({ subtopologyId, partitions }) =>
        partitions.map((partition) => taskKey(subtopologyId, partition)),
      )
      .filter((task) => this.#kinds.has(task));
  }

  #kind(task: string) {
    return this.#kinds.get(task) ?? { subtopologyId: '', stateful: false };
  }

  #ownerOf(task: string): After | undefined {
    return this.#after.find(({ has }) => this.#known(has.active).includes(task));
  }

  #hasState(member: AssignmentMember, task: string): boolean {
    return (
      this.#known([...member.standby, ...member.warmup]).includes(task) || reports(member, task)
    );
  }

  #isStale(member: AssignmentMember): boolean {
    return member.topologyEpoch !== this.#problem.topologyEpoch;
  }

  #takesPart(member: AssignmentMember): boolean {
    const after = this.#after.find((each) => each.member === member);
    return !this.#isStale(member) || this.#known(after?.has.active ?? []).length > 0;
  }

  #sharers(): number {
    return this.#problem.members.filter((member) => this.#takesPart(member)).length;
  }

  #countTasks({ has }: After): number {
    return this.#known([...has.active, ...has.standby]).length;
  }

  #taskShare(): number {
    return this.#after.reduce((sum, each) => sum + this.#countTasks(each), 0) / this.#sharers();
  }

  /** All members of a process have the tags of the one with the smallest id. */
  #tag(member: AssignmentMember | undefined, tag: string): string | undefined {
    const [first] = this.#problem.members
      .filter(({ processId }) => processId === member?.processId)
      .toSorted((a, b) => (a.memberId < b.memberId ? -1 : 1));
    return first?.clientTags.find(({ key }) => key === tag)?.value;
  }
}

function reports({ taskOffsets }: AssignmentMember, task: string): boolean {
  return taskOffsets.some(
    (each: TaskOffset) => taskKey(each.subtopologyId, each.partition) === task,
  );
}
