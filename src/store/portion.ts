/** Bounds of a {@link Portion}. */
export type PortionBounds = { readonly countMax: number; readonly bytesMax: number };

/**
 * What is done of a long piece of work in one go, before the event loop has its turn: full once it has so many things,
 * or things of so many bytes, whichever comes first.
 */
export class Portion {
  readonly #bounds: PortionBounds;
  #count = 0;
  #bytes = 0;

  constructor(bounds: PortionBounds) {
    this.#bounds = bounds;
  }

  get isFull(): boolean {
    return this.#count >= this.#bounds.countMax || this.#bytes >= this.#bounds.bytesMax;
  }

  add(bytes: number): void {
    this.#count++;
    this.#bytes += bytes;
  }

  /** Begins the next one. */
  empty(): void {
    this.#count = 0;
    this.#bytes = 0;
  }
}
