/** The page about searches and judges of tuning: what was measured, in its tables. */
import { DEFLATED_MIN, PBO_MAX, STUDY, type ErrorRates } from './plantedStudies.ts';
import type { SearchName } from '../../backtest/tune/search/search.ts';

/** How many trials each search is given before it counts as not having found: the dear ones fewer. */
export const BUDGETS: Readonly<Record<SearchName, number>> = {
  random: 20_000,
  sobol: 20_000,
  tpe: 1_000,
  cmaEs: 1_000,
};

const TITLES: Readonly<Record<SearchName, string>> = { random: 'random', sobol: 'Sobol', tpe: 'TPE', cmaEs: 'CMA-ES' };

/** One known function: for each search the median of trials and how many of the seeds found it. */
export type SearchRow = {
  readonly name: string;
  readonly within: number;
  readonly found: Readonly<Record<SearchName, { readonly median: number; readonly share: number }>>;
};

const thousands = (value: number): string => value.toLocaleString('en-US');

/** The table of trials. */
export function searchTable(rows: readonly SearchRow[]): string {
  const names = Object.keys(TITLES) as SearchName[];
  const cell = (name: SearchName, { median, share }: { median: number; share: number }): string => {
    const trials = Number.isFinite(median) ? thousands(median) : `> ${thousands(BUDGETS[name])}`;
    return `${trials} (${Math.round(100 * share)} %)`;
  };
  return [
    `| function | within | ${names.map(name => TITLES[name]).join(' | ')} |`,
    `|---|---:|${names.map(() => '---:|').join('')}`,
    ...rows.map(
      ({ name, within, found }) => `| ${name} | ${within} | ${names.map(one => cell(one, found[one])).join(' | ')} |`,
    ),
  ].join('\n');
}

/** The table of error rates. */
export const ratesTable = ({ seeds, noise, edge }: ErrorRates): string =>
  [
    `| of ${seeds} studies each | pure noise | a planted edge |`,
    '|---|---:|---:|',
    `| mean PBO | ${noise.pbo.toFixed(3)} | ${edge.pbo.toFixed(3)} |`,
    `| the interval of PBO leaves out one half | ${noise.outside} | |`,
    `| judged wrongly by PBO at most ${PBO_MAX} alone | ${noise.byPbo} | ${edge.byPbo} |`,
    `| judged wrongly by a deflated Sharpe ratio of at least ${DEFLATED_MIN} alone | ${noise.byDeflated} | ${edge.byDeflated} |`,
    `| judged wrongly by both together | ${noise.byBoth} | ${edge.byEither} |`,
    `| another configuration was chosen | | ${edge.other} |`,
  ].join('\n');

/** The whole page. */
export const searchPage = (
  seeds: number,
  rows: readonly SearchRow[],
  rates: ErrorRates,
): string => `# Searching and judging

How tuning finds what to try next, and by what it judges whether the result is more than luck. Both tables are measured by \`npm run tune:search-table\`.

## Searches

| name | what it does | when |
|---|---|---|
| random | even draws | to compare with |
| Sobol | a low-discrepancy sequence (Joe and Kuo's direction numbers), scrambled by the seed; parameters beyond the 32nd are drawn | a first look at everything; many machines |
| TPE | asks where good points are likelier than others: kernels about the best tenth against kernels about the rest, all parameters together | the usual choice; choices, conditions and steps |
| CMA-ES | moves and stretches a normal law over generations; begins anew with twice the population when it has converged | numbers that depend on one another; at least some hundred trials |

Every search follows from its seed and what it was told: the same study told again is the same search, which is how a study goes on after it was stopped. Trials that run side by side are asked for
in batches of one size; TPE takes those that are still running for bad ones, so that a batch spreads out. CMA-ES rounds its population up to whole batches. A failed trial counts as the worst. What CMA-ES
tries may repeat where every parameter has steps.

How many trials it takes to come as near to the known maximum as the second column says: the median of ${seeds} seeds, and how many of them found it at all, of ${thousands(BUDGETS.random)} trials of random and Sobol and ${thousands(BUDGETS.tpe)} of the others.

${searchTable(rows)}

These functions are smooth and have no noise. A backtest has both cliffs and noise: there the lead is smaller, and the judge below matters more than the search.

## The judge

- **Combinatorial cross-validation** (CPCV; López de Prado 2018): time is cut into groups, every choice of some of them is judged in once and the others are chosen on. What overlaps with a stretch that is judged in is
  purged: a fill counts until its markout is known. What begins within the embargo after it is left out too. The groups make up several whole paths; each is a history in which nothing was chosen on what
  it is judged by.
- **Walk-forward**: one path, choosing always on what was before.
- **Probability of backtest overfitting** (PBO, by CSCV; Bailey, Borwein, López de Prado, Zhu 2016): how often the best of one half of the blocks ranks in the lower part of the other half. Of an odd number of
  configurations one rank is the median itself: \`strict\` leaves it out, \`inclusive\` counts it (as the paper does), \`value\` counts half of it. The interval draws blocks anew; a
  block that was drawn twice stays on one side, as halves that share it would agree by that alone. It is wide: a dozen blocks do not tell much.
- **Deflated Sharpe ratio** (Bailey, López de Prado 2014): the probability that the true Sharpe ratio of the chosen one is above what the best of all trials would show without skill, given how many there were,
  how their ratios vary, and the skew and kurtosis of the results. They are not taken to vary by luck more than ratios without skill would (1 / (n - 1), of n results): that some trials are truly worse makes none lucky.
- **Stability**: the share of the optimum's neighbours, one step each way in every parameter, that lose no more than a stated amount.
- **Intervals** of a configuration's own figures draw runs of spans together, as long as their correlation asks for (stationary bootstrap, Politis, Romano 1994; length by Politis, White 2004).

How often that is right: made studies of ${STUDY.configurations} configurations and ${STUDY.spans} spans that share half of their variance, as configurations of one strategy do, without any edge, and with one configuration whose Sharpe ratio is ${STUDY.edge} a
span. Of noise, being wrong is believing it; of an edge, refusing it.

${ratesTable(rates)}
`;
