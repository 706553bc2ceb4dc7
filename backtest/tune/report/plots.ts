/**
 * Plots of a study: progress of the search, results of the best trial, out-of-sample results of a choice, and neighbors
 * of the best trial.
 */
import { rangeOf, type Line, type Plot } from '../../../src/pages/index.ts';
import type { Evidence, TunedParameter, TunedTrial, Tuning } from './tuning.ts';

/** Plots under one heading; `how` is a sentence on how to read them. */
export type TuningFigure = { readonly heading: string; readonly how: string; readonly plots: readonly Plot[] };

/** Returns the figures. Headings without a plot are dropped. */
export function tuningFigures(tuning: Tuning): readonly TuningFigure[] {
  const { evidence, minor } = tuning;
  return [
    {
      heading: 'The search',
      how: 'Results of the trials, in the order in which the search requested the trials. The line is the best result up to each trial; a flat line suggests that the search has converged.',
      plots: search(tuning),
    },
    {
      heading: 'Pareto front',
      how: 'Trials on the Pareto front of the first two objectives, and the other trials.',
      plots: front(tuning),
    },
    ...(evidence === null
      ? []
      : [
          {
            heading: 'The best trial over time',
            how: 'Cumulative net of the best trial over the time blocks of all segments, with each fill valued at the mid price 60 s later. A sum that comes from a few blocks says little about the future.',
            plots: [gains(evidence, tuning, minor)],
          },
          {
            heading: 'Choice of parameters, out of sample',
            how: 'Each path chooses the best parameters on some groups of time blocks and evaluates them on the other groups. Each dot is a path; the paths are sorted from worst to best. Each step of the walk-forward test chooses the parameters on all earlier blocks. A net below zero is a loss.',
            plots: [...paths(evidence, minor), ...forward(evidence, minor), ...logits(evidence)],
          },
          {
            heading: 'Results around the best trial',
            how: 'Results of the trials by the value of each parameter. Neighbors are copies of the best trial with only this parameter changed. A best trial on a plateau is more trustworthy than a best trial on a peak.',
            plots: evidence.parameters.flatMap((parameter, i) => along(parameter, i, tuning)),
          },
        ]),
  ].filter(({ plots }) => plots.length > 0);
}

const unitOf = ({ objectives: [name = ''], minor }: Tuning): string =>
  /^net|volume|drawdown/.test(name) ? `${name}, ${minor}` : name;

const valueOf = ({ measures }: TunedTrial, name: string): number | null => measures?.[name] ?? null;

/** Returns the range of the central values, so that one extreme loss does not compress the plot. */
function around(values: readonly (number | null)[]): readonly [number, number] | null {
  const known = values.filter(value => value !== null).sort((a, b) => a - b);
  const at = (share: number): number => known[Math.floor(share * (known.length - 1))] ?? 0;
  const spread = at(0.9) - at(0.1);
  return rangeOf([...known.map(value => Math.max(at(0.1) - spread, Math.min(at(0.9) + spread, value))), 0]);
}

function search(tuning: Tuning): readonly Plot[] {
  const { trials, objectives, ranking } = tuning;
  const [name = ''] = objectives;
  if (trials.every(trial => valueOf(trial, name) === null)) return [];
  const feasible = new Set(ranking);
  const first = new Map(ranking.map((number, rank) => [number, rank]));
  let best: TunedTrial | null = null;
  const soFar = trials.map(trial => {
    const rank = first.get(trial.number);
    if (rank !== undefined && (best === null || rank < (first.get(best.number) ?? Infinity))) best = trial;
    return best === null ? null : valueOf(best, name);
  });
  const dots = (label: string, colour: string, of: (trial: TunedTrial) => boolean): Line => ({
    ...{ label, colour, style: 'dots' },
    values: trials.map(trial => (of(trial) ? valueOf(trial, name) : null)),
  });
  const lines = [
    dots('within the constraints', 'model-1', ({ number }) => feasible.has(number)),
    dots('outside the constraints', 'fees', trial => trial.state === 'done' && !feasible.has(trial.number)),
    dots('stopped early, partial result', 'soft', ({ state }) => state === 'pruned'),
    { label: 'best so far', colour: 'spread', style: 'line' as const, values: soFar },
  ].filter(({ values }) => values.some(value => value !== null));
  return [
    {
      ...{ id: 'search', title: 'Every trial' },
      x: { kind: 'number', values: trials.map(({ number }) => number), label: 'trial' },
      y: { label: unitOf(tuning), range: around(lines.flatMap(({ values }) => values)) },
      lines,
      ...{ shades: [], group: null },
    },
  ];
}

function front({ trials, ranking, front: best, objectives }: Tuning): readonly Plot[] {
  const [one, other] = objectives;
  if (one === undefined || other === undefined) return [];
  const sorted = ranking
    .flatMap(number => trials.filter(trial => trial.number === number))
    .sort((a, b) => (valueOf(a, one) ?? 0) - (valueOf(b, one) ?? 0));
  if (sorted.length < 2) return [];
  const dots = (label: string, colour: string, of: (trial: TunedTrial) => boolean): Line => ({
    ...{ label, colour, style: 'dots' },
    values: sorted.map(trial => (of(trial) ? valueOf(trial, other) : null)),
  });
  return [
    {
      ...{ id: 'front', title: `${other} by ${one}` },
      x: { kind: 'number', values: sorted.map(trial => valueOf(trial, one) ?? 0), label: one },
      y: { label: other, range: null },
      lines: [
        dots('other trials', 'soft', ({ number }) => !best.includes(number)),
        dots('Pareto front', 'spread', ({ number }) => best.includes(number)),
      ],
      ...{ shades: [], group: null },
    },
  ];
}

function gains({ gains: of }: Evidence, { holdout }: Tuning, minor: string): Plot {
  const all = holdout === null ? of : [...of, ...holdout.gains];
  let sum = 0;
  const total = all.map(gain => (sum += gain));
  const tuned: Line = {
    label: 'tuning hours',
    colour: 'model-1',
    style: 'line',
    values: total.map((x, i) => (i < of.length ? x : null)),
  };
  const held: Line = {
    label: 'holdout',
    colour: 'spread',
    style: 'line',
    values: total.map((x, i) => (i >= of.length ? x : null)),
  };
  return {
    ...{ id: 'gains', title: 'Cumulative net, fills valued at the mid price 60 s later' },
    x: { kind: 'number', values: all.map((_, i) => i + 1), label: 'block' },
    y: { label: minor, range: rangeOf([...total, 0]) },
    lines: holdout === null ? [tuned] : [tuned, held],
    ...{ shades: [], group: null },
  };
}

function paths({ paths: of }: Evidence, minor: string): readonly Plot[] {
  if (of.length === 0) return [];
  const values = [...of].sort((a, b) => a - b);
  return [
    {
      ...{ id: 'paths', title: 'Purged combinatorial paths' },
      x: { kind: 'number', values: values.map((_, i) => i + 1), label: 'path, worst first' },
      y: { label: minor, range: rangeOf([...values, 0]) },
      lines: [{ label: 'out of sample', colour: 'model-1', style: 'dots', values }],
      ...{ shades: [], group: null },
    },
  ];
}

function forward({ walkForward: of }: Evidence, minor: string): readonly Plot[] {
  if (of.length === 0) return [];
  let sum = 0;
  const values = of.map(({ net }) => (sum += net));
  return [
    {
      ...{ id: 'forward', title: 'Cumulative net profit of the parameters chosen at each walk-forward step' },
      x: { kind: 'number', values: values.map((_, i) => i + 1), label: 'step' },
      y: { label: minor, range: rangeOf([...values, 0]) },
      lines: [{ label: 'parameters chosen on earlier blocks', colour: 'inventory', style: 'line', dots: true, values }],
      ...{ shades: [], group: null },
    },
  ];
}

const BARS = 12;

function logits({ pbo }: Evidence): readonly Plot[] {
  if (pbo === null || pbo.logits.length === 0) return [];
  const [low, high] = [Math.min(...pbo.logits), Math.max(...pbo.logits)];
  const width = (high - low) / BARS || 1;
  const counts = new Array<number>(BARS).fill(0);
  for (const logit of pbo.logits) counts[Math.min(BARS - 1, Math.floor((logit - low) / width))]!++;
  return [
    {
      ...{ id: 'logits', title: 'Out-of-sample rank of the configuration that is best in-sample' },
      x: {
        kind: 'number',
        values: counts.map((_, i) => Number((low + (i + 0.5) * width).toPrecision(4))),
        label: 'logit of the rank (the lower half is below zero)',
      },
      y: { label: 'splits', range: null },
      lines: [{ label: 'splits', colour: 'model-0', style: 'bars', values: counts }],
      ...{ shades: [], group: null },
    },
  ];
}

function along(
  { key, scale, names, points: tried, neighbours, chosen, upwards }: TunedParameter,
  i: number,
  tuning: Tuning,
): readonly Plot[] {
  if (tried.length < 2) return [];
  const points = [...tried, ...neighbours];
  const sorted = beside(
    [...points].sort((a, b) => a.at - b.at || a.value - b.value),
    scale,
  );
  const values = sorted.map(({ value }) => value);
  const atBest = tried.filter(({ at }) => at === chosen).map(({ value }) => value);
  const top = upwards ? Math.max(...atBest) : Math.min(...atBest);
  const best = sorted.findIndex(({ from, value }) => from === chosen && value === top);
  const isBeside = sorted.map(({ from, value }) => neighbours.some(one => one.at === from && one.value === value));
  return [
    {
      ...{ id: `parameter-${i}`, title: key },
      x: {
        kind: scale === 'choice' ? 'names' : scale === 'log' ? 'log' : 'number',
        values: sorted.map(({ at }) => at),
        ...(scale === 'choice' && { names }),
        label: key.split('.').at(-1) ?? key,
      },
      y: { label: unitOf(tuning), range: around(values) },
      lines: [
        {
          label: 'trials',
          colour: 'model-1',
          style: 'dots',
          values: values.map((value, n) => (isBeside[n] ? null : value)),
        },
        ...(neighbours.length === 0
          ? []
          : [
              {
                ...{ label: 'neighbors of the best trial', colour: 'inventory', style: 'dots' as const },
                values: values.map((value, n) => (isBeside[n] ? value : null)),
              },
            ]),
        {
          label: 'best',
          colour: 'spread',
          style: 'dots',
          width: 4,
          values: sorted.map(({ value }, n) => (n === best ? value : null)),
        },
      ],
      ...{ shades: [], group: null },
    },
  ];
}

/** Spreads points at equal positions slightly, so that each is visible. */
function beside(
  points: TunedParameter['points'],
  scale: TunedParameter['scale'],
): readonly { readonly at: number; readonly from: number; readonly value: number }[] {
  const [low, high] = [points[0]?.at ?? 0, points.at(-1)?.at ?? 0];
  return points.map(({ at, value }) => {
    const alike = points.filter(other => other.at === at);
    const share = (alike.findIndex(other => other.value === value) + 0.5) / alike.length - 0.5;
    const moved =
      scale === 'log'
        ? at * Math.exp(0.04 * share * Math.log(high / low || 1))
        : at + share * (scale === 'choice' ? 0.4 : 0.04 * (high - low));
    return { at: alike.length === 1 ? at : moved, from: at, value };
  });
}
