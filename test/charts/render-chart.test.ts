import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type Chart, charts } from '../../machines/charts.ts';
import { arrangeChart, FRAME } from '../../src/charts/chart-drawing.ts';
import { type ChartModel, readChartModel } from '../../src/charts/chart-model.ts';
import { dotSvg } from '../../src/charts/chart-svg.ts';
import { CHART_FORMATS, renderChart } from '../../src/charts/render-chart.ts';

function chart(name: Chart['name']): Chart {
  const found = charts.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`No chart ${name}`);
  return found;
}

const statesOf = ({ machine }: Chart) => Object.keys(machine.states);

/** Every way of every state: from, event, guard, to. */
function allWays({ states }: ChartModel): readonly string[] {
  return states
    .flatMap(({ name, on }) =>
      on.flatMap(({ event, ways }) => ways.map(({ target }) => `${name} ${event} ${target}`)),
    )
    .sort();
}

describe('readChartModel()', () => {
  it('tells states, events and guards of the group chart as it runs', () => {
    const model = readChartModel(chart('group'));
    expect(model.initial).to.equal('Empty');
    expect(model.states.map(({ name }) => name)).to.deep.equal(statesOf(chart('group')));
    expect(model.states.at(0)?.on.at(0)).to.deep.equal({
      event: 'SETTLED',
      ways: [
        { guard: 'hasNoMembers', target: 'Empty' },
        { guard: 'topologyIsNotReady', target: 'NotReady' },
        { guard: 'targetIsBehind', target: 'Assigning' },
        { guard: 'membersAreMoving', target: 'Reconciling' },
        { guard: null, target: 'Stable' },
      ],
    });
    expect(model.states.filter(({ final }) => final).map(({ name }) => name)).to.deep.equal([
      'Dead',
    ]);
  });
});

describe('renderChart() with notes', () => {
  it('says of a state what the chart says of it, and who is in it', async () => {
    const model = readChartModel(chart('member'), { unknown: 'A' });
    const said = model.states.flatMap(({ name, note }) => (note === null ? [] : [[name, note]]));
    expect(said).to.deep.equal([['unknown', "read from a newer version's log"]]);
    expect(await renderChart(model, 'mermaid')).to.contain(
      "note right of unknown : read from a newer version's log, A\n",
    );
    const line = (await renderChart(model, 'dot'))
      .split('\n')
      .find((text) => /"unknown" \[/.test(text));
    expect(line).to.contain("  unknown  \\n  (read from a newer  \\n  version's log)  \\n  A  ");
  });

  it('says at a frame without a choice what leads out of it', async () => {
    const dot = await renderChart(readChartModel(chart('shard')), 'dot');
    expect(dot).to.contain('From each of these states: CLOSE"');
  });
});

describe('arrangeChart()', () => {
  for (const one of charts) {
    it(`draws every way of the ${one.name} chart, and no other`, () => {
      const model = readChartModel(one);
      const { framed, choices, exits, edges } = arrangeChart(model);
      const eventOf = (label: string) => label.split(/[:,]/)[0];
      const drawn = [
        ...framed.flatMap((state) => [
          ...choices.flatMap(({ event, ways }) =>
            ways.map(({ target }) => `${state} ${event} ${target}`),
          ),
          ...exits.flatMap(({ to, labels }) =>
            labels.map((text) => `${state} ${eventOf(text)} ${to}`),
          ),
        ]),
        ...edges.flatMap(({ from, to, labels }) =>
          labels.map((text) => `${from} ${eventOf(text)} ${to}`),
        ),
      ].sort();
      expect(drawn).to.deep.equal(allWays(model));
    });
  }

  it('frames the states that judge an event alike, and keeps what one of them asks first', () => {
    const { framed, choices, exits, edges } = arrangeChart(readChartModel(chart('member')));
    expect(framed).to.deep.equal(['stable', 'unrevokedTasks', 'unreleasedTasks', 'unknown']);
    expect(choices.map(({ event }) => event)).to.deep.equal(['HEARTBEAT']);
    expect(exits).to.deep.equal([{ from: FRAME, to: 'removed', labels: ['REMOVED'] }]);
    expect(edges).to.deep.equal([
      {
        from: 'unrevokedTasks',
        to: 'unrevokedTasks',
        labels: ['HEARTBEAT: has not let go, asked first'],
      },
    ]);
  });
});

describe('renderChart()', () => {
  for (const one of charts) {
    for (const format of CHART_FORMATS) {
      it(`names every state of the ${one.name} chart as ${format}`, async () => {
        const text = await renderChart(readChartModel(one), format);
        for (const state of statesOf(one)) expect(text).to.contain(state);
        expect(text.endsWith('\n')).to.equal(true);
      });
    }

    it(`is what docs/images/${one.name}.svg holds`, async () => {
      const written = readFileSync(`docs/images/${one.name}.svg`, 'utf8');
      const hint = `run: headgate visualize ${one.name} --out docs/images/${one.name}.svg`;
      expect(written, hint).to.equal(await renderChart(readChartModel(one), 'svg'));
    });
  }

  it('marks the state that something is in, with its note', async () => {
    const model = readChartModel(chart('group'), { Stable: 'group "orders"' });
    expect(await renderChart(model, 'dot')).to.match(
      /"Stable" \[label=" {2}Stable {2}\\n {2}group \\"orders\\" {2}", fillcolor="#ffd479"/,
    );
    expect(await renderChart(model, 'svg')).to.contain('group &quot;orders&quot;');
    expect(await renderChart(model, 'mermaid')).to.contain('class Stable now');
    expect(JSON.parse(await renderChart(model, 'json')).marks).to.deep.equal({
      Stable: 'group "orders"',
    });
  });

  it('gives the same text every time', async () => {
    const model = readChartModel(chart('shard'));
    expect(await renderChart(model, 'svg')).to.equal(await renderChart(model, 'svg'));
  });
});

describe('dotSvg()', () => {
  it('refuses what Graphviz cannot read', async () => {
    const failure = await dotSvg('digraph {').catch((error: unknown) => error);
    expect(failure)
      .to.be.instanceOf(Error)
      .with.property('message')
      .match(/^Cannot draw the chart: /);
  });
});
