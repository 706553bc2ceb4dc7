/** Chart of profit by hour or day: stacked bars of trading, fees and hedging, with a line for the net. */
import type UPlot from 'uplot';
import { axes, clipped, colour, level, oncePerFrame, chartSizeOf, utc } from './charts.ts';
import { stamp, withSign } from './texts.ts';
import type { ConsoleView, ShownHour } from './view.ts';

/** Chart library, loaded before this script. */
declare const uPlot: typeof UPlot;

const PARTS = [
  ['trading', 'buy'],
  ['fees', 'fees'],
  ['hedging', 'fair'],
] as const;
const PERIOD_S = { hour: 3_600, day: 86_400 };
/** Minimum number of periods on the chart, so that a single bar does not fill it. */
const PERIODS_MIN = 12;
/** Width of a bar, as a share of the width of its period. */
const WIDTH = 0.76;

export class ProfitBars {
  by: keyof typeof PERIOD_S = 'hour';
  readonly #place = document.getElementById('hours-plot')!;
  #chart: UPlot | null = null;
  #rows: readonly ShownHour[] = [];
  #view: ConsoleView | null = null;
  readonly #due = oncePerFrame(() => {
    if (this.#view !== null) this.#draw(this.#view);
  });

  constructor() {
    new ResizeObserver(() => {
      if (this.#place.clientWidth > 0) this.#chart?.setSize(chartSizeOf(this.#place));
    }).observe(this.#place);
  }

  /** Recreates the chart after a change of colors or period. */
  reset(): void {
    this.#chart?.destroy();
    this.#chart = null;
    this.#due();
  }

  show(view: ConsoleView): void {
    if (view === this.#view) return;
    this.#view = view;
    this.#due();
  }

  #draw({ hours, days }: ConsoleView): void {
    this.#rows = this.by === 'hour' ? hours : days;
    const all = [...PARTS.map(([part]) => part), 'net'] as const;
    this.#chart ??= this.#made();
    this.#chart.setData([
      this.#rows.map(row => this.#centreOf(row)),
      ...all.map(part => this.#rows.map(row => Number(row[part]))),
    ]);
  }

  /** Returns the center of a period, in seconds since 1970. */
  #centreOf({ from }: ShownHour): number {
    return from / 1000 + PERIOD_S[this.by] / 2;
  }

  #made(): UPlot {
    return new uPlot(
      {
        ...chartSizeOf(this.#place),
        // Half of the last time label extends past the last hour.
        padding: [6, 20, 0, 0],
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        tzDate: utc,
        scales: { x: { range: () => this.#reach() }, y: { range: () => this.#height() } },
        axes: axes(),
        series: [
          {},
          ...[...PARTS, ['net']].map(([label = '']) => ({ label, paths: () => null, points: { show: false } })),
        ],
        hooks: { draw: [chart => this.#bars(chart)], setCursor: [chart => this.#read(chart)] },
      },
      [[]],
      this.#place,
    );
  }

  #reach(): [number, number] {
    const [first, last] = [this.#rows[0], this.#rows.at(-1)];
    if (first === undefined || last === undefined) return [0, PERIOD_S[this.by]];
    const end = last.from / 1000 + PERIOD_S[this.by];
    return [Math.min(first.from / 1000, end - PERIODS_MIN * PERIOD_S[this.by]), end];
  }

  #height(): [number, number] {
    const ends = this.#rows.flatMap(row => stackOf(row).flatMap(({ from, to }) => [from, to]));
    const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
    const room = (high - low) * 0.08 || 1;
    return [low - room, high + room];
  }

  #bars(chart: UPlot): void {
    const [ink, panel] = [colour('ink'), colour('panel')];
    const half = (PERIOD_S[this.by] / 2) * WIDTH;
    const y = (value: number): number => chart.valToPos(value, 'y', true);
    clipped(chart, ctx => {
      for (const row of this.#rows) {
        const centre = this.#centreOf(row);
        const [left, right] = [centre - half, centre + half].map(x => chart.valToPos(x, 'x', true)) as [number, number];
        const width = Math.max(1, right - left);
        for (const { name, from, to } of stackOf(row)) {
          ctx.fillStyle = colour(name);
          ctx.fillRect(left, y(to), width, y(from) - y(to));
        }
        const line = 2 * devicePixelRatio;
        const net = y(Number(row.net)) - line / 2;
        // An outline separates the net line from the bars behind it.
        ctx.fillStyle = panel;
        ctx.fillRect(left - line, net - line / 2, width + 2 * line, 2 * line);
        ctx.fillStyle = ink;
        ctx.fillRect(left - line, net, width + 2 * line, line);
      }
    });
    level(chart, 0, 'soft', []);
  }

  /** Shows the figures of the period at the pointer as text above the chart. */
  #read(chart: UPlot): void {
    const place = document.getElementById('hours-plot-read')!;
    const { idx } = chart.cursor;
    const row = idx === null || idx === undefined ? undefined : this.#rows[idx];
    place.textContent =
      row === undefined
        ? ''
        : [
            stamp(row.from).slice(5, this.by === 'hour' ? 16 : 10),
            ...(['net', 'trading', 'fees', 'hedging'] as const).map(part => `${part} ${withSign(row[part], 2)}`),
          ].join('  ');
  }
}

/** Returns both ends of each part of a bar: gains upward from zero, losses downward. */
function stackOf(row: ShownHour): readonly { readonly name: string; readonly from: number; readonly to: number }[] {
  let [up, down] = [0, 0];
  return PARTS.map(([part, name]) => {
    const value = Number(row[part]);
    const from = value < 0 ? down : up;
    if (value < 0) down += value;
    else up += value;
    return { name, from, to: from + value };
  });
}
