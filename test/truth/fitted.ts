/** Evidence of fitted fill models: own orders at the embedded exchange, and orders of the logs of single orders. */
import { format, resolveConfig } from 'prettier';
import { isFilled } from '../../backtest/fitted/fit.ts';
import { heldOutFills, type HeldOutFills } from '../../backtest/fitted/fittedReport.ts';
import type { OwnLife } from '../../backtest/fitted/ownLives.ts';
import { randomOf } from '../../src/core/index.ts';
import { ownFills } from '../backtest/fitted/ownFillsMarket.ts';
import { recordedLives, virtualLives } from './logLives.ts';
import { ORDER_LOGS, readByImporter } from './logs.ts';

/** Markets of the embedded exchange: with lots ahead that no book shows, and as it is. */
const MARKETS = [
  { name: 'hidden lots, up to 5 times the own', hidden: 5, seeds: 100 },
  { name: 'hidden lots, up to 10 times the own', hidden: 10, seeds: 20 },
  { name: 'as it is', hidden: 0, seeds: 20 },
] as const;
const SECONDS = 10_800;
const LOTS = 20_000;
/** Times between two snapshots of the levels, in ms; 0: every change. */
const SNAPSHOTS = [0, 1_000, 5_000];
const VIRTUAL = { spacingMs: 1_000, lifeMs: 60_000 };

type MarketRow = {
  readonly name: string;
  readonly seeds: number;
  readonly fills: number;
  readonly likelihood: number;
  readonly brier: number;
  readonly used: number;
  readonly calibration: number;
};
type LogRow = { readonly log: string; readonly orders: string; readonly everyMs: number; readonly found: HeldOutFills };

export type FittedEvidence = { readonly markets: readonly MarketRow[]; readonly logs: readonly LogRow[] };

const split = (lives: readonly OwnLife[], seed: number): HeldOutFills => {
  const cut = Math.floor((lives.length * 2) / 3);
  return heldOutFills(lives.slice(0, cut), lives.slice(cut), randomOf(seed));
};

/** Measures everything; `data` is the folder of the logs. */
export async function fittedEvidence(data: string, print: (line: string) => void): Promise<FittedEvidence> {
  const markets = MARKETS.map(({ name, hidden, seeds }): MarketRow => {
    const sums = { fills: 0, likelihood: 0, brier: 0, used: 0, calibration: 0 };
    for (let seed = 1; seed <= seeds; seed++) {
      const lives = ownFills({ seed, seconds: SECONDS, lots: LOTS, hidden });
      const { models, gain } = split(lives, seed);
      const fitted = models.find(({ model }) => model === 'fitted')!;
      const others = models.filter(({ model }) => model !== 'fitted');
      sums.fills += lives.filter(isFilled).length / seeds;
      sums.likelihood += others.every(({ logLikelihood }) => fitted.logLikelihood > logLikelihood) ? 1 : 0;
      sums.brier += others.every(({ brier }) => fitted.brier! < brier!) ? 1 : 0;
      sums.used += gain.low !== null && gain.low > 0 ? 1 : 0;
      sums.calibration = Math.max(sums.calibration, fitted.reliability!.error);
    }
    print(JSON.stringify({ name, ...sums }));
    return { name, seeds, ...sums };
  });
  const logs: LogRow[] = [];
  for (const { name, set } of ORDER_LOGS) {
    const own = await readByImporter(`${data}/${set}`);
    for (const everyMs of SNAPSHOTS) {
      const all = recordedLives(own, everyMs);
      const kinds: readonly (readonly [string, readonly OwnLife[]])[] = [
        ['recorded, all', all],
        ['recorded, reached by an execution', all.filter(({ isReached }) => isReached)],
        ['virtual, at the best price', virtualLives(own, everyMs, VIRTUAL)],
      ];
      for (const [orders, lives] of kinds) {
        const found = split(lives, 1);
        logs.push({ log: name, orders, everyMs, found });
        print(JSON.stringify(logs.at(-1)));
      }
    }
  }
  return { markets, logs };
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(row)].join('\n');
const points = (share: number | undefined): string => (share === undefined ? '-' : (100 * share).toFixed(1));

/** Returns the page docs/development/evidence/fitted-fills.md. */
export async function fittedEvidencePage({ markets, logs }: FittedEvidence): Promise<string> {
  const text = `# Evidence: fitted fill models

Written by \`npm run queue:truth -- --fitted --page\` from \`../shared/data\`. Each fit is of the first two thirds of the orders by time, and each score is of the last third. The
shipped models get their own share of unexplained fills from the first two thirds.

## Own orders at the embedded exchange

Orders of ${LOTS.toLocaleString('en-US')} lots at up to three ticks from the best price, for ${SECONDS / 3_600} hours. Its matching decides every fill. The models see only executions and displayed lots. Hidden lots stand
ahead of each order, drawn evenly. *Better* counts seeds in which the fitted model beats each of the three others.

${tableOf(
  [
    'market',
    'seeds',
    'fills per seed',
    'better likelihood',
    'better Brier score',
    'better at 95%',
    'largest calibration error, points',
  ],
  markets.map(({ name, seeds, fills, likelihood, brier, used, calibration }) => [
    ...[name, String(seeds), String(Math.round(fills)), String(likelihood), String(brier), String(used)],
    points(calibration),
  ]),
)}

Without hidden lots, \`expected\` already has the right place of nearly every order, so there is nothing to learn, and \`puntas calibrate --fills\` falls back to it.

## Logs of single orders

Recorded orders have the fate of the log. Virtual orders of one lot come every second on both sides at the best price and stay a minute; their fate is that of their exact place. Both
see snapshots of all levels. A calibration error is in points; the last third of the log of 2026 is five minutes, so its errors come from few moves of the price.

${tableOf(
  [
    'log',
    'orders',
    'snapshots, s',
    'last third: filled, of',
    'log-likelihood: fitted',
    'pessimistic',
    'expected',
    'optimistic',
    'calibration error: fitted',
    'expected',
  ],
  logs.map(({ log, orders, everyMs, found: { fills, orders: count, models } }) => {
    const of = (name: string) => models.find(({ model }) => model === name)!;
    return [
      ...[log, orders, String(everyMs / 1_000), `${fills}, ${count.toLocaleString('en-US')}`],
      ...['fitted', 'pessimistic', 'expected', 'optimistic'].map(name => of(name).logLikelihood.toFixed(5)),
      points(of('fitted').reliability?.error),
      points(of('expected').reliability?.error),
    ];
  }),
)}
`;
  const path = 'docs/development/evidence/fitted-fills.md';
  return format(text, { ...(await resolveConfig(path)), filepath: path });
}
