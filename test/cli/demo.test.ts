import { expect } from 'chai';
import { runCommand } from '../../src/cli/run-command.ts';
import { startCoordinator } from '../../src/coordinator.ts';
import { FakeIo } from '../support/fake-io.ts';

describe('headgate demo', () => {
  it('lets three members join, one leave, and tells why tasks moved', async () => {
    const io = new FakeIo();
    const code = await runCommand(['demo'], { ...io, out: io.out, err: io.err, startCoordinator });
    expect([code, io.errors]).to.deep.equal([0, '']);
    const parts = io.output.split(
      /\n(?=alpha joined|beta joined|gamma joined|alpha left|What was)/,
    );
    const tasksOf = (at: number) => (parts[at]?.match(/\b0_\d\b/g) ?? []).sort();
    const six = ['0_0', '0_1', '0_2', '0_3', '0_4', '0_5'];
    for (const at of [1, 2, 3, 4]) expect(tasksOf(at), `part ${at}`).to.deep.equal(six);
    expect(parts[4]).not.to.match(/^ {2}alpha/m);
    expect(parts[5]).to.match(
      /epoch 3: 0_\d, 0_\d, 0_\d move from alpha to beta: their owner had more than an even share of tasks \(3\); beta needs them/,
    );
    expect(parts[5]).to.contain(
      '    Quality: 3 of 6 active tasks moved (3 at least for evenness); spread of actives 0\n',
    );
    expect(parts[5]).to.contain('alpha left');
  });
});
