import { resolve } from 'node:path';
import { ASSIGNORS } from '../../machines/model/assignors.ts';
import { splitList } from './setting.ts';

/** A user's own assignor: the name that groups select it by, and where it is. */
export type AssignorModule = {
  readonly name: string;
  /** Path of an ES module; absolute once the configuration is made. */
  readonly file: string;
};

/** Each has a process of its own. */
const MODULES_MAX = 16;

/** What `assignors.modules` allows, in words. */
export const ALLOWED_MODULES = `name=path, between commas, each name once and none of ${ASSIGNORS.join(', ')}, at most ${MODULES_MAX}`;

/** Reads `name=path` between commas. Undefined: not allowed. */
export function readAssignorModules(text: string): readonly AssignorModule[] | undefined {
  const modules: AssignorModule[] = [];
  const names = new Set<string>(ASSIGNORS);
  for (const entry of splitList(text)) {
    const [, name, file] = /^([\w.-]{1,64})=([^\0]+)$/.exec(entry) ?? [];
    if (name === undefined || file === undefined || names.has(name)) return undefined;
    names.add(name);
    modules.push({ name, file: file.trim() });
  }
  return modules.length > MODULES_MAX ? undefined : modules;
}

/** The text that {@link readAssignorModules} reads as these. */
export function writeAssignorModules(modules: readonly AssignorModule[]): string {
  return modules.map(({ name, file }) => `${name}=${file}`).join(',');
}

/** The same modules with their paths as seen from a folder. */
export function modulesIn(
  folder: string,
  modules: readonly AssignorModule[] = [],
): readonly AssignorModule[] {
  return modules.map(({ name, file }) => ({ name, file: resolve(folder, file) }));
}
