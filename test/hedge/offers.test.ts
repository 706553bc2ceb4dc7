/** Requests to the desk: in its steps, at most as much as it can confirm, and both legs of a route. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hedgeCostMax, money, moneyOf, textOfMoney, VirtualClock, type HedgeRules } from '../../src/core/index.ts';
import { ceilTo, floorTo, Offers } from '../../src/hedge/offers.ts';
import { bookRoute, requestRoutes } from '../../src/hedge/pricedRoutes.ts';
import {
  plannedSecondLeg,
  requestRoute,
  requestSecondLeg,
  routeCostMax,
  routeRecord,
} from '../../src/hedge/thirdCurrencyRoutes.ts';
import type { HedgeInputs } from '../../src/hedge/hedgeInputs.ts';
import { depthOf, plain } from '../core/market.ts';
import { routeOf, rowOf } from './hedgeRows.ts';
import { ToyDesk } from './toyDesk.ts';

const MID = moneyOf('1000');
const ONE = 10n ** 18n;
const LOT = money(ONE);

function made() {
  const clock = new VirtualClock();
  const desk = new ToyDesk(clock);
  return { clock, desk, offers: new Offers(desk, clock) };
}
const sale = (size: string) => ({ from: 'btc', to: 'mxn', fixed: 'give', size: moneyOf(size) }) as const;
const purchase = (size: string) => ({ from: 'mxn', to: 'btc', fixed: 'get', size: moneyOf(size) }) as const;
const amountsOf = (offer: unknown) => {
  const { give, get } = offer as { give: { amount: string }; get: { amount: string } };
  return [give.amount, get.amount];
};

test('sums are rounded to whole steps, down and up', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 6n), fc.bigInt(1n, 1_000n), (sum, unit) => {
      const [down, up] = [floorTo(money(sum), money(unit)), ceilTo(money(sum), money(unit))];
      expect([down % unit, up % unit]).toEqual([0n, 0n]);
      expect(down <= sum && sum - down < unit && up >= sum && up - sum < unit).toBe(true);
    }),
    { numRuns: 50 },
  );
});

describe('an offer', () => {
  test('is asked for in whole steps, of the leg that is given', async () => {
    const { desk, offers } = made();
    expect(amountsOf(await offers.rfq(sale('2.9')))).toEqual(['2', '1998']);
    expect(await offers.request('conversion', purchase('2.9'), LOT)).toMatchObject({
      ...{ way: 'conversion', canConfirm: true },
      get: { currency: 'btc', amount: '2' },
    });
    expect(desk.asked).toEqual([
      { way: 'rfq', from: 'btc', to: 'mxn', give: '2' },
      { way: 'conversion', from: 'mxn', to: 'btc', get: '2' },
    ]);
  });

  test('of less than a step is not asked for', async () => {
    const { desk, offers } = made();
    expect(await offers.rfq(sale('0.9'))).toBe('the amount is below the smallest unit of the conversion pair');
    expect(desk.asked).toEqual([]);
  });

  test('that is too large is asked for once more at what can be confirmed, told in either currency', async () => {
    const { desk, offers } = made();
    desk.decimals['btc'] = 3;
    desk.most = { btc: moneyOf('1.2345') };
    expect(amountsOf(await offers.rfq(sale('5')))[0]).toBe('1.234');
    // 2,500 of the 4,995 that it would get, less a thousandth.
    desk.most = { mxn: moneyOf('2500') };
    expect(amountsOf(await offers.rfq(sale('5')))[0]).toBe('2.5');
    desk.most = { mxn: moneyOf('2500') };
    const bought = await offers.rfq(purchase('5'));
    expect(amountsOf(bought)[1]).toBe('2.495');
    expect(desk.asked).toHaveLength(6);
  });

  test('that cannot be confirmed in any size, or again not, is none', async () => {
    const { desk, offers } = made();
    const none = 'the exchange cannot convert the requested amount';
    desk.most = { btc: null };
    expect(await offers.rfq(sale('5'))).toBe(none);
    expect(desk.asked).toHaveLength(1);
    desk.most = { btc: moneyOf('2') };
    const offer = desk.offer.bind(desk);
    // It says that two would do, and of two that one would.
    desk.offer = (...ask) => {
      desk.most = { btc: moneyOf(desk.asked.length === 1 ? '2' : '1') };
      return offer(...ask);
    };
    expect(await offers.rfq(sale('5'))).toBe(none);
    desk.offer = async (...ask) => {
      const answer = await offer(...ask);
      if (answer.kind !== 'done') return answer;
      return { ...answer, value: { ...answer.value, canConfirm: false, most: { currency: 'usd', amount: '1' } } };
    };
    expect(await offers.rfq(sale('5'))).toBe(none);
  });

  test('whose answer is a refusal or none at all says so', async () => {
    const { desk, offers } = made();
    desk.fateOfOffer = () => 'refused';
    expect(await offers.rfq(sale('1'))).toBe('0379: not now');
    desk.fateOfOffer = () => 'unknown';
    expect(await offers.rfq(sale('1'))).toBe('no usable answer: no answer');
  });

  test('has the steps of its pair, which are read again after an hour', async () => {
    const { clock, desk, offers } = made();
    desk.pairsAre = 'unknown';
    expect(await offers.rfq(sale('1'))).toBe('the list of conversion pairs could not be read');
    desk.pairsAre = 'told';
    desk.decimals = { btc: 3, mxn: 1, eth: 25 };
    expect(await offers.unit(sale('1'))).toBe(10n ** 15n);
    expect(await offers.unit({ ...sale('1'), fixed: 'get' })).toBe(10n ** 17n);
    // No finer than money is.
    expect(await offers.unit({ from: 'eth', to: 'mxn', fixed: 'give' })).toBe(1n);
    for (const [from, to] of [
      ['usd', 'btc'],
      ['btc', 'usd'],
    ] as const)
      expect(await offers.unit({ from, to, fixed: 'give' })).toBe(
        `the exchange lists no conversion from ${from} to ${to}`,
      );
    const reads = () => desk.calls.filter(call => call === 'pairs').length;
    expect(reads()).toBe(2);
    await clock.advance(3_600_000);
    await offers.unit(sale('1'));
    expect(reads()).toBe(2);
    await clock.advance(1);
    desk.decimals = { btc: 0, mxn: 0 };
    expect(await offers.unit(sale('1'))).toBe(ONE);
    expect(reads()).toBe(3);
  });
});

describe('a route over a third currency', () => {
  const rules = { via: ['usd'], riskBps: 12.5, waitMs: 1 };
  const route = (offers: Offers, amount: string) => requestRoute(offers, plain, moneyOf(amount), MID, 'usd', rules);

  test('sells what there is, and the proceeds in whole steps', async () => {
    const { desk, offers } = made();
    desk.decimals = { btc: 0, usd: 0, mxn: 4 };
    const out = await route(offers, '3.7');
    // 3 btc are 149.85 usd; 149 of them are 2,977.02 mxn.
    expect(out).toMatchObject({
      ...{ via: 'usd', holds: moneyOf('149.85') },
      first: { way: 'rfq', give: { currency: 'btc', amount: '3' }, get: { currency: 'usd', amount: '149.85' } },
      out: {
        way: 'rfq via usd',
        give: { currency: 'btc', amount: '3' },
        get: { currency: 'mxn', amount: '2977.02' },
        // 12.5 bps of 3,000.
        risk: moneyOf('3.75'),
      },
    });
    expect(desk.asked.map(({ from, to, give, get }) => [from, to, give, get])).toEqual([
      ['btc', 'usd', '3', undefined],
      ['usd', 'mxn', '149', undefined],
    ]);
  });

  test('buys as much of the third currency as its second leg needs, rounded up', async () => {
    const { desk, offers } = made();
    desk.decimals = { btc: 0, usd: 0, mxn: 4 };
    const out = await route(offers, '-3');
    expect(desk.asked.map(({ from, to, give, get }) => [from, to, give, get])).toEqual([
      ['usd', 'btc', undefined, '3'],
      ['mxn', 'usd', undefined, '151'],
    ]);
    expect(out).toMatchObject({
      holds: moneyOf('151'),
      out: { give: { currency: 'mxn' }, get: { currency: 'btc', amount: '3' }, risk: moneyOf('3.75') },
    });
  });

  test.each([
    ['3', 'btc', 'first leg: the exchange cannot convert the requested amount'],
    ['3', 'mxn', 'second leg: the exchange cannot convert the requested amount'],
    ['-3', 'btc', 'second leg: the exchange cannot convert the requested amount'],
    ['-3', 'mxn', 'first leg: the exchange cannot convert the requested amount'],
  ])('of %s is none when a leg fails: of too much %s', async (amount, currency, why) => {
    const { desk, offers } = made();
    desk.most = { [currency]: null };
    expect(await route(offers, amount)).toBe(why);
  });

  test('is none when a leg can be had in part only', async () => {
    for (const amount of ['3', '-3']) {
      const { desk, offers } = made();
      // The leg between dollars and pesos: 149.85 and 150.15 usd.
      desk.most = { mxn: moneyOf('1000') };
      const leg = amount === '3' ? 'second' : 'first';
      expect(await route(offers, amount)).toBe(`${leg} leg: the exchange offers to convert only part of the amount`);
    }
  });

  test('is none where its pairs are unknown', async () => {
    const { desk, offers } = made();
    desk.decimals = { btc: 0, usd: 2 };
    expect(await route(offers, '3')).toBe('second leg: the exchange lists no conversion from usd to mxn');
    expect(await route(offers, '-3')).toBe('first leg: the exchange lists no conversion from mxn to usd');
    desk.decimals = { btc: 0, mxn: 4 };
    expect(await made().offers.rfq({ ...sale('1'), to: 'eth' })).toBe(
      'the exchange lists no conversion from btc to eth',
    );
  });

  test('of which the second leg is asked for sells all that is held, in whole steps', async () => {
    const { desk, offers } = made();
    const leg = (holds: string) => requestSecondLeg(offers, 'usd', 'mxn', moneyOf(holds));
    expect(amountsOf(await leg('10.129'))[0]).toBe('10.12');
    desk.most = { usd: moneyOf('10.12') };
    expect(amountsOf(await leg('10.129'))[0]).toBe('10.12');
    desk.most = { usd: moneyOf('10.11') };
    expect(await leg('10.129')).toBe('the exchange offers to convert only part of the amount');
    desk.fateOfOffer = () => 'refused';
    expect(await leg('10')).toBe('0379: not now');
    desk.decimals = { btc: 0 };
    expect(await requestSecondLeg(new Offers(desk, new VirtualClock()), 'usd', 'mxn', LOT)).toBe(
      'the exchange lists no conversion from usd to mxn',
    );
  });

  test('keeps the whole within its limit when its second leg brings the least that is accepted, and not a digit less', async () => {
    const sums = fc.bigInt(1n, 10n ** 22n);
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        sums,
        sums,
        fc.bigInt(10n ** 16n, 10n ** 22n),
        async (sells, major, minor, mid) => {
          const costMax = money(minor / 3n);
          const [give, get] = sells ? [major, minor] : [minor, major];
          const out = {
            way: 'rfq via usd' as const,
            give: { currency: 'x', amount: textOfMoney(money(give)) },
            get: { currency: 'y', amount: textOfMoney(money(get)) },
          };
          const of = { via: 'usd', first: {} as never, out, holds: money(7n) };
          const row = routeRecord(of, money(sells ? major : -major), money(mid), costMax);
          expect(row).toMatchObject({ via: 'usd', leg: 1, until: null, holds: textOfMoney(money(7n)) });
          expect(row.worth).toBe(textOfMoney(money(minor)));
          const least = moneyOf(row.least);
          expect(least >= 0n).toBe(true);
          // Sold: what is missing of the middle. Bought: what was paid beyond the middle, in sums times 10^18.
          const over = (x: bigint) => (sells ? (major * mid) / ONE - x - costMax : (minor - costMax) * ONE - x * mid);
          expect(over(least) <= 0n).toBe(true);
          if (least > 0n) expect(over(least - 1n) > 0n).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('costs at most its share of the limit, or what is left of the budget', () => {
    const of = { costMaxBps: 100 } as HedgeRules;
    const limit = hedgeCostMax(moneyOf('3'), MID, of);
    expect(textOfMoney(limit)).toBe('30');
    const left = [null, '29', '30', '31'].map(sum =>
      routeCostMax(moneyOf('3'), MID, of, sum === null ? null : moneyOf(sum)),
    );
    expect(left.map(sum => textOfMoney(sum))).toEqual(['30', '29', '30', '30']);
  });

  test('is planned at its least proceeds when sold, at the wanted amount when bought', () => {
    const pair = { major: 'btc', minor: 'mxn' };
    const leg = (amount: string) => plannedSecondLeg(rowOf({ amount, route: routeOf() }), pair);
    const give = { currency: 'usd', amount: moneyOf('110') };
    const known = { id: 'h1~2', give, worth: moneyOf('1985') };
    expect(leg('2')).toEqual({ ...known, get: { currency: 'mxn', amount: moneyOf('1980') } });
    expect(leg('-2')).toEqual({ ...known, get: { currency: 'btc', amount: moneyOf('2') } });
    expect(() => plannedSecondLeg(rowOf(), pair)).toThrow('hedge h1 has no route');
  });
});

describe('the ways out with their prices', () => {
  const names = (ways: readonly { by: string; out: { way: string } }[]) => ways.map(({ by, out }) => [out.way, by]);

  test('are those that are allowed: offers and routes, each with what carries it out, or why there is none', async () => {
    const { desk, offers } = made();
    const venues = ['rfq', 'book', 'conversion'] as const;
    const routes = { via: ['usd', 'eur'], riskBps: 0, waitMs: 1 };
    const of = (amount: string, more: object = {}) =>
      requestRoutes(offers, { venues, routes, ...more }, plain, moneyOf(amount), MID);
    const sold = await of('3');
    expect(names(sold)).toEqual([
      ['rfq', 'offer'],
      ['conversion', 'offer'],
      ['rfq via usd', 'route'],
      ['rfq via eur', 'nothing'],
    ]);
    expect(sold[3]!.out).toEqual({
      way: 'rfq via eur',
      unavailableReason: 'first leg: the exchange lists no conversion from btc to eur',
    });
    for (const way of sold) {
      if (way.by === 'offer') expect(way.out).toEqual({ way: way.out.way, give: way.offer.give, get: way.offer.get });
      if (way.by === 'route') expect(way.out).toBe(way.route.out);
    }
    expect(desk.asked).toContainEqual({ way: 'conversion', from: 'btc', to: 'mxn', give: '3' });
    const bought = await of('-3', { routes: undefined });
    expect(names(bought)).toEqual([
      ['rfq', 'offer'],
      ['conversion', 'offer'],
    ]);
    for (const { out } of bought)
      expect(out).toMatchObject({ give: { currency: 'mxn' }, get: { currency: 'btc', amount: '3' } });
    desk.fateOfOffer = () => 'refused';
    expect(await of('3', { routes: undefined, venues: ['conversion'] })).toEqual([
      { by: 'nothing', out: { way: 'conversion', unavailableReason: '0379: not now' } },
    ]);
  });

  const depth = depthOf(
    [
      [998, 5],
      [985, 50],
    ],
    [
      [1_002, 5],
      [1_015, 50],
    ],
  );
  const limits = { collarBps: 500, orderValueMax: 10n ** 12n } as never;
  const view = { ...{ instrument: plain, depth, takerRate: 0, mid: MID, limits } };
  const sides = { buy: { room: 30, free: LOT }, sell: { room: 20, free: LOT } };
  const book = (venues: readonly ('rfq' | 'book')[], mayTake: boolean, amount: string, changes: object = {}) =>
    bookRoute(
      { venues, rules: { costMaxBps: 50 } as HedgeRules },
      mayTake,
      { ...view, sides, ...changes } as unknown as HedgeInputs,
      moneyOf(amount),
    );

  test('have the book within the limit of cost and the room of its side where an order may take it', () => {
    expect(book(['book'], true, '40')).toMatchObject({ by: 'take', take: { side: 'sell', price: 998, amount: 5 } });
    expect(book(['book'], true, '-40')).toMatchObject({ by: 'take', take: { side: 'buy', price: 1_002, amount: 5 } });
    const bound = { buy: { room: 30, free: LOT, priceBound: 1_001 }, sell: { room: 20, free: LOT, priceBound: 999 } };
    for (const amount of ['40', '-40'])
      expect(book(['book'], true, amount, { sides: bound })).toHaveProperty(
        'out.unavailableReason',
        'no visible price level is within the limits of the order',
      );
    const few = { limits: { ...(limits as object), orderAmountMax: 4 } };
    expect(book(['book'], true, '40', few)).toMatchObject({ take: { amount: 4 } });
    const roomy = { sides: { buy: { room: 3, free: LOT }, sell: { room: 2, free: LOT } } };
    expect(book(['book'], true, '40', roomy)).toMatchObject({ take: { amount: 2 } });
    expect(book(['book'], true, '-40', roomy)).toMatchObject({ take: { amount: 3 } });
  });

  test('have the book for comparison, within the collar, where none may', () => {
    for (const [venues, mayTake] of [
      [['rfq'], true],
      [['book'], false],
    ] as const) {
      const out = book(venues, mayTake, '40');
      expect(out).toMatchObject({
        by: 'nothing',
        out: {
          way: 'book',
          give: { amount: '20' },
          comparisonOnlyReason: 'the bot may not take liquidity in its book',
        },
      });
      expect(out).not.toHaveProperty('take');
      expect(out.out).not.toHaveProperty('take');
    }
    const room = { sides: { ...sides, sell: { room: 0, free: LOT } } };
    const none = {
      by: 'nothing',
      out: { way: 'book', unavailableReason: 'no visible price level is within the limits of the order' },
    };
    expect(book(['book'], true, '40', room)).toEqual(none);
    expect(book(['book'], true, '40', { limits: null })).toEqual({
      by: 'nothing',
      out: { way: 'book', unavailableReason: 'no risk limits are configured' },
    });
  });
});
