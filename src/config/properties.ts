/** A properties file that cannot be read; `line` counts from 1. */
export class PropertiesError extends Error {
  override readonly name = 'PropertiesError';
  readonly line: number;
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * Reads the text of a Java properties file: `#` and `!` comments, `=`, `:` or blanks behind the key, a line that ends
 * in a backslash goes on in the next, escapes `\t \n \r \f \uXXXX`, any other escaped character is itself. Of two lines
 * with one key the later counts. Blanks at the end of a value belong to it, as in Java.
 *
 * @throws {PropertiesError} for `\u` without four hexadecimal digits; nothing else is wrong in such a file.
 */
export function parseProperties(text: string): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (const { line, content } of logicalLines(text)) {
    const keyEnd = endOfKey(content);
    const key = unescaped(content.slice(0, keyEnd), line);
    const value = content.slice(keyEnd).replace(/^[ \t\f]*[=:]?[ \t\f]*/, '');
    entries.set(key, unescaped(value, line));
  }
  return entries;
}

type LogicalLine = { readonly line: number; readonly content: string };

/** Lines without comments and blank ones, continuations joined; each with the number of its first natural line. */
function* logicalLines(text: string): Iterable<LogicalLine> {
  const lines = text.split(/\r\n|\r|\n/);
  for (let at = 0; at < lines.length; at++) {
    const first = at;
    let content = withoutIndent(lines[at]);
    if (content === '' || content.startsWith('#') || content.startsWith('!')) continue;
    while (endsOpen(content)) {
      at++;
      content = content.slice(0, -1) + withoutIndent(lines[at]);
    }
    yield { line: first + 1, content };
  }
}

function withoutIndent(line: string | undefined): string {
  return line?.replace(/^[ \t\f]+/, '') ?? '';
}

/** An odd number of backslashes at the end: the last one escapes the line's end. */
function endsOpen(content: string): boolean {
  const backslashes = /\\*$/.exec(content)?.[0].length ?? 0;
  return backslashes % 2 === 1;
}

function endOfKey(content: string): number {
  for (let at = 0; at < content.length; at++) {
    const character = content.charAt(at);
    if (character === '\\') at++;
    else if (' \t\f=:'.includes(character)) return at;
  }
  return content.length;
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

function unescaped(text: string, line: number): string {
  return text.replace(/\\(u([0-9a-fA-F]{4})?|.)/gs, (whole, escaped: string, digits?: string) => {
    if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16));
    if (escaped === 'u') {
      throw new PropertiesError(line, `Cannot read "${whole}": wanted four hexadecimal digits`);
    }
    return ESCAPES[escaped] ?? escaped;
  });
}
