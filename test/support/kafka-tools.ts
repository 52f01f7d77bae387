import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { oracleEnvironment, oracleScript, type Run } from './oracle.ts';

/** A command that answers nothing for this long fails; the driver gives up on it sooner. */
const ANSWER_MS = 90_000;

/** Main classes of Kafka's tools. */
export const toolClasses = {
  'kafka-streams-groups': 'org.apache.kafka.tools.streams.StreamsGroupCommand',
  'kafka-groups': 'org.apache.kafka.tools.GroupsCommand',
  'kafka-consumer-groups': 'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand',
  'kafka-configs': 'org.apache.kafka.tools.ConfigCommand',
} as const;

export type ToolName = keyof typeof toolClasses;

/** Kafka's tools in one JVM that stays: a command costs what it does, not a start. Commands run one after the other. */
export class KafkaTools {
  readonly #child: ChildProcess;
  readonly #waiting: ((line: string) => void)[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor() {
    const child = spawn('bash', [oracleScript, 'tools'], {
      env: oracleEnvironment,
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.#child = child;
    if (child.stdout === null) throw new Error('A pipe has no end');
    createInterface({ input: child.stdout }).on('line', (line) => this.#waiting.shift()?.(line));
  }

  /** Runs one command to its end. Output is what it wrote on both streams. */
  run(tool: ToolName, args: readonly string[]): Promise<Run> {
    const answer = this.#last.then(() => this.#ask({ main: toolClasses[tool], args }));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  #ask(command: { readonly main: string; readonly args: readonly string[] }): Promise<Run> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`No answer to ${command.args.join(' ')}`)),
        ANSWER_MS,
      );
      this.#waiting.push((line) => {
        clearTimeout(timer);
        resolve(JSON.parse(line));
      });
      this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
    });
  }

  /** Ends the JVM. */
  close(): void {
    this.#child.stdin?.end();
  }
}
