import { expect } from 'chai';
import { MODULE_FAULTS, standInText } from '../../machines/model/assignors.ts';

describe('standInText()', () => {
  it('says of each fault whether the assignor failed, was not asked or is not there', () => {
    const texts = MODULE_FAULTS.map((fault) =>
      standInText({ assignor: 'sticky', insteadOf: 'mine', fault, reason: 'So it is' }),
    );
    const because = (what: string) => `Assigned by sticky, because ${what}: So it is`;
    expect(texts).to.deep.equal([
      ...Array(7).fill(because('the own assignor mine failed')),
      ...Array(2).fill(because('the own assignor mine was not asked')),
      because('the assignor mine that the group selects is missing'),
    ]);
  });
});
