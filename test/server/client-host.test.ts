import { expect } from 'chai';
import { clientHost } from '../../src/server/client-host.ts';

describe('clientHost()', () => {
  const cases: readonly (readonly [string | undefined, string])[] = [
    ['127.0.0.1', '/127.0.0.1'],
    ['::ffff:10.0.0.7', '/10.0.0.7'],
    ['::1', '/0:0:0:0:0:0:0:1'],
    ['fe80::1:2', '/fe80:0:0:0:0:0:1:2'],
    ['2001:db8:1:2:3:4:5:6', '/2001:db8:1:2:3:4:5:6'],
    ['2001:db8::', '/2001:db8:0:0:0:0:0:0'],
    [undefined, '/'],
  ];
  for (const [address, text] of cases) {
    it(`writes ${address} as Java does: ${text}`, () => {
      expect(clientHost(address)).to.equal(text);
    });
  }
});
