const READING: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'this user may not read it',
};
const WRITING: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'this user may not write it',
  ENOSPC: 'there is no room left',
};

/** Why a file cannot be read, or written, in plain words where there are some for the error; it may be any other, too. */
export function whyUnreadable(error: unknown): string {
  return reasonOf(error, READING);
}

export function whyUnwritable(error: unknown): string {
  return reasonOf(error, WRITING);
}

function reasonOf(error: unknown, words: Readonly<Record<string, string>>): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  return words[code] ?? error.message;
}
