/** What the documents leave open: the client reads and survives every variant of every switch of the embedded exchange. */
import { expect, it } from 'vitest';
import { amount, price, type Outcome } from '../../src/core/index.ts';
import { SWITCHES } from '../../src/sandbox/index.ts';
import { isMany } from '../many.ts';
import { everyWay, type Stage } from './driver.ts';

const VARIANTS = Object.entries(SWITCHES).flatMap(([name, row]): [string, string | number | boolean][] =>
  row.kind === 'choice'
    ? row.variants.map((variant): [string, string | number | boolean] => [name, variant])
    : [row.fallback, Math.min(row.max, row.fallback * 2 + 1)].map((value): [string, number] => [name, value]),
);

/** A session that touches every endpoint of v3 and v4; its outcomes by name. */
async function session({ ann, bob, clock, house, stranger }: Stage): Promise<Record<string, Outcome<unknown>>> {
  const { client } = ann;
  const of = (originId: string) =>
    ({ book: 'btc_mxn', side: 'sell', price: '1500000', major: '0.1', originId, timeInForce: 'post only' }) as const;
  const usd = house('usd_mxn');
  usd.place('buy', price(18_300), amount(10 ** 13), 'GTC');
  usd.place('sell', price(18_310), amount(10 ** 13), 'GTC');
  const out: Record<string, Outcome<unknown>> = {};
  const placed = (out['place'] = await client.place(of('a')));
  out['post-only cross'] = await bob.client.place({ ...of('x'), side: 'buy' });
  out['again'] = await client.place(of('a'));
  out['stop'] = await client.placeOrder({ ...of('s'), type: 'limit', timeInForce: 'postonly', stop: '1400000' });
  await clock.advance(30);
  out['taken'] = await bob.client.placeOrder({
    book: 'btc_mxn',
    side: 'buy',
    type: 'market',
    major: '0.03',
    slippageTolerance: '1',
  });
  await clock.advance(30);
  if (placed.kind === 'done') {
    out['modify'] = await client.modify({ originId: 'a' }, { price: '1510000' });
    out['trades of one'] = await client.orderTrades({ oid: (placed.value as { oid: string }).oid });
  }
  await clock.advance(30);
  for (const [name, call] of Object.entries({
    books: () => stranger.availableBooks(),
    book: () => stranger.orderBook('btc_mxn'),
    'whole book': () => stranger.orderBook('btc_mxn', false),
    trades: () => stranger.trades('btc_mxn'),
    'trades of none': () => stranger.trades('nope_usd'),
    ticker: () => stranger.ticker('btc_mxn'),
    tickers: () => stranger.tickers(),
    candles: () => stranger.candles({ book: 'btc_mxn', seconds: 60, from: 0, to: clock.now() }),
    open: () => client.openOrders(),
    'look up': () => client.lookUp({ originIds: ['a', 's'] }),
    'look up none': () => client.order('unknown'),
    'user trades': () => client.userTrades(),
    'trades of origin': () => client.orderTrades({ originId: 'a' }),
    'trades of unknown': () => client.orderTrades({ oid: 'unknown' }),
    balances: () => client.balances(),
    fees: () => client.feeSchedule(),
    status: () => client.accountStatus(),
    'cancel none': () => client.cancelOne('unknown'),
    replace: () => client.replace({ originId: 's' }, { stop: '1410000' }),
    'cancel all': () => client.cancelAll(),
  }))
    out[name] = await call();
  const quote = await client.requestConversion({ from: 'mxn', to: 'usd', spend: '5200' });
  out['quote'] = quote;
  if (quote.kind === 'done') {
    const started = (out['execute'] = await client.executeConversion(quote.value.id));
    if (started.kind === 'done')
      out['conversion'] = await client.conversion((started.value as { conversionId: string }).conversionId);
  }
  return out;
}

/** Codes that say nothing about whether a write took effect stay unknown to the client, on purpose. */
const OPEN_CODES = /\b(1000|1002|0801)\b/;

everyWay(
  open => {
    it.each(VARIANTS)(
      'public-facts 18 with %s %s every reply is read, and no outcome is unknown but by its code',
      async (name, variant) => {
        const outcomes = await session(open({ [name.replace('MinMs', 'MaxMs')]: variant, [name]: variant }));
        for (const [step, outcome] of Object.entries(outcomes)) {
          if (outcome.kind !== 'unknown') continue;
          expect(outcome.reason, step).toMatch(OPEN_CODES);
        }
        expect(Object.keys(outcomes).length).toBeGreaterThan(20);
      },
    );
  },
  // A switch changes the text of replies, whichever way they come.
  isMany ? undefined : ['in process'],
);
