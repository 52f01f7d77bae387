import { expect } from 'chai';
import { errorsIn } from '../../src/wire/errors-in.ts';

describe('errorsIn()', () => {
  it('finds codes at the top, in lists and in lists of lists, each once', () => {
    expect([...errorsIn('StreamsGroupHeartbeat', { errorCode: 25 })]).to.deep.equal([25]);
    const partitions = [
      { partitionIndex: 0, errorCode: 113 },
      { partitionIndex: 1, errorCode: 0 },
      { partitionIndex: 2, errorCode: 3 },
      { partitionIndex: 3, errorCode: 113 },
    ];
    const topics = [{ name: 'in', partitions }];
    expect([...errorsIn('OffsetCommit', { topics })]).to.deep.equal([113, 3]);
    const groups = [
      { groupId: 'g', errorCode: -1 },
      { groupId: 'h', topics },
    ];
    expect([...errorsIn('OffsetFetch', { groups })]).to.deep.equal([-1, 113, 3]);
  });

  it('finds none where there is none, and where a response has no place for one', () => {
    expect(errorsIn('StreamsGroupHeartbeat', { memberId: 'm', activeTasks: null }).size).to.equal(
      0,
    );
    expect(errorsIn('DescribeGroups', { groups: [{ groupId: 'g' }] }).size).to.equal(0);
    expect(errorsIn('ShareGroupHeartbeat', { assignment: null }).size).to.equal(0);
  });
});
