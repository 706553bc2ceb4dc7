/** The figures of tuning in docs/development/evidence/comparison.md: by which rule and search they are made, what docs/development/evidence/tuned.json keeps of them, and the page's section. */
import { intervalTogether } from '../../backtest/report/interval.ts';
import { intervalOfSum } from '../../backtest/app/tune/evidence.ts';
import { around, signed, sumText, table, type Around, type ComparisonFigures } from './comparisonFigures.ts';

/** Of every study. */
export const TUNED = { search: { algorithm: 'tpe', seed: 1, trials: 16, batch: 8 } } as const;

/** What is searched, by strategy. Amounts and full inventory are left alone: the same is risked by all. */
export const SEARCHED: Readonly<Record<string, object>> = {
  ladder: {
    'strategy.halfSpreadBps': { log: [5, 60] },
    'strategy.levels': { integer: [1, 3] },
    'strategy.levelSpacingBps': { linear: [1, 30], when: { 'strategy.levels': [2, 3] } },
    'strategy.skew.priceBpsAtLimit': { linear: [0, 50] },
    'strategy.refreshToleranceBps': { linear: [0.5, 10] },
  },
  glft: {
    'strategy.risk.amount': { choice: ['3 usd', '5 usd', '10 usd', '20 usd', '40 usd'] },
    'strategy.market.memory': { choice: ['10m', '30m', '2h', '6h'] },
    'strategy.levels': { integer: [1, 3] },
    'strategy.levelSpacingBps': { linear: [1, 20], when: { 'strategy.levels': [2, 3] } },
    'strategy.refreshToleranceBps': { linear: [0.5, 10] },
  },
};

/** Shorter ones tell no interval, and where a ladder has hardly a fill there is nothing to choose by. */
const SECONDS_LEAST = 1_200;
const FILLS_LEAST = 5;

/** The recordings that are tuned on: a rule on what the comparison had found before anything was tuned. */
export const wantedTapes = ({ tapes }: ComparisonFigures): ComparisonFigures['tapes'] =>
  tapes.filter(({ seconds, runs }) => {
    const ladder = runs.find(({ bot, tier }) => bot === 'ladder' && tier === 'best');
    return seconds >= SECONDS_LEAST && (ladder?.fills ?? 0) >= FILLS_LEAST;
  });

/** One study as it was run. Values are of blocks in order of time, after 60 s and fees, under the lower of the fill models. */
export type JudgedStudy = {
  readonly name: string;
  readonly strategy: string;
  readonly minor: string;
  /** ISO 8601. */
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
  /** Different configurations that were run, and trials that were none. */
  readonly tried: number;
  readonly refused: number;
  /** Of the configuration that the comparison derives. */
  readonly fills: number;
  readonly base: readonly number[];
  /** What the best of all brought on all of it. */
  readonly promised: number;
  /** Path by path: choosing always the best of the other groups; and the same where not trading may be chosen as well. */
  readonly always: readonly (readonly number[])[];
  readonly orNothing: readonly (readonly number[])[];
  readonly pbo: number | null;
};

type Money = {
  /** As derived; chosen on the other groups; the second less the first; chosen where not trading could be. */
  readonly base: Around;
  readonly tuned: Around;
  readonly gain: Around;
  readonly orNothing: Around;
  readonly promised: number;
};

/** Money in the minor currency, four digits of everything. */
export type TunedFigures = {
  readonly studies: readonly (Pick<JudgedStudy, 'name' | 'strategy' | 'minor' | 'tried' | 'refused'> &
    Money & {
      readonly hours: number;
      readonly blocks: number;
      readonly fills: number;
      readonly paths: number;
      /** Paths that brought more than the derived configuration, and more than nothing. */
      readonly better: number;
      readonly aboveZero: number;
      readonly pbo: number | null;
    })[];
  readonly together: readonly ({ readonly strategy: string; readonly recordings: number } & Money)[];
};

const four = (x: number): number => Number(x.toPrecision(4)) + 0;
const sum = (values: readonly number[]): number => values.reduce((all, x) => all + x, 0);

/** Without what adding up in another order leaves. */
const exact = (x: number): number => Math.round(1e9 * x) / 1e9;

/** Block by block the mean of all paths. */
const meanPath = (paths: readonly (readonly number[])[]): readonly number[] =>
  (paths[0] ?? []).map((_, block) => sum(paths.map(path => path[block]!)) / paths.length);

/** The four series of a study that have intervals. */
function seriesOf({
  base,
  always,
  orNothing,
}: JudgedStudy): Readonly<Record<keyof Omit<Money, 'promised'>, readonly number[]>> {
  const tuned = meanPath(always);
  return { base, tuned, gain: tuned.map((x, i) => exact(x - base[i]!)), orNothing: meanPath(orNothing) };
}

const NAMES = ['base', 'tuned', 'gain', 'orNothing'] as const;

/** What the page shows, and no more. */
export function tunedFigures(studies: readonly JudgedStudy[]): TunedFigures {
  const strategies = [...new Set(studies.map(({ strategy }) => strategy))];
  return {
    studies: studies.map(study => {
      const { name, strategy, minor, tried, refused, seconds, fills, base, always, promised, pbo } = study;
      const series = seriesOf(study);
      const nets = always.map(sum);
      return {
        ...{ name, strategy, minor, tried, refused, hours: four(seconds / 3_600), blocks: base.length, fills },
        ...moneyOf(NAMES.map(one => around(sum(series[one]), intervalOfSum(series[one])))),
        promised: four(promised),
        paths: nets.length,
        better: nets.filter(net => exact(net - sum(base)) > 0).length,
        aboveZero: nets.filter(net => net > 0).length,
        pbo: pbo === null ? null : four(pbo),
      };
    }),
    together: strategies.map(strategy => {
      const own = studies.filter(study => study.strategy === strategy);
      return {
        ...{ strategy, recordings: own.length },
        ...moneyOf(NAMES.map(one => togetherOf(own, one))),
        promised: four(sum(own.map(({ promised }) => promised))),
      };
    }),
  };
}

const moneyOf = ([base, tuned, gain, orNothing]: readonly Around[]): Omit<Money, 'promised'> => ({
  ...{ base: base!, tuned: tuned!, gain: gain!, orNothing: orNothing! },
});

/** Recordings of the same hours are one market and added up block by block; others count as independent. */
function togetherOf(studies: readonly JudgedStudy[], one: (typeof NAMES)[number]): Around {
  const hours = [...new Set(studies.map(({ from, to }) => `${from.slice(0, 16)} ${to.slice(0, 16)}`))];
  const parts = hours.map(hour => {
    const own = studies.filter(({ from, to }) => `${from.slice(0, 16)} ${to.slice(0, 16)}` === hour);
    const series = own.map(study => seriesOf(study)[one]);
    const all = series[0]!.map((_, block) => sum(series.map(values => values[block] ?? 0)));
    return { value: sum(all), interval: intervalOfSum(all) };
  });
  return around(sum(parts.map(({ value }) => value)), intervalTogether(parts));
}

/** Sections of docs/development/evidence/comparison.md between marks of these names. */
export const tunedSections = (figures: TunedFigures): Readonly<Record<string, string>> => ({
  tuned: `${saidText(figures)}\n\n${tunedTable(figures)}`,
  'tuned search': searchTable(),
});

function saidText({ together, studies }: TunedFigures): string {
  const lines = together.map(({ strategy, recordings, base, tuned, gain, orNothing, promised }) => {
    const verdict = told(gain, 'Tuning helped', 'Tuning cost money', 'Whether tuning helps is not told');
    return `- **${strategy}, ${recordings} recordings together.** ${verdict}: ${sumText(gain)} against the derived configuration. As derived ${sumText(base)}; tuned ${sumText(tuned)}; where not trading could be chosen ${sumText(orNothing)}. The best of each, looked at where it was chosen, promised ${signed(promised)}.`;
  });
  const more = studies.filter(({ gain }) => (gain[1] ?? 0) > 0).map(nameOf);
  const less = studies.filter(({ gain }) => (gain[2] ?? 0) < 0).map(nameOf);
  const above = studies.filter(({ tuned }) => (tuned[1] ?? 0) > 0).map(nameOf);
  const list = (of: readonly string[]): string => (of.length === 0 ? 'none' : of.join(', '));
  return [
    ...lines,
    `- **One by one**, of ${studies.length} studies: tuned is better than derived for sure in ${list(more)}; worse in ${list(less)}; better than not trading in ${list(above)}. Chance alone gives ${(studies.length / 40).toFixed(1)} of each.`,
  ].join('\n');
}

const nameOf = ({ strategy, name }: TunedFigures['studies'][number]): string => `${strategy} on ${name}`;

function told([, low, high]: Around, better: string, worse: string, open: string): string {
  if (low !== null && low > 0) return better;
  return high !== null && high < 0 ? worse : open;
}

const tunedTable = ({ studies }: TunedFigures): string =>
  table(
    [
      'recording',
      'strategy',
      'as derived',
      'fills',
      'tuned',
      'tuned less derived',
      'or not at all',
      'promised',
      'paths better',
      'paths above 0',
      'PBO',
    ],
    studies.map(study => [
      ...[study.name, study.strategy, sumText(study.base), String(Math.round(study.fills))],
      ...[sumText(study.tuned), sumText(study.gain), sumText(study.orNothing), signed(study.promised)],
      ...[`${study.better} of ${study.paths}`, `${study.aboveZero} of ${study.paths}`],
      // Where nothing was filled all are equal.
      study.pbo === null || study.promised === 0 ? '–' : study.pbo.toFixed(2),
    ]),
  );

const searchTable = (): string =>
  table(
    ['strategy', 'key', 'searched'],
    Object.entries(SEARCHED).flatMap(([strategy, keys]) =>
      Object.entries(keys as Readonly<Record<string, Readonly<Record<string, unknown>>>>).map(([key, told]) => [
        strategy,
        `\`${key}\``,
        rangeText(told),
      ]),
    ),
  );

function rangeText(told: Readonly<Record<string, unknown>>): string {
  const [kind = '', values] = Object.entries(told)[0] ?? [];
  const list = (values as readonly unknown[]).map(String);
  const when = Object.values((told['when'] ?? {}) as Readonly<Record<string, readonly unknown[]>>)[0];
  const range = kind === 'choice' ? list.join(', ') : `${list.join(' to ')}, ${kind}`;
  return when === undefined ? range : `${range}; with ${when.join(' or ')} levels`;
}
