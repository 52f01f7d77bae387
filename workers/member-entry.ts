import type { AssignmentHolder, TaskReports } from '../machines/model/assignment.ts';
import type { TasksByRole } from '../machines/model/tasks.ts';
import type { MemberTasks } from './member-tasks.ts';

/** A member with what was read of it, which no run that finds it as the last one did reads again. */
export type Entry = {
  readonly id: string;
  member: AssignmentHolder;
  reports: TaskReports;
  /** Undefined: to be read. */
  tasks: MemberTasks | undefined;
  process: Process;
  /** As it was last written; -1 and undefined: not yet. */
  number: number;
  written: MemberTasks | undefined;
  /** The target installed. */
  target: TasksByRole | undefined;
};

/** A process of the group, with how many members it has. */
export type Process = { readonly id: string; number: number; size: number };
