/** Sums over bots: to the digit, once for each bot, for each kind of money alone, and with what they lack. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BotSummary, FleetView, SummaryRun } from '../../src/console/index.ts';
import { money, moneyOf, textOfMoney } from '../../src/core/index.ts';
import type { HeardState } from '../../src/fleet/botWatch.ts';
import { summaryIn } from '../../src/fleet/botAnswer.ts';
import { fleetView } from '../../src/fleet/fleetView.ts';
import { between } from '../draws.ts';
import { summaryWith } from './doubles.ts';

const heard = (summary: BotSummary | null, change: Partial<HeardState> = {}): HeardState => ({
  ...{ state: 'heard', summary, heardAgoMs: 300, problem: null },
  ...change,
});
const view = (states: readonly HeardState[], currency = 'mxn'): FleetView =>
  fleetView(
    states.map((state, i) => ({ name: `bot${i}`, link: `http://127.0.0.1:${9000 + i}`, heard: state })),
    currency,
    { at: 5, version: '0.1.0' },
  );
let openings = 0;
const bot = (run: Partial<SummaryRun> = {}, change: Partial<BotSummary> = {}) =>
  summaryWith({ profit: profitOf('12.5'), ...run }, change);
const profitOf = (total: string, run: string | null = '1') => ({ total, run, since: `opening ${openings++}` });

type Listing = {
  readonly bot: number;
  readonly isHeard: boolean;
  readonly hasProfit: boolean;
  readonly hasInventory: boolean;
  readonly isOlder: boolean;
  readonly isBehind: boolean;
};

/** Bots from this one on have a ledger of an older version, which does not say when it was opened. */
const UNDATED_FROM = 3;

/** The summary of one of the consoles of a bot, whose profit is a power of ten. */
function summaryOfListing({ bot: of, isHeard, hasProfit, hasInventory, isOlder, isBehind }: Listing) {
  const since = `2026-11-20T14:05:00.00${of}Z`;
  const isDated = of < UNDATED_FROM;
  const summary = summaryWith({
    instance: of % 2 === 0 ? 'ana' : 'bea',
    ledgerSince: isOlder || !isDated ? null : since,
    ...(isOlder ? { number: null, startedAt: null } : { number: 7, startedAt: 1_000 + of }),
    profit: hasProfit ? { total: String(10 ** of), run: null, since: isDated ? since : null } : null,
    inventory: hasInventory && !isBehind ? '1' : null,
    unknown: hasProfit ? null : 'trades could not be read',
  });
  return [
    summary,
    { state: isHeard ? ('heard' as const) : ('silent' as const), problem: isHeard ? null : 'gone' },
  ] as const;
}

describe('sums', () => {
  test('are the sum of the values of the rows and of the amounts of each currency, to the digit', () => {
    const atto = fc.bigInt({ min: -(10n ** 28n), max: 10n ** 28n });
    const bots = fc.array(fc.record({ profit: atto, inventory: atto, quote: fc.constantFrom('mxn', 'usd') }), {
      minLength: 1,
      maxLength: 60,
    });
    fc.assert(
      fc.property(bots, of => {
        const states = of.map(({ profit, inventory, quote }) =>
          heard(
            bot({
              ...{ book: `btc_${quote}`, base: 'btc', quote },
              market: { bid: quote === 'mxn' ? '1700' : '100', ask: quote === 'mxn' ? '1701' : '100.5', bookAgeMs: 0 },
              profit: profitOf(textOfMoney(money(profit))),
              inventory: textOfMoney(money(inventory)),
            }),
          ),
        );
        const { sums, bots: rows } = view(states);
        const [sum] = sums;
        const known = rows.flatMap(({ profit }) => (profit === null ? [] : [units(profit)]));
        expect(units(sum!.profit ?? '0')).toBe(known.reduce((all, each) => all + each, 0n));
        const left = sum!.unconverted.reduce((all, { bots: count }) => all + count, 0);
        expect(known.length + left).toBe(of.length);
        // Without a book in the other currency, there is no rate.
        expect(left > 0).toBe(of.every(({ quote }) => quote === 'usd'));
        const all = of.reduce((total, { inventory }) => total + inventory, 0n);
        expect(sum!.inventory).toEqual([{ currency: 'btc', amount: textOfMoney(money(all)), bots: of.length }]);
      }),
    );
  });

  test('of profits without a rate stand beside the sum in their own currency, and are not guessed', () => {
    const [sum] = view([
      heard(bot()),
      heard(bot({ book: 'eth_usd', base: 'eth', quote: 'usd', profit: profitOf('-3') })),
      heard(bot({ book: 'eth_usd', base: 'eth', quote: 'usd', profit: profitOf('1') })),
    ]).sums;
    expect(sum).toMatchObject({ profit: '12.5', unconverted: [{ currency: 'usd', profit: '-2', bots: 2 }], rates: [] });
  });

  test('name their rates with books and age', () => {
    const [sum] = view([
      heard(bot({ market: { bid: '2000', ask: '2000', bookAgeMs: 400 } }), { heardAgoMs: 600 }),
      heard(
        bot({
          ...{ book: 'btc_usd', quote: 'usd', profit: profitOf('2') },
          market: { bid: '100', ask: '100', bookAgeMs: 50 },
        }),
      ),
    ]).sums;
    expect(sum).toMatchObject({
      profit: '52.5',
      rates: [{ from: 'usd', to: 'mxn', rate: '20', ageMs: 1000, books: ['btc_usd', 'btc_mxn'] }],
    });
  });

  test('are apart for real, paper and play money, and play money prices no real money', () => {
    const play = { money: 'play', market: { bid: '9', ask: '9', bookAgeMs: 0 } } as const;
    const { sums } = view([
      heard(bot({ ...play, profit: profitOf('1000000') })),
      heard(bot({ money: 'paper', profit: profitOf('40') })),
      heard(bot({ money: 'real', market: { bid: null, ask: null, bookAgeMs: null }, book: 'btc_usd', quote: 'usd' })),
      heard(bot({ money: 'real', profit: profitOf('7') })),
      heard(bot({ ...play, book: 'btc_usd', quote: 'usd' })),
    ]).sums.reduce<{ sums: Record<string, unknown> }>(
      (all, each) => ({ sums: { ...all.sums, [each.money]: [each.profit, each.unconverted.length] } }),
      { sums: {} },
    );
    expect(sums).toEqual({ real: ['7', 1], paper: ['40', 0], play: ['1000012.5', 0] });
  });

  test('count a bot once that is listed twice, and say which', () => {
    const same = bot();
    const { sums, bots } = view([heard(same), heard(same)]);
    expect(sums[0]).toMatchObject({ profit: '12.5', bots: 1, inventory: [{ amount: '-0.25', bots: 1 }] });
    expect(bots.map(({ sameAs }) => sameAs)).toEqual([null, 'bot0']);
    expect(bots[1]?.trouble).toBe('the same bot as bot0; its figures count once');
  });

  test('count each bot once, however often it is listed, and whatever its consoles know', () => {
    const listing = fc.record({
      bot: fc.integer({ min: 0, max: 4 }),
      isHeard: fc.boolean(),
      hasProfit: fc.boolean(),
      hasInventory: fc.boolean(),
      // An older console sends the opening only with a profit, and no run.
      isOlder: fc.boolean(),
      isBehind: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(listing, { minLength: 1, maxLength: 12 }), listings => {
        const listed = listings.map(each => {
          const isOlder = each.isOlder && each.bot < UNDATED_FROM;
          return { ...each, isOlder, hasProfit: isOlder || (each.hasProfit && !each.isBehind) };
        });
        const { sums, bots } = view(listed.map(each => heard(...summaryOfListing(each))));
        const different = new Set(listed.map(each => each.bot)).size;
        expect(sums[0]?.bots).toBe(different);
        expect(bots.filter(({ sameAs }) => sameAs === null)).toHaveLength(different);
        // A known profit counts, also if another console of the bot does not know it.
        const known = [...new Set(listed.map(each => each.bot))].filter(of => {
          const own = listed.filter(each => each.bot === of);
          const answers = own.filter(({ isHeard }) => isHeard);
          return (answers.length > 0 ? answers : own).some(({ hasProfit }) => hasProfit);
        });
        const total = known.reduce((all, of) => all + 10n ** BigInt(of), 0n);
        expect(sums[0]?.profit ?? '0').toBe(String(total));
        const missing = sums[0]?.missing.filter(({ what }) => what === 'profit') ?? [];
        expect(missing).toHaveLength(different - known.length);
      }),
    );
  });

  test('tell bots apart that differ only in name, book or money, and join the rows of one that a third row connects', () => {
    const listing = fc.record({
      instance: fc.constantFrom('ana', 'bea'),
      book: fc.constantFrom('btc_mxn', 'eth_mxn'),
      kind: fc.constantFrom<SummaryRun['money']>('real', 'paper', 'play'),
      // Times of the opening and of the newest run are the same in all bots.
      knows: fc.constantFrom('opening', 'run', 'both'),
    });
    fc.assert(
      fc.property(fc.array(listing, { minLength: 1, maxLength: 12 }), listings => {
        const { bots, sums } = view(
          listings.map(({ instance, book, kind, knows }) =>
            heard(
              summaryWith({
                ...{ instance, book, base: book.slice(0, 3), money: kind, profit: null },
                ledgerSince: knows === 'run' ? null : '2026-11-20T14:05:00.000Z',
                ...(knows === 'opening' ? {} : { number: 7, startedAt: 1_000 }),
              }),
            ),
          ),
        );
        const nameOf = ({ instance, book, kind }: (typeof listings)[number]) => `${instance} ${book} ${kind}`;
        const names = [...new Set(listings.map(nameOf))];
        const expected = names.map(name => {
          const known = new Set(listings.filter(each => nameOf(each) === name).map(({ knows }) => knows));
          return known.has('both') ? 1 : known.size;
        });
        expect(
          names.map(name => bots.filter((row, i) => nameOf(listings[i]!) === name && row.sameAs === null)),
        ).toEqual(expected.map(count => expect.objectContaining({ length: count }) as unknown));
        expect(sums.reduce((all, each) => all + each.bots, 0)).toBe(expected.reduce((all, each) => all + each, 0));
        for (const [i, { sameAs }] of bots.entries())
          if (sameAs !== null) expect(nameOf(listings[Number(sameAs.slice('bot'.length))]!)).toBe(nameOf(listings[i]!));
      }),
    );
  });

  test('count the row that is heard, where the same bot is also listed at an address that is silent', () => {
    const same = bot();
    const { sums, bots } = view([heard(same, { state: 'silent', problem: 'gone' }), heard(same)]);
    expect(bots.map(({ sameAs }) => sameAs)).toEqual(['bot1', null]);
    expect(sums[0]).toMatchObject({ profit: '12.5', bots: 1, stale: [] });
  });

  test('keep the last figures of a silent bot, with their age, and name what they lack', () => {
    const { sums, bots } = view([
      heard(bot(), { state: 'silent', heardAgoMs: 40_000, problem: 'no complete answer within 2 s' }),
      heard(bot({ profit: null, unknown: 'a trade could not be read' })),
      heard(null, { state: 'silent', heardAgoMs: 3_000, problem: 'nothing listens' }),
      heard(summaryWith(null, { bot: { state: 'never ran', beatAgoMs: null, writtenAgoMs: null } })),
    ]);
    expect(sums[0]).toMatchObject({
      profit: '12.5',
      stale: [{ name: 'bot0', figuresAgoMs: 40_500 }],
      missing: [
        { name: 'bot1', what: 'profit', why: 'a trade could not be read' },
        { name: 'bot2', what: 'figures' },
        { name: 'bot3', what: 'figures' },
      ],
    });
    expect(bots.map(({ trouble }) => trouble)).toEqual([
      'silent for 40 s: no complete answer within 2 s',
      'a trade could not be read',
      'silent for 3 s: nothing listens',
      'this bot has not run yet',
    ]);
  });

  test('of a silent bot price nothing after a minute', () => {
    const usd = () => heard(bot({ book: 'eth_usd', base: 'eth', quote: 'usd' }));
    const rate = (heardAgoMs: number) =>
      view([heard(bot({ book: 'usd_mxn', base: 'usd', quote: 'mxn' }), { heardAgoMs, state: 'silent' }), usd()]).bots[1]
        ?.profit;
    expect(rate(50_000)).toBe('12500');
    expect(rate(61_000)).toBeNull();
  });

  test.each(
    (['real', 'paper', 'play'] as const).flatMap(of => (['real', 'paper', 'play'] as const).map(by => [of, by])),
  )('of %s money have a rate from a book of %s money, unless only one of both is play money', (of, by) => {
    const { bots } = view([
      heard(bot({ book: 'usd_mxn', base: 'usd', money: by })),
      heard(bot({ book: 'eth_usd', base: 'eth', quote: 'usd', money: of })),
    ]);
    expect(bots[1]!.profit).toBe((of === 'play') === (by === 'play') ? '12500' : null);
  });

  test('take no price of a bot that does not run, or whose recording stands still', () => {
    const rate = (botState: BotSummary['bot']) =>
      view([
        heard(bot({ book: 'usd_mxn', base: 'usd', quote: 'mxn' }, { bot: botState })),
        heard(bot({ book: 'eth_usd', base: 'eth', quote: 'usd' })),
      ]).bots[1]?.profit;
    expect(rate({ state: 'running', beatAgoMs: 1, writtenAgoMs: 50_000 })).toBe('12500');
    expect(rate({ state: 'running', beatAgoMs: 1, writtenAgoMs: 60_000 })).toBeNull();
    expect(rate({ state: 'stopped', beatAgoMs: 1, writtenAgoMs: 1 })).toBeNull();
    expect(rate({ state: 'silent', beatAgoMs: 1, writtenAgoMs: 1 })).toBeNull();
  });
});

describe('a bot with several books', () => {
  const desk = () => {
    const run = { ...bot({ book: 'btc_mxn', inventory: '0.5' }).run!, profit: profitOf('10') };
    const other = (book: string, total: string, inventory: string) => {
      const [base = '', quote = ''] = book.split('_');
      return {
        ...run,
        book,
        base,
        quote,
        inventory,
        profit: profitOf(total),
        market: { ...run.market, bid: '19', ask: '21' },
      };
    };
    return summaryWith(run, {
      otherBooks: [other('eth_mxn', '2', '3'), other('btc_usd', '0.5', '-0.25')],
      halts: [
        { what: 'held', reason: 'all', at: 1, by: 'sentinel', until: null },
        { what: 'paused', book: 'eth_mxn', reason: 'odd', at: 1, by: 'Ana', until: null },
      ],
    });
  };

  test('has one row for each book, counts as one bot, and its sums have each book once', () => {
    const { bots, sums } = view([
      heard(desk()),
      heard(bot({ book: 'usd_mxn', base: 'usd', market: { bid: '19', ask: '21', bookAgeMs: 1 } })),
    ]);
    expect(bots.map(({ name, book, link }) => [name, book, link])).toEqual([
      ['bot0 btc_mxn', 'btc_mxn', 'http://127.0.0.1:9000/?book=btc_mxn'],
      ['bot0 eth_mxn', 'eth_mxn', 'http://127.0.0.1:9000/?book=eth_mxn'],
      ['bot0 btc_usd', 'btc_usd', 'http://127.0.0.1:9000/?book=btc_usd'],
      ['bot1', 'usd_mxn', 'http://127.0.0.1:9001'],
    ]);
    // 10 + 2 + 0.5 usd at 20 + 12.5.
    expect(sums).toMatchObject([{ money: 'real', bots: 2, profit: '34.5' }]);
    expect(sums[0]!.inventory.find(({ currency }) => currency === 'btc')).toEqual({
      currency: 'btc',
      amount: '0.25',
      bots: 1,
    });
    expect(bots.map(({ alerts }) => alerts.map(({ text }) => text.split(' ')[0]))).toEqual([
      ['held'],
      ['held', 'paused'],
      ['held'],
      [],
    ]);
  });

  test('that is listed twice counts once, book by book', () => {
    const summary = desk();
    const { bots, sums } = view([heard(summary), heard(summary)]);
    expect(bots.map(({ sameAs }) => sameAs)).toEqual([
      null,
      null,
      null,
      'bot0 btc_mxn',
      'bot0 eth_mxn',
      'bot0 btc_usd',
    ]);
    expect(sums).toMatchObject([
      {
        bots: 1,
        inventory: [
          { currency: 'btc', amount: '0.25' },
          { currency: 'eth', amount: '3' },
        ],
      },
    ]);
  });

  test('is read from an answer as it was sent, and play money of the file applies to all books', () => {
    const summary = desk();
    expect(summaryIn(JSON.stringify(summary))).toEqual(summary);
    const { bots } = fleetView(
      [{ name: 'a', link: 'http://127.0.0.1:1', money: 'play', heard: heard(summary) }],
      'mxn',
      {
        ...{ at: 5, version: '0.1.0' },
      },
    );
    expect(bots.map(({ money: kind }) => kind)).toEqual(['play', 'play', 'play']);
  });
});

describe('a row', () => {
  test('has stops first, then a limit that is nearly used, then the warnings of the last hour', () => {
    const halt = { what: 'halted', reason: 'odd fills', at: 1, by: 'ana', until: null } as const;
    const last = { at: 1, who: 'bot', level: 'warn', text: 'stream is late' } as const;
    const [row] = view([
      heard(
        bot(
          { limit: { limit: 'dayLossMax', share: 0.957 }, events: { warnings: 2, errors: 1, last } },
          { halts: [halt] },
        ),
      ),
    ]).bots;
    expect(row?.alerts).toEqual([
      { level: 'error', text: 'halted by ana: odd fills' },
      { level: 'error', text: 'dayLossMax: 95% of the limit used' },
      { level: 'error', text: '1 error, 2 warnings in the last hour; last: stream is late' },
    ]);
  });

  test('has ages that grow with the time since its summary, and the uptime of its worse side', () => {
    const share = between(0, 1);
    const ms = fc.integer({ min: 0, max: 1e9 });
    fc.assert(
      fc.property(share, share, ms, ms, (bid, ask, before, later) => {
        const rowAfter = (heardAgoMs: number) => view([heard(bot({ uptime: { bid, ask } }), { heardAgoMs })]).bots[0]!;
        const [early, late] = [rowAfter(before), rowAfter(before + later)];
        const ages = (row: typeof early) => [row.heardAgoMs, row.figuresAgoMs!, row.lastFill!.agoMs];
        expect(ages(late)).toEqual(ages(early).map(age => age + later));
        expect(early.uptime).toBe(bid < ask ? bid : ask);
      }),
    );
  });

  test('says since when a bot sends no heartbeat, although its console answers', () => {
    const [row] = view([heard(bot({}, { bot: { state: 'silent', beatAgoMs: 39_700, writtenAgoMs: null } }))]).bots;
    expect(row?.trouble).toBe("no heartbeat for 40 s: the bot's process is down or hangs");
  });
});

/** Exact units of a sum of many bots, which may have more digits than one amount. */
function units(text: string): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  if (whole.length <= 20) return moneyOf(text);
  const size = BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, '0'));
  return text.startsWith('-') ? -size : size;
}

describe('old figures', () => {
  const stale = (botState: BotSummary['bot'], change: Partial<HeardState> = {}) =>
    view([heard(bot({}, { bot: botState }), change)]);

  test.each<[string, BotSummary['bot'], number]>([
    ['a bot without a heartbeat', { state: 'silent', beatAgoMs: 7_200_000, writtenAgoMs: 5_000 }, 7_200_300],
    [
      'a bot that runs while its recording stands still',
      { state: 'running', beatAgoMs: 500, writtenAgoMs: 60_000 },
      60_300,
    ],
  ])('of %s are listed with their own age, although the console answers', (_, botState, figuresAgoMs) => {
    const { sums, bots } = stale(botState);
    expect(sums[0]?.stale).toEqual([{ name: 'bot0', figuresAgoMs }]);
    expect(bots[0]?.figuresAgoMs).toBe(figuresAgoMs);
  });

  test('are not those of a bot that runs and records, nor the last ones of a stopped bot', () => {
    expect(stale({ state: 'running', beatAgoMs: 500, writtenAgoMs: 9_000 }).sums[0]?.stale).toEqual([]);
    expect(stale({ state: 'stopped', beatAgoMs: 9e6, writtenAgoMs: 9e6 }).sums[0]?.stale).toEqual([]);
  });
});

test('the file of the fleet can say that money is play, whatever the console says', () => {
  const states = [heard(bot()), heard(bot({ instance: 'other', profit: profitOf('40') }))];
  const bots = states.map((state, i) => ({
    name: `bot${i}`,
    link: '',
    heard: state,
    ...(i === 1 && { money: 'play' as const }),
  }));
  const { sums, bots: rows } = fleetView(bots, 'mxn', { at: 5, version: '0.1.0' });
  expect(sums.map(({ money: kind, profit }) => [kind, profit])).toEqual([
    ['real', '12.5'],
    ['play', '40'],
  ]);
  expect(rows.map(({ money: kind }) => kind)).toEqual(['real', 'play']);
});

test('a bot that the file has twice, once as play money, counts once', () => {
  const state = heard(bot({ profit: profitOf('40') }));
  const listed = [{}, { money: 'play' as const }].map((money, i) => ({
    name: `bot${i}`,
    link: '',
    heard: state,
    ...money,
  }));
  for (const bots of [listed, listed.toReversed()]) {
    const { sums, bots: rows } = fleetView(bots, 'mxn', { at: 5, version: '0.1.0' });
    expect(rows.map(({ sameAs }) => sameAs)).toEqual([null, bots[0]!.name]);
    expect(sums.map(each => each.profit).filter(profit => profit !== null)).toEqual(['40']);
  }
});

test('a row has at most 8 alerts, none longer than 500 characters', () => {
  const halts = Array.from({ length: 20 }, () => ({
    ...({ what: 'held', at: 1, by: 'x'.repeat(1_900), until: null } as const),
    reason: 'y'.repeat(1_900),
  }));
  const [row] = view([heard(bot({}, { halts }))]).bots;
  expect(row?.alerts.map(({ text }) => text.length)).toEqual(Array.from({ length: 8 }, () => 500));
});

test('a row has each figure of its summary in its own field, and the sums those of the profit and of the run', () => {
  const run: Partial<SummaryRun> = {
    ...{ instance: 'ana', strategy: 'peg', money: 'paper', book: 'eth_usd', base: 'eth', quote: 'usd' },
    regime: { regime: 'wide', since: 1, why: 'volatile' },
    ...{ profit: profitOf('8', '3'), inventory: '0.75', uptime: { bid: 0.9, ask: 0.8 } },
    fills: { count: 41, last: { at: 6, agoMs: 70, side: 'ask', price: '21', amount: '0.3' } },
  };
  const other = bot({ ...run, instance: 'bea', profit: profitOf('100', '20'), inventory: null });
  const known = bot(run, { version: '0.9.9', bot: { state: 'running', beatAgoMs: 40, writtenAgoMs: 9 } });
  const { bots, sums } = view([heard(known), heard(other)], 'usd');
  expect(bots[0]).toEqual({
    ...{ name: 'bot0', link: 'http://127.0.0.1:9000', state: 'heard', heardAgoMs: 300, problem: null, sameAs: null },
    ...{ figuresAgoMs: 340, trouble: null, version: '0.9.9', bot: 'running', money: 'paper' },
    ...{ book: 'eth_usd', base: 'eth', quote: 'usd', instance: 'ana', strategy: 'peg' },
    ...{ regime: 'wide', why: 'volatile', ownProfit: '8', profit: '8', runProfit: '3' },
    ...{ inventory: '0.75', uptime: 0.8, fillCount: 41, alerts: [] },
    lastFill: { at: 6, agoMs: 370, side: 'ask', price: '21', amount: '0.3' },
  });
  expect(sums).toEqual([
    {
      ...{ money: 'paper', bots: 2, profit: '108', runProfit: '23', unconverted: [], rates: [], stale: [] },
      inventory: [{ currency: 'eth', amount: '0.75', bots: 1 }],
      missing: [{ name: 'bot1', what: 'inventory', why: 'unknown' }],
    },
  ]);
});

test('sums name currencies without a rate in their order, and only the rates that they use', () => {
  const of = (quote: string, change: Partial<SummaryRun> = {}) =>
    heard(bot({ book: `btc_${quote}`, quote, ...change }));
  const noBook = { bid: null, ask: null, bookAgeMs: null };
  const { sums } = view([
    of('mxn', { base: 'eth', book: 'eth_mxn' }),
    of('zar', { market: noBook, profit: profitOf('3') }),
    of('brl', { market: noBook, profit: profitOf('4') }),
    // A book in usd gives a rate that no known profit needs.
    of('usd', { base: 'mxn', book: 'mxn_usd', profit: null }),
  ]);
  expect(sums[0]!.unconverted).toEqual([
    { currency: 'brl', profit: '4', bots: 1 },
    { currency: 'zar', profit: '3', bots: 1 },
  ]);
  expect(sums[0]!.rates).toEqual([]);
});

test.each<[name: string, run: Partial<SummaryRun>, change: Partial<BotSummary>, trouble: string | null]>([
  [
    'stopped a moment ago',
    {},
    { bot: { state: 'stopped', beatAgoMs: 119_000, writtenAgoMs: null } },
    'stopped for 119 s',
  ],
  [
    'stopped for two minutes',
    {},
    { bot: { state: 'stopped', beatAgoMs: 119_700, writtenAgoMs: null } },
    'stopped for 2 min',
  ],
  [
    'stopped for two hours',
    {},
    { bot: { state: 'stopped', beatAgoMs: 7_199_700, writtenAgoMs: null } },
    'stopped for 2 h',
  ],
  ['stopped, since when is unknown', {}, { bot: { state: 'stopped', beatAgoMs: null, writtenAgoMs: 5 } }, 'stopped'],
  [
    'silent, since when is unknown',
    {},
    { bot: { state: 'silent', beatAgoMs: null, writtenAgoMs: 5 } },
    "no heartbeat: the bot's process is down or hangs",
  ],
  ['running with a note', { unknown: 'a trade is unread' }, { note: 'the disk is full' }, 'the disk is full'],
  [
    'running with unknown figures',
    { unknown: 'a trade is unread' },
    { bot: { state: 'running', beatAgoMs: 1, writtenAgoMs: 60_000 } },
    'a trade is unread',
  ],
  [
    'running with a late recording',
    {},
    { bot: { state: 'running', beatAgoMs: 1, writtenAgoMs: 10_001 } },
    'its recording has not grown for 10 s; check its disk',
  ],
  ['running and recording', {}, { bot: { state: 'running', beatAgoMs: 1, writtenAgoMs: 10_000 } }, null],
])('the trouble of a bot that is %s is this', (_, run, change, trouble) => {
  expect(view([heard(bot(run, change))]).bots[0]!.trouble).toBe(trouble);
});

test('the reason of a row is a failed strategy file, else why there is no quote, else that of the regime', () => {
  const why = (run: Partial<SummaryRun>) => view([heard(bot(run))]).bots[0]!.why;
  const regime = { regime: 'wide', since: 1, why: 'volatile' };
  expect(why({ regime: { ...regime, failure: 'it threw' }, refusal: 'book stale' })).toBe('it threw');
  expect(why({ regime, refusal: 'book stale' })).toBe('book stale');
  expect(why({ regime, refusal: null })).toBe('volatile');
  expect(why({ regime: { ...regime, why: '' }, refusal: null })).toBeNull();
});

test('alerts of a row have the level of what they report', () => {
  const stops = ['halted', 'held', 'paused', 'reduce only', 'flatten'] as const;
  const alerts = (run: Partial<SummaryRun>, change: Partial<BotSummary> = {}) =>
    view([heard(bot(run, change))]).bots[0]!.alerts.map(({ level, text }) => `${level} ${text}`);
  const halts = stops.map(what => ({ what, reason: 'why', at: 1, by: 'ana', until: null }));
  expect(alerts({}, { halts })).toEqual([
    ...['error halted by ana: why', 'error held by ana: why'],
    ...['warn paused by ana: why', 'warn reduce only by ana: why', 'warn flatten by ana: why'],
  ]);
  const regime = { regime: 'paused', since: 1, why: '', failure: 'it threw' };
  expect(alerts({ regime, limit: { limit: 'ordersMax', share: 0.9 } })).toEqual([
    ...['error strategy file failed: it threw', 'error ordersMax: 90% of the limit used'],
  ]);
  expect(alerts({ limit: { limit: 'ordersMax', share: 0.899 } })).toEqual([]);
  const last = { at: 1, who: 'bot', level: 'warn', text: 'late' } as const;
  expect(alerts({ events: { warnings: 3, errors: 0, last } })).toEqual([
    'warn 3 warnings in the last hour; last: late',
  ]);
  expect(alerts({ events: { warnings: 0, errors: 2, last } })).toEqual(['error 2 errors in the last hour; last: late']);
});
