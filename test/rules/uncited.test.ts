import { expect } from 'chai';
import {
  LISTS,
  readCitations,
  readExplanations,
  readRules,
  readUntoldDefects,
} from './citations.ts';

describe('rules of the specification', () => {
  const citations = readCitations();
  const explanations = readExplanations();

  for (const list of LISTS) {
    it(`${list}: every id is cited by a test, or its absence is explained`, () => {
      const missing = readRules(list).filter(
        ({ id }) => !citations.has(id) && !explanations.has(id),
      );
      expect(missing, 'cite it in a test, or explain it in test/rules/uncited.json').to.deep.equal(
        [],
      );
    });
  }

  it('explains nothing that a test cites by now, and nothing that is no rule', () => {
    const ids = new Set(LISTS.flatMap(readRules).map(({ id }) => id));
    const stale = [...explanations.keys()].filter((id) => citations.has(id) || !ids.has(id));
    expect(stale, 'take it out of test/rules/uncited.json').to.deep.equal([]);
  });

  it('lists each id once', () => {
    const ids = LISTS.flatMap(readRules).map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at || id === '')).to.deep.equal([]);
  });
});

describe('recorded traces that show a defect', () => {
  it('are each named by a test that says what is right there', () => {
    expect(readUntoldDefects()).to.deep.equal([]);
  });
});
