import { expect } from 'chai';
import { TaskPlaces } from '../../machines/model/task-places.ts';

describe('TaskPlaces', () => {
  const places = new TaskPlaces([
    { subtopologyId: '0', taskCount: 2, stateful: true },
    { subtopologyId: '1', taskCount: 5, stateful: false },
    { subtopologyId: '2', taskCount: 3, stateful: true },
  ]);

  it('gives stateful tasks their places, and none to what a report makes up', () => {
    expect([places.of('0', 1), places.of('2', 0), places.of('2', 2), places.count]).to.deep.equal([
      1, 2, 4, 5,
    ]);
    for (const [subtopologyId, partition] of [
      ['0', -1],
      ['0', 2],
      ['1', 0],
      ['2', -1],
      ['2', 3],
      ['9', 0],
    ] as const) {
      expect(places.of(subtopologyId, partition)).to.equal(undefined);
    }
  });
});
