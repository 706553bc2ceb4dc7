/** A bot that quotes both sides and lacks nothing. */
import { accountTierOf, moneyOf } from '../../src/core/index.ts';
import type { Monitored } from '../../src/monitor/index.ts';

export const calm = (): Monitored => ({
  book: 'btc_mxn',
  majorCurrency: 'btc',
  minorCurrency: 'mxn',
  quotesLive: { buy: 3, sell: 5 },
  quotePrice: { buy: moneyOf('1498350'), sell: moneyOf('1501650') },
  mid: moneyOf('1500005'),
  position: new Map([
    ['btc', moneyOf('1.5')],
    ['mxn', moneyOf('2000000')],
  ]),
  pnl: { spread: moneyOf('100.5'), inventory: moneyOf('-3'), hedging: moneyOf('-1.5'), fees: moneyOf('-12.25') },
  profitSinceOpening: {
    spread: moneyOf('150'),
    inventory: moneyOf('-7'),
    hedging: moneyOf('-2'),
    fees: moneyOf('-20.5'),
  },
  profitOfRun: { spread: moneyOf('50'), inventory: moneyOf('-1'), hedging: moneyOf('-0.5'), fees: moneyOf('-6') },
  spreadBps: 22,
  marketSpreadBps: 17.2,
  bookAgeMs: 400,
  budget: { public: 40, private: 290 },
  bookBudget: { bookReads: 44, readWaits: 12, placementWaits: 3 },
  streamUp: true,
  queueAhead: { buy: moneyOf('0.25'), sell: null },
  notQuoting: [],
  decisions: [],
  regime: 'normal',
  regimes: { normal: 11, wide: 12, 'reduce only': 13, paused: 14, halted: 15 },
  figures: [{ name: 'gamma', value: 0.002, unit: 'per mxn' }],
  sources: [
    {
      ...{ name: 'kraken', refusal: null, detail: null, price: 150_010, sell: 150_000, buy: 150_020, feeBps: 10 },
      ...{ quoteRate: null, ageMs: 250, lagMs: 40, basisBps: -12.5, basisErrorBps: 0.5 },
    },
    {
      ...{
        name: 'far',
        refusal: 'stale',
        detail: 'far btc_mxn: 6.0 s, at most 5.0 s',
        price: null,
        sell: null,
        buy: null,
      },
      ...{ feeBps: 10, quoteRate: null, ageMs: 6_000, lagMs: null, basisBps: null, basisErrorBps: null },
    },
  ],
  elsewhere: {
    ...{ place: 'far', held: moneyOf('1.25'), funds: { base: moneyOf('1.2'), quote: moneyOf('90000.5') } },
    ...{
      baseCurrency: 'btc',
      quoteCurrency: 'usdt',
      quoteHeld: moneyOf('90100'),
      isOpen: true,
      debtMax: moneyOf('0.05'),
      band: moneyOf('0.001'),
    },
    inTransit: { base: moneyOf('0.5'), quote: moneyOf('-20') },
    ...{ rate: moneyOf('18.25'), openOrders: 1, failures: 2, debt: moneyOf('0.004'), debtValue: moneyOf('6000') },
    ...{ drift: moneyOf('-500'), driftValue: moneyOf('-9125'), closed: { buy: null, sell: null } },
  },
  fees: {
    makerRate: 560_000,
    tier: accountTierOf(
      {
        book: 'btc_mxn',
        maker: '0.0056',
        taker: '0.00728',
        volumeCurrency: 'mxn',
        currentVolume: '612345.10',
        nextVolume: '1000000',
        nextMaker: '0.0055',
      },
      [],
      'mxn',
    ),
  },
  markouts: {
    curves: [
      { side: 'buy', level: null, seconds: [0, 15], fills: [4, 3], bps: [9.5, 4], errorBps: [0.5, 1.5] },
      { side: 'sell', level: 1, seconds: [0, 15], fills: [1, 0], bps: [9, null], errorBps: [null, null] },
    ],
    widenBps: { buy: 1.5, sell: 0.75 },
  },
  limits: {
    uses: [
      { limit: 'positionMax', currency: 'btc', max: moneyOf('0.5'), used: moneyOf('0.125') },
      { limit: 'ordersMax', currency: null, max: 20, used: 6 },
      { limit: 'drawdownMax', currency: 'mxn', max: moneyOf('2000'), used: moneyOf('150') },
    ],
    sentinelAgeMs: 1_500,
    diskFreeBytes: 20_000_000_000,
  },
  isStoppedCleanly: false,
  disk: {
    journalWritable: true,
    inbox: {
      counts: { stored: 12, repeated: 3, turnedAway: 1, tooMany: 4, waiting: 5, noRoom: 6, failed: 7 },
      keptBytes: 24_000,
      problem: null,
    },
  },
  remote: { accepted: 4, foreign: 2, old: 1, repeated: 5, 'too many': 6, ignored: 3 },
  eventLoop: { median: 0.1, p99: 4, longest: 62.5 },
  isPaper: false,
});
