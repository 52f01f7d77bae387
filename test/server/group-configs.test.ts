import { expect } from 'chai';
import { answerIncrementalAlterConfigs } from '../../src/server/handlers/alter-configs.ts';
import { answerDescribeConfigs } from '../../src/server/handlers/describe-configs.ts';
import { incoming } from '../support/incoming.ts';
import { standaloneParts, type TestParts } from '../support/standalone-parts.ts';

const GROUP = 32;
const SET = 0;
const DELETE = 1;
const INVALID_CONFIG = 40;
const SOURCES = { group: 8, byDefault: 5 };
const TYPES = { boolean: 1, string: 2, int: 3, long: 5, list: 7 };
const INT_MAX = '2147483647';
const LONG_MAX = '9223372036854775807';

type Row = {
  readonly type: keyof typeof TYPES;
  readonly fallback: string;
  readonly good: readonly string[];
  readonly bad: readonly string[];
  /** What a refusal says is allowed. */
  readonly allowed: string;
  /** The broker's setting of which it is an override; its own name where there is none. */
  readonly overrides: string;
  /** That one's default, where it is not the fallback. */
  readonly overridden?: string;
};

function number(
  name: string,
  fallback: number,
  [min, max]: readonly [string, string],
  type: 'int' | 'long' = 'int',
): [string, Row] {
  const below = String(BigInt(min) - 1n);
  const above = String(BigInt(max) + 1n);
  return [
    name,
    {
      type,
      fallback: String(fallback),
      good: [min, max, ` ${max} `],
      bad: [below, above, 'many', '1.5', ''],
      allowed: `a whole number from ${min} to ${max}`,
      overrides: `group.${name}`,
    },
  ];
}

/** Shown as they were written, by Kafka too. */
const asWritten: readonly string[] = [
  'streams.acceptable.recovery.lag',
  'streams.assignor.offload.enable',
  'streams.num.warmup.replicas',
  'streams.task.offset.interval.ms',
];

const distinct = 'names, none of them empty and none twice, separated by commas';

/** Every setting of a group, at a broker with the defaults (records-and-configs 8), written down a second time. */
const wanted: ReadonlyMap<string, Row> = new Map([
  number('streams.session.timeout.ms', 45_000, ['45000', '60000']),
  number('streams.heartbeat.interval.ms', 5_000, ['5000', '15000']),
  number('streams.num.standby.replicas', 0, ['0', '2']),
  number('streams.initial.rebalance.delay.ms', 3_000, ['0', INT_MAX]),
  number('streams.assignment.interval.ms', 1_000, ['0', '15000']),
  number('streams.task.offset.interval.ms', 60_000, ['15000', INT_MAX]),
  number('streams.num.warmup.replicas', 2, ['0', '20']),
  number('streams.acceptable.recovery.lag', 10_000, ['0', LONG_MAX], 'long'),
  [
    'streams.assignor.offload.enable',
    {
      type: 'boolean',
      fallback: 'true',
      good: ['true', 'FALSE'],
      bad: ['yes', ''],
      allowed: 'true or false',
      overrides: 'group.streams.assignor.offload.enable',
    },
  ],
  [
    'streams.rack.aware.assignment.tags',
    {
      type: 'list',
      fallback: '',
      good: ['zone', 'zone, cluster', ' ', ''],
      bad: ['zone,zone', 'zone,,cluster'],
      allowed: distinct,
      overrides: 'group.streams.rack.aware.assignment.tags',
    },
  ],
  [
    'streams.assignor.name',
    {
      type: 'string',
      fallback: 'sticky',
      good: ['sticky', ' sticky ', 'balanced', 'highly_available'],
      bad: ['unheard-of', 'STICKY', ''],
      allowed: 'one of sticky, balanced, highly_available',
      overrides: 'group.streams.assignors',
      overridden: 'sticky,balanced,highly_available',
    },
  ],
]);

async function alter(parts: TestParts, name: string, value: string | null) {
  const configs = [{ name, configOperation: value === null ? DELETE : SET, value }];
  const resources = [{ resourceType: GROUP, resourceName: 'g', configs }];
  const answer = answerIncrementalAlterConfigs(parts);
  const { responses = [] } = await answer({ resources, validateOnly: false }, incoming(1));
  return responses.map(({ errorCode, errorMessage }) => [errorCode, errorMessage]);
}

async function describeOne(parts: TestParts, name: string) {
  const request = {
    resources: [{ resourceType: GROUP, resourceName: 'g', configurationKeys: [name] }],
    includeSynonyms: true,
    includeDocumentation: false,
  };
  const { results = [] } = await answerDescribeConfigs(parts)(request, incoming(4));
  return results.flatMap(({ configs = [] }) => configs);
}

describe('settings of a group', () => {
  it('are all in this table', async () => {
    const { results = [] } = await answerDescribeConfigs(await standaloneParts())(
      {
        resources: [{ resourceType: GROUP, resourceName: 'g', configurationKeys: null }],
        includeSynonyms: false,
        includeDocumentation: false,
      },
      incoming(4),
    );
    const names = (results[0]?.configs ?? []).map(({ name = '' }) => name);
    const streams = names.filter((name) => name.startsWith('streams.'));
    expect(streams).to.deep.equal([...wanted.keys()].sort());
  });

  for (const [name, row] of wanted) {
    const byDefault = {
      name: row.overrides,
      value: row.overridden ?? row.fallback,
      source: SOURCES.byDefault,
    };
    const shown = (value: string | undefined) => ({
      name,
      value: value ?? row.fallback,
      readOnly: false,
      configSource: value === undefined ? SOURCES.byDefault : SOURCES.group,
      isSensitive: false,
      synonyms:
        value === undefined ? [byDefault] : [{ name, value, source: SOURCES.group }, byDefault],
      configType: TYPES[row.type],
      documentation: null,
    });

    it(`${name}: is taken at its bounds, shown, and the broker's again when taken away (GC-1, GC-2, GC-7, GC-9)`, async () => {
      const parts = await standaloneParts();
      expect(await describeOne(parts, name)).to.deep.equal([shown(undefined)]);
      for (const value of row.good) {
        expect(await alter(parts, name, value), value).to.deep.equal([[0, null]]);
        const [seen] = await describeOne(parts, name);
        const plain = asWritten.includes(name) ? value : value.replaceAll(' ', '');
        expect(seen, value).to.deep.equal(shown(plain));
      }
      expect(await alter(parts, name, null)).to.deep.equal([[0, null]]);
      expect(await describeOne(parts, name)).to.deep.equal([shown(undefined)]);
      expect(parts.configs.group.overridden()).to.deep.equal([]);
    });

    it(`${name}: is refused beyond them with what is allowed, and nothing is kept (GC-2)`, async () => {
      const parts = await standaloneParts();
      for (const value of row.bad) {
        const text = `Cannot alter configs: ${name} is "${value}", wanted ${row.allowed}`;
        expect(await alter(parts, name, value), value).to.deep.equal([[INVALID_CONFIG, text]]);
      }
      expect(parts.configs.group.overridden()).to.deep.equal([]);
    });
  }

  it('are refused under a name that no group has: the name is wrong, and not the value', async () => {
    const parts = await standaloneParts();
    const wrong: readonly (readonly [name: string, hint: string])[] = [
      ['streams.sesion.timeout.ms', ' (the nearest is streams.session.timeout.ms)'],
      ['STREAMS.ASSIGNOR.NAME', ' (the nearest is streams.assignor.name)'],
      ['group.streams.assignors', " (it is the broker's: wanted streams.assignor.name)"],
      [
        'group.streams.num.standby.replicas',
        " (it is the broker's: wanted streams.num.standby.replicas)",
      ],
      ['colour', ''],
    ];
    for (const [name, hint] of wrong) {
      expect(await alter(parts, name, '50000')).to.deep.equal([
        [INVALID_CONFIG, `Cannot alter configs: groups have no config "${name}"${hint}`],
      ]);
    }
  });
});
