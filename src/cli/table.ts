import { plainEntry } from './plain-text.ts';

/** Rows below a line of headings, columns as wide as their widest entry; no blank stands at the end of a line. */
export function table(
  headings: readonly string[],
  entries: readonly (readonly string[])[],
): string {
  const rows = entries.map((row) => row.map(plainEntry));
  const widths = headings.map((heading, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), heading.length),
  );
  return [headings, ...rows]
    .map((row) =>
      widths
        .map((width, column) => (row[column] ?? '').padEnd(width))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** A value for other programs; int64 as text. */
export function jsonText(value: unknown): string {
  const plain = (_: string, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner);
  return `${JSON.stringify(value, plain, 2)}\n`;
}
