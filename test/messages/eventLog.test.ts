import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { logEvent } from '../../src/messages/eventLog.ts';
import {
  amount,
  firstRegime,
  money,
  price,
  REGIMES,
  type EngineNews,
  type Order,
  type OrderNews,
  type Regime,
  type RegimeState,
  type RiskRefusal,
} from '../../src/core/index.ts';
import { btcMxn } from '../core/market.ts';
import { memoryLog } from '../memoryLog.ts';
import { logger } from '../../src/cli/terminal/logger.ts';

/** What is written of a piece of news: its level and sentence, or nothing. */
type Told = readonly [level: string, sentence: string] | null;
type Case<N> = readonly [N, Told];

const order: Order = {
  id: 'demo-7-1',
  side: 'buy',
  price: price(149_900_000),
  amount: amount(5_000_000),
  placedAt: 0,
  filled: amount(0),
  state: 'open',
  ending: null,
  oid: 'oid1',
};
const command = { kind: 'place', id: 'demo-7-2', side: 'sell', price: order.price, amount: order.amount } as const;
const level = {
  side: 'sell',
  index: 0,
  price: order.price,
  amount: order.amount,
  why: [{ name: 'mid', ticks: 1.5 }],
} as const;
const fill = {
  tid: '9',
  id: order.id,
  oid: 'oid1',
  at: 0,
  book: 'btc_mxn',
  side: 'buy',
  price: order.price,
  major: money(10n ** 18n),
  minor: money(1_499_000n * 10n ** 18n),
  fee: money(10n),
  feeIn: 'major',
  maker: true,
} as const;

/** Every kind has its cases: the compiler finds one that is missing. */
type Cases<Union extends { readonly kind: string }> = {
  readonly [K in Union['kind']]: readonly Case<Extract<Union, { readonly kind: K }>>[];
};

const ORDER_NEWS: Readonly<Record<OrderNews['kind'], Told>> = {
  unknown: ['warn', 'demo-7-1: outcome unknown; the order is treated as live until the exchange reports the order'],
  resolved: ['info', 'demo-7-1: the exchange has reported the order; its outcome is known'],
  reopened: [
    'warn',
    'demo-7-1: the exchange shows the order as open, though the bot considered the order ended; the order is treated as live again',
  ],
  'late fill': ['warn', 'demo-7-1: the exchange listed a fill after the order had ended; the fill is booked'],
  adopted: [
    'warn',
    'demo-7-1: the order is open, but this run did not place the order; the bot treats the order as live and cancels it',
  ],
  'trades missing': [
    'warn',
    "demo-7-1: the exchange reports a larger filled amount than the order's trades show; the difference stays reserved until the amounts match",
  ],
  ended: ['debug', 'demo-7-1 ended: canceled'],
};

const orderNews = (kind: OrderNews['kind']): OrderNews =>
  kind === 'ended' ? { kind, order, ending: 'canceled' } : { kind, order };

/** Why nothing is quoted; a stop says so itself. */
const REFUSALS: Readonly<Record<RiskRefusal, Told>> = {
  stopping: null,
  halted: ['warn', 'not quoting: halted'],
  'paused by a person': ['warn', 'not quoting: paused by a person'],
  'not ready': ['warn', 'not quoting: not ready'],
  'no limits': ['warn', 'not quoting: no limits'],
  'rules of the book changed': ['warn', 'not quoting: rules of the book changed'],
  'book is not traded any more': ['warn', 'not quoting: book is not traded any more'],
  'book stale': ['warn', 'not quoting: book stale'],
  'book one-sided': ['warn', 'not quoting: book one-sided'],
  'book crossed': ['warn', 'not quoting: book crossed'],
  'no live price': ['warn', 'not quoting: no live price'],
  'price moved too far': ['warn', 'not quoting: price moved too far'],
  'private data stale': ['warn', 'not quoting: private data stale'],
  'ledger differs from the balances': ['warn', 'not quoting: ledger differs from the balances'],
  'sentinel is missing': ['warn', 'not quoting: sentinel is missing'],
  'held by the sentinel': ['warn', 'not quoting: held by the sentinel'],
  'price outside the collar': ['warn', 'not quoting: price outside the collar'],
  'price too far from past prices': ['warn', 'not quoting: price too far from past prices'],
  'price or amount outside the book rules': ['warn', 'not quoting: price or amount outside the book rules'],
  'order value limit': ['warn', 'not quoting: order value limit'],
  'order amount limit': ['warn', 'not quoting: order amount limit'],
  'order count limit': ['warn', 'not quoting: order count limit'],
  'position limit': ['warn', 'not quoting: position limit'],
  'currency limit': ['warn', 'not quoting: currency limit'],
  'value limit': ['warn', 'not quoting: value limit'],
  'hedge debt limit': ['warn', 'not quoting: hedge debt limit'],
  'waits for a hedge': ['warn', 'not quoting: waits for a hedge'],
  'no hedge elsewhere': ['warn', 'not quoting: no hedge elsewhere'],
  'reduce only': ['warn', 'not quoting: reduce only'],
  'would cross the book': ['warn', 'not quoting: would cross the book'],
  'not towards the target': ['warn', 'not quoting: not towards the target'],
  'would cross our own order': ['warn', 'not quoting: would cross our own order'],
  'would cross another order of the account': ['warn', 'not quoting: would cross another order of the account'],
  'insufficient funds': ['warn', 'not quoting: insufficient funds'],
  'too many unknown orders': ['warn', 'not quoting: too many unknown orders'],
};

const regime = (name: Regime): RegimeState => ({ ...firstRegime, regime: name, why: `why ${name}` });

/** A change to or from "wide" and "reduce only" is told; a pause and a halt say so themselves. */
function toldOfRegimes(from: Regime, to: Regime): Told {
  if (to === 'paused' || to === 'halted') return null;
  if (to === 'reduce only') return ['warn', `regime: reduce only (why reduce only), was ${from}`];
  if (to === 'wide' || from === 'wide' || from === 'reduce only')
    return ['info', `regime: ${to} (why ${to}), was ${from}`];
  return null;
}

const NEWS: Cases<EngineNews> = {
  fill: [
    [
      { kind: 'fill', fill, level: 2, gain: money(1_254n * 10n ** 15n) },
      ['info', 'bought 1 btc at 1499000.00 as maker, level 2, fee 0.00000000000000001 btc, profit +1.25 mxn'],
    ],
    [
      { kind: 'fill', fill: { ...fill, side: 'sell', maker: false }, level: null, gain: null },
      ['info', 'sold 1 btc at 1499000.00 as taker, fee 0.00000000000000001 btc'],
    ],
  ],
  quoting: [
    [{ kind: 'quoting', reason: null, why: null }, ['info', 'quoting']],
    [
      { kind: 'quoting', reason: null, why: 'no bid and no ask: order value limit' },
      ['warn', 'nothing is quoted: no bid and no ask: order value limit'],
    ],
    [
      { kind: 'quoting', reason: null, why: 'own.ts failed', severity: 'error' },
      ['error', 'nothing is quoted: own.ts failed'],
    ],
    [
      { kind: 'quoting', reason: null, why: 'own.ts waits', severity: 'info' },
      ['info', 'nothing is quoted: own.ts waits'],
    ],
    [
      { kind: 'quoting', reason: 'not ready', why: 'the balances have not been read yet' },
      ['warn', 'not quoting: not ready (the balances have not been read yet)'],
    ],
    ...(Object.keys(REFUSALS) as RiskRefusal[]).map(
      reason =>
        [{ kind: 'quoting', reason, why: null }, REFUSALS[reason]] as Case<Extract<EngineNews, { kind: 'quoting' }>>,
    ),
  ],
  'price doubt': [
    [{ kind: 'price doubt', doubt: null }, ['info', 'the cross rates agree again']],
    [
      { kind: 'price doubt', doubt: { isPulled: true, distance: -0.00967, books: ['btc_mxn', 'btc_usd', 'usd_mxn'] } },
      ['warn', 'the cross rates disagree (btc_mxn, btc_usd, usd_mxn: 96.7 bps): no quotes until they agree'],
    ],
    [
      { kind: 'price doubt', doubt: { isPulled: false, distance: 0.00967, books: ['btc_mxn', 'btc_usd', 'usd_mxn'] } },
      [
        'warn',
        'the cross rates disagree (btc_mxn, btc_usd, usd_mxn: 96.7 bps): one side is moved away until they agree',
      ],
    ],
  ],
  placing: [[{ kind: 'placing', command, level }, ['debug', 'placing sell 0.05 at 1499000.00']]],
  taking: [
    [
      { kind: 'taking', command: { ...command, takes: true } },
      ['info', 'taker order: sell 0.05 at 1499000.00 or better; the unfilled rest is canceled'],
    ],
  ],
  'not taken': [[{ kind: 'not taken', id: command.id, why: 'too late' }, null]],
  canceling: [[{ kind: 'canceling', order, reason: 'not ready' }, ['debug', 'canceling buy at 1499000.00: not ready']]],
  refused: [
    [
      { kind: 'refused', order, code: '0379', message: 'too little' },
      ['warn', 'demo-7-1 was rejected (0379): too little'],
    ],
  ],
  order: (Object.keys(ORDER_NEWS) as OrderNews['kind'][]).map(kind => [
    { kind: 'order', news: orderNews(kind) },
    ORDER_NEWS[kind],
  ]),
  regime: REGIMES.flatMap(from =>
    REGIMES.filter(to => to !== from).map(
      to =>
        [{ kind: 'regime', from: regime(from), to: regime(to) }, toldOfRegimes(from, to)] as Case<
          Extract<EngineNews, { kind: 'regime' }>
        >,
    ),
  ),
  halted: [
    [
      { kind: 'halted', reason: 'drawdown: 5001' },
      ['error', 'halted: drawdown: 5001; investigate, then resume with: puntas resume -c my.yaml --reason "..."'],
    ],
  ],
  count: [[{ kind: 'count', side: 'buy', event: 'placed' }, null]],
};

const cases: readonly Case<EngineNews>[] = Object.values(NEWS).flat();

describe('what a person is told', () => {
  test.each(cases.map(([news, told]) => [JSON.stringify(news, textOfBig), news, told] as const))(
    'of %s goes through the log that ships',
    (_, news, told) => {
      const { log, lines } = memoryLog();
      logEvent(log, btcMxn, news, 'puntas resume -c my.yaml --reason "..."');
      expect(lines.map(line => [line.level, line.text])).toEqual(told === null ? [] : [told]);
    },
  );

  test('may be anything at all: the log writes one line of it and never throws', () => {
    fc.assert(
      fc.property(
        fc.object({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
        fc.string(),
        (known, text) => {
          const written: string[] = [];
          const log = logger('debug', [], { write: line => void written.push(line) });
          for (const name of ['debug', 'info', 'warn', 'error'] as const) log[name](known, text);
          expect(written).toHaveLength(4);
          expect(written.every(line => line.endsWith('\n') && line.indexOf('\n') === line.length - 1)).toBe(true);
        },
      ),
    );
  });
});

const textOfBig = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
