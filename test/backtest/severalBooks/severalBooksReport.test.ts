/** Sums of a backtest over its books, beside plain sums over their reports, and the page that shows them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  comparedBooks,
  severalBooksPage,
  hashOver,
  reportOf,
  skewsOf,
  totalsOf,
  type ReplayReport,
} from '../../../backtest/index.ts';
import type { SeveralBooksReport } from '../../../backtest/severalBooks/severalBooksReport.ts';
import { run, tape } from '../ladderRun.ts';
import { whole } from '../reports.ts';

const base = reportOf(tape.instrument, run().result);
const MODELS = ['pessimistic', 'expected'];
const PARTS = ['spread', 'inventory', 'fees', 'hedging', 'total'] as const;
const BLOCKS = 3;

const number = fc.integer({ min: -1_000, max: 1_000 });
const drawn = fc.record({
  pnl: fc.record({ spread: number, inventory: number, fees: number, hedging: number, total: number }),
  fills: fc.nat(99),
  volume: fc.nat(9_999),
  net: fc.array(number, { minLength: BLOCKS, maxLength: BLOCKS }),
  requests: fc.record({ placed: fc.nat(99), canceled: fc.nat(99), overBudget: fc.nat(99), lockedOut: fc.nat(99) }),
  mostPerMinute: fc.nat(300),
});
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;
const book = fc.record({ minor: fc.constantFrom('mxn', 'usd', 'eur'), models: fc.tuple(drawn, drawn) });

const reportFrom = (model: string, { pnl, fills, volume, net, requests, mostPerMinute }: Drawn): ReplayReport => ({
  ...{ ...base, model, fills, volume: { major: '7', minor: String(volume) } },
  pnl: Object.fromEntries(PARTS.map(part => [part, String(pnl[part])])) as ReplayReport['pnl'],
  stretches: { seconds: 60, net, after60: net.map(x => x + 1) },
  requests: { ...requests, mostPerMinute, allowedPerMinute: 301 },
});
const sum = (values: readonly number[]): number => values.reduce((total, x) => total + x, 0);

test('books with one quote currency are added, part by part and time block by time block, and requests over all books', () => {
  fc.assert(
    fc.property(fc.array(book, { minLength: 1, maxLength: 5 }), books => {
      const names = books.map(({ minor }, i) => ({ book: `b${i}_${minor}`, minor }));
      const reports = MODELS.map((model, m) => books.map(({ models }) => reportFrom(model, models[m]!)));
      const together = MODELS.map((model, m) => ({
        model,
        together: totalsOf(names, reports[m]!),
        hash: `hash of ${model}`,
      }));
      const report: SeveralBooksReport = {
        ...{ from: '', to: '', hash: 'all', together },
        books: names.map((name, i) =>
          whole(
            reports.map(of => of[i]!),
            name,
          ),
        ),
      };
      const desk = comparedBooks('both', report);
      expect([desk.name, desk.hash, desk.books]).toEqual(['both', 'all', names.map(name => name.book)]);
      for (const [m, { model, together: totals }] of together.entries()) {
        const other = desk.models[m]!;
        expect([other.model, other.hash]).toEqual([model, `hash of ${model}`]);
        expect(totals.map(({ minor }) => minor)).toEqual([...new Set(books.map(({ minor }) => minor))]);
        for (const [t, total] of totals.entries()) {
          const own = books.map((of, i) => ({ of, i })).filter(({ of }) => of.minor === total.minor);
          const each = (get: (one: Drawn) => number): number => sum(own.map(({ of }) => get(of.models[m]!)));
          for (const part of PARTS) expect(Number(total.pnl[part])).toBe(each(({ pnl }) => pnl[part]));
          expect([total.fills, Number(total.volume)]).toEqual([
            each(({ fills }) => fills),
            each(({ volume }) => volume),
          ]);
          expect(total.books).toEqual(own.map(({ i }) => names[i]!.book));
          expect(other.together[t]).toMatchObject({
            ...total,
            stretches: Array.from({ length: BLOCKS }, (_, n) => each(({ net }) => net[n]!)),
          });
        }
        const all = books.map(({ models }) => models[m]!);
        const over = (get: (one: Drawn) => number): number => sum(all.map(get));
        expect(other.requests).toEqual({
          placed: over(({ requests }) => requests.placed),
          canceled: over(({ requests }) => requests.canceled),
          overBudget: over(({ requests }) => requests.overBudget),
          lockedOut: over(({ requests }) => requests.lockedOut),
          mostPerMinute: Math.max(...all.map(({ mostPerMinute }) => mostPerMinute)),
          allowedPerMinute: 301,
        });
      }
    }),
    { numRuns: 60 },
  );
});

test('the page of several books has each number under its heading, and of each book the results of the main model', () => {
  const names = [
    { book: 'btc_mxn', minor: 'mxn' },
    { book: 'eth_usd', minor: 'usd' },
  ];
  /** Every number of every report differs. */
  const reports = MODELS.map((model, m) =>
    names.map(({ book: name }, i): ReplayReport => {
      const n = 100 * (2 * m + i + 1);
      const pnl = Object.fromEntries(PARTS.map((part, p) => [part, String(n + p + 1)])) as ReplayReport['pnl'];
      const volume = { major: '1', minor: String(n + 11) };
      return {
        ...base,
        model,
        fills: n + 12,
        volume,
        pnl,
        inventory: String(n + 13),
        haltedBecause: `${name} ${model}`,
      };
    }),
  );
  const skews = skewsOf(names, [
    { own: 3, fromOthers: 1 },
    { own: 0, fromOthers: 0 },
  ]);
  expect(skews).toEqual([
    { book: 'btc_mxn', own: 3, fromOthers: 1, share: 0.25 },
    { book: 'eth_usd', own: 0, fromOthers: 0, share: null },
  ]);
  const together = MODELS.map((model, m) => {
    const alone = totalsOf(names, reports[m]!).map(total => ({ ...total, pnl: { ...total.pnl, total: `${m + 1}0` } }));
    return { model, together: totalsOf(names, reports[m]!), jointInventory: skews, alone, hash: '' };
  });
  const majors = ['btc', 'eth'];
  const books = names.map((name, i) =>
    whole(
      reports.map(of => of[i]!),
      { ...name, major: majors[i]! },
    ),
  );
  const pages = ['one.html', 'two.html'];
  const html = severalBooksPage({ from: 'F', to: 'T', together, books, hash: hashOver(['']) }, pages, {
    ...{ library: '', libraryStyle: '', script: '' },
  });
  const text = (part: string): string =>
    part
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
  const rows = [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => text(cell!)),
  );
  expect(rows).toEqual([
    ['fill model', 'profit', 'spread', 'inventory', 'fees', 'fills', 'volume', 'books'],
    ['pessimistic', '+105.00 mxn', '+101.00', '+102.00', '+103.00', '112', '111.00', 'btc_mxn'],
    ['pessimistic', '+205.00 usd', '+201.00', '+202.00', '+203.00', '212', '211.00', 'eth_usd'],
    ['expected', '+305.00 mxn', '+301.00', '+302.00', '+303.00', '312', '311.00', 'btc_mxn'],
    ['expected', '+405.00 usd', '+401.00', '+402.00', '+403.00', '412', '411.00', 'eth_usd'],
    ['book', 'profit', 'fills', 'inventory at the end', 'halted'],
    ['btc_mxn', '+305.00 mxn', '312', '313 btc', 'btc_mxn expected'],
    ['eth_usd', '+405.00 usd', '412', '413 eth', 'eth_usd expected'],
    ['book', 'mean size of its own inventory', 'mean size added by the other books', 'share of the other books'],
    ['btc_mxn', '3', '1', '25.0%'],
    ['eth_usd', '0', '0', '–'],
    ['currency', 'together', 'each book alone', 'difference'],
    ['mxn', '+305.00', '+20.00', '+285.00'],
    ['usd', '+405.00', '+20.00', '+385.00'],
  ]);
  expect([...html.matchAll(/<a href="(.*?)">(.*?)<\/a>/g)].map(([, page, name]) => [page, name])).toEqual([
    ['one.html', 'btc_mxn'],
    ['two.html', 'eth_usd'],
  ]);
  expect(text(html)).toContain('One account, from F to T.');
});
