import { join } from 'node:path';
import { expect } from 'chai';
import { settingNames } from '../../src/config/definitions.ts';
import { foreignNames } from '../../src/config/foreign-names.ts';
import { kafkaTool, projectRoot, whyNoOracle } from '../support/oracle.ts';

describe("Kafka's own broker settings", function () {
  this.timeout(600_000);

  it('are known here by name, each of them and no others (BC-8)', async function () {
    const why = whyNoOracle();
    if (why !== undefined) {
      console.log(`      skipped: ${why}`);
      this.skip();
    }
    const printer = join(projectRoot, 'test/interop/BrokerSettingNames.java');
    const real = new Set<string>();
    for (const version of ['4.4.0', '3.9.2']) {
      const { code, output } = await kafkaTool(printer, [], { version });
      expect(code, output).to.equal(0);
      const names = output.split('\n').filter((line) => /^[a-z][a-zA-Z0-9.]*$/.test(line));
      expect(names).to.have.length.greaterThan(300);
      for (const name of names) real.add(name);
    }
    const ours: ReadonlySet<string> = new Set(settingNames);
    expect(foreignNames).to.deep.equal([...real].filter((name) => !ours.has(name)).sort());
  });
});
