/** The tables of docs/development/evidence/lifelike.md: scores and dynamics of simulated markets beside recordings of single orders. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Amount } from '../../src/core/index.ts';
import { FLOW_PROFILES, simulatedMarket, type Market } from '../../src/sandbox/index.ts';
import { rowsOfTape } from '../../backtest/index.ts';
import { openOrderLog } from '../truth/logs.ts';
import { recordedLog, simulatedLog } from './orderLog.ts';
import {
  distancesOf,
  figuresOf,
  IMPACT_S,
  pooledSamples,
  samplesOf,
  SCORES,
  SIDE_LAGS,
  type Dynamics,
  type FlowFigures,
  type FlowSamples,
} from './orderFlowScores.ts';
import { poissonBook, poissonRatesOf, type PoissonRates } from './poissonBook.ts';

const BOOK = 'btc_mxn';
const PROFILE = FLOW_PROFILES[BOOK]!;
export const SCORE_SEEDS = [1, 2, 3, 4, 5, 6] as const;
/** Simulated time of each seed. */
const HOURS: Readonly<Record<ScoredMarket, number>> = { flow: 2, lifelike: 4, 'no signal': 4, poisson: 2 };
/** Start and spread of the memoryless book, in ticks of 10 mxn: those of the profile. */
const POISSON = { startTicks: 150_000, spreadTicks: 195, lots: 4_000_000 as Amount };
const FIGURES = 'test/bench/recordedOrderFlow.json';

/** Recording of single orders that is scored, its median spread in ticks, and another one for its dynamics only. */
const SCORED_SET = 'bitstamp-btcusd-2015-05-01-book-orders-trades';
const SCORED_SPREAD_TICKS = 17;
const OTHER_SET = 'bitstamp-btcusd-2026-05-02-l3-first-half';
export const ORDER_FLOW_SETS: readonly string[] = [SCORED_SET, OTHER_SET];

/** Statistics of both recordings: quantiles of scores, rates of a memoryless book, dynamics. */
export type RecordedOrderFlow = {
  readonly scored: FlowFigures;
  readonly rates: PoissonRates;
  readonly other: Dynamics;
};

/** Measures the recordings in the folder of recordings. */
export async function measureRecordings(data: string): Promise<RecordedOrderFlow> {
  const logOf = async (set: string) => recordedLog(rowsOfTape(await openOrderLog(join(data, set)), { from: 'orders' }));
  const log = await logOf(SCORED_SET);
  return {
    scored: figuresOf(samplesOf(log, 0)),
    rates: poissonRatesOf(log, SCORED_SPREAD_TICKS),
    other: samplesOf(await logOf(OTHER_SET), 0).dynamics,
  };
}

/** Returns the committed statistics of the recordings. */
export const recordedOrderFlow = (): RecordedOrderFlow =>
  JSON.parse(readFileSync(FIGURES, 'utf8')) as RecordedOrderFlow;

/** Writes numbers with four digits. */
export const textOfFigures = (figures: RecordedOrderFlow): string =>
  `${JSON.stringify(figures, (_, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value))}\n`;

export const FIGURES_FILE = FIGURES;

/** Markets of the tables. `lifelike, no signal`: the same market with imbalance that predicts nothing. */
export type ScoredMarket = 'flow' | 'lifelike' | 'no signal' | 'poisson';

/** Returns the samples of each seed of a market. */
export function marketSamples(market: ScoredMarket): readonly FlowSamples[] {
  const { rates } = recordedOrderFlow();
  const create = (seed: number): Market => {
    switch (market) {
      case 'flow':
        return simulatedMarket({ kind: 'flow' }, { seed, profile: PROFILE });
      case 'lifelike':
      case 'no signal':
        return simulatedMarket(
          { kind: 'lifelike', imbalanceSignal: market === 'lifelike' },
          { seed, profile: PROFILE },
        );
      case 'poisson':
        return poissonBook({ seed, rates, ...POISSON });
    }
  };
  return SCORE_SEEDS.map(seed => samplesOf(simulatedLog(create(seed), BOOK, HOURS[market] * 3600)));
}

/** Rows of the table of scores: distances of each market, and whether the lifelike market is nearer than the memoryless book. */
export function scoreRows(markets: Readonly<Record<'flow' | 'lifelike' | 'poisson', readonly FlowSamples[]>>) {
  const recording = recordedOrderFlow().scored;
  const of = (name: keyof typeof markets) =>
    distancesOf(figuresOf(pooledSamples(markets[name]), recording.bounds), recording);
  const [flow, lifelike, poisson] = [of('flow'), of('lifelike'), of('poisson')];
  return SCORES.map(name => ({
    name,
    flow: flow[name],
    lifelike: lifelike[name],
    poisson: poisson[name],
    isNearerL1: lifelike[name].l1 < poisson[name].l1,
    isNearerWasserstein: lifelike[name].wasserstein < poisson[name].wasserstein,
  }));
}

/** Rows of the table of dynamics: a name, and the figure. */
export const DYNAMICS: readonly (readonly [string, (of: Dynamics) => number])[] = [
  ['imbalance and the move of the next 5 s, correlation', of => of.imbalanceR],
  ...IMPACT_S.map(
    (seconds, i) => [`mid ${seconds} s after a taker, in spreads`, (of: Dynamics) => of.impact[i]!] as const,
  ),
  ['logarithms of successive gaps between takers, correlation', of => of.gapMemory],
  ...SIDE_LAGS.map(
    (lag, i) => [`sides of takers, lag ${lag}, correlation`, (of: Dynamics) => of.sideMemory[i]!] as const,
  ),
  ['takers per minute', of => of.takersPerMinute],
  ['messages per second, ten levels', of => of.messagesPerSecond],
  ['median spread, bps', of => of.spreadBps],
  ['move of a minute, bps (root mean square)', of => of.minuteMoveBps],
];
