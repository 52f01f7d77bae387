import { expect } from 'chai';
import { benchAssign } from '../../bench/assign.ts';
import { answerCell } from '../../bench/assign-cells.ts';
import { AssignorPool } from '../../workers/pool.ts';

describe('benchAssign()', () => {
  it('measures and grades the small cells, which break no rule and always come to the same', async () => {
    const pool = new AssignorPool({ threads: 1, queueMax: 1, log: { warn() {} } });
    const timing = { warmSeconds: 0, measureSeconds: 0 };
    try {
      const { rows, summary } = await benchAssign({
        grid: 'small',
        rounds: 1,
        ours: (cell) => answerCell(cell, { assignment: true, timing }, pool),
        startCommand: '',
      });
      expect(rows.map(({ cell, checkValue, rules }) => [cell, checkValue, rules])).to.deep.equal([
        ['sticky-m12-k2-s4-p12-r1-full-offsets', '3a160218', {}],
        ['sticky-m12-k2-s4-p12-r1-incremental-offsets', '8d88d9c8', {}],
        ['balanced-m12-k2-s4-p12-r1-full-offsets', '4da80380', {}],
        ['balanced-m12-k2-s4-p12-r1-incremental-offsets', 'f894ee7c', {}],
        ['highly_available-m12-k2-s4-p12-r1-full-offsets', '892d295b', {}],
        ['highly_available-m12-k2-s4-p12-r1-incremental-offsets', '45859427', {}],
      ]);
      for (const { kernelUs, wholeUs } of rows) {
        expect(kernelUs).to.be.a('number');
        expect(wholeUs).to.be.a('number');
      }
      expect(new Set(Object.values(summary))).to.deep.equal(new Set([null]));
    } finally {
      await pool.close();
    }
  });
});
