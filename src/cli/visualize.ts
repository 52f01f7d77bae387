import { writeFileSync } from 'node:fs';
import { type Chart, charts } from '../../machines/charts.ts';
import { type ChartModel, readChartModel } from '../charts/chart-model.ts';
import { type ChartFormat, renderChart } from '../charts/render-chart.ts';
import type { HostPort } from '../config/host-port.ts';
import { askAdmin } from './admin-http.ts';
import { CommandError, type CommandIo, WRONGLY_ASKED } from './command-io.ts';

export type VisualizeOptions = {
  readonly format: ChartFormat;
  /** Undefined: standard output. */
  readonly out?: string | undefined;
  /** A live group whose states are marked. */
  readonly group?: string | undefined;
  readonly admin: HostPort;
};

/** Draws one of the charts that run. */
export async function visualize(
  name: string,
  { format, out, group, admin }: VisualizeOptions,
  io: CommandIo,
): Promise<void> {
  const chart = charts.find((candidate) => candidate.name === name);
  if (chart === undefined) {
    const known = charts.map((candidate) => candidate.name).join(', ');
    throw new CommandError(`Cannot draw "${name}": wanted one of ${known}`, {
      exitCode: WRONGLY_ASKED,
    });
  }
  const marks = group === undefined ? {} : await marksOf(chart, group, admin);
  const text = await renderChart(readChartModel(chart, marks), format);
  if (out === undefined) {
    io.out(text);
    return;
  }
  try {
    writeFileSync(out, text);
  } catch (error) {
    throw new CommandError(
      `Cannot write ${out}: ${error instanceof Error ? error.message : error}`,
    );
  }
  io.err(`${chart.title}: ${out}\n`);
}

async function marksOf({ name }: Chart, group: string, admin: HostPort) {
  const path = `/charts/${name}.json?group=${encodeURIComponent(group)}`;
  const { marks } = await askAdmin<ChartModel>(admin, path);
  return marks;
}
