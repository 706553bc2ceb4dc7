/** Polls of a bot against the request budgets of every exchange, with the real clients on a virtual clock. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  balancesEveryMs,
  pollsPerMinute,
  privatePollMsMin,
  randomOf,
  Secret,
  sleep,
  unstored,
  VirtualClock,
  type ExchangeVenue,
} from '../../src/core/index.ts';
import type { Config } from '../../src/config.ts';
import { pollProblems, pollShareOf, readBudgetsOf, VENUES } from '../../src/wiring/venueRegistry.ts';
import { BOOKS, listAnswer } from '../exchange/everyVenue.ts';

const POLLED_MS = 1_200_000;

/** Answers of an account without orders and trades, by the end of the path. */
const EMPTY: Readonly<Record<string, unknown>> = {
  OpenOrders: { error: [], result: { open: {} } },
  TradesHistory: { error: [], result: { trades: {}, count: 0 } },
  BalanceEx: { error: [], result: {} },
  openOrders: [],
  myTrades: [],
  account: { balances: [] },
  depth: { lastUpdateId: 1, bids: [], asks: [] },
  open_orders: { success: true, payload: [] },
  user_trades: { success: true, payload: [] },
  balance: { success: true, payload: { balances: [] } },
};

type Timing = { readonly privatePollMs: number; readonly bookPollMs: number };
const configOf = (venue: string, privatePerMinute: number, timing: Timing, publicPerMinute = 10_000, stream = false) =>
  ({
    exchange: { kind: 'remote', venue, stream, budgets: { publicPerMinute, privatePerMinute } },
    timing,
  }) as unknown as Pick<Config, 'exchange' | 'timing'>;

/** Polls an account as a bot does. Returns the longest time that a private read took in the second half. */
async function longestRead(venue: ExchangeVenue, privatePerMinute: number, timing: Timing): Promise<number> {
  const { privatePollMs, bookPollMs } = timing;
  const clock = new VirtualClock(1_700_000_000_000);
  const end = clock.elapsed() + POLLED_MS;
  let longest = 0;
  const client = venue.connect({
    ...{ clock, random: randomOf(1), restUrl: venue.restUrl('http://127.0.0.1'), deadlineMs: 2_000 },
    book: BOOKS[venue.name]!,
    transport: {
      send: async request => {
        const path = new URL(request.target, 'http://127.0.0.1').pathname.split('/').filter(part => part !== '');
        const answer = EMPTY[path.at(-1)!];
        return listAnswer(request) ?? { status: 200, headers: {}, body: JSON.stringify(answer) };
      },
      close: () => Promise.resolve(),
    },
    credentials: { key: 'key', secret: new Secret('c2VjcmV0'), nonceAbove: 0n, durable: unstored },
    budgets: { public: 10_000, private: privatePerMinute },
    onRequest: ({ endpoint, ms }) => {
      if (/depth|book|asset|info|time/i.test(endpoint)) return;
      if (clock.elapsed() > end - POLLED_MS / 2) longest = Math.max(longest, ms);
    },
  });
  const book = BOOKS[venue.name]!;
  const readTrades = () => client.userTrades({ book, sort: 'asc' });
  const repeat = async (everyMs: number, read: () => Promise<unknown>): Promise<void> => {
    while (clock.elapsed() < end) {
      const at = clock.elapsed();
      await read();
      await sleep(clock, Math.max(1, at + everyMs - clock.elapsed()));
    }
  };
  const loops = Promise.all([
    repeat(privatePollMs, async () => {
      await client.openOrders({ book });
      await readTrades();
    }),
    repeat(balancesEveryMs(privatePollMs), async () => {
      await readTrades();
      await client.balances();
      await readTrades();
    }),
    repeat(bookPollMs, () => client.orderBook(book, true)),
  ]);
  await clock.advance(POLLED_MS + 600_000);
  await loops;
  await client.close();
  return longest;
}

describe.each(VENUES.map(venue => [venue.name, venue] as const))('polls at %s', (name, venue) => {
  const BOOK_POLL_MS = 5_000;
  /** Smallest interval that is accepted; `null` if none is. */
  const smallest = (privatePerMinute: number, bookPollMs = BOOK_POLL_MS): number | null => {
    const budgets = readBudgetsOf(configOf(name, privatePerMinute, { privatePollMs: 2_000, bookPollMs }));
    const all = budgets.map(budget => privatePollMsMin(budget, bookPollMs));
    return all.includes(null) ? null : Math.max(...all.map(ms => ms!));
  };

  test('an interval is accepted from the smallest value that the message names, which fits each budget', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 700 }), fc.integer({ min: 100, max: 60_000 }), (perMinute, bookPollMs) => {
        const found = (privatePollMs: number) => {
          const config = configOf(name, perMinute, { privatePollMs, bookPollMs });
          return pollProblems(config).filter(line => !line.startsWith('timing.bookPollMs'));
        };
        const least = smallest(perMinute, bookPollMs);
        if (least === null) {
          expect(found(60_000)).toEqual([expect.stringContaining('too small for any timing.privatePollMs')]);
          return;
        }
        expect(found(least)).toEqual([]);
        expect(found(least - 1)).toEqual([
          expect.stringContaining(`timing.privatePollMs: expected at least ${least}, found ${least - 1}; polls take`),
        ]);
        for (const budget of readBudgetsOf(configOf(name, perMinute, { privatePollMs: least, bookPollMs })))
          expect(pollsPerMinute(budget, { privatePollMs: least, bookPollMs })).toBeLessThanOrEqual(budget.perMinute);
      }),
    );
  });

  test('no read waits with the smallest accepted interval, and reads wait with half of it', async () => {
    for (const perMinute of [20, 30, 60]) {
      const privatePollMs = smallest(perMinute)!;
      const longest = (ms: number) => longestRead(venue, perMinute, { privatePollMs: ms, bookPollMs: BOOK_POLL_MS });
      expect(await longest(privatePollMs), `${perMinute}`).toBe(0);
      expect(await longest(Math.floor(privatePollMs / 2)), `${perMinute}`).toBeGreaterThan(1_000);
    }
  });
});

test('the default interval is too short at Kraken only', () => {
  const found = VENUES.flatMap(({ name }) =>
    pollProblems(configOf(name, 270, { privatePollMs: 2_000, bookPollMs: 1_250 })),
  );
  expect(found).toEqual([
    'timing.privatePollMs: expected at least 15000, found 2000; polls take 120 calls of its request counter per minute; the limit at kraken is 19.8, as exchange.budgets.privatePerMinute is 270; if your account allows more, set that key to what it allows',
  ]);
});

test('budgets above the published ones are those of an exchange with limits of its own; a stream replaces book reads', () => {
  const timing = { privatePollMs: 200, bookPollMs: 900 };
  expect(pollProblems(configOf('bitso', 100_000, timing))).toEqual([]);
  const short = 'timing.privatePollMs: expected at least 426, found 200; polls take 618 private requests per minute; ';
  const privatePolls = `${short}exchange.budgets.privatePerMinute is 300`;
  expect(pollProblems(configOf('bitso', 300, timing, 54))).toEqual([
    'timing.bookPollMs: expected at least 1000, found 900; the limit at bitso is 60 public requests per minute',
    privatePolls,
  ]);
  expect(pollProblems(configOf('bitso', 300, timing, 54, true))).toEqual([privatePolls]);
});

test('the share of the polls is in the units of each exchange, and reaches a budget where a start refuses more', () => {
  const timing = { privatePollMs: 15_000, bookPollMs: 1_250 };
  const shares = Object.fromEntries(
    VENUES.map(({ name }) => [name, pollShareOf(configOf(name, 270, timing, 54, true), 4)] as const),
  );
  expect(shares).toEqual({
    bitso: { texts: ['15 of 270 private requests'], left: 255 },
    binance: {
      texts: ['15 of 270 private requests', expect.stringMatching(/^\d+ of \d+ units of request weight$/)],
      left: 255,
    },
    kraken: { texts: ['17 of 19.8 calls of its request counter'], left: null },
  });
  fc.assert(
    fc.property(
      fc.constantFrom(...VENUES.map(({ name }) => name)),
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 100, max: 60_000 }),
      (name, perMinute, privatePollMs) => {
        const config = configOf(name, perMinute, { privatePollMs, bookPollMs: 1_250 }, 54, true);
        const isOver = pollShareOf(config).texts.some(text => {
          const [taken, of] = text.split(' of ').map(part => Number.parseFloat(part)) as [number, number];
          return taken > of;
        });
        expect(isOver).toBe(pollProblems(config).length > 0);
      },
    ),
  );
});
