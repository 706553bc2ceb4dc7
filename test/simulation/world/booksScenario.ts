/** Random values of a seed whose bot quotes several books of one account: their configuration, market and balances. */
import { booksOf, loadConfig, type Config } from '../../../src/config.ts';
import { pairOf } from '../../../src/core/index.ts';
import { chanceOf, type Chance } from './chance.ts';
import { drawnConfig } from './drawnConfig.ts';
import { isCalm, type Swarm } from './faults.ts';
import { BOOK, scenarioOf, type Scenario } from './scenario.ts';

/** Amount of one unit in the base currency, and what one mxn of a limit is in the quote currency. */
const BOOKS: Readonly<Record<string, { readonly unit: number; readonly perMxn: number }>> = {
  [BOOK]: { unit: 0.001, perMxn: 1 },
  eth_mxn: { unit: 0.02, perMxn: 1 },
  btc_usd: { unit: 0.001, perMxn: 0.05 },
  usd_mxn: { unit: 80, perMxn: 1 },
};
/** Balances with which no order lacks funds, and with which orders of several books do. */
const AMPLE = { btc: '1.5', eth: '30', usd: '100000', mxn: '3000000' };
const TIGHT = { btc: '0.03', eth: '0.5', usd: '2400', mxn: '30000' };

/** Returns the scenario of a seed with two to four books, the books and their sections at random. */
export function booksScenarioOf(seed: number, swarm: Swarm): Scenario {
  const one = scenarioOf(seed, swarm, false);
  const chance = chanceOf(seed, 'books');
  const symbols = drawnSymbols(chance);
  const balances = !isCalm(seed) && chance.hit(0.4) ? TIGHT : AMPLE;
  const majors = symbols.map(symbol => pairOf(symbol)[0]);
  const drawn = { seed, swarm, one, chance, balances };
  const entries = symbols.map((symbol, i) => entryOf(drawn, symbol, majors.indexOf(majors[i]!) === i));
  const limited = !isCalm(seed) && chance.hit(0.6) ? currencyLimits(chance, entries) : null;
  const { timing, sentinel } = one.config;
  const raw = {
    instance: one.config.instance,
    exchange: {
      ...{ kind: 'embedded', stream: one.usesStream },
      market: { kind: 'flow', books: Object.fromEntries(symbols.map(symbol => [symbol, {}])) },
      balances,
    },
    books: entries,
    strategy: entries[0]!.strategy,
    limits: entries[0]!.limits,
    sentinel: { required: sentinel.required },
    ...(chance.hit(0.5) ? { jointInventory: {} } : {}),
    ...(limited && Object.keys(limited).length > 0 && { accountLimits: { currencies: limited } }),
    timing: {
      requestDelayMaxMs: timing.requestDelayMaxMs,
      tradeReportDelayMaxMs: timing.tradeReportDelayMaxMs,
      transferListDelayMaxMs: timing.transferListDelayMaxMs,
      privatePollMs: timing.privatePollMs,
      // The polls of all books share one budget.
      bookPollMs: 1_600 * symbols.length,
      staleAfterMs: 5_000 * symbols.length,
    },
  };
  const loaded = loadConfig(JSON.stringify(raw), `seed ${seed}`);
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return {
    ...one,
    ...{ config: loaded.config, balances },
    ...{ desks: null, dollarPremiumBps: null, hasInbox: false, there: null },
  };
}

/** Returns two to four books, in any order. All of them have a currency in common with another. */
function drawnSymbols(chance: Chance): readonly string[] {
  const left = Object.keys(BOOKS).filter(symbol => symbol !== BOOK);
  const symbols = [BOOK];
  const count = chance.pick([2, 2, 3, 3, 4]);
  while (symbols.length < count) symbols.push(...left.splice(chance.integer(0, left.length - 1), 1));
  return symbols.sort(() => chance.next() - 0.5);
}

type Drawn = {
  readonly seed: number;
  readonly swarm: Swarm;
  readonly one: Scenario;
  readonly chance: Chance;
  readonly balances: Readonly<Record<string, string>>;
};

/** Returns the entry of one book. Only the home of a currency, its first book, can have a target. */
function entryOf({ seed, swarm, one, chance, balances }: Drawn, symbol: string, isHome: boolean) {
  const { unit, perMxn } = BOOKS[symbol]!;
  const [major, minor] = pairOf(symbol);
  const amount = chance.integer(2, 6);
  const levels = isCalm(seed) ? 2 : chance.integer(1, 3);
  const tight = swarm.has('tight limits');
  const room = isCalm(seed) ? 60 : tight ? chance.integer(5, 9) : chance.integer(8, 40);
  const sum = (units: number) => (units * unit).toFixed(3);
  const mxn = (of: number) => String(Math.ceil(of * perMxn));
  const ladder = {
    name: 'ladder',
    reference: chance.pick(['mid', 'mid', 'weightedMid', 'bestBidAsk']),
    halfSpreadBps: minor === 'usd' ? chance.pick([6, 8, 11]) : chance.pick([10.6, 11, 13]),
    levels,
    levelSpacingBps: chance.pick([4, 6, 9]),
    amount: sum(amount),
    refreshToleranceBps: isCalm(seed) ? 4 : chance.pick([0.5, 2, 4]),
    maxOrderAgeMs: isCalm(seed) ? 1_800_000 : chance.pick([30_000, 300_000, 1_800_000]),
    minEdgeBps: 1,
    skew: { priceBpsAtLimit: chance.pick([0, 10]) },
  };
  const limits = {
    positionMax: sum(amount * room),
    ...{ orderValueMax: mxn(50_000), ordersMax: 12, collarBps: 200 },
    ...{ drawdownMax: mxn(tight ? 60 : 5_000), dayLossMax: mxn(tight ? 100 : 5_000) },
    ...(!isCalm(seed) && chance.hit(0.3) ? { orderAmountMax: sum(amount) } : {}),
  };
  const halts = tight && chance.hit(0.7) ? { fillsPer10Min: 40, unknownsPerMinute: 10, messagesPerMinute: 300 } : {};
  const markouts = { horizonMs: 5_000, halfLifeMs: 60_000, minFills: 2, standardErrors: 0, widenBpsMax: 20 };
  const target = isHome && chance.hit(0.7) ? { target: balances[major]! } : {};
  const entry = {
    ...{ symbol, strategy: ladder as Readonly<Record<string, unknown>>, limits, halts },
    ...(!isCalm(seed) && chance.hit(0.4) ? { markouts } : {}),
    ...(isHome ? { inventory: target } : {}),
  };
  if (symbol !== BOOK || !swarm.has('drawn configuration')) return entry;
  const other = drawnConfig(
    chanceOf(seed, 'drawn configuration'),
    {
      ...{ book: BOOK, instance: one.config.instance, exchange: { kind: 'embedded', stream: one.usesStream } },
      ...{ strategy: ladder, limits, halts, inventory: { target: '1.5' } },
    },
    one.usesStream,
  );
  // A reference price would be read apart; books have none here.
  if (other === null || other.reference !== undefined || 'file' in other.strategy) return entry;
  const { strategy, regimes, pull } = other;
  return {
    ...{ ...entry, strategy: strategy as Readonly<Record<string, unknown>>, limits: other.limits, regimes },
    ...(pull && { pull }),
  };
}

/** Limits of some base currencies, around what one of their books may hold. */
function currencyLimits(
  chance: Chance,
  entries: readonly { readonly symbol: string; readonly limits: { readonly positionMax: string } }[],
): Readonly<Record<string, string>> {
  const limits: Record<string, string> = {};
  for (const major of new Set(entries.map(({ symbol }) => pairOf(symbol)[0]))) {
    if (!chance.hit(0.7)) continue;
    const own = entries.filter(({ symbol }) => pairOf(symbol)[0] === major);
    const most = Math.max(...own.map(({ limits: { positionMax } }) => Number(positionMax)));
    limits[major] = (most * chance.pick([0.3, 0.6, 1, 1.5])).toFixed(3);
  }
  return limits;
}

/** Returns the books of a scenario, each with its own configuration. */
export const configsOf = ({ config }: Scenario): readonly Config[] => booksOf(config);
