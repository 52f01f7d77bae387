import { restless, sticky } from './assignors.ts';
import { DECISIONS, type Freedoms, type Setup } from './setup.ts';

const NOTHING: Freedoms = {
  leaves: false,
  losses: false,
  lateRequests: false,
  timers: false,
  restarts: false,
  slowRuns: false,
  deletion: false,
  topics: false,
  breaks: false,
  upgrades: false,
};

type Given = Partial<Omit<Setup, 'may'>> & {
  readonly name: string;
  readonly may: Partial<Freedoms>;
};

function setup({ may, ...given }: Given): Setup {
  return {
    profile: 'kip',
    processes: ['pA', 'pB', 'pC'],
    instances: [null, null, null],
    tasks: [2, 1],
    standbys: 0,
    warmups: 0,
    answersWait: false,
    initialDelay: false,
    assignmentInterval: false,
    opensAtOnce: false,
    startsSettled: false,
    assignor: sticky,
    decisions: DECISIONS,
    ...given,
    may: { ...NOTHING, ...may },
  };
}

/** A setup with how far it is explored: with the unit suite, and on its own; and what is found there. */
export type Plan = {
  readonly setup: Setup;
  readonly quick: Expected;
  readonly whole: Expected;
};

/**
 * `worlds` within `depthMax` moves of the first one. A change of what is decided may make more or fewer of them: the
 * laws say whether it is right, the number that it was noticed.
 */
export type Expected = { readonly depthMax: number; readonly worlds: number };

const TWO = ['pA', 'pB'];
const ANYTHING = { leaves: true, losses: true, timers: true, restarts: true } as const;

/**
 * What is explored. Each setup is finite but, with all that may go wrong, far too large for one; so each turns on what
 * goes together, and goes as deep as time allows.
 */
export const PLANS: readonly Plan[] = [
  {
    setup: setup({ name: 'three members join', tasks: [2, 2], may: {} }),
    quick: { depthMax: 6, worlds: 360 },
    whole: { depthMax: 60, worlds: 89698 },
  },
  {
    setup: setup({ name: 'anything goes wrong for three members', may: ANYTHING }),
    quick: { depthMax: 4, worlds: 625 },
    whole: { depthMax: 7, worlds: 52113 },
  },
  {
    setup: setup({
      name: 'anything goes wrong for three members at rest',
      startsSettled: true,
      may: ANYTHING,
    }),
    quick: { depthMax: 3, worlds: 681 },
    whole: { depthMax: 6, worlds: 39287 },
  },
  {
    setup: setup({ name: 'messages are lost', opensAtOnce: true, may: { losses: true } }),
    quick: { depthMax: 5, worlds: 651 },
    whole: { depthMax: 9, worlds: 44405 },
  },
  {
    setup: setup({
      name: 'members come and go, tasks never stay',
      assignor: restless,
      may: { leaves: true, timers: true },
    }),
    quick: { depthMax: 5, worlds: 803 },
    whole: { depthMax: 9, worlds: 41370 },
  },
  {
    setup: setup({
      name: 'answers wait for slow runs',
      answersWait: true,
      may: { slowRuns: true, leaves: true, losses: true, restarts: true },
    }),
    quick: { depthMax: 4, worlds: 862 },
    whole: { depthMax: 7, worlds: 75232 },
  },
  {
    setup: setup({
      name: 'requests of two members come late',
      processes: TWO,
      answersWait: true,
      may: { ...ANYTHING, slowRuns: true, lateRequests: true },
    }),
    quick: { depthMax: 4, worlds: 649 },
    whole: { depthMax: 7, worlds: 44005 },
  },
  {
    setup: setup({
      name: 'two members of one process, standbys',
      processes: ['pA', 'pA', 'pB'],
      tasks: [1, 2],
      standbys: 1,
      assignor: restless,
      may: { leaves: true, losses: true },
    }),
    quick: { depthMax: 4, worlds: 307 },
    whole: { depthMax: 7, worlds: 20494 },
  },
  {
    setup: setup({
      name: 'targets are delayed',
      processes: TWO,
      initialDelay: true,
      assignmentInterval: true,
      may: { leaves: true, timers: true, restarts: true, slowRuns: true },
    }),
    quick: { depthMax: 6, worlds: 954 },
    whole: { depthMax: 12, worlds: 27506 },
  },
  {
    setup: setup({
      name: 'a source topic goes and comes back',
      processes: TWO,
      tasks: [2, 2],
      may: { leaves: true, restarts: true, slowRuns: true, topics: true },
    }),
    quick: { depthMax: 5, worlds: 788 },
    whole: { depthMax: 10, worlds: 24830 },
  },
  {
    setup: setup({
      name: 'the group is deleted and made anew',
      processes: TWO,
      answersWait: true,
      may: { leaves: true, lateRequests: true, slowRuns: true, deletion: true },
    }),
    quick: { depthMax: 5, worlds: 946 },
    whole: { depthMax: 8, worlds: 28560 },
  },
  {
    setup: setup({
      name: "static members take a break and take each other's place",
      instances: ['i', 'i', null],
      processes: ['pA', 'pA', 'pC'],
      answersWait: true,
      may: { ...ANYTHING, slowRuns: true, breaks: true },
    }),
    quick: { depthMax: 4, worlds: 888 },
    whole: { depthMax: 7, worlds: 50670 },
  },
  {
    setup: setup({
      name: 'tasks with state move by warm-ups',
      processes: TWO,
      tasks: [1, 2],
      warmups: 1,
      may: { ...ANYTHING },
    }),
    quick: { depthMax: 5, worlds: 796 },
    whole: { depthMax: 9, worlds: 16934 },
  },
  {
    setup: setup({
      name: 'loads while tasks warm up',
      processes: TWO,
      tasks: [1, 2],
      warmups: 1,
      may: { restarts: true },
    }),
    quick: { depthMax: 12, worlds: 817 },
    whole: { depthMax: 60, worlds: 3101 },
  },
  {
    setup: setup({
      name: 'warm-ups beside standbys, two members in one process',
      processes: ['pA', 'pA', 'pB'],
      tasks: [1, 2],
      standbys: 1,
      warmups: 2,
      may: { ...ANYTHING, slowRuns: true },
    }),
    quick: { depthMax: 4, worlds: 802 },
    whole: { depthMax: 6, worlds: 13679 },
  },
  {
    setup: setup({
      name: 'members join with the next topology',
      may: { leaves: true, losses: true, timers: true, upgrades: true },
    }),
    quick: { depthMax: 3, worlds: 284 },
    whole: { depthMax: 6, worlds: 31815 },
  },
  {
    setup: setup({
      name: "kafka, static members take a break and take each other's place",
      profile: 'kafka',
      instances: ['i', 'i', null],
      processes: ['pA', 'pB', 'pC'],
      may: { ...ANYTHING, breaks: true },
    }),
    quick: { depthMax: 4, worlds: 507 },
    whole: { depthMax: 7, worlds: 20064 },
  },
  {
    setup: setup({ name: 'kafka, anything goes wrong', profile: 'kafka', may: ANYTHING }),
    quick: { depthMax: 4, worlds: 610 },
    whole: { depthMax: 7, worlds: 55211 },
  },
  {
    setup: setup({
      name: 'kafka, anything goes wrong for three members at rest',
      profile: 'kafka',
      startsSettled: true,
      may: ANYTHING,
    }),
    quick: { depthMax: 3, worlds: 583 },
    whole: { depthMax: 6, worlds: 35644 },
  },
  {
    setup: setup({
      name: 'kafka, one process twice, standbys, slow runs',
      profile: 'kafka',
      processes: ['pA', 'pA', 'pB'],
      tasks: [1, 2],
      standbys: 1,
      answersWait: true,
      assignor: restless,
      may: { leaves: true, losses: true, slowRuns: true },
    }),
    quick: { depthMax: 4, worlds: 516 },
    whole: { depthMax: 7, worlds: 31107 },
  },
];

/** Where a fault is put to see it noticed. */
export const MUTATED: Setup = setup({
  name: 'a fault in a decision',
  processes: TWO,
  may: { ...ANYTHING, slowRuns: true },
});

export const MUTATED_AT_REST: Setup = { ...MUTATED, startsSettled: true };

export const MUTATED_LIVES: Setup = setup({
  name: 'a fault between two lives of a group',
  processes: TWO,
  may: { leaves: true, slowRuns: true, deletion: true },
});

/** What members report is what they run, and one of their requests may come late. */
export const LATE_REPORT: Setup = setup({
  name: 'a late report',
  processes: TWO,
  opensAtOnce: true,
  may: { lateRequests: true },
});
