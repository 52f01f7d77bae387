import { expect } from 'chai';
import { HeadgateProcess } from '../support/headgate-process.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { Storm } from '../support/storm.ts';
import { inTemporaryFolder } from '../support/temporary-folder.ts';
import { times } from '../support/times.ts';

/** `TEST_KILLS=50` kills more often, `TEST_SEED` draws other moments. */
const KILLS = Number(process.env['TEST_KILLS'] ?? times(2));
const SEED = Number(process.env['TEST_SEED'] ?? 1);
/** Two hundred members are answered that often within the first second. */
const ANSWERS_MAX = 900;

describe('headgate serve and SIGKILL', () => {
  afterEach(() => HeadgateProcess.endAll());

  it(`keeps every answer through ${KILLS} kills in a storm of joins, seed ${SEED} (BA-1, LOAD-1)`, () =>
    inTemporaryFolder(async (folder) => {
      const random = new SeededRandom(SEED);
      const storm = new Storm({ members: 200, groups: 8, random });
      for (let kill = 0; kill < KILLS; kill++) {
        const headgate = HeadgateProcess.serve(folder);
        const address = await headgate.ready();
        if (kill === 0) await Storm.createTopic(address);
        await storm.check(address);
        let ended: ReturnType<HeadgateProcess['end']> | undefined;
        await storm.rage(address, 1 + random.below(ANSWERS_MAX), () => {
          ended = headgate.end('SIGKILL');
        });
        expect(await ended).to.equal('SIGKILL');
      }
      const headgate = HeadgateProcess.serve(folder);
      const address = await headgate.ready();
      await storm.check(address);
      await storm.calmDown(address);
      expect(await headgate.end('SIGTERM')).to.equal(0);
      if (KILLS > 10) console.log(`      ${storm.joins} joins were sent`);
    })).timeout(30_000 + KILLS * 10_000);
});
