/** Recordings of coins of any price: ticks from 10^-12, amounts of any size, and the lot that an error names. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { moneyOf, moneyOfAmount, price, textOfMoney, type Amount } from '../../src/core/index.ts';
import { KIND, mappedRecording, openRecording } from '../../src/tape/index.ts';
import { collectTape } from '../../src/tape/import/collectTape.ts';
import { mappingOf } from '../../src/tape/import/mapping/mapping.ts';
import { runsOf } from '../many.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-sizes-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

type Row = { readonly bid: string; readonly bidAmount: string; readonly ask: string; readonly askAmount: string };

const YAML = `
book: pepe_usdt
tables:
  - { files: quotes.csv, kind: quotes, time: { column: ts, unit: ms }, bid: bid, bidAmount: bs, ask: ask, askAmount: as }
`;

/** Every level of the tape, exactly, as sums of the currencies. */
async function imported(rows: readonly Row[], given: { readonly lot?: string } = {}) {
  writeFileSync(join(dir, 'quotes.yaml'), YAML);
  const lines = rows.map((row, i) => [1.7e12 + i, row.bid, row.bidAmount, row.ask, row.askAmount].join(','));
  writeFileSync(join(dir, 'quotes.csv'), ['ts,bid,bs,ask,as', ...lines, ''].join('\n'));
  const tape = await collectTape(await mappedRecording(dir, join(dir, 'quotes.yaml'), given));
  const { columns, instrument } = tape;
  const levels: string[] = [];
  for (let i = 0; i < columns.length; i++) {
    if (columns.kind[i] !== KIND.level || columns.amount[i] === 0) continue;
    const ticks = BigInt(price(columns.price[i]!)) * instrument.tickMoney;
    levels.push(`${ticks} ${moneyOfAmount(instrument, columns.amount[i] as Amount)}`);
  }
  return { levels: new Set(levels), instrument };
}
const exactly = (rows: readonly Row[]): Set<string> =>
  new Set(
    rows.flatMap(({ bid, bidAmount, ask, askAmount }) => [
      `${moneyOf(bid)} ${moneyOf(bidAmount)}`,
      `${moneyOf(ask)} ${moneyOf(askAmount)}`,
    ]),
  );

const scaled = (units: bigint, decimals: number): string =>
  textOfMoney((units * 10n ** BigInt(18 - decimals)) as never);

describe('a recording of a coin of any price', () => {
  it('is imported exactly without a tick or a lot, or with the lot that the error names', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 0, max: 6 }),
        fc.bigInt({ min: 1n, max: 900n }),
        fc.array(fc.bigInt({ min: 1n, max: 9_000_000_000_000_000n }), { minLength: 2, maxLength: 2 }),
        async (priceDecimals, amountDecimals, base, [a, b]) => {
          const bid = scaled(base * 10n + 1n, priceDecimals);
          const ask = scaled(base * 10n + 3n, priceDecimals);
          const rows = [{ bid, bidAmount: scaled(a!, amountDecimals), ask, askAmount: scaled(b!, amountDecimals) }];
          const first = await imported(rows).catch((error: Error) => error);
          if (!(first instanceof Error)) {
            expect(first.levels).toEqual(exactly(rows));
            return;
          }
          const lot = /--lot ([\d.]+)/.exec(first.message)?.[1];
          expect(first.message).toMatch(/--lot/);
          const second = await imported(rows, { lot: lot! }).catch((error: Error) => error);
          // The largest amount may ask for fewer decimals than the other one has: then the error says so.
          if (second instanceof Error) expect(second.message).toMatch(/not a multiple of pepe_usdt's lot|--lot/);
          else expect(second.levels).toEqual(exactly(rows));
        },
      ),
      runsOf(60, 20),
    );
  });

  it('has a tick of ten decimals where its prices do', async () => {
    const rows = [{ bid: '0.0000012345', bidAmount: '1', ask: '0.0000012351', askAmount: '1' }];
    const { instrument, levels } = await imported(rows);
    expect([instrument.tick, levels]).toEqual(['0.0000000001', exactly(rows)]);
  });

  it('of other kinds of files is counted in the finest lot that its amounts fit', async () => {
    const path = join(dir, 'binance_incremental_book_L2_2026-01-02_PEPEUSDT.csv');
    const head = 'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount';
    const row = (side: string, text: string, amount: string) =>
      `binance,PEPEUSDT,1767312000000000,1767312000001000,true,${side},${text},${amount}`;
    writeFileSync(
      path,
      [head, row('bid', '0.00000123', '123456789.5'), row('ask', '0.00000124', '9876543210'), ''].join('\n'),
    );
    const recording = await openRecording(path, { format: 'tardis', book: 'pepe_usdt' });
    const { columns, instrument } = await collectTape(recording);
    const sums = [...columns.amount].filter(lots => lots > 0).map(lots => moneyOfAmount(instrument, lots as Amount));
    expect(sums).toEqual([moneyOf('123456789.5'), moneyOf('9876543210')]);
  });
});

describe('a mapping file', () => {
  it('means by a small number without quotes what it says, in every decimal key', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 999 }), (decimals, units) => {
        const text = scaled(BigInt(units), decimals);
        const keys = `tick: ${text}\nlot: ${text}\ntables:\n  - { files: a.csv, kind: trades, time: t, price: p, amount: q, priceUnit: ${text}, amountUnit: ${text} }`;
        const { tick, lot, tables } = mappingOf(`book: pepe_usdt\n${keys}`, 'a.yaml');
        for (const found of [tick, lot, tables[0]!.priceUnit, tables[0]!.amountUnit])
          expect(moneyOf(found!)).toBe(moneyOf(text));
      }),
    );
  });
});
