import type { AssignReport, AssignRow } from './assign-report.ts';
import { legend } from './command-line.ts';

const CELL_WIDTH = 52;

type Column = {
  readonly heading: string;
  readonly width: number;
  /** For `--help`: what it says, and which value is the best. */
  readonly about: string;
  readonly tell: (row: AssignRow) => string;
  /** What is shown only where Kafka's jar is asked, too. */
  readonly ofKafka?: boolean;
};

const TIMES: readonly Column[] = [
  {
    heading: 'kernel',
    width: 8,
    about: 'µs of processor time of the assignor alone, numbers in and numbers out; least',
    tell: ({ kernelUs }) => figure(kernelUs, 0),
  },
  {
    heading: 'whole',
    width: 8,
    about: "µs from the coordinator's group to its result, all threads, checked; least",
    tell: ({ wholeUs }) => figure(wholeUs, 0),
  },
  {
    heading: 'kernel x',
    width: 8,
    about: "--against-kafka: how many times as long as kernel Kafka's assignor takes; most",
    tell: ({ kernelRatio }) => figure(kernelRatio, 1),
    ofKafka: true,
  },
  {
    heading: 'whole x',
    width: 8,
    about: "--against-kafka: how many times as long as whole Kafka's assignor alone takes; most",
    tell: ({ wholeRatio }) => figure(wholeRatio, 1),
    ofKafka: true,
  },
  {
    heading: 'loop p50',
    width: 8,
    about:
      'ms for which an event (a member came or left, until the new target is installed and told) held the event loop at a time: half of 100 of them no longer, after 30 to warm up. Of several rounds that with the least loop p95 is shown',
    tell: ({ loopHoldsMs }) => figure(loopHoldsMs?.p50, 1),
  },
  {
    heading: 'loop p95',
    width: 8,
    about: '95 of the 100 no longer',
    tell: ({ loopHoldsMs }) => figure(loopHoldsMs?.p95, 1),
  },
  {
    heading: 'own p95',
    width: 8,
    about:
      'loop p95 without what the loop only waited for a processor that others had, where the system tells (Linux)',
    tell: ({ loopHoldsMs }) => figure(loopHoldsMs?.ownP95, 1),
  },
  {
    heading: 'own max',
    width: 8,
    about: 'the longest of the 100, a garbage collection with it',
    tell: ({ loopHoldsMs }) => figure(loopHoldsMs?.ownMax, 1),
  },
  {
    heading: 'idle p95',
    width: 8,
    about:
      'loop p95 of a loop with nothing to do: a loop figure at or below it says no more than that the machine holds it so long anyway',
    tell: ({ loopHoldsMs }) => figure(loopHoldsMs?.idleP95, 1),
  },
  {
    heading: 'rules',
    width: 8,
    about:
      'ok, or rules broken and how often: H1 a task is active once, H2 on whom there is, H3 once on a process, H4 no standby without state, H5 all standbys, H6 no warm-up, H7 sticky: nobody above an even share',
    tell: ({ rules }) =>
      Object.entries(rules)
        .map(([rule, times]) => `${rule}:${times}`)
        .join(' ') || 'ok',
  },
];

/** The measures that are shown, what each means and its best value. */
const MEASURES = {
  Q1: 'spread of actives with state: most that a member has minus least; 0 or 1',
  Q2: 'spread of all actives; 0 or 1',
  Q3: 'spread of the actives of the most uneven subtopology, above the one that cannot be helped; 0',
  Q4a: 'spread of tasks in all roles; 0 or 1',
  Q5: 'share of actives that stay with their member; 1, or what evenness leaves',
  Q7: 'copies of state that go from one process to another; 0, or what evenness asks for',
  Q7x: 'actives with state that move to another member, beyond those that evenness asks for; 0',
  built: 'copies of state to build: their process held none; few',
  Q9: 'share of states on disk that are used; 1, or 0 where every task keeps its copies elsewhere',
  Q10: 'diversity of copies by the tags; 1',
} as const;

const COLUMNS: readonly Column[] = [
  ...TIMES,
  ...Object.entries(MEASURES).map(([name, about]) => ({
    heading: name,
    width: 6,
    about,
    tell: ({ quality }: AssignRow) => {
      const value = quality[name];
      return figure(value, Number.isInteger(value) ? 0 : 3);
    },
  })),
];

/** What `--help` says of the columns: a line each, the best value last. */
export const COLUMN_NOTES = legend(
  'Columns, the best value last; -: has no meaning there:',
  Object.fromEntries(COLUMNS.map(({ heading, about }) => [heading, about])),
);

/** What `--help` says of the names of cells. */
export const CELL_NOTES = legend('Cells, as sticky-m12-k2-s4-p12-r1-incremental-offsets:', {
  m: 'members',
  k: 'members of a process',
  s: 'subtopologies, every second one with state',
  p: 'partitions, and so tasks, of each of them',
  r: 'standbys of each task with state',
  full: 'nobody has anything yet',
  incremental: 'the last member has just come, the others hold an assignment',
  offsets: 'two members report what is on disk of each task with state; none: nobody does',
  tags: 'copies are to be spread by two tags',
});

/** The headings; those of Kafka's jar only where it is asked. */
export function headLine(withKafka: boolean): string {
  return lineOf('cell', withKafka, ({ heading }) => heading);
}

/** A cell's line of the table. */
export function rowLine(row: AssignRow, withKafka: boolean): string {
  return lineOf(row.cell, withKafka, ({ tell }) => tell(row));
}

function lineOf(cell: string, withKafka: boolean, tell: (column: Column) => string): string {
  const shown = COLUMNS.filter(({ ofKafka }) => withKafka || ofKafka !== true);
  return [
    cell.padEnd(CELL_WIDTH),
    ...shown.map((column) => tell(column).padStart(column.width)),
  ].join(' ');
}

/** How Kafka's jar compares over all cells, a line for each time of ours. */
export function summaryText({ rows, summary }: Pick<AssignReport, 'rows' | 'summary'>): string {
  const { kernelRatioGeoMean, kernelRatioWorst, wholeRatioGeoMean, wholeRatioWorst } = summary;
  const times = (value: number | null) => (value === null ? '-' : `${value.toFixed(1)} times`);
  const line = (name: string, mean: number | null, worst: number | null) =>
    `  ${name.padEnd(6)}  ${times(mean)} as long in the geometric mean, ${times(worst)} in the worst cell\n`;
  return [
    `Over ${rows.length} cells Kafka's assignor takes\n`,
    line('kernel', kernelRatioGeoMean, kernelRatioWorst),
    line('whole', wholeRatioGeoMean, wholeRatioWorst),
  ].join('');
}

function figure(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined ? '-' : value.toFixed(digits);
}
