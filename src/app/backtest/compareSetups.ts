/** The bots of a comparison: the given configurations, or every strategy with parameters that follow from one risk and from what a recording shows. */
import { basename } from 'node:path';
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { Measured } from '../../../backtest/index.ts';
import { strategies } from '../../../strategies/index.ts';
import type { StrategyName } from '../../../strategies/index.ts';
import { loadConfig } from '../../config.ts';
import type { Config } from '../../config.ts';
import { moneyOf, rateCeil, textOfMoney } from '../../core/index.ts';
import type { Instrument } from '../../core/index.ts';
import { readConfig } from '../wiring/configFile.ts';

/** `config` null: `notRun` says why. */
export type Setup = {
  readonly name: string;
  readonly strategy: string;
  readonly text: string | null;
} & ({ readonly config: Config; readonly notRun: null } | { readonly config: null; readonly notRun: string });

/** Named by their files; a second one of a name by its whole path. Throws `UsageError` with every error of the first that is wrong. */
export function givenSetups(files: readonly string[]): readonly Setup[] {
  const names = files.map(file => basename(file).replace(/\.ya?ml$/, ''));
  return files.map((file, i) => {
    const config = readConfig(file);
    const name = names.indexOf(names[i]!) === i ? names[i]! : file;
    return { name, strategy: config.strategy.name, text: readFileSync(file, 'utf8'), config, notRun: null };
  });
}

/** What a recording says of its market, checked, in bps and minutes; and what the risk makes of it. */
export type Terms = {
  readonly instrument: Instrument;
  /** Price at which amounts are set, in the minor currency. */
  readonly price: number;
  readonly volatilityBps: number;
  readonly arrivalsPerMinute: number;
  readonly decayPerBps: number;
  readonly adverseBps: number;
  /** Decimal text, in the minor currency. */
  readonly riskPerHour: string;
};

/** Full inventory is worth this many orders. */
export const ORDERS_IN_FULL = 10;
/** A price needs at least about this long to leave the tolerance: six orders then fit into the request budget. */
const LEAVE_S = 4;
const LEVELS = 3;

/** `price` (of one major) and `riskPerHour` in the minor currency; an adverse move unknown or below 0 counts as 0. Text: why none can be run. */
export const termsOf = (
  instrument: Instrument,
  price: number,
  m: Pick<Measured, 'volatilityBps' | 'adverseBps' | 'arrivalsPerMinute' | 'decayPerBps'>,
  riskPerHour: string,
): Terms | string => {
  const [volatility, arrivals, decay] = [m.volatilityBps?.value, m.arrivalsPerMinute?.value, m.decayPerBps?.value];
  if (!(volatility !== undefined && volatility > 0)) return 'its first part does not tell the volatility';
  if (!(arrivals !== undefined && decay !== undefined && arrivals > 0 && decay > 0))
    return 'its first part has too few trades to tell how arrivals fall with distance';
  return {
    instrument,
    price,
    volatilityBps: short(volatility),
    arrivalsPerMinute: short(arrivals),
    decayPerBps: short(decay),
    adverseBps: short(Math.max(0, m.adverseBps?.value ?? 0)),
    riskPerHour,
  };
};

/** In the minor currency: where one deviation over an hour costs the risk. */
export const fullValueOf = (riskPerHour: number, volatilityBps: number): number => riskPerHour / (volatilityBps / 1e4);

/** Every strategy at this maker fee, a fraction as text like '0.005'; `terms` as text: why none can be run. */
export function derivedSetups(terms: Terms | string, makerFee: string): readonly Setup[] {
  return (Object.keys(strategies) as StrategyName[]).map((name): Setup => {
    if (typeof terms === 'string') return { name, strategy: name, text: null, config: null, notRun: terms };
    const parameters = DERIVED[name]?.(terms, rateCeil(makerFee) / 1e4) ?? null;
    if (parameters === null)
      return {
        name,
        strategy: name,
        text: null,
        config: null,
        notRun: 'how to choose its parameters is not known here; compare it with -c FILE',
      };
    if (typeof parameters === 'string') return { name, strategy: name, text: null, config: null, notRun: parameters };
    const text = stringify(configOf(terms, { name, ...parameters }));
    const loaded = loadConfig(text, name);
    if (!loaded.ok) return { name, strategy: name, text, config: null, notRun: loaded.errors.join('; ') };
    return { name, strategy: name, text, config: loaded.config, notRun: null };
  });
}

type Parameters = Readonly<Record<string, unknown>>;
type Derive = (terms: Terms, feeBps: number) => Parameters | string;

/** From a side's first quote to the fair value, without the fee: where edge times arrivals is largest for who minds no risk (as in GLFT). */
const edgeBps = ({ decayPerBps, adverseBps }: Terms): number => 1 / decayPerBps + adverseBps / 2;
const halfSpread = (terms: Terms, feeBps: number): number => short(feeBps + Math.max(0.5, edgeBps(terms)));
const amountOf = (terms: Terms): string => decimal(fullMajor(terms) / ORDERS_IN_FULL);
const fullMajor = ({ riskPerHour, volatilityBps, price }: Terms): number =>
  fullValueOf(Number(riskPerHour), volatilityBps) / price;
const toleranceBps = ({ decayPerBps, volatilityBps }: Terms): number =>
  short(Math.max(0.2 / decayPerBps, volatilityBps * Math.sqrt(LEAVE_S / 3600)));

const levels = (terms: Terms): Parameters => ({
  amount: amountOf(terms),
  levels: LEVELS,
  levelSpacingBps: short(Math.max(toleranceBps(terms), 0.5 / terms.decayPerBps)),
  refreshToleranceBps: toleranceBps(terms),
});

const around: Derive = (terms, feeBps) => ({
  ...levels(terms),
  halfSpreadBps: halfSpread(terms, feeBps),
  skewBpsAtLimit: short(edgeBps(terms)),
});

const model: Derive = terms => {
  const { instrument, riskPerHour, volatilityBps, arrivalsPerMinute, decayPerBps, adverseBps } = terms;
  return {
    ...levels(terms),
    risk: { amount: `${riskPerHour} ${instrument.minor}`, per: '1h' },
    market: { volatilityBps, arrivalsPerMinute, decayPerBps, adverseBps },
  };
};

const DERIVED: Readonly<Partial<Record<StrategyName, Derive>>> = {
  ladder: (terms, feeBps) => {
    const { skewBpsAtLimit, ...rest } = around(terms, feeBps) as Parameters;
    return { ...rest, skew: { priceBpsAtLimit: skewBpsAtLimit } };
  },
  'avellaneda-stoikov': model,
  glft: model,
  grid: (terms, feeBps) => ({
    amount: amountOf(terms),
    levels: LEVELS,
    spacingBps: short(2 * halfSpread(terms, feeBps)),
    refreshToleranceBps: short(0.2 * halfSpread(terms, feeBps)),
  }),
  imbalance: (terms, feeBps) => ({
    ...(around(terms, feeBps) as Parameters),
    bpsPerDeviation: short(terms.adverseBps / 2),
  }),
  peg: () => 'it quotes around the price in other books, and which is for a configuration to say (-c FILE)',
};

function configOf(terms: Terms, strategy: Parameters): object {
  const { instrument, price } = terms;
  const full = fullMajor(terms);
  const most = decimal(1e9);
  return {
    book: instrument.symbol,
    instance: 'compare',
    exchange: {
      kind: 'embedded',
      balances: { [instrument.major]: decimal(3 * full), [instrument.minor]: decimal(3 * full * price) },
    },
    strategy,
    limits: {
      positionMax: decimal(full),
      orderValueMax: decimal((4 * full * price) / ORDERS_IN_FULL),
      ordersMax: 2 * LEVELS,
      collarBps: 1_000,
      // Who halts for his losses cannot show how much he would have lost.
      drawdownMax: most,
      dayLossMax: most,
    },
    halts: { fillsPer10Min: 100_000, refusalsPerMinute: 100_000, messagesPerMinute: 100_000 },
  };
}

/** Four digits say all that a recording can. */
const short = (x: number): number => Number(x.toPrecision(4));
/** Eight decimals, floored, without an exponent. */
function decimal(x: number): string {
  const text = x.toFixed(9).slice(0, -1);
  return textOfMoney(moneyOf(text));
}
