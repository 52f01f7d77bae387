const LENGTH_MAX = 249;

/**
 * Says what is wrong with a topic's name; undefined when it is legal: 1 to 249 letters, digits, `.`, `_`, `-`, and
 * neither `.` nor `..`.
 *
 * Source: topology-and-admin A-4.
 */
export function faultOfTopicName(name: string): string | undefined {
  if (name === '') return 'Name a topic: the name is empty';
  if (name === '.' || name === '..') return `Name a topic: "${name}" is not allowed`;
  if (name.length > LENGTH_MAX) {
    return `Name a topic: ${name.length} characters, at most ${LENGTH_MAX}`;
  }
  if (!/^[a-zA-Z0-9._-]+$/.test(name)) {
    return `Name a topic: "${name}" has characters other than letters, digits, ".", "_" and "-"`;
  }
  return undefined;
}
