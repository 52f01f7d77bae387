import { expect } from 'chai';
import {
  amount,
  count,
  counts,
  flag,
  legend,
  readCommandLine,
  word,
} from '../../bench/command-line.ts';

const OPTIONS = {
  grid: word(['small', 'huge'], 'small', 'which cells'),
  rounds: count(3, 'how often'),
  sizes: counts([10, 100], 'of groups'),
  seconds: amount(0.5, 'how long'),
  json: flag('for programs'),
};

describe('readCommandLine()', () => {
  const read = (...args: readonly string[]) => readCommandLine('thing', args, OPTIONS);

  it('gives what is written, and the defaults of the rest', () => {
    const values = { grid: 'small', rounds: 3, sizes: [10, 100], seconds: 0.5, json: false };
    expect(read()).to.deep.equal({ kind: 'run', values });
    expect(
      read('--grid', 'huge', '--rounds=4', '--sizes', '1,2', '--seconds', '2', '--json'),
    ).to.deep.equal({
      kind: 'run',
      values: { grid: 'huge', rounds: 4, sizes: [1, 2], seconds: 2, json: true },
    });
  });

  it('tells what there is', () => {
    expect(read('--nope', '-h').kind).to.equal('help');
    expect(read('--help')).to.deep.equal({
      kind: 'help',
      text: [
        'Usage: headgate bench thing [options]',
        '',
        'Options:',
        '  --grid VALUE     which cells: one of small, huge (default: small)',
        '  --rounds VALUE   how often: a whole number from 1 on (default: 3)',
        '  --sizes VALUE    of groups: whole numbers from 1 on, between commas (default: 10,100)',
        '  --seconds VALUE  how long: a number from 0 on (default: 0.5)',
        '  --json           for programs',
        '',
      ].join('\n'),
    });
  });

  it('tells below that what the figures mean', () => {
    const notes = legend('Figures, µs:', { anewUs: 'all of it', us: 'some' });
    expect(readCommandLine('thing', ['-h'], { json: flag('for programs') }, notes)).to.deep.equal({
      kind: 'help',
      text: [
        'Usage: headgate bench thing [options]',
        '',
        'Options:',
        '  --json  for programs',
        '',
        'Figures, µs:',
        '  anewUs  all of it',
        '  us      some',
        '',
      ].join('\n'),
    });
  });

  it('says in one line what is wrong', () => {
    const refusals = [
      ['--grid', 'nope'],
      ['--grid'],
      ['--rounds', '0'],
      ['--sizes', '1,,2'],
      ['--seconds=-1'],
      ['--json=yes'],
      ['--toString', '1'],
      ['more'],
      ['--rounds', '1', '--json', '--json', '--rounds=1'],
    ].map((args) => read(...args));
    expect(refusals.map((each) => ('text' in each ? each.text : each))).to.deep.equal([
      'Cannot use --grid "nope": wanted one of small, huge\n',
      'Cannot use --grid "": wanted one of small, huge\n',
      'Cannot use --rounds "0": wanted a whole number from 1 on\n',
      'Cannot use --sizes "1,,2": wanted whole numbers from 1 on, between commas\n',
      'Cannot use --seconds "-1": wanted a number from 0 on\n',
      'Cannot use --json=yes: wanted --json alone\n',
      'Cannot use --toString: wanted --grid, --rounds, --sizes, --seconds, --json\n',
      'Cannot use "more": wanted options\n',
      'Cannot use --rounds twice: wanted one value\n',
    ]);
  });
});
