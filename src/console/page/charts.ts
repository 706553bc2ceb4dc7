/**
 * Charts of the console: price with the bot's quotes and fills, inventory, and parts of the profit. The last minutes
 * and the day are from recordings; the week and the time since the opening are from the ledger.
 */
import type UPlot from 'uplot';
import { clockOf, stamp } from './texts.ts';
import type { ConsoleHistory, ConsoleView, LongHistory, ShownChange } from './view.ts';

/** Chart library, loaded before this script. */
declare const uPlot: typeof UPlot;

/** Periods of the charts, shortest first. */
export const RANGES = ['recent', 'day', 'week', 'opening'] as const;
export type Range = (typeof RANGES)[number];

type Line = {
  readonly label: string;
  readonly colour: string;
  readonly column: number;
  readonly width?: number;
};

/** Lines of the price chart. `column` is the index of a field in `POINT`. */
const PRICE: readonly Line[] = [
  { label: 'best bid', colour: 'soft', column: 1 },
  { label: 'best ask', colour: 'soft', column: 2 },
  { label: "the bot's bid", colour: 'buy', column: 3, width: 1.5 },
  { label: "the bot's ask", colour: 'sell', column: 4, width: 1.5 },
];
const INVENTORY: readonly Line[] = [{ label: 'inventory', colour: 'inventory', column: 5, width: 1.5 }];
const PROFIT: readonly Line[] = [
  { label: 'net', colour: 'ink', column: 6, width: 2 },
  { label: 'spread', colour: 'spread', column: 7 },
  { label: 'inventory', colour: 'inventory', column: 8 },
  { label: 'fees', colour: 'fees', column: 9 },
  { label: 'hedging', colour: 'fair', column: 10 },
];

/** Lines of the charts for a week and since the opening. `column` is the index of a field in a point of `LongRange`. */
const LONG_PRICE: readonly Line[] = [{ label: 'price', colour: 'soft', column: 1, width: 1.5 }];
const LONG_HOLDINGS: readonly Line[] = [{ label: 'held', colour: 'inventory', column: 2, width: 1.5 }];
const LONG_PROFIT: readonly Line[] = [
  { label: 'net', colour: 'ink', column: 3, width: 2 },
  { label: 'spread', colour: 'spread', column: 4 },
  { label: 'inventory', colour: 'inventory', column: 5 },
  { label: 'fees', colour: 'fees', column: 6 },
  { label: 'hedging', colour: 'fair', column: 7 },
];
/** Columns of the number and the mean price of fills in a point of `LongRange`. */
const LONG_FILLS = { bought: [8, 9], sold: [10, 11] } as const;

export class Charts {
  range: Range = 'recent';
  #drawn: { readonly chart: UPlot; readonly place: HTMLElement; readonly lines: readonly Line[] }[] = [];
  #history: ConsoleHistory | null = null;
  #view: ConsoleView | null = null;
  #long: LongHistory | null = null;
  readonly #due = oncePerFrame(() => this.#draw());

  constructor() {
    const sizes = new ResizeObserver(() => this.#fit());
    for (const id of PLACES) sizes.observe(document.getElementById(id)!);
  }

  /** Recreates the charts after a change of colors or range. */
  reset(): void {
    for (const { chart } of this.#drawn) chart.destroy();
    this.#drawn = [];
    this.#due();
  }

  show(history: ConsoleHistory, view: ConsoleView, long: LongHistory | null): void {
    if (history === this.#history && view === this.#view && long === this.#long) return;
    [this.#history, this.#view, this.#long] = [history, view, long];
    this.#due();
  }

  get #isLong(): boolean {
    return this.range === 'week' || this.range === 'opening';
  }

  #draw(): void {
    if (this.#history === null) return;
    if (this.#drawn.length === 0)
      this.#drawn = this.#isLong
        ? [
            this.#made('price-plot', LONG_PRICE, [chart => this.#longFills(chart)]),
            this.#made('inventory-plot', LONG_HOLDINGS, []),
            this.#made('profit-plot', LONG_PROFIT, [chart => level(chart, 0, 'soft', [])]),
          ]
        : [
            this.#made('price-plot', PRICE, [chart => this.#fills(chart)]),
            this.#made('inventory-plot', INVENTORY, [chart => this.#limits(chart)]),
            this.#made('profit-plot', PROFIT, [chart => level(chart, 0, 'soft', [])]),
          ];
    const points = this.#points();
    for (const { chart, lines } of this.#drawn) {
      const columns = [0, ...lines.map(({ column }) => column)].map(column =>
        points.map(point => (this.#isLong ? longValueAt(point, column) : valueAt(point, column))),
      );
      chart.setData(columns as UPlot.AlignedData);
    }
    document.documentElement.dataset['points'] = String(points.length);
    document.documentElement.dataset['range'] = this.range;
  }

  /** Returns the points of the charts' period, up to the time of the view. */
  #points(): readonly (readonly (number | null)[])[] {
    const { range } = this;
    if (range === 'recent') return this.#history?.recent ?? [];
    if (range === 'day') return this.#history?.whole ?? [];
    const isPast = this.#view?.kind === 'past';
    const points = this.#long?.[range].points ?? [];
    return isPast ? points.filter(([at]) => (at ?? 0) <= this.#view!.at) : points;
  }

  /** Returns the changes of the configuration that the data of the charts' period have. */
  #changesShown(): readonly ShownChange[] {
    return (this.#isLong ? this.#long?.changes : this.#history?.changes) ?? [];
  }

  #fit(): void {
    for (const { chart, place } of this.#drawn) {
      const [width, height] = [Math.floor(place.clientWidth), Math.floor(place.clientHeight)];
      if (width > 0 && height > 0 && (chart.width !== width || chart.height !== height))
        chart.setSize({ width, height });
    }
  }

  #made(id: string, lines: readonly Line[], hooks: readonly ((chart: UPlot) => void)[]) {
    const place = document.getElementById(id)!;
    const chart = new uPlot(
      {
        ...chartSizeOf(place),
        padding: [6, 8, 0, 0],
        legend: { show: false },
        cursor: { sync: { key: 'console' }, drag: { x: false, y: false }, points: { size: 5 } },
        tzDate: utc,
        // The range has a margin above and below the values, and its height is never zero.
        scales: { y: { range: (_, min, max) => roomy(min, max, lines === INVENTORY ? this.#limit() : null) } },
        axes: axes(),
        series: [
          {},
          ...lines.map(({ label, colour: name, width = 1 }) => ({
            label,
            stroke: colour(name),
            width,
            points: { show: false },
            spanGaps: false,
          })),
        ],
        hooks: { draw: [...hooks, drawn => this.#changes(drawn)], setCursor: [chart => this.#read(chart, lines, id)] },
      },
      [[]],
      place,
    );
    return { chart, place, lines };
  }

  /** Shows the values at the pointer as text above the chart. */
  #read(chart: UPlot, lines: readonly Line[], id: string): void {
    const place = document.getElementById(`${id}-read`);
    if (!place) return;
    const { idx } = chart.cursor;
    const at = idx === null || idx === undefined ? null : chart.data[0][idx];
    if (at === null || at === undefined || idx === null || idx === undefined) {
      place.textContent = '';
      return;
    }
    const texts = lines.map(({ label }, i) => {
      const value = chart.data[i + 1]?.[idx];
      return `${label} ${value === null || value === undefined ? '–' : brief(value)}`;
    });
    const fills = lines === LONG_PRICE ? this.#fillsAt(idx) : '';
    const time = this.#isLong ? stamp(at * 1000).slice(5, 16) : clockOf(at * 1000);
    place.textContent = `${time}  ${texts.join('  ')}${fills}${this.#changeAt(chart)}`;
  }

  /** Returns the last change of the configuration near the pointer, as text after the values; empty if none is near. */
  #changeAt(chart: UPlot): string {
    const left = chart.cursor.left ?? -1;
    const near = this.#changesShown().findLast(
      ({ at }) => Math.abs(chart.valToPos(at / 1000, 'x') - left) <= CHANGE_NEAR_PX,
    );
    return near === undefined ? '' : `  ${near.text}${near.reason === null ? '' : ` (${near.reason})`}`;
  }

  /** Returns the numbers of purchases and sales of a point, as text after the price; empty if they are unknown. */
  #fillsAt(index: number): string {
    const point = this.#points()[index];
    const [bought, sold] = [point?.[LONG_FILLS.bought[0]], point?.[LONG_FILLS.sold[0]]];
    return typeof bought === 'number' && typeof sold === 'number' ? `  bought ${bought}  sold ${sold}` : '';
  }

  /** Draws a vertical line at each change of the configuration. */
  #changes(chart: UPlot): void {
    const { min, max } = chart.scales['x'] ?? {};
    if (min === undefined || max === undefined || min === null || max === null) return;
    clipped(chart, ctx => {
      ctx.strokeStyle = colour('past');
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([6, 4]);
      for (const { at } of this.#changesShown()) {
        if (at / 1000 < min || at / 1000 > max) continue;
        const x = Math.round(chart.valToPos(at / 1000, 'x', true)) + 0.5;
        ctx.beginPath();
        ctx.moveTo(x, chart.bbox.top);
        ctx.lineTo(x, chart.bbox.top + chart.bbox.height);
        ctx.stroke();
      }
    });
  }

  #limit(): number | null {
    const max = Number(this.#view?.decision.inventory.max);
    return Number.isFinite(max) ? max : null;
  }

  #limits(chart: UPlot): void {
    const max = this.#limit();
    level(chart, 0, 'soft', []);
    if (max === null) return;
    for (const value of [max, -max]) level(chart, value, 'fees', [4, 4]);
  }

  #fills(chart: UPlot): void {
    const fills = (this.#history?.fills ?? []).map(([at = 0, side = 0, price = 0]) => ({ at, side, price }));
    triangles(chart, fills);
  }

  /** Draws the fills of each point as one triangle per side, at their mean price. */
  #longFills(chart: UPlot): void {
    const fills = this.#points().flatMap(point =>
      Object.entries(LONG_FILLS).flatMap(([side, [count, price]]) => {
        const at = point[price];
        return (point[count] ?? 0) === 0 || typeof at !== 'number'
          ? []
          : [{ at: point[0] ?? 0, side: side === 'bought' ? 1 : -1, price: at }];
      }),
    );
    triangles(chart, fills);
  }
}

/** Draws fills as triangles that point up for purchases (`side` is 1) and down for sales. */
function triangles(
  chart: UPlot,
  fills: readonly { readonly at: number; readonly side: number; readonly price: number }[],
): void {
  const { min, max } = chart.scales['x'] ?? {};
  if (min === undefined || max === undefined || min === null || max === null) return;
  const size = 4 * devicePixelRatio;
  clipped(chart, ctx => {
    for (const { at, side, price } of fills) {
      if (at / 1000 < min || at / 1000 > max) continue;
      const [x, y] = [chart.valToPos(at / 1000, 'x', true), chart.valToPos(price, 'y', true)];
      ctx.fillStyle = colour(side > 0 ? 'buy' : 'sell');
      ctx.beginPath();
      ctx.moveTo(x, y - side * size);
      ctx.lineTo(x - size, y + side * size);
      ctx.lineTo(x + size, y + side * size);
      ctx.fill();
    }
  });
}

const PLACES = ['price-plot', 'inventory-plot', 'profit-plot'] as const;
/** Maximum distance between the pointer and the line of a change at which the text of the change is shown, in px. */
const CHANGE_NEAR_PX = 8;
const FONT = '11px system-ui, sans-serif';

/** Returns a value of a point, with times in seconds and `null` instead of a price of 0. */
function valueAt(point: readonly (number | null)[], column: number): number | null {
  const value = point[column] ?? 0;
  if (column === 0) return value / 1000;
  return column <= 4 && value === 0 ? null : value;
}

/** Returns a value of a point of `LongRange`, with times in seconds. */
const longValueAt = (point: readonly (number | null)[], column: number): number | null =>
  column === 0 ? (point[0] ?? 0) / 1000 : (point[column] ?? null);

function roomy(min: number | null, max: number | null, limit: number | null): [number, number] {
  let [low, high] = [min ?? 0, max ?? 1];
  if (limit !== null) [low, high] = [Math.min(low, -limit), Math.max(high, limit)];
  const room = (high - low) * 0.08 || Math.abs(high) * 0.001 || 1;
  return [low - room, high + room];
}

/** Returns a function that schedules `draw` for the next frame. Several calls before that frame draw once. */
export function oncePerFrame(draw: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      draw();
    });
  };
}

/** Returns the size of a chart in an element, or the minimum size if the element is collapsed. */
export const chartSizeOf = ({ clientWidth, clientHeight }: HTMLElement) => ({
  width: Math.max(120, Math.floor(clientWidth)),
  height: Math.max(80, Math.floor(clientHeight)),
});

/** Converts seconds to a UTC date, for a chart's `tzDate`. */
export const utc = (seconds: number): Date => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC');

/** Returns the axes: times in UTC below, values on the left. */
export function axes(): UPlot.Axis[] {
  const axis = {
    stroke: colour('soft'),
    font: FONT,
    grid: { stroke: colour('rule'), width: 1 },
    ticks: { show: false },
  };
  return [
    {
      ...axis,
      size: 22,
      space: 70,
      values: (_, at, __, ___, step) =>
        at.map(s => (step >= 86_400 ? stamp(s * 1000).slice(5, 10) : clockOf(s * 1000).slice(0, step < 60 ? 8 : 5))),
    },
    { ...axis, size: 64, space: 26, values: (_, at) => at.map(v => brief(v)) },
  ];
}

/** Runs `paint` clipped to the plotting area. */
export function clipped({ ctx, bbox }: UPlot, paint: (ctx: CanvasRenderingContext2D) => void): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  paint(ctx);
  ctx.restore();
}

/** Draws a horizontal line with a name. */
export function level(chart: UPlot, value: number, name: string, dash: number[]): void {
  const { ctx, bbox } = chart;
  const y = Math.round(chart.valToPos(value, 'y', true)) + 0.5;
  if (y < bbox.top || y > bbox.top + bbox.height) return;
  ctx.save();
  ctx.strokeStyle = colour(name);
  ctx.lineWidth = 1;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

/** Returns a color of the current palette. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Formats a value with few significant digits. */
export function brief(value: number): string {
  const size = Math.abs(value);
  return size >= 1e4 || Number.isInteger(value)
    ? value.toLocaleString('en-US', { maximumFractionDigits: size >= 1e5 ? 0 : 2 })
    : String(Number(value.toPrecision(4)));
}
