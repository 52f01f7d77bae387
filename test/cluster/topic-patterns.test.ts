import { expect } from 'chai';
import type { TopicList } from '../../actors/ports.ts';
import { TopicPatterns } from '../../src/cluster/topic-patterns.ts';
import type { PatternOutcome } from '../../workers/pattern-thread.ts';

const MATCHED: PatternOutcome = { status: 'matched', matches: [['in-a'], []] };

/** A search over topics that a test names, matched as it says. */
function made(match: () => Promise<PatternOutcome> = async () => MATCHED) {
  const state = {
    list: { version: 1, names: ['in-a', 'other'] } as TopicList,
    isLookedAt: true,
  };
  const asked: { readonly patterns: readonly string[]; readonly names: string }[] = [];
  const learned: (readonly string[])[] = [];
  const patterns = new TopicPatterns({
    topics: {
      listAll: async () => state.list,
      ensureKnown: async (names) => {
        learned.push(names);
        return state.isLookedAt;
      },
    },
    match: (wanted, names) => {
      asked.push({ patterns: wanted, names });
      return match();
    },
  });
  return { state, asked, learned, patterns };
}

describe('TopicPatterns', () => {
  it('search() gives each pattern its topics, which the view of topics then knows (R-2)', async () => {
    const { patterns, asked, learned } = made();
    expect(await patterns.search(['in-.*', 'none'])).to.deep.equal({
      kind: 'found',
      topicsVersion: 1,
      matches: [
        { pattern: 'in-.*', topics: ['in-a'] },
        { pattern: 'none', topics: [] },
      ],
    });
    expect(asked).to.deep.equal([{ patterns: ['in-.*', 'none'], names: 'in-a\nother' }]);
    expect(learned).to.deep.equal([['in-a']]);
  });

  it('search() fails while topics that match cannot be looked at: they are not missing', async () => {
    const { patterns, state, asked } = made();
    state.isLookedAt = false;
    expect(await patterns.search(['in-.*', 'none'])).to.deep.equal({
      kind: 'failed',
      reason: 'Not all topics that match could be looked at',
    });
    state.isLookedAt = true;
    expect(await patterns.search(['in-.*', 'none'])).to.include({ kind: 'found' });
    expect(asked).to.have.length(1);
  });

  it('search() is shared by all who bring the same patterns, until the topics change', async () => {
    const { patterns, asked, state } = made();
    await Promise.all([patterns.search(['a']), patterns.search(['a']), patterns.search(['b'])]);
    await patterns.search(['a']);
    expect(asked.map(({ patterns: [pattern] }) => pattern)).to.deep.equal(['a', 'b']);
    state.list = { version: 2, names: [] };
    expect(await patterns.search(['a'])).to.include({ kind: 'found', topicsVersion: 2 });
    expect(asked).to.have.length(3);
  });

  it('search() says what is wrong, in words (R-1)', async () => {
    const said: readonly [outcome: PatternOutcome, wanted: object][] = [
      [
        { status: 'invalid', pattern: '(', reason: 'missing )' },
        {
          kind: 'refused',
          error: 'INVALID_REGULAR_EXPRESSION',
          reason: 'source topic pattern "(" is not taken: missing )',
        },
      ],
      [
        { status: 'noRe2' },
        {
          kind: 'refused',
          error: 'INVALID_REQUEST',
          reason: 'source topic patterns need the package re2, which is not installed here',
        },
      ],
      [
        { status: 'tooMany', pattern: '.*', count: 7, max: 3 },
        { kind: 'unusable', reason: 'pattern .* matches 7 topics, wanted at most 3' },
      ],
    ];
    for (const [outcome, wanted] of said) {
      expect(await made(async () => outcome).patterns.search(['a'])).to.deep.equal(wanted);
    }
  });

  it('search() refuses patterns that are slow twice, and does not try them again until the topics change', async () => {
    const { patterns, asked, state } = made(async () => ({ status: 'slow' }));
    const failed = { kind: 'failed', reason: 'The source topic patterns took too long to match' };
    const refused = {
      kind: 'refused',
      error: 'INVALID_REGULAR_EXPRESSION',
      reason: 'the source topic patterns take too long to match',
    };
    const search = () => patterns.search(['a']);
    expect([await search(), await search(), await search()]).to.deep.equal([
      failed,
      refused,
      refused,
    ]);
    expect(asked).to.have.length(2);
    state.list = { version: 2, names: [] };
    expect(await search()).to.deep.equal(failed);
  });

  it('search() never rejects, and tries again what failed', async () => {
    const { patterns, asked } = made(() => Promise.reject(new Error('away')));
    const failed = { kind: 'failed', reason: 'away' };
    expect(await patterns.search(['a'])).to.deep.equal(failed);
    expect(await patterns.search(['a'])).to.deep.equal(failed);
    expect(asked).to.have.length(2);
  });
});
