import { expect } from 'chai';
import { assignorInUse } from '../../machines/decide/assignor-in-use.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';

const kip = resolveBehaviour('kip');
const kafka = resolveBehaviour('kafka');
const stateless = { stateChangelogTopics: [] };
const stateful = { stateChangelogTopics: [{ name: 'changelog' }] };

describe('assignorInUse() (assignors 0)', () => {
  it('goes by the state of the topology as long as nobody selected an assignor', () => {
    const unselected = { assignorName: 'sticky', assignorSelected: false };
    expect(assignorInUse(unselected, kip, [])).to.equal('sticky');
    expect(assignorInUse(unselected, kip, [stateless, stateless])).to.equal('sticky');
    expect(assignorInUse(unselected, kip, [stateless, stateful])).to.equal('highly_available');
  });

  it('uses the one selected, whatever the topology', () => {
    const selected = { assignorName: 'balanced', assignorSelected: true };
    expect(assignorInUse(selected, kip, [stateless])).to.equal('balanced');
    expect(assignorInUse(selected, kip, [stateful])).to.equal('balanced');
  });

  it('uses the first of the list in profile kafka', () => {
    const unselected = { assignorName: 'sticky', assignorSelected: false };
    expect(assignorInUse(unselected, kafka, [stateful])).to.equal('sticky');
  });
});
