/** Tapes recorded through ccxt, against the exchange that was recorded and against the tape of the own client. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { record, type Recorded } from '../../src/app/tapes/record.ts';
import { recordedVenue } from '../../src/app/tapes/recordedVenue.ts';
import { realClock } from '../../src/live/realClock.ts';
import { KIND, openStoredTape, type StoredTape } from '../../src/tape/index.ts';
import { stockedMarket, type Market } from '../clients/served.ts';
import { plainRows } from '../tape/storedRows.ts';
import { tinyExchange } from './tinyExchange.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

type Recording = { readonly out: string; readonly rows: () => number; stop(): Promise<Recorded> };

/** Starts `puntas record --venue` in this process. */
function recording(flags: { venue: string; url: string; book: string; stream?: boolean }, out?: string): Recording {
  const dir = out ?? join(mkdtempSync(join(tmpdir(), 'ccxt-tape-')), 'tape');
  let [stop, rows]: [(why: string) => void, number] = [() => undefined, 0];
  const of = recordedVenue(flags)!;
  const done = record({
    ...of,
    addresses: { restUrl: `${flags.url}/api` },
    ...{ books: [flags.book], out: dir, clock: realClock(1), seed: 1 },
    log: () => undefined,
    onProgress: line => (rows = Number(/ (\d+) rows/.exec(line)?.[1] ?? 0)),
    onStarted: call => (stop = call),
  });
  closing.push(() => (stop('test'), done));
  return { out: dir, rows: () => rows, stop: () => (stop('test'), done) };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(50);
}

/** Books after each step of time, as text of the levels in ticks and lots, without repetitions. */
function statesOf(stored: StoredTape): readonly string[] {
  const levels = [new Map<number, number>(), new Map<number, number>()];
  const states: string[] = [];
  let at = -1;
  const keep = () => {
    const text = levels.map(side => [...side].sort((a, b) => a[0] - b[0]).join(' ')).join(' | ');
    if (text !== ' | ' && states.at(-1) !== text) states.push(text);
  };
  for (const [kind, side, time, , price, amount] of plainRows(stored)) {
    if (time !== at) keep();
    at = time!;
    if (kind === KIND.clear) for (const each of levels) each.clear();
    if (kind !== KIND.level) continue;
    if (amount === 0) levels[side!]!.delete(price!);
    else levels[side!]!.set(price!, amount!);
  }
  keep();
  return states;
}

/** Taker side, time, price, amount and id of each trade. */
const tradesOf = (stored: StoredTape) =>
  plainRows(stored)
    .filter(([kind]) => kind === KIND.trade)
    .map(([, side, at, , price, amount, id]) => ({ side, at, price, amount, id }));

describe('a tape recorded through ccxt', () => {
  test('equals the tape of the own client, books and trades, from the same polled moments', async () => {
    const market: Market = await stockedMarket();
    closing.push(() => market.close());
    const { url } = market.served;
    const own = recording({ venue: 'bitso', url, book: 'btc_mxn' });
    const foreign = recording({ venue: 'ccxt:bitso', url, book: 'btc_mxn' });
    const both = [own, foreign];
    await until(() => both.every(one => one.rows() > 0));
    const steps: (() => unknown)[] = [
      () => market.bob.limit('btc_mxn', 'buy', '1499950', '0.12345678'),
      () => market.bob.limit('btc_mxn', 'buy', '1500010', '0.4'),
      () => market.bob.limit('btc_mxn', 'sell', '1500070', '0.00001234'),
    ];
    for (const step of steps) {
      const before = both.map(one => one.rows());
      step();
      await until(() => both.every((one, n) => one.rows() > before[n]!));
      // A poll that was under way during the step is followed by a complete one.
      await sleep(5_000);
    }
    for (const one of both) expect((await one.stop()).failure).toBe(null);
    const [mine, theirs] = both.map(one => openStoredTape(one.out));
    expect(statesOf(theirs!)).toEqual(statesOf(mine!));
    expect(statesOf(theirs!).length).toBe(4);
    expect(tradesOf(theirs!)).toEqual(tradesOf(mine!));
    expect(tradesOf(theirs!).length).toBe(1);
    expect([theirs!.gaps, mine!.gaps]).toEqual([[], []]);
    expect(theirs!.instrument).toEqual(mine!.instrument);
    expect(theirs!.source).toBe(`ccxt 4.5.84 bitso at ${url}`);
  });

  test('has every streamed book and trade, a gap while the stream was down, and trades with unique ids over restarts', async () => {
    const tiny = await tinyExchange();
    closing.push(() => tiny.close());
    const flags = { venue: 'ccxt:binance', url: tiny.url, book: 'btc_usdt' };
    let amount = 1;
    const expected: string[] = [];
    const move = async () => {
      tiny.move('b', '99.00', `${++amount}.00000000`);
      expected.push(`9900,${amount}00000000 | 10100,200000000`);
      await sleep(120);
    };
    const live = async (one: Recording) => {
      const before = one.rows();
      // The first book with a time of the exchange is the first that is recorded.
      while (one.rows() === before) {
        await move();
        await sleep(200);
      }
      for (let n = 0; n < 10; n++) {
        await move();
        if (n % 3 === 0) tiny.trade('101.00', `0.${n + 1}`);
      }
      await sleep(1_500);
    };
    const first = recording(flags);
    await live(first);
    tiny.cut(1011);
    tiny.trade('101.00', '5');
    await sleep(1_000);
    await live(first);
    const { failure, books } = await first.stop();
    expect(failure).toBe(null);
    expect(books[0]!.gaps).toBeGreaterThan(0);
    const second = recording(flags, first.out);
    await live(second);
    expect((await second.stop()).failure).toBe(null);
    const stored = openStoredTape(first.out);
    const states = statesOf(stored);
    // Each recorded book was a book of the exchange, in the same order; the last ones of each part are complete.
    expect(states.filter(state => !expected.includes(state))).toEqual([]);
    expect(states.map(state => expected.indexOf(state))).toEqual(
      states.map(state => expected.indexOf(state)).sort((a, b) => a - b),
    );
    expect(states.slice(-10)).toEqual(expected.slice(-10));
    const ids = tradesOf(stored).map(({ id }) => id!);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    // Four trades in each of three parts; the one while the stream was down is in a gap.
    expect(ids.length).toBe(12);
    expect(stored.gaps.map(({ why }) => why)).toEqual(
      expect.arrayContaining([
        'the stream was down; the book was recorded only before and after this gap',
        'the recorder was not running',
      ]),
    );
    expect(stored.source).toContain('digits after the 15th may be lost');
  });
});
