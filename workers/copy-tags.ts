import { at, type Dense } from './dense.ts';

/** Answers how different the tags of a task's copies are. */
export class CopyTags {
  readonly #dense: Dense;

  constructor(dense: Dense) {
    this.#dense = dense;
  }

  /** Whether the process of one of the task's standbys has a tag value that no other copy has. */
  bringsValue(task: number, member: number): boolean {
    const { tagKeys } = this.#dense.size;
    for (let k = 0; k < tagKeys; k++) if (this.#isNew(task, member, k, member)) return true;
    return false;
  }

  /** Whether a standby's process has a tag value that no other copy has, where that of a former standby had none. */
  replacesLike(task: number, member: number, former: number): boolean {
    const { tagKeys } = this.#dense.size;
    for (let k = 0; k < tagKeys; k++) {
      if (this.#isNew(task, member, k, member) && !this.#isNew(task, former, k, member)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the member has a value of the tag that the task's copies have not, but for one of them. */
  #isNew(task: number, member: number, k: number, but: number): boolean {
    const { size, active, standby } = this.#dense;
    const value = this.#valueOf(member, k);
    if (value === -1) return false;
    const owner = at(active, task);
    if (owner !== -1 && this.#valueOf(owner, k) === value) return false;
    for (let slot = task * size.slots; slot < (task + 1) * size.slots; slot++) {
      const other = at(standby, slot);
      if (other !== -1 && other !== but && this.#valueOf(other, k) === value) return false;
    }
    return true;
  }

  #valueOf(member: number, k: number): number {
    const { size, procOf, tagValue } = this.#dense;
    return at(tagValue, at(procOf, member) * size.tagKeys + k);
  }
}
