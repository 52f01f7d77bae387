import { instance } from '@viz-js/viz';

/** Graphviz is WebAssembly and takes a moment to start: once, when first asked. */
let graphviz: ReturnType<typeof instance> | undefined;

/**
 * Draws Graphviz's language as an SVG of its own size.
 *
 * @throws {Error} when the text is not in that language.
 */
export async function dotSvg(dot: string): Promise<string> {
  graphviz ??= instance();
  const viz = await graphviz;
  const result = viz.render(dot, { format: 'svg', engine: 'dot' });
  if (result.status === 'failure') {
    const reasons = result.errors.map(({ message }) => message).join('; ');
    throw new Error(`Cannot draw the chart: ${reasons}`);
  }
  return result.output;
}
