import { expect } from 'chai';
import { isSettingName, rows, sections } from '../../src/config/definitions.ts';
import { ConfigError, type ConfigInput, resolveConfig } from '../../src/config/resolve.ts';
import { answerIncrementalAlterConfigs } from '../../src/server/handlers/alter-configs.ts';
import { answerDescribeConfigs } from '../../src/server/handlers/describe-configs.ts';
import { errorName } from '../../src/wire/errors.ts';
import { FakeIo } from '../support/fake-io.ts';
import { incoming } from '../support/incoming.ts';
import { standaloneParts } from '../support/standalone-parts.ts';

const INT_MAX = '2147483647';
const LONG_MAX = '9223372036854775807';
const BROKER = 4;
const SET = 0;

type Row = {
  readonly type: 'int' | 'long' | 'boolean' | 'list' | 'string' | 'class';
  /** As text; null: nothing is set. */
  readonly fallback: string | null;
  /** Accepted one by one: at the bounds, or every kind there is. */
  readonly good: readonly string[];
  /** Refused: below, above, of another type. */
  readonly bad: readonly string[];
  readonly dynamic?: boolean;
};

function number(type: 'int' | 'long', fallback: number, min: string, max: string): Row {
  const beyond = [String(BigInt(min) - 1n), String(BigInt(max) + 1n)];
  return {
    type,
    fallback: String(fallback),
    good: [min, max],
    bad: [...beyond, 'many', '1.5', '', '0x10'],
  };
}

const int = (fallback: number, min: string, max = INT_MAX) => number('int', fallback, min, max);
const lowest = '-2147483648';
const dynamic = { dynamic: true };

/** Kafka's settings as its own tables have them (records-and-configs 7 and 7.1), written down a second time. */
const wanted: Readonly<Record<string, Row>> = {
  'group.streams.session.timeout.ms': int(45_000, '1'),
  'group.streams.min.session.timeout.ms': int(45_000, '1'),
  'group.streams.max.session.timeout.ms': int(60_000, '1'),
  'group.streams.heartbeat.interval.ms': int(5_000, '1'),
  'group.streams.min.heartbeat.interval.ms': int(5_000, '1'),
  'group.streams.max.heartbeat.interval.ms': int(15_000, '1'),
  'group.streams.max.size': int(2_147_483_647, '1'),
  'group.streams.num.standby.replicas': int(0, '0'),
  'group.streams.max.standby.replicas': int(2, '0'),
  'group.streams.initial.rebalance.delay.ms': int(3_000, '0'),
  'group.streams.assignment.interval.ms': { ...int(1_000, '0'), ...dynamic },
  'group.streams.min.assignment.interval.ms': int(0, '0'),
  'group.streams.max.assignment.interval.ms': int(15_000, '0'),
  'group.streams.assignors': {
    type: 'list',
    fallback: 'sticky,balanced,highly_available',
    good: ['sticky', ' sticky ', 'highly_available,balanced'],
    bad: ['', 'sticky,sticky', 'unheard-of', 'sticky,'],
  },
  'group.streams.assignor.offload.enable': {
    type: 'boolean',
    fallback: 'true',
    good: ['true', 'false', 'FALSE'],
    bad: ['yes', '1', ''],
    ...dynamic,
  },
  'group.streams.task.offset.interval.ms': int(60_000, '1'),
  'group.streams.min.task.offset.interval.ms': int(15_000, '1'),
  'group.streams.num.warmup.replicas': int(2, '0'),
  'group.streams.max.warmup.replicas': int(20, '0'),
  'group.streams.acceptable.recovery.lag': number('long', 10_000, '0', LONG_MAX),
  'group.streams.rack.aware.assignment.tags': {
    type: 'list',
    fallback: '',
    good: ['', 'zone', 'zone, cluster'],
    bad: ['zone,zone', 'zone,,cluster', ','],
  },
  'group.streams.topology.description.plugin.class': {
    type: 'class',
    fallback: null,
    good: [''],
    bad: ['com.example.Plugin'],
  },
  'group.coordinator.rebalance.protocols': {
    type: 'list',
    fallback: 'classic,consumer,streams',
    good: ['classic', 'classic,consumer,share,streams'],
    bad: ['', 'classic,classic', 'raft'],
  },
  'group.coordinator.threads': int(4, '1'),
  'group.coordinator.background.threads': int(2, '1'),
  'group.coordinator.append.linger.ms': int(-1, '-1'),
  'group.coordinator.cached.buffer.max.bytes': { ...int(1_048_588, '524288'), ...dynamic },
  'offsets.topic.num.partitions': int(50, '1', '65535'),
  'offsets.topic.replication.factor': int(3, '1', '32767'),
  'offsets.topic.segment.bytes': int(104_857_600, '1'),
  'offsets.topic.compression.codec': int(0, lowest),
  'offsets.load.buffer.size': int(5_242_880, '1'),
  'offsets.commit.timeout.ms': int(5_000, '1'),
  'offset.metadata.max.bytes': int(4_096, '0'),
  'offsets.retention.minutes': int(10_080, '1'),
  'offsets.retention.check.interval.ms': number('long', 600_000, '1', INT_MAX),
  'group.min.session.timeout.ms': int(6_000, lowest),
  'group.max.session.timeout.ms': int(1_800_000, lowest),
  'group.initial.rebalance.delay.ms': int(3_000, lowest),
  'group.max.size': int(2_147_483_647, '1'),
  'group.consumer.migration.policy': {
    type: 'string',
    fallback: 'bidirectional',
    good: ['disabled', 'upgrade', 'downgrade', 'BIDIRECTIONAL'],
    bad: ['', 'sideways'],
  },
  'socket.request.max.bytes': int(104_857_600, '1'),
  'node.id': int(1, '0'),
};

/** What a value is refused with where a process starts; nothing when it can be taken by itself. */
function faultsOf(name: string, input: ConfigInput): readonly string[] {
  try {
    resolveConfig(input);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.flatMap((fault) => {
      // What contradicts other settings is not looked at here.
      const isByItself =
        'wanted' in fault && isSettingName(name) && fault.wanted.startsWith(rows[name].allowed);
      return isByItself ? [`${fault.key} ${fault.seen}`] : [];
    });
  }
  return [];
}

function places(name: string, text: string): Readonly<Record<string, [string, ConfigInput]>> {
  const variable = `HEADGATE_${name.toUpperCase().replaceAll('.', '_')}`;
  return {
    file: [name, { properties: { file: 'a.properties', text: `${name}=${text}` } }],
    environment: [variable, { environment: { [variable]: text } }],
    flag: [name, { flags: { [name]: text } }],
  };
}

async function alter(name: string, value: string): Promise<string> {
  const parts = await standaloneParts();
  const configs = [{ name, configOperation: SET, value }];
  const resources = [{ resourceType: BROKER, resourceName: '1', configs }];
  const answer = answerIncrementalAlterConfigs(parts);
  const { responses } = await answer({ resources, validateOnly: true }, incoming(1));
  const { errorCode = 0, errorMessage = null } = responses?.[0] ?? {};
  return errorMessage === null ? errorName(errorCode) : `${errorName(errorCode)} ${errorMessage}`;
}

describe("Kafka's settings", () => {
  it('are all in this table', () => {
    const ours = sections.slice(1).flatMap(({ settings }) => Object.keys(settings));
    expect(ours.sort()).to.deep.equal(Object.keys(wanted).sort());
  });

  for (const [name, row] of Object.entries(wanted)) {
    it(`${name}: values at the bounds are taken, others refused with what is allowed, from every place`, () => {
      for (const text of row.good) {
        for (const [place, [, input]] of Object.entries(places(name, text))) {
          expect(faultsOf(name, input), `${place} ${text}`).to.deep.equal([]);
        }
      }
      for (const text of row.bad) {
        for (const [place, [key, input]] of Object.entries(places(name, text))) {
          expect(faultsOf(name, input), `${place} ${text}`).to.deep.equal([`${key} ${text}`]);
        }
      }
    });

    it(`${name}: IncrementalAlterConfigs ${row.dynamic ? 'takes it' : 'says that it takes a restart'}`, async () => {
      const restart = `INVALID_REQUEST Cannot alter configs: ${name} takes effect at the start alone`;
      const allowed = isSettingName(name) ? rows[name].allowed : '';
      for (const text of row.good.slice(0, 1)) {
        expect(await alter(name, text), text).to.equal(row.dynamic ? 'NONE' : restart);
      }
      for (const text of row.bad) {
        const refused = `INVALID_REQUEST Cannot alter configs: ${name} is "${text}", wanted ${allowed}`;
        expect(await alter(name, text), text).to.equal(row.dynamic ? refused : restart);
      }
    });
  }

  it('are described with type, default and whether they can be changed', async () => {
    const request = {
      resources: [{ resourceType: BROKER, resourceName: '1', configurationKeys: null }],
      includeSynonyms: true,
      includeDocumentation: false,
    };
    const answer = answerDescribeConfigs(await standaloneParts());
    const { results = [] } = await answer(request, incoming(4));
    const described = new Map((results[0]?.configs ?? []).map((one) => [one.name, one]));
    const types = { boolean: 1, string: 2, int: 3, long: 5, list: 7, class: 8 };
    for (const [name, { type, fallback, dynamic: isDynamic = false }] of Object.entries(wanted)) {
      expect(described.get(name), name).to.deep.equal({
        name,
        value: fallback,
        readOnly: !isDynamic,
        configSource: 5,
        isSensitive: false,
        synonyms: fallback === null ? [] : [{ name, value: fallback, source: 5 }],
        configType: types[type],
        documentation: null,
      });
    }
  });

  it('are printed by headgate config with value and place', async () => {
    const io = new FakeIo();
    expect(await io.run('config', '--json', '--set', 'group.streams.max.size=7')).to.equal(0);
    const printed: { name: string }[] = JSON.parse(io.output);
    const byName = new Map(printed.map((one) => [one.name, one]));
    for (const [name, { type, fallback, dynamic: isDynamic = false }] of Object.entries(wanted)) {
      const isSet = name === 'group.streams.max.size';
      expect(byName.get(name), name).to.include({
        value: isSet ? '7' : fallback,
        source: isSet ? 'flag' : 'default',
        type,
        dynamic: isDynamic,
      });
    }
  });
});
