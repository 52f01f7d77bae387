import { execFileSync } from 'node:child_process';
import { expect } from 'chai';

const MODULE = new URL('../../src/observe/logger.js', import.meta.url).href;

/** What a process of its own writes to standard error. */
function logged(config: object, calls: string): string {
  const script = `
    import { createLogger } from ${JSON.stringify(MODULE)};
    const { log, flush } = createLogger(${JSON.stringify(config)}, { isTerminal: false });
    ${calls}
    flush();`;
  return execFileSync(
    'sh',
    ['-c', 'exec "$0" --input-type=module -e "$1" 2>&1 >/dev/null', process.execPath, script],
    {
      encoding: 'utf8',
    },
  );
}

describe('createLogger()', () => {
  it('writes one JSON object per event to standard error', () => {
    const text = logged(
      { level: 'info', pretty: 'auto' },
      `log.debug({}, 'Hidden'); log.info({ groupId: 'g', epoch: 2n }, 'Group epoch raised');`,
    );
    const lines = text.trim().split('\n');
    expect(lines).to.have.length(1);
    const { time, ...event } = JSON.parse(lines[0] ?? '');
    expect(event).to.deep.equal({
      level: 'info',
      groupId: 'g',
      epoch: 2,
      msg: 'Group epoch raised',
    });
    expect(time).to.match(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('writes text for people when told', () => {
    const text = logged({ level: 'debug', pretty: 'true' }, `log.debug({ a: 1 }, 'Seen');`);
    expect(text).to.match(/^\[.*\] DEBUG: Seen\n {4}a: 1\n$/);
  });

  it('tells the type, message and cause of an error', () => {
    const text = logged(
      { level: 'info', pretty: 'false' },
      `log.error({ error: new RangeError('No', { cause: new Error('Disk') }) }, 'Failed');`,
    );
    const { error } = JSON.parse(text);
    expect(error.type).to.equal('RangeError');
    expect(error.message).to.equal('No: Disk');
    expect(error.stack).to.contain('caused by: Error: Disk');
  });

  it('writes nothing when silent', () => {
    expect(logged({ level: 'silent', pretty: 'false' }, `log.error({}, 'x');`)).to.equal('');
  });
});
