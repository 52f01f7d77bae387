import type { ShardEnvironment, ShardsOptions } from './environment.ts';
import { ShardActor } from './shard-actor.ts';
import { Turns } from './turns.ts';

/** Shards loaded side by side. A load is disk and decoding, so a few at a time fill both. */
const LOADS_AT_A_TIME = 4;

/** All shards of the process: made, loaded, told about topics and closed together. */
export class Shards {
  readonly all: readonly ShardActor[];
  readonly #options: ShardsOptions;

  constructor(options: ShardsOptions) {
    this.#options = options;
    let incarnations = 0;
    const env: ShardEnvironment = {
      ...options,
      turns: new Turns(options.clock, options.metrics),
      hurried: { count: 0 },
      nextIncarnation: () => ++incarnations,
      creationFailures: (topics) => options.topicCreator.failures(topics),
    };
    this.all = Array.from({ length: options.shardCount }, (_, shard) => new ShardActor(shard, env));
    options.topics.onChange((names) => {
      const changed = new Set(names);
      for (const shard of this.all) shard.tell({ kind: 'topicsChanged', names: changed });
    });
  }

  /** Loads every shard. One that fails is logged and answers 16; the others serve. Never rejects. */
  async load(): Promise<void> {
    const waiting = [...this.all];
    const loadNext = async (): Promise<void> => {
      for (let shard = waiting.shift(); shard !== undefined; shard = waiting.shift())
        await shard.load();
    };
    await Promise.all(Array.from({ length: LOADS_AT_A_TIME }, loadNext));
  }

  get idle(): boolean {
    return this.all.every((shard) => shard.idle);
  }

  /** Waits until what was taken is answered, at most `graceMs`, then closes every shard. */
  async close(graceMs: number): Promise<void> {
    const { clock } = this.#options;
    const deadline = clock.monotonicMs() + graceMs;
    while (!this.idle && clock.monotonicMs() < deadline) {
      await new Promise<void>((resolve) => clock.after(5, resolve));
    }
    for (const shard of this.all) shard.close();
  }
}
