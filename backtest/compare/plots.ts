/** Plots of a comparison: under each heading a small plot per recording, so that bots can be compared. */
import { rangeOf, type Line, type Plot } from '../../src/pages/index.ts';
import { COLOURS, secondsText, type PlotSection } from '../report/plots.ts';
import { mainModel, type ComparedModel, type ComparedRun, type ComparedTape, type Comparison } from './comparison.ts';

/** Comparison, with the captions that all plots share. */
type Drawn = {
  readonly tapes: readonly ComparedTape[];
  readonly bots: readonly string[];
  readonly tiers: readonly string[];
  /** Tier in the plots that show only one tier. */
  readonly tier: string;
  /**
   * Caption about the range of fill models; empty with only one model. `at` is the caption about the tier; empty with
   * only one tier.
   */
  readonly range: string;
  readonly at: string;
};

/** Returns the sections in page order. Plots of one tier use the first tier. A heading without plots is dropped. */
export function comparisonFigures(comparison: Comparison): readonly PlotSection[] {
  const tiers = tiersOf(comparison);
  const tier = tiers[0] ?? '';
  const drawn: Drawn = {
    tapes: comparison.tapes,
    bots: botsOf(comparison),
    tiers,
    tier,
    range: comparison.models.length > 1 ? ' The bar spans the fill models; the dot is the expected model.' : '',
    at: tiers.length > 1 ? `, at the tier ${tier}` : '',
  };
  return [...gainPlots(scored(drawn)), ...riskPlots(drawn), ...tradingPlots(drawn)].filter(
    ({ plots }) => plots.length > 0,
  );
}

const each = ({ tapes }: Drawn, make: (tape: ComparedTape, i: number) => Plot | null): readonly Plot[] =>
  tapes.flatMap((tape, i) => make(tape, i) ?? []);
/** Drops all runs of a recording if one of them is unscored. */
const scored = (drawn: Drawn): Drawn => ({
  ...drawn,
  tapes: drawn.tapes.map(tape => (tape.runs.some(({ unscored }) => unscored !== null) ? { ...tape, runs: [] } : tape)),
});

/** Returns a plot for each recording, with a dot per bot and tier. */
const byBot = (
  drawn: Drawn,
  id: string,
  label: (tape: ComparedTape) => string,
  value: (model: ComparedModel, tape: ComparedTape) => number,
  range?: readonly [number, number],
): readonly Plot[] =>
  each(drawn, (tape, i) =>
    dots({
      id: `${id}-${i}`,
      tape,
      label: label(tape),
      bots: drawn.bots,
      groups: drawn.tiers,
      value,
      ...(range === undefined ? {} : { range }),
    }),
  );

function gainPlots(drawn: Drawn): readonly PlotSection[] {
  const { bots, tier, range, at } = drawn;
  return [
    {
      heading: 'Net',
      how: `Net of each run after fees, with its final inventory valued at the mid price.${range} Compare bots only within a recording, because hours and market moves differ between recordings.`,
      plots: byBot(
        drawn,
        'net',
        ({ minor }) => minor,
        ({ pnl }) => Number(pnl.total),
      ),
    },
    {
      heading: 'Sources of the net',
      how: `Parts of the net under the expected model${at}: the edge of the fills against the mid price, the change in value of the inventory, and fees. A maker profits if the edge exceeds the fees and the loss of the inventory.`,
      plots: each(drawn, (tape, i) => parts(tape, i, bots, tier)),
    },
    {
      heading: 'Net over time',
      how: `Net over time under the expected model${at}. Lines jump together if the bots have the same inventory in the same trend; strategies differ in how fast their lines recover.`,
      plots: each(drawn, (tape, i) =>
        curves(tape, i, 'profit', tape.minor, bots, tier, (_, model) => model.curves.profit),
      ),
    },
  ];
}

/** Returns the plots of inventory and of prices after fills. */
function riskPlots(drawn: Drawn): readonly PlotSection[] {
  const { bots, tier, at } = drawn;
  return [
    {
      heading: 'Inventory',
      how: `Inventory in percent of its limit, under the expected model${at}. Time at the limit is a bet on the direction of the market.`,
      plots: each(drawn, (tape, i) =>
        curves(tape, i, 'held', '% of the limit', bots, tier, ({ positionMax }, model) =>
          model.curves.position.map(x => (x === null || positionMax === null ? null : (100 * x) / positionMax)),
        ),
      ),
    },
    {
      heading: 'Markouts',
      how: `Value of a fill in bps of its price, before fees, at several times after the fill, under the expected model${at}. Bars are one standard error. Fills with a value below the fee (dashed line) lost money.`,
      plots: each(drawn, (tape, i) => markouts(tape, i, bots, tier)),
    },
  ];
}

function tradingPlots(drawn: Drawn): readonly PlotSection[] {
  const { range } = drawn;
  return [
    {
      heading: 'Fills',
      how: `Executions per hour.${range} The optimistic model fills orders completely, so it can have fewer and larger executions.`,
      plots: byBot(
        drawn,
        'fills',
        () => 'fills per hour',
        ({ fills, seconds }) => (fills * 3600) / Math.max(1, seconds),
      ),
    },
    {
      heading: 'Fees',
      how: `Fees paid, in the quote currency.${range}`,
      plots: byBot(
        drawn,
        'fees',
        ({ minor }) => minor,
        ({ pnl }) => Math.abs(Number(pnl.fees)),
      ),
    },
    {
      heading: 'Uptime',
      how: `Share of time with both a bid and an ask at the exchange.${range} The tables below give the reasons for missing quotes.`,
      plots: byBot(
        drawn,
        'uptime',
        () => '%',
        ({ uptime }) => 100 * uptime.both,
        [0, 105],
      ),
    },
  ];
}

/** Returns the names of all bots that ran on any recording or were advised against quoting, in order of appearance. */
export const botsOf = ({ tapes }: Comparison): readonly string[] => [
  ...new Set(
    tapes.flatMap(({ runs }) =>
      runs.filter(({ models, declined }) => models.length > 0 || declined !== null).map(({ name }) => name),
    ),
  ),
];
/**
 * Returns the distinct names of the fee tiers of all runs, including runs that did not start, in order of appearance.
 */
export const tiersOf = ({ tapes }: Comparison): readonly string[] => [
  ...new Set(tapes.flatMap(({ runs }) => runs.map(({ tier }) => tier))),
];
/** Returns a bot's color on the page, from `model-0` to `model-7`, repeating. `name` must be one of `bots`. */
export const botColour = (bots: readonly string[], name: string): string => `model-${bots.indexOf(name) % COLOURS}`;

const TIER_COLOURS = ['model-0', 'model-1', 'model-2'];
/** Horizontal distance between the dots of one bot; the distance between two bots is 1. */
const BESIDE = 0.15;

type Dots = {
  readonly id: string;
  readonly tape: ComparedTape;
  readonly label: string;
  readonly bots: readonly string[];
  readonly groups: readonly string[];
  readonly value: (model: ComparedModel, tape: ComparedTape) => number;
  readonly range?: readonly [number, number];
};

/** Returns a plot with a dot per bot and tier; a bar behind the dot shows the range over the fill models. */
function dots({ id, tape, label, bots, groups, value, range }: Dots): Plot | null {
  if (!tape.runs.some(({ models }) => models.length > 0)) return null;
  const lines = groups.map((tier, g): Line => {
    const of = bots.map(bot => tape.runs.find(run => run.name === bot && run.tier === tier));
    const put = <T>(make: (run: ComparedRun | undefined) => T | null): (T | null)[] =>
      of.flatMap(run => groups.map((_, other) => (other === g ? make(run) : null)));
    return {
      label: tier,
      colour: TIER_COLOURS[g % TIER_COLOURS.length] ?? 'ink',
      style: 'dots',
      values: put(run => {
        const main = mainModel(run?.models ?? []);
        return main === null ? null : value(main, tape);
      }),
      spans: put(run => {
        const all = (run?.models ?? []).map(model => value(model, tape));
        return all.length < 2 ? null : ([Math.min(...all), Math.max(...all)] as const);
      }),
    };
  });
  const known = lines.flatMap(({ values, spans }) => [...values, ...(spans ?? []).flatMap(span => span ?? [])]);
  return {
    ...emptyPlot(id, tape, label),
    x: placesOf(bots, groups.length),
    y: { label, range: range ?? rangeOf([...known, 0]) },
    lines,
  };
}

const PARTS = ['spread', 'inventory', 'fees'] as const;

function parts(tape: ComparedTape, i: number, bots: readonly string[], tier: string): Plot | null {
  const models = bots.map(bot => mainModel(tape.runs.find(run => run.name === bot && run.tier === tier)?.models ?? []));
  if (models.every(model => model === null)) return null;
  const names = [...PARTS, 'total'] as const;
  const lines = names.map((part, g): Line => ({
    label: part === 'spread' ? 'spread captured' : part === 'total' ? 'net' : part,
    colour: part === 'total' ? 'ink' : part,
    style: 'dots',
    values: models.flatMap(model =>
      names.map((_, other) => (other === g && model !== null ? Number(model.pnl[part]) : null)),
    ),
  }));
  return {
    ...emptyPlot(`parts-${i}`, tape, tape.minor),
    x: placesOf(bots, names.length),
    y: { label: tape.minor, range: rangeOf([...lines.flatMap(({ values }) => values), 0]) },
    lines,
  };
}

function curves(
  tape: ComparedTape,
  i: number,
  id: string,
  label: string,
  bots: readonly string[],
  tier: string,
  values: (run: ComparedRun, model: ComparedModel) => readonly (number | null)[],
): Plot | null {
  const shown = mainRuns(tape, tier);
  const longest = shown.reduce<ComparedModel['curves'] | null>(
    (best, { model: { curves: of } }) => (best === null || of.profit.length > best.profit.length ? of : best),
    null,
  );
  if (longest === null) return null;
  const { fromMs, everyMs, profit } = longest;
  const lines = shown.map(({ run, model }): Line => ({
    label: run.name,
    colour: botColour(bots, run.name),
    style: 'line',
    values: profit.map((_, at) => values(run, model)[at] ?? null),
  }));
  return {
    ...emptyPlot(`${id}-${i}`, tape, label),
    x: { kind: 'time', values: profit.map((_, at) => fromMs + at * everyMs), label: '' },
    y: { label, range: rangeOf([...lines.flatMap(line => line.values), 0]) },
    lines,
    group: `tape-${i}`,
  };
}

function markouts(tape: ComparedTape, i: number, bots: readonly string[], tier: string): Plot | null {
  const shown = mainRuns(tape, tier).filter(({ model }) => model.fills > 0);
  const [first] = shown;
  if (first === undefined) return null;
  const { seconds } = first.model.markouts;
  const fee = first.run.feeBps;
  const lines = shown.map(({ run, model: { markouts: of } }): Line => ({
    label: run.name,
    colour: botColour(bots, run.name),
    style: 'line',
    values: of.bps,
    errors: of.errorBps,
    dots: true,
  }));
  return {
    ...emptyPlot(`markouts-${i}`, tape, 'bps'),
    x: { kind: 'names', values: seconds.map((_, at) => at), names: seconds.map(secondsText), label: 'after the fill' },
    y: { label: 'bps', range: rangeOf([...lines.flatMap(({ values }) => values), fee, 0]) },
    lines: [...lines, { label: 'fee', colour: 'fees', style: 'dashed', values: seconds.map(() => fee) }],
  };
}

const mainRuns = (tape: ComparedTape, tier: string) =>
  tape.runs.flatMap(run => {
    const model = run.tier === tier ? mainModel(run.models) : null;
    return model === null ? [] : [{ run, model }];
  });

/** Maximum length of a name in a plot, in characters. */
const NAME_MAX = 11;
const shortened = (name: string): string => (name.length <= NAME_MAX ? name : `${name.slice(0, NAME_MAX - 1)}…`);

/** Returns the horizontal positions of the values of each bot, centered around its name. */
function placesOf(names: readonly string[], beside: number): Plot['x'] {
  const values = names.flatMap((_, at) =>
    Array.from({ length: beside }, (__, g) => at + (g - (beside - 1) / 2) * BESIDE),
  );
  return { kind: 'names', values, names: names.map(shortened), label: 'bot' };
}

const emptyPlot = (id: string, tape: ComparedTape, label: string): Omit<Plot, 'x' | 'lines'> => ({
  id,
  title: tape.name,
  y: { label, range: null },
  shades: [],
  group: null,
});
