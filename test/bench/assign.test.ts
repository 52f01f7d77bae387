import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { benchAssign, GRID_CELLS, type UnderWay } from '../../bench/assign.ts';
import { answerCell } from '../../bench/assign-cells.ts';
import type { AssignRow } from '../../bench/assign-report.ts';
import { COLUMN_NOTES, headLine, rowLine, summaryText } from '../../bench/assign-table.ts';
import { AssignorPool } from '../../workers/pool.ts';
import { projectRoot } from '../support/oracle.ts';

const EXPLAINED = readFileSync(join(projectRoot, 'docs/assignors.md'), 'utf8');

describe('benchAssign()', () => {
  it('measures and grades the small cells, which break no rule and always come to the same', async () => {
    const pool = new AssignorPool({ threads: 1, queueMax: 1, log: { warn() {} } });
    const timing = { warmSeconds: 0, measureSeconds: 0, warmEvents: 1, events: 2 };
    const underWay: UnderWay[] = [];
    try {
      const { rows, summary } = await benchAssign({
        grid: 'small',
        rounds: 1,
        ours: (cell) => answerCell(cell, { assignment: true, timing }, pool),
        startCommand: '',
        onRound: (round) => underWay.push(round),
      });
      expect(underWay).to.deep.equal(rows.map(({ cell }, at) => ({ cell, nth: at + 1, round: 1 })));
      expect(rows).to.have.length(GRID_CELLS.small);
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
      const [row] = rows;
      const inTables = Object.keys(row?.quality ?? {}).filter(
        (key) => !new RegExp(`^\\|[^|]*\\b${key}\\b`, 'm').test(EXPLAINED),
      );
      const inWords = Object.keys({ ...row, ...row?.loopHoldsMs })
        .filter((key) => key !== 'cell' && key !== 'rules')
        .filter((key) => !EXPLAINED.includes(`\`${key}\``));
      expect([...inTables, ...inWords], 'not explained by docs/assignors.md').to.deep.equal([]);
    } finally {
      await pool.close();
    }
  });
});

describe("bench assign beside Kafka's jar", () => {
  it('says before it measures anything that there is no Java', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'headgate-'));
    try {
      const program = fileURLToPath(new URL('../../bench/assign.js', import.meta.url));
      const args = [program, '--grid', 'small', '--against-kafka'];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        env: { PATH: folder },
        encoding: 'utf8',
      });
      expect({ status, stdout, stderr }).to.deep.equal({
        status: 1,
        stdout: '',
        stderr:
          "Cannot ask Kafka's assignor: java cannot be started, wanted Java 17 or newer on the PATH\n",
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the table of bench assign', () => {
  const ROW: AssignRow = {
    cell: 'one',
    kernelUs: 12.4,
    wholeUs: 50,
    kafkaUs: 1_240,
    kernelRatio: 100,
    wholeRatio: 24.8,
    loopHoldsMs: { p50: 0.25, p95: 1.25, ownP95: 0.75, ownMax: 1.5, idleP50: 0.25, idleP95: 0.5 },
    rules: { H5: 3 },
    quality: {
      Q1: 1,
      Q2: 0,
      Q3: 0,
      Q4a: 2,
      Q5: 0.9167,
      Q7: 5,
      Q7x: 0,
      built: 48,
      Q9: 1,
      Q10: null,
    },
    checkValue: '',
  };
  const words = (line: string) => line.trim().split(/ {2,}/);

  it("names and explains every column, those of Kafka's jar where it is asked", () => {
    const measures = ['Q1', 'Q2', 'Q3', 'Q4a', 'Q5', 'Q7', 'Q7x', 'built', 'Q9', 'Q10'];
    const headings = headLine(true).slice(52).trim();
    expect(headings.replace(/ +/g, ' ')).to.equal(
      `kernel whole kernel x whole x loop p50 loop p95 own p95 own max idle p95 rules ${measures.join(' ')}`,
    );
    expect(headLine(false)).to.not.contain(' x');
    for (const heading of ['kernel', 'whole', 'kernel x', 'whole x', 'loop p95', ...measures]) {
      expect(COLUMN_NOTES).to.match(new RegExp(`^  ${heading}  `, 'm'));
    }
  });

  it('has no column that docs/assignors.md does not explain', () => {
    const [, table = ''] = /\| column \|(.*?)\n\n/s.exec(EXPLAINED) ?? [];
    const explained = [...table.matchAll(/^\| ([\w ,]+) \|/gm)].flatMap(([, names = '']) =>
      names.split(', '),
    );
    const [, ...shown] = headLine(true)
      .replace(/(loop|own|idle|kernel|whole) (p50|p95|max|x)/g, '$1_$2')
      .split(/ +/);
    expect(explained).to.deep.equal(shown.map((heading) => heading.replace('_', ' ')));
  });

  it('tells a cell in a line', () => {
    const measures = ['1', '0', '0', '2', '0.917', '5', '0', '48', '1', '-'];
    const times = (...ratios: readonly string[]) => [
      'one',
      '12',
      '50',
      ...ratios,
      '0.3',
      '1.3',
      '0.8',
      '1.5',
      '0.5',
    ];
    expect(words(rowLine(ROW, true))).to.deep.equal([
      ...times('100.0', '24.8'),
      ...['H5:3', ...measures],
    ]);
    expect(words(rowLine(ROW, false))).to.deep.equal([...times(), 'H5:3', ...measures]);
    expect(rowLine(ROW, true)).to.have.length(headLine(true).length);
  });

  it("says in words how Kafka's compares", () => {
    const summary = {
      kernelRatioGeoMean: 120.04,
      kernelRatioWorst: 80,
      wholeRatioGeoMean: 30,
      wholeRatioWorst: null,
    };
    expect(summaryText({ rows: [ROW, ROW], summary })).to.equal(
      [
        "Over 2 cells Kafka's assignor takes",
        '  kernel  120.0 times as long in the geometric mean, 80.0 times in the worst cell',
        '  whole   30.0 times as long in the geometric mean, - in the worst cell',
        '',
      ].join('\n'),
    );
  });
});
