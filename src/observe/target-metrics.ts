import { Counter, Histogram, type Registry } from 'prom-client';
import type { AssignmentFigures } from '../../machines/model/look-back.ts';

/** Bounds of spreads: 1 is as even as it gets where tasks do not divide. */
const SPREAD_BOUNDS = [0, 1, 2, 5, 10, 20, 50, 100, 1_000];

/** Counts what installed targets move, and how even they are: of all groups together, as groups are no closed set. */
export function targetMetrics(registry: Registry): (figures: AssignmentFigures) => void {
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const moved = counter(
    'streams_group_task_move_count',
    'Active tasks that targets gave to another member than had them',
  );
  const excess = counter(
    'streams_group_excess_task_move_count',
    'Moves of active tasks beyond those that evenness asks for',
  );
  const statefulMoved = counter(
    'streams_group_stateful_task_move_count',
    'Moves of active tasks with state',
  );
  const built = counter(
    'streams_group_task_copy_count',
    'Copies of tasks with state that targets gave to processes which held none',
  );
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, buckets: SPREAD_BOUNDS, registers });
  const activeSpread = histogram(
    'streams_group_active_task_spread',
    'Most minus least active tasks of a member, per target',
  );
  const statefulSpread = histogram(
    'streams_group_stateful_task_spread',
    'Most minus least active tasks with state of a member, per target',
  );
  return (figures) => {
    moved.inc(figures.moved);
    excess.inc(Math.max(0, figures.moved - figures.leastMoved));
    statefulMoved.inc(figures.statefulMoved);
    built.inc(figures.copiesBuilt);
    activeSpread.observe(figures.activeSpread);
    if (figures.statefulTasks > 0) statefulSpread.observe(figures.statefulSpread);
  };
}
