import { MODULE_FAULTS, type ModuleFaultName } from '../machines/model/assignors.ts';
import type { Placement } from './placement.ts';

/** What the process of a module says. */
export type ModuleAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'placed'; readonly placement: Placement }
  | { readonly kind: 'fault'; readonly fault: ModuleFaultName; readonly text: string };

const KINDS = { ready: 0, placed: 1, fault: 2 } as const;

/** Longer texts are cut. */
const TEXT_MAX = 2_000;
/** The longest frame of an answer without a placement, bytes. */
export const PLAIN_ANSWER_BYTES = 64 * 1_024;

/** The longest frame of an answer to a problem of this size, bytes. */
export function answerBytes(tasks: number, slots: number): number {
  return Math.max(PLAIN_ANSWER_BYTES, 1 + tasks * (1 + slots) * 4);
}

/** The answer as the parts of a frame. */
export function writeAnswer(answer: ModuleAnswer): readonly Uint8Array[] {
  const head = Uint8Array.of(KINDS[answer.kind]);
  if (answer.kind === 'ready') return [head];
  if (answer.kind === 'placed') {
    const { active, standby } = answer.placement;
    return [head, bytesOf(active), bytesOf(standby)];
  }
  const fault = Uint8Array.of(MODULE_FAULTS.indexOf(answer.fault));
  return [head, fault, Buffer.from(answer.text.slice(0, TEXT_MAX))];
}

/** @param tasks of the problem that was asked. @returns undefined for what no process of ours says. */
export function readAnswer(frame: Buffer, tasks: number): ModuleAnswer | undefined {
  const [kind, name] = frame;
  if (kind === KINDS.ready && frame.byteLength === 1) return { kind: 'ready' };
  if (kind === KINDS.placed && frame.byteLength % 4 === 1 && frame.byteLength >= 1 + tasks * 4) {
    // A copy, so that the numbers are aligned and nothing refers to the frame.
    const numbers = new Int32Array(new Uint8Array(frame.subarray(1)).buffer);
    const placement = { active: numbers.subarray(0, tasks), standby: numbers.subarray(tasks) };
    return { kind: 'placed', placement };
  }
  const fault = kind === KINDS.fault ? MODULE_FAULTS[name ?? -1] : undefined;
  return fault && { kind: 'fault', fault, text: oneLine(frame.toString('utf8', 2)) };
}

/** Text that may stand in a line of a log or a terminal, whatever a module put into its error. */
function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, TEXT_MAX);
}

function bytesOf(numbers: Int32Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
