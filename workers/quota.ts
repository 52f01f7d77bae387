/**
 * A quota that shrinks: the share of a member is the ceiling of what is left per member left. Whoever reaches it is full and
 * leaves with its share, so exactly the right number of members end at the ceiling and the rest at the floor.
 *
 * Source: assignors 4.
 */
export class Quota {
  /** A member with fewer tasks than this may take one. 0 when there is no member left. */
  limit = 0;
  #tasks: number;
  #members: number;

  constructor(tasks: number, members: number) {
    this.#tasks = tasks;
    this.#members = members;
    this.#share();
  }

  /** What every member left gets, and how many of them get one more. */
  get floor(): number {
    return this.#members > 0 ? Math.floor(this.#tasks / this.#members) : 0;
  }

  get overFloor(): number {
    return this.#members > 0 ? this.#tasks % this.#members : 0;
  }

  /** Takes note that a member has just come to this many tasks. */
  reached(count: number): void {
    if (count !== this.limit) return;
    this.#tasks -= count;
    this.#members -= 1;
    this.#share();
  }

  /** Takes note that one of the tasks went to somebody outside the quota. */
  taskGone(): void {
    this.#tasks -= 1;
    this.#share();
  }

  #share(): void {
    this.limit = this.#members > 0 ? Math.ceil(this.#tasks / this.#members) : 0;
  }
}
