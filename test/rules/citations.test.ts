import { expect } from 'chai';
import { idsIn } from './citations.ts';

describe('idsIn()', () => {
  const cases: readonly [text: string, ids: readonly string[]][] = [
    ['fences a member that is ahead (EPO-2)', ['EPO-2']],
    ['# E1: is one id (E-1, E-10), E12 another', ['E1', 'E-1', 'E-10', 'E12']],
    ['REQ-6 to REQ-8, OFF-C1 to OFF-C2', ['REQ-6', 'REQ-7', 'REQ-8', 'OFF-C1', 'OFF-C2']],
    ['E-9..E-11 and TOP-1..2', ['E-9', 'E-10', 'E-11', 'TOP-1', 'TOP-2']],
    ['S08 to S10', ['S08', 'S09', 'S10']],
    ['parts of rules: WU-9.2, RSP-6c, 13.2.6', ['WU-9', 'RSP-6', '13.2']],
    ['6.3 to 6.5, BLK-A', ['6.3', '6.4', '6.5', 'BLK-A']],
    ['of other files: wire 1.6, 2.4, records-and-configs 17.7; ours: 6.4', ['6.4']],
  ];
  for (const [text, ids] of cases) {
    it(`reads "${text}"`, () => {
      expect([...idsIn(text)].sort()).to.deep.equal([...ids].sort());
    });
  }

  it('leaves bare numbers alone where they are those of another file', () => {
    expect([...idsIn('counts that do not fit (1.3), (V-5)', false)]).to.deep.equal(['V-5']);
  });
});
