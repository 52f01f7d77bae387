import { resolve } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { rows, settingNames } from '../../src/config/definitions.ts';
import {
  ConfigError,
  type ConfigInput,
  faultText,
  resolveConfig,
} from '../../src/config/resolve.ts';

const valuesOf = (input: ConfigInput) => resolveConfig(input).config.values;

function faultsOf(input: ConfigInput): readonly string[] {
  try {
    resolveConfig(input);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(faultText);
    throw error;
  }
  return [];
}

const file = (text: string) => ({ file: 'a.properties', text });

describe('resolveConfig()', () => {
  it('gives a whole configuration from nothing', () => {
    const { config, warnings } = resolveConfig({});
    expect(warnings).to.deep.equal([]);
    expect(config.listen).to.deep.equal({ host: '127.0.0.1', port: 9092 });
    expect(config.admin).to.deep.equal({ host: '127.0.0.1', port: 10_093 });
    expect(config.upstream).to.equal(undefined);
    expect(config.coordinator).to.deep.equal({
      maxGroupSize: 2 ** 31 - 1,
      assignorAnswerWaitMs: 100,
      handoverHeartbeatIntervalMs: 300,
      warmupWaitMaxMs: 600_000,
      offsetMetadataMaxBytes: 4096,
      offsetsRetentionMs: 7 * 24 * 60 * 60 * 1000,
      offsetsAreElsewhere: false,
    });
    expect(config.settings.every(({ source }) => source === 'default')).to.equal(true);
  });

  it('takes the flag before the environment before the file before the default (BC-8)', () => {
    const places = {
      properties: file('port=1\nhost=file\ndata.dir=file\nnode.id=4'),
      environment: { HEADGATE_PORT: '2', HEADGATE_HOST: 'environment', PATH: '/bin' },
      flags: { port: '3' },
    };
    const { config } = resolveConfig(places);
    expect(config.listen).to.deep.equal({ host: 'environment', port: 3 });
    expect(config.store.dataDir).to.equal(resolve('file'));
    const sources = Object.fromEntries(config.settings.map(({ name, source }) => [name, source]));
    expect(sources).to.include({
      port: 'flag',
      host: 'environment',
      'data.dir': 'file',
      store: 'default',
    });
  });

  it('names every fault at once: key, value seen, values allowed', () => {
    const faults = faultsOf({
      properties: file('group.streams.max.size=many\nport=70000\nnot.a.setting.at.all=1'),
      environment: { HEADGATE_STORE: 'disk' },
      flags: { 'group.streams.sesion.timeout.ms': '1', 'protocol.profile': 'kip2' },
    });
    expect(faults).to.deep.equal([
      'group.streams.max.size = "many" (a.properties): wanted a whole number from 1 to 2147483647',
      'port = "70000" (a.properties): wanted a whole number from 0 to 65535',
      'not.a.setting.at.all = "1" (a.properties): wanted a setting that exists',
      'HEADGATE_STORE = "disk" (environment): wanted level or memory',
      'group.streams.sesion.timeout.ms = "1" (command line): wanted a setting that exists; ' +
        'the nearest is group.streams.session.timeout.ms',
      'protocol.profile = "kip2" (command line): wanted kip or kafka',
    ]);
  });

  it('tells a setting of a group from one of the server', () => {
    const flags = { 'streams.assignor.name': 'sticky', 'consumer.session.timeout.ms': '1' };
    expect(faultsOf({ flags })).to.deep.equal([
      'streams.assignor.name = "sticky" (command line): it is a setting of a group, ' +
        'wanted headgate groups config GROUP --set, and for all groups group.streams.assignors',
      'consumer.session.timeout.ms = "1" (command line): it is a setting of a group, wanted headgate groups config GROUP --set',
    ]);
  });

  it('names the nearest variable for a misspelt one', () => {
    expect(faultsOf({ environment: { HEADGATE_DATA_DIT: 'x' } })).to.deep.equal([
      'HEADGATE_DATA_DIT = "x" (environment): wanted a setting that exists; the nearest is HEADGATE_DATA_DIR',
    ]);
  });

  it('names the beginning that is near where no whole name is', () => {
    const environment = { HEADGATE_GROUP_STREAM_X: '1' };
    expect(faultsOf({ environment, flags: { 'grop.streams.x': '1' } })).to.deep.equal([
      'HEADGATE_GROUP_STREAM_X = "1" (environment): wanted a setting that exists; names like it begin with HEADGATE_GROUP_STREAMS_',
      'grop.streams.x = "1" (command line): wanted a setting that exists; names like it begin with group.streams.',
    ]);
  });

  it('reports a faulty value even where a stronger place has a good one', () => {
    expect(faultsOf({ properties: file('port=x'), flags: { port: '1' } })).to.have.length(1);
  });

  it('names the line of a file that cannot be read, beside the other faults', () => {
    expect(faultsOf({ properties: file('a=1\nb=\\uzzzz'), flags: { port: 'x' } })).to.deep.equal([
      'Cannot read "\\u": wanted four hexadecimal digits (a.properties, line 2): wanted a Java properties file',
      'port = "x" (command line): wanted a whole number from 0 to 65535',
    ]);
  });

  it('accepts settings of Kafka that mean nothing here, with one warning (BC-8)', () => {
    const { warnings } = resolveConfig({
      properties: file('log.dirs=/tmp\nzookeeper.connect=\nlistener.name.ssl.ssl.key.password=x'),
      environment: { HEADGATE_PROCESS_ROLES: 'broker' },
    });
    expect(warnings).to.deep.equal([
      'Settings without effect here: HEADGATE_PROCESS_ROLES, listener.name.ssl.ssl.key.password, log.dirs, zookeeper.connect',
    ]);
  });

  it('lets the profile choose the defaults of the sub-switches, and a sub-switch win', () => {
    const kafka = resolveConfig({ flags: { 'protocol.profile': 'kafka' } }).config;
    expect(kafka.behaviour).to.include({
      profile: 'kafka',
      fenceRemovesMember: false,
      acceptStaleTopologyJoin: true,
      resolveSourceTopicRegex: false,
    });
    expect(kafka.coordinator).to.include({
      assignorAnswerWaitMs: 10_000,
      handoverHeartbeatIntervalMs: 0,
    });
    const switched = resolveConfig({
      flags: { 'protocol.profile': 'kafka', 'fence.removes.member': 'TRUE' },
    }).config;
    expect(switched.behaviour.fenceRemovesMember).to.equal(true);
  });

  describe('relations (BC-1)', () => {
    const prefix = 'group.streams.';
    const cases: readonly (readonly [string, Record<string, string>, readonly string[]])[] = [
      [
        'a session timeout above its maximum',
        { 'session.timeout.ms': '60001' },
        ['session.timeout.ms = "60001": no more than group.streams.max.session.timeout.ms (60000)'],
      ],
      [
        'a session timeout below its minimum',
        { 'session.timeout.ms': '44999' },
        ['session.timeout.ms = "44999": no less than group.streams.min.session.timeout.ms (45000)'],
      ],
      [
        'a minimum above maximum',
        {
          'min.heartbeat.interval.ms': '16000',
          'heartbeat.interval.ms': '16000',
          'max.heartbeat.interval.ms': '15000',
        },
        [
          'min.heartbeat.interval.ms = "16000": no more than group.streams.max.heartbeat.interval.ms (15000)',
          'heartbeat.interval.ms = "16000": no more than group.streams.max.heartbeat.interval.ms (15000)',
        ],
      ],
      [
        'a heartbeat interval not below the session timeout',
        { 'heartbeat.interval.ms': '45000', 'max.heartbeat.interval.ms': '50000' },
        ['heartbeat.interval.ms = "45000": less than group.streams.session.timeout.ms (45000)'],
      ],
      [
        'more standbys than allowed',
        { 'num.standby.replicas': '3' },
        ['num.standby.replicas = "3": no more than group.streams.max.standby.replicas (2)'],
      ],
      [
        'an assignment interval above its maximum',
        { 'assignment.interval.ms': '15001' },
        [
          'assignment.interval.ms = "15001": no more than group.streams.max.assignment.interval.ms (15000)',
        ],
      ],
      [
        'a task offset interval below its minimum',
        { 'task.offset.interval.ms': '14999' },
        [
          'task.offset.interval.ms = "14999": no less than group.streams.min.task.offset.interval.ms (15000)',
        ],
      ],
      [
        'more warm-ups than allowed',
        { 'max.warmup.replicas': '1' },
        ['num.warmup.replicas = "2": no more than group.streams.max.warmup.replicas (1)'],
      ],
    ];
    for (const [title, settings, wanted] of cases) {
      it(`refuses ${title}`, () => {
        const flags = Object.fromEntries(
          Object.entries(settings).map(([key, value]) => [prefix + key, value]),
        );
        const faults = faultsOf({ flags }).map((text) =>
          text
            .replace(/^group\.streams\./, '')
            .replace(/ \((command line|default)\): wanted /, ': '),
        );
        expect(faults).to.deep.equal(wanted);
      });
    }

    it('refuses to tell clients an address that stands for all', () => {
      expect(faultsOf({ flags: { host: '0.0.0.0' } })).to.deep.equal([
        'host = "0.0.0.0" (command line): wanted an address that clients can be told, or another one for them in advertised.host (not set)',
      ]);
      expect(faultsOf({ flags: { host: '::', 'advertised.host': 'me' } })).to.deep.equal([]);
    });

    it('refuses one port for clients and the admin server', () => {
      expect(faultsOf({ flags: { port: '10093' } })).to.deep.equal([
        'admin.port = "10093" (default): wanted another port than the one for clients (10093)',
      ]);
      const apart = { port: '10093', 'admin.host': '::1' };
      expect(faultsOf({ flags: apart })).to.deep.equal([]);
      expect(faultsOf({ flags: { port: '0', 'admin.port': '0' } })).to.deep.equal([]);
    });

    it('is not checked against a value that is wrong by itself', () => {
      const flags = {
        'group.streams.session.timeout.ms': '10000',
        'group.streams.min.session.timeout.ms': 'x',
      };
      expect(faultsOf({ flags })).to.have.length(1);
    });
  });

  it('looks for duplicates in the text of a list (BC-2)', () => {
    const tags = 'group.streams.rack.aware.assignment.tags';
    expect(valuesOf({ flags: { [tags]: ' zone , cluster' } })[tags]).to.deep.equal([
      'zone',
      'cluster',
    ]);
    expect(faultsOf({ flags: { [tags]: 'a, b,a' } })).to.deep.equal([
      `${tags} = "a, b,a" (command line): "a" is there twice; wanted names between commas, each once`,
    ]);
    expect(faultsOf({ flags: { [tags]: 'a,,b' } })).to.have.length(1);
  });

  it('reads addresses, and refuses what is none', () => {
    const read = (text: string) => valuesOf({ flags: { 'gateway.addresses': text } });
    expect([...(read('1=a:1, 2=[::1]:2')['gateway.addresses'] ?? [])]).to.deep.equal([
      [1, { host: 'a', port: 1 }],
      [2, { host: '::1', port: 2 }],
    ]);
    for (const text of ['1=a', 'a:1', '1=a:1,1=b:1', '1=a:1,2=a:1', '1=a:99999']) {
      expect(faultsOf({ flags: { 'gateway.addresses': text } }), text).to.have.length(1);
    }
    const { config } = resolveConfig({ flags: { 'upstream.bootstrap.servers': 'a:1,b:2' } });
    expect(config.upstream).to.deep.equal({
      bootstrapServers: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      metadataPollMs: 5000,
      topicListPollMs: 30_000,
      failFast: false,
      gatewayAddresses: new Map(),
    });
    for (const text of ['a', 'a:0', 'http://a:1', 'a:1,']) {
      expect(faultsOf({ flags: { 'upstream.bootstrap.servers': text } }), text).to.have.length(1);
    }
  });

  it('tells whether the assignors were chosen by somebody (BC-3)', () => {
    const group = (flags: Record<string, string>) => resolveConfig({ flags }).config.group;
    expect(group({})).to.include({ assignorsExplicit: false, sessionTimeoutMs: 45_000 });
    expect(group({ 'group.streams.assignors': 'sticky' })).to.include({ assignorsExplicit: true });
    expect(faultsOf({ flags: { 'group.streams.assignors': '' } })).to.have.length(1);
  });

  it("reads assignors of one's own, with paths from the folder of the file they stand in", () => {
    const text = 'assignors.modules=mine=lib/mine.mjs, other=/opt/other.mjs';
    const inFile = resolveConfig({ properties: { file: '/etc/headgate/a.properties', text } });
    expect(inFile.config.assignor.modules).to.deep.equal([
      { name: 'mine', file: '/etc/headgate/lib/mine.mjs' },
      { name: 'other', file: '/opt/other.mjs' },
    ]);
    const inFlag = resolveConfig({
      flags: { 'assignors.modules': 'mine=lib/mine.mjs' },
      properties: { file: '/etc/headgate/a.properties', text },
    });
    expect(inFlag.config.assignor.modules).to.deep.equal([
      { name: 'mine', file: resolve('lib/mine.mjs') },
    ]);
    const many = Array.from({ length: 17 }, (_, i) => `m${i}=m.mjs`).join();
    for (const wrong of ['mine', 'mine=', '=a.mjs', 'a b=a.mjs', 'sticky=a.mjs', 'a=1,a=2', many]) {
      expect(faultsOf({ flags: { 'assignors.modules': wrong } }), wrong).to.have.length(1);
    }
    expect(faultsOf({ flags: { 'assignors.modules': 'mine=a.mjs,a b=c.mjs' } })[0]).to.match(
      /: "a b" is not a name of 1 to 64 letters, digits, dots, - and _; wanted name=path, between/,
    );
  });

  it("lets groups select assignors of one's own, all of them or those that are named", () => {
    const own = { 'assignors.modules': 'mine=a.mjs,other=b.mjs' };
    const group = (flags: Record<string, string>) => {
      const { assignors, assignorsExplicit } = resolveConfig({ flags }).config.group;
      return { assignors, assignorsExplicit };
    };
    expect(group(own)).to.deep.equal({
      assignors: ['sticky', 'balanced', 'highly_available', 'mine', 'other'],
      assignorsExplicit: false,
    });
    expect(group({ ...own, 'group.streams.assignors': 'mine,sticky' })).to.deep.equal({
      assignors: ['mine', 'sticky'],
      assignorsExplicit: true,
    });
    expect(faultsOf({ flags: { ...own, 'group.streams.assignors': 'mine,theirs' } })).to.deep.equal(
      [
        'group.streams.assignors = "mine,theirs" (command line): there is no "theirs"; wanted sticky, balanced or highly_available, or names of assignors.modules, between commas, each once, at least one (mine=a.mjs,other=b.mjs)',
      ],
    );
  });

  it('closes the admin server with "off"', () => {
    expect(resolveConfig({ flags: { 'admin.port': 'off' } }).config.admin).to.equal(undefined);
    expect(faultsOf({ flags: { 'admin.port': 'on' } })).to.deep.equal([
      'admin.port = "on" (command line): wanted a whole number from 0 to 65535, or off',
    ]);
  });

  it('never fails in another way, whatever the texts', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 6 }),
      fc.constantFrom('0', '-1', '1', '45000', 'true', 'off', 'a:1', '99999999999999999999', ''),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...settingNames), text), (flags) => {
        try {
          resolveConfig({ flags });
        } catch (error) {
          expect(error).to.be.instanceOf(ConfigError);
        }
      }),
    );
  });
});

describe('the table of settings', () => {
  for (const profile of ['kip', 'kafka'] as const) {
    it(`has defaults that it accepts itself (${profile})`, () => {
      for (const name of settingNames) {
        const row = rows[name];
        const value = row.defaultFor(profile);
        const text = row.format(value) ?? '';
        expect(row.parse(text), name).to.deep.equal({ value });
      }
    });
  }

  it('says one sentence about each setting', () => {
    for (const name of settingNames) expect(rows[name].about, name).to.match(/^\S.*\.$/);
  });
});
