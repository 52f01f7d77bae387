import type { Log } from '../../actors/ports.ts';

export type LogLine = {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly text: string;
};

/** A log that keeps its lines for a test to look at. */
export class KeptLog implements Log {
  readonly lines: LogLine[] = [];

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
  texts(level: LogLine['level']): readonly string[] {
    return this.lines.filter((line) => line.level === level).map(({ text }) => text);
  }

  /** Lines that are not for debugging. */
  get told(): readonly LogLine[] {
    return this.lines.filter(({ level }) => level !== 'debug');
  }
}
