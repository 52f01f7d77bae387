import type { Log } from '../../actors/ports.ts';

type Level = keyof Log;

/** Keeps what was logged, for tests that look at it. */
export class RecordedLog implements Log {
  readonly lines: { readonly level: Level; readonly fields: object; readonly text: string }[] = [];

  debug(fields: object, text: string): void {
    this.lines.push({ level: 'debug', fields, text });
  }
  info(fields: object, text: string): void {
    this.lines.push({ level: 'info', fields, text });
  }
  warn(fields: object, text: string): void {
    this.lines.push({ level: 'warn', fields, text });
  }
  error(fields: object, text: string): void {
    this.lines.push({ level: 'error', fields, text });
  }

  /** The texts of one level, in order. */
  texts(level: Level): readonly string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.text);
  }
}
