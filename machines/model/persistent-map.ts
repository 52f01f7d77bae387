/**
 * A map that never changes: `set` and `delete` give a new one that shares nearly everything with the old.
 *
 * Groups keep what grows with their members in such maps, so that a change costs the same in a group of ten
 * and of ten thousand, a roll-back is one pointer, and readers of the committed state need no copy. Keys are
 * strings. The order of iteration depends on the keys alone, never on the history, but is no useful order:
 * sort where order can be seen.
 */
export class PersistentMap<V> {
  readonly size: number;
  readonly #root: Node<V> | undefined;

  private constructor(root: Node<V> | undefined, size: number) {
    this.#root = root;
    this.size = size;
  }

  static readonly #empty = new PersistentMap<never>(undefined, 0);

  static empty<V>(): PersistentMap<V> {
    return PersistentMap.#empty as PersistentMap<V>;
  }

  /** Of a key the last entry counts. */
  static from<V>(entries: Iterable<readonly [string, V]>): PersistentMap<V> {
    const keys: string[] = [];
    const values: V[] = [];
    for (const [key, value] of entries) {
      keys.push(key);
      values.push(value);
    }
    return PersistentMap.empty<V>().setAll(keys, values);
  }

  get(key: string): V | undefined {
    return this.#root === undefined ? undefined : find(this.#root, key, hashOf(key), 0);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** The same map when the key holds this very value already. */
  set(key: string, value: V): PersistentMap<V> {
    const leaf: Leaf<V> = { kind: 'leaf', hash: hashOf(key), key, value };
    came = 0;
    const root = insert(this.#root, leaf, 0);
    return root === this.#root ? this : new PersistentMap(root, this.size + came);
  }

  /**
   * As {@link set} one by one, of a key the last; what they share of the map is made once.
   *
   * @param values in the order of the keys.
   */
  setAll(keys: readonly string[], values: readonly V[]): PersistentMap<V> {
    if (keys.length > PLACES_MAX) {
      const first = this.setAll(keys.slice(0, PLACES_MAX), values);
      return first.setAll(keys.slice(PLACES_MAX), values.slice(PLACES_MAX));
    }
    const leaves = keys.map((key, at): Leaf<V> => {
      return { kind: 'leaf', hash: hashOf(key), key, value: values[at] as V };
    });
    came = 0;
    const root = insertAll(this.#root, inTreeOrder(leaves), 0, leaves.length, 0);
    return root === this.#root ? this : new PersistentMap(root, this.size + came);
  }

  /** The same map when the key is not there. */
  delete(key: string): PersistentMap<V> {
    if (this.#root === undefined || this.get(key) === undefined) return this;
    return new PersistentMap(remove(this.#root, hashOf(key), key, 0), this.size - 1);
  }

  /**
   * Calls back for each key that holds another value in `after`, or is only on one side; undefined = not there. Costs what
   * changed, not what is there: shared parts are passed over. In no useful order.
   */
  forEachChange(after: PersistentMap<V>, each: EachChange<V>): void {
    compare(this.#root, after.#root, each);
  }

  /** Calls back for each key; the quickest way through a large map. */
  forEach(each: (key: string, value: V) => void): void {
    if (this.#root !== undefined) visit(this.#root, each);
  }

  *entries(): IterableIterator<[string, V]> {
    if (this.#root !== undefined) yield* walk(this.#root);
  }

  *keys(): IterableIterator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): IterableIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, V]> {
    return this.entries();
  }
}

/** A key, its value before and its value after. */
export type EachChange<V> = (key: string, before: V | undefined, after: V | undefined) => void;

type Leaf<V> = {
  readonly kind: 'leaf';
  readonly hash: number;
  readonly key: string;
  readonly value: V;
};
type Collision<V> = {
  readonly kind: 'collision';
  readonly hash: number;
  readonly leaves: readonly Leaf<V>[];
};
type Branch<V> = {
  readonly kind: 'branch';
  readonly bitmap: number;
  readonly children: readonly Node<V>[];
};
type Node<V> = Leaf<V> | Collision<V> | Branch<V>;

const BITS = 5;
const MASK = 31;
/** So many leaves go into branches together; fewer go there one by one. */
const BULK = 4;

/** Keys that were not there and are now, counted by what inserts them; whoever changes a map begins at 0. */
let came = 0;

/** One heartbeat looks the same member up in several maps: its hash is made once. */
let lastKey = '';
let lastHash = 0;

function hashOf(key: string): number {
  if (key !== lastKey) {
    lastHash = mix(key);
    lastKey = key;
  }
  return lastHash;
}

function mix(key: string): number {
  let hash = 0;
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0;
  // Java's string hash leaves the low bits poor; mix them, since they pick the first branch.
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x45d9f3b);
  return (hash ^ (hash >>> 16)) | 0;
}

function population(bits: number): number {
  let count = bits - ((bits >>> 1) & 0x55555555);
  count = (count & 0x33333333) + ((count >>> 2) & 0x33333333);
  return Math.imul((count + (count >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** @param shift how many bits of the hash led to the node. */
function find<V>(from: Node<V>, key: string, hash: number, shift: number): V | undefined {
  let node: Node<V> | undefined = from;
  for (let at = shift; node !== undefined; at += BITS) {
    if (node.kind === 'leaf') return node.key === key ? node.value : undefined;
    if (node.kind === 'collision') return node.leaves.find((leaf) => leaf.key === key)?.value;
    const bit = 1 << ((hash >>> at) & MASK);
    if ((node.bitmap & bit) === 0) return undefined;
    node = node.children[population(node.bitmap & (bit - 1))];
  }
  return undefined;
}

/** The same node when the key holds this very value already. */
function insert<V>(node: Node<V> | undefined, leaf: Leaf<V>, shift: number): Node<V> {
  if (node === undefined) {
    came++;
    return leaf;
  }
  if (node.kind === 'branch') return insertBelow(node, leaf, shift);
  const known = node.kind === 'leaf' ? node : node.leaves.find(({ key }) => key === leaf.key);
  if (known?.key === leaf.key) {
    if (known.value === leaf.value) return node;
    return node.kind === 'leaf'
      ? leaf
      : collide(node.leaves.map((other) => (other === known ? leaf : other)));
  }
  came++;
  if (node.hash !== leaf.hash) return split(node, leaf, shift);
  return collide([...(node.kind === 'leaf' ? [node] : node.leaves), leaf]);
}

function insertBelow<V>(branch: Branch<V>, leaf: Leaf<V>, shift: number): Branch<V> {
  const { bitmap, children } = branch;
  const bit = 1 << ((leaf.hash >>> shift) & MASK);
  const at = population(bitmap & (bit - 1));
  const child = (bitmap & bit) === 0 ? undefined : children[at];
  const made = insert(child, leaf, shift + BITS);
  if (made === child) return branch;
  return {
    kind: 'branch',
    bitmap: bitmap | bit,
    children: child === undefined ? children.toSpliced(at, 0, made) : children.with(at, made),
  };
}

/** The leaves in the order of the branches, those of one hash in the order given. */
function inTreeOrder<V>(leaves: readonly Leaf<V>[]): Leaf<V>[] {
  const ranks = new Float64Array(leaves.length);
  for (let at = 0; at < leaves.length; at++) {
    ranks[at] = rankOf((leaves[at] as Leaf<V>).hash) * PLACES_MAX + at;
  }
  ranks.sort();
  return leaves.map((_, nth) => leaves[(ranks[nth] as number) % PLACES_MAX] as Leaf<V>);
}

/** A rank and a place make one exact number. */
const PLACES_MAX = 2 ** 21;

/** The hash with the bits that pick the first branch in front. */
function rankOf(hash: number): number {
  let rank = 0;
  let shift = 0;
  for (; shift + BITS <= 32; shift += BITS) rank = (rank << BITS) | ((hash >>> shift) & MASK);
  return (rank >>> 0) * 4 + (hash >>> shift);
}

/** Where the children of branches in the making wait; those of the innermost are on top. */
const waiting: Node<unknown>[] = [];

/**
 * Inserts leaves in tree order, from one place up to another.
 *
 * @returns the same node when every key holds its very value already.
 */
function insertAll<V>(
  node: Node<V> | undefined,
  leaves: readonly Leaf<V>[],
  from: number,
  to: number,
  shift: number,
): Node<V> | undefined {
  const branch = node?.kind === 'branch' ? node : undefined;
  const isOther = node !== undefined && branch === undefined;
  const first = leaves[from] as Leaf<V>;
  if (isOther || to - from < BULK || first.hash === leaves[to - 1]?.hash) {
    let tree = node;
    for (let at = from; at < to; at++) tree = insert(tree, leaves[at] as Leaf<V>, shift);
    return tree;
  }
  let bitmap = 0;
  let isSame = true;
  let next = from;
  let place = 0;
  const base = waiting.length;
  for (let digit = 0; digit <= MASK; digit++) {
    const bit = 1 << digit;
    const before = ((branch?.bitmap ?? 0) & bit) === 0 ? undefined : branch?.children[place++];
    const start = next;
    while (next < to && (((leaves[next] as Leaf<V>).hash >>> shift) & MASK) === digit) next++;
    const child = start === next ? before : insertAll(before, leaves, start, next, shift + BITS);
    isSame &&= child === before;
    if (child === undefined) continue;
    waiting.push(child);
    bitmap |= bit;
  }
  const children = waiting.splice(base) as Node<V>[];
  return isSame ? node : { kind: 'branch', bitmap, children };
}

/** Sorted, so that the order of iteration does not tell which key came first. */
function collide<V>(leaves: Leaf<V>[]): Collision<V> {
  const sorted = leaves.sort((a, b) => (a.key < b.key ? -1 : 1));
  return { kind: 'collision', hash: sorted[0]?.hash ?? 0, leaves: sorted };
}

function split<V>(node: Leaf<V> | Collision<V>, leaf: Leaf<V>, shift: number): Branch<V> {
  const one = (node.hash >>> shift) & MASK;
  const other = (leaf.hash >>> shift) & MASK;
  if (one === other) {
    return { kind: 'branch', bitmap: 1 << one, children: [split(node, leaf, shift + BITS)] };
  }
  return {
    kind: 'branch',
    bitmap: (1 << one) | (1 << other),
    children: one < other ? [node, leaf] : [leaf, node],
  };
}

function remove<V>(node: Node<V>, hash: number, key: string, shift: number): Node<V> | undefined {
  if (node.kind === 'leaf') return undefined;
  if (node.kind === 'collision') {
    const rest = node.leaves.filter((leaf) => leaf.key !== key);
    return rest.length === 1 ? rest[0] : { ...node, leaves: rest };
  }
  const bit = 1 << ((hash >>> shift) & MASK);
  const at = population(node.bitmap & (bit - 1));
  const child = node.children[at];
  if (child === undefined) return node;
  const smaller = remove(child, hash, key, shift + BITS);
  if (smaller !== undefined) {
    // A branch left with one leaf is that leaf: otherwise the shape would remember what was deleted.
    if (node.children.length === 1 && smaller.kind !== 'branch') return smaller;
    return { kind: 'branch', bitmap: node.bitmap, children: node.children.with(at, smaller) };
  }
  if (node.children.length === 1) return undefined;
  const children = node.children.toSpliced(at, 1);
  const only = children[0];
  if (children.length === 1 && only !== undefined && only.kind !== 'branch') return only;
  return { kind: 'branch', bitmap: node.bitmap & ~bit, children };
}

function* walk<V>(node: Node<V>): IterableIterator<[string, V]> {
  if (node.kind === 'leaf') yield [node.key, node.value];
  else if (node.kind === 'collision') for (const leaf of node.leaves) yield [leaf.key, leaf.value];
  else for (const child of node.children) yield* walk(child);
}

function compare<V>(
  before: Node<V> | undefined,
  after: Node<V> | undefined,
  each: EachChange<V>,
): void {
  if (before === after) return;
  if (before === undefined || after === undefined) {
    if (after !== undefined) visit(after, (key, value) => each(key, undefined, value));
    else if (before !== undefined) visit(before, (key, value) => each(key, value, undefined));
    return;
  }
  if (before.kind === 'branch' && after.kind === 'branch') {
    compareBranches(before, after, each);
    return;
  }
  // Most often: what a key holds changed, and no key came or went.
  if (before.kind === 'leaf' && after.kind === 'leaf' && before.key === after.key) {
    if (before.value !== after.value) each(after.key, before.value, after.value);
    return;
  }
  // One of them is small.
  const gone = new Map(walk(before));
  visit(after, (key, value) => {
    const was = gone.get(key);
    gone.delete(key);
    if (was !== value) each(key, was, value);
  });
  for (const [key, value] of gone) each(key, value, undefined);
}

function compareBranches<V>(before: Branch<V>, after: Branch<V>, each: EachChange<V>): void {
  let atBefore = 0;
  let atAfter = 0;
  for (let bits = before.bitmap | after.bitmap; bits !== 0; bits &= bits - 1) {
    const bit = bits & -bits;
    compare(
      (before.bitmap & bit) === 0 ? undefined : before.children[atBefore++],
      (after.bitmap & bit) === 0 ? undefined : after.children[atAfter++],
      each,
    );
  }
}

function visit<V>(node: Node<V>, each: (key: string, value: V) => void): void {
  if (node.kind === 'leaf') each(node.key, node.value);
  else if (node.kind === 'collision') for (const leaf of node.leaves) each(leaf.key, leaf.value);
  else for (const child of node.children) visit(child, each);
}
