import { type ChartDrawing, choiceLabel } from './chart-drawing.ts';

/** A chart in Mermaid's language, as Markdown renderers draw it. A framed state leads to the choice by itself here. */
export function chartMermaid({ model, framed, choices, exits, edges }: ChartDrawing): string {
  const inMermaid = (text: string) => text.replaceAll(':', ' -').replaceAll('\n', ' ');
  const lines = [
    `[*] --> ${model.initial}`,
    ...choices.flatMap(({ event, ways }) => [
      `state on_${event} <<choice>>`,
      ...framed.map((state) => `${state} --> on_${event} : ${event}`),
      ...ways.map((way, at) => `on_${event} --> ${way.target} : ${choiceLabel(way, at)}`),
    ]),
    ...edges.map(({ from, to, labels }) => `${from} --> ${to} : ${inMermaid(labels.join(', '))}`),
    ...exits.flatMap(({ to, labels }) =>
      framed.map((state) => `${state} --> ${to} : ${inMermaid(labels.join(', '))}`),
    ),
    ...model.states.filter(({ final }) => final).map(({ name }) => `${name} --> [*]`),
    ...model.states.flatMap(({ name, note }) => {
      const said = [note, model.marks[name]].filter((text) => typeof text === 'string');
      return said.length === 0 ? [] : [`note right of ${name} : ${inMermaid(said.join(', '))}`];
    }),
    ...(Object.keys(model.marks).length === 0
      ? []
      : [
          'classDef now fill:#ffd479,stroke:#b7791f,stroke-width:2px',
          `class ${Object.keys(model.marks).join(',')} now`,
        ]),
  ];
  return `---\ntitle: ${inMermaid(model.title)}\n---\nstateDiagram-v2\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
