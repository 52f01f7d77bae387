import type { Role, TaskList, TaskOffset, TasksByRole } from '../../model/tasks.ts';

/** A member as the refiner sees it. */
export type RefinerMember = {
  readonly memberId: string;
  readonly processId: string;
  /** What it has now, without what it is to give up. */
  readonly assigned: TasksByRole;
  /** The warm-ups it is to give up and has until it says that it did. */
  readonly revokedWarmups: TaskList;
  /** What the assignor wants it to have: active and standby tasks. */
  readonly target: TasksByRole;
  readonly taskOffsets: readonly TaskOffset[];
  readonly taskEndOffsets: readonly TaskOffset[];
  /** Wall clock, ms, at which the last of these lists came; undefined = none did. */
  readonly reportedAtMs: number | undefined;
  /** Whether it reports how far its copies are; `unknown`: it was not heard since a load (OFS-4). */
  readonly reportsCopies: 'yes' | 'no' | 'unknown';
};

/** What a member last reported of a task; each undefined if it did not. */
export type Report = { readonly offset: bigint | undefined; readonly end: bigint | undefined };

/** A copy of a task that a member has now. */
export type Copy = {
  readonly member: RefinerMember;
  readonly role: Exclude<Role, 'active'>;
  readonly report: Report | undefined;
};

/** A stateful task that is not active where the target wants it, with all that is known of it. */
export type Mover = {
  readonly subtopologyId: string;
  readonly partition: number;
  /** Who has it as its active task. Of two, the one with the lower id. */
  readonly holder: RefinerMember | undefined;
  readonly holderReport: Report | undefined;
  /** Whom the target names. */
  readonly owner: RefinerMember | undefined;
  /** By member id. */
  readonly copies: readonly Copy[];
  /** The members the target wants to have a standby, by id. */
  readonly standbyTargets: readonly RefinerMember[];
};

const NO_COPIES: readonly Copy[] = [];

/** The copies on a process. */
export function copiesOn({ copies }: Mover, processId: string): readonly Copy[] {
  const isThere = ({ member }: Copy): boolean => member.processId === processId;
  // Of most tasks there is none, or no other.
  if (copies.every(isThere)) return copies;
  return copies.some(isThere) ? copies.filter(isThere) : NO_COPIES;
}
