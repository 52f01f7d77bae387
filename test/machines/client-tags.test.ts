import { expect } from 'chai';
import {
  lackedTags,
  lackedTagText,
  storedTags,
  tagsLackedBy,
} from '../../machines/decide/client-tags.ts';
import { newMember } from '../../machines/model/empty.ts';
import { Stage } from '../support/stage.ts';

const tagged = (memberId: string, ...keys: readonly string[]) => ({
  ...newMember(memberId),
  clientTags: keys.map((key) => ({ key, value: '' })),
});

describe('storedTags()', () => {
  it('reads the tags of stored configs, none where the key is absent (SC-1, SC-2)', () => {
    const standbys = { key: 'num.standby.replicas', value: '1' };
    const tags = { key: 'rack.aware.assignment.tags', value: 'zone,rack' };
    expect(storedTags([standbys, tags])).to.deep.equal(['zone', 'rack']);
    expect(storedTags([standbys])).to.deep.equal([]);
  });
});

describe('lackedTags()', () => {
  const members = [tagged('B', 'zone'), tagged('A', 'zone', 'rack'), tagged('C')];

  it('names the members that lack a tag, whatever its value is, in the order of the tags', () => {
    expect(lackedTags(members, ['zoen', 'rack', 'zone'])).to.deep.equal([
      { tag: 'zoen', memberIds: ['A', 'B', 'C'] },
      { tag: 'rack', memberIds: ['B', 'C'] },
      { tag: 'zone', memberIds: ['C'] },
    ]);
    expect(lackedTags(members.slice(0, 2), ['zone'])).to.deep.equal([]);
    expect(lackedTags([], ['zone'])).to.deep.equal([]);
    expect(tagsLackedBy(tagged('B', 'zone'), ['zoen', 'zone', 'rack'])).to.deep.equal([
      'zoen',
      'rack',
    ]);
  });

  it('is told in a line that tells a tag that nobody has from one that some lack', () => {
    const named = members.map((member) => ({ ...member, clientId: 'app', processId: 'p' }));
    const lines = lackedTags(members, ['zoen', 'zone']).map((each) => lackedTagText(each, named));
    expect(lines).to.deep.equal([
      'No member has the client tag zoen, which rack.aware.assignment.tags names',
      '1 of 3 members lack the client tag zone, which rack.aware.assignment.tags names: C (client app, process p)',
    ]);
  });
});

describe('the journal of a group with rack-aware tags', () => {
  const client = { clientId: 'c', clientHost: '/127.0.0.1', apiVersion: 1 };
  const setTags = ({ coordinator }: Stage, ...tags: readonly string[]) => {
    coordinator.settings = { ...coordinator.settings, rackAwareAssignmentTags: tags };
  };
  /** What is said of epochs and tags when a member sends what it would send next, and these client tags. */
  function said(stage: Stage, name: string, ...keys: readonly string[]): readonly string[] {
    const member = stage.member(name);
    const { clientTags } = tagged(name, ...keys);
    const { answer, because } = stage.coordinator.heartbeat(
      { ...member.request('silent'), clientTags },
      client,
    );
    if (answer !== undefined) member.read(answer);
    return because.filter((line) => /tag|joined/.test(line));
  }

  it('tells who lacks them on joining, and on changing its tags', () => {
    const stage = new Stage();
    setTags(stage, 'zone', 'rack');
    expect(said(stage, 'A', 'zone')).to.deep.equal([
      'A joined (it lacks the client tag rack); Topology 0 set by A; All topics of the topology are there: group epoch 1 -> 2',
    ]);
    expect(said(stage, 'B', 'zone', 'rack')).to.deep.equal(['B joined: group epoch 2 -> 3']);
    expect(said(stage, 'A', 'zoen')).to.deep.equal([
      'A changed its client tags (it lacks the client tags zone, rack): group epoch 3 -> 4',
    ]);
  });

  it('tells of each new tag who lacks it', () => {
    const stage = new Stage();
    said(stage, 'A', 'zone');
    said(stage, 'B');
    setTags(stage, 'zone', 'zoen');
    expect(said(stage, 'A', 'zone')).to.deep.equal([
      'rack.aware.assignment.tags changed: group epoch 3 -> 4',
      '1 of 2 members lack the client tag zone, which rack.aware.assignment.tags names: B (client c, process pB)',
      'No member has the client tag zoen, which rack.aware.assignment.tags names',
    ]);
    expect(said(stage, 'A', 'zone')).to.deep.equal([]);
  });
});
