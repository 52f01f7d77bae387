import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { moduleErrorText } from '../../workers/module-error-text.ts';

const HREF = 'file:///own.mjs';

/** An error without a place, so that its text is known. */
function placeless<E extends Error>(error: E): E {
  error.stack = '';
  return error;
}

describe('moduleErrorText()', () => {
  const endless = new Error('round and round');
  endless.cause = endless;
  const told: readonly [what: string, thrown: unknown, text: string][] = [
    ['an error', new Error('no room'), 'no room'],
    ['an error with a name', new RangeError('no room'), 'RangeError: no room'],
    ['an error that says nothing', new TypeError(), 'TypeError'],
    ['an error of another realm', runInNewContext("new TypeError('far')"), 'TypeError: far'],
    [
      'an error with causes',
      new Error('no room', { cause: new TypeError('no disk', { cause: 'rust' }) }),
      "no room; cause: TypeError: no disk; cause: 'rust'",
    ],
    [
      'an error that is its own cause',
      endless,
      `round and round${'; cause: round and round'.repeat(3)}`,
    ],
    ['an object', { code: 5 }, 'It threw { code: 5 }, which is no Error'],
    ['a text', 'no room', "It threw 'no room', which is no Error"],
    ['nothing', undefined, 'It threw undefined, which is no Error'],
    [
      'an object that can show itself',
      { [Symbol.for('nodejs.util.inspect.custom')]: () => 'forged', toString: 1 },
      'It threw { toString: 1, [Symbol(nodejs.util.inspect.custom)]: [Function: [nodejs.util.inspect.custom]] }, which is no Error',
    ],
    [
      'a large object',
      Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, i])),
      `It threw { ${Array.from({ length: 1_000 }, (_, i) => `k${i}: ${i}`)
        .join(', ')
        .slice(0, 298)}…, which is no Error`,
    ],
    [
      'an error that cannot be read',
      Object.defineProperty(new Error(), 'message', {
        get() {
          throw new Error('no');
        },
      }),
      'Something that cannot be told',
    ],
  ];
  for (const [what, thrown, text] of told) {
    it(`tells ${what}`, () => {
      const error = thrown instanceof Error ? placeless(thrown) : thrown;
      expect(moduleErrorText(error, HREF)).to.equal(text);
    });
  }

  it('names the first place in the module, before the causes', () => {
    const error = new Error('no room', { cause: new Error('no disk') });
    error.stack = `Error: no room\n    at node:fs:1:1\n    at own (${HREF}:3:9)\n    at ${HREF}:1:1`;
    expect(moduleErrorText(error, HREF)).to.equal(`no room (at own (${HREF}:3:9)); cause: no disk`);
  });
});
