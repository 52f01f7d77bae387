import { expect } from 'chai';
import fc from 'fast-check';
import { editDistance, nearestName } from '../../src/config/nearest-name.ts';

describe('nearestName()', () => {
  it('finds a name with a letter missing, added, changed or swapped', () => {
    for (const misspelt of ['data.di', 'data.dirr', 'data.dor', 'data.dri']) {
      expect(nearestName(misspelt, ['port', 'data.dir', 'store'])).to.equal('data.dir');
    }
  });

  it('finds a name in other letters, small or capital', () => {
    expect(nearestName('DATA.DIR', ['port', 'data.dir', 'store'])).to.equal('data.dir');
    expect(nearestName('zookeeper.clientcnxn', ['zookeeper.clientCnxn'])).to.equal(
      'zookeeper.clientCnxn',
    );
  });

  it('finds nothing when nothing is close', () => {
    expect(nearestName('colour', ['port', 'data.dir', 'store'])).to.equal(undefined);
  });
});

describe('editDistance()', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });

  it('is nothing for the same word and symmetric', () => {
    fc.assert(
      fc.property(word, word, (one, other) => {
        expect(editDistance(one, other) === 0).to.equal(one === other);
        expect(editDistance(one, other)).to.equal(editDistance(other, one));
      }),
    );
  });

  it('grows by no more than one with one letter', () => {
    fc.assert(
      fc.property(word, word, (one, other) => {
        const step = editDistance(one, `${other}a`) - editDistance(one, other);
        expect(Math.abs(step)).to.be.at.most(1);
      }),
    );
  });
});
