import { expect } from 'chai';
import {
  type ConfigSynonym,
  describeGroupConfigs,
  groupConfigs,
} from '../../machines/model/group-configs.ts';
import { resolveBehaviour } from '../../machines/model/profile.ts';
import { BROKER } from './group-config-samples.ts';

describe('describeGroupConfigs()', () => {
  const kip = resolveBehaviour('kip');
  const kafka = resolveBehaviour('kafka');
  const rare = [
    'streams.acceptable.recovery.lag',
    'streams.assignor.offload.enable',
    'streams.num.warmup.replicas',
    'streams.task.offset.interval.ms',
  ];

  function describeConfigs(
    overrides: Record<string, string>,
    names: readonly string[] | null,
    behaviour = kip,
    chain: readonly ConfigSynonym[] = [],
  ) {
    return describeGroupConfigs({
      overrides: new Map(Object.entries(overrides)),
      broker: BROKER,
      brokerChain: (name) => chain.filter((one) => one.name === name),
      names,
      behaviour,
    });
  }

  it('lists every known name, sorted; in profile kafka four only where set (GC-7)', () => {
    const all = [...groupConfigs.keys()].sort();
    expect(all.filter((name) => name.startsWith('streams.'))).to.have.length(11);
    const namesOf = (...[overrides, names, behaviour]: Parameters<typeof describeConfigs>) =>
      describeConfigs(overrides, names, behaviour).map((row) => row.name);
    expect(namesOf({}, null)).to.deep.equal(all);
    expect(namesOf({}, [])).to.deep.equal(all);
    expect(namesOf({}, null, kafka)).to.deep.equal(all.filter((name) => !rare.includes(name)));
    expect(namesOf({}, rare, kafka)).to.deep.equal([]);
    expect(namesOf({ 'streams.num.warmup.replicas': '3' }, rare, kafka)).to.deep.equal([
      'streams.num.warmup.replicas',
    ]);
    expect(namesOf({}, ['no.such.key'])).to.deep.equal([]);
  });

  it('lists the four in profile kafka also where the broker has a value for them (GC-7)', () => {
    const name = 'group.streams.num.warmup.replicas';
    const chain: ConfigSynonym[] = [
      { name, value: '3', source: 'STATIC_BROKER_CONFIG' },
      { name, value: '2', source: 'DEFAULT_CONFIG' },
    ];
    expect(describeConfigs({}, rare, kafka, chain).map((row) => row.name)).to.deep.equal([
      'streams.num.warmup.replicas',
    ]);
  });

  it("shows the broker's value with the source of its first synonym (GC-7)", () => {
    const name = 'group.streams.assignment.interval.ms';
    const chain: ConfigSynonym[] = [
      { name, value: '1000', source: 'STATIC_BROKER_CONFIG' },
      { name, value: '500', source: 'DEFAULT_CONFIG' },
    ];
    const shown = describeConfigs({}, ['streams.assignment.interval.ms'], kip, chain);
    expect(shown).to.deep.equal([
      {
        name: 'streams.assignment.interval.ms',
        value: '1000',
        type: 'int',
        source: 'STATIC_BROKER_CONFIG',
        synonyms: chain,
      },
    ]);
  });

  it('shows the override first, then the chain of the broker (GC-7)', () => {
    const overrides = { 'streams.acceptable.recovery.lag': '5000000000' };
    expect(describeConfigs(overrides, Object.keys(overrides))).to.deep.equal([
      {
        name: 'streams.acceptable.recovery.lag',
        value: '5000000000',
        type: 'long',
        source: 'GROUP_CONFIG',
        synonyms: [
          {
            name: 'streams.acceptable.recovery.lag',
            value: '5000000000',
            source: 'GROUP_CONFIG',
          },
          {
            name: 'group.streams.acceptable.recovery.lag',
            value: '10000',
            source: 'DEFAULT_CONFIG',
          },
        ],
      },
    ]);
  });

  it('shows the name of the first assignor, with a list as its synonym (GC-7)', () => {
    const chain: ConfigSynonym[] = [
      { name: 'group.streams.assignors', value: 'sticky,balanced', source: 'DEFAULT_CONFIG' },
    ];
    expect(describeConfigs({}, ['streams.assignor.name'], kip, chain)).to.deep.equal([
      {
        name: 'streams.assignor.name',
        value: 'sticky',
        type: 'string',
        source: 'DEFAULT_CONFIG',
        synonyms: chain,
      },
    ]);
  });

  it('shows configs of other group types with their defaults or overrides (GC-6)', () => {
    const names = ['consumer.session.timeout.ms', 'errors.deadletterqueue.topic.name'];
    const shown = describeConfigs({ 'consumer.session.timeout.ms': '50000' }, names);
    expect(
      shown.map(({ name, value, source, synonyms }) => [name, value, source, synonyms]),
    ).to.deep.equal([
      [
        'consumer.session.timeout.ms',
        '50000',
        'GROUP_CONFIG',
        [
          { name: 'consumer.session.timeout.ms', value: '50000', source: 'GROUP_CONFIG' },
          { name: 'group.consumer.session.timeout.ms', value: '45000', source: 'DEFAULT_CONFIG' },
        ],
      ],
      [
        'errors.deadletterqueue.topic.name',
        '',
        'DEFAULT_CONFIG',
        [{ name: 'errors.deadletterqueue.topic.name', value: '', source: 'DEFAULT_CONFIG' }],
      ],
    ]);
  });
});
