import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cell } from '../../src/problem/cell.ts';

/** Three members; a has one stateful task too many, b and c a copy each. */
export const CELL: Cell = {
  cell: 'orders',
  assignor: 'sticky',
  group: { id: 'orders', epoch: 7 },
  configs: { numStandbyReplicas: 1, rackAwareAssignmentTags: ['zone'] },
  topology: [{ id: '0', tasks: 3, stateful: true }],
  members: [
    { id: 'a', process: 'pa', tags: { zone: 'x' }, active: { '0': [0, 1] }, standby: { '0': [2] } },
    { id: 'b', process: 'pb', tags: { zone: 'y' }, active: { '0': [2] }, standby: { '0': [0] } },
    { id: 'c', process: 'pc', tags: { zone: 'y' }, standby: { '0': [1] } },
  ],
};

/** A problem file in a folder of its own. */
export class ProblemOnDisk {
  readonly folder: string;
  readonly file: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.file = join(folder, 'problem.json');
  }

  /** With {@link CELL} in it. */
  static async open(): Promise<ProblemOnDisk> {
    const problem = new ProblemOnDisk(await mkdtemp(join(tmpdir(), 'headgate-')));
    problem.keep(CELL);
    return problem;
  }

  /** Puts another problem in the place of the one that is there. */
  keep(cell: unknown): void {
    writeFileSync(this.file, JSON.stringify(cell));
  }

  close(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}
