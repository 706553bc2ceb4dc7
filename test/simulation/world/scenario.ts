/** Random values of a seed other than its faults: the configuration of the bot, and the lengths of all phases. */
import { loadConfig, type Config } from '../../../src/config.ts';
import type { Millis } from '../../../src/core/index.ts';
import { FLOW_PROFILES, type FlowProfile, type Switches } from '../../../src/sandbox/index.ts';
import { chanceOf, type Chance } from './chance.ts';
import { drawnConfig } from './drawnConfig.ts';
import { isCalm, type Swarm } from './faults.ts';

export const BOOK = 'btc_mxn';
export const INSTANCE = 'sim';
/** Opening balances on each exchange. */
const BALANCES = { btc: '1.5', mxn: '3000000' };
/** Dollars on the first exchange, for transfers. */
const USDT = '100000';
/** Prices from which opening balances on the second exchange follow. */
const PRICE = 1_500_000;
const MXN_PER_USDT = 18.5;

export type Scenario = {
  readonly config: Config;
  readonly profile: FlowProfile;
  readonly balances: Readonly<Record<string, string>>;
  readonly usesStream: boolean;
  readonly hasSentinel: boolean;
  /**
   * Time at which a listed cancel takes effect: before its answer, as the interface document says, or after the
   * engine's delay.
   */
  readonly cancelTiming: Switches['cancelTiming'];
  /** Switches of the exchange's conversion desks; `null` if the bot does not hedge. */
  readonly desks: Partial<Switches> | null;
  /** Premium of the coin's dollar price over the bot's book, in bps; `null` if no hedge goes through dollars. */
  readonly dollarPremiumBps: number | null;
  /** Time at which a withdrawal reduces the total, and delay of the transfer lists. */
  readonly lists: Pick<Switches, 'withdrawalTotal' | 'transferListDelayMs'>;
  /** Whether the bot receives webhooks. */
  readonly hasInbox: boolean;
  /** Book and opening balances on the second exchange; `null` if there is none. */
  readonly there: Place | null;
  /** Duration of a run, after which the same process starts the next run. */
  readonly rollAfterMs: Millis;
  /** Duration of the phase with faults. */
  readonly safetyMs: Millis;
  /**
   * Duration of the phase without faults, by whose end the bot must have recovered. The operator then stops the bot.
   */
  readonly healMs: Millis;
  /** Time after the stop in which no order of the bot may appear. */
  readonly quietMs: Millis;
  /** Longest time for which the network holds a request: within what the fence assumes. */
  readonly heldMaxMs: Millis;
};

/** `isRefilled`: whether persons send money when little is left there. */
export type Place = {
  readonly book: string;
  readonly balances: Readonly<Record<string, string>>;
  readonly isRefilled: boolean;
};

/** Time that the fence adds to the longest hold, to cover a delayed read. */
const FENCE_MARGIN_MS = 10_000;
/**
 * Time for which the bot waits for a transfer list, so short that an operator can still act in the phase without
 * faults.
 */
const LIST_WAIT_MS = 50_000;

/**
 * Returns the scenario of a seed. `mayBeAny`: whether it may have a strategy other than the ladder. `isElsewhere`:
 * whether the bot hedges on a second exchange, and there alone.
 */
export function scenarioOf(seed: number, swarm: Swarm, mayBeAny = true, isElsewhere = false): Scenario {
  const chance = chanceOf(seed, 'scenario');
  const fenceMs = chance.pick([50_000, 50_000, 70_000]);
  const settleMs = 20_000;
  const amount = chance.integer(2, 6);
  const levels = isCalm(seed) ? 3 : chance.integer(1, 3);
  const tight = swarm.has('tight limits');
  const asked = isCalm(seed) ? 60 : tight ? chance.integer(5, 9) : chance.integer(8, 40);
  const usesStream = chance.hit(0.5);
  const second = chanceOf(seed, 'sentinel');
  const hasSentinel = second.hit(0.5);
  const rolls = chanceOf(seed, 'rolls');
  const rollAfterMs = !isCalm(seed) && rolls.hit(0.5) ? rolls.between(60_000, 300_000) : Infinity;
  const desk = chanceOf(seed, 'hedge');
  const hedges = desk.hit(0.5) && !isElsewhere;
  // So little that one side of the quotes alone may fill it.
  const room = hedges && !isCalm(seed) && desk.hit(0.4) ? levels + (levels * (levels - 1)) / 2 / amount : asked;
  const ways = chanceOf(seed, 'ways of hedges');
  const hedging = hedges ? withMoreWays(ways, swarm, hedgingOf(desk, amount, room)) : null;
  const adverse = chanceOf(seed, 'markouts');
  const markouts = {
    horizonMs: adverse.pick([1_000, 5_000, 15_000]),
    halfLifeMs: adverse.pick([60_000, 600_000]),
    minFills: 2,
    standardErrors: 0,
    toleratedBps: 0,
    widenBpsMax: adverse.pick([0, 20]),
  };
  const prices = chanceOf(seed, 'fair value');
  const fairValue = !isCalm(seed) && prices.hit(0.4) ? fairValueOf(prices, usesStream) : null;
  const there = isElsewhere ? placeOf(chanceOf(seed, 'account there'), swarm, amount) : null;
  const areTransfers = there?.isRefilled === true || swarm.has('elsewhere transfers');
  const bounds = !isCalm(seed) && mayBeAny ? moreLimitsOf(chanceOf(seed, 'more limits'), amount) : null;
  const listing = chanceOf(seed, 'transfer lists');
  const counted = chance.pick(['mid', 'mid', 'weightedMid', 'bestBidAsk']);
  const raw = {
    book: BOOK,
    instance: INSTANCE,
    exchange: { kind: 'embedded', stream: usesStream },
    strategy: {
      name: 'ladder',
      reference: fairValue ? 'mid' : counted,
      halfSpreadBps: chance.pick([10.6, 11, 13]),
      levels,
      levelSpacingBps: chance.pick([4, 6, 9]),
      amount: (amount / 1000).toFixed(3),
      levelAmountStep: chance.pick(['0', '0.001']),
      refreshToleranceBps: isCalm(seed) ? 4 : chance.pick([0.5, 2, 4]),
      maxOrderAgeMs: isCalm(seed) ? 1_800_000 : chance.pick([30_000, 300_000, 1_800_000]),
      minEdgeBps: 1,
      skew: { priceBpsAtLimit: chance.pick([0, 10]) },
    },
    ...(fairValue ? { fairValue } : {}),
    ...(fairValue?.reference ? { reference: { feeds: [{ file: 'the book itself' }], everyMs: 10_000 } } : {}),
    limits: {
      positionMax: ((amount * room) / 1000).toFixed(3),
      orderValueMax: '50000',
      ordersMax: 12,
      collarBps: 200,
      drawdownMax: tight ? '60' : '5000',
      dayLossMax: tight ? '100' : '5000',
      ...bounds?.limits,
    },
    halts: tight ? { fillsPer10Min: 40, unknownsPerMinute: 10, messagesPerMinute: 300 } : {},
    ...(!isCalm(seed) && adverse.hit(0.5) ? { markouts } : {}),
    sentinel: { required: hasSentinel && second.hit(0.5) },
    inventory: { target: there ? String(1.5 + Number(there.balances['btc'])) : (hedging?.target ?? '1.5') },
    ...(there ? elsewhereOf(chanceOf(seed, 'elsewhere'), amount, room, there, areTransfers) : {}),
    ...(hedging ? { hedge: { ...hedging.hedge, ...bounds?.hedge } } : {}),
    timing: {
      ...{
        requestDelayMaxMs: fenceMs,
        tradeReportDelayMaxMs: settleMs,
        transferListDelayMaxMs: LIST_WAIT_MS,
        privatePollMs: chance.pick([1_000, 2_000, 2_000]),
      },
      // A restart must find room beside the second reader of the book.
      ...(fairValue?.reference ? { bookPollMs: 1_600 } : {}),
    },
  };
  const loaded = loadConfig(JSON.stringify(raw), `seed ${seed}`);
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const isDrawn = swarm.has('drawn configuration') && mayBeAny;
  const other = isDrawn ? drawnConfig(chanceOf(seed, 'drawn configuration'), raw, usesStream) : null;
  const base = FLOW_PROFILES[BOOK]!;
  const busy = swarm.get('busy market') ?? 0;
  return {
    config: other ?? loaded.config,
    profile: { ...base, takersPerSecond: base.takersPerSecond * (1 + 4 * busy) * (hedging ? 2 : 1) },
    balances: there && there.book !== BOOK ? { ...BALANCES, usdt: USDT } : BALANCES,
    there,
    usesStream,
    hasSentinel,
    cancelTiming: chanceOf(seed, 'cancel timing').pick(['at once', 'queued']),
    desks: hedging?.desks ?? null,
    dollarPremiumBps: hedging && swarm.has('hedges over dollars') ? ways.integer(-40, 40) : null,
    lists: {
      withdrawalTotal: listing.pick(['at creation', 'at completion']),
      // Some lists are later than the bot waits for them.
      transferListDelayMs: listing.pick([0, 1_000, 15_000, 40_000, areTransfers ? 0 : 2 * LIST_WAIT_MS]),
    },
    hasInbox: chanceOf(seed, 'inbox').hit(0.5),
    rollAfterMs,
    safetyMs: chance.between(swarm.has('changed rules') ? 7.5 : 5, 12) * 60_000,
    healMs: fenceMs + settleMs + 75_000,
    quietMs: fenceMs + settleMs + 60_000,
    heldMaxMs: fenceMs - FENCE_MARGIN_MS,
  };
}

/** Limits that a configuration may omit, so low that they bind. `amount`: thousandths of the base currency. */
function moreLimitsOf(chance: Chance, amount: number) {
  const some = <T>(part: T): T | undefined => (chance.hit(0.3) ? part : undefined);
  return {
    limits: {
      orderAmountMax: some(((amount + chance.pick([0, 0.5])) / 1_000).toFixed(4)),
      priceMove: some({ bps: chance.pick([10, 12, 30]), windowMs: chance.pick([60_000, 120_000]) }),
    },
    hedge: { costDayMax: some(chance.pick(['3', '10', '40'])) },
  };
}

/** Some of the parts; the price from elsewhere is that of the book itself, read apart and late (`bot.ts`). */
function fairValueOf(chance: Chance, usesStream: boolean) {
  const some = <T>(part: T): T | undefined => (chance.hit(0.5) ? part : undefined);
  return {
    withinBps: chance.pick([20, 40]),
    mid: some({}),
    weightedMid: some({ weight: 2 }),
    lastTrades: usesStream ? some({ maxAgeMs: 600_000 }) : undefined,
    reference: some({ maxAgeMs: 30_000, ...(chance.hit(0.5) ? { basisMemory: '1m' } : {}) }),
    depthImbalance: some({ bpsPerDeviation: 1 }),
    orderFlowImbalance: some({ bpsPerUnit: chance.pick([0.5, 4]) }),
  };
}

/**
 * Half of the bots hedge: narrow bands, so that it happens, and some begin with more or less than they want. Amounts in
 * thousandths.
 */
function hedgingOf(chance: Chance, amount: number, room: number) {
  const band = amount * Math.min(chance.pick([0.5, 0.5, 1, 2]), room / 2);
  const offset = amount * chance.integer(-Math.floor(room / 2), Math.floor(room / 2));
  const life = chance.pick([10_000, 30_000, 30_000]);
  const delay = chance.integer(0, 4_000);
  return {
    target: ((1_500 - offset) / 1_000).toFixed(3),
    hedge: {
      band: (band / 1_000).toFixed(4),
      residual: chance.pick(['0', (band / 2_000).toFixed(5)]),
      venues: chance.pick([['rfq'], ['conversion'], ['rfq', 'conversion'], ['rfq', 'conversion']]),
      costMaxBps: chance.pick([25, 60, 150]),
      carryBpsPerHour: chance.pick([0, 0, 500]),
      everyMs: chance.pick([500, 1_000, 2_000]),
      pauseMs: chance.pick([2_000, 2_000, 10_000]),
      quoteLifeMinMs: chance.pick([3_000, 5_000]),
    },
    desks: {
      rfqSpreadPips: chance.pick([5, 15, 40]),
      conversionPaddingPips: chance.pick([5, 15, 100]),
      rfqQuoteLifeMs: life,
      quoteLifeMs: life,
      rfqPageSizeMax: chance.pick([1, 2, 500]),
      rfqListOrder: chance.pick(['newest first', 'oldest first', 'by id']),
      rfqLastToken: chance.pick(['omitted', 'empty']),
      rfqConversionId: chance.pick(['own', 'quote id']),
      rfqFunds: chance.pick(['moved at the end', 'locked at once']),
      rfqMaxTradableIn: chance.pick(['source', 'fixed']),
      rfqConvertOrder: chance.pick(['state first', 'funds first']),
      rfqExecutedAfterExpiry: chance.pick(['quote_already_executed', 'quote_not_found']),
      rfqTimeForm: chance.pick(['seconds', 'nanoseconds']),
      rfqAuthErrors: chance.pick(['rfq', 'v3']),
      rfqDelayMinMs: 0,
      rfqDelayMaxMs: delay,
      conversionQueueMs: delay,
    } satisfies Partial<Switches>,
  };
}

/** `amount`: thousandths of the base currency. */
function placeOf(chance: Chance, swarm: Swarm, amount: number): Place {
  const isOther = swarm.has('elsewhere other currency');
  const isShort = swarm.has('elsewhere short funds');
  const [lacksBase, lacksQuote] = chance.pick([
    [true, false],
    [false, true],
    [true, true],
  ] as const);
  const few = () => (amount * chance.pick([0, 0.7, 2, 5])) / 1_000;
  const [base, quote] = [few(), few() * PRICE];
  const isRefilled = chance.hit(0.5) && isShort;
  const mxn = isShort && lacksQuote ? quote : Number(BALANCES.mxn);
  return {
    book: isOther ? 'btc_usdt' : BOOK,
    balances: {
      btc: isShort && lacksBase ? base.toFixed(4) : BALANCES.btc,
      ...(isOther ? { usdt: (mxn / MXN_PER_USDT).toFixed(2) } : { mxn: mxn.toFixed(2) }),
    },
    isRefilled,
  };
}

/** Price in another currency: of the coin there, and of this currency. */
const SOURCES = [
  {
    name: 'there',
    ...{ from: 'elsewhere', amount: '0.02', feeBps: 5 },
    books: ['btc_usdt', { book: 'usdt_mxn', staleAfterMs: 60_000 }],
  },
];

/** Hedges on the second exchange. Amounts in thousandths of the base currency. */
function elsewhereOf(chance: Chance, amount: number, room: number, { book, balances }: Place, areTransfers: boolean) {
  const thousandths = (sum: number) => (sum / 1_000).toFixed(4);
  const band = amount * Math.min(chance.pick([0.5, 1, 2]), room / 2);
  return {
    elsewhere: { kind: 'embedded', book, balances, fees: { maker: '0.0004', taker: '0.0005' } },
    ...(book === BOOK ? {} : { reference: { everyMs: 10_000, sources: SOURCES } }),
    hedge: {
      ...{ venues: ['elsewhere'], band: thousandths(band), residual: '0' },
      ...{ costMaxBps: chance.pick([60, 150]), carryBpsPerHour: chance.pick([0, 500]) },
      everyMs: chance.pick([500, 1_000, 2_000]),
      elsewhere: {
        valueMin: chance.pick(['0', '0', '3000']),
        driftMax: chance.pick(['20000', '1000000']),
        debtMax: thousandths(amount * Math.min(room, chance.pick([1, 3, 10]))),
        failuresMax: chance.integer(0, 3),
        marginBps: chance.pick([2, 10]),
        ...(areTransfers ? { transferMax: { btc: '3', [book === BOOK ? 'mxn' : 'usdt']: '10000000' } } : {}),
      },
    },
  };
}

/** Adds hedges through the book and through dollars, with cost limits that some of these hedges exceed. */
function withMoreWays(chance: Chance, swarm: Swarm, hedging: ReturnType<typeof hedgingOf>) {
  const byBook = swarm.has('hedges by the book');
  const overDollars = swarm.has('hedges over dollars');
  if (!byBook && !overDollars) return hedging;
  const { venues, costMaxBps } = hedging.hedge;
  const routes = { via: ['usd'], riskBps: chance.pick([0, 10]), waitMs: chance.pick([10_000, 60_000]) };
  const isBookAlone = chance.hit(0.5);
  const limit = chance.pick([12, 30, costMaxBps]);
  return {
    ...hedging,
    hedge: {
      ...hedging.hedge,
      venues: byBook ? [...(isBookAlone ? [] : venues), 'book'] : venues,
      costMaxBps: byBook ? limit : costMaxBps,
      ...(overDollars ? { routes } : {}),
    },
  };
}
