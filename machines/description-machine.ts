import { setup } from 'xstate';
import { step } from './step.ts';

/**
 * What is known of the topology description that a plugin keeps for a group (SC-3): nothing is there; an
 * operation was begun and its end is not recorded; it is there; the plugin refused it for good.
 */
export type DescriptionState = 'none' | 'uncertain' | 'stored' | 'refused';

export type DescriptionEvent =
  | { readonly type: 'OPERATION_BEGUN' }
  | { readonly type: 'STORED' }
  | { readonly type: 'REFUSED' }
  | { readonly type: 'ERASED' };

/** Every operation passes through `uncertain`, so that a crash in the middle is never taken for its end. */
export const descriptionMachine = setup({
  types: { events: {} as DescriptionEvent },
}).createMachine({
  id: 'description',
  initial: 'none',
  states: {
    none: { on: { OPERATION_BEGUN: 'uncertain' } },
    uncertain: { on: { STORED: 'stored', REFUSED: 'refused', ERASED: 'none' } },
    stored: { on: { OPERATION_BEGUN: 'uncertain' } },
    refused: { on: { OPERATION_BEGUN: 'uncertain' } },
  },
});

/** The state of a description after an event (topology-and-admin 16.4). */
export function nextDescriptionState(
  current: DescriptionState,
  event: DescriptionEvent,
): DescriptionState {
  return step(descriptionMachine, current, event);
}
