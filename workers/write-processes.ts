import type { KeyValue } from '../machines/model/topology.ts';
import { at, type Dense } from './dense.ts';
import type { Entry, Process } from './member-entry.ts';
import type { ProblemView } from './problem-view.ts';

/** Writes which process each member is of, and the members of each process; gives processes their numbers. */
export function writeProcesses(
  { procOf, procStart, procMember, procCapacity, placeInProcess }: Dense,
  members: readonly Entry[],
  processes: readonly Process[],
  { orderWithin }: ProblemView,
): void {
  let start = 0;
  for (let p = 0; p < processes.length; p++) {
    const process = processes[p] as Process;
    process.number = p;
    procStart[p] = start;
    procCapacity[p] = process.size;
    start += process.size;
  }
  procStart[processes.length] = start;
  // Each start serves as the place for the next member of its process, and is put back afterwards.
  for (let m = 0; m < members.length; m++) {
    const p = (members[m] as Entry).process.number;
    const place = at(procStart, p);
    procOf[m] = p;
    procMember[place] = m;
    procStart[p] = place + 1;
  }
  for (let p = processes.length - 1; p >= 0; p--) {
    const from = at(procStart, p) - at(procCapacity, p);
    procStart[p] = from;
    if (orderWithin !== undefined) {
      const own = Array.from(procMember.subarray(from, from + at(procCapacity, p)), (m) => {
        return { id: (members[m] as Entry).id, m };
      });
      procMember.set(
        orderWithin(own).map(({ m }) => m),
        from,
      );
    }
    for (let place = 0; place < at(procCapacity, p); place++) {
      placeInProcess[at(procMember, from + place)] = place;
    }
  }
}

/** By process: the number of its value of each key, and the group of processes with equal values that it is in. */
type Tags = {
  readonly values: readonly number[];
  /** Undefined: all are in one. */
  readonly groups: Int32Array | undefined;
  readonly groupCount: number;
};

/** A process has the tags of its first member; all are expected to report the same. */
export function tagsOf(
  members: readonly Entry[],
  processes: readonly Process[],
  tagKeys: readonly string[],
): Tags {
  if (tagKeys.length === 0) return { values: [], groups: undefined, groupCount: 1 };
  const groups = new Int32Array(processes.length);
  const tagsOfProcess = new Map<Process, readonly KeyValue[]>();
  for (const { member, process } of members) {
    if (!tagsOfProcess.has(process)) tagsOfProcess.set(process, member.clientTags);
  }
  const valueNumbers = tagKeys.map(() => new Map<string, number>());
  const groupNumbers = new Map<string, number>();
  const values: number[] = [];
  processes.forEach((process, p) => {
    const tags = tagsOfProcess.get(process) ?? [];
    const tuple = tagKeys.map((key, k) => {
      const value = tags.find((tag) => tag.key === key)?.value;
      return value === undefined ? -1 : numberOf(value, valueNumbers[k] as Map<string, number>);
    });
    values.push(...tuple);
    groups[p] = numberOf(tuple.join(), groupNumbers);
  });
  return { values, groups, groupCount: groupNumbers.size };
}

function numberOf(text: string, numbers: Map<string, number>): number {
  const known = numbers.get(text) ?? numbers.size;
  numbers.set(text, known);
  return known;
}
