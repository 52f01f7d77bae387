import { expect } from 'chai';
import fc from 'fast-check';
import { groupConfigs, validateGroupConfigs } from '../../machines/model/group-configs.ts';
import { resolveGroupSettings } from '../../machines/model/resolve-group-settings.ts';
import { BROKER } from './group-config-samples.ts';

const START = 'earliest, latest or by_duration: and a duration as PT1H';

const faultsOf = (overrides: Record<string, string>, broker = BROKER) =>
  validateGroupConfigs(new Map(Object.entries(overrides)), broker, new Set(Object.keys(overrides)));

describe('validateGroupConfigs()', () => {
  const bad: [string, string, string][] = [
    ['streams.session.timeout.ms', '44999', 'a whole number from 45000 to 60000'],
    ['streams.session.timeout.ms', '60001', 'a whole number from 45000 to 60000'],
    ['streams.session.timeout.ms', '', 'a whole number from 45000 to 60000'],
    ['streams.heartbeat.interval.ms', '4999', 'a whole number from 5000 to 15000'],
    ['streams.heartbeat.interval.ms', '15001', 'a whole number from 5000 to 15000'],
    ['streams.num.standby.replicas', '3', 'a whole number from 0 to 2'],
    ['streams.num.standby.replicas', '-1', 'a whole number from 0 to 2'],
    ['streams.num.standby.replicas', 'two', 'a whole number from 0 to 2'],
    ['streams.num.standby.replicas', '1.5', 'a whole number from 0 to 2'],
    ['streams.initial.rebalance.delay.ms', '-1', 'a whole number from 0 to 2147483647'],
    ['streams.initial.rebalance.delay.ms', '2147483648', 'a whole number from 0 to 2147483647'],
    ['streams.assignment.interval.ms', '15001', 'a whole number from 0 to 15000'],
    ['streams.assignment.interval.ms', '-1', 'a whole number from 0 to 15000'],
    ['streams.assignor.offload.enable', 'maybe', 'true or false'],
    ['streams.task.offset.interval.ms', '14999', 'a whole number from 15000 to 2147483647'],
    ['streams.num.warmup.replicas', '21', 'a whole number from 0 to 20'],
    ['streams.num.warmup.replicas', '-1', 'a whole number from 0 to 20'],
    [
      'streams.rack.aware.assignment.tags',
      'zone, zone',
      'names, none of them empty and none twice, separated by commas',
    ],
    [
      'streams.rack.aware.assignment.tags',
      'zone,,cluster',
      'names, none of them empty and none twice, separated by commas',
    ],
    ['streams.acceptable.recovery.lag', '-1', 'a whole number from 0 to 9223372036854775807'],
    ['streams.assignor.name', 'random', 'one of sticky, balanced'],
    ['streams.assignor.name', 'STICKY', 'one of sticky, balanced'],
    ['streams.assignor.name', '', 'one of sticky, balanced'],
    ['streams.no.such.key', '1', 'a config that groups have'],
    ['group.streams.num.standby.replicas', '1', 'a config that groups have'],
    ['consumer.session.timeout.ms', '1', 'a whole number from 45000 to 60000'],
    ['share.isolation.level', 'none', 'one of read_committed, read_uncommitted'],
    ['share.auto.offset.reset', 'none', START],
    ['share.auto.offset.reset', 'by_duration:', START],
    ['share.auto.offset.reset', 'by_duration:1h', START],
    ['share.auto.offset.reset', 'by_duration:PT', START],
  ];
  for (const [key, seen, wanted] of bad) {
    it(`refuses ${key} = "${seen}" (GC-2)`, () => {
      expect(faultsOf({ [key]: seen })).to.deep.equal([{ key, seen, wanted }]);
    });
  }

  it('names all faults at once (GC-2)', () => {
    const keys = { 'streams.no.such.key': '1', 'streams.num.warmup.replicas': '99' };
    expect(faultsOf(keys).map((fault) => fault.key)).to.deep.equal(Object.keys(keys));
  });

  it('takes values at their bounds, and exact 64-bit numbers (GC-2)', () => {
    expect(
      faultsOf({
        'streams.session.timeout.ms': '60000',
        'streams.heartbeat.interval.ms': '15000',
        'streams.num.standby.replicas': '2',
        'streams.initial.rebalance.delay.ms': '0',
        'streams.assignment.interval.ms': '15000',
        'streams.assignor.offload.enable': 'FALSE',
        'streams.task.offset.interval.ms': '15000',
        'streams.num.warmup.replicas': ' 20 ',
        'streams.rack.aware.assignment.tags': 'zone, cluster',
        'streams.acceptable.recovery.lag': '9223372036854775807',
        'streams.assignor.name': 'balanced',
      }),
    ).to.deep.equal([]);
    expect(faultsOf({ 'streams.rack.aware.assignment.tags': '' })).to.deep.equal([]);
  });

  it('lets configs of other group types lie on the same resource (GC-6)', () => {
    expect(
      faultsOf({
        'consumer.session.timeout.ms': '50000',
        'share.record.lock.duration.ms': '20000',
        'errors.deadletterqueue.topic.name': 'dlq',
        'share.auto.offset.reset': 'by_duration:P1DT2.5S',
      }),
    ).to.deep.equal([]);
  });

  const kept: [string, string][] = [
    ['streams.assignor.name', 'gone'],
    ['streams.num.standby.replicas', '3'],
    ['streams.session.timeout.ms', '1000'],
    ['streams.heartbeat.interval.ms', '50000'],
    ['streams.rack.aware.assignment.tags', 'zone,zone'],
    ['streams.no.such.key', '1'],
  ];
  for (const [key, value] of kept) {
    it(`lets ${key} = "${value}" be that was kept, whatever else is changed (GC-2, GC-5)`, () => {
      const change = new Map([
        ['streams.num.warmup.replicas', '3'],
        ['streams.acceptable.recovery.lag', '-1'],
      ]);
      expect(
        validateGroupConfigs(new Map([[key, value], ...change]), BROKER, change),
      ).to.deep.equal([
        {
          key: 'streams.acceptable.recovery.lag',
          seen: '-1',
          wanted: 'a whole number from 0 to 9223372036854775807',
        },
      ]);
    });
  }

  it('judges session timeout and heartbeat interval where one is changed, the kept one as it is in force (GC-2, GC-5)', () => {
    const heartbeat = 'streams.heartbeat.interval.ms';
    const session = 'streams.session.timeout.ms';
    const contradictory = { ...BROKER, sessionTimeoutMsMin: 1_000 };
    const both = new Map([
      [session, '5000'],
      [heartbeat, '6000'],
    ]);
    const judged = (changed: string, broker = contradictory) =>
      validateGroupConfigs(both, broker, new Set([changed]));
    const fault = { key: session, seen: '5000', wanted: `more than ${heartbeat}, which is 6000` };
    expect([
      judged(session),
      judged(heartbeat),
      judged('streams.num.warmup.replicas'),
    ]).to.deep.equal([[fault], [fault], []]);
    // Brought back to its bound of 45 000, the kept session timeout is long enough.
    expect(judged(heartbeat, BROKER)).to.deep.equal([]);
  });

  it("judges session timeout against heartbeat interval with the broker's for the missing one (GC-2)", () => {
    const wide = { ...BROKER, sessionTimeoutMsMin: 1_000, heartbeatIntervalMsMax: 50_000 };
    const session = 'streams.session.timeout.ms';
    const heartbeat = 'streams.heartbeat.interval.ms';
    expect(faultsOf({ [session]: '5000' }, wide)).to.deep.equal([
      { key: session, seen: '5000', wanted: `more than ${heartbeat}, which is 5000` },
    ]);
    expect(faultsOf({ [heartbeat]: '45000' }, wide)).to.deep.equal([
      { key: session, seen: '45000', wanted: `more than ${heartbeat}, which is 45000` },
    ]);
    expect(faultsOf({ [heartbeat]: '44999' }, wide)).to.deep.equal([]);
    expect(faultsOf({ [session]: '6000', [heartbeat]: '5500' }, wide)).to.deep.equal([]);
  });
});

describe('resolveGroupSettings()', () => {
  function resolve(overrides: Record<string, string>, broker = BROKER) {
    const warnings: string[] = [];
    const settings = resolveGroupSettings(broker, new Map(Object.entries(overrides)), (text) =>
      warnings.push(text),
    );
    return { settings, warnings };
  }

  const defaults = {
    sessionTimeoutMs: 45_000,
    heartbeatIntervalMs: 5_000,
    numStandbyReplicas: 0,
    numWarmupReplicas: 2,
    acceptableRecoveryLag: 10_000n,
    taskOffsetIntervalMs: 60_000,
    initialRebalanceDelayMs: 3_000,
    assignmentIntervalMs: 1_000,
    rackAwareAssignmentTags: [],
    assignorName: 'sticky',
    assignorSelected: false,
  };

  it("is the broker's where the group overrides nothing (GC-1)", () => {
    expect(resolve({})).to.deep.equal({ settings: defaults, warnings: [] });
  });

  it('is the override of each (GC-1)', () => {
    const overrides = {
      'streams.session.timeout.ms': '50000',
      'streams.heartbeat.interval.ms': '6000',
      'streams.num.standby.replicas': '2',
      'streams.num.warmup.replicas': '20',
      'streams.acceptable.recovery.lag': '9007199254740993',
      'streams.task.offset.interval.ms': '15000',
      'streams.initial.rebalance.delay.ms': '7',
      'streams.assignment.interval.ms': '15000',
      'streams.rack.aware.assignment.tags': 'zone, cluster',
      'streams.assignor.name': 'balanced',
      'streams.assignor.offload.enable': 'false',
      'consumer.session.timeout.ms': '50000',
    };
    expect(resolve(overrides)).to.deep.equal({
      settings: {
        sessionTimeoutMs: 50_000,
        heartbeatIntervalMs: 6_000,
        numStandbyReplicas: 2,
        numWarmupReplicas: 20,
        acceptableRecoveryLag: 9007199254740993n,
        taskOffsetIntervalMs: 15_000,
        initialRebalanceDelayMs: 7,
        assignmentIntervalMs: 15_000,
        rackAwareAssignmentTags: ['zone', 'cluster'],
        assignorName: 'balanced',
        assignorSelected: true,
      },
      warnings: [],
    });
  });

  it('brings stored values back to the bounds of the broker, with a warning (GC-5, BC-4)', () => {
    expect(
      resolve({
        'streams.session.timeout.ms': '99999',
        'streams.num.standby.replicas': '5',
        'streams.task.offset.interval.ms': '1',
      }),
    ).to.deep.equal({
      settings: {
        ...defaults,
        sessionTimeoutMs: 60_000,
        numStandbyReplicas: 2,
        taskOffsetIntervalMs: 15_000,
      },
      warnings: [
        'streams.session.timeout.ms is 99999, out of bounds: 60000 is used',
        'streams.num.standby.replicas is 5, out of bounds: 2 is used',
        'streams.task.offset.interval.ms is 1, out of bounds: 15000 is used',
      ],
    });
    const dynamic = resolve({}, { ...BROKER, assignmentIntervalMs: 99_999 });
    expect(dynamic.settings.assignmentIntervalMs).to.equal(15_000);
  });

  it('only warns of a session timeout that is not above the heartbeat interval (GC-5)', () => {
    const broker = { ...BROKER, heartbeatIntervalMsMax: 50_000 };
    expect(resolve({ 'streams.heartbeat.interval.ms': '45000' }, broker)).to.deep.equal({
      settings: { ...defaults, heartbeatIntervalMs: 45_000 },
      warnings: [
        'streams.session.timeout.ms is 45000, not above streams.heartbeat.interval.ms, ' +
          'which is 45000: members may time out between two heartbeats',
      ],
    });
  });

  it('uses the default assignor for one that is no longer registered (RT-6)', () => {
    expect(resolve({ 'streams.assignor.name': 'gone' })).to.deep.equal({
      settings: { ...defaults, assignorMissing: 'gone' },
      warnings: [
        'streams.assignor.name is "gone", which is not registered: the default one stands in for it',
      ],
    });
  });

  it("counts the first of the broker's assignors as selected when they were set (SC-2)", () => {
    const broker = { ...BROKER, assignors: ['balanced'], assignorsExplicit: true };
    expect(resolve({}, broker).settings).to.deep.include({
      assignorName: 'balanced',
      assignorSelected: true,
    });
  });

  it('stays within the bounds and agrees with what an admin may set, whatever is stored', () => {
    const texts = fc.oneof(
      fc.integer({ min: -100, max: 70_000 }).map(String),
      fc.constantFrom('', 'x', 'true', 'a,a', 'sticky', '9'.repeat(25)),
    );
    const names = fc.constantFrom(...groupConfigs.keys());
    fc.assert(
      fc.property(fc.dictionary(names, texts), (overrides) => {
        const { settings, warnings } = resolve(overrides);
        expect(settings.sessionTimeoutMs).to.be.within(45_000, 60_000);
        expect(settings.heartbeatIntervalMs).to.be.within(5_000, 15_000);
        expect(settings.numStandbyReplicas).to.be.within(0, 2);
        expect(settings.taskOffsetIntervalMs).to.be.at.least(15_000);
        expect(['sticky', 'balanced']).to.include(settings.assignorName);
        if (faultsOf(overrides).length === 0) expect(warnings).to.deep.equal([]);
      }),
    );
  });
});
