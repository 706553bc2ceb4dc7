/** Plots of a report, each with a sentence on how to read it. */
import { textInSeconds } from '../../src/core/index.ts';
import { rangeOf, sumText, type Line, type Plot } from '../../src/pages/index.ts';
import { mainOf, shownModels, type ShownModel } from './mainModel.ts';
import type { BacktestReport, ReplayReport } from './report.ts';
import type { SeriesColumn } from './series.ts';

/** Group of plots, which determines the position of a section on the page. */
export type PlotGroup = 'first' | 'latency' | 'profit' | 'inventory' | 'fills' | 'quotes';
/** Section under one heading: its plots, and in `how` a sentence on how to read them. */
export type PlotSection = { readonly heading: string; readonly how: string; readonly plots: readonly Plot[] };
type Placed = PlotSection & { readonly group: PlotGroup };

/** Report in which models with equal results are merged. */
type Shown = Omit<BacktestReport, 'models'> & { readonly models: readonly ShownModel[] };

/** Number of model colors on the page; models beyond that number reuse the colors. */
export const COLOURS = 8;
const TIME = 'time';
const LEVELS_SHOWN = 6;

/**
 * Returns the sections in page order. Sections without a plot are dropped. Without fills, the sections about markouts,
 * fill ratios and waits are dropped too.
 */
export function figuresOf(whole: BacktestReport): readonly Placed[] {
  const report = { ...whole, models: shownModels(whole.models) };
  const traded = report.models.some(({ fills }) => fills > 0);
  return [
    equity(report),
    latency(report),
    parts(report),
    fillPrices(report),
    position(report),
    positionBars(report),
    // Markouts, fill ratios and waits need fills.
    ...(traded ? [markoutsBySide(report), markoutsByLevel(report), fillRatios(report), waits(report)] : []),
    uptime(report),
    spreads(report),
    requests(report),
  ].filter(({ plots }) => plots.length > 0);
}

function equity(report: Shown): Placed {
  const plot = overTime(report, 'profit', 'Equity', report.minor, column('profit'));
  const main = mainOf(report.models);
  const held = main === null ? null : holdLine(main, report.major, plot.x.values.length);
  const lines = held === null ? plot.lines : [...plot.lines, held];
  return {
    group: 'first',
    heading: 'Equity and drawdown',
    how: `Upper plot: profit since the start in ${report.minor}, after fees, under each fill model. The dashed line is the gain from buying and holding the largest position of the bot. Lower plot: fall of the profit from its last peak. Gray areas are gaps of the recording.`,
    plots: [
      { ...plot, lines, y: isFlat(lines.flatMap(({ values }) => values)) ? plot.y : { ...plot.y, range: null } },
      overTime(report, 'drawdown', 'Drawdown', report.minor, model =>
        column('drawdown')(model).map(fall => (fall === null ? null : 0 - fall)),
      ),
    ],
  };
}

/**
 * Returns the plot line of the gain from holding the inventory instead of trading; `null` for a run without a position
 * or without a known mid price.
 */
function holdLine({ hold, series }: ReplayReport, major: string, length: number): Line | null {
  const { middle } = series.columns;
  const first = middle.find(value => value !== null);
  if (first === undefined || !(hold.amount > 0)) return null;
  return {
    label: `holding ${sumText(hold.amount, major)} ${major}`,
    colour: 'soft',
    style: 'dashed',
    values: padded(
      middle.map(value => (value === null || value === undefined ? null : hold.amount * (value - first))),
      length,
    ),
  };
}

function latency({ latencySweep = [], minor }: Shown): Placed {
  const values = latencySweep.map((_, i) => i);
  return {
    group: 'latency',
    heading: 'Effect of latency on the net',
    how: `The ${latencySweep[0]?.model ?? ''} run was repeated with each request latency on the x axis (each way). The solid line is the net. The dashed line is the net with each fill valued at the mid price 60 s later. A falling line means that the strategy depends on speed; a jumping line shows how much of the result is chance.`,
    plots:
      latencySweep.length === 0
        ? []
        : [
            {
              id: 'latency',
              title: 'Effect of latency on the net',
              x: { kind: 'names', values, names: latencySweep.map(({ latencyMs }) => String(latencyMs)), label: 'ms' },
              y: { label: minor, range: null },
              lines: [
                {
                  ...{ label: 'net', colour: 'model-1', style: 'line', dots: true },
                  values: latencySweep.map(({ pnl }) => Number(pnl.total)),
                },
                {
                  ...{
                    label: 'net, fills valued at the mid price 60 s later',
                    colour: 'model-0',
                    style: 'dashed',
                    dots: true,
                  },
                  values: latencySweep.map(({ net60s }) => net60s?.total ?? null),
                },
              ],
              shades: [],
              group: null,
            },
          ],
  };
}

function parts(report: Shown): Placed {
  const { minor } = report;
  const names = [
    ['spread', 'spread captured', 'line'],
    ['inventory', 'inventory', 'line'],
    ['fees', 'fees', 'line'],
    ['hedging', 'hedging', 'dashed'],
    ['profit', 'total', 'line'],
  ] as const;
  const range = rangeOf(report.models.flatMap(model => names.flatMap(([name]) => model.series.columns[name])));
  return {
    group: 'profit',
    heading: 'Sources of the profit',
    how: 'Parts of the profit, which add up exactly at every fill: spread captured against the mid price, change in value of the inventory, fees, and hedging. A healthy maker captures more spread than it pays in fees, and its inventory part stays near zero.',
    plots: report.models.map((model, i) => ({
      ...timePlot(report, `parts-${i}`, model.label, minor),
      x: timesOf(model),
      y: { label: minor, range },
      lines: names.map(([name, label, style]) => ({
        label,
        colour: name === 'profit' ? 'ink' : name,
        style,
        values: model.series.columns[name],
      })),
    })),
  };
}

function fillPrices(report: Shown): Placed {
  const main = mainOf(report.models);
  if (main === null) return { group: 'profit', heading: '', how: '', plots: [] };
  const { columns } = main.series;
  return {
    group: 'profit',
    heading: 'Price and fills',
    how: `The mid price, and the mean price of buys (blue triangles that point up) and sells (orange triangles that point down) per ${stretchText(main)} in the ${main.model} run. Buys above and sells below the later mid price are fills against informed traders.`,
    plots: [
      {
        ...timePlot(report, 'prices', 'Price and fills', report.minor),
        x: timesOf(main),
        lines: [
          { label: 'mid price', colour: 'soft', style: 'line', values: columns.middle },
          { label: 'bought at', colour: 'buy', style: 'up', values: columns.boughtAt },
          { label: 'sold at', colour: 'sell', style: 'down', values: columns.soldAt },
        ],
      },
    ],
  };
}

function position(report: Shown): Placed {
  return {
    group: 'inventory',
    heading: 'Inventory over time',
    how: `Inventory in ${report.major}, which is the balance minus its target. A healthy inventory returns to zero repeatedly; a long time above or below zero is a bet on the direction of the market.`,
    plots: [overTime(report, 'position', 'Inventory', report.major, column('position'))],
  };
}

function positionBars(report: Shown): Placed {
  const width = Math.max(...report.models.map(model => model.position.width));
  const bars = report.models.map(({ position: { values, seconds } }) => inBars(values, seconds, width));
  const shares = bars.map(({ seconds }, i) => {
    const all = report.models[i]!.seconds;
    return seconds.map(time => (all > 0 ? (time / all) * 100 : 0));
  });
  const range: readonly [number, number] = [0, Math.max(1, ...shares.flat()) * 1.05];
  return {
    group: 'inventory',
    heading: 'Time by inventory',
    how: `Share of time at each inventory (${report.major} above or below the target). A tall bar at zero means little inventory; tall bars at either end mean time at the limit.`,
    plots: report.models.map((model, i) => ({
      ...timePlot(report, `held-${i}`, model.label, '% of the time'),
      x: { kind: 'number', values: bars[i]!.values, label: report.major },
      y: { label: '% of the time', range },
      lines: [{ label: '% of the time', colour: colourOf(i), style: 'bars', values: shares[i]! }],
      shades: [],
      group: null,
    })),
  };
}

/**
 * Converts the time by position into bars of `width`, which is the largest bar width of all models. The bar widths of
 * the models differ by factors of 3, so narrower bars merge into whole bars of `width`.
 */
function inBars(
  values: readonly number[],
  seconds: readonly number[],
  width: number,
): { readonly values: readonly number[]; readonly seconds: readonly number[] } {
  const places = values.map(value => Math.round(value / width));
  const [first, last] = [places[0] ?? 0, places.at(-1) ?? 0];
  const times = Array.from({ length: last - first + 1 }, () => 0);
  places.forEach((place, i) => (times[place - first]! += seconds[i] ?? 0));
  return { values: times.map((_, i) => (first + i) * width), seconds: times };
}

function markoutsBySide(report: Shown): Placed {
  const curves = report.models.map(({ markouts }) =>
    markouts.filter(({ side, level }) => side !== null && level === null),
  );
  return {
    group: 'fills',
    heading: 'Markouts by side',
    how: 'Value of a fill in bps of its price, before fees, at several times after the fill. The value at 0 s is the edge over the mid price just before the fill. Fills with a value below the fee (dashed line) lost money. Bars are one standard error, clustered by time.',
    plots: report.models.map((model, i) =>
      markoutPlot(report, `markouts-${i}`, model, curves[i]!, curves, ({ side }) => [
        side === 'buy' ? 'bought' : 'sold',
        side ?? 'soft',
      ]),
    ),
  };
}

function markoutsByLevel(report: Shown): Placed {
  const curves = report.models.map(({ markouts }) =>
    markouts.filter(({ level }) => level !== null && level <= LEVELS_SHOWN),
  );
  const sides = ['buy', 'sell'] as const;
  return {
    group: 'fills',
    heading: 'Markouts by side and level',
    how: 'Markouts by level; level 1 is closest to the mid price. Outer levels fill when the market passes the inner levels. Fills of outer levels start with more edge, and a good strategy keeps this edge.',
    plots: sides.flatMap(side =>
      report.models.map((model, i) =>
        markoutPlot(
          report,
          `markouts-${side}-${i}`,
          model,
          curves[i]!.filter(curve => curve.side === side),
          curves,
          ({ level }) => [`level ${level ?? 0}`, `level-${level ?? 1}`],
          `, ${side === 'buy' ? 'bought' : 'sold'}`,
        ),
      ),
    ),
  };
}

type Curve = ReplayReport['markouts'][number];

function markoutPlot(
  report: Shown,
  id: string,
  model: ShownModel,
  curves: readonly Curve[],
  all: readonly (readonly Curve[])[],
  look: (curve: Curve) => readonly [label: string, colour: string],
  titleEnd = '',
): Plot {
  const seconds = model.markouts[0]?.seconds ?? [];
  const ends = all
    .flat()
    .flatMap(({ bps, errorBps }) =>
      bps.flatMap((x, i) => (x === null ? [] : [x - (errorBps[i] ?? 0), x + (errorBps[i] ?? 0)])),
    );
  const fees = report.models.map(({ feesBps }) => feesBps);
  return {
    ...timePlot(report, id, `${model.label}${titleEnd}`, 'bps'),
    x: {
      kind: 'names',
      values: seconds.map((_, i) => i),
      names: seconds.map(secondsText),
      label: 'after the fill',
    },
    y: { label: 'bps', range: rangeOf([...ends, ...fees, 0]) },
    lines: [
      ...curves.map((curve): Line => {
        const [label, colour] = look(curve);
        return { label, colour, style: 'line', values: curve.bps, errors: curve.errorBps, dots: true };
      }),
      { label: 'fee', colour: 'fees', style: 'dashed', values: seconds.map(() => model.feesBps) },
    ],
    shades: [],
    group: null,
  };
}

function fillRatios(report: Shown): Placed {
  const places = new Map<string, { readonly side: string; readonly level: number }>();
  for (const { levels } of report.models)
    for (const { side, level } of levels) places.set(`${side} ${level}`, { side, level });
  const sorted = [...places].sort(([, a], [, b]) => a.side.localeCompare(b.side) || a.level - b.level);
  const names = sorted.map(([name]) => name);
  const ratios = report.models.map(({ levels }) =>
    names.map(name => {
      const found = levels.find(({ side, level }) => `${side} ${level}` === name);
      return found === undefined ? null : found.fillRatio * 100;
    }),
  );
  const range = [0, Math.max(1, ...ratios.flat().map(ratio => ratio ?? 0)) * 1.05] as const;
  return {
    group: 'fills',
    heading: 'Fill ratio',
    how: 'Share of resting orders with at least one execution, by side and level. One side far above the other means skewed quotes or a trending market.',
    plots: report.models.map((model, i) => ({
      ...timePlot(report, `ratios-${i}`, model.label, '% of orders'),
      x: { kind: 'names', values: names.map((_, place) => place), names, label: 'side and level' },
      y: { label: '% of orders', range },
      lines: [{ label: '% of orders', colour: colourOf(i), style: 'bars', values: ratios[i] ?? [] }],
      shades: [],
      group: null,
    })),
  };
}

function waits(report: Shown): Placed {
  const xs = [...new Set(report.models.flatMap(({ waits: { seconds } }) => seconds))].sort((a, b) => a - b);
  return {
    group: 'fills',
    heading: 'Time in the queue',
    how: 'Share of filled orders whose time in the queue, before their first execution, was at most the time on the x axis. The longer the queue time, the more a reprice costs, because the new order joins the end of the queue.',
    plots: [
      {
        ...timePlot(report, 'waits', 'Time in the queue', '% of filled orders'),
        x: { kind: 'log', values: xs, label: 'seconds' },
        y: { label: '% of filled orders', range: [0, 102] },
        lines: report.models.map((model, i) => ({
          label: model.label,
          colour: colourOf(i),
          style: 'line',
          width: widthOf(i, report.models.length),
          values: shareUpTo(model, xs),
        })),
        shades: [],
        group: null,
      },
    ],
  };
}

/** Returns the share of fills, in percent, that waited at most x seconds, for each x in `xs`. */
function shareUpTo({ waits: { seconds, share } }: ReplayReport, xs: readonly number[]): (number | null)[] {
  let i = -1;
  return xs.map(x => {
    while (i + 1 < seconds.length && seconds[i + 1]! <= x) i++;
    return seconds.length === 0 ? null : i < 0 ? 0 : share[i]! * 100;
  });
}

function uptime(report: Shown): Placed {
  const range = [0, 105] as const;
  return {
    group: 'quotes',
    heading: 'Quote uptime',
    how: 'Share of time with a resting bid, and with a resting ask, at the exchange. Below 100%, the side had no order for part of the time, for example because of stale data, limits, or a used-up request budget. The line breaks while the market is closed.',
    plots: report.models.map((model, i) => ({
      ...timePlot(report, `uptime-${i}`, model.label, '%'),
      x: timesOf(model),
      y: { label: '%', range },
      lines: (['bid', 'ask'] as const).map(side => ({
        label: side,
        colour: side === 'bid' ? 'buy' : 'sell',
        style: 'line',
        width: side === 'bid' ? 3.5 : 1.25,
        values: model.series.columns[`${side}Share`].map(share => (share === null ? null : share * 100)),
      })),
    })),
  };
}

function spreads(report: Shown): Placed {
  const first = report.models[0];
  if (first === undefined) return { group: 'quotes', heading: '', how: '', plots: [] };
  const plot = overTime(report, 'spreads', 'Spread', 'bps', column('oursBps'));
  return {
    group: 'quotes',
    heading: 'Spread of the bot and of the market',
    how: "Best ask minus best bid in bps, mean per interval, for the market without the bot's orders and for the bot's resting orders. A bot's spread below the market's spread improves the market. With a spread far above the market's, the bot's quotes fill only on adverse moves.",
    plots: [
      {
        ...plot,
        lines: [
          { label: 'market', colour: 'soft', style: 'line', values: first.series.columns.marketBps },
          ...plot.lines.map(line => ({ ...line, label: `bot, ${line.label}` })),
        ],
      },
    ],
  };
}

function requests(report: Shown): Placed {
  const plot = overTime(report, 'requests', 'Requests', 'requests in 60 s', column('requests'));
  const allowed = report.models[0]?.requests.allowedPerMinute ?? 0;
  const most = Math.max(allowed, ...report.models.map(model => model.requests.mostPerMinute));
  return {
    group: 'quotes',
    heading: 'Requests against the budget',
    how: 'Highest number of private requests within 60 s, per interval of the plot. The dashed line is the limit of the exchange, from which cancels are exempt. At the limit, placements wait and quotes become stale.',
    plots: [
      {
        ...plot,
        y: { label: 'requests in 60 s', range: [0, most * 1.1] },
        lines: [
          ...plot.lines,
          { label: 'limit', colour: 'fees', style: 'dashed', values: plot.x.values.map(() => allowed) },
        ],
      },
    ],
  };
}

const column =
  (name: SeriesColumn) =>
  ({ series }: ReplayReport): readonly (number | null)[] =>
    series.columns[name];

/** Plots one line per model. All models have the same tape and the same period. */
function overTime(
  report: Shown,
  id: string,
  title: string,
  unit: string,
  values: (model: ReplayReport) => readonly (number | null)[],
): Plot {
  const longest = report.models.reduce<ReplayReport | null>(
    (best, model) => (best === null || lengthOf(model) > lengthOf(best) ? model : best),
    null,
  );
  return {
    ...timePlot(report, id, title, unit),
    x: longest === null ? { kind: 'time', values: [], label: 'UTC' } : timesOf(longest),
    y: { label: unit, range: isFlat(report.models.flatMap(values)) ? [-1, 1] : null },
    lines: report.models.map((model, i) => ({
      label: model.label,
      colour: colourOf(i),
      style: 'line',
      width: widthOf(i, report.models.length),
      values: padded(values(model), longest === null ? 0 : lengthOf(longest)),
    })),
  };
}

function timePlot({ tape: { gaps } }: Shown, id: string, title: string, label: string): Omit<Plot, 'x' | 'lines'> {
  return { id, title, y: { label, range: null }, shades: gaps.map(({ from, to }) => [from, to] as const), group: TIME };
}

function timesOf(model: ReplayReport): Plot['x'] {
  const { fromMs, everyMs } = model.series;
  return { kind: 'time', values: Array.from({ length: lengthOf(model) }, (_, i) => fromMs + i * everyMs), label: '' };
}

const lengthOf = ({ series }: ReplayReport): number => series.columns.profit.length;
const padded = (values: readonly (number | null)[], length: number): readonly (number | null)[] =>
  values.length >= length ? values : [...values, ...Array.from({ length: length - values.length }, () => null)];

/** Returns the width of a model's line. Later lines are thinner, so that overlapping lines stay visible. */
const widthOf = (model: number, models: number): number => 1.25 + 1.25 * (models - 1 - model);
/** Returns a color of the page by the model's index, from `model-0` to `model-7`, repeating. */
export const colourOf = (model: number): string => `model-${model % COLOURS}`;
/** Formats seconds exactly: `5 s` below a minute, otherwise `1.5 min`. */
export const secondsText = (s: number): string => (s < 60 ? `${s} s` : `${s / 60} min`);
const stretchText = ({ series: { everyMs } }: ReplayReport): string =>
  everyMs < 120_000 ? textInSeconds(everyMs) : `${Math.round(everyMs / 6000) / 10} min`;

/**
 * Whether all values are zero. The plot then needs a given range, because the library would otherwise draw the line at
 * the edge of a range from 0 to 100.
 */
const isFlat = (values: readonly (number | null)[]): boolean => values.every(value => value === null || value === 0);
