import { existsSync, readFileSync } from 'node:fs';

/** The version of this build, from the package it was built in. */
export const VERSION: string = versionFrom(new URL('package.json', import.meta.url));

/** The package file lies above the built files, wherever those were put. */
function versionFrom(file: URL): string {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).version;
  const above = new URL('../package.json', file);
  if (above.href === file.href) throw new Error('Find the version: no package.json is above it');
  return versionFrom(above);
}
