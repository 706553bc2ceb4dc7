/** Decimal text and exact integers: what is refused, and that nothing is lost on the way in and out. */
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amountExact,
  amountFloor,
  instrumentOf,
  isDecimalText,
  money,
  moneyOf,
  moneyOfAmount,
  moneyOfValue,
  multiplyMoneyFloor,
  price,
  priceCeil,
  priceExact,
  priceFloor,
  rateCeil,
  shownAmount,
  textOfAmount,
  textOfMoney,
  textOfPrice,
  valueFloor,
  valueOf,
  type Instrument,
} from '../../../src/core/index.ts';
import { worstPrice } from '../../../src/core/model/instrument.ts';
import { bookRules } from '../market.ts';

const Exact = Decimal.clone({ precision: 200, toExpNeg: -100, toExpPos: 100 });

const digits = (min: number, max: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map(all => all.join(''));
/** Any text that the exchange may write: up to 38 digits, leading and trailing zeros included. */
const decimalText = fc
  .tuple(digits(1, 20), digits(0, 18))
  .map(([whole, fraction]) => (fraction === '' ? whole : `${whole}.${fraction}`));
/** Small enough that any tick counts it below 2^53. */
const modestText = fc
  .tuple(digits(1, 6), digits(0, 18))
  .map(([whole, fraction]) => (fraction === '' ? whole : `${whole}.${fraction}`));
const tickText = fc.constantFrom('0.01', '0.05', '10.00', '1', '0.00000001', '0.025', '3', '0.0070', '250');

const REFUSED = [
  '',
  ' ',
  '1 ',
  '\n1',
  '1\n',
  '1e5',
  '1E-8',
  '+1',
  '--1',
  '0x10',
  '0b1',
  'NaN',
  'Infinity',
  '-Infinity',
  '1_000',
  '1,000',
  '.5',
  '5.',
  '1.2.3',
  '٣',
  '1'.repeat(21),
  '1'.repeat(200),
  `0.${'1'.repeat(19)}`,
  `0.${'0'.repeat(200)}1`,
];

const instrumentWithTick = (tick: string): Instrument => instrumentOf(bookRules({ tickSize: tick }), '0.00000001');

/** Text as a fraction of 10^18, by string handling alone. */
function rational(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(18, '0'));
}

describe('decimal text', () => {
  it.each(REFUSED)('%j is refused everywhere', text => {
    const i = instrumentWithTick('0.01');
    expect(isDecimalText(text)).toBe(false);
    for (const read of [
      () => moneyOf(text),
      () => priceExact(i, text),
      () => priceFloor(i, text),
      () => priceCeil(i, text),
      () => amountExact(i, text),
      () => amountFloor(i, text),
      () => valueFloor(i, text),
      () => rateCeil(text),
    ]) {
      expect(read).toThrow(RangeError);
    }
  });

  it('that is signed is money, and never a price, an amount, a value or a rate', () => {
    const i = instrumentWithTick('0.01');
    expect(moneyOf('-1.5')).toBe(-1_500_000_000_000_000_000n);
    expect(() => priceFloor(i, '-1')).toThrow(RangeError);
    expect(() => amountFloor(i, '-1')).toThrow(RangeError);
    expect(() => valueFloor(i, '-1')).toThrow(RangeError);
    expect(() => rateCeil('-0.001')).toThrow(RangeError);
  });

  it.each([null, undefined, 1, Number.NaN, {}, ['1'], 1n])('is only ever text: %s is not', value => {
    expect(isDecimalText(value)).toBe(false);
  });

  it('of up to 38 digits becomes money and comes back as the same number', () => {
    fc.assert(
      fc.property(decimalText, fc.boolean(), (text, negative) => {
        const signed = negative ? `-${text}` : text;
        const back = textOfMoney(moneyOf(signed));
        expect(moneyOf(signed)).toBe(negative ? -rational(text) : rational(text));
        expect(new Exact(back).eq(new Exact(signed))).toBe(true);
        expect(moneyOf(back)).toBe(moneyOf(signed));
        expect(back).not.toMatch(/e|\.$|\.\d*0$/i);
      }),
    );
  });

  it('of money is never shortened by asking for few places', () => {
    expect(textOfMoney(moneyOf('1.5'), 4)).toBe('1.5000');
    expect(textOfMoney(moneyOf('1.23456'), 2)).toBe('1.23456');
    expect(textOfMoney(money(-1n))).toBe('-0.000000000000000001');
    expect(textOfMoney(money(0n), 2)).toBe('0.00');
  });
});

describe('money', () => {
  it('times money is the exact product rounded toward minus infinity', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }),
        fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }),
        (a, b) => {
          const scaled = multiplyMoneyFloor(money(a), money(b)) * 10n ** 18n;
          const product = a * b;
          expect(scaled <= product && product < scaled + 10n ** 18n).toBe(true);
        },
      ),
    );
  });
});

describe('units of a tick or lot', () => {
  it('are the same by the fast and the slow way, and as rational numbers say', () => {
    fc.assert(
      fc.property(modestText, tickText, (text, tick) => {
        const i = instrumentWithTick(tick);
        const unit = rational(tick);
        const floor = rational(text) / unit;
        const isWhole = floor * unit === rational(text);
        expect(BigInt(priceFloor(i, text))).toBe(floor);
        expect(BigInt(priceCeil(i, text))).toBe(isWhole ? floor : floor + 1n);
        expect(priceExact(i, text)).toBe(isWhole ? Number(floor) : null);
      }),
      { numRuns: 500 },
    );
  });

  it('floor at or below the text and ceil at or above it, by less than one tick', () => {
    fc.assert(
      fc.property(modestText, tickText, (text, tick) => {
        const i = instrumentWithTick(tick);
        const low = new Exact(priceFloor(i, text)).mul(tick);
        const high = new Exact(priceCeil(i, text)).mul(tick);
        expect(low.lte(text) && new Exact(text).sub(low).lt(tick)).toBe(true);
        expect(high.gte(text) && high.sub(text).lt(tick)).toBe(true);
        expect(high.sub(low).eq(0)).toBe(priceExact(i, text) !== null);
      }),
    );
  });

  it('written and read again are the same units', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 40 }), tickText, (units, tick) => {
        const i = instrumentWithTick(tick);
        const text = textOfPrice(i, price(units));
        expect(isDecimalText(text)).toBe(true);
        expect(new Exact(text).eq(new Exact(tick).mul(units))).toBe(true);
        expect(priceExact(i, text)).toBe(units);
        const lots = textOfAmount(i, units as never);
        expect(amountExact(i, lots)).toBe(units);
      }),
    );
  });

  it('are read exactly where a float would not be: 17 digits and more', () => {
    const i = instrumentWithTick('0.00000001');
    expect(priceExact(i, '90071992.54740991')).toBe(Number.MAX_SAFE_INTEGER);
    expect(priceExact(i, '12345678.12345678')).toBe(1_234_567_812_345_678);
    expect(textOfPrice(i, price(1_234_567_812_345_678))).toBe('12345678.12345678');
  });

  it('beyond 2^53 are refused, not rounded', () => {
    const i = instrumentWithTick('0.00000001');
    expect(() => priceFloor(i, '90071992.54740992')).toThrow(RangeError);
    expect(() => priceExact(i, '99999999999999999999')).toThrow(RangeError);
  });

  it.each([Number.NaN, Infinity, -1, 0.5, 2 ** 53])('%s is never written as a price', units => {
    expect(() => textOfPrice(instrumentWithTick('0.01'), price(units))).toThrow(RangeError);
  });

  it('of value multiply exactly past 2^53, and a value floors', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 50 }),
        fc.integer({ min: 0, max: 2 ** 50 }),
        tickText,
        (p, a, tick) => {
          const i = instrumentWithTick(tick);
          const value = valueOf(price(p), a as never);
          expect(value).toBe(BigInt(p) * BigInt(a));
          const exact = new Exact(p).mul(tick).mul(a).mul('0.00000001');
          expect(new Exact(textOfMoney(moneyOfValue(i, value))).eq(exact)).toBe(true);
        },
      ),
    );
    fc.assert(
      fc.property(decimalText, tickText, (text, tick) => {
        const i = instrumentWithTick(tick);
        const floor = moneyOfValue(i, valueFloor(i, text));
        expect(floor <= rational(text) && rational(text) < floor + i.tickLotMoney).toBe(true);
      }),
    );
  });

  it('of a rate are rounded up, because a rate is a cost', () => {
    expect(rateCeil('0.0065')).toBe(650_000);
    expect(rateCeil('0.000000001')).toBe(1);
    expect(rateCeil('0')).toBe(0);
  });
});

describe('an instrument', () => {
  it('has its bounds rounded inwards: nothing within them breaks the rules of the book', () => {
    fc.assert(
      fc.property(modestText, modestText, tickText, (a, b, tick) => {
        const [low, high] = rational(a) <= rational(b) ? [a, b] : [b, a];
        const i = instrumentOf(
          bookRules({
            tickSize: tick,
            minimumPrice: low,
            maximumPrice: high,
            minimumValue: low,
            maximumValue: high,
            minimumAmount: low,
            maximumAmount: high,
          }),
        );
        expect(BigInt(i.priceMin) * i.tickMoney >= rational(low)).toBe(true);
        expect(BigInt(i.priceMax) * i.tickMoney <= rational(high)).toBe(true);
        expect(BigInt(i.amountMin) * i.lotMoney >= rational(low)).toBe(true);
        expect(BigInt(i.amountMax) * i.lotMoney <= rational(high)).toBe(true);
        expect(i.valueMin * i.tickLotMoney >= rational(low)).toBe(true);
        expect(i.valueMax * i.tickLotMoney <= rational(high)).toBe(true);
        expect(i.priceMin).toBeGreaterThan(0);
        expect(i.amountMin).toBeGreaterThan(0);
      }),
    );
  });

  it('counts an order that is off the grid of today at its worst: a bid dearer, an ask cheaper, one without a price at the bound', () => {
    const i = instrumentOf(bookRules({ tickSize: '10', minimumPrice: '10', maximumPrice: '1000' }));
    expect([worstPrice(i, 'buy', '105'), worstPrice(i, 'sell', '105')]).toEqual([11, 10]);
    expect([worstPrice(i, 'buy', '110'), worstPrice(i, 'sell', '110')]).toEqual([11, 11]);
    expect([worstPrice(i, 'buy', undefined), worstPrice(i, 'sell', undefined)]).toEqual([100, 1]);
  });

  it('counts a maximum beyond 2^53 as 2^53 - 1, and refuses such a minimum', () => {
    expect(instrumentOf(bookRules({ maximumPrice: '99999999999999999999' })).priceMax).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => instrumentOf(bookRules({ minimumAmount: '99999999999999999999' }))).toThrow(/minimum_amount/);
  });

  it.each([
    [{ book: 'btcmxn' }, /btcmxn/],
    [{ book: 'btc_mxn_x' }, /btc_mxn_x/],
    [{ tickSize: '0' }, /above zero/],
    [{ tickSize: '1e-2' }, /tick_size/],
    [{ maximumValue: 'NaN' }, /maximum_value/],
    [{ minimumPrice: '-1' }, /minimum_price/],
  ])('with %j is refused and the field is named', (rules, message) => {
    expect(() => instrumentOf(bookRules(rules))).toThrow(message);
  });

  it('is refused with a lot that would leave values beyond 18 decimals', () => {
    expect(() => instrumentOf(bookRules({ tickSize: '0.00000000001' }), '0.00000001')).toThrow(/18 decimals/);
  });

  it('counts amounts in the finest unit, of at most eight decimals, that its announced amounts and values fit', () => {
    const power = (low: number, high: number) => fc.integer({ min: low, max: high }).map(e => 10 ** e);
    const text = (x: number) => x.toFixed(x < 1 ? Math.round(-Math.log10(x)) : 0);
    fc.assert(
      fc.property(power(-12, 4), power(-8, 6), power(0, 15), (tick, minimum, maximum) => {
        const rules = { tickSize: text(tick), minimumAmount: text(minimum), maximumAmount: text(maximum) };
        const i = instrumentOf(bookRules(rules));
        const decimals = i.amountDecimals;
        expect(i.lotMoney * 10n ** BigInt(decimals)).toBe(10n ** 18n);
        expect(decimals).toBeLessThanOrEqual(8);
        expect(i.priceDecimals + decimals).toBeLessThanOrEqual(18);
        const fits = (d: number) => maximum * 10 ** d <= Number.MAX_SAFE_INTEGER && i.priceDecimals + d <= 18;
        const minimumFits = moneyOf(rules.minimumAmount) % i.lotMoney === 0n;
        // The minimum is a whole number of lots unless the tick leaves no room for that.
        if (!minimumFits) expect(i.priceDecimals + decimals).toBe(18);
        else if (decimals < 8 && i.priceDecimals + decimals < 18) expect(fits(decimals + 1)).toBe(false);
        if (fits(decimals)) expect(moneyOfAmount(i, i.amountMax)).toBe(moneyOf(rules.maximumAmount));
      }),
    );
  });

  it('shows an amount exactly, or the largest that it counts, and never none', () => {
    const i = instrumentOf(bookRules({}));
    const digits = fc.stringMatching(/^\d{1,20}(\.\d{1,18})?$/);
    fc.assert(
      fc.property(digits, text => {
        const lots = moneyOf(text) / i.lotMoney;
        const top = BigInt(Number.MAX_SAFE_INTEGER);
        const least = moneyOf(text) > 0n ? 1n : 0n;
        expect(BigInt(shownAmount(i, text))).toBe(lots > top ? top : lots < least ? least : lots);
      }),
    );
    expect(shownAmount(i, null)).toBe(1);
  });
});
