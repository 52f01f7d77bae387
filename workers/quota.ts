/**
 * A quota that shrinks: the share of a member is the ceiling of what is left per member left. Whoever reaches it is full and
 * leaves with its share, so exactly the right number of members end at the ceiling and the rest at the floor.
 *
 * Source: assignors 4.
 */
export class Quota {
  /** A member with fewer tasks than this may take one. 0 when there is no member left. */
  limit = 0;
  /** What every member left gets, and how many of them get one more. */
  floor: number;
  overFloor: number;
  #members: number;

  constructor(tasks: number, members: number) {
    this.#members = members;
    this.floor = members > 0 ? Math.floor(tasks / members) : 0;
    this.overFloor = members > 0 ? tasks % members : 0;
    this.#share();
  }

  /** Takes note that a member has just come to this many tasks. */
  reached(count: number): void {
    if (count !== this.limit) return;
    this.#members -= 1;
    // Who leaves with the ceiling takes one of what is over; who leaves with the floor leaves the others theirs.
    if (this.overFloor > 0) this.overFloor -= 1;
    this.#share();
  }

  /** Takes note that one of the tasks went to somebody outside the quota. */
  taskGone(): void {
    if (this.#members === 0) return;
    if (this.overFloor > 0) {
      this.overFloor -= 1;
    } else {
      this.floor -= 1;
      this.overFloor = this.#members - 1;
    }
    this.#share();
  }

  #share(): void {
    if (this.#members <= 0) {
      this.floor = 0;
      this.overFloor = 0;
    }
    this.limit = this.overFloor > 0 ? this.floor + 1 : this.floor;
  }
}
