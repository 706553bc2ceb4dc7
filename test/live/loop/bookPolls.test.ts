/** Shared reads of polled books, over the real supervisors of their market data. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { settle, VirtualClock, type BookSnapshot, type StaleRisk, type StreamNews } from '../../../src/core/index.ts';
import { BookPolls, type SharedReads } from '../../../src/live/loop/bookPolls.ts';
import { MarketDataSupervisor } from '../../../src/marketdata/index.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const risk = (sigma: number, takers = 0.1): StaleRisk => ({ sigma, distance: 12, takers, worth: 1 });

const bookOf = (book: string, sequence: number): BookSnapshot => ({
  ...{ book, sequence: BigInt(sequence), updatedAt: 0 },
  bids: [{ price: '100', amount: '1', oid: 'b' }],
  asks: [{ price: '110', amount: '1', oid: 'a' }],
});

/** Books with supervisors that answer after `slowMs`; `reads` has the book and the time of each read. */
function desk(risks: readonly StaleRisk[], shared: SharedReads & { readonly pollMs?: number }, slowMs = 100) {
  const clock = new VirtualClock();
  const { pollMs = SECOND } = shared;
  const reads: { readonly book: number; readonly at: number }[] = [];
  const state = { left: 1_000 };
  const listeners: ((news: StreamNews) => void)[] = [];
  let sequence = 1;
  const markets = risks.map(
    (_, i) =>
      new MarketDataSupervisor({
        exchange: {
          orderBook: book => {
            reads.push({ book: i, at: clock.elapsed() });
            const value = bookOf(book, ++sequence);
            return new Promise(resolve => clock.after(slowMs, () => resolve({ kind: 'done', value })));
          },
        },
        stream: { start: hear => void (listeners[i] = hear), restart: () => undefined, close: () => undefined },
        ...{ clock, book: `b${i}_m`, polls: 'levels', ahead: 'show', pollMs: () => pollMs },
        time: () => clock.elapsed(),
        user: {
          ...{ onCurrent: () => undefined, takeBook: () => null, onBook: () => undefined },
          ...{ onLost: () => undefined, onUnread: () => undefined },
        },
        onBroken: error => {
          throw error;
        },
      }),
  );
  for (const market of markets) market.start();
  const polls = new BookPolls(clock, markets, { ...shared, pollMs }, { left: () => state.left, risks: () => risks });
  /** Lets time pass; the run checks for the next slot after `pauseMs`. */
  const run = async (forMs: number, each: () => void = () => undefined): Promise<void> => {
    const until = clock.elapsed() + forMs;
    while (clock.elapsed() < until) {
      each();
      void polls.turn();
      await clock.advance(polls.pauseMs);
      await settle();
    }
  };
  const counts = (): number[] => risks.map((_, i) => reads.filter(({ book }) => book === i).length);
  return { clock, polls, reads, run, counts, state, hear: (i: number, news: StreamNews) => listeners[i]!(news) };
}

/** Longest time between two reads of one book, from its first one to the end. */
const oldest = ({ reads, clock }: Pick<ReturnType<typeof desk>, 'reads' | 'clock'>, book: number): number => {
  const at = [...reads.filter(each => each.book === book).map(each => each.at), clock.elapsed()];
  return Math.max(...at.slice(1).map((time, i) => time - at[i]!));
};

describe('the reads of several polled books', () => {
  test('are spent where the price moves most, never above the budget, and no book waits too long', async () => {
    const world = desk(
      [0.5, 1, 2, 4, 8].map(sigma => risk(sigma)),
      { perMinute: 60, staleAfterMs: 2 * MINUTE },
    );
    await world.run(10 * MINUTE);
    const counts = world.counts();
    expect(counts.toSorted((a, b) => a - b)).toEqual(counts);
    expect(counts[4]! / counts[0]!).toBeGreaterThan(5);
    expect(counts[2]! / counts[0]!).toBeGreaterThan(1.5);
    expect(world.reads.length).toBe(600);
    for (let i = 0; i < 5; i++) expect(oldest(world, i)).toBeLessThanOrEqual(25 * SECOND);
    world.reads.forEach(({ at }, n) =>
      expect(at - (world.reads[n - 60]?.at ?? -Infinity)).toBeGreaterThanOrEqual(MINUTE),
    );
    // A book that was not read in a slot waited for the slot.
    expect(world.polls.waits[0]).toBeGreaterThan(world.polls.waits[4]!);
  });

  test('are equal for equal books', async () => {
    const world = desk(
      [1, 1, 1, 1].map(sigma => risk(sigma)),
      { perMinute: 40, staleAfterMs: 2 * MINUTE },
    );
    await world.run(10 * MINUTE);
    expect(world.counts()).toEqual([100, 100, 100, 100]);
  });

  test('keep every book fresh if reading them in turn would, whatever the values', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(0, 0.01, 1, 100), { minLength: 2, maxLength: 8 }),
        fc.integer({ min: 0, max: 20 }),
        fc.constantFrom(10, 100, 400),
        async (sigmas, spareS, slowMs) => {
          const slotMs = 2 * SECOND;
          const staleAfterMs = sigmas.length * slotMs + spareS * SECOND + SECOND;
          const world = desk(
            sigmas.map(sigma => risk(sigma)),
            { perMinute: 30, staleAfterMs },
            slowMs,
          );
          await world.run(3 * MINUTE);
          // An answer can arrive up to `slowMs` after its read.
          sigmas.forEach((_, i) => expect(oldest(world, i) + slowMs).toBeLessThanOrEqual(staleAfterMs));
        },
      ),
      { numRuns: 25 },
    );
  });

  test('are not spent on books whose stream is up', async () => {
    const world = desk([risk(8), risk(8), risk(1)], { perMinute: 20, staleAfterMs: 30 * SECOND });
    let sequence = 1_000;
    const news = (i: number): StreamNews => ({ kind: 'book', snapshot: bookOf(`b${i}_m`, ++sequence) });
    await world.run(5 * MINUTE, () => {
      world.hear(0, news(0));
      world.hear(1, news(1));
    });
    expect(world.counts().slice(0, 2)).toEqual([0, 0]);
    expect(world.counts()[2]).toBeGreaterThanOrEqual(95);
    // The stream of a book goes down: the book is read at once, and most often.
    world.hear(0, { kind: 'down', reason: 'by the test' });
    await world.run(5 * MINUTE, () => world.hear(1, news(1)));
    expect(world.counts()[0]).toBeGreaterThan(60);
    expect(world.counts()[1]).toBe(0);
  });

  test('are only spent on a quiet stream in time for its book to stay fresh', async () => {
    const world = desk([risk(8), risk(1)], { perMinute: 30, staleAfterMs: 30 * SECOND });
    world.hear(0, { kind: 'book', snapshot: bookOf('b0_m', 1_000) });
    await world.run(5 * MINUTE);
    // The first read finds a newer book than the stream, so the stream counts as behind from then on.
    const [first] = world.reads.filter(({ book }) => book === 0);
    expect(first!.at).toBeGreaterThan(16 * SECOND);
    expect(first!.at).toBeLessThanOrEqual(20 * SECOND);
  });

  test('wait while the budget is used up, and go on when it is not', async () => {
    const world = desk([risk(1), risk(1)], { perMinute: 60, staleAfterMs: 30 * SECOND });
    world.state.left = 0;
    await world.run(MINUTE);
    expect(world.reads).toEqual([]);
    world.state.left = 1;
    await world.run(10 * SECOND);
    expect(world.reads.length).toBe(10);
  });

  test('are no more often than the polls of one book', async () => {
    const world = desk([risk(8), risk(8)], { perMinute: 600, staleAfterMs: 30 * SECOND, pollMs: 5 * SECOND });
    await world.run(MINUTE);
    expect(world.counts()).toEqual([12, 12]);
  });
});
