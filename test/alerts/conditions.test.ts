/** Who is told of a beginning is told of its end, and what lasts is told, whatever its reasons do in between: laws over random lives of a bot. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Conditions, type Look, type OwnStop } from '../../src/alerts/conditions.ts';
import { OwnStops } from '../../src/alerts/ownStops.ts';
import { Outbox } from '../../src/alerts/outbox.ts';
import type { Message } from '../../src/alerts/message.ts';
import { ALERT_EVENT_NAMES, type AlertEvent, type AlertMode } from '../../src/config.ts';
import { moneyOf, VirtualClock, type Snapshot } from '../../src/core/index.ts';
import { memoryLog } from '../memoryLog.ts';
import { CALM, calm, none, snapshot, type Bot } from './bots.ts';

const LOOK_MS = 500;
const noCounts = { requests: { all: 0, failed: 0, slow: 0 }, decisions: { all: 0, slow: 0 } };

/** What holds of a bot: the event, how long it must last to be told, and to be loud, and words of what is told. ms. */
type Holding = readonly [event: AlertEvent, holdMs: number, loudMs: number, words: string];
const pausedFor = (quoting: Snapshot['quoting'], ...holding: Holding[]) => [snapshot({ quoting }), holding] as const;
const hidden = (reason: 'at the cap' | 'no fair value') => {
  const side = { reason, words: null, level: null } as const;
  return snapshot({ unshown: { buy: side, sell: side } });
};
const oneSide = (buy: number, sell: number): Bot => ({ ...CALM, quotesLive: { buy, sell } });
const budget = (left: { public: number; private: number }): Bot => ({ ...CALM, budget: left });
const old = (bot: Bot): Bot => ({ ...bot, sentinelAgeMs: 61_000 });
const noLife: Holding = ['sentinelGone', 1_000, 1_000, 'no sentinel heartbeat'];
const BOTS: readonly (readonly [Bot, readonly Holding[]])[] = [
  [CALM, []],
  pausedFor('private data stale', ['notQuoting', 1_000, 120_000, 'private data stale']),
  pausedFor('book crossed', ['notQuoting', 1_000, 120_000, 'book crossed']),
  pausedFor('not ready', ['notQuoting', 30_000, 120_000, 'not ready']),
  pausedFor('stopping', ['notQuoting', 30_000, 120_000, 'the last run has stopped']),
  [hidden('at the cap'), [['notQuoting', 2_000, 120_000, 'at the cap']]],
  [hidden('no fair value'), [['notQuoting', 2_000, 120_000, 'no fair value']]],
  pausedFor('book stale', ['bookStale', 1_000, 30_000, 'book stale']),
  pausedFor('sentinel is missing', ['sentinelGone', 1_000, 1_000, 'is missing']),
  [old(CALM), [noLife]],
  [old(snapshot({ quoting: 'book stale' })), [noLife, ['bookStale', 1_000, 30_000, 'book stale']]],
  [oneSide(3, 0), [['oneSided', 600_000, 600_000, 'one side']]],
  [oneSide(0, 3), [['oneSided', 600_000, 600_000, 'one side']]],
  [budget({ public: 0, private: 9 }), [['budgetSpent', 60_000, 60_000, 'no public']]],
  [budget({ public: 0, private: 0 }), [['budgetSpent', 60_000, 60_000, 'no public or private']]],
];

const delayed = (event: AlertEvent, holdMs: number) => `${event} after ${holdMs}`;

/** What was told of an event that is not over. */
type Open = { text: string; isLoud: boolean };

/** Asked a hundred thousand times: `expect` would take minutes. */
const must = (holds: boolean | undefined, otherwise: string): void => {
  if (holds !== true) throw new Error(otherwise);
};

test('what was told is over when it is over; what lasts is told, loudly in time, and with the reason that lasts', () => {
  const lives = fc.array(
    fc.tuple(
      // Well is as likely as all the rest: an end, and the next occurrence.
      fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 4, arbitrary: fc.nat(BOTS.length - 1) }),
      // Moments, and minutes: how many looks, and ms between two.
      fc.oneof(
        fc.tuple(fc.constantFrom(1, 1, 2, 3, 7), fc.constant(LOOK_MS)),
        fc.tuple(fc.constantFrom(7, 13, 26, 130), fc.constant(5_000)),
      ),
    ),
    { minLength: 2, maxLength: 20, size: 'max' },
  );
  fc.assert(
    fc.property(lives, life => {
      const conditions = new Conditions();
      const open = new Map<AlertEvent, Open>();
      const told = {
        raise: (event: AlertEvent, text: string, isQuiet: boolean) =>
          void open.set(event, { text, isLoud: !isQuiet || open.get(event)?.isLoud === true }),
        end: (event: AlertEvent) => must(open.delete(event), `${event} ends, and never began`),
      };
      const since = new Map<string, number>();
      let elapsed = 0;
      for (const [which, [looks, everyMs]] of life) {
        const [bot, holding] = BOTS[which]!;
        const from = elapsed;
        // Of an event, and of its causes that have the same delay.
        const all = holding.flatMap(([event, holdMs]) => [event, delayed(event, holdMs)]);
        for (const each of since.keys()) if (!all.includes(each)) since.delete(each);
        for (const each of all) if (!since.has(each)) since.set(each, from);
        for (let i = 0; i < looks; i++, elapsed += everyMs) {
          conditions.look([{ ...bot, ...noCounts, elapsed }], told);
          for (const event of open.keys())
            // The market of this test has no fills: that alone lasts through all of it.
            must(event === 'noFills' || since.has(event), `${event} is over, and nobody is told`);
          for (const [event, holdMs, loudMs, words] of holding) {
            const said = open.get(event);
            const ms = elapsed - since.get(event)!;
            must(elapsed - from < loudMs || said?.text.includes(words), `${event} has this reason now`);
            const isDue = elapsed - since.get(delayed(event, holdMs))! >= holdMs;
            must(!isDue || said !== undefined, `${event} has held, for one reason or the other`);
            must(ms < loudMs || said?.isLoud, `${event} has lasted`);
            must(ms >= loudMs || !said?.isLoud, `${event} is young`);
          }
        }
      }
    }),
    { numRuns: 100 },
  );
});

/** A bot that lives, and what a person is sent of one event. */
function told(event: AlertEvent) {
  const clock = new VirtualClock();
  const sent: { readonly at: number; readonly isSilent: boolean; readonly text: string }[] = [];
  const channel = {
    name: 'a test',
    close: async () => undefined,
    send: async ({ entries, isSilent }: Message) => {
      for (const { event: of, state, text } of entries)
        if (of === event) sent.push({ at: clock.elapsed(), isSilent, text: `${state}: ${text}` });
      return { kind: 'delivered' as const };
    },
  };
  const modes = Object.fromEntries(ALERT_EVENT_NAMES.map(each => [each, 'on'])) as Record<AlertEvent, AlertMode>;
  const options = {
    clock,
    log: memoryLog().log,
    channel,
    title: () => 'mm1',
    idPrefix: 'x',
    messagesPer10Min: 12,
    modes,
  };
  const outbox = new Outbox(options);
  const conditions = new Conditions();
  const lives = async (bot: Bot, ms: number) => {
    for (const end = clock.elapsed() + ms; clock.elapsed() < end; await clock.advance(LOOK_MS))
      conditions.look([{ ...bot, ...noCounts, elapsed: clock.elapsed() }], outbox);
  };
  return { lives, sent };
}

/** Bots whose conditions are all those of a book. */
const OF_BOOK = BOTS.filter(
  ([, holding]) => !holding.some(([event]) => ['sentinelGone', 'budgetSpent'].includes(event)),
)
  .map(([bot]) => bot)
  .filter(({ snapshot: { quoting } }) => quoting !== 'private data stale' && quoting !== 'stopping');

/** Lists what is reported, with the time, in order. */
function listed(now: () => number) {
  const rows: string[] = [];
  const told = {
    raise: (event: AlertEvent, text: string, isQuiet: boolean, book = '') =>
      void rows.push(`${now()} ${book} ${event} ${isQuiet ? 'quiet' : 'loud'} ${text}`),
    end: (event: AlertEvent, book = '') => void rows.push(`${now()} ${book} ${event} over`),
  };
  return { rows, told };
}

test('each of several books is reported exactly as if it were the only book of the bot', () => {
  const looks = fc.array(fc.tuple(fc.nat(OF_BOOK.length - 1), fc.constantFrom(1, 3, 30, 70, 250)), {
    minLength: 10,
    maxLength: 20,
  });
  let ends = 0;
  fc.assert(
    fc.property(fc.array(looks, { minLength: 2, maxLength: 4 }), lives => {
      const stories = lives.map(life => life.flatMap(([which, times]) => Array<Bot>(times).fill(OF_BOOK[which]!)));
      const length = Math.min(...stories.map(story => story.length));
      let elapsed = 0;
      const together = listed(() => elapsed);
      const all = new Conditions();
      const alone = stories.map(() => ({ conditions: new Conditions(), ...listed(() => elapsed) }));
      for (let i = 0; i < length; i++, elapsed += LOOK_MS) {
        const now = stories.map(story => ({ ...story[i]!, ...noCounts, elapsed }));
        all.look(
          now.map((look, n) => ({ ...look, symbol: `b${n}`, book: `b${n}` })),
          together.told,
        );
        now.forEach((look, n) => alone[n]!.conditions.look([look], alone[n]!.told));
      }
      const named = alone.flatMap(({ rows }, n) => rows.map(row => row.replace('  ', ` b${n} `)));
      ends += named.filter(row => row.endsWith('over')).length;
      expect(together.rows.toSorted()).toEqual(named.toSorted());
    }),
    { numRuns: 30 },
  );
  expect(ends).toBeGreaterThan(50);
});

test('counts of a book stay its own, whichever books a reload adds, removes or reorders', () => {
  const names = ['btc_mxn', 'eth_mxn', 'btc_usd', 'sol_mxn'] as const;
  const moments = fc.array(
    fc.record({
      quoted: fc.shuffledSubarray([...names], { minLength: 1 }),
      // Growth of the counts of each book: too few to be reported alone, but enough as the difference of two books.
      growth: fc.array(fc.tuple(fc.nat(3), fc.nat(8), fc.nat(40)), {
        minLength: names.length,
        maxLength: names.length,
      }),
      looks: fc.integer({ min: 1, max: 60 }),
    }),
    { minLength: 2, maxLength: 8 },
  );
  const kinds = new Set<string>();
  let rows = 0;
  fc.assert(
    fc.property(moments, life => {
      let elapsed = 0;
      const now = () => elapsed;
      const together = listed(now);
      const all = new Conditions();
      const alone = new Map(names.map(name => [name, { conditions: new Conditions(), ...listed(now) }]));
      const counts = new Map(names.map(name => [name, { unknown: 0, refused: 0, placed: 0, fills: 0 }]));
      for (const { quoted, growth, looks } of life) {
        growth.forEach(([unknown, refused, placed], i) => {
          const of = counts.get(names[i]!)!;
          if (!quoted.includes(names[i]!)) return;
          Object.assign(of, { unknown: of.unknown + unknown, refused: of.refused + refused });
          Object.assign(of, { placed: of.placed + placed, fills: of.fills + (placed === 0 ? 1 : 0) });
        });
        for (let i = 0; i < looks; i++, elapsed += 30_000) {
          const seen = quoted.map(symbol => {
            const { fills, ...sent } = counts.get(symbol)!;
            const sides = { buy: { ...none, ...sent }, sell: none };
            return { ...snapshot({ counts: sides, booked: { fills } }), ...noCounts, elapsed, symbol, book: symbol };
          });
          all.look(seen, together.told);
          for (const [symbol, each] of alone) {
            const look = seen.find(one => one.symbol === symbol);
            // A book that is not quoted has no condition.
            each.conditions.look(
              [
                look ?? {
                  ...CALM,
                  quotesLive: { buy: 0, sell: 0 },
                  ...noCounts,
                  elapsed,
                  symbol: 'none',
                  book: symbol,
                },
              ],
              each.told,
            );
          }
        }
      }
      const expected = [...alone.values()].flatMap(each => each.rows);
      expect(together.rows.toSorted()).toEqual(expected.toSorted());
      rows += expected.length;
      for (const row of expected) kinds.add(row.split(' ')[2]!);
    }),
    // The examples alone have every kind, whatever else is drawn.
    { numRuns: 30, examples: fc.sample(moments, { seed: 3, numRuns: 20 }).map(life => [life]) },
  );
  expect(rows).toBeGreaterThan(20);
  expect([...kinds].toSorted()).toEqual(['noFills', 'ordersRefused', 'ordersUnknown']);
});

describe('several books', () => {
  const books = ['btc_mxn', 'eth_mxn', 'btc_usd'] as const;
  const halt = (reason: string, isOwn = false): Partial<Look> => ({
    ...snapshot({ quoting: 'halted', regime: { ...calm, regime: 'halted', halt: reason } }),
    ...(isOwn ? { ownStops: ['halt'], resumeCommand: 'puntas resume --book' } : {}),
  });

  /** Checks bots one after the other; `changes`: what differs from a calm bot, by book. */
  function seen(...moments: readonly Partial<Record<(typeof books)[number], Partial<Look>>>[]): readonly string[] {
    let elapsed = 0;
    const { rows, told } = listed(() => elapsed);
    const conditions = new Conditions();
    for (const changes of moments) {
      for (const end = elapsed + 6 * 60_000; elapsed < end; elapsed += 30_000)
        conditions.look(
          books.map(book => ({ ...CALM, ...noCounts, elapsed, symbol: book, book, ...changes[book] })),
          told,
        );
    }
    return rows;
  }
  const inAll = (changes: Partial<Look>) => ({ btc_mxn: changes, eth_mxn: changes, btc_usd: changes });

  test('a stop of one book is reported for it, and one of another book too', () => {
    expect(seen({ eth_mxn: halt('a', true) }, { eth_mxn: halt('a', true), btc_usd: halt('a', true) }, {})).toEqual([
      '0 eth_mxn halted loud a; investigate, then resume with: puntas resume --book',
      '360000 btc_usd halted loud a; investigate, then resume with: puntas resume --book',
      '720000 eth_mxn halted over',
      '720000 btc_usd halted over',
    ]);
  });

  test('a stop of one book stays its own until it ends, though its file is gone before', () => {
    const stops = new OwnStops();
    const none = { halt: null, pause: null, reduce: null };
    const read = (of: Partial<typeof none> | object, ...files: OwnStop[]) =>
      stops.of('eth_mxn', { ...none, ...of }, stop => files.includes(stop));
    expect(read({ halt: 'a' }, 'halt')).toEqual(['halt']);
    expect(read({ halt: 'a' })).toEqual(['halt']);
    // Another reason is another stop.
    expect(read({ halt: 'b' })).toEqual([]);
    expect(read({ halt: 'a' })).toEqual([]);
    expect(read({ halt: 'a', pause: 'p' }, 'pause')).toEqual(['pause']);
    expect(read(none, 'halt', 'pause', 'reduce')).toEqual([]);
    expect(stops.of('btc_mxn', { ...none, pause: 'p' }, () => false)).toEqual([]);
  });

  test('a loss of one book that halts all is reported once, with its name', () => {
    expect(seen({ eth_mxn: halt('drawdown') }, inAll(halt('drawdown')), {})).toEqual([
      '0  halted loud eth_mxn: drawdown; investigate, then resume with: puntas resume -c my.yaml',
      '720000  halted over',
    ]);
    // The reason of a real loss names its book, in whichever books it is seen.
    for (const first of [{ eth_mxn: halt('eth_mxn: drawdown') }, inAll(halt('eth_mxn: drawdown'))])
      expect(seen(first, inAll(halt('eth_mxn: drawdown')), {})).toEqual([
        '0  halted loud eth_mxn: drawdown; investigate, then resume with: puntas resume -c my.yaml',
        '720000  halted over',
      ]);
    const two = seen({ eth_mxn: halt('b') }, { btc_mxn: halt('a'), eth_mxn: halt('b'), btc_usd: halt('a') }).join();
    expect(two).toMatch(/btc_mxn, btc_usd: a; .*eth_mxn: b; /);
  });

  test('conditions of the account are reported once, without a book', () => {
    const account = [
      { sentinelAgeMs: 61_000 },
      { diskFreeBytes: 1e8 },
      { journalWritable: false },
      { budget: { public: 0, private: 0 } },
      snapshot({ quoting: 'ledger differs from the balances' }),
      snapshot({ quoting: 'private data stale' }),
      snapshot({ quoting: 'held by the sentinel' }),
      snapshot({ quoting: 'sentinel is missing' }),
      snapshot({ quoting: 'stopping' }),
      snapshot({ quoting: 'paused by a person' }),
    ];
    for (const changes of account) {
      const rows = seen(inAll(changes)).map(row => row.replace(/^\d+/, ''));
      expect(rows.filter(row => !row.startsWith('  '))).toEqual([]);
      expect(rows.filter(row => row.includes('loud'))).toHaveLength(1);
    }
    let elapsed = 0;
    const { rows, told } = listed(() => elapsed);
    const conditions = new Conditions();
    for (let i = 0; i < 24; i++, elapsed += 30_000) {
      const failing = { ...noCounts, requests: { all: 100 * i, failed: 50 * i, slow: 0 } };
      conditions.look(
        books.map(book => ({ ...CALM, ...failing, elapsed, symbol: book, book })),
        told,
      );
    }
    expect(rows).toMatchObject([expect.stringMatching(/^\d+ {2}requestsFailing loud 50% of/)]);
  });
});

test('a cause that another took the place of for a moment is told again when it comes again, with how long it lasted', async () => {
  const { lives, sent } = told('sentinelGone');
  const gone = old(snapshot({ quoting: 'sentinel is missing' }));
  await lives(gone, 60_000);
  await lives(old(snapshot({ quoting: 'book stale' })), 500);
  await lives(CALM, 600_000);
  await lives(gone, 120_000);
  await lives(CALM, 10_000);
  expect(sent.map(({ text }) => text)).toEqual([
    'begins: not quoting: sentinel is missing',
    'over: not quoting: sentinel is missing, for 60 s',
    'begins: not quoting: sentinel is missing',
    'over: not quoting: sentinel is missing, for 119 s',
  ]);
});

test('reasons that take turns leave room to be loud in time', async () => {
  const { lives, sent } = told('notQuoting');
  for (let i = 0; i < 40; i++) await lives(snapshot({ quoting: i % 2 === 0 ? 'book crossed' : 'not ready' }), 5_000);
  expect(sent.map(({ isSilent }) => isSilent)).toEqual([true, false]);
  expect(sent[1]!.at).toBeLessThan(125_000);
});

/** Looks at one book every 10 s for so many minutes, and lists what is reported but for a book without fills. */
function reported(minutes: number, lookAt: (elapsed: number) => Partial<Look>, without: AlertEvent | null = 'noFills') {
  let elapsed = 0;
  const { rows, told } = listed(() => elapsed);
  const conditions = new Conditions();
  for (; elapsed <= minutes * 60_000; elapsed += 10_000)
    conditions.look([{ ...CALM, ...noCounts, elapsed, ...lookAt(elapsed) }], told);
  return rows
    .filter(row => without === null || !row.includes(` ${without} `))
    .map(row => row.replace(/^(\d+)  /, '$1 '));
}
const bothSides = (buy: Partial<typeof none>, sell: Partial<typeof none>): Partial<Look> =>
  snapshot({ counts: { buy: { ...none, ...buy }, sell: { ...none, ...sell } } });

describe('counts of the last minutes', () => {
  test.each<[name: string, counted: Partial<Look>, row: string | null]>([
    ['3 unknown orders', bothSides({ unknown: 1 }, { unknown: 2 }), null],
    [
      '4 unknown orders',
      bothSides({ unknown: 1 }, { unknown: 3 }),
      'ordersUnknown loud in the last 5 minutes, the outcome of 4 orders became unknown',
    ],
    ['10 rejected orders', bothSides({ refused: 7 }, { refused: 3 }), null],
    ['11 rejected orders of 55', bothSides({ refused: 7, placed: 40 }, { refused: 4, placed: 15 }), null],
    [
      '11 rejected orders of 54',
      bothSides({ refused: 7, placed: 40 }, { refused: 4, placed: 14 }),
      'ordersRefused loud in the last 5 minutes, the exchange rejected 11 orders and accepted 54',
    ],
  ])('report %s as what they are', (_, counted, row) => {
    // The orders are of one moment: the report ends five minutes after it.
    const rows = reported(20, elapsed => (elapsed < 60_000 ? {} : counted));
    const over = row === null ? [] : [`360000 ${row.split(' ')[0]!} over`];
    expect(rows).toEqual([...(row === null ? [] : [`60000 ${row}`]), ...over]);
  });

  // Numbers in any five minutes.
  test.each<[name: string, requests: readonly number[], decisions: readonly number[], row: string | null]>([
    ['19 requests, all of them slow and failed', [19, 19, 19], [0, 0], null],
    ['a tenth that was slow, a fifth that failed', [20, 4, 2], [0, 0], null],
    [
      ...(['3 of 20 that were slow', [20, 4, 3], [0, 0]] as const),
      "requestsSlow loud 15% of the bot's requests in the last 5 minutes took over 2 s",
    ],
    [
      ...(['5 of 20 that failed', [20, 5, 2], [0, 0]] as const),
      "requestsFailing loud 25% of the bot's requests in the last 5 minutes failed",
    ],
    ['a hundredth of decisions that was slow', [0, 0, 0], [200, 2], null],
    [
      ...(['3 of 200 decisions that were slow', [0, 0, 0], [200, 3]] as const),
      "loopSlow loud 2% of the bot's decisions in the last 5 minutes took over 50 ms",
    ],
  ])('report %s as such a share', (_, [all = 0, failed = 0, slow = 0], [decided = 0, late = 0], row) => {
    const rows = reported(15, elapsed => {
      const sinceStart = (inFiveMinutes: number) => Math.floor((inFiveMinutes * elapsed) / 300_000);
      return {
        requests: { all: sinceStart(all), failed: sinceStart(failed), slow: sinceStart(slow) },
        decisions: { all: sinceStart(decided), slow: sinceStart(late) },
      };
    });
    expect(rows.map(each => each.replace(/^\d+ /, ''))).toEqual(row === null ? [] : [row]);
  });

  test('report a book that quotes and has had no fill for six hours, an hour later', () => {
    const rows = reported(480, elapsed => snapshot({ booked: { fills: elapsed < 600_000 ? 0 : 1 } }), null);
    const text = 'noFills loud the bot quotes, but has had no fill in the last 6 hours, or since its start';
    // The time without a fill since the start is too short; 6 hours and an hour after the fill are not.
    expect(rows).toEqual([`${(10 + 420) * 60_000} ${text}`]);
  });
});

test.each<[name: string, look: Partial<Look>, row: string | null]>([
  ['a sentinel whose heartbeat is a minute old', { sentinelAgeMs: 60_000 }, null],
  [
    'a sentinel whose heartbeat is older',
    { sentinelAgeMs: 60_001 },
    'sentinelGone loud no sentinel heartbeat; if the bot goes down, its orders stay live',
  ],
  ['500 MB of free disk', { diskFreeBytes: 500e6 }, null],
  [
    'less free disk',
    { diskFreeBytes: 412e6 },
    'diskLow quiet only 412 MB are free on the disk of the state directory; expected at least 500 MB',
  ],
  ['a budget of less than one request', { budget: { public: 0.5, private: 0.25 } }, null],
  [
    'a private budget that is used up',
    { budget: { public: 7, private: 0 } },
    'budgetSpent loud the request budget is used up, so no private request can be sent',
  ],
  [
    'bids alone',
    { quotesLive: { buy: 2, sell: 0 } },
    'oneSided loud the bot has quoted only one side for 10 minutes, now only bids; for the reason, run puntas explain',
  ],
  [
    'asks alone',
    { quotesLive: { buy: 0, sell: 1 } },
    'oneSided loud the bot has quoted only one side for 10 minutes, now only asks; for the reason, run puntas explain',
  ],
  ...(['drawdownMax', 'dayLossMax'] as const).flatMap((limit): [string, Partial<Look>, string | null][] => {
    const use = (used: string): Partial<Look> => ({
      uses: [
        { limit: 'positionMax', currency: 'btc', max: moneyOf('2'), used: moneyOf('1.9') },
        { limit, currency: 'mxn', max: moneyOf('1000'), used: moneyOf(used) },
      ],
    });
    const [event, words] =
      limit === 'drawdownMax'
        ? ['drawdownNear', 'the drawdown from the highest profit']
        : ['dayLossNear', 'the loss since the start of the UTC day'];
    return [
      [`four fifths of ${limit}`, use('800'), null],
      [
        `more than that of ${limit}`,
        use('800.01'),
        `${event} loud ${words} is 800.01 mxn; trading halts at 1000 (limits.${limit})`,
      ],
    ];
  }),
  [
    'a hedge debt',
    snapshot({
      elsewhere: {
        ...{ place: 'far', held: moneyOf('8'), funds: { base: moneyOf('6'), quote: moneyOf('7') }, rate: null },
        ...{ isOpen: true, inTransit: { base: moneyOf('3'), quote: moneyOf('5') }, openOrders: 1, failures: 2 },
        ...{ baseCurrency: 'btc', quoteCurrency: 'usdt', quoteHeld: moneyOf('9'), band: moneyOf('0.001') },
        ...{ debt: moneyOf('0.004'), debtMax: moneyOf('0.05'), debtValue: moneyOf('600') },
        ...{ drift: moneyOf('-500'), driftValue: null, closed: { buy: null, sell: null } },
      },
    }),
    'hedgeDebt loud hedge debt at far: 0.004 btc of at most 0.05 (hedge.elsewhere.debtMax); open orders at far: 1; consecutive failed hedges: 2; for the reason, run puntas hedges',
  ],
])('the first report of %s is this', (_, look, row) => {
  const first = reported(10, () => look).slice(0, 1);
  expect(first.map(each => each.replace(/^\d+ /, ''))).toEqual(row === null ? [] : [row]);
});
