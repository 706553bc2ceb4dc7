/** Amounts of a configuration in the units of a book: each counts, or is refused by name with its place in the file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  amountFloor,
  instrumentOf,
  OrderBook,
  type Amount,
  type BookRules,
  type Instrument,
  type Price,
} from '../../src/core/index.ts';
import { readConfig } from '../../src/wiring/configFile.ts';
import { engineOf } from '../../src/wiring/bot.ts';
import { UsageError } from '../../src/wiring/usageError.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-units-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

type Tree = { [key: string]: unknown };

/** A file of a ladder with one key set, and what stands at its line. */
function configWith(path: readonly string[], text: string | number) {
  const tree: Tree = {
    book: 'shib_mxn',
    instance: 'units',
    exchange: {
      kind: 'remote',
      restUrl: 'https://api.example.com',
      budgets: { publicPerMinute: 50, privatePerMinute: 200 },
    },
    strategy: { name: 'ladder', halfSpreadBps: 100, levels: 1, amount: '1', skew: { sizeRange: '0.1' } },
    limits: {
      positionMax: '1000000',
      orderValueMax: '50000',
      ordersMax: 4,
      collarBps: 500,
      drawdownMax: '100',
      dayLossMax: '100',
    },
  };
  let at = tree;
  for (const key of path.slice(0, -1)) at = (at[key] ??= {}) as Tree;
  at[path.at(-1)!] = text;
  const file = join(dir, 'bot.yaml');
  const source = JSON.stringify(tree, null, 1);
  writeFileSync(file, source);
  return {
    config: readConfig(file),
    file,
    line: source.split('\n').findIndex(one => one.includes(`"${path.at(-1)}": "${text}"`)) + 1,
  };
}

const book = (changes: Partial<BookRules>, lot?: string): Instrument =>
  instrumentOf(
    {
      ...{ book: 'shib_mxn', tickSize: '0.0000001', minimumAmount: '1000', maximumAmount: '100000000000' },
      ...{ minimumPrice: '0.0000001', maximumPrice: '1', minimumValue: '1', maximumValue: '100000000', ...changes },
    },
    lot,
  );

const problemOf = (path: readonly string[], text: string, instrument: Instrument) => {
  const { config, file, line } = configWith(path, text);
  try {
    engineOf(config, { instrument, makerRate: 0, takerRate: 0 }, 1);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return {
      code: error.code,
      place: error.message.startsWith(`${file}:${line}:`),
      key: error.message.includes(` ${path.join('.')}: `),
    };
  }
  return null;
};

const REFUSED = { code: 2, place: true, key: true };

describe('an amount of a configuration', () => {
  it('counts in the unit of a book of a low-priced coin', () => {
    const path = ['limits', 'positionMax'];
    expect(problemOf(path, '95000000', book({}, undefined))).toBe(null);
  });

  it('that the units of the book cannot count is refused with its line and key, whichever it is', () => {
    const paths = [
      ['limits', 'positionMax'],
      ['limits', 'orderAmountMax'],
      ['inventory', 'target'],
    ];
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.integer({ min: 0, max: 8 }), (path, decimals) => {
        const lot = decimals === 0 ? '1' : `0.${'0'.repeat(decimals - 1)}1`;
        const largest = Number.MAX_SAFE_INTEGER / 10 ** decimals;
        const text = `${BigInt(Math.ceil(largest)) + 1_000n}`;
        const changes = { minimumAmount: lot, maximumAmount: '1' };
        expect(problemOf(path, text, book(changes, lot))).toEqual(REFUSED);
      }),
      { numRuns: 60 },
    );
  });

  it('below one lot is refused with its line and key, because it would count as none', () => {
    for (const path of [
      ['strategy', 'amount'],
      ['strategy', 'levelAmountStep'],
      ['limits', 'orderAmountMax'],
    ])
      expect(problemOf(path, '0.5', book({ minimumAmount: '1' }, '1'))).toEqual(REFUSED);
  });
});

describe('the optional limits', () => {
  it('are those of the configuration, and none without it', () => {
    const limitsOf = (path: readonly string[], text: string | number) => {
      const { config } = configWith(path, text);
      return engineOf(config, { instrument: book({}), makerRate: 0, takerRate: 0 }, 1).book.riskContext(0).limits;
    };
    const { orderAmountMax } = limitsOf(['limits', 'orderAmountMax'], '2500')!;
    expect(orderAmountMax).toBe(amountFloor(book({}), '2500'));
    const move = { bps: 700, windowMs: 3_600_000 };
    expect(limitsOf(['limits', 'priceMove', 'bps'], 700)!.priceMove).toEqual(move);
    const none = limitsOf(['strategy', 'amount'], '1')!;
    expect([none.orderAmountMax, none.priceMove]).toEqual([undefined, undefined]);
  });
});

describe('a skew whose range is below one lot', () => {
  it('leaves both sides quoted while there is no inventory', () => {
    const { config } = configWith(['strategy', 'amount'], '2000');
    const instrument = book({ tickSize: '0.01', minimumPrice: '0.01', maximumPrice: '10000', minimumAmount: '1' }, '1');
    const engine = engineOf(config, { instrument, makerRate: 0, takerRate: 0 }, 1);
    const balance = (currency: string) => ({ currency, total: '10000000', locked: '0', available: '10000000' });
    const levels = new OrderBook();
    levels.set('buy', 9_990 as Price, 50_000 as Amount);
    levels.set('sell', 10_010 as Price, 50_000 as Amount);
    engine.step({ kind: 'rules', at: 1, instrument, makerRate: 0, takerRate: 0 });
    engine.step({ kind: 'balances', at: 1, startedAt: 1, quiet: true, balances: [balance('shib'), balance('mxn')] });
    engine.step({ kind: 'book', at: 1, startedAt: 1, book: levels });
    const { quote } = engine.book.preview(1);
    expect([quote.bids.map(one => one.amount), quote.asks.map(one => one.amount)]).toEqual([[2_000], [2_000]]);
  });
});
