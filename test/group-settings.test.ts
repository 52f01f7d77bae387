import { expect } from 'chai';
import { resolveConfig } from '../src/config/resolve.ts';
import { GroupSettingsInForce } from '../src/group-settings.ts';
import { ConfigOverrides } from '../src/store/config-overrides.ts';
import { MemoryKeyValues } from '../src/store/memory-key-values.ts';
import { KeptLog } from './support/kept-log.ts';

const INTERVAL = 'group.streams.assignment.interval.ms';
const OFFLOAD = 'group.streams.assignor.offload.enable';

async function open(
  settings: Readonly<Record<string, string>> = {},
  keyValues = new MemoryKeyValues(),
) {
  const overrides = await ConfigOverrides.open(keyValues);
  const log = new KeptLog();
  const { config } = resolveConfig({ flags: settings });
  const inForce = new GroupSettingsInForce({ config, overrides, nodeId: 1, log });
  const set = (kind: 'broker' | 'group', name: string, key: string, value: string | null) =>
    overrides.alter(kind, name, new Map([[key, value]]), {
      judge: () => undefined,
      validateOnly: false,
    });
  const warnings = () => log.lines.filter(({ level }) => level === 'warn').map(({ text }) => text);
  return { inForce, set, warnings, keyValues };
}

describe('GroupSettingsInForce', () => {
  it('gives groups without a value of their own what is set on the broker, then on all, then at the start', async () => {
    const { inForce, set } = await open({ [INTERVAL]: '10' });
    const seen = () => ['g', 'own'].map((id) => inForce.group(id).assignmentIntervalMs);
    await set('group', 'own', 'streams.assignment.interval.ms', '5');
    expect(seen()).to.deep.equal([10, 5]);
    await set('broker', '', INTERVAL, '20');
    expect(seen(), 'on all').to.deep.equal([20, 5]);
    await set('broker', '1', INTERVAL, '30');
    expect(seen(), 'on this one').to.deep.equal([30, 5]);
    await set('broker', '2', INTERVAL, '40');
    expect(seen(), 'on another').to.deep.equal([30, 5]);
    await set('group', 'own', 'streams.assignment.interval.ms', null);
    expect(seen(), 'the group has none any more').to.deep.equal([30, 30]);
    await set('broker', '1', INTERVAL, null);
    await set('broker', '', INTERVAL, null);
    expect(seen(), 'as at the start').to.deep.equal([10, 10]);
  });

  it('takes every dynamic setting', async () => {
    const { inForce, set } = await open();
    await set('broker', '1', OFFLOAD, 'false');
    expect(inForce.broker()).to.include({ assignorOffload: false, assignmentIntervalMs: 1_000 });
  });

  it('brings a kept dynamic interval back to the bounds of the start, and says so (BC-4)', async () => {
    const { inForce, set, warnings } = await open();
    await set('broker', '1', INTERVAL, '99999');
    expect(inForce.broker().assignmentIntervalMs).to.equal(15_000);
    expect(inForce.group('g').assignmentIntervalMs).to.equal(15_000);
    expect(warnings()).to.deep.equal([
      `Setting of the broker: ${INTERVAL} is 99999, out of bounds: 15000 is used`,
    ]);
  });

  it('takes a kept value that it cannot read for none, and says so', async () => {
    const { inForce, set, warnings } = await open();
    await set('broker', '1', INTERVAL, 'soon');
    expect(inForce.broker().assignmentIntervalMs).to.equal(1_000);
    expect(warnings()).to.deep.equal([
      `Setting of the broker: ${INTERVAL} is "soon", wanted a whole number from 0 to 2147483647: ` +
        'it counts as not set',
    ]);
  });

  it('brings what a group keeps back to the bounds of the broker it is started with (GC-5)', async () => {
    const first = await open();
    await first.set('group', 'g', 'streams.num.standby.replicas', '2');
    const second = await open({ 'group.streams.max.standby.replicas': '1' }, first.keyValues);
    expect(second.inForce.group('g').numStandbyReplicas).to.equal(1);
    expect(second.warnings()).to.deep.equal([
      'Setting of a group: streams.num.standby.replicas is 2, out of bounds: 1 is used',
    ]);
    const third = await open({}, first.keyValues);
    expect(third.inForce.group('g').numStandbyReplicas, 'the value itself is kept').to.equal(2);
  });

  it('gives groups without a value of their own one and the same object', async () => {
    const { inForce, set } = await open();
    expect(inForce.group('a')).to.equal(inForce.group('b'));
    await set('group', 'a', 'streams.num.standby.replicas', '1');
    expect(inForce.group('a')).to.not.equal(inForce.group('b'));
    expect(inForce.group('a'), 'until it changes').to.equal(inForce.group('a'));
  });
});
