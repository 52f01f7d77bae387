import { appendFileSync } from 'node:fs';
import Mocha from 'mocha';

/** The usual report on the screen; beside it one line of counts into the file that TEST_TALLY names. */
export class TallyReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.once('end', () => {
      const file = process.env['TEST_TALLY'];
      if (file === undefined) return;
      const { passes, failures, pending } = this.stats;
      appendFileSync(
        file,
        `${JSON.stringify({ passed: passes, failed: failures, skipped: pending })}\n`,
      );
    });
  }
}

// Mocha asks a reporter's module for its default.
// biome-ignore lint/style/noDefaultExport: as said.
export default TallyReporter;
