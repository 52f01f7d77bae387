import { reasonWords } from '../../machines/decide/reason-words.ts';
import { ASSIGNORS } from '../../machines/model/assignors.ts';
import type { AssignmentFigures } from '../../machines/model/look-back.ts';
import type { Cell } from '../problem/cell.ts';
import type { DropReason, Move } from '../problem/moves.ts';
import { plainEntry } from './plain-text.ts';
import { countOf } from './quality-text.ts';
import { table } from './table.ts';

/** What one assignor makes of a problem. */
export type Found = {
  readonly assignor: string;
  readonly moves: readonly Move[];
  readonly figures: AssignmentFigures;
  /** Actives that no present member had. */
  readonly activesUnowned: number;
  /** Standbys that go to another member. */
  readonly standbysMoved: number;
  /** Standbys that come in nobody's place. */
  readonly standbysUnowned: number;
  /** Standbys that tasks with state are to have and do not get, for want of processes. */
  readonly standbysMissing: number;
};

export type Answer = Found | { readonly assignor: string; readonly error: string };

/** What the problem is about, without its members. */
export function summaryOf({ cell, assignor, group, dump, configs, topology, members }: Cell) {
  return {
    cell,
    assignor: assignor ?? ASSIGNORS[0],
    group: group ?? null,
    dump: dump ?? null,
    configs: configs ?? {},
    subtopologies: topology.length,
    tasks: topology.reduce((sum, { tasks }) => sum + tasks, 0),
    members: members.length,
    processes: new Set(members.map(({ process }) => process)).size,
  };
}

/** Where the problem is from, and how large it is. */
export function headText(cell: Cell): string {
  const { group, dump, configs, tasks, members, processes } = summaryOf(cell);
  const name = group === null ? `Cell ${cell.cell}` : `Group ${group.id}`;
  const epoch = group?.epoch === undefined ? '' : ` at epoch ${group.epoch}`;
  const standbys = configs.numStandbyReplicas ?? 0;
  const sizes = [
    countOf(tasks, 'task'),
    `standbys ${standbys}`,
    `${countOf(members, 'member')} in ${countOf(processes, 'process', 'processes')}`,
  ].join(', ');
  const detail = dump?.detail === undefined ? '' : `: ${dump.detail}`;
  const isKept = dump !== null && dump.why !== 'asked';
  const why = isKept ? `${plainEntry(`Kept ${dump.at}, ${dump.why}${detail}`)}\n` : '';
  return `${plainEntry(name)}${epoch}: ${sizes}\n${why}`;
}

/**
 * What one assignor moves, and how good that is; of several, how good they are, and which of them failed. Nothing where
 * one alone was asked and failed.
 */
export function answersText(answers: readonly Answer[], limit: number): string {
  const found = answers.filter((answer) => 'figures' in answer);
  const [only] = found;
  if (answers.length === 1) {
    return only === undefined ? '' : `${movesText(only, limit)}\n${comparison(found)}`;
  }
  const failed = answers.flatMap((answer) =>
    'error' in answer ? [`${plainEntry(`${answer.assignor}: ${answer.error}`)}\n`] : [],
  );
  return [...(found.length > 0 ? [comparison(found)] : []), failed.join('')]
    .filter((part) => part !== '')
    .join('\n');
}

function movesText({ assignor, moves, figures }: Found, limit: number): string {
  if (moves.length === 0) return 'Nothing moves\n';
  const shares = {
    statefulShare: figures.statefulTasks / figures.sharers,
    activeShare: figures.tasks / figures.sharers,
  };
  const whyOf = ({ to, hasLeft, reason, dropped, isUnderWay }: Move): string => {
    if (dropped !== null) return DROPPED[dropped];
    if (reason === null || to === null) return '';
    const words = reasonWords(reason, { ...shares, assignor, to, isOne: true, hasLeft });
    return isUnderWay ? `on its way already: ${words}` : words;
  };
  const rows = moves.slice(0, limit).map((move) => {
    const { task, role, from, hasLeft, to } = move;
    return [task, role, `${from ?? '-'}${hasLeft ? ' (left)' : ''}`, to ?? '-', whyOf(move)];
  });
  const more = moves.length - rows.length;
  const rest = more > 0 ? `and ${more} more (--limit, --json)\n` : '';
  return table(['TASK', 'ROLE', 'FROM', 'TO', 'WHY'], rows) + rest;
}

const DROPPED: Readonly<Record<DropReason, string>> = {
  heldTwice: 'several members have it as active: it goes on with one',
  runsThere: 'its process has the task anyway',
  stateless: 'a task without state has no standby',
  enoughCopies: 'no more standbys are asked for',
  tooFewProcesses: 'there are too few processes for another standby',
};

/**
 * A row for each measure, a column for each assignor, and what would be best; a measure that means nothing for the group has
 * no row.
 */
function comparison(found: readonly Found[]): string {
  const rows = MEASURES.filter(({ isAbout = always }) => found.some(isAbout)).map(
    ({ name, best, tell }) => [name, ...found.map(tell), best],
  );
  const tags = found[0]?.figures.tagDiversity ?? [];
  const diversity = tags.map(({ tag }, at) => [
    `diversity of copies by ${tag} (Q10)`,
    ...found.map(({ figures }) => share(figures.tagDiversity[at]?.diversity ?? null)),
    '1',
  ]);
  const headings = ['MEASURE', ...found.map(({ assignor }) => assignor), 'BEST'];
  return table(headings, [...rows, ...diversity]);
}

type Measure = {
  readonly name: string;
  readonly best: string;
  readonly tell: (answer: Found) => string;
  /** Whether it means something; left out: always. */
  readonly isAbout?: (answer: Found) => boolean;
};

const always = () => true;
const hasState = ({ figures }: Found) => figures.statefulTasks > 0;
const hadOwners = ({ figures }: Found) => figures.held > 0;
const hadOwnersOfState = ({ figures }: Found) => figures.statefulHeld > 0;

const MEASURES: readonly Measure[] = [
  {
    name: 'actives that move to another member',
    best: 'as few as evenness allows',
    tell: ({ figures: { moved, held } }) => `${moved} of ${held}`,
    isAbout: hadOwners,
  },
  {
    name: '  least for evenness',
    best: '',
    tell: ({ figures }) => String(figures.leastMoved),
    isAbout: hadOwners,
  },
  {
    name: 'actives with state that move',
    best: 'as few as evenness allows',
    tell: ({ figures: { statefulMoved, statefulHeld } }) => `${statefulMoved} of ${statefulHeld}`,
    isAbout: hadOwnersOfState,
  },
  {
    name: '  least for evenness',
    best: '',
    tell: ({ figures }) => String(figures.leastStatefulMoved),
    isAbout: hadOwnersOfState,
  },
  {
    name: 'actives that had no owner before',
    best: '',
    tell: ({ activesUnowned }) => String(activesUnowned),
  },
  {
    name: 'standbys that move to another member',
    best: 'few',
    tell: ({ standbysMoved }) => String(standbysMoved),
    isAbout: hasState,
  },
  {
    name: 'standbys that had no owner before',
    best: '',
    tell: ({ standbysUnowned }) => String(standbysUnowned),
    isAbout: hasState,
  },
  {
    name: 'standbys that are missing',
    best: '0',
    tell: ({ standbysMissing }) => String(standbysMissing),
    isAbout: hasState,
  },
  {
    name: 'copies of state to build',
    best: 'few',
    tell: ({ figures }) => String(figures.copiesBuilt),
    isAbout: hasState,
  },
  {
    name: 'copies that stay (Q8)',
    best: 'all',
    tell: ({ figures: { copiesKept, copiesHeld } }) => `${copiesKept} of ${copiesHeld}`,
    isAbout: ({ figures }) => figures.copiesHeld > 0,
  },
  {
    name: 'states on disk that are used (Q9)',
    best: 'all',
    tell: ({ figures: { statesReused, statesOnDisk } }) => `${statesReused} of ${statesOnDisk}`,
    isAbout: ({ figures }) => figures.statesOnDisk > 0,
  },
  {
    name: 'spread of actives with state (Q1)',
    best: '0 or 1',
    tell: ({ figures }) => String(figures.statefulSpread),
    isAbout: hasState,
  },
  {
    name: 'spread of actives (Q2)',
    best: '0 or 1',
    tell: ({ figures }) => String(figures.activeSpread),
  },
  {
    name: 'spread of load of processes (Q4b)',
    best: 'small',
    tell: ({ figures }) => share(figures.loadSpread),
  },
  {
    name: 'tasks that nobody may take',
    best: '0',
    tell: ({ figures }) => String(figures.unassigned),
  },
];

function share(value: number | null): string {
  return value === null ? '-' : String(Math.round(value * 1000) / 1000);
}
