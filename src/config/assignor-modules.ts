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

/** Reads `name=path` between commas. Undefined: not allowed; {@link faultInModules} says why. */
export function readAssignorModules(text: string): readonly AssignorModule[] | undefined {
  const { modules, fault } = modulesOf(splitList(text));
  return fault === undefined ? modules : undefined;
}

/** Which part of a text is wrong, and why; undefined: none is. */
export function faultInModules(text: string): string | undefined {
  return modulesOf(splitList(text)).fault;
}

/**
 * Reads entries of `name=path` up to the first that is wrong.
 *
 * @returns `fault` names that one, and what is wrong with it.
 */
export function modulesOf(entries: readonly string[]): {
  readonly modules: readonly AssignorModule[];
  readonly fault?: string;
} {
  const modules: AssignorModule[] = [];
  const refused = (fault: string) => ({ modules, fault });
  for (const entry of entries) {
    const [, name, file] = /^([^=]*)=([^\0]+)$/.exec(entry) ?? [];
    if (name === undefined || file === undefined) {
      return refused(`"${entry}" is not of the form name=path`);
    }
    if (!/^[\w.-]{1,64}$/.test(name)) {
      return refused(`"${name}" is not a name of 1 to 64 letters, digits, dots, - and _`);
    }
    if ((ASSIGNORS as readonly string[]).includes(name)) {
      return refused(`"${name}" is the name of an assignor of Headgate's`);
    }
    if (modules.some((each) => each.name === name)) return refused(`"${name}" is there twice`);
    if (modules.length === MODULES_MAX) {
      return refused(`"${name}" is one too many: wanted at most ${MODULES_MAX}`);
    }
    modules.push({ name, file: file.trim() });
  }
  return { modules };
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
