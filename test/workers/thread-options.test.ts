import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { threadOptions } from '../../workers/thread-options.ts';

const THREAD = fileURLToPath(new URL('../../workers/thread.js', import.meta.url));
const REPORT = `
  const { parentPort, workerData } = require('node:worker_threads');
  let told;
  try { require(workerData); told = 'loaded'; } catch ({ code }) { told = code; }
  import(workerData).then((module) => parentPort.postMessage([told, typeof module.default]));
`;

describe('threadOptions', () => {
  it('leave a thread no way to load its file but the one on which it can be ended', async () => {
    const { execArgv } = threadOptions;
    const worker = new Worker(REPORT, { eval: true, workerData: THREAD, execArgv });
    const [told] = await once(worker, 'message');
    await worker.terminate();
    expect(told).to.deep.equal(['ERR_REQUIRE_ESM', 'function']);
  });
});
