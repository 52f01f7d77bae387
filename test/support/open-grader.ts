import { join } from 'node:path';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { type Cell, describeResult } from '../../src/problem/cell.ts';
import { cellText } from '../../src/problem/cell-text.ts';
import { projectRoot } from './oracle.ts';

/** What the grader makes of an answer; measures without a meaning are null. */
export type Grade = {
  readonly rules: Readonly<Record<string, number>>;
  readonly q: Readonly<Record<string, number | null>>;
  readonly diversity: Readonly<Record<string, number | null>>;
};

type Grader = { grade(cell: Cell, answer: object): Grade };

/** Has the grader of the assignment cells judge a result. */
export async function openGrader(): Promise<
  (problem: AssignmentProblem, result: AssignmentResult) => Grade
> {
  const { grade } = (await import(join(projectRoot, 'test/oracle/cells.mjs'))) as Grader;
  return (problem, result) => grade(JSON.parse(cellText(problem)), describeResult(problem, result));
}
