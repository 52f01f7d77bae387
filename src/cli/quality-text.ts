import type { AssignmentFigures } from '../../machines/model/look-back.ts';
import type { GroupStateAnswer } from '../admin/views.ts';

/** How good the target of a group is, in a line of its own; nothing where there is no target to speak of. */
export function qualityLine({
  groupId,
  state,
  targetFigures,
}: Pick<GroupStateAnswer, 'groupId' | 'state' | 'targetFigures'>): string {
  if (targetFigures !== null) return `\nQuality: ${qualityText(targetFigures)}\n`;
  if (state !== 'Stable' && state !== 'Reconciling') return '';
  // What moved is told of by comparing with what was there before, which nothing keeps but the journal.
  return `\nQuality: not known, the target was made before the start; "headgate groups why ${groupId}" may tell\n`;
}

/** How good an assignment is, in one line; what has no meaning for it is left out. */
export function qualityText(figures: AssignmentFigures): string {
  const parts = [movesText(figures), copiesText(figures), spreadText(figures)];
  if (figures.unassigned > 0)
    parts.push(`${countOf(figures.unassigned, 'task')} that nobody may take`);
  return parts.filter((part) => part !== '').join('; ');
}

function movesText(figures: AssignmentFigures): string {
  const { tasks, held, moved, leastMoved, statefulHeld, statefulMoved, leastStatefulMoved } =
    figures;
  if (held === 0) return `${countOf(tasks, 'active task')} had no owner before`;
  const parts = [
    `${moved} of ${countOf(held, 'active task')} moved (${leastMoved} at least for evenness)`,
  ];
  if (statefulHeld > 0 && statefulHeld < held) {
    parts.push(`${statefulMoved} of ${statefulHeld} with state (${leastStatefulMoved} at least)`);
  }
  if (tasks > held) parts.push(`${tasks - held} had no owner before`);
  return parts.join(', ');
}

function copiesText(figures: AssignmentFigures): string {
  const { statefulTasks, copiesBuilt, copiesHeld, copiesKept, statesOnDisk, statesReused } =
    figures;
  if (statefulTasks === 0) return '';
  const parts = [`${countOf(copiesBuilt, 'copy', 'copies')} to build`];
  if (copiesHeld > 0) parts.push(`${copiesKept} of ${copiesHeld} kept`);
  if (statesOnDisk > 0)
    parts.push(`${statesReused} of ${countOf(statesOnDisk, 'state')} on disk used`);
  return parts.join(', ');
}

function spreadText(figures: AssignmentFigures): string {
  const { statefulTasks, activeSpread, statefulSpread, loadSpread, tagDiversity } = figures;
  const parts = [`actives ${activeSpread}`];
  if (statefulTasks > 0) parts.push(`with state ${statefulSpread}`, `load ${decimals(loadSpread)}`);
  const tags = tagDiversity.flatMap(({ tag, diversity }) =>
    diversity === null ? [] : [`${tag} ${decimals(diversity)}`],
  );
  const spread = `spread of ${parts.join(', ')}`;
  return tags.length === 0 ? spread : `${spread}; diversity of ${tags.join(', ')}`;
}

/** A number with its noun. */
export function countOf(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

function decimals(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
