import { expect } from 'chai';
import { answerIncrementalAlterConfigs } from '../../src/server/handlers/alter-configs.ts';
import { answerListConfigResources } from '../../src/server/handlers/describe-configs.ts';
import { incoming } from '../support/incoming.ts';
import { standaloneParts } from '../support/standalone-parts.ts';

const TOPIC = 2;
const BROKER = 4;
const GROUP = 32;
const SET = 0;

describe('answerListConfigResources()', () => {
  async function list(resourceTypes: readonly number[], version = 1) {
    const parts = await standaloneParts({}, { topics: { in: 1 } });
    const standbys = { name: 'streams.num.standby.replicas', configOperation: SET, value: '1' };
    const resources = [{ resourceType: GROUP, resourceName: 'g', configs: [standbys] }];
    await answerIncrementalAlterConfigs(parts)({ validateOnly: false, resources }, incoming(1));
    const response = await answerListConfigResources(parts)({ resourceTypes }, incoming(version));
    return [
      response.errorCode ?? 0,
      (response.configResources ?? []).map(({ resourceType, resourceName }) => [
        resourceType,
        resourceName,
      ]),
    ];
  }

  it('lists the groups that have settings of their own (GC-9)', async () => {
    expect(await list([GROUP])).to.deep.equal([0, [[GROUP, 'g']]]);
  });

  it('lists everything for no types, and nothing in version 0', async () => {
    expect(await list([])).to.deep.equal([
      0,
      [
        [TOPIC, 'in'],
        [BROKER, '1'],
        [GROUP, 'g'],
      ],
    ]);
    expect(await list([], 0)).to.deep.equal([0, []]);
  });

  it('answers 35 for a type that does not exist', async () => {
    expect(await list([GROUP, 77])).to.deep.equal([35, []]);
  });
});
