import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  exceededValue,
  highPrices,
  money,
  moneyOf,
  OrderBook,
  valueCeil,
  worstValue as worstOf,
  type Instrument,
  type Side,
} from '../../../src/core/index.ts';
import { runsOf } from '../../many.ts';
import { quoteAround } from '../toyExchange.ts';
import { plain } from '../market.ts';
import { SharedAccount, type Balances } from '../sharedAccount.ts';

const BOOKS: readonly Instrument[] = [
  { ...plain, symbol: 'btc_mxn' },
  { ...plain, symbol: 'btc_usd', minor: 'usd' },
  { ...plain, symbol: 'usd_mxn', major: 'usd' },
  { ...plain, symbol: 'eth_usd', major: 'eth', minor: 'usd' },
];
const FUNDS: Balances = { btc: 1_000_000, eth: 1_000_000, usd: 1_000_000_000, mxn: 1_000_000_000_000 };
/** Books quote 990 and 1010; one dollar is bought at 11. */
const MIDS = { usd_mxn: 1 + 10 };
const ASK: Readonly<Partial<Record<string, number>>> = { btc: 1_010, usd: 21, eth: 1_010 * 21 };

const deskOf = (max: number): SharedAccount =>
  new SharedAccount(FUNDS, BOOKS, 1, null, {
    shared: { valueLimit: { currency: 'mxn', max: moneyOf(`${max}`) } },
    limits: { positionMax: 1_000_000, collarBps: 5_000 },
    strategyOf: ({ symbol }) => (symbol === 'usd_mxn' ? quoteAround(2, 3) : quoteAround(20, 30, 40)),
  }).open(MIDS);

const held = ({ balances }: SharedAccount, currency: keyof Balances): number => balances[currency] - FUNDS[currency];

/** Largest value that the distances can have after any fills of live orders: every combination of directions is tried. */
function worstValue(desk: SharedAccount): number {
  const names = ['btc', 'usd', 'eth'] as const;
  const live = [...desk.live.values()].map(({ command, book, left }) => {
    const sign = command.side === 'buy' ? 1 : -1;
    return { [book.major]: sign * left, [book.minor]: -sign * left * command.price };
  });
  let worst = 0;
  for (let bits = 0; bits < 8; bits++) {
    const valueOf = (of: (name: (typeof names)[number]) => number): number =>
      names.reduce((sum, name, i) => sum + ((bits & (1 << i)) === 0 ? -1 : 1) * of(name) * ASK[name]!, 0);
    const fills = live.reduce(
      (sum, change) =>
        sum +
        Math.max(
          0,
          valueOf(name => change[name] ?? 0),
        ),
      0,
    );
    worst = Math.max(worst, valueOf(name => held(desk, name)) + fills);
  }
  return worst;
}

const sidesOf = ({ live }: SharedAccount): readonly string[] =>
  [...new Set([...live.values()].map(({ book, command }) => `${book.symbol} ${command.side}`))].sort();

describe('the limit on the value of all currencies', () => {
  test('holds after any fills apart from the spread, with the live orders of all books', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10_000, max: 3_000_000 }),
        fc.array(fc.nat(100), { maxLength: 30 }),
        (max, fills) => {
          const desk = deskOf(max);
          expect(worstValue(desk)).toBeLessThanOrEqual(max);
          for (const which of fills) {
            const ids = [...desk.live.keys()];
            if (ids.length > 0) desk.fill(ids[which % ids.length]!, Infinity);
            desk.round(1_000, MIDS);
            expect(worstValue(desk)).toBeLessThanOrEqual(max * 1.05);
          }
        },
      ),
      runsOf(150, 30),
    );
  });

  test('refuses what raises it, and says the value, the limit and the key', () => {
    const desk = deskOf(25_000);
    const buy = (): string | undefined =>
      [...desk.live.values()].find(({ command, book }) => command.side === 'buy' && book.symbol === 'btc_mxn')?.command
        .id;
    for (let id = buy(); id !== undefined; id = buy()) {
      desk.fill(id, Infinity);
      desk.round(1_000, MIDS);
    }
    expect(held(desk, 'btc')).toBe(20);
    expect(sidesOf(desk)).toContain('btc_mxn sell');
    const { unshown, emptySidesText } = desk.engine.books[0]!.snapshot(desk.now);
    expect(unshown.buy?.reason).toBe('value limit');
    expect(emptySidesText).toMatch(
      /no bid: value limit \(with 10 btc at 980, all books could be \d+\.\d\d mxn from their targets, but accountLimits\.value\.max is 25000 mxn\)/,
    );
    expect(desk.engine.books[0]!.limitUses(desk.now)).toContainEqual({
      ...{ limit: 'accountLimits.value', currency: 'mxn', max: moneyOf('25000'), used: moneyOf(`${20 * 1_010}`) },
    });
  });

  test('without a price for what is held, only orders that add no risk are placed', () => {
    const desk = deskOf(10_000_000);
    const dollars = [...desk.live.values()].find(
      ({ book, command }) => book.symbol === 'usd_mxn' && command.side === 'buy',
    );
    desk.fill(dollars!.command.id, Infinity);
    desk.round(1_000, MIDS);
    const coins = [...desk.live.values()].find(
      ({ book, command }) => book.symbol === 'btc_mxn' && command.side === 'buy',
    );
    desk.fill(coins!.command.id, Infinity);
    desk.round(1_000, MIDS);
    // Both books that lead to the price of dollars become one-sided, so only btc_mxn is quoted.
    for (const symbol of ['usd_mxn', 'btc_usd']) {
      const book = new OrderBook();
      book.set('buy', 5 as never, 50 as never);
      desk.step({ kind: 'book', symbol, at: desk.now, startedAt: null, book });
    }
    const { levels, refusal } = desk.engine.books[0]!.preview(desk.now);
    expect(refusal).toBeNull();
    const verdicts = (side: Side) => levels.flatMap(one => (one.level.side === side ? [one.verdict] : []));
    expect(new Set(verdicts('buy'))).toEqual(new Set(['value limit']));
    // Ten coins are held, so one more ask cannot lead further away than the bids.
    expect(verdicts('sell')[0]).toBe('would be placed');
    const resting = [...desk.live.values()].filter(({ book }) => book.symbol === 'btc_mxn');
    for (const { command } of resting) if (command.side === 'buy') desk.fill(command.id, Infinity);
    desk.now += 100;
    const at = desk.now;
    desk.step({ kind: 'trades', at, startedAt: at, complete: true, trades: desk.takeTrades() });
    desk.step({ kind: 'timer', at });
    expect(desk.engine.books[0]!.snapshot(at).emptySidesText).toContain(
      'no bid: value limit (no fresh price leads from usd to mxn)',
    );
  });

  test('beyond the limit, inventory is reduced through a book whose quote currency has a target, and its orders stay', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 90 }),
        fc.constantFrom<Side>('buy', 'sell'),
        fc.constantFrom(5_000_000, 9_000_000),
        fc.boolean(),
        (lots, side, max, isEthToo) => {
          const mids = { btc_mxn: 1_000_000, btc_usd: 1_000, usd_mxn: 1_000, eth_usd: 1_000 };
          const desk = new SharedAccount(FUNDS, BOOKS, 1, null, {
            shared: { valueLimit: { currency: 'mxn', max: moneyOf(`${max}`) } },
            limits: { positionMax: 1_000_000 },
            strategyOf: ({ minor }) =>
              minor === 'usd' ? quoteAround(20, 30, 40) : { quote: () => ({ bids: [], asks: [] }) },
          }).open(mids);
          expect(sidesOf(desk)).toEqual([]);
          desk.trade(BOOKS[0]!, side, 1_000_000, lots);
          if (isEthToo) desk.trade(BOOKS[3]!, side, 1_000, 10);
          desk.round(1_000, mids).round(1_000, mids);
          const value = (): number =>
            (Math.abs(held(desk, 'btc')) + Math.abs(held(desk, 'eth'))) * 1_000_000 +
            Math.abs(held(desk, 'usd')) * 1_000;
          const started = value();
          const reduces = side === 'buy' ? 'sell' : 'buy';
          for (let away = lots; away >= 10; away = Math.abs(held(desk, 'btc'))) {
            expect(sidesOf(desk)).toContain(`btc_usd ${reduces}`);
            if (isEthToo && away === lots) expect(sidesOf(desk)).toContain(`eth_usd ${reduces}`);
            const ids = [...desk.live.keys()].filter(one => desk.live.get(one)!.command.side === reduces);
            desk.round(1_000, mids).round(1_000, mids);
            expect([...desk.live.keys()]).toEqual(expect.arrayContaining(ids));
            const id = ids.find(one => desk.live.get(one)!.book.symbol === 'btc_usd')!;
            desk.fill(id, Infinity);
            desk.round(1_000, mids).round(1_000, mids);
            expect(Math.abs(held(desk, 'btc'))).toBe(away - 10);
            expect(value()).toBeLessThanOrEqual(started * 1.05);
          }
        },
      ),
      runsOf(40, 10),
    );
  });

  test('is refused if no books lead to the currency', () => {
    expect(
      () =>
        new SharedAccount(FUNDS, BOOKS.slice(0, 2), 1, null, {
          shared: { valueLimit: { currency: 'mxn', max: moneyOf('1') } },
        }),
    ).not.toThrow();
    expect(
      () =>
        new SharedAccount(FUNDS, BOOKS.slice(0, 2), 1, null, {
          shared: { valueLimit: { currency: 'eur', max: moneyOf('1') } },
        }),
    ).toThrow('no books connect btc_mxn, btc_usd to eur');
  });
});

describe('the value of currencies', () => {
  const at = (bid: string, ask: string) => ({ bid: moneyOf(bid), ask: moneyOf(ask) });
  const prices = highPrices('mxn', [
    { base: 'btc', quote: 'usd', ...at('66500', '66540') },
    { base: 'usd', quote: 'mxn', ...at('17.98', '18.02') },
    { base: 'eth', quote: 'btc', ...at('0.03', '0.031') },
    { base: 'usd', quote: 'eur', ...at('0.9', '0.91') },
  ]);

  test('is at the asks of a chain, or over the bid in the other direction, rounded up', () => {
    expect(valueCeil(moneyOf('1'), prices.get('btc')!)).toBe(moneyOf('1199050.8'));
    expect(valueCeil(moneyOf('1'), prices.get('eth')!)).toBe(moneyOf('37170.5748'));
    expect(valueCeil(moneyOf('1'), prices.get('eur')!)).toBe(moneyOf('20.022222222222222223'));
    expect(valueCeil(1n, prices.get('eur')!)).toBe(21n);
    expect(prices.get('mxn')).toEqual({ numerator: 1n, denominator: 1n });
    expect(prices.has('brl')).toBe(false);
  });

  test('is through a pulled book only if no other chain leads there', () => {
    const pulled = { base: 'btc', quote: 'mxn', ...at('1300000', '1300100'), isPulled: true };
    const chain = [
      { base: 'btc', quote: 'usd', ...at('66500', '66540') },
      { base: 'usd', quote: 'mxn', ...at('17.98', '18.02') },
    ];
    const worth = (books: Parameters<typeof highPrices>[1]) =>
      valueCeil(moneyOf('1'), highPrices('mxn', books).get('btc')!);
    expect(worth([pulled, ...chain])).toBe(moneyOf('1199050.8'));
    expect(worth([pulled])).toBe(moneyOf('1300100'));
  });

  test('counts the larger direction of each currency, and names one away from its target without a price', () => {
    const btc = { currency: 'btc', up: moneyOf('1'), down: moneyOf('2'), price: prices.get('btc')! };
    const brl = { currency: 'brl', up: 0n, down: 0n, price: null };
    expect(worstOf([btc, brl], [])).toEqual({ value: moneyOf('2398101.6'), unpriced: null });
    expect(worstOf([btc, { ...brl, up: 1n }], [])).toEqual({ value: moneyOf('2398101.6'), unpriced: 'brl' });
  });

  test('an exchange of one currency for another counts by what it adds, and twice if both distances grow', () => {
    const usd = { currency: 'usd', up: 0n, down: 0n, price: prices.get('usd')! };
    const btc = (lots: bigint) => ({ currency: 'btc', up: lots, down: -lots, price: prices.get('btc')! });
    const sell = { side: 'sell', pair: ['btc', 'usd'], base: moneyOf('1'), quote: moneyOf('66540') } as const;
    const one = moneyOf('1199050.8');
    const worst = (lots: string) => worstOf([btc(moneyOf(lots)), usd], [sell]).value;
    expect([worst('2'), worst('1'), worst('0'), worst('-1')]).toEqual([2n * one, one, 2n * one, 3n * one]);
  });

  test('the price of an order that only reduces may raise the value by at most 5% of the order', () => {
    const at = (price: bigint) => ({ numerator: price, denominator: 1n });
    const held = [
      { currency: 'btc', up: moneyOf('10'), down: moneyOf('-10'), price: at(1_000n) },
      { currency: 'usd', up: 0n, down: 0n, price: at(1n) },
    ];
    const room = { currency: 'mxn', max: moneyOf('1'), held, others: [], pair: ['btc', 'usd'] as const };
    const none = { base: money(0n), quote: money(0n) };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 900, max: 1_200 }), (lots, price) => {
        const order = { base: moneyOf(`${lots}`), quote: moneyOf(`${lots * price}`) };
        const exceeded = exceededValue(room, { buy: none, sell: none }, 'sell', order);
        expect(exceeded === null, `${lots} at ${price}`).toBe(price <= 1_050);
      }),
    );
  });

  test('an order that only reduces is allowed beyond the limit, also without a price', () => {
    const none = { base: money(0n), quote: money(0n) };
    const orders = { buy: none, sell: none };
    const order = { base: moneyOf('4'), quote: moneyOf('10') };
    const reach = { up: moneyOf('3'), down: moneyOf('-3') };
    for (const price of [prices.get('btc')!, null]) {
      const held = [{ currency: 'btc', ...reach, price }];
      const room = { currency: 'mxn', max: moneyOf('1'), held, others: [], pair: ['btc', 'eur'] as const };
      expect(exceededValue(room, orders, 'sell', order)).toBeNull();
      expect(exceededValue(room, orders, 'buy', order)).toBe(price === null ? 'btc' : moneyOf(`${7 * 1_199_050.8}`));
    }
  });

  test('without prices, an order is refused exactly if it may lead a currency further away, unless its base currency stays on its side of the target', () => {
    const lots = fc.integer({ min: 0, max: 6 });
    const exchanged = fc.record({ base: lots, quote: lots });
    const distance = fc.integer({ min: -8, max: 8 });
    const seen = { allowed: 0, refused: 0, larger: 0 };
    fc.assert(
      fc.property(
        ...[distance, distance, fc.constantFrom<Side>('buy', 'sell'), exchanged, exchanged, exchanged],
        (btc, usd, side, buys, sells, order) => {
          const held = [
            { currency: 'btc', up: BigInt(btc), down: BigInt(-btc), price: null },
            { currency: 'usd', up: BigInt(usd), down: BigInt(-usd), price: null },
          ];
          const of = ({ base, quote }: typeof order) => ({ base: money(BigInt(base)), quote: money(BigInt(quote)) });
          const room = { currency: 'mxn', max: moneyOf('1'), held, others: [], pair: ['btc', 'usd'] as const };
          const found = exceededValue(room, { buy: of(buys), sell: of(sells) }, side, of(order));
          // The distances after the fills of any of the orders, with or without the new one.
          const away = (isAdded: boolean) => {
            const all = [buys, sells, ...(isAdded ? [order] : [])].map((one, i) => ({
              ...one,
              isBuy: i === 2 ? side === 'buy' : i === 0,
            }));
            const ends = Array.from({ length: 2 ** all.length }, (_, bits) =>
              all.reduce(
                ([base, quote], one, i) => {
                  const sign = (bits & (1 << i)) === 0 ? 0 : one.isBuy ? 1 : -1;
                  return [base + sign * one.base, quote - sign * one.quote] as const;
                },
                [btc, usd] as const,
              ),
            );
            return { ends, most: ([0, 1] as const).map(i => Math.max(...ends.map(end => Math.abs(end[i])))) };
          };
          const [before, after] = [away(false), away(true)];
          const isReducing = after.ends.every(([base]) => (side === 'buy' ? base <= 0 : base >= 0));
          const raised = ['btc', 'usd'].find((_, i) => after.most[i]! > before.most[i]!);
          expect(found).toBe(isReducing ? null : (raised ?? null));
          seen[found === null ? 'allowed' : 'refused']++;
          if (!isReducing && (side === 'buy' ? btc < 0 : btc > 0)) seen.larger++;
        },
      ),
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  });
});
