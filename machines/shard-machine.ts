import { setup } from 'xstate';
import { step } from './step.ts';

/** The life of one shard (BA-11). */
export type ShardState = 'initial' | 'loading' | 'active' | 'failed' | 'closed';

export type ShardEvent =
  | { readonly type: 'LOAD' }
  | { readonly type: 'LOADED' }
  | { readonly type: 'LOAD_FAILED' }
  | { readonly type: 'CLOSE' };

/** A shard answers only while it is active; a failed load may be tried again, a closed shard is gone (BA-11, BA-15). */
export const shardMachine = setup({ types: { events: {} as ShardEvent } }).createMachine({
  id: 'shard',
  initial: 'initial',
  states: {
    initial: { on: { LOAD: 'loading', CLOSE: 'closed' } },
    loading: { on: { LOADED: 'active', LOAD_FAILED: 'failed', CLOSE: 'closed' } },
    active: { on: { CLOSE: 'closed' } },
    failed: { on: { LOAD: 'loading', CLOSE: 'closed' } },
    closed: { type: 'final' },
  },
});

/** The state of a shard after an event; an event that means nothing in a state leaves it (BA-11). */
export function nextShardState(current: ShardState, event: ShardEvent): ShardState {
  return step(shardMachine, current, event);
}
