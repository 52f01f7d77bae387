import { expect } from 'chai';
import { qualityLine } from '../../src/cli/quality-text.ts';

describe('qualityLine()', () => {
  it('says that nothing is known of a target of before the start, where there is one', () => {
    const line = (state: 'Stable' | 'Reconciling' | 'NotReady' | 'Empty') =>
      qualityLine({ groupId: 'orders', state, targetFigures: null });
    const unknown =
      '\nQuality: not known, the target was made before the start; "headgate groups why orders" may tell\n';
    expect((['Stable', 'Reconciling', 'NotReady', 'Empty'] as const).map(line)).to.deep.equal([
      unknown,
      unknown,
      '',
      '',
    ]);
  });
});
