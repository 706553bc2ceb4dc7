/** The first balances of a ledger: a reading is believed only when a second one says the same of every currency of the book. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Balance, Clock, Exchange } from '../../../src/core/index.ts';
import { CannotStart, readFirstBalances } from '../../../src/live/loop/opening.ts';

const clock: Clock = { now: () => 1.7e12, elapsed: () => 0, after: () => ({ stop: () => undefined }) };
const balance = (currency: string, total: number): Balance => ({
  ...{ currency, total: `${total}`, locked: '0', available: `${total}` },
});

/** An exchange that gives these readings in turn, the last one for ever. */
function exchangeOf(readings: readonly (readonly Balance[])[]): Exchange {
  let n = 0;
  return {
    userTrades: () => Promise.resolve({ kind: 'done', value: [] }),
    balances: () => Promise.resolve({ kind: 'done', value: readings[Math.min(n++, readings.length - 1)]! }),
  } as unknown as Exchange;
}
const options = { clock, apartMs: 0, currencies: ['btc', 'mxn'], zero: [] as string[] };

test('are of two readings in a row that are equal and name both currencies, whatever came before them', async () => {
  const total = fc.constantFrom(null, 0, 1, 2);
  const reading = fc.record({ btc: total, mxn: total });
  await fc.assert(
    fc.asyncProperty(fc.array(reading, { minLength: 1, maxLength: 10 }), async drawn => {
      const readings = drawn.map(of =>
        Object.entries(of).flatMap(([currency, sum]) => (sum === null ? [] : [balance(currency, sum)])),
      );
      const all = [...readings, readings.at(-1)!];
      const first = all.findIndex(
        (one, i) => i > 0 && one.length === 2 && JSON.stringify(one) === JSON.stringify(all[i - 1]),
      );
      const answer = readFirstBalances(exchangeOf(readings), options);
      if (first < 0) await expect(answer).rejects.toThrow(CannotStart);
      else expect((await answer).balances).toEqual(all[first]);
    }),
  );
});

test('take a missing currency for none only by the word of the operator', async () => {
  const exchange = exchangeOf([[balance('btc', 1)]]);
  await expect(readFirstBalances(exchange, options)).rejects.toThrow(/found none; .*--opening-zero mxn/);
  const { balances } = await readFirstBalances(exchange, { ...options, zero: ['mxn'] });
  expect(balances).toEqual([balance('btc', 1), { currency: 'mxn', total: '0', locked: '0', available: '0' }]);
});

test('take no currency for none of which a row cannot be read, though one of another currency', async () => {
  for (const [currencies, isRefused] of [
    [['mxn'], true],
    [undefined, true],
    [['usd'], false],
  ] as const) {
    const row = { why: 'row 2: total: expected a number', ...(currencies === undefined ? {} : { currencies }) };
    const exchange = {
      ...exchangeOf([]),
      balances: () => Promise.resolve({ kind: 'done', value: [balance('btc', 1)], unreadable: [row] }),
    } as unknown as Exchange;
    const answer = readFirstBalances(exchange, { ...options, zero: ['mxn'] });
    if (isRefused)
      await expect(answer).rejects.toThrow(/^cannot open the ledger: balance: row 2: total: expected a number[^;]*$/);
    else expect((await answer).balances.map(({ currency }) => currency)).toEqual(['btc', 'mxn']);
  }
});

test('that never agree are told as they are at last: changing, or without a currency', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }), async areWhole => {
      const readings = areWhole.map((isWhole, i) => [balance('btc', i + 1), ...(isWhole ? [balance('mxn', 1)] : [])]);
      await expect(readFirstBalances(exchangeOf(readings), options)).rejects.toThrow(
        areWhole.at(-1) === true ? /^the balances changed during each of 20 attempts/ : /--opening-zero mxn$/,
      );
    }),
  );
});

test('survive every lost answer that is not followed by another one, and end for the time being at two in a row', async () => {
  const lost = { kind: 'unknown', reason: 'no complete answer within 1000 ms' } as const;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 14 }), async losses => {
      const both = exchangeOf([[balance('btc', 1), balance('mxn', 2)]]);
      let n = 0;
      const answered = <T>(answer: () => T) => (losses[n++] === true ? Promise.resolve(lost) : answer());
      const exchange = {
        userTrades: () => answered(() => both.userTrades({ limit: 1 })),
        balances: () => answered(() => both.balances()),
      } as unknown as Exchange;
      const read = readFirstBalances(exchange, options).catch((error: unknown) => error);
      // A read is lost for good if its repetition is lost too; six reads that are answered open the ledger.
      let [i, reads] = [0, 0];
      while (reads < 6 && !(losses[i] && losses[i + 1])) [i, reads] = [i + (losses[i] ? 2 : 1), reads + 1];
      if (reads < 6) expect(await read).toMatchObject({ name: 'CannotStart', mayPass: true });
      else expect(await read).toMatchObject({ balances: [{ currency: 'btc' }, { currency: 'mxn' }] });
      expect(n).toBe(reads < 6 ? i + 2 : i);
    }),
  );
});
