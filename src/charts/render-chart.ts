import { chartDot } from './chart-dot.ts';
import { arrangeChart } from './chart-drawing.ts';
import { chartMermaid } from './chart-mermaid.ts';
import type { ChartModel } from './chart-model.ts';
import { dotSvg } from './chart-svg.ts';

/** What a chart can be written as. */
export const CHART_FORMATS = ['svg', 'dot', 'mermaid', 'json'] as const;
export type ChartFormat = (typeof CHART_FORMATS)[number];

/** A chart's text in one of the formats; ends with a line feed. */
export async function renderChart(model: ChartModel, format: ChartFormat): Promise<string> {
  switch (format) {
    case 'json':
      return `${JSON.stringify(model, null, 2)}\n`;
    case 'dot':
      return chartDot(arrangeChart(model));
    case 'mermaid':
      return chartMermaid(arrangeChart(model));
    case 'svg':
      return dotSvg(chartDot(arrangeChart(model)));
  }
}
