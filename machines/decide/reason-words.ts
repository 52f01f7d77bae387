import type { LANDING, LEAVING, MoveReason } from '../model/look-back.ts';

/** What the words of a reason need beside it. */
export type ReasonContext = {
  /** Who has the task now. */
  readonly to: string;
  readonly assignor: string;
  /** Even shares of a member: of actives with state, and of all actives. */
  readonly statefulShare: number;
  readonly activeShare: number;
  /** One task is spoken of. */
  readonly isOne: boolean;
  /** Its owner is known to have left. */
  readonly hasLeft?: boolean;
};

type Words<K extends string> = Readonly<Record<K, (context: ReasonContext) => string>>;

/** A reason in words that follow the names of the tasks and where they go. */
export function reasonWords({ leaving, landing }: MoveReason, context: ReasonContext): string {
  const left = LEFT[leaving](context);
  if (leaving === 'assignor' && landing === 'assignor') return left;
  return `${left}; ${LANDED[landing](context)}`;
}

const LEFT: Words<(typeof LEAVING)[number]> = {
  unheard: ({ isOne, hasLeft }) =>
    hasLeft === true
      ? 'its owner left, and no member reports state of it'
      : isOne
        ? 'no member was assigned it, or reports state of it'
        : 'no member was assigned them, or reports state of them',
  unowned: ({ isOne, hasLeft }) =>
    hasLeft === true ? 'its owner left' : `no member was assigned ${isOne ? 'it' : 'them'}`,
  staleOwner: (context) => `${owner(context)} has an older topology`,
  aboveStatefulShare: (context) =>
    `${owner(context)} had more than an even share of tasks with state (${shareText(context.statefulShare)})`,
  aboveShare: (context) =>
    `${owner(context)} had more than an even share of tasks (${shareText(context.activeShare)})`,
  processAboveShare: (context) => `the process of ${owner(context)} had more than an even share`,
  aboveSubtopologyShare: (context) =>
    `${owner(context)} had more than an even share of the subtopology`,
  ownerFull: (context) =>
    `${owner(context)} has an even share (${shareText(context.activeShare)}) without ${context.isOne ? 'it' : 'them'}`,
  tooFewCopies: () => 'there were too few standbys',
  copyPromoted: ({ isOne }) =>
    isOne ? 'a process with a standby runs it now' : 'processes with standbys run them now',
  sameTags: () => 'a standby was no different from the other copies by its tags',
  holderFull: ({ isOne }) =>
    `who had a standby has an even share of all tasks without ${isOne ? 'it' : 'them'}`,
  assignor: ({ assignor, isOne }) => `${assignor} placed ${isOne ? 'it' : 'them'} anew`,
};

const LANDED: Words<(typeof LANDING)[number]> = {
  wasActive: ({ to, isOne }) => `${to} had ${isOne ? 'it' : 'them'} as active`,
  hadStandby: ({ to, isOne }) => `${to} had ${isOne ? 'a standby' : 'standbys'}`,
  hadWarmup: ({ to, isOne }) => `${to} had ${isOne ? 'a warm-up' : 'warm-ups'}`,
  claimed: ({ to, isOne }) => `${to} says that it had ${isOne ? 'it' : 'them'}`,
  processHad: ({ to, isOne }) => `the process of ${to} had ${isOne ? 'it' : 'them'}`,
  onDisk: ({ to, isOne }) => `the process of ${to} has ${isOne ? 'its' : 'their'} state on disk`,
  newTags: ({ to }) => `${to} has a tag value that no other copy has`,
  belowShare: ({ to, isOne }) => `${to} needs ${isOne ? 'it' : 'them'} for an even share`,
  noOtherProcess: () => 'every process has a copy',
  assignor: ({ assignor, isOne }) => `${assignor} placed ${isOne ? 'it' : 'them'}`,
};

/** By the assignment that is in force; by the last target another member may have been meant. */
function owner({ isOne }: ReasonContext): string {
  return isOne ? 'its owner' : 'their owner';
}

/** With one decimal where it is not whole. */
function shareText(share: number): string {
  return Number.isInteger(share) ? String(share) : share.toFixed(1);
}
