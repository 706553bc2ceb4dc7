/** Digits of ccxt's numbers, numbers of its trades, and what is found of the package. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ccxtFindings } from '../../src/app/doctor/ccxt.ts';
import { plainDecimal, mayLackDigits } from '../../src/ccxt/plainDecimal.ts';
import { CCXT_VERSION, installedCcxt, nearestNames, unknownId } from '../../src/ccxt/installed.ts';
import { rulesOfMarket } from '../../src/ccxt/marketRules.ts';
import { TradeNumbers } from '../../src/ccxt/tradeNumbers.ts';
import { readTrades, textBook } from '../../src/ccxt/textBook.ts';
import { runsOf } from '../many.ts';

/** Decimal text of up to 15 significant digits without spare zeros. */
const short = fc
  .tuple(fc.bigInt({ min: 1n, max: 999_999_999_999_999n }), fc.integer({ min: 0, max: 18 }))
  .map(([digits, decimals]) => {
    const padded = String(digits).padStart(decimals + 1, '0');
    const [whole, part] = [padded.slice(0, padded.length - decimals), padded.slice(padded.length - decimals)];
    return `${whole}${part === '' ? '' : `.${part}`}`.replace(/(\..*?)0+$/, '$1').replace(/\.$/, '');
  });

describe('decimal text', () => {
  test('a double keeps all digits of a decimal of up to 15 digits', () => {
    fc.assert(
      fc.property(short, text => {
        expect(plainDecimal(Number(text))).toBe(text);
        expect(mayLackDigits(Number(text))).toBe(false);
      }),
      runsOf(20_000, 1_000),
    );
  });

  test('text with an exponent or spare zeros is the same decimal without them', () => {
    fc.assert(
      fc.property(short, fc.integer({ min: -12, max: 12 }), (text, shift) => {
        const moved = `${text}e${shift}`;
        const found = plainDecimal(moved);
        if (found !== null) expect(Number(found)).toBe(Number(moved));
        expect(plainDecimal(`${text.includes('.') ? text : `${text}.`}000`)).toBe(text);
      }),
      runsOf(5_000, 500),
    );
  });

  test('anything else is no decimal', () => {
    for (const value of [
      '',
      '.',
      '-1',
      '+1',
      '1.2.3',
      '0x10',
      'NaN',
      NaN,
      Infinity,
      -0.5,
      null,
      undefined,
      {},
      '1e99',
      '1e-30',
    ])
      expect(plainDecimal(value)).toBe(null);
    expect(plainDecimal(1e-7)).toBe('0.0000001');
    expect(plainDecimal(1.5e21)).toBe(null);
    expect(plainDecimal('.5')).toBe('0.5');
  });

  test('a number beyond 15 digits is said', () => {
    expect(mayLackDigits(1.234567890123456)).toBe(true);
    expect(textBook({ bids: [[1.5, 1234567.123456789]], asks: [] }, 5).inexact).toBe(1);
    expect(textBook({ bids: [['1.5', '1234567.123456789']], asks: [] }, 5).inexact).toBe(0);
  });

  test('a level that is no price and amount is no book, and an empty level is none', () => {
    expect(() => textBook({ bids: [['x', '1']], asks: [] }, 5)).toThrow(
      'a level of the book: expected a price and an amount, found ["x","1"]',
    );
    expect(
      textBook(
        {
          bids: [
            ['1', '0'],
            ['0.9', '1'],
          ],
          asks: [[2, undefined]].slice(1),
        },
        5,
      ).bids,
    ).toEqual([['0.9', '1']]);
  });
});

describe('numbers of trades', () => {
  const trade = (id: string | null, at: number, amount = '1') => ({
    id,
    at,
    price: '10',
    amount,
    takerSide: 'buy' as const,
  });

  test('whole numbers of the exchange are kept', () => {
    const { trades, odd } = new TradeNumbers().numbered('a_b', [trade('12', 5), trade('7', 4)]);
    expect(trades.map(({ tid }) => tid)).toEqual(['7', '12']);
    expect(odd).toBe(0);
  });

  test('other ids get growing numbers, each once, however often and in whatever pages they are read', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        (steps, page, hasIds) => {
          let at = 1_700_000_000_000;
          const all = steps.map((step, n) => trade(hasIds ? `u-${n}x` : null, (at += step), String(n + 1)));
          const numbers = new TradeNumbers();
          const seen = new Map<string, string>();
          for (let end = 1; end <= all.length; end++)
            for (const { tid, amount } of numbers.numbered('a_b', all.slice(Math.max(0, end - page), end)).trades) {
              expect(seen.get(amount) ?? tid).toBe(tid);
              seen.set(amount, tid);
            }
          const tids = all.map(({ amount }) => Number(seen.get(amount)));
          expect(tids).toEqual([...new Set(tids)].sort((a, b) => a - b));
          expect(tids.every(Number.isSafeInteger)).toBe(true);
        },
      ),
      runsOf(2_000, 200),
    );
  });

  test('a trade that cannot be read is described and not invented', () => {
    const { trades, unreadable } = readTrades([{ id: '1', timestamp: 5, price: '1', amount: 'x', side: 'buy' }]);
    expect(trades).toEqual([]);
    expect(unreadable).toEqual(['trade "1": expected a time, price, amount and side, found [5,"1","x","buy"]']);
  });
});

describe('rules', () => {
  const row = { symbol: 'BTC/USD', base: 'BTC', quote: 'USD', precision: { price: '5', amount: '1e-8' }, limits: {} };
  const rules = (mode: number, price: string) => rulesOfMarket(row, mode, () => Promise.resolve(price));

  test('significant digits give a tick on which prices down to a hundredth lie', async () => {
    expect((await rules(3, '30000.129')).tickSize).toBe('0.01');
    expect((await rules(3, '0.00234')).tickSize).toBe('0.000000001');
  });

  test('decimals give a power of ten, a tick is taken as it is, and no tick is refused', async () => {
    expect((await rules(2, '1')).tickSize).toBe('0.00001');
    expect(await rules(4, '1')).toMatchObject({ tickSize: '5', minimumAmount: '0.00000001', minimumValue: '0' });
    await expect(rulesOfMarket({ ...row, precision: {} }, 4, () => Promise.resolve('1'))).rejects.toThrow(
      'btc_usd: expected a price precision from ccxt that determines the tick size, found null',
    );
  });
});

describe('the package of ccxt', () => {
  const folder = (name?: string, version?: string): string => {
    const dir = mkdtempSync(join(tmpdir(), 'ccxt-'));
    if (name === undefined) return join(dir, 'main.js');
    const at = join(dir, 'node_modules/ccxt');
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, 'package.json'), JSON.stringify({ name, version, main: 'index.js' }));
    writeFileSync(join(at, 'index.js'), '');
    return join(dir, 'main.js');
  };

  test('is found in the tried version with its exchanges', () => {
    const found = installedCcxt();
    expect(found).toMatchObject({ kind: 'found', version: CCXT_VERSION });
    if (found.kind === 'unusable') return;
    expect(found.ids.length).toBeGreaterThan(90);
    expect(found.ids).toEqual(expect.arrayContaining(['binance', 'kraken', 'coinbase']));
    expect(unknownId('kraken', found.ids)).toBe(null);
    expect(unknownId('krakn', found.ids)).toMatch(/^ccxt 4\.5\.84 has no exchange "krakn"; nearest names: kraken, /);
    expect(ccxtFindings(['kraken', 'okx'])).toEqual([
      { check: 'ccxt', result: 'pass', says: 'ccxt 4.5.84 is installed and has kraken, okx', todo: null },
    ]);
    expect(ccxtFindings(['krakn'])).toMatchObject([{ result: 'fail' }]);
    expect(ccxtFindings([])).toEqual([]);
  });

  test('is missing, has another version or lacks files: one sentence each, with the command', () => {
    const sentences = [folder(), folder('ccxt', '4.5.60'), folder('ccxt', CCXT_VERSION)].map(from => {
      const found = installedCcxt(from);
      return found.kind === 'unusable' ? found.sentence : '';
    });
    expect(sentences[0]).toBe(
      'ccxt is not installed; run npm install --ignore-scripts ccxt@4.5.84 in the folder where puntas is installed',
    );
    expect(sentences[1]).toMatch(
      /^expected ccxt 4\.5\.84, the only tested version; found 4\.5\.60 in .*; run npm install/,
    );
    expect(sentences[2]).toMatch(/is incomplete; run npm install --ignore-scripts ccxt@4\.5\.84 again$/);
    const found = installedCcxt(folder());
    expect(ccxtFindings(['kraken'], found)).toMatchObject([{ check: 'ccxt', result: 'fail', says: sentences[0] }]);
  });

  test('nearest names contain the word or differ in few letters', () => {
    expect(nearestNames('btc_usdc', ['eth_usd', 'btc_usdt', 'ada_eur'], 1)).toEqual(['btc_usdt']);
    expect(nearestNames('coinbasepro', ['coinbase', 'kraken', 'coinbaseexchange'], 2)[0]).toBe('coinbase');
  });
});
