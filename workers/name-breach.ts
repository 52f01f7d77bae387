import { at, CANDIDATE, type Dense, isSet } from './dense.ts';

/**
 * Finds the first breach of the hard invariants in a result, from the lists that will be handed out, and says it in words.
 * Takes its time: it is asked where something is wrong, or where stale members make what is right depend on the task.
 *
 * @param promisesQuotas whether H7 is asked for.
 * @returns beginning with the rule's id; undefined if the result is sound.
 *
 * Source: assignors 2 (H1 to H7), 2.1; coordination ASG-11.
 */
export function nameBreach(dense: Dense, promisesQuotas: boolean): string | undefined {
  const { size } = dense;
  const owner = new Int32Array(size.tasks).fill(-1);
  const copies = new Int32Array(size.tasks * size.slots).fill(-1);
  return (
    readActives(dense, owner) ??
    readStandbys(dense, owner, copies) ??
    checkOwners(dense, owner) ??
    checkStandbyCounts(dense, owner, copies) ??
    (promisesQuotas ? checkQuotas(dense) : undefined)
  );
}

/** H1: no task twice; H2; stale members keep only. */
function readActives(dense: Dense, owner: Int32Array): string | undefined {
  const { size, activeStart, activeTask, prevActive, frozen } = dense;
  if (at(activeStart, 0) !== 0) return 'H2: list of actives does not begin at 0';
  for (let m = 0; m < size.members; m++) {
    const to = at(activeStart, m + 1);
    if (to < at(activeStart, m) || to > size.tasks) return `H2: active list of ${m} ends at ${to}`;
    let last = -1;
    for (let i = at(activeStart, m); i < to; i++) {
      const t = at(activeTask, i);
      if (t <= last || t >= size.tasks) return `H2: active ${t} of ${m} is unknown or out of order`;
      last = t;
      if (at(owner, t) !== -1) return `H1: task ${t} is active on ${at(owner, t)} and ${m}`;
      owner[t] = m;
      if (isSet(frozen, m) && at(prevActive, t) !== m) return `ASG-11: active ${t} is new on ${m}`;
    }
  }
  return undefined;
}

/** H2 to H4. */
function readStandbys(dense: Dense, owner: Int32Array, copies: Int32Array): string | undefined {
  const { size, standbyStart, standbyTask, procOf, stateful, subtopologyOf, frozen } = dense;
  if (at(standbyStart, 0) !== 0) return 'H2: list of standbys does not begin at 0';
  for (let m = 0; m < size.members; m++) {
    const to = at(standbyStart, m + 1);
    if (to < at(standbyStart, m) || to > copies.length)
      return `H2: standby list of ${m} ends at ${to}`;
    let last = -1;
    for (let i = at(standbyStart, m); i < to; i++) {
      const t = at(standbyTask, i);
      if (t <= last || t >= size.tasks)
        return `H2: standby ${t} of ${m} is unknown or out of order`;
      last = t;
      if (!isSet(stateful, at(subtopologyOf, t))) return `H4: stateless task ${t} has a standby`;
      if (isSet(frozen, m) && !heldAsStandby(dense, t, m))
        return `ASG-11: standby ${t} is new on ${m}`;
      const process = at(procOf, m);
      const active = at(owner, t);
      if (active !== -1 && at(procOf, active) === process)
        return `H3: task ${t} twice on ${process}`;
      let slot = t * size.slots;
      const end = slot + size.slots;
      while (slot < end && at(copies, slot) !== -1) {
        if (at(copies, slot) === process) return `H3: task ${t} twice on ${process}`;
        slot++;
      }
      if (slot === end) return `H5: task ${t} has more than ${size.slots} standbys`;
      copies[slot] = process;
    }
  }
  return undefined;
}

/** H1: every task has an owner as long as someone may take new tasks; and the two forms of the result agree. */
function checkOwners(dense: Dense, owner: Int32Array): string | undefined {
  const anyFresh = dense.frozen.includes(0);
  for (let t = 0; t < dense.size.tasks; t++) {
    if (at(owner, t) !== at(dense.active, t)) return `H1: task ${t} has two different owners`;
    if (at(owner, t) === -1 && anyFresh) return `H1: task ${t} is active nowhere`;
  }
  return undefined;
}

/** H5: the standbys asked for, or as many as there are processes that may hold one. */
function checkStandbyCounts(
  dense: Dense,
  owner: Int32Array,
  copies: Int32Array,
): string | undefined {
  const { size, procOf, frozen, stateful, subtopologyOf } = dense;
  if (size.slots === 0) return undefined;
  const procFresh = new Uint8Array(size.processes);
  for (let m = 0; m < size.members; m++) if (!isSet(frozen, m)) procFresh[at(procOf, m)] = 1;
  let freshCount = 0;
  for (let p = 0; p < size.processes; p++) if (isSet(procFresh, p)) freshCount++;
  for (let t = 0; t < size.tasks; t++) {
    if (!isSet(stateful, at(subtopologyOf, t))) continue;
    const active = at(owner, t);
    const activeProcess = active === -1 ? -1 : at(procOf, active);
    let able = freshCount - (active !== -1 && isSet(procFresh, activeProcess) ? 1 : 0);
    if (freshCount < size.processes) able += staleKeepers(dense, t, activeProcess, procFresh);
    const wanted = Math.min(size.slots, able);
    let found = 0;
    while (found < size.slots && at(copies, t * size.slots + found) !== -1) found++;
    if (found !== wanted) return `H5: task ${t} has ${found} standbys, wanted ${wanted}`;
  }
  return undefined;
}

/** Processes without a fresh member that hold the task as standby, and so may keep it. */
function staleKeepers(
  dense: Dense,
  t: number,
  activeProcess: number,
  procFresh: Uint8Array,
): number {
  const { candStart, candMember, candRole, procOf } = dense;
  const from = at(candStart, t);
  let keepers = 0;
  candidates: for (let c = from; c < at(candStart, t + 1); c++) {
    const process = at(procOf, at(candMember, c));
    if (candRole[c] !== CANDIDATE.standby || process === activeProcess) continue;
    if (isSet(procFresh, process)) continue;
    for (let earlier = from; earlier < c; earlier++) {
      const same = at(procOf, at(candMember, earlier)) === process;
      if (same && candRole[earlier] === CANDIDATE.standby) continue candidates;
    }
    keepers++;
  }
  return keepers;
}

/** H7, which sticky promises; stale members make it impossible. */
function checkQuotas(dense: Dense): string | undefined {
  const { size, activeStart, activeTask, subtopologyOf, stateful, base } = dense;
  if (dense.facts.stale > 0) return undefined;
  let statefulTasks = 0;
  for (let s = 0; s < size.subtopologies; s++) {
    if (isSet(stateful, s)) statefulTasks += at(base, s + 1) - at(base, s);
  }
  const most = Math.ceil(size.tasks / size.members);
  const mostStateful = Math.ceil(statefulTasks / size.members);
  for (let m = 0; m < size.members; m++) {
    const count = at(activeStart, m + 1) - at(activeStart, m);
    if (count > most) return `H7: ${m} has ${count} actives, at most ${most}`;
    let own = 0;
    for (let i = at(activeStart, m); i < at(activeStart, m + 1); i++) {
      if (isSet(stateful, at(subtopologyOf, at(activeTask, i)))) own++;
    }
    if (own > mostStateful) return `H7: ${m} has ${own} stateful actives, at most ${mostStateful}`;
  }
  return undefined;
}

function heldAsStandby({ candStart, candMember, candRole }: Dense, t: number, m: number): boolean {
  for (let c = at(candStart, t); c < at(candStart, t + 1); c++) {
    if (at(candMember, c) === m) return candRole[c] === CANDIDATE.standby;
  }
  return false;
}
