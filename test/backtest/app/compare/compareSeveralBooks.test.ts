/** Comparison of configurations with several books: each result is that of the backtest, in the same hours. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  comparisonPage,
  booksAgainstFirst,
  mainOf,
  recordLinkedFlows,
  withoutCurves,
  type ComparedBooks,
  type Comparison,
} from '../../../../backtest/index.ts';
import { backtest } from '../../../../backtest/app/backtest/backtest.ts';
import {
  compareSeveralBooks,
  type CompareSeveralBooksOptions,
} from '../../../../backtest/app/compare/compareSeveralBooks.ts';
import { describeComparedBooks } from '../../../../backtest/app/compare/comparedBooksText.ts';
import { backtestSeveralBooks } from '../../../../backtest/app/severalBooks/severalBooksBacktest.ts';
import type { Latencies } from '../../../../backtest/app/backtest/backtestModel.ts';
import { moneyOf } from '../../../../src/core/index.ts';
import type { Progress } from '../../../../src/messages/progress.ts';
import { openStoredTape, TapeWriter, type Tape } from '../../../../src/tape/index.ts';
import { readTradedConfig } from '../../../../src/wiring/configFile.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';
import { LATENCIES } from '../../severalBooks/severalBooksWorld.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-desks-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const path = (name: string): string => join(dir, name);

const SECTIONS = (halfSpreadBps: number): string => `
exchange:
  kind: embedded
  balances: { btc: '2', eth: '40', usd: '100000', mxn: '4000000' }
  volume30d: '200000000'
  market: { kind: flow, books: { btc_mxn: {}, eth_mxn: {}, btc_usd: {} } }
strategy: { name: ladder, reference: mid, halfSpreadBps: ${halfSpreadBps}, levels: 2, levelSpacingBps: 6, amount: '0.004', refreshToleranceBps: 2, minEdgeBps: -1000, skew: { priceBpsAtLimit: 10, sizeRange: '0.1' } }
limits: { positionMax: '0.1', orderValueMax: '1000000', ordersMax: 8, collarBps: 500, drawdownMax: '100000000', dayLossMax: '100000000' }
halts: { fillsPer10Min: 10000, refusalsPerMinute: 10000, unknownsPerMinute: 10000, messagesPerMinute: 10000 }
instance: desk
`;
const several = (halfSpreadBps: number, ...books: readonly string[]): string =>
  `books: [${books.map(book => `{ symbol: ${book} }`).join(', ')}]${SECTIONS(halfSpreadBps)}`;
const FILES: Readonly<Record<string, string>> = {
  'tight.yaml': `${several(4, 'btc_mxn', 'eth_mxn')}jointInventory: {}\n`,
  'wide.yaml': several(8, 'btc_mxn', 'eth_mxn'),
  'dollars.yaml': several(4, 'btc_mxn', 'btc_usd'),
  'one.yaml': `book: btc_mxn${SECTIONS(4).replace(/ {2}market:.*\n/, '')}`,
  'hedged.yaml': `book: btc_mxn${SECTIONS(4)}hedge: { band: '0.02' }\n`,
  'pegged.yaml': `book: btc_mxn${SECTIONS(4)}reference: { books: [btc_usd, usd_mxn], everyMs: 20000 }\n`,
};
const BOOKS = ['btc_mxn', 'eth_mxn', 'btc_usd'];

function stored(name: string, tapes: readonly Tape[]): void {
  for (const { rules, columns } of tapes) {
    const writer = new TapeWriter({ dir: path(name), rules, source: 'flow' });
    writer.append(columns);
    writer.close();
  }
}
const flows = (seconds: number): readonly Tape[] =>
  recordLinkedFlows(Object.fromEntries(BOOKS.map(book => [book, { noiseBps: 1 }])), {
    seed: 1,
    seconds,
    correlation: 0.7,
  });

beforeAll(() => {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(path(name), text);
  const [long, short] = [flows(45), flows(25)];
  stored('tapes', [long[0]!, long[1]!, short[2]!]);
  stored('bitcoin', [long[0]!]);
});

const TERMS = {
  models: ['pessimistic', 'expected'],
  latencies: LATENCIES,
  latencyText: { latencyMs: '25', feedLatencyMs: '0' },
  seed: 1,
  version: '0.0.0',
  progress: NO_PROGRESS,
} as const;
const compared = (names: readonly string[], change: Partial<CompareSeveralBooksOptions> = {}): Promise<Comparison> =>
  compareSeveralBooks({ ...TERMS, configs: names.map(path), paths: [path('tapes')], ...change });
const tapeOf = (book: string) => {
  const options = { book };
  return { tape: openStoredTape(path('tapes'), options), options };
};
const moneyIn = ({ models }: ComparedBooks, minor: string): string =>
  mainOf(models)!.together.find(total => total.minor === minor)!.pnl.total;

const RANDOM: Latencies = { ...LATENCIES, orders: { kind: 'exponential', least: 5, mean: 60 } };

describe('a comparison of configurations with several books', () => {
  test.each([
    ['constant latencies', LATENCIES, 1],
    ['random latencies', RANDOM, 7],
  ])('has the figures and hashes of the backtest of each, with %s', async (_, latencies, seed) => {
    const terms = { ...TERMS, latencies, seed };
    const comparison = await compared(['tight.yaml', 'wide.yaml', 'one.yaml'], { latencies, seed });
    for (const [i, name] of ['tight', 'wide'].entries()) {
      const report = await backtestSeveralBooks({
        ...{ ...terms, config: readTradedConfig(path(`${name}.yaml`)), configText: '', flowSeconds: 1, time: {} },
        ...{ tapes: [tapeOf('btc_mxn'), tapeOf('eth_mxn')], alone: false, files: null },
      });
      const desk = comparison.desks![i]!;
      expect([desk.name, desk.hash]).toEqual([name, report.hash]);
      expect(desk.models).toMatchObject(report.together);
      for (const { book, models, tape } of report.books) {
        const found = comparison.tapes.find(other => other.book === book)!;
        expect(found.hash).toBe(tape.hash);
        const run = found.runs.find(other => other.name === name)!;
        expect(run.models.map(({ hash, fills, pnl }) => [hash, fills, pnl])).toEqual(
          models.map(({ hash, fills, pnl }) => [hash, fills, pnl]),
        );
      }
    }
    const alone = await backtest({
      ...{ ...terms, config: readTradedConfig(path('one.yaml')), configText: '', flowSeconds: 1, flowDrift: 0 },
      ...{ tape: tapeOf('btc_mxn'), time: { until: tapeOf('eth_mxn').tape.to }, reference: new Map() },
      ...{ threads: 1, files: null },
    });
    const one = comparison.desks![2]!;
    expect([one.hash, one.models.map(({ hash }) => hash)]).toEqual([alone.hash, alone.models.map(({ hash }) => hash)]);
    expect(alone.models.every(({ fills }) => fills > 0)).toBe(true);
  });

  test('gives equal hashes for equal inputs, and others for others', async () => {
    const [first, again, other] = await Promise.all([
      compared(['tight.yaml', 'one.yaml']),
      compared(['tight.yaml', 'one.yaml']),
      compared(['tight.yaml', 'one.yaml'], { seed: 2, latencies: RANDOM }),
    ]);
    expect(again).toEqual(first);
    expect(other.hash).not.toBe(first.hash);
  });

  test('lets all trade in the time that the recordings of all books have in common', async () => {
    const { tapes, desks } = await compared(['tight.yaml', 'dollars.yaml']);
    const ends = BOOKS.map(book => tapeOf(book).tape.to);
    expect(new Set(tapes.map(({ from, to }) => `${from} ${to}`)).size).toBe(1);
    expect(tapes[0]!.to).toBe(new Date(Math.min(...ends)).toISOString());
    expect(Math.max(...ends) - Math.min(...ends)).toBeGreaterThan(10_000);
    // Without a book in a currency, a configuration has a profit of 0 in it.
    const [first, second] = desks!;
    expect(first!.againstFirst).toBe(null);
    expect(second!.againstFirst!.map(({ minor }) => minor)).toEqual(['mxn', 'usd']);
    expect(second!.againstFirst![1]!.value).toBe(moneyIn(second!, 'usd'));
  });

  test('trades only in the chosen time', async () => {
    const from = tapeOf('btc_mxn').tape.from;
    const { tapes } = await compared(['wide.yaml'], { time: { since: from + 10_000, until: from + 40_000 } });
    expect(tapes.map(({ seconds, tapeFrom }) => [seconds, Date.parse(tapeFrom)])).toEqual([
      [30, from],
      [30, from],
    ]);
  });

  test('names a recording of a book that no configuration has, and leaves it out', async () => {
    const { leftOut } = await compared(['wide.yaml'], { models: ['expected'] });
    expect(leftOut.map(({ why }) => why)).toEqual(['no configuration trades btc_usd']);
    expect(leftOut[0]!.path).toMatch(/btc_usd$/);
  });

  test('shows one progress, that names the configuration and never falls', async () => {
    const seen: (readonly [number, string | undefined])[] = [];
    const begun: number[] = [];
    const progress: Progress = {
      begin: total => void begun.push(total),
      at: (done, what) => void seen.push([done, what]),
      end: () => undefined,
    };
    await compared(['tight.yaml', 'wide.yaml'], { progress });
    const shares = seen.map(([done]) => done / begun.at(-1)!);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares[0]).toBe(0);
    expect(shares.at(-1)).toBeLessThanOrEqual(1);
    expect(seen.find(([, what]) => what === 'wide')![0]).toBe(begun.at(-1)! / 2);
    expect([...new Set(seen.map(([, what]) => what))]).toEqual(['tight', 'wide']);
  });
});

describe('a comparison with several books is refused in one line', () => {
  test.each([
    [
      ['wide.yaml'],
      'bitcoin',
      /wide\.yaml: --tape: found no recording of eth_mxn; add --tape with a folder that has it$/,
    ],
    [['wide.yaml', 'hedged.yaml'], 'tapes', /hedged\.yaml: hedge: cannot be compared with .* several books; remove it/],
    [['wide.yaml', 'pegged.yaml'], 'tapes', /pegged\.yaml: reference: cannot be compared with /],
  ])('for %j on %s', async (names, tapes, message) => {
    const ended = compared(names, { paths: [path(tapes)] });
    await expect(ended).rejects.toThrow(message);
    await expect(ended).rejects.toThrow(/^[^\n]*$/);
  });

  test('for two recordings of one book', async () => {
    await expect(compared(['wide.yaml'], { paths: [path('tapes'), path('bitcoin')] })).rejects.toThrow(
      /wide\.yaml: --tape: expected one recording of btc_mxn, found /,
    );
  });

  test('for a time outside the common time of all recordings', async () => {
    const since = tapeOf('btc_usd').tape.to + 1_000;
    await expect(compared(['tight.yaml', 'dollars.yaml'], { time: { since } })).rejects.toThrow(
      '--since and --until exclude the common time of the recordings; choose times from',
    );
  });
});

describe('what is shown of a comparison with several books', () => {
  let comparison: Comparison;
  beforeAll(async () => {
    comparison = await compared(['tight.yaml', 'dollars.yaml', 'one.yaml']);
  });

  test('fits into 80 columns, with each configuration, book, difference and hash', () => {
    const text = describeComparedBooks(comparison);
    for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    for (const { name, books, hash } of comparison.desks!) {
      expect(text).toMatch(new RegExp(`^${name} +${hash}$`, 'm'));
      for (const book of books) expect(text).toMatch(new RegExp(`^${name}, ${book} +[+−\\d]`, 'm'));
    }
    expect(text).toContain(`minus tight `);
    expect(text).toMatch(/^dollars +usd +[+−\d]/m);
    expect(text).toMatch(new RegExp(`^comparison +${comparison.hash}$`, 'm'));
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });

  test('is a page with the sums, the joint inventory and the hashes', () => {
    const page = comparisonPage(comparison, { library: '', libraryStyle: '', script: '' });
    expect(page).toContain('All books together');
    expect(page).toContain('Joint inventory');
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
    for (const { hash } of comparison.desks!) expect(page).toContain(hash);
    // Sums over currencies would add dollars to pesos.
    expect(page).not.toContain('net, all');
  });

  test('is in JSON without the results of time blocks', () => {
    const text = JSON.stringify(withoutCurves(comparison));
    expect(text).not.toContain('"stretches"');
    expect((JSON.parse(text) as Comparison).desks![0]).toMatchObject({ name: 'tight', books: ['btc_mxn', 'eth_mxn'] });
  });

  test('does not score a configuration whose recorded book was crossed for too long', () => {
    const [first, ...others] = comparison.desks!;
    const crossed = {
      ...comparison,
      desks: booksAgainstFirst([first!, { ...others[0]!, unscored: 'btc_usd: crossed' }]),
    };
    expect(crossed.desks[1]!.againstFirst).toBe(null);
    const text = describeComparedBooks(crossed);
    expect(text).toContain('dollars: not scored: btc_usd: crossed');
    expect(text).not.toMatch(/^dollars, \w+ +[+−\d]/m);
    expect(comparisonPage(crossed, { library: '', libraryStyle: '', script: '' })).toContain(
      'not scored: btc_usd: crossed',
    );
  });
});

const desk = (total: bigint, blocks: readonly number[]): ComparedBooks => ({
  ...{ name: 'a', books: ['btc_mxn'], unscored: null, againstFirst: null, hash: '' },
  models: [
    {
      ...{ model: 'expected', hash: '' },
      together: [
        {
          ...{ minor: 'mxn', books: ['btc_mxn'], fills: 1, volume: '1', netInterval: null, stretches: blocks },
          pnl: { spread: '0', inventory: '0', fees: '0', hedging: '0', total: `${total}.00000001` },
        },
      ],
      requests: { placed: 0, canceled: 0, overBudget: 0, lockedOut: 0, mostPerMinute: 0, allowedPerMinute: 0 },
    },
  ],
});

test('a difference is exact, changes its sign with the order, and has an interval only over 20 blocks', () => {
  const blocks = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 30, maxLength: 30 });
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 10n ** 12n), blocks, blocks, (a, b, ours, theirs) => {
      const [own, other] = [desk(a, ours), desk(b, theirs)];
      const [there] = booksAgainstFirst([other, own])[1]!.againstFirst!;
      const [back] = booksAgainstFirst([own, other])[1]!.againstFirst!;
      expect(moneyOf(there!.value)).toBe(-moneyOf(back!.value));
      expect(moneyOf(there!.value)).toBe((a - b) * moneyOf('1'));
      const [few] = booksAgainstFirst([desk(b, theirs.slice(0, 19)), desk(a, ours.slice(0, 19))])[1]!.againstFirst!;
      expect(few!.interval).toBe(null);
      const sum = ours.reduce((all, gain, i) => all + gain - theirs[i]!, 0);
      if (there!.interval !== null) {
        expect(there!.interval.low).toBeLessThanOrEqual(sum);
        expect(there!.interval.high).toBeGreaterThanOrEqual(sum);
      }
    }),
    { numRuns: 20 },
  );
});
