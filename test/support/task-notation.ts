import type { TaskIds, TaskList } from '../../machines/model/tasks.ts';

/** `0:[0-2,5];1:[3]` or `[]`. */
export function readTasks(text: string): TaskList {
  if (text === '[]' || text === '') return [];
  return text.split(';').map((part): TaskIds => {
    const [, subtopologyId = '', list = ''] = /^(.+):\[(.*)\]$/.exec(part) ?? [];
    const partitions = list.split(',').flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, at) => from + at);
    });
    return { subtopologyId, partitions };
  });
}

/** The inverse of {@link readTasks}. */
export function writeTasks(tasks: TaskList): string {
  if (tasks.length === 0) return '[]';
  return tasks
    .map(({ subtopologyId, partitions }) => `${subtopologyId}:[${ranges(partitions)}]`)
    .join(';');
}

function ranges(numbers: readonly number[]): string {
  const parts: string[] = [];
  for (let from = 0; from < numbers.length; ) {
    let to = from;
    while (numbers[to + 1] === (numbers[to] ?? 0) + 1) to++;
    parts.push(to === from ? `${numbers[from]}` : `${numbers[from]}-${numbers[to]}`);
    from = to + 1;
  }
  return parts.join(',');
}
