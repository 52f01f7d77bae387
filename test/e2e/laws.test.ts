import fc from 'fast-check';
import { LawHistory } from '../support/law-history.ts';
import type { Step } from '../support/law-steps.ts';
import type { Said } from '../support/play-member.ts';
import { times } from '../support/times.ts';

/** As a failure prints it: `TEST_REPLAY='{"seed":1,"path":"3:1"}'` plays it again. */
const REPLAY: { readonly seed?: number; readonly path?: string } = JSON.parse(
  process.env['TEST_REPLAY'] ?? '{}',
);
/** `TEST_HISTORIES=5000` looks for longer. */
const HISTORIES = Number(process.env['TEST_HISTORIES'] ?? times(15));

const who = fc.nat({ max: 6 });
const lost = fc.boolean();

function one<K extends Step['kind']>(...kinds: readonly K[]): fc.Arbitrary<{ kind: K }> {
  return fc.record({ kind: fc.constantFrom(...kinds) });
}

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant('beat' as const),
      who,
      said: fc.constantFrom<Said>('silent', 'told', 'told', 'all'),
      lost,
    }),
  },
  { weight: 8, arbitrary: one('turn') },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('join' as const), who, lost }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('leave', 'commit'), who }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat({ max: 30_000 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('failAppend' as const),
      error: fc.constantFrom('NOT_ENOUGH_REPLICAS', 'KAFKA_STORAGE_ERROR', 'MESSAGE_TOO_LARGE'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('standbys' as const), count: fc.nat({ max: 1 }) }),
  },
  { weight: 3, arbitrary: one('holdLog', 'releaseLog', 'releaseLog') },
  { weight: 3, arbitrary: one('holdRuns', 'releaseRuns', 'releaseRuns', 'failRun') },
  { weight: 2, arbitrary: one('grow', 'vanish', 'delete', 'restart') },
  {
    weight: 3,
    arbitrary: one('extra', 'extra', 'holdSearches', 'releaseSearches', 'failSearches'),
  },
);

const history = fc.record({
  steps: fc.array(step, { minLength: 5, maxLength: 60 }),
  delayMs: fc.constantFrom(0, 0, 3000),
  intervalMs: fc.constantFrom(0, 0, 1000),
  warmups: fc.constantFrom(0, 2),
  restless: fc.boolean(),
});

for (const profile of ['kip', 'kafka'] as const) {
  describe(`laws of the whole coordinator, profile ${profile}`, () => {
    it('one owner, a log that tells all, errors that mean something, rising epochs, and rest in the end', () =>
      fc.assert(
        fc.asyncProperty(history, async ({ steps, ...options }) => {
          const played = await new LawHistory({ profile, ...options }).start();
          for (const each of steps) await played.play(each);
          await played.calmDown();
        }),
        { numRuns: HISTORIES, ...REPLAY },
      )).timeout(60_000 + HISTORIES * 200);
  });
}
