import { LoopDelayMeter } from './loop-delay.ts';
import { isLoopDelayQuestion } from './server-process.ts';

// Loaded into a server before it starts: measures its event loop when the benchmark that started it says so.

const meter = new LoopDelayMeter();

process.on('message', (question: unknown) => {
  if (!isLoopDelayQuestion(question)) return;
  if (question.loopDelay === 'start') meter.start();
  else process.send?.({ loopDelay: meter.stop() });
});
// A server that is told to stop does not wait for the benchmark.
process.channel?.unref();
