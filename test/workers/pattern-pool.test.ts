import { expect } from 'chai';
import fc from 'fast-check';
import { PATTERN_LETTERS_MAX, PATTERNS_MAX, PatternPool } from '../../workers/pattern-pool.ts';
import { needRe2 } from '../support/re2.ts';
import { rejectionOf } from '../support/rejection-of.ts';

describe('PatternPool', () => {
  let pool: PatternPool;
  before(async function () {
    await needRe2(this);
    pool = new PatternPool({ matchesMax: 3 });
  });
  after(() => pool?.close());

  const matchesOf = async (pattern: string, ...names: string[]) =>
    pool.match([pattern], names.join('\n'));

  const whole: readonly [pattern: string, matches: readonly string[]][] = [
    ['a', ['a']],
    ['a|ab', ['a', 'ab']],
    ['^a|b$', ['a', 'b']],
    ['(?i)A', ['a']],
    ['(?s:.)b', ['ab', 'bb']],
    ['(?m)^a$', ['a']],
    ['a*?', ['a', 'aa']],
    ['\\Qa', ['a']],
    ['\\Qa\\E', ['a']],
    ['(?:)', []],
    ['', []],
  ];
  for (const [pattern, matches] of whole) {
    it(`match() takes whole names alone: ${JSON.stringify(pattern)} (R-2)`, async () => {
      const names = ['a', 'aa', 'ab', 'b', 'bb', 'cab'];
      expect(await matchesOf(pattern, ...names)).to.deep.equal({
        status: 'matched',
        matches: [matches],
      });
    });
  }

  it('match() keeps patterns apart, and the order of names', async () => {
    expect(await pool.match(['a.*', 'z', '.*a'], 'a\nba\nab')).to.deep.equal({
      status: 'matched',
      matches: [['a', 'ab'], [], ['a', 'ba']],
    });
    expect(await pool.match(['.*'], '')).to.deep.equal({ status: 'matched', matches: [[]] });
  });

  it('match() takes patterns one by one that are too large together', async () => {
    const patterns = Array.from({ length: PATTERNS_MAX }, (_, at) => `${at}(a{0,30}){0,30}`);
    const matches = patterns.map((): string[] => []);
    matches[3] = ['3aaa'];
    matches[42] = ['42'];
    expect(await pool.match(patterns, '42\n3aaa\n3b')).to.deep.equal({
      status: 'matched',
      matches,
    });
  });

  it('match() agrees with a slow matcher of whole words, whatever the pattern (R-2)', async () => {
    const everything = new PatternPool({ matchesMax: WORDS.length });
    try {
      await fc.assert(
        fc.asyncProperty(expressions, async (expression) => {
          const wanted = WORDS.filter((word) => ends(expression, word, 0).has(word.length));
          const shown = show(expression);
          expect(await everything.match([shown], WORDS.join('\n')), shown).to.deep.equal({
            status: 'matched',
            matches: [wanted],
          });
        }),
        { numRuns: 300 },
      );
    } finally {
      await everything.close();
    }
  });

  const invalid = ['(', 'a)|(b', '[a', 'a**', '(?=a)', '(a)\\1', 'a{1001}', 'ab\\', '(?z)a'];
  for (const pattern of invalid) {
    it(`match() refuses what RE2 does not know: ${pattern} (R-1)`, async () => {
      const outcome = await matchesOf(pattern, 'a');
      expect(outcome).to.include({ status: 'invalid', pattern });
    });
  }

  it('match() refuses patterns that are too long, and too many of them', async () => {
    const long = 'a'.repeat(PATTERN_LETTERS_MAX + 1);
    expect(await matchesOf(long, 'a')).to.deep.equal({
      status: 'invalid',
      pattern: `${'a'.repeat(50)}…`,
      reason: 'it has 1001 letters, wanted at most 1000',
    });
    expect(await pool.match(Array(PATTERNS_MAX + 1).fill('b'), 'a')).to.deep.equal({
      status: 'invalid',
      pattern: 'b',
      reason: 'there are 101 patterns, wanted at most 100',
    });
  });

  it('match() counts what a pattern matches when that is too much', async () => {
    expect(await matchesOf('a.*', 'a', 'ab', 'b', 'aa', 'ac')).to.deep.equal({
      status: 'tooMany',
      pattern: 'a.*',
      count: 4,
      max: 3,
    });
  });

  const hostile = [
    '(((a{100}){100}){100})',
    '(((a{0,10}){0,10}){0,10}|.*)*x',
    '(a*)*b',
    '(\\pL{0,100}){0,10}',
    '(.{0,31}){0,31}b',
  ];
  for (const pattern of hostile) {
    it(`match() ends within its budget for ${pattern} (R-2)`, async () => {
      const names = Array.from({ length: 2_000 }, (_, at) => `${'a'.repeat(240)}${at}`);
      const outcome = await matchesOf(pattern, ...names);
      expect(outcome.status).to.be.oneOf(['invalid', 'matched', 'slow']);
    });
  }

  it('match() is given up by its own thread when the budget is over', async () => {
    const slow = new PatternPool({ matchesMax: 1, budgetMs: 0 });
    try {
      expect(await slow.match(['a'], 'a')).to.deep.equal({ status: 'slow' });
    } finally {
      await slow.close();
    }
  });

  it('match() rejects when the pool is closed under it', async () => {
    const closed = new PatternPool({ matchesMax: 1 });
    const outcome = rejectionOf(closed.match(['a'], 'a'));
    await closed.close();
    expect(await outcome).to.be.an('error');
  });
});

/** Every word of up to five letters over a, b and a full stop, the one sign that names and patterns share. */
const WORDS = wordsOf(5);

function wordsOf(length: number): string[] {
  const shorter = length === 1 ? [''] : wordsOf(length - 1);
  const longer = shorter
    .filter((word) => word.length === length - 1)
    .flatMap((word) => ['a', 'b', '.'].map((letter) => word + letter));
  return [...shorter.filter((word) => word !== ''), ...longer];
}

/** A pattern before it is written down. */
type Expression =
  | { readonly kind: 'letter' | 'quoted' | 'anyCase'; readonly letter: string }
  | { readonly kind: 'any' | 'begin' | 'end' }
  | { readonly kind: 'both' | 'either'; readonly of: readonly [Expression, Expression] }
  | { readonly kind: 'many' | 'maybe'; readonly of: Expression };

const expressions: fc.Arbitrary<Expression> = fc.letrec<{ any: Expression }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.record({
      kind: fc.constantFrom('letter', 'quoted', 'anyCase'),
      letter: fc.constantFrom('a', 'b', '.'),
    }),
    fc.record({ kind: fc.constantFrom('any', 'begin', 'end') }),
    fc.record({ kind: fc.constantFrom('both', 'either'), of: fc.tuple(tie('any'), tie('any')) }),
    fc.record({ kind: fc.constantFrom('many', 'maybe'), of: tie('any') }),
  ) as fc.Arbitrary<Expression>,
})).any;

/** As RE2 reads it. What stands alone stays bare, so that a choice or a flag meets whatever is put around it. */
function show(expression: Expression, isInside = false): string {
  switch (expression.kind) {
    case 'letter':
      return expression.letter.replace('.', '\\.');
    case 'quoted':
      // Left open where nothing follows.
      return isInside ? `\\Q${expression.letter}\\E` : `\\Q${expression.letter}`;
    case 'anyCase': {
      const letter = expression.letter.toUpperCase().replace('.', '\\.');
      return isInside ? `(?i:${letter})` : `(?i)${letter}`;
    }
    case 'any':
      return '.';
    case 'begin':
      return '^';
    case 'end':
      return '$';
    case 'both':
      return expression.of.map((each) => `(?:${show(each, true)})`).join('');
    case 'either':
      return isInside
        ? `(?:${expression.of.map((each) => show(each, true)).join('|')})`
        : expression.of.map((each) => show(each, true)).join('|');
    case 'many':
      return `(?:${show(expression.of, true)})*`;
    case 'maybe':
      return `(?:${show(expression.of, true)})?`;
  }
}

/** Where a match that begins at `from` can end: found by trying everything. */
function ends(expression: Expression, word: string, from: number): ReadonlySet<number> {
  switch (expression.kind) {
    case 'letter':
    case 'quoted':
    case 'anyCase':
      return new Set(word[from] === expression.letter ? [from + 1] : []);
    case 'any':
      return new Set(from < word.length ? [from + 1] : []);
    case 'begin':
      return new Set(from === 0 ? [from] : []);
    case 'end':
      return new Set(from === word.length ? [from] : []);
    case 'both': {
      const [first, second] = expression.of;
      return new Set([...ends(first, word, from)].flatMap((at) => [...ends(second, word, at)]));
    }
    case 'either':
      return new Set(expression.of.flatMap((each) => [...ends(each, word, from)]));
    case 'maybe':
      return new Set([from, ...ends(expression.of, word, from)]);
    case 'many': {
      const reached = new Set([from]);
      for (const at of reached) for (const next of ends(expression.of, word, at)) reached.add(next);
      return reached;
    }
  }
}
