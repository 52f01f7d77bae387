import { expect } from 'chai';
import { alterOverrides } from '../../src/server/alter-overrides.ts';

describe('alterOverrides()', () => {
  const change = {
    kind: 'group',
    name: 'g',
    changes: new Map([['key', 'value']]),
    validateOnly: false,
    judge: () => undefined,
  } as const;

  it('makes an outcome of a change that could not be kept', async () => {
    const overrides = {
      of: () => new Map<string, string>(),
      names: () => [],
      alter: () => Promise.reject(new Error('disk full')),
    };
    expect(await alterOverrides(overrides, change)).to.deep.equal({
      error: 'UNKNOWN_SERVER_ERROR',
      message: 'Cannot keep configs: disk full',
    });
  });
});
