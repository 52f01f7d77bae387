import { type ChartDrawing, choiceLabel, type DrawnEdge } from './chart-drawing.ts';
import type { ChartState } from './chart-model.ts';

const INK = '#1f2933';
const FAINT = '#7b8794';
const STATE_FILL = '#eef4fb';
const STATE_LINE = '#3b6ea5';
const MARK_FILL = '#ffd479';
const MARK_LINE = '#b7791f';
const FRAME_FILL = '#fafbfc';
/** Keeps the caption off the frame's line; plain blanks would be dropped. */
const FRAME_INDENT = '\u00a0'.repeat(5);

/** A chart in Graphviz's language. States that something is in now are filled, with the mark below their name. */
export function chartDot(drawing: ChartDrawing): string {
  const { model, framed, choices, exits, edges } = drawing;
  const free = model.states.filter(({ name }) => !framed.includes(name));
  const frame = model.states.filter(({ name }) => framed.includes(name));
  const lines = [
    `graph [label="${quoted(model.title).slice(1, -1)}\\n ", labelloc=t, fontsize=20, compound=true, nodesep=0.8, ranksep=0.7, pad=0.3, bgcolor=white, fontname="Helvetica,Arial,sans-serif", fontcolor="${INK}"]`,
    `node [fontname="Helvetica,Arial,sans-serif", fontsize=13, fontcolor="${INK}", shape=box, style="rounded,filled", color="${STATE_LINE}", fillcolor="${STATE_FILL}", margin="0.22,0.11"]`,
    `edge [fontname="Helvetica,Arial,sans-serif", fontsize=11, fontcolor="${INK}", color="${FAINT}", arrowsize=0.7]`,
    `start [shape=circle, label="", width=0.16, style=filled, fillcolor="${INK}", color="${INK}"]`,
    `start -> ${quoted(model.initial)}`,
    ...free.map((state) => stateLine(state, drawing)),
    ...(frame.length === 0 ? [] : frameLines(frame, drawing)),
    ...choices.flatMap(({ event, ways }) =>
      ways.map(
        (way, at) =>
          `${quoted(choiceId(event))} -> ${quoted(way.target)} [label=${label(wrapped(choiceLabel(way, at)))}]`,
      ),
    ),
    ...edges.map(edgeLine),
    // Graphviz draws from node to node: the end inside the frame is any of its states, cut off at the frame.
    ...exits.map(
      ({ to, labels }) =>
        `${quoted(framed[Math.floor(framed.length / 2)] ?? '')} -> ${quoted(to)} [ltail=cluster_frame, label=${label(labels)}]`,
    ),
  ];
  return `digraph ${quoted(model.name)} {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`;
}

function frameLines(states: readonly ChartState[], drawing: ChartDrawing): readonly string[] {
  const { choices, exits } = drawing;
  const events = choices.map(({ event }) => event).join(', ');
  const ways = exits.flatMap(({ labels }) => labels).join(', ');
  const title =
    events === ''
      ? `From each of these states: ${ways}`
      : `In each of these states, on ${events}: the first that holds`;
  return [
    'subgraph cluster_frame {',
    `  graph [label=${quoted(FRAME_INDENT + title)}, labelloc=t, labeljust=l, fontsize=11, fontcolor="${FAINT}", style="rounded,filled,dashed", color="${FAINT}", fillcolor="${FRAME_FILL}", margin=18]`,
    ...choices.map(
      ({ event }) =>
        `  ${quoted(choiceId(event))} [label=${quoted(event)}, shape=hexagon, style=filled, fillcolor=white, ordering=out, color="${FAINT}", margin="0.05,0.03", fontsize=12]`,
    ),
    ...states.map((state) => `  ${stateLine(state, drawing)}`),
    '}',
  ];
}

function stateLine({ name, final, note }: ChartState, { model }: ChartDrawing): string {
  const mark = model.marks[name];
  const below = [
    ...(note === null ? [] : wrapped(`(${note})`, NOTE_LETTERS)),
    ...(mark === undefined ? [] : [mark]),
  ];
  const attributes = [
    below.length === 0 ? `label=${quoted(name)}` : `label=${label([name, ...below])}`,
    ...(mark === undefined
      ? []
      : [`fillcolor="${MARK_FILL}"`, `color="${MARK_LINE}"`, 'penwidth=2']),
    ...(final ? ['peripheries=2'] : []),
  ];
  return `${quoted(name)} [${attributes.join(', ')}]`;
}

function edgeLine({ from, to, labels }: DrawnEdge): string {
  // A loop stands beside its label: short lines keep clear of it, whatever letters the viewer draws them with.
  const lines =
    from === to
      ? labels.flatMap((text) => text.split(/(?<=[:,]) /)).map((line) => `  ${line}`)
      : labels;
  return `${quoted(from)} -> ${quoted(to)} [label=${label(lines)}]`;
}

/** Choices live beside states: no state has a blank in its name. */
function choiceId(event: string): string {
  return `on ${event}`;
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', ' ')}"`;
}

/** Lines below each other; blanks at both ends keep the text off the line it belongs to. */
function label(lines: readonly string[]): string {
  return `"${lines.map((line) => `  ${quoted(line).slice(1, -1)}  `).join('\\n')}"`;
}

const LINE_LETTERS = 15;
const NOTE_LETTERS = 22;

/** Words in lines of about the same length: labels beside each other need the room. */
function wrapped(text: string, letters = LINE_LETTERS): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < letters) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines;
}
