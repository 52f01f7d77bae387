/**
 * Ends all processes of a group at once, as far as there are any: whoever starts another one meanwhile takes it along.
 *
 * @param leader the id of the process that the group was made with; the group is there as long as anyone in it.
 */
export function endProcessGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Nobody is left.
  }
}
