import type { ModuleFaultName } from '../machines/model/assignors.ts';

/** Why an assignor module gave no assignment that could be used. */
export class ModuleFault extends Error {
  override readonly name = 'ModuleFault';
  readonly fault: ModuleFaultName;
  constructor(fault: ModuleFaultName, text: string) {
    super(text);
    this.fault = fault;
  }
}

/** After so many faults in a row a module is left alone for a while. */
const FAULTS_IN_A_ROW = 3;
/** The first rest; each further fault doubles it. */
const REST_MIN_MS = 10_000;
const REST_MAX_MS = 600_000;

/**
 * How an assignor module has behaved of late. After three faults in a row it rests: it is not to be asked for 10 s, then once
 * more; each further fault doubles the rest, up to 10 minutes. Times are of a clock that never runs backwards, ms; people are
 * told the end of a rest by the clock on the wall.
 */
export class ModuleConduct {
  #faultsInARow = 0;
  #restUntilMs = 0;
  #lastText = '';

  failed({ message }: ModuleFault, nowMs: number): void {
    this.#faultsInARow++;
    this.#lastText = message;
    const doublings = this.#faultsInARow - FAULTS_IN_A_ROW;
    if (doublings >= 0) {
      this.#restUntilMs = nowMs + Math.min(REST_MAX_MS, REST_MIN_MS * 2 ** doublings);
    }
  }

  succeeded(): void {
    this.#faultsInARow = 0;
    this.#restUntilMs = 0;
  }

  /** @returns why it is not to be asked now, in words that stay true; undefined when it may be. */
  restAt({ monotonicMs, wallMs }: Now): ModuleFault | undefined {
    const leftMs = this.#restUntilMs - monotonicMs;
    if (leftMs <= 0) return undefined;
    return new ModuleFault(
      'resting',
      `It rests until ${wholeSecond(wallMs + leftMs)}, and is asked at the next assignment after that; ${this.#faultsInARow} faults in a row, the last: ${this.#lastText}`,
    );
  }
}

/** One moment by two clocks. */
export type Now = { readonly monotonicMs: number; readonly wallMs: number };

/** A moment as people and programs read it, not before it has come. */
function wholeSecond(wallMs: number): string {
  const text = new Date(Math.ceil(wallMs / 1_000) * 1_000).toISOString();
  return text.replace('.000Z', 'Z');
}
