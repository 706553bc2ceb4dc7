/** The line on where the bot stands: one row on a terminal, whole elsewhere, and why a side is empty in the words of `puntas explain`. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineRoom, logger } from '../../src/cli/terminal/logger.ts';
import { status, statusLine } from '../../src/messages/status.ts';
import {
  amount,
  money,
  REASONS,
  VirtualClock,
  type Order,
  type Snapshot,
  type EmptySide,
} from '../../src/core/index.ts';
import { ToyExchange, quoteAround } from '../core/toyExchange.ts';
import { btcMxn, plain } from '../core/market.ts';
import { memoryLog } from '../memoryLog.ts';

const NOBODY = { buy: null, sell: null };
const quoting = (): ToyExchange => new ToyExchange({ strategy: quoteAround(2, 5) }).open().rounds(2);
const snapshotOf = (toy: ToyExchange): Snapshot => toy.engine.book.snapshot(toy.now);
const empty = (reason: EmptySide['reason']): EmptySide => ({ reason, words: null, level: null });
const WIDE = 80;
const room = lineRoom({ isTTY: true, columns: WIDE });

describe('the status line', () => {
  test('is whole off a terminal: both sides with their queues, the market, fills, inventory and profit with its parts', () => {
    const ahead = { buy: amount(3), sell: null };
    expect(statusLine(snapshotOf(quoting()), plain, ahead, Infinity)).toBe(
      'bid 998 (2 levels, 3.0000 btc ahead) | ask 1002 (2 levels) | market 990 / 1010 | ' +
        '0 fills, btc +0.0000 from target, profit +0.00 mxn since the opening of the ledger (spread +0.00, inventory +0.00, fees +0.00), this run +0.00',
    );
  });

  test.each([
    [lineRoom({ isTTY: false, columns: 80 }), /^bid 998 \(2 levels\) \| .* fees/],
    [lineRoom({ isTTY: true, columns: 400 }), /^bid 998 \(2 levels\) \| .* fees/],
    [lineRoom({ isTTY: true, columns: 100 }), /^bid 998 x2 \| ask 1002 x2 \| btc \+0\.0000 \| mxn \+0\.00 \| 0 fills$/],
    [room, /^bid 998 x2 \| ask 1002 x2 \| btc \+0\.0000 \| mxn \+0\.00$/],
    [lineRoom({ isTTY: true, columns: 70 }), /^bid 998 \| ask 1002 \| btc \+0\.0000 \| mxn \+0\.00$/],
    [lineRoom({ isTTY: true, columns: 40 }), /^bid 998 \| ask 1002$/],
  ])('in %d characters leaves out what fits least', (width, says) => {
    expect(statusLine(snapshotOf(quoting()), plain, NOBODY, width)).toMatch(says);
  });

  test('is one row of 80 columns with the prefix of the log, whatever is in it, and says why a side is empty', () => {
    const order = (side: Order['side'], price: number): Order => ({
      ...{ id: 'demo-1-1', side, price: price as never, amount: amount(10), placedAt: 0, filled: amount(0) },
      ...{ state: 'open', ending: null, oid: 'o' },
    });
    const sum = fc.bigInt({ min: -(10n ** 26n), max: 10n ** 26n }).map(money);
    const reason = fc.constantFrom(...REASONS);
    const side = fc.oneof(reason.map(empty), fc.integer({ min: 1_000_000, max: 400_000_000 }));
    fc.assert(
      fc.property(side, side, sum, sum, fc.nat(99_999), (bid, ask, inventory, total, fills) => {
        const before = snapshotOf(quoting());
        const trades = before.known.trades!;
        const orders = [
          ...(typeof bid === 'number' ? [order('buy', bid)] : []),
          ...(typeof ask === 'number' ? [order('sell', ask)] : []),
        ];
        const unshown = { buy: typeof bid === 'number' ? null : bid, sell: typeof ask === 'number' ? null : ask };
        const snapshot = {
          ...before,
          orders,
          unshown,
          known: {
            ...before.known,
            trades: {
              ...trades,
              inventory,
              fills,
              sinceOpening: { ...trades.sinceOpening, profit: { ...trades.profit, total } },
            },
          },
        };
        const line = statusLine(snapshot, btcMxn, NOBODY, room);
        const written: string[] = [];
        logger('info', [], { write: text => void written.push(text) }).info({}, line);
        expect(written).toHaveLength(1);
        expect('[12:00:00.000] INFO: '.length + line.length).toBeLessThanOrEqual(WIDE);
        const [first] = [unshown.buy, unshown.sell].filter(one => one !== null);
        if (first !== undefined) expect(line).toContain(first.reason);
      }),
      { numRuns: 500 },
    );
  });

  test.each<readonly [string, Partial<Snapshot>, string, RegExp]>([
    [
      'a whole refusal',
      { quoting: 'book stale' },
      'not quoting: book stale | btc +0.0000 | mxn +0.00 | 0 fills',
      /^not quoting: book stale \| market/,
    ],
    [
      'what is missing to be ready',
      { quoting: 'not ready', waitsFor: 'the balances have not been read yet' },
      'not quoting: not ready | btc +0.0000 | mxn +0.00 | 0 fills',
      /^not quoting: not ready \(the balances have not been read yet\) \| market/,
    ],
    [
      'both sides for one reason',
      {
        unshown: { buy: empty('insufficient funds'), sell: empty('insufficient funds') },
        emptySidesText: 'no bid: insufficient funds (a); no ask: insufficient funds (b)',
        orders: [],
      },
      'no bid, no ask: insufficient funds | btc +0.0000 | mxn +0.00',
      /^no bid: insufficient funds \(a\); no ask: insufficient funds \(b\) \| market/,
    ],
    [
      'orders that are not there yet',
      { orders: [] },
      'no bid: its order is on its way | no ask: its order is on its way',
      /^no bid: its order is on its way \| no ask: its order is on its way \| market/,
    ],
  ])('tells of %s', (_, change, short, whole) => {
    const snapshot = { ...snapshotOf(quoting()), ...change };
    expect(statusLine(snapshot, plain, NOBODY, 66)).toBe(short);
    expect(statusLine(snapshot, plain, NOBODY, Infinity)).toMatch(whole);
  });

  test('of an order without an answer says so', () => {
    const toy = new ToyExchange().open();
    toy.fateOfPlace = () => 'lost';
    toy.rounds(2);
    expect(statusLine(snapshotOf(toy), plain, NOBODY, Infinity)).toMatch(
      /^no bid: its order is unknown \| no ask: its order is unknown/,
    );
  });
});

describe('the status of a bot that stops', () => {
  test('has no figure that is unknown only because its orders can still fill, in any width', () => {
    const toy = quoting();
    toy.engine.step({ kind: 'stop', at: toy.now });
    const stopping = snapshotOf(toy);
    expect([stopping.quoting, stopping.known.trades]).toEqual(['stopping', null]);
    for (const width of [40, 66, Infinity]) {
      const line = statusLine(stopping, plain, NOBODY, width);
      expect(line).toBe('stopping: 4 orders may still be open');
      expect(statusLine({ ...stopping, orders: [] }, plain, NOBODY, width)).toBe('stopping: verifying open orders');
    }
  });
});

describe('the status', () => {
  const told = (toy: ToyExchange, ms: number): readonly string[] => {
    const clock = new VirtualClock();
    const { log, lines } = memoryLog();
    const line = status({
      ...{ log, instrument: () => plain, now: () => snapshotOf(toy), clock, speed: 1 },
      ...{ queueAhead: () => NOBODY, room: () => Infinity },
    });
    while ((clock.nextDue() ?? Infinity) <= ms) clock.runNext();
    line.stop();
    return lines.map(({ text }) => text);
  };

  test('comes at once when both sides are quoted, then every ten seconds', () => {
    expect(told(quoting(), 25_000)).toHaveLength(3);
  });

  test('comes after ten seconds also when nothing is quoted, and says why', () => {
    const toy = new ToyExchange({
      strategy: { quote: () => ({ bids: [], asks: [], noBid: 'a mood', noAsk: 'a mood' }) },
    });
    const lines = told(toy.open().rounds(2), 25_000);
    expect(lines).toHaveLength(2);
    for (const line of lines)
      expect(line).toMatch(/^no bid and no ask: held back by the strategy \(a mood\) \| market/);
  });
});
