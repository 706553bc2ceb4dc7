/** The figures of docs/development/evidence/comparison.md: what its JSON keeps of a comparison, and its tables. `npm run compare:docs` makes both. */
import type { CompareOptions } from '../../backtest/app/compare/compare.ts';
import { latenciesOf, latencyText } from '../../backtest/app/backtest/latencyFlags.ts';
import { togetherOf } from '../../backtest/compare/combinedResults.ts';
import type { ComparedModel, ComparedTape, ComparedVerdict, Comparison } from '../../backtest/index.ts';

const LATENCY = { latencyMs: '25', feedLatencyMs: '0' };
/** How it is made. */
export const COMPARED: Omit<CompareOptions, 'paths' | 'threads' | 'version' | 'progress'> = {
  ...{ configs: [], tiers: ['own', 'best'], models: ['expected'], starts: 4, anyway: true },
  ...{ riskPerHour: '10', calibratedShare: 1 / 3, seed: 1 },
  ...{ latencies: latenciesOf(LATENCY), latencyText: latencyText(LATENCY) },
};

/** A value, and 95 % around it where it is known. */
export type Around = readonly [value: number, low: number | null, high: number | null];

/** Money in the minor currency, four digits of everything. */
export type ComparisonFigures = {
  readonly models: readonly string[];
  readonly riskPerHour: string | null;
  readonly tapes: readonly TapeFigures[];
  /** `anyway`: what was not to be quoted counts as what it brought all the same, where it was run. */
  readonly together: readonly {
    readonly bot: string;
    readonly tier: string;
    readonly of: string;
    readonly runs: number;
    readonly declined: number;
    readonly net: Around;
    readonly after60: Around;
    readonly anyway: Around | null;
    readonly anyway60: Around | null;
  }[];
};

export type TapeFigures = {
  readonly name: string;
  readonly minor: string;
  readonly from: string;
  readonly seconds: number;
  readonly volatilityBps: number | null;
  readonly orderValue: number | null;
  /** At the best fee and at the entry fee. */
  readonly verdicts: readonly VerdictFigures[];
  readonly runs: readonly RunFigures[];
};

type VerdictFigures = Pick<
  ComparedVerdict,
  'feeBps' | 'quote' | 'why' | 'distanceBps' | 'breakEvenFeeBps' | 'right'
> & {
  readonly net: Around | null;
  readonly rest: Around | null;
  readonly restFills: number | null;
};

type RunFigures = {
  readonly bot: string;
  readonly tier: string;
  readonly feeBps: number;
  readonly declined: boolean;
  readonly notRun: boolean;
  readonly unscored: boolean;
  readonly hash: string | null;
  readonly net: Around | null;
  readonly after60: Around | null;
  readonly starts: readonly [low: number, high: number] | null;
  readonly lessFirst: Around | null;
  readonly parts: readonly [spread: number, inventory: number, fees: number] | null;
  readonly fills: number;
  /** Mean over fills by value, in bps before fees, `MARKOUT_S` after them; null of fewer than ten. */
  readonly markouts: readonly (readonly [bps: number | null, error: number | null])[] | null;
};

const MARKOUT_S = [0, 0.5, 1, 5, 15, 60, 300];
const MARKOUT_FILLS = 10;

const four = (x: number): number => Number(x.toPrecision(4)) + 0;
/** Four digits of each. */
export const around = (value: number, of: { readonly low: number; readonly high: number } | null): Around => [
  four(value),
  of === null ? null : four(of.low),
  of === null ? null : four(of.high),
];

/** Recordings of this page before 2026-11-23. */
const SEVEN = /^(binance-spot (btc|eth)_usdt|bitstamp|gemini|hyperliquid|standx)/;

/** What the page shows, and no more. */
export function figuresOfComparison(comparison: Comparison): ComparisonFigures {
  const { tapes, models, riskPerHour } = comparison;
  const bots = [...new Set(tapes.flatMap(({ runs }) => runs.map(({ name }) => name)))];
  const tiers = [...new Set(tapes.flatMap(({ runs }) => runs.map(({ tier }) => tier)))];
  const groups = [
    ['the seven', tapes.filter(({ name }) => SEVEN.test(name))],
    ['all', tapes],
  ] as const;
  const together = tiers.flatMap(tier =>
    bots.flatMap(bot =>
      groups.flatMap(([of, some]) => {
        const sum = (anyway: boolean) => togetherOf({ ...comparison, tapes: some }, bot, tier, anyway);
        const [said, all] = [sum(false), sum(true)];
        if (said === null) return [];
        return {
          ...{ bot, tier, of, runs: said.runs, declined: said.declined },
          net: around(said.net, said.netInterval),
          after60: around(said.after60, said.after60Interval),
          anyway: all && around(all.net, all.netInterval),
          anyway60: all && around(all.after60, all.after60Interval),
        };
      }),
    ),
  );
  return { models, riskPerHour, tapes: tapes.map(tapeFigures), together };
}

/** Of one recording alone. */
export const tapeFigures = ({ name, minor, from, seconds, measured, verdicts, runs }: ComparedTape): TapeFigures => ({
  ...{ name, minor, from: from.slice(0, 16), seconds: Math.round(seconds) },
  volatilityBps: measured?.volatilityBps ? four(measured.volatilityBps.value) : null,
  orderValue: measured?.orderValue ? four(measured.orderValue) : null,
  verdicts: [verdicts[0], verdicts.at(-1)].flatMap(verdict => {
    if (verdict === undefined) return [];
    const { feeBps, quote, why, distanceBps, breakEvenFeeBps, right, netPerHour, rest } = verdict;
    return {
      ...{ feeBps, quote, why, distanceBps, breakEvenFeeBps, right },
      net: netPerHour && around(netPerHour.value, netPerHour),
      rest: rest && around(rest.value, rest),
      restFills: rest && rest.fills,
    };
  }),
  runs: runs.map((run): RunFigures => {
    const main = run.models.find(({ model }) => model === 'expected') ?? run.models[0];
    const nets = run.staggered.map(({ net }) => Number(net));
    return {
      ...{ bot: run.name, tier: run.tier, feeBps: run.feeBps, hash: main?.hash.slice(0, 12) ?? null },
      ...{ declined: run.declined !== null, notRun: run.notRun !== null, unscored: run.unscored !== null },
      net: main ? around(Number(main.pnl.total), main.netInterval) : null,
      after60: main?.net60s ? around(main.net60s.total, main.net60s.interval) : null,
      starts: nets.length === 0 ? null : [four(Math.min(...nets)), four(Math.max(...nets))],
      lessFirst: run.againstFirst && around(run.againstFirst.value, run.againstFirst.interval),
      parts: main
        ? [four(Number(main.pnl.spread)), four(Number(main.pnl.inventory)), four(Number(main.pnl.fees))]
        : null,
      fills: main?.fills ?? 0,
      markouts: main === undefined || main.fills < MARKOUT_FILLS ? null : markoutsOf(main),
    };
  }),
});

const markoutsOf = ({ markouts }: ComparedModel): NonNullable<RunFigures['markouts']> =>
  MARKOUT_S.map(seconds => {
    const at = markouts.seconds.indexOf(seconds);
    const [bps, error] = [markouts.bps[at] ?? null, markouts.errorBps[at] ?? null];
    return [bps === null ? null : four(bps), error === null ? null : four(error)];
  });

/** Names of the tables, each between `<!-- NAME -->` and `<!-- end NAME -->` on the page, and their Markdown before formatting. */
export function comparisonTables(figures: ComparisonFigures): Readonly<Record<string, string>> {
  return {
    said: saidText(figures),
    together: togetherTable(figures),
    verdicts: verdictTable(figures),
    left: leftTable(figures),
    runs: runTable(figures),
  };
}

/** The page with its tables put in. Throws where a mark is missing. */
export function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  let text = page;
  for (const [name, markdown] of Object.entries(tables)) {
    const [from, to] = [`<!-- ${name} -->`, `<!-- end ${name} -->`];
    const [start, end] = [text.indexOf(from), text.indexOf(to)];
    if (!(start >= 0 && end > start)) throw new Error(`expected ${from} and ${to}`);
    text = `${text.slice(0, start)}${from}\n\n${markdown.trim()}\n\n${text.slice(end)}`;
  }
  return text;
}

type Says = 'confirms it' | 'leaves it open' | 'contradicts it' | 'not known';

/** What the rest of a recording says of a verdict: open where its interval holds zero, not known where it has too few fills. */
function saysOf({ quote, rest, right }: VerdictFigures): Says {
  if (right === null || rest === null) return 'not known';
  if (!right) return 'contradicts it';
  const [, low, high] = rest;
  return (quote ? (low ?? 0) > 0 : (high ?? 0) < 0) ? 'confirms it' : 'leaves it open';
}

/** The headline, in sentences. */
const saidText = (figures: ComparisonFigures): string =>
  [laddersText(figures), ...verdictTexts(figures), leftText(figures), moneyText(figures)].join('\n');

function laddersText({ together }: ComparisonFigures): string {
  const sums = ['own', 'best'].flatMap(tier => {
    const sum = together.find(one => one.of === 'the seven' && one.bot === 'ladder' && one.tier === tier);
    if (sum === undefined) return [];
    const quoted = sum.runs - sum.declined;
    const asSaid = quoted === 0 ? 'none is quoted' : `${quoted} of ${sum.runs} quoted, ${sumText(sum.net)}`;
    const anyway = `if all run ${sumText(sum.anyway)}, marked after 60 s ${sumText(sum.anyway60)}`;
    return [`at the ${tier} tier ${asSaid}; ${anyway}`];
  });
  return `- **The seven ladders together**: ${sums.join('; ')}.`;
}

function verdictTexts({ tapes }: ComparisonFigures): readonly string[] {
  const first = tapes.flatMap(({ name, verdicts: [of] }) => (of ? [{ name, of, says: saysOf(of) }] : []));
  const judged = first.filter(({ says }) => says !== 'not known').length;
  const text = (quote: boolean): string => {
    const some = first.filter(({ of }) => of.quote === quote);
    const says = (['confirms it', 'leaves it open', 'contradicts it', 'not known'] as const).flatMap(one => {
      const found = some.filter(({ says: its }) => its === one);
      const named = found.map(({ name, of }) => (one === 'contradicts it' ? `${name}: ${sumText(of.rest)}` : name));
      return found.length === 0
        ? []
        : [`${one === 'not known' ? one : `the rest ${one}`}: ${found.length} (${named.join(', ')})`];
    });
    return `- **${quote ? 'Quote' : 'Do not quote'}**, at the best fee: ${[`${some.length} of ${first.length}`, ...says].join('; ')}.`;
  };
  const atLeastOne = Math.round(100 * (1 - 0.95 ** judged));
  return [
    text(false),
    text(true),
    `- **By chance** 1 verdict of 20 is contradicted, of these ${judged} about ${(judged / 20).toFixed(1)}, and one or more in ${atLeastOne} of 100 such sets.`,
  ];
}

/** Of the ladders in `leftTable`. */
function leftText({ tapes }: ComparisonFigures): string {
  const rows = tapes.flatMap(leftRuns).map(({ feeBps, markouts }) => ({
    kept: (100 * after(markouts, 1)) / after(markouts, 0),
    isLost: after(markouts, 5) < feeBps,
  }));
  const kept = rows.map(({ kept: share }) => Math.round(share)).sort((a, b) => a - b);
  const lost = rows.filter(({ isLost }) => isLost).length;
  return `- **The edge goes within seconds**: of what a ladder's fills had, between ${kept[0]} and ${kept.at(-1)} % is left after 1 s; after 5 s it is less than the fee in ${lost} of ${rows.length} rows [below](#what-is-left-of-the-edge).`;
}

function moneyText({ tapes }: ComparisonFigures): string {
  const all = tapes.flatMap(({ name, runs }) =>
    runs.flatMap(({ bot, feeBps, net, unscored, hash, fills }) => {
      const [, low, high] = net ?? [0, null, null];
      if (low === null || high === null || unscored || fills === 0) return [];
      return [{ hash, text: `${bot} on ${name} at ${feeBps} bps`, low, high }];
    }),
  );
  const different = all.filter(({ hash }, i) => all.findIndex(one => one.hash === hash) === i);
  const list = (of: typeof all): string => (of.length === 0 ? 'none' : of.map(({ text }) => text).join(', '));
  const [made, lost] = [different.filter(({ low }) => low > 0), different.filter(({ high }) => high < 0)];
  const chance = (different.length / 40).toFixed(1);
  return `- **Made money**: ${list(made)}. **Lost money**: ${list(lost)}. Chance alone gives ${chance} of each among ${different.length} runs with fills and an interval, were they independent; quoted or not, they are counted here.`;
}

function togetherTable({ together }: ComparisonFigures): string {
  return table(
    ['bot, fee tier', 'recordings', 'not quoted', 'net', 'marked after 60 s', 'all run: net', 'all run: after 60 s'],
    together.map(({ bot, tier, of, runs, declined, net, after60, anyway, anyway60 }) => [
      `${bot}, ${tier}`,
      `${of}: ${runs}`,
      String(declined),
      ...[net, after60, anyway, anyway60].map(sumText),
    ]),
  );
}

function verdictTable({ tapes }: ComparisonFigures): string {
  return table(
    [
      'recording',
      'fee, bps',
      'verdict',
      'distance, bps',
      'net per hour',
      'pays up to',
      'in the rest, an hour',
      'fills',
      'the rest',
    ],
    tapes.flatMap(({ name, minor, verdicts }) =>
      verdicts
        .slice(0, 1)
        .map(of => [
          `${name} (${minor})`,
          String(of.feeBps),
          of.quote ? '**quote**' : `do not: ${of.why ?? ''}`,
          of.distanceBps === null ? '–' : String(of.distanceBps),
          sumText(of.net),
          of.breakEvenFeeBps === null ? '–' : String(of.breakEvenFeeBps),
          sumText(of.rest),
          of.restFills === null ? '–' : String(of.restFills),
          saysOf(of),
        ]),
    ),
  );
}

/** Runs with markouts of the first bot, which is the ladder; the same fee at two tiers is the same run. */
const leftRuns = ({ name, runs }: TapeFigures) =>
  runs
    .filter(({ bot, unscored }) => bot === runs[0]?.bot && !unscored)
    .filter(({ hash }, i, all) => all.findIndex(one => one.hash === hash) === i)
    .flatMap(({ feeBps, fills, markouts }) => (markouts === null ? [] : [{ name, feeBps, fills, markouts }]));

const after = (markouts: NonNullable<RunFigures['markouts']>, seconds: number): number =>
  markouts[MARKOUT_S.indexOf(seconds)]?.[0] ?? Number.NaN;

function leftTable({ tapes }: ComparisonFigures): string {
  const text = (x: number | null): string => (x === null ? '–' : (Number(x.toFixed(1)) + 0).toFixed(1));
  return table(
    ['recording', 'fee, bps', 'fills', 'at the fill', ...MARKOUT_S.slice(1).map(seconds => `${seconds} s`)],
    tapes.flatMap(leftRuns).map(({ name, feeBps, fills, markouts }) => {
      const left = markouts.map(([bps, error]) => text(bps) + (error === null ? '' : ` ± ${text(error)}`));
      return [name, String(feeBps), String(fills), ...left];
    }),
  );
}

function runTable({ tapes }: ComparisonFigures): string {
  return table(
    [
      'recording',
      'bot, fee',
      'net',
      'after 60 s',
      'later starts',
      'less the first',
      'spread, inventory, fees',
      'fills',
    ],
    tapes.flatMap(({ name, runs }) =>
      runs
        .filter(({ tier, fills, unscored }) => tier === runs[0]?.tier && fills > 0 && !unscored)
        .map(run => [
          name,
          `${run.bot}, ${run.feeBps}`,
          sumText(run.net),
          sumText(run.after60),
          run.starts === null ? '–' : `${signed(run.starts[0])} to ${signed(run.starts[1])}`,
          sumText(run.lessFirst),
          run.parts === null ? '–' : run.parts.map(signed).join(', '),
          String(run.fills),
        ]),
    ),
  );
}

/** Of Markdown, before formatting; the first column to the left. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n');

/** With its interval. */
export const sumText = (of: Around | null): string =>
  of === null
    ? '–'
    : `${signed(of[0])}${of[1] === null || of[2] === null ? '' : ` (${signed(of[1])} to ${signed(of[2])})`}`;

/** Two decimals, or two digits of what is less than a tenth. */
export function signed(x: number): string {
  const text = Math.abs(x) < 0.1 ? String(Number(x.toPrecision(2))) : x.toFixed(2);
  return x > 0 ? `+${text}` : text;
}
