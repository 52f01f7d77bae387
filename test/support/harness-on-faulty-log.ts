import type { HeartbeatAnswer } from '../../machines/commands.ts';
import { MemoryLog } from '../../src/store/memory.ts';
import { assignDirectly } from './assignment.ts';
import { FaultyLog } from './faulty-log.ts';
import { Harness, type HarnessOptions } from './harness.ts';
import { steadyBeat } from './steady-beat.ts';

/** A started coordinator with topic `in` of four partitions, on a log in memory that fails when told. */
export async function harnessOnFaultyLog(options: Partial<HarnessOptions> = {}) {
  const memory = new MemoryLog();
  const log = new FaultyLog(memory);
  const made = await new Harness({ recordLog: log, compute: assignDirectly, ...options }).start();
  made.topics.set('in', 4);
  return { made, log, memory };
}

/** A member confirms the tasks it was just given. */
export function acknowledge(groupId: string, memberId: string, answer: HeartbeatAnswer) {
  return {
    ...steadyBeat(groupId, memberId, answer.memberEpoch),
    activeTasks: answer.activeTasks ?? [],
    standbyTasks: answer.standbyTasks ?? [],
    warmupTasks: answer.warmupTasks ?? [],
  };
}

/** All tasks of `in`. */
export const allFour = [{ subtopologyId: '0', partitions: [0, 1, 2, 3] }];
