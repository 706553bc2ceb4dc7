/**
 * Script of the page: draws the plots, and redraws them when colors or widths change. Runs in a browser, from disk,
 * without other files.
 */
import type UPlot from 'uplot';
import type { Line, Plot } from './plot.ts';

/** Chart library, which the page embeds before this script. */
declare const uPlot: typeof UPlot;

const HEIGHT = { wide: 250, small: 220, low: 120 };
const NARROW = 620;
const AXIS_FONT = '12px system-ui, sans-serif';
/** Height of rotated names on the x axis, in pixels. */
const TURNED = 76;
/** Width per letter of a name, in pixels, including the space between names. */
const NAME_LETTER = 9;
/** Distance between the error bars of two lines at the same x, in pixels. */
const ERROR_STEP = 3;
/** Minimum and maximum half width of a fill's symbol, in pixels; more fills on a plot make smaller symbols. */
const MARK = { least: 2, most: 4.5 };

const plots = JSON.parse(document.getElementById('plots')?.textContent ?? '[]') as readonly Plot[];
const drawn: { readonly plot: Plot; readonly place: HTMLElement; readonly chart: UPlot }[] = [];

const root = document.documentElement;
const dark = matchMedia('(prefers-color-scheme: dark)');
const isDark = (): boolean => (root.dataset['theme'] ?? (dark.matches ? 'dark' : 'light')) === 'dark';
dark.addEventListener('change', drawAll);
document.getElementById('theme')?.addEventListener('click', () => {
  root.dataset['theme'] = isDark() ? 'light' : 'dark';
  drawAll();
});

const sizes = new ResizeObserver(entries => {
  for (const { target, contentRect } of entries) {
    const found = drawn.find(({ place }) => place === target);
    const width = Math.floor(contentRect.width);
    if (found && width > 0 && width !== found.chart.width)
      found.chart.setSize({ width, height: heightOf(found.place, found.plot) });
  }
});

for (const part of document.querySelectorAll('details')) part.addEventListener('toggle', drawVisible);
drawAll();

function drawAll(): void {
  sizes.disconnect();
  for (const { chart } of drawn.splice(0)) chart.destroy();
  drawVisible();
}

/**
 * Draws the visible plots. Plots in a collapsed section have no width, so they are drawn when the section is opened.
 */
function drawVisible(): void {
  for (const plot of plots) {
    const place = document.getElementById(plot.id);
    if (!place) throw new Error(`the page has no element for plot ${plot.id}`);
    if (place.closest('details:not([open])') !== null || drawn.some(other => other.plot === plot)) continue;
    drawn.push({ plot, place, chart: draw(plot, place) });
    sizes.observe(place);
  }
  root.dataset['drawn'] = String(drawn.length);
}

function draw(plot: Plot, place: HTMLElement): UPlot {
  const isTime = plot.x.kind === 'time';
  const xs = isTime ? plot.x.values.map(ms => ms / 1000) : [...plot.x.values];
  const width = Math.max(200, Math.floor(place.clientWidth));
  return new uPlot(
    {
      width,
      height: heightOf(place, plot),
      tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      padding: [10, 20, 0, 0],
      cursor: {
        ...(plot.group === null ? {} : { sync: { key: plot.group } }),
        drag: { x: true, y: false },
        points: { size: 7 },
      },
      scales: {
        x: { time: isTime, ...(plot.x.kind === 'log' ? { distr: 3 } : {}), ...xRange(plot) },
        y: plot.y.range === null ? {} : { range: () => [...plot.y.range!] },
      },
      axes: axesOf(plot, width),
      series: [xSeries(plot), ...plot.lines.map(seriesOf)],
      hooks: {
        drawClear: [chart => shade(chart, plot)],
        draw: [chart => drawErrors(chart, plot), chart => drawSpans(chart, plot)],
      },
    },
    [xs, ...plot.lines.map(({ values }) => [...values])],
    place,
  );
}

/** Returns an x range with margins, so that names and bars are centered at their x values. */
function xRange({ x, lines }: Plot): { range?: [number, number] } {
  // The chart library uses seconds.
  const scale = x.kind === 'time' ? 1000 : 1;
  const [first, last] = [x.values[0], x.values.at(-1)].map(at => (at === undefined ? at : at / scale));
  if (first === undefined || last === undefined) return {};
  const bars = lines.some(({ style }) => style === 'bars');
  if (x.kind === 'names') return { range: bars ? [first - 0.6, last + 0.6] : [first - 0.4, last + 0.4] };
  if (!bars) return {};
  const half = x.values.length > 1 ? (last - first) / (x.values.length - 1) : 1;
  return { range: [first - half, last + half] };
}

function axesOf({ x, y }: Plot, width: number): UPlot.Axis[] {
  const line = colour('grid');
  const shared = {
    stroke: colour('soft'),
    font: AXIS_FONT,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
  };
  const names = x.names ?? [];
  return [
    {
      ...shared,
      size: 44,
      label: x.label,
      labelFont: AXIS_FONT,
      labelSize: 16,
      ...(x.kind === 'names'
        ? {
            splits: () => names.map((_, i) => i),
            ...turned(names, width),
            values: (_: UPlot, at: number[]) => at.map(i => names[i] ?? ''),
          }
        : {}),
      ...(x.kind === 'log'
        ? { values: (_: UPlot, at: number[]) => at.map(v => (isDecade(v) ? axisNumber(v) : '')) }
        : {}),
      ...(x.kind === 'time' ? { values: timeTexts } : {}),
      space: width < NARROW && x.kind !== 'time' ? 60 : 80,
    },
    {
      ...shared,
      size: (_: UPlot, texts: string[]) => 30 + 7 * Math.max(4, ...(texts ?? []).map(text => text.length)),
      label: y.label,
      labelFont: AXIS_FONT,
      labelSize: 16,
      values: (_: UPlot, at: (number | null)[]) => at.map(v => (v === null ? '' : axisNumber(v))),
    },
  ];
}

/** Returns axis options that rotate names if they do not fit next to each other. */
function turned(names: readonly string[], width: number): { rotate?: number; size?: number } {
  const longest = Math.max(0, ...names.map(name => name.length));
  return longest * names.length * NAME_LETTER < width ? {} : { rotate: 35, size: TURNED };
}

/**
 * Formats the times on an axis: hours and minutes, with seconds if the steps are below a minute. The first time and
 * each new day also show the date.
 */
function timeTexts(_chart: UPlot, marks: number[], _axis: number, _space: number, step: number): string[] {
  let day = '';
  return marks.map(seconds => {
    const text = clockTime(seconds);
    const time = step >= 86_400 ? '' : text.slice(11, step < 60 ? 19 : 16);
    const before = day;
    day = text.slice(0, 10);
    return day === before ? time : `${time}\n${day}`;
  });
}

function xSeries({ x }: Plot): UPlot.Series {
  const label = x.kind === 'time' ? 'UTC' : x.label;
  if (x.kind === 'time') return { label, value: (_, at) => (at === null ? '' : clockTime(at)) };
  if (x.kind === 'names') return { label, value: (_, at) => (at === null ? '' : (x.names?.[Math.round(at)] ?? '')) };
  return { label, value: (_, at) => (at === null ? '' : axisNumber(at)) };
}

function seriesOf(line: Line): UPlot.Series {
  const ink = colour(line.colour);
  const value = (_: UPlot, at: number | null): string => (at === null ? '' : axisNumber(at));
  const shared = { label: line.label, stroke: ink, value };
  switch (line.style) {
    case 'bars': {
      const paths = uPlot.paths.bars?.({ size: [0.9, 60, 1] });
      return { ...shared, fill: `${ink}55`, width: 1, points: { show: false }, ...(paths ? { paths } : {}) };
    }
    case 'up':
    case 'down':
      return {
        ...shared,
        fill: ink,
        paths: () => null,
        points: { show: true, paths: triangles(line.style), fill: ink, stroke: ink, size: 9 },
      };
    case 'dots':
      return { ...shared, paths: () => null, points: { show: true, size: 8, fill: ink, stroke: ink } };
    case 'line':
    case 'dashed':
      return {
        ...shared,
        width: line.width ?? (line.style === 'dashed' ? 1.25 : 1.75),
        ...(line.style === 'dashed' ? { dash: [5, 4] } : {}),
        points: { show: line.dots === true, size: 5, fill: ink },
      };
  }
}

/** Draws a triangle at every value: up for a buy, down for a sell. */
function triangles(way: 'up' | 'down'): UPlot.Series.Points.PathBuilder {
  return (chart, index, from, to) => {
    const path = new Path2D();
    const values = chart.data[index] ?? [];
    let count = 0;
    for (let i = from; i <= to; i++) if (typeof values[i] === 'number') count++;
    // If there are many triangles, they are smaller, so that the line behind them remains visible.
    const room = chart.bbox.width / devicePixelRatio / Math.max(1, count);
    const size = Math.min(MARK.most, Math.max(MARK.least, room / 2)) * devicePixelRatio;
    for (let i = from; i <= to; i++) {
      const value = values[i];
      if (value === null || value === undefined) continue;
      const x = chart.valToPos(chart.data[0][i] ?? 0, 'x', true);
      const y = chart.valToPos(value, 'y', true);
      const tip = way === 'up' ? -size : size;
      path.moveTo(x, y + tip);
      path.lineTo(x - size, y - tip);
      path.lineTo(x + size, y - tip);
      path.closePath();
    }
    return { stroke: path, fill: path };
  };
}

/** Draws the gaps of the recording and a line at zero. */
function shade(chart: UPlot, { shades }: Plot): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = colour('gap');
  for (const [from, to] of shades) {
    const left = chart.valToPos(from / 1000, 'x', true);
    ctx.fillRect(left, bbox.top, Math.max(1, chart.valToPos(to / 1000, 'x', true) - left), bbox.height);
  }
  const { min, max } = chart.scales['y'] ?? {};
  if (min !== undefined && max !== undefined && min < 0 && max > 0) {
    const zero = Math.round(chart.valToPos(0, 'y', true)) + 0.5;
    ctx.strokeStyle = colour('soft');
    ctx.lineWidth = 1;
    ctx.setLineDash([]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, zero);
    ctx.lineTo(bbox.left + bbox.width, zero);
    ctx.stroke();
  }
  ctx.restore();
}

function drawErrors(chart: UPlot, { x, lines }: Plot): void {
  const { ctx, bbox } = chart;
  const withErrors = lines.filter(({ errors }) => errors !== undefined);
  if (withErrors.length === 0) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([]);
  for (let which = 0; which < lines.length; which++) {
    const line = lines[which];
    if (!line?.errors || chart.series[which + 1]?.show === false) continue;
    const shift = (withErrors.indexOf(line) - (withErrors.length - 1) / 2) * ERROR_STEP * devicePixelRatio;
    ctx.strokeStyle = colour(line.colour);
    for (let i = 0; i < x.values.length; i++) {
      const [value, error] = [line.values[i], line.errors[i]];
      if (value === null || value === undefined || error === null || error === undefined) continue;
      const at = chart.valToPos(x.values[i] ?? 0, 'x', true) + shift;
      const [top, bottom] = [chart.valToPos(value + error, 'y', true), chart.valToPos(value - error, 'y', true)];
      const cap = 2 * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(at, top);
      ctx.lineTo(at, bottom);
      for (const end of [top, bottom]) {
        ctx.moveTo(at - cap, end);
        ctx.lineTo(at + cap, end);
      }
      ctx.stroke();
    }
  }
  ctx.restore();
}

function drawSpans(chart: UPlot, { x, lines }: Plot): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 4 * devicePixelRatio;
  ctx.globalAlpha = 0.45;
  ctx.setLineDash([]);
  for (const [which, { spans, colour: name }] of lines.entries()) {
    if (!spans || chart.series[which + 1]?.show === false) continue;
    ctx.strokeStyle = colour(name);
    for (const [i, span] of spans.entries()) {
      if (span === null) continue;
      const at = chart.valToPos(x.values[i] ?? 0, 'x', true);
      ctx.beginPath();
      ctx.moveTo(at, chart.valToPos(span[0], 'y', true));
      ctx.lineTo(at, chart.valToPos(span[1], 'y', true));
      ctx.stroke();
    }
  }
  ctx.restore();
}

function heightOf(place: HTMLElement, { lines }: Plot): number {
  const size = (['small', 'low'] as const).find(name => place.classList.contains(name)) ?? 'wide';
  const height = HEIGHT[size];
  return lines.some(({ style }) => style === 'dots') ? height + TURNED - 44 : height;
}

function colour(name: string): string {
  return getComputedStyle(root).getPropertyValue(`--${name}`).trim();
}

function isDecade(value: number): boolean {
  return Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6;
}

function clockTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

/** Formats a number for an axis, with M for millions from 10 million on. */
function axisNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e7) return `${Number((value / 1e6).toPrecision(5))}M`;
  if (size >= 1e3) return value.toLocaleString('en-US', { maximumFractionDigits: size >= 1e5 ? 0 : 2 });
  return String(Number(value.toPrecision(4)));
}
