import type { AnyStateMachine } from 'xstate';
import { descriptionMachine } from './description-machine.ts';
import { groupMachine } from './group-machine.ts';
import { memberMachine } from './member-machine.ts';
import { shardMachine } from './shard-machine.ts';

/** A state chart that runs, with the words to show it under. */
export type Chart = {
  readonly name: 'group' | 'member' | 'shard' | 'description';
  readonly title: string;
  readonly machine: AnyStateMachine;
};

/** Every chart that runs, for `visualize` and the console. */
export const charts: readonly Chart[] = [
  { name: 'group', title: 'Streams group', machine: groupMachine },
  { name: 'member', title: 'Member of a streams group', machine: memberMachine },
  { name: 'shard', title: 'Shard of groups', machine: shardMachine },
  { name: 'description', title: 'Topology description', machine: descriptionMachine },
];
