import type { MoveReason, MoveReasons } from '../machines/model/look-back.ts';
import type { NumberedLists, TaskNumbering } from '../machines/model/numbered-tasks.ts';
import { at } from './dense.ts';
import { factualReasonOfCode, reasonOfCode } from './reason-codes.ts';

type ReasonOf = (partition: number) => MoveReason | undefined;

/** What the reasons of one run are read from; nothing of it may change any more. */
type Codes = {
  readonly numbering: TaskNumbering;
  readonly memberIds: readonly string[];
  readonly standbys: NumberedLists;
  /** By task. */
  readonly activeCodes: Uint8Array;
  /** Beside the tasks of `standbys`. */
  readonly standbyCodes: Uint8Array;
  /** A user's own assignor placed the tasks. */
  readonly isByModule: boolean;
};

/** The reasons of a run, in codes until somebody asks. */
export class NumberedReasons implements MoveReasons {
  readonly #codes: Codes;
  readonly #reasonOfCode: typeof reasonOfCode;
  #subtopologies: ReadonlyMap<string, number> | undefined;
  #members: ReadonlyMap<string, number> | undefined;

  constructor(codes: Codes) {
    this.#codes = codes;
    this.#reasonOfCode = codes.isByModule ? factualReasonOfCode : reasonOfCode;
  }

  ofActives(subtopologyId: string): ReasonOf {
    const { activeCodes } = this.#codes;
    const base = this.#baseOf(subtopologyId);
    if (base === undefined) return unknown;
    return (partition) => this.#reasonOfCode(activeCodes[base + partition] ?? 0);
  }

  ofStandbys(memberId: string, subtopologyId: string): ReasonOf {
    const { memberIds, standbys, standbyCodes } = this.#codes;
    this.#members ??= new Map(memberIds.map((id, m) => [id, m]));
    const member = this.#members.get(memberId);
    const base = this.#baseOf(subtopologyId);
    if (member === undefined || base === undefined) return unknown;
    const from = at(standbys.start, member);
    const to = at(standbys.start, member + 1);
    return (partition) => {
      const i = placeOf(base + partition, standbys.tasks, from, to);
      return i === -1 ? undefined : this.#reasonOfCode(standbyCodes[i] ?? 0);
    };
  }

  #baseOf(subtopologyId: string): number | undefined {
    const { subtopologyIds, base } = this.#codes.numbering;
    this.#subtopologies ??= new Map(subtopologyIds.map((id, s) => [id, at(base, s)]));
    return this.#subtopologies.get(subtopologyId);
  }
}

const unknown: ReasonOf = () => undefined;

/** Where a number is in an ascending part of a list; -1: nowhere. */
function placeOf(wanted: number, tasks: Int32Array, from: number, to: number): number {
  let low = from;
  let high = to - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = at(tasks, middle);
    if (found === wanted) return middle;
    if (found < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
