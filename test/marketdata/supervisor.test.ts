/** The supervisor of market data, answer by answer: which book is the market of now, for who quotes and for who follows, with steps and without. */
import { describe, expect, test } from 'vitest';
import { StepSequence, VirtualClock, type BookSnapshot, type Outcome, type StreamNews } from '../../src/core/index.ts';
import { MarketDataSupervisor, type MarketDataSupervisorOptions } from '../../src/marketdata/index.ts';

const SECOND = 1_000;

const bookOf = (sequence: number, updatedAt = 0): BookSnapshot => ({
  book: 'btc_mxn',
  sequence: BigInt(sequence),
  updatedAt,
  bids: [{ price: '100', amount: '1', oid: 'b' }],
  asks: [{ price: '110', amount: '1', oid: 'a' }],
});

/** A supervisor over an exchange that answers with `rest` after 50 ms, and everything that it tells. */
function supervised(changes: Partial<MarketDataSupervisorOptions> = {}) {
  const clock = new VirtualClock();
  const told: string[] = [];
  const asked: string[] = [];
  const restarts: string[] = [];
  const rest = { sequence: 1, slowMs: 50 };
  let listener: (news: StreamNews) => void = () => undefined;
  const steps = new StepSequence();
  const supervisor: MarketDataSupervisor = new MarketDataSupervisor({
    exchange: {
      orderBook: (_, aggregate) => {
        asked.push(aggregate === false ? 'orders' : 'levels');
        const { sequence, slowMs } = rest;
        const outcome: Outcome<BookSnapshot> = { kind: 'done', value: bookOf(sequence) };
        return new Promise(resolve => clock.after(slowMs, () => resolve(outcome)));
      },
    },
    stream: {
      start: hear => void (listener = hear),
      restart: reason => {
        restarts.push(reason);
        listener({ kind: 'down', reason });
      },
      close: () => undefined,
    },
    clock,
    book: 'btc_mxn',
    stepped: {
      get sequence() {
        return steps.at;
      },
      take: diff => steps.take(diff),
      seed: ({ sequence }) => {
        if (!steps.reaches(sequence)) return 'too old';
        steps.begin(sequence);
        return 'live';
      },
      markIncomplete: () => steps.reset(),
    },
    pollMs: () => SECOND,
    polls: 'levels',
    ahead: 'show',
    time: () => clock.elapsed(),
    user: {
      onCurrent: (_, polledAt) =>
        void told.push(`stream ${steps.at}${polledAt === null ? '' : `, says a poll of ${polledAt}`}`),
      takeBook: ({ sequence }) => {
        told.push(`book ${sequence}`);
        return null;
      },
      onBook: (startedAt, source) => void told.push(`${source} of ${startedAt}`),
      onLost: reason => void told.push(`lost: ${reason}`),
      onUnread: why => void told.push(why.kind),
    },
    onBroken: error => {
      throw error;
    },
    ...changes,
  });
  supervisor.start();
  const hear = (news: StreamNews) => listener(news);
  const step = (sequence: number, sentAt = clock.elapsed()) =>
    hear({ kind: 'diff', diff: { book: 'btc_mxn', sequence: BigInt(sequence), changes: [], sentAt } });
  const since = () => told.splice(0);
  return { clock, supervisor, hear, step, since, asked, restarts, rest };
}

/** One whose stream is there, at step 1. */
async function streaming(changes: Partial<MarketDataSupervisorOptions> = {}) {
  const world = supervised(changes);
  world.hear({ kind: 'up' });
  await world.clock.advance(100);
  expect(world.since()).toEqual(['stream 1']);
  return world;
}

describe('a book by steps', () => {
  test('is seeded by one whole book, and every prompt step is the market of now', async () => {
    const { clock, step, since, asked, supervisor } = await streaming();
    step(2);
    await clock.advance(10);
    step(3);
    expect([since(), asked, supervisor.isFresh]).toEqual([['stream 2', 'stream 3'], ['orders'], true]);
    // Two seconds on its way: there may be newer ones behind it.
    step(4, clock.elapsed() - 2 * SECOND);
    expect(since()).toEqual([]);
    step(6);
    expect([since(), supervisor.source]).toEqual([['lost: a frame was lost'], 'poll']);
  });

  test('that a poll says is the one of now is as old as the poll', async () => {
    const { clock, step, since, supervisor, rest } = await streaming();
    step(2);
    since();
    rest.sequence = 2;
    rest.slowMs = 300;
    supervisor.keepPolling();
    await clock.advance(5 * SECOND);
    const polled = since().map(line => Number(/^stream 2, says a poll of (\d+)$/.exec(line)?.[1]));
    expect(polled.length).toBeGreaterThan(2);
    expect(polled.every((at, i) => at >= (polled[i - 1] ?? 0) && at <= clock.elapsed() - 300)).toBe(true);
    expect(supervisor.source).toBe('stream');
    const stopped = supervisor.stop();
    await clock.advance(300);
    await stopped;
  });

  test('is read whole less and less often while no stream comes of it', async () => {
    const { clock, hear, asked } = await streaming();
    const at = [0];
    for (let seen = asked.length; clock.elapsed() < 120 * SECOND;) {
      hear({ kind: 'fault', reason: 'by the test' });
      await clock.advance(100);
      if (asked.length > seen) at.push(Math.round(clock.elapsed() / SECOND));
      seen = asked.length;
    }
    expect(at.slice(1).map((time, i) => time - at[i]!)).toEqual([5, 10, 20, 40]);
  });

  test('that a poll is ahead of is shown by the poll at once to who quotes, and left to the stream for who follows', async () => {
    for (const ahead of ['show', 'wait'] as const) {
      const { clock, since, step, rest, supervisor, hear } = await streaming({ ahead });
      await clock.advance(1_500);
      rest.sequence = 2;
      const poll = supervisor.poll();
      await clock.advance(100);
      await poll;
      expect(since()).toEqual(ahead === 'show' ? ['book 2', 'poll of 1600'] : []);
      hear({ kind: 'alive' });
      expect(since()).toEqual([]);
      step(2);
      expect(since()).toEqual(['stream 2']);
    }
  });

  test('that stays behind the polls for two seconds is dropped with its connection, and polled', async () => {
    const { clock, restarts, rest, supervisor, since } = await streaming({ ahead: 'wait' });
    supervisor.keepPolling();
    rest.sequence = 5;
    await clock.advance(2_900);
    expect([restarts, since()]).toEqual([[], []]);
    // At the next poll.
    await clock.advance(1_300);
    expect(restarts).toEqual(['its book is older than the polled book']);
    expect(since()).toEqual([
      'lost: its book is older than the polled book',
      'book 5',
      expect.stringMatching(/^poll of 4/),
    ]);
    await supervisor.stop();
  });
});

describe('a venue that tells whole books', () => {
  test('needs no steps: each newer one is the market of now, none is read beside it, and an older one is passed over', async () => {
    const { clock, hear, since, asked, supervisor } = supervised();
    hear({ kind: 'up' });
    for (const sequence of [7, 8, 6, 9]) {
      hear({ kind: 'book', snapshot: bookOf(sequence, clock.elapsed()) });
      await clock.advance(100);
    }
    expect(since().filter(text => text.startsWith('book'))).toEqual(['book 7', 'book 8', 'book 9']);
    expect([asked, supervisor.source, supervisor.isFresh]).toEqual([[], 'stream', true]);
  });

  test('says of each when it was sent at the latest, by the quickest frame, and a late one is not taken', async () => {
    const { clock, hear, since } = supervised();
    await clock.advance(10 * SECOND);
    const told = (sequence: number, ageMs: number) => {
      hear({ kind: 'book', snapshot: bookOf(sequence, clock.elapsed() - ageMs) });
      return since();
    };
    expect(told(1, 30)).toEqual(['book 1', 'stream of 10000']);
    expect(told(2, 530)).toEqual(['book 2', 'stream of 9500']);
    expect(told(3, 2_030)).toEqual([]);
  });

  test('is polled when it falls silent, and when it is gone', async () => {
    const { clock, hear, since, rest, supervisor } = supervised();
    hear({ kind: 'up' });
    hear({ kind: 'book', snapshot: bookOf(3) });
    since();
    supervisor.keepPolling();
    await clock.advance(900);
    expect(since()).toEqual([]);
    rest.sequence = 4;
    await clock.advance(200);
    expect(since()).toEqual(['book 4', 'poll of 1000']);
    hear({ kind: 'down', reason: 'by the test' });
    rest.sequence = 5;
    await clock.advance(SECOND);
    expect(since()).toEqual(['lost: by the test', 'book 5', expect.stringMatching(/^poll/)]);
    await supervisor.stop();
  });
});
