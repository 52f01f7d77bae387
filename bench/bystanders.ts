import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type BrokerAddress, ClientConnection } from '../src/client/connection.ts';
import { ScriptedMember } from '../src/client/member.ts';
import { joinAndSettle } from './heartbeats.ts';

/** Members of other groups, ten each, that have nothing to do. */
export type BystanderLoad = {
  readonly address: BrokerAddress;
  readonly topic: string;
  readonly members: number;
  readonly beatsPerSecond: number;
};

const CONNECTIONS = 20;
const GROUP_SIZE = 10;

/**
 * Members at rest whose heartbeats are timed. They live on a thread and on connections of their own: what the benchmark
 * does besides holds up neither their clock nor their answers, which leave in order on each connection.
 */
export class Bystanders {
  readonly #thread: Worker;

  private constructor(thread: Worker) {
    this.#thread = thread;
  }

  /** Resolves when all have joined and have nothing more to do. */
  static async start(load: BystanderLoad): Promise<Bystanders> {
    const thread = new Worker(new URL(import.meta.url), { workerData: load });
    await once(thread, 'message');
    return new Bystanders(thread);
  }

  /**
   * Sends heartbeats at an even rate, whatever the answers do.
   *
   * @returns how long each took, ms, from when it was sent: a sender that is late has no processor, which is not the
   *   server's doing; it sends what is due then at once, so none is left out.
   */
  async time(seconds: number): Promise<Float64Array> {
    const answer = once(this.#thread, 'message');
    this.#thread.postMessage(seconds);
    const [latencies] = (await answer) as [Float64Array];
    return latencies;
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}

async function timeBeats(
  members: readonly ScriptedMember[],
  beatsPerSecond: number,
  seconds: number,
): Promise<Float64Array> {
  const latencies = new Float64Array(seconds * beatsPerSecond);
  const startMs = performance.now();
  const beats: Promise<void>[] = [];
  while (beats.length < latencies.length) {
    for (;;) {
      const nth = beats.length;
      const sentMs = performance.now();
      const dueMs = startMs + (nth * 1000) / beatsPerSecond;
      if (nth === latencies.length || dueMs > sentMs) break;
      beats.push(
        (members[nth % members.length] as ScriptedMember).beat().then(({ errorCode }) => {
          if (errorCode !== 0) throw new Error(`Refused: ${errorCode}`);
          latencies[nth] = performance.now() - sentMs;
        }),
      );
    }
    await sleep(1);
  }
  await Promise.all(beats);
  return latencies;
}

async function serve({ address, topic, members: count, beatsPerSecond }: BystanderLoad) {
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      ClientConnection.open(address, { clientId: 'bench' }),
    ),
  );
  const members = Array.from({ length: count }, (_, nth) => {
    const connection = connections[nth % CONNECTIONS] as ClientConnection;
    const groupId = `calm-${Math.floor(nth / GROUP_SIZE)}`;
    return new ScriptedMember(connection, { groupId, topics: [topic] });
  });
  await joinAndSettle(members);
  parentPort?.on('message', async (seconds: number) => {
    parentPort?.postMessage(await timeBeats(members, beatsPerSecond, seconds));
  });
  parentPort?.postMessage('ready');
}

if (!isMainThread) await serve(workerData as BystanderLoad);
