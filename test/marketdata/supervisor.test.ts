/** The supervisor of market data, answer by answer: which book is the market of now, for who quotes and for who follows, with steps and without. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  settle,
  StepSequence,
  VirtualClock,
  type BookSnapshot,
  type Outcome,
  type StreamNews,
} from '../../src/core/index.ts';
import { MarketDataSupervisor, PublicTradeTail, type MarketDataSupervisorOptions } from '../../src/marketdata/index.ts';
import { between } from '../draws.ts';
import { runsOf } from '../many.ts';

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

  test('that was read for longer than a second is the market of now only once a frame says so', async () => {
    for (const [slowMs, told] of [
      [1_000, ['stream 1']],
      [1_001, []],
    ] as const) {
      const { clock, hear, since, rest, supervisor } = supervised();
      rest.slowMs = slowMs;
      hear({ kind: 'up' });
      await clock.advance(1_200);
      expect([since(), supervisor.isFresh]).toEqual([told, told.length > 0]);
      hear({ kind: 'alive' });
      expect([since(), supervisor.isFresh]).toEqual([['stream 1'], true]);
    }
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

  test('is polled as soon as its last frame is old, whatever the last digits of that time are', async () => {
    for (let i = 1; i <= 30; i++) {
      const { clock, asked, step, supervisor } = await streaming();
      await clock.advance(0.7301 * i);
      step(2);
      const [due, before] = [clock.elapsed() + SECOND, asked.length];
      supervisor.keepPolling();
      for (let timers = 0; timers < 5 && asked.length === before; timers++) {
        clock.runNext();
        await settle();
      }
      expect([asked.length, Math.abs(clock.elapsed() - due) < 1e-6]).toEqual([before + 1, true]);
      const stopped = supervisor.stop();
      await clock.advance(SECOND);
      await stopped;
    }
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
    expect(restarts).toEqual(['the book of the stream is older than the polled book']);
    expect(since()).toEqual([
      'lost: the book of the stream is older than the polled book',
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
      hear({ kind: 'book', snapshot: bookOf(sequence), sentAt: clock.elapsed() });
      await clock.advance(100);
    }
    expect(since().filter(text => text.startsWith('book'))).toEqual(['book 7', 'book 8', 'book 9']);
    expect([asked, supervisor.source, supervisor.isFresh]).toEqual([[], 'stream', true]);
  });

  test('says of each when it was sent at the latest, by the quickest frame, and a late one is not taken', async () => {
    const { clock, hear, since } = supervised();
    await clock.advance(10 * SECOND);
    const told = (sequence: number, ageMs: number) => {
      hear({ kind: 'book', snapshot: bookOf(sequence), sentAt: clock.elapsed() - ageMs });
      return since();
    };
    expect(told(1, 30)).toEqual(['book 1', 'stream of 10000']);
    expect(told(2, 530)).toEqual(['book 2', 'stream of 9500']);
    expect(told(3, 2_030)).toEqual([]);
  });

  test('says of none that it was sent later than it came, whatever its exchange says, over any connections', async () => {
    const frame = fc.record({
      afterMs: between(0, 3_000),
      aheadMs: between(-5_000, 5_000),
      isWithoutTime: fc.boolean(),
      isAgain: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 40 }), async frames => {
        const { clock, hear, since } = supervised();
        for (const [i, { afterMs, aheadMs, isWithoutTime, isAgain }] of frames.entries()) {
          await clock.advance(afterMs);
          if (isAgain) for (const news of [{ kind: 'down', reason: 'x' }, { kind: 'up' }] as const) hear(news);
          // Time since the epoch, so that a difference from the time of the machine is rounded.
          const sentAt = isWithoutTime ? {} : { sentAt: 1_700_000_000_000 + clock.elapsed() + aheadMs };
          hear({ kind: 'book', snapshot: bookOf(i + 1), ...sentAt });
          const times = since().flatMap(text => /^stream of (.*)$/.exec(text)?.[1] ?? []);
          for (const time of times) expect(Number(time)).toBeLessThanOrEqual(clock.elapsed());
        }
      }),
      runsOf(500, 30),
    );
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

/** The user of `supervised` that also tells which source was before, whole books, and what is no book. */
function fully(told: string[], unfit: () => string | null = () => null): Partial<MarketDataSupervisorOptions> {
  return {
    user: {
      onNews: news => void told.push(`news ${news.kind}`),
      onStep: ({ sequence }) => void told.push(`step ${sequence}`),
      onCurrent: (was, polledAt) =>
        void told.push(`current after ${was}${polledAt === null ? '' : `, poll of ${polledAt}`}`),
      takeBook: ({ sequence }, whole) => {
        told.push(`${whole ? 'whole' : 'levels'} ${sequence}`);
        return unfit();
      },
      onBook: (startedAt, source) => void told.push(`${source} of ${startedAt}`),
      onLost: (reason, was) => void told.push(`lost after ${was}: ${reason}`),
      onCountedAnew: (sequence, newest) => void told.push(`anew ${sequence} after ${newest}`),
      onTrades: trades => void told.push(`trades ${trades.map(({ tid }) => tid).join()}`),
      onMisfit: why => void told.push(`misfit ${why}`),
      onUnread: why => void told.push(why.kind === 'unknown' ? why.reason : why.message),
      alsoPoll: () => Promise.resolve(told.push('also')),
    },
  };
}
const full = (changes: Partial<MarketDataSupervisorOptions> = {}, unfit?: () => string | null) => {
  const told: string[] = [];
  const world = supervised({ ...fully(told, unfit), ...changes });
  return { ...world, since: () => told.splice(0) };
};
async function live(changes: Partial<MarketDataSupervisorOptions> = {}, unfit?: () => string | null) {
  const world = full(changes, unfit);
  world.hear({ kind: 'up' });
  await world.clock.advance(100);
  expect(world.since()).toEqual(['news up', 'current after none']);
  return world;
}

describe('a poll', () => {
  test('is left out while the stream has just confirmed the book, and at least half its interval after the last read', async () => {
    const { clock, supervisor, asked, since, step } = await live();
    await clock.advance(900);
    step(2);
    since();
    await clock.advance(999);
    expect(supervisor.isFresh).toBe(true);
    await supervisor.poll();
    expect([asked.length, since()]).toEqual([1, []]);
    await clock.advance(1);
    expect(supervisor.isFresh).toBe(false);
    const first = supervisor.poll();
    // One at a time.
    await supervisor.poll();
    expect(await supervisor.check()).toBeNull();
    await clock.advance(50);
    await first;
    expect([asked.length, since()]).toEqual([2, ['also']]);
    await clock.advance(449);
    await supervisor.poll();
    expect([asked.length, since()]).toEqual([2, ['also']]);
    await clock.advance(1);
    void supervisor.poll();
    expect(asked).toEqual(['orders', 'levels', 'levels']);
  });

  test('reads by orders while there is no stepped book and that is asked for, else by levels', async () => {
    for (const polls of ['levels', 'orders'] as const) {
      const { clock, supervisor, asked, hear } = await live({ polls });
      await clock.advance(SECOND);
      void supervisor.poll();
      await clock.advance(SECOND);
      hear({ kind: 'down', reason: 'x' });
      void supervisor.poll();
      expect(asked).toEqual(['orders', 'levels', polls]);
    }
  });

  test('confirms the stepped book within a second of its answer, and says no more of it later', async () => {
    for (const [slowMs, told] of [
      [1_000, ['current after stream, poll of 2000', 'also']],
      [1_001, ['also']],
    ] as const) {
      const { clock, supervisor, since, rest } = await live();
      await clock.advance(1_900);
      rest.slowMs = slowMs;
      void supervisor.poll();
      await clock.advance(1_100);
      expect(since()).toEqual(told);
    }
  });

  test('that is older than the stepped book, or than what was shown, shows nothing', async () => {
    const { clock, supervisor, since, step, rest, hear } = await live();
    for (const sequence of [2, 3, 4]) step(sequence);
    await clock.advance(1_500);
    since();
    rest.sequence = 3;
    void supervisor.poll();
    await clock.advance(60);
    expect(since()).toEqual(['also']);
    hear({ kind: 'down', reason: 'x' });
    await clock.advance(1_000);
    void supervisor.poll();
    await clock.advance(60);
    expect(since()).toEqual(['news down', 'lost after stream: x', 'the book is older than the previous book', 'also']);
    rest.sequence = 4;
    await clock.advance(1_000);
    void supervisor.poll();
    await clock.advance(60);
    expect(since()).toEqual(['levels 4', 'poll of 3720', 'also']);
  });

  test('whose book cannot be used says why, and is not shown', async () => {
    let unfit: string | null = 'row 1 of bids';
    const { clock, supervisor, since } = full({}, () => unfit);
    void supervisor.poll();
    await clock.advance(60);
    expect(since()).toEqual(['levels 1', 'the book cannot be used: row 1 of bids', 'also']);
    expect(supervisor.source).toBe('none');
    unfit = null;
    await clock.advance(SECOND);
    void supervisor.poll();
    await clock.advance(60);
    expect([since(), supervisor.source]).toEqual([['levels 1', 'poll of 1060', 'also'], 'poll']);
  });

  test('ends with the supervisor: what is under way is waited for and told to nobody', async () => {
    const { clock, supervisor, since, hear, asked } = await live();
    await clock.advance(SECOND);
    supervisor.keepPolling();
    await clock.advance(10);
    expect(asked).toHaveLength(2);
    let isStopped = false;
    void supervisor.stop().then(() => (isStopped = true));
    await clock.advance(30);
    expect(isStopped).toBe(false);
    await clock.advance(20);
    expect([isStopped, since()]).toEqual([true, ['also']]);
    hear({ kind: 'alive' });
    supervisor.rejectAsUnreliable('x');
    await supervisor.poll();
    expect(await supervisor.check()).toBeNull();
    await clock.advance(60 * SECOND);
    expect([asked.length, since()]).toEqual([2, ['news alive']]);
  });

  test('asks for nothing and tells nothing after a stop, whenever that is', async () => {
    const step = fc.record({
      ms: fc.constantFrom(0, 20, 40, 700, 5_000),
      what: fc.constantFrom('up', 'down', 'fault', 'step', 'poll', 'book'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(11), async (steps, stopAt) => {
        const { clock, supervisor, since, hear, asked, rest, step: tell } = full();
        if (stopAt % 2 === 0) supervisor.keepPolling();
        let stopped: Promise<void> | null = null;
        for (const [i, { ms, what }] of steps.entries()) {
          await clock.advance(ms);
          if (i === Math.min(stopAt, steps.length - 1)) stopped = supervisor.stop();
          if (stopped === null) rest.sequence++;
          const asks = asked.length;
          if (stopped !== null) since();
          if (what === 'up') hear({ kind: 'up' });
          if (what === 'down' || what === 'fault') hear({ kind: what, reason: 'x' });
          if (what === 'step') tell(rest.sequence);
          if (what === 'book') hear({ kind: 'book', snapshot: bookOf(rest.sequence), sentAt: clock.elapsed() });
          if (what === 'poll') void supervisor.poll();
          if (stopped === null) continue;
          expect([asked.length, since().filter(text => !text.startsWith('news '))]).toEqual([asks, []]);
        }
        const last = asked.length;
        await clock.advance(200 * SECOND);
        await stopped;
        expect([asked.length, since().filter(text => text !== 'also')]).toEqual([last, []]);
      }),
      runsOf(500, 60),
    );
  });

  test('is due one interval after the last confirmation or read, at whatever interval holds by then', async () => {
    let every = SECOND;
    const { clock, supervisor, asked } = full({ pollMs: () => every, stream: undefined });
    supervisor.keepPolling();
    const at: number[] = [];
    for (let ms = 0; ms < 6_000; ms += 10) {
      const before = asked.length;
      await clock.advance(10);
      if (asked.length > before) at.push(Math.floor(clock.elapsed() / 10) * 10 - 10);
      if (ms === 2_990) every = 2 * SECOND;
    }
    expect(at.map(ms => Math.round(ms / 100) / 10)).toEqual([0, 1, 2, 3, 5]);
    await supervisor.stop();
  });
});

describe('a stream', () => {
  test('says of a frame that cannot be read that all is lost, and begins with a whole book again', async () => {
    const { clock, since, hear, asked, rest } = await live();
    rest.sequence = 9;
    hear({ kind: 'fault', reason: 'no JSON' });
    expect(since()).toEqual(['news fault', 'lost after stream: a stream frame could not be read: no JSON']);
    await clock.advance(5_000);
    expect([asked, since()]).toEqual([['orders', 'orders'], ['current after poll']]);
  });

  test('shows life by any frame, though not by one that may have waited through a sleep', async () => {
    let isWaking = false;
    const { clock, since, hear, step, supervisor } = await live({ isWaking: () => isWaking });
    hear({ kind: 'alive' });
    expect(since()).toEqual(['news alive', 'current after stream']);
    isWaking = true;
    await clock.advance(SECOND);
    hear({ kind: 'alive' });
    step(2);
    expect([since(), supervisor.isFresh]).toEqual([['news alive', 'news diff', 'step 2'], false]);
    isWaking = false;
    step(3);
    expect(since()).toEqual(['news diff', 'step 3', 'current after stream']);
    isWaking = true;
    hear({ kind: 'book', snapshot: bookOf(9), sentAt: clock.elapsed() });
    expect(since()).toEqual(['news book']);
  });

  test('that is taken for unreliable is lost and begun anew', async () => {
    const { since, supervisor, restarts } = await live();
    supervisor.rejectAsUnreliable('after a sleep');
    expect(since()).toEqual(['lost after stream: after a sleep', 'news down', 'lost after poll: after a sleep']);
    expect([restarts, supervisor.source]).toEqual([['after a sleep'], 'poll']);
    const { supervisor: polled, since: none } = full({ stream: undefined });
    polled.rejectAsUnreliable('after a sleep');
    expect(none()).toEqual([]);
  });

  test('of whole books passes over one that cannot be used, and one older than what was shown', async () => {
    let unfit: string | null = null;
    const { clock, since, hear } = full({}, () => unfit);
    const tell = (sequence: number) => hear({ kind: 'book', snapshot: bookOf(sequence), sentAt: clock.elapsed() });
    hear({ kind: 'up' });
    tell(5);
    unfit = 'row 2 of asks';
    tell(7);
    unfit = null;
    tell(4);
    tell(5);
    expect(since()).toEqual([
      ...['news up', 'news book', 'levels 5', 'stream of 0'],
      ...['news book', 'levels 7', 'the book cannot be used: row 2 of asks'],
      ...['news book', 'news book', 'levels 5', 'stream of 0'],
    ]);
  });

  test('whose whole book does not fit its steps is told of, and the book counts as a poll', async () => {
    const { clock, since, hear, step, rest } = full();
    hear({ kind: 'up' });
    step(7);
    rest.sequence = 3;
    await clock.advance(100);
    expect(since()).toEqual(['news up', 'news diff', 'misfit too old', 'whole 3', 'poll of 20']);
  });

  test('is begun again soon after a loss when it was good for a minute, and ever later when it was not', async () => {
    for (const [goodMs, isSoon] of [
      [60_000, true],
      [59_999, false],
    ] as const) {
      const { clock, hear, asked } = await live();
      const fault = () => hear({ kind: 'fault', reason: 'x' });
      // Read at 20, 5,020 and 15,020, each 50 ms before it is there.
      fault();
      await clock.advance(5_000);
      fault();
      await clock.advance(15_070 - clock.elapsed());
      expect(asked).toHaveLength(3);
      await clock.advance(goodMs);
      fault();
      await clock.advance(100);
      expect(asked).toHaveLength(4);
      fault();
      await clock.advance(5_000);
      expect(asked).toHaveLength(isSoon ? 5 : 4);
    }
  });

  test('hands an error of its user to who watches over the program', () => {
    const broken: unknown[] = [];
    const { hear } = supervised({ onBroken: error => void broken.push(error), ahead: 'show' });
    const error = new Error('defect');
    const failing = supervised({
      onBroken: each => void broken.push(each),
      user: {
        onNews: () => {
          throw error;
        },
        onCurrent: () => undefined,
        takeBook: () => null,
        onBook: () => undefined,
        onLost: () => undefined,
        onUnread: () => undefined,
      },
    });
    hear({ kind: 'alive' });
    failing.hear({ kind: 'alive' });
    expect(broken).toEqual([error]);
  });
});

describe('what a loss or a newer poll leaves behind', () => {
  test('a stream that a read is ahead of is fresh no more, whatever it has just confirmed', async () => {
    const { clock, supervisor, step, rest } = await live();
    step(2);
    expect(supervisor.isFresh).toBe(true);
    rest.sequence = 3;
    const check = supervisor.check();
    await clock.advance(60);
    expect((await check)?.sequence).toBe(3n);
    expect([supervisor.source, supervisor.isFresh]).toEqual(['stream', false]);
    // Polls are worth something although the stream is the source.
    expect(supervisor.pollState).toMatchObject({ isOnStream: false });
    step(3);
    await clock.advance(10 * SECOND);
    expect(supervisor.pollState).toMatchObject({ isOnStream: true });
  });

  test('a connection that was behind and is gone is not dropped for it once more', async () => {
    const { clock, supervisor, hear, rest, restarts } = await live();
    rest.sequence = 3;
    await clock.advance(SECOND);
    void supervisor.poll();
    await clock.advance(100);
    hear({ kind: 'down', reason: 'x' });
    for (let n = 0; n < 4; n++) {
      void supervisor.poll();
      await clock.advance(SECOND);
    }
    expect(restarts).toEqual([]);
  });

  test('a connection that tells steps after one that told whole books begins with a read', async () => {
    const { clock, hear, asked, rest } = full();
    hear({ kind: 'up' });
    hear({ kind: 'book', snapshot: bookOf(3) });
    await clock.advance(100);
    expect(asked).toEqual([]);
    rest.sequence = 4;
    hear({ kind: 'down', reason: 'x' });
    hear({ kind: 'up' });
    await clock.advance(100);
    expect(asked).toEqual(['orders']);
  });

  test('the delays of a connection are those of its own quickest frame', async () => {
    const { clock, hear, since } = full();
    await clock.advance(10 * SECOND);
    const tell = (sequence: number, delay: number) =>
      hear({ kind: 'book', snapshot: bookOf(sequence), sentAt: clock.elapsed() - delay });
    tell(1, 30);
    hear({ kind: 'down', reason: 'x' });
    hear({ kind: 'up' });
    since();
    tell(2, 2_500);
    expect(since()).toEqual(['news book', 'levels 2', 'stream of 10000']);
  });
});

describe('an exchange that counts its books anew', () => {
  test('is followed after a minute of lower numbers that grow: told, lost, begun anew, and shown', async () => {
    const { clock, supervisor, since, rest, restarts } = full();
    rest.sequence = 1_000;
    supervisor.keepPolling();
    await clock.advance(500);
    since();
    for (let sequence = 1; sequence <= 61; sequence++) {
      rest.sequence = sequence;
      await clock.advance(SECOND);
    }
    const told = since().filter(text => text !== 'also' && text !== 'the book is older than the previous book');
    expect(told.at(-1)).toMatch(/^poll of 61/);
    expect(told.slice(0, -1)).toEqual([
      'anew 61 after 1000',
      'lost after poll: the exchange counts its books anew',
      ...['news down', 'lost after poll: the exchange counts its books anew'],
      'levels 61',
    ]);
    expect(restarts).toEqual(['the exchange counts its books anew']);
    await supervisor.stop();
  });

  test('is followed also by its stream of whole books, which are shown again after that minute', async () => {
    const { clock, hear, since, restarts } = full();
    const tell = (sequence: number) => hear({ kind: 'book', snapshot: bookOf(sequence), sentAt: clock.elapsed() });
    hear({ kind: 'up' });
    tell(1_000);
    since();
    for (let sequence = 1; sequence <= 60; sequence++) {
      tell(sequence);
      expect(since()).toEqual(['news book']);
      await clock.advance(SECOND);
    }
    tell(61);
    expect(since()).toEqual([
      ...['news book', 'anew 61 after 1000', 'lost after stream: the exchange counts its books anew'],
      ...['news down', 'lost after poll: the exchange counts its books anew'],
    ]);
    expect(restarts).toEqual(['the exchange counts its books anew']);
    hear({ kind: 'up' });
    tell(62);
    expect(since()).toEqual(['news up', 'news book', 'levels 62', `stream of ${60 * SECOND}`]);
  });
});

describe('the public trades of a book', () => {
  /** Trades 1 to 3 at the exchange; whether it answers. */
  function traded() {
    const state = { answers: true };
    const calls: string[] = [];
    const trade = { book: 'btc_mxn', createdAt: 0, price: '1', amount: '1', makerSide: 'buy' } as const;
    const trades = new PublicTradeTail({
      exchange: {
        limits: { ordersPage: 500, tradesPage: 100, depth: 50 },
        trades: async () => {
          calls.push('trades');
          return state.answers
            ? { kind: 'done', value: [{ ...trade, tid: '3' }] }
            : { kind: 'unknown', reason: 'lost' };
        },
      },
      book: 'btc_mxn',
      listener: { trade: ({ tid }, way) => void calls.push(`${way} ${tid}`) },
    });
    const told = (...tids: number[]): StreamNews => ({
      kind: 'trades',
      trades: tids.map(tid => ({ ...trade, tid: String(tid), makerOid: 'm', takerOid: 't' })),
    });
    return { state, calls, trades, told };
  }

  test('are read after each book until the stream has them, and a fresh book is read again for their sake', async () => {
    const { calls, trades, told } = traded();
    const { clock, supervisor, hear, since, asked } = full({ trades });
    hear({ kind: 'up' });
    hear(told(4));
    await clock.advance(100);
    expect(since()).toEqual(['news up', 'news trades', 'trades 4', 'current after none']);
    expect(calls).toEqual(['trades', 'early 4']);
    supervisor.keepPolling();
    await clock.advance(1_100);
    hear(told(5));
    expect(calls.slice(-1)).toEqual(['live 5']);
    expect(trades.needsPages).toBe(false);
    const reads = asked.length;
    hear({ kind: 'down', reason: 'x' });
    expect(trades.needsPages).toBe(true);
    await clock.advance(SECOND);
    expect(asked.length).toBeGreaterThan(reads);
    await supervisor.stop();
  });

  test('that take long to read do not make a prompt book late', async () => {
    const { trades } = traded();
    const slow = {
      needsPages: true,
      up: () => undefined,
      fill: () => trades.fill().then(wait),
      markUncertain: () => undefined,
    };
    const { clock, hear, since } = full({ trades: slow as unknown as PublicTradeTail });
    const wait = (isWhole: boolean): Promise<boolean> =>
      new Promise(resolve => clock.after(3 * SECOND, () => resolve(isWhole)));
    hear({ kind: 'up' });
    await clock.advance(4 * SECOND);
    expect(since()).toEqual(['news up', 'current after none']);
  });

  test('that cannot be read keep a whole book from its stream, and no polled levels', async () => {
    const { state, trades } = traded();
    state.answers = false;
    const { clock, supervisor, hear, since } = full({ trades });
    hear({ kind: 'up' });
    await clock.advance(100);
    expect(since()).toEqual(['news up', 'the trades before the polled book could not be read completely']);
    await clock.advance(SECOND);
    void supervisor.poll();
    await clock.advance(60);
    expect(since()).toEqual(['levels 1', 'poll of 1100', 'also']);
  });
});
