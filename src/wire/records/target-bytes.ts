import { extentOf } from '../../../machines/model/numbered-tasks.ts';
import type { TargetMemberRecord } from '../../../machines/records.ts';

/** UTF-8 of one UTF-16 code unit. */
const CHARACTER_BYTES_MAX = 3;
/** Of a subtopology with tasks: lengths of the id and of the list, tagged fields. */
const ENTRY_BYTES_MAX = 5 + 5 + 1;
/** A partition. */
const TASK_BYTES = 4;
/** Type and version, lengths of both ids and of three lists, tagged fields. */
const RECORD_BYTES_MAX = 2 + 2 + 2 * 5 + 3 * 5 + 2;

/** More bytes than key and value of a target's record have, found without writing it. */
export function targetBytesMax({ groupId, memberId, value }: TargetMemberRecord): number {
  const idBytes = CHARACTER_BYTES_MAX * (groupId.length + memberId.length);
  if (value === null) return RECORD_BYTES_MAX + idBytes;
  const { tasks, entries, idLength } = extentOf(value);
  const entryBytes = ENTRY_BYTES_MAX + CHARACTER_BYTES_MAX * idLength;
  return RECORD_BYTES_MAX + idBytes + entries * entryBytes + tasks * TASK_BYTES;
}
