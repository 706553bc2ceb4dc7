/** The hedger step by step: its words, its times to the millisecond, and what it tells the engine in which order. */
import { describe, expect, test } from 'vitest';
import { money, moneyOf, type HedgeRow, type Price } from '../../src/core/index.ts';
import type { HedgeInputs } from '../../src/hedge/index.ts';
import { HedgedBot } from './hedgedBot.ts';
import { offerOf, routeOf, rowOf } from './hedgeRows.ts';

const routes = { via: ['usd'], riskBps: 1, waitMs: 20_000 };
/** Over dollars it earns 25 bps less twice 10. */
function routed(lots = 12, changes: object = {}): HedgedBot {
  const bot = new HedgedBot(lots, { routes, ...changes });
  bot.toy.bonusBps = { 'btc usd': 25n, 'usd btc': 25n };
  return bot;
}
const wordsOf = ({ state, why }: HedgeRow) => [state, why];
/** Looks just before that much time after the acceptance has passed, and then. */
async function around(bot: HedgedBot, ms: number): Promise<[HedgeRow, HedgeRow]> {
  const at = bot.last.acceptedAt!;
  await bot.clock.advance(at + ms - 1 - bot.clock.now());
  bot.readBalances();
  await bot.turned();
  const before = bot.last;
  await bot.clock.advance(1);
  bot.readBalances();
  await bot.turned();
  return [before, bot.last];
}

describe('a hedge by an offer', () => {
  test('is weighed, told, sent and done, with all of it in its row and its words', async () => {
    const bot = new HedgedBot(12);
    await bot.turned();
    const at = bot.clock.now();
    const way = 'rfq';
    const weighed = [
      { way, cost: '12', bps: 10, not: null },
      { way: 'book', cost: '12', bps: 10, not: 'the bot may not take liquidity in its book' },
      { way: 'wait', cost: '0', bps: 0, not: 'inventory is beyond its band' },
    ];
    const offer = offerOf({
      ...{ give: { currency: 'btc', amount: '12' }, get: { currency: 'mxn', amount: '11988' } },
    });
    const row = rowOf({
      ...{ id: 'mm-h1-1', at, state: 'executing', amount: '12', weighed, offer, acceptedAt: at },
      ...{ conversionId: 'c-q1', middle: '1000', inventory: '12', costMax: '12', dayCost: '0' },
    });
    expect(bot.rows).toEqual([row]);
    expect(bot.disk).toEqual([row]);
    await bot.turned();
    expect(bot.rows).toEqual([{ ...row, state: 'completed' }]);
    expect(bot.disk).toEqual(bot.rows);
    expect(bot.phases).toEqual(['in flight mm-h1-1', 'done mm-h1-1']);
    expect(bot.log).toEqual([
      {
        level: 'info',
        fields: { id: 'mm-h1-1', weighed },
        text: `hedge routes for 12 btc: ${way} 10.0 bps (taken), book 10.0 bps (the bot may not take liquidity in its book), wait 0.0 bps (inventory is beyond its band)`,
      },
      { level: 'info', fields: { id: 'mm-h1-1', why: null }, text: 'hedge mm-h1-1: converted 12 btc to 11988 mxn' },
    ]);
    expect(bot.inventory).toBe(0);
    expect(bot.hedger.everyMs).toBe(2_000);
  });

  test('is weighed against the book of when its offers are there, not of when they were asked for', async () => {
    const bot = new HedgedBot(12);
    bot.toy.answerMs = 100;
    bot.turn();
    bot.desk.bids = [[989, 50]];
    bot.desk.asks = [[991, 50]];
    await bot.clock.advance(50);
    bot.look();
    await bot.clock.advance(150);
    // 11,988 are offered for 12 of 990 each.
    expect(bot.last).toMatchObject({ middle: '990', costMax: '0' });
    expect(bot.last.weighed[0]).toMatchObject({ way: 'rfq', cost: '-108', bps: -90.9 });
    // The book is that of the same time: 989 for what is worth 990.
    expect(bot.last.weighed[1]).toMatchObject({ way: 'book', cost: '12', bps: 10.1 });
  });

  test('is asked for here for what is free here alone, beside a route elsewhere for all; without free funds only that is asked', async () => {
    for (const [free, asked, priced] of [
      ['12', ['12'], ['rfq: 12', 'elsewhere: null', 'book: 18', 'wait: 0']],
      // Costs are those of all 12 at the price of 5, which the best bid takes.
      ['5', ['5'], ['rfq: 12', 'elsewhere: null', 'book: 12', 'wait: 0']],
      ['0', [], ['elsewhere: null', 'wait: 0']],
    ] as const) {
      const sides: string[] = [];
      const elsewhere = {
        ...{ valueMin: money(0n), at: { place: 'there', account: 'a' }, desk: { isOpen: false } },
        closedBecause: (side: string) => (sides.push(side), 'closed there'),
      };
      const bot = new HedgedBot(12, { elsewhere: elsewhere as never, rules: { costMaxBps: 1 } });
      bot.change = view => ({
        ...view,
        sides: { ...view.sides, sell: { ...view.sides.sell, free: moneyOf(free) } },
      });
      bot.desk.bids = [
        [999, 6],
        [998, 50],
      ];
      bot.look();
      await bot.turned();
      expect([bot.toy.asked.map(({ give }) => give), bot.last.amount, sides]).toEqual([asked, '12', ['sell']]);
      expect(bot.last.weighed.map(({ way, cost }) => `${way}: ${cost}`)).toEqual(priced);
    }
  });

  test('is looked for here once in each pause, and elsewhere less and less often meanwhile', async () => {
    const [here, there]: [number[], number[]] = [[], []];
    const elsewhere = {
      ...{ valueMin: money(0n), at: { place: 'there', account: 'a' }, desk: { isOpen: false } },
      closedBecause: () => (there.push(now()), 'closed there'),
    };
    const bot = new HedgedBot(12, { elsewhere: elsewhere as never, rules: { costMaxBps: 1 } });
    const start = bot.clock.now();
    const now = () => (bot.clock.now() - start) / 1_000;
    for (let turns = 0; turns <= 11; turns++) {
      const before = bot.toy.asked.length;
      const at = now();
      await bot.turned();
      if (bot.toy.asked.length > before) here.push(at);
      await bot.clock.advance(start + 2_000 * (turns + 1) - bot.clock.now());
    }
    expect([here, there]).toEqual([
      [0, 10, 20],
      [0, 2, 4, 10, 20],
    ]);
  });

  test('is one at a time, and looks while another look is under way change nothing', async () => {
    const bot = new HedgedBot(12);
    bot.toy.answerMs = 1_000;
    bot.turn();
    bot.turn();
    await bot.clock.advance(500);
    bot.turn();
    await bot.clock.advance(10_000);
    expect([bot.toy.asked.length, bot.toy.accepted.length, bot.rows.length]).toEqual([1, 1, 1]);
  });

  test('is followed by the next only after its pause, counted from its beginning', async () => {
    const bot = new HedgedBot(12, { rules: { costMaxBps: 1 } });
    await bot.turned();
    expect(bot.rows).toHaveLength(1);
    expect(wordsOf(bot.last)).toEqual(['failed', 'no way out was taken']);
    await bot.clock.advance(9_999);
    await bot.turned();
    expect(bot.rows).toHaveLength(1);
    await bot.clock.advance(1);
    await bot.turned();
    expect(bot.rows.map(({ id }) => id)).toEqual(['mm-h1-1', 'mm-h1-2']);
  });

  test('is none while the book cannot be used, balances are not compared, trading is stopped, or the band holds it', async () => {
    for (const change of [{ refusal: 'book stale' }, { isReconciled: false }, { inventory: moneyOf('5') }] as const) {
      const bot = new HedgedBot(12);
      bot.change = view => ({ ...view, ...change });
      await bot.turned();
      expect(bot.rows).toEqual([]);
      bot.change = view => view;
      await bot.turned();
      expect(bot.rows).toHaveLength(1);
    }
    const bot = new HedgedBot(12);
    bot.mayAct = false;
    await bot.turned();
    expect(bot.rows).toEqual([]);
  });

  test('is none, and is not asked for again until the pause is over, while nothing is free', async () => {
    const bot = new HedgedBot(12);
    const none = { free: money(0n), priceBound: 0 as Price };
    const sides = { buy: { ...none, room: 0 }, sell: { ...none, room: 100 } };
    bot.change = view => ({ ...view, sides });
    await bot.turned();
    const text = 'hedge: the amount to hedge is locked or reserved by orders of the bot';
    expect(bot.log).toEqual([{ level: 'info', fields: {}, text }]);
    await bot.turned();
    expect([bot.log.length, bot.rows.length]).toEqual([1, 0]);
  });

  test.each([
    ['the book cannot be used: book stale', 2, { refusal: 'book stale' }],
    ["the bot's orders now use too much of the position limit for this hedge", 3, { sides: { sell: { room: 11 } } }],
  ] as const)('fails when at its later looks %s', async (why, look, change) => {
    const bot = new HedgedBot(12);
    let looks = 0;
    bot.onView = () => looks++;
    bot.change = view => (looks === look ? ({ ...view, ...change } as unknown as HedgeInputs) : view);
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['failed', why]);
    expect([bot.toy.accepted, bot.phases]).toEqual([[], []]);
  });

  test.each(['rfq', 'book'] as const)(
    'by %s fails if fills during the requests leave less to hedge, also on the other side',
    async way => {
      for (const [left, isHedged] of [
        ['12', true],
        ['11.9', false],
        ['3', false],
        ['-12', false],
      ] as const) {
        const bot = new HedgedBot(12, { venues: [way] });
        let looks = 0;
        bot.onView = () => looks++;
        bot.change = view => (looks === 3 ? { ...view, inventory: moneyOf(left) } : view);
        await bot.turned();
        expect([left, bot.last.offer !== null]).toEqual([left, isHedged]);
        if (isHedged) continue;
        const why = 'inventory changed while offers were requested, so the hedge would now be too large';
        expect(wordsOf(bot.last)).toEqual(['failed', why]);
        expect([bot.toy.accepted, bot.phases]).toEqual([[], []]);
      }
    },
  );

  test('is accepted when its room is just large enough, of either side', async () => {
    for (const [lots, side] of [
      [12, 'sell'],
      [-12, 'buy'],
    ] as const)
      for (const room of [12, 11]) {
        const bot = new HedgedBot(lots);
        let looks = 0;
        bot.onView = () => looks++;
        const sides = { buy: { room: 0 }, sell: { room: 0 }, [side]: { room } };
        bot.change = view => (looks === 3 ? ({ ...view, sides } as unknown as HedgeInputs) : view);
        await bot.turned();
        expect(bot.toy.accepted).toHaveLength(room === 12 ? 1 : 0);
      }
  });

  test('is accepted only while enough of its life is left', async () => {
    // The pairs and the offer take as long each; ten seconds of life, four of them for the acceptance.
    for (const [answerMs, isAccepted] of [
      [3_000, true],
      [3_001, false],
    ] as const) {
      const bot = new HedgedBot(12);
      Object.assign(bot.toy, { answerMs, lifeMs: 10_000 });
      bot.turn();
      for (let n = 0; n < 10; n++) {
        await bot.clock.advance(1_000);
        bot.look();
      }
      expect(bot.toy.accepted).toHaveLength(isAccepted ? 1 : 0);
      if (!isAccepted) expect(bot.last.why).toBe('the offer would expire before its acceptance reaches the exchange');
    }
  });

  test.each(['disk', 'halt'])(
    'is not sent without a row on disk, or when trading stopped meanwhile: %s',
    async what => {
      const bot = new HedgedBot(12);
      bot.accepts = what !== 'disk';
      let asked = 0;
      Object.defineProperty(bot, 'mayAct', { get: () => what === 'disk' || asked++ === 0 });
      await bot.turned();
      expect(bot.toy.accepted).toEqual([]);
      const why = 'the hedge could not be written to disk, or trading was stopped';
      expect(wordsOf(bot.last)).toEqual(['failed', why]);
      expect(bot.phases).toEqual(['in flight mm-h1-1', 'failed mm-h1-1']);
      expect(bot.texts).toContain(`hedge mm-h1-1 was not executed: ${why}`);
    },
  );

  test('that is refused fails in its words; one that the desk could not carry out too', async () => {
    const bot = new HedgedBot(12);
    bot.toy.fateOfAccept = () => 'refused';
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['failed', 'refused: 0380 gone']);
    expect(bot.phases).toEqual(['in flight mm-h1-1', 'failed mm-h1-1']);
    const other = new HedgedBot(12);
    other.toy.fateOfAccept = () => 'pending, then failed';
    await other.passes(6_000);
    expect(wordsOf(other.last)).toEqual(['executing', null]);
    await other.passes(3_000);
    expect(wordsOf(other.last)).toEqual(['failed', 'the exchange could not execute the conversion']);
    expect(other.phases).toEqual(['in flight mm-h1-1', 'failed mm-h1-1']);
  });
});

describe('a hedge with an unknown outcome', () => {
  test.each([
    [30_000, 33_000],
    [8_000, 14_000],
  ])('whose offer lived %i ms has failed %i ms after its acceptance, if no list has it', async (lifeMs, due) => {
    const bot = new HedgedBot(12);
    Object.assign(bot.toy, { lifeMs, fateOfAccept: () => 'lost' });
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['unknown', 'no answer']);
    expect(bot.disk).toEqual(bot.rows);
    expect(bot.log.at(-1)).toEqual({
      level: 'warn',
      fields: { id: 'mm-h1-1' },
      text: 'hedge mm-h1-1: outcome unknown; until the outcome is known, the limits count the hedge both as executed and as not executed',
    });
    const [before, after] = await around(bot, due);
    expect(before.state).toBe('unknown');
    expect(wordsOf(after)).toEqual([
      'failed',
      'the exchange lists no conversion for this hedge, and the offer has expired',
    ]);
  });

  test('is not given up while nobody answers, and found by its quote', async () => {
    const bot = new HedgedBot(12);
    bot.toy.fateOfAccept = () => 'executed before';
    bot.toy.canLook = false;
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['executing', '0381']);
    await bot.passes(60_000, 5_000);
    expect(bot.last.state).toBe('executing');
    bot.toy.canLook = true;
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['completed', null]);
    expect(bot.inventory).toBe(0);
  });

  test('found pending is followed by its own id when it is an rfq conversion', async () => {
    for (const way of ['rfq', 'conversion'] as const) {
      const bot = new HedgedBot(12, { venues: [way] });
      const { toy } = bot;
      toy.fateOfAccept = () => 'pending';
      const accept = toy.accept.bind(toy);
      toy.accept = async of => {
        await accept(of);
        return { kind: 'unknown', reason: 'no answer' };
      };
      await bot.turned();
      await bot.turned();
      expect([bot.last.state, bot.last.conversionId]).toEqual(['executing', way === 'rfq' ? 'c-q1' : null]);
      await bot.turned();
      expect(toy.calls.at(-1)).toBe(way === 'rfq' ? 'state' : 'find');
      await bot.passes(12_000);
      expect(bot.last.state).toBe('completed');
    }
  });

  test.each(['executed before', 'pending'] as const)(
    'that the exchange has once shown (%s) is not given up for a list that omits it, also after a restart',
    async fate => {
      for (const way of ['rfq', 'conversion'] as const) {
        const bot = new HedgedBot(12, { venues: [way] });
        const { toy } = bot;
        Object.assign(toy, { fateOfAccept: () => fate, pendingMs: 250_000 });
        const accept = toy.accept.bind(toy);
        toy.accept = async of => {
          const told = await accept(of);
          return told.kind === 'refused' ? told : { kind: 'unknown', reason: 'no answer' };
        };
        await bot.turned();
        if (fate === 'pending') await bot.turned();
        toy.omitsShown = true;
        // Balances show that the conversion was executed.
        const isTold = fate === 'executed before' && way === 'conversion';
        for (const step of ['goes on', 'restarts']) {
          if (step === 'restarts') bot.restart();
          await bot.passes(120_000, 5_000);
          expect([way, step, bot.last.state, toy.accepted.length]).toEqual([
            ...[way, step, isTold ? 'completed' : 'executing', 1],
          ]);
        }
        toy.omitsShown = false;
        await bot.passes(20_000, 5_000);
        expect([bot.last.state, toy.accepted.length]).toEqual(['completed', 1]);
      }
    },
  );

  test('is booked at the sums that the exchange tells, not at those of its offer', async () => {
    const bot = new HedgedBot(12);
    bot.toy.fateOfAccept = () => 'untold';
    await bot.turned();
    bot.toy.executed[0]!.get = { currency: 'mxn', amount: '11990' };
    await bot.turned();
    expect(bot.texts).toContain('converted 12 btc to 11990 mxn');
    expect(bot.desk.engine.account.total('mxn')).toBe(bot.total('mxn'));
  });
});

test.each([true, false])(
  'an acceptance that waits in its client is sent only if the bot may still act: %s',
  async mayAct => {
    const bot = new HedgedBot(12);
    bot.toy.beforeAccept = async () => {
      bot.mayAct = mayAct;
    };
    await bot.turned();
    expect(bot.toy.accepted.length).toBe(mayAct ? 1 : 0);
    expect(bot.last.state).toBe(mayAct ? 'executing' : 'failed');
  },
);

describe('a conversion that nobody can look up', () => {
  const unknown = async (fate: 'untold' | 'lost', canLook: boolean) => {
    const bot = new HedgedBot(12, { venues: ['conversion'] });
    bot.toy.fateOfAccept = () => fate;
    bot.toy.canLook = canLook;
    await bot.turned();
    bot.mayAct = false;
    return bot;
  };
  test.each([
    ['untold', false, 'completed', 'the account balances show that the conversion was executed'],
    ['lost', false, 'failed', 'the account balances show that the conversion was not executed'],
    ['lost', true, 'failed', 'the exchange lists no executed conversion for the accepted quote'],
  ] as const)(
    'and was %s (asked in vain: %s) has %s once the balances have shown so for as long as a trade may be late',
    async (fate, canLook, state, why) => {
      const bot = await unknown(fate, canLook);
      // 30,000 of life and 3,000 for a late record, then 3,000 of reads that say the same.
      const [early, due] = await around(bot, 33_000);
      expect([early.state, due.state]).toEqual(['unknown', 'unknown']);
      const [before, after] = await around(bot, 36_000);
      expect(before.state).toBe('unknown');
      expect(wordsOf(after)).toEqual([state, why]);
      expect(bot.inventory).toBe(state === 'completed' ? 0 : 12);
      const end = bot.told.findLast(event => event.kind === 'conversion');
      expect(end?.kind === 'conversion' && end.conversion.why).toBe(state === 'completed' ? why : undefined);
    },
  );

  test('is judged by when its balances were read, not by when it is looked at', async () => {
    const bot = await unknown('untold', false);
    await around(bot, 33_000);
    const read = bot.balancesAt;
    await bot.clock.advance(20_000);
    await bot.turned();
    expect([bot.last.state, bot.balancesAt]).toEqual(['unknown', read]);
    // Reads that began too early say nothing, however late they are looked at and however far apart they are.
    const other = await unknown('untold', false);
    await other.clock.advance(45_000);
    for (const early of [25_000, 32_999]) {
      other.readBalances();
      other.balancesAt = other.last.acceptedAt! + early;
      await other.turned();
      expect(other.last.state).toBe('unknown');
    }
  });

  test('starts to count anew when the balances say otherwise', async () => {
    const bot = await unknown('lost', false);
    await around(bot, 34_000);
    // For one read somebody moves the same sums.
    Object.assign(bot.others, { btc: -12n * 10n ** 18n, mxn: 11_988n * 10n ** 18n });
    await around(bot, 35_000);
    Object.assign(bot.others, { btc: 0n, mxn: 0n });
    const [, still] = await around(bot, 37_000);
    expect(still.state).toBe('unknown');
    await around(bot, 40_000);
    expect(bot.last.state).toBe('failed');
  });

  test('stays unknown while the balances contradict each other, unless the exchange knows of none', async () => {
    const bot = await unknown('lost', false);
    Object.assign(bot.others, { btc: 3n, mxn: 5n });
    await bot.passes(60_000, 4_000);
    expect(bot.last.state).toBe('unknown');
    bot.toy.canLook = true;
    await bot.passes(8_000, 1_000);
    expect(wordsOf(bot.last)).toEqual(['failed', 'the exchange lists no executed conversion for the accepted quote']);
  });
});

describe('a person who says what became of a hedge', () => {
  const why = 'settled as executed by ana: seen';
  const unknown = async (fate: 'untold' | 'lost' = 'untold') => {
    const bot = new HedgedBot(12, { venues: ['conversion'] });
    bot.toy.fateOfAccept = () => fate;
    bot.toy.canLook = false;
    await bot.turned();
    return bot;
  };

  test('is heard once the request can be on its way no more, and then once', async () => {
    const bot = await unknown();
    Object.assign(bot.others, { btc: 1n, mxn: 1n });
    expect(bot.hedger.settleAs('mm-h1-1', 'executed', why)).toBe('busy');
    const [before, after] = await around(bot, 33_000);
    expect(before.state).toBe('unknown');
    expect(wordsOf(after)).toEqual(['completed', why]);
    expect(bot.log).toContainEqual({
      level: 'warn',
      fields: { id: 'mm-h1-1', as: 'executed', why },
      text: `hedge mm-h1-1: ${why}`,
    });
    expect(bot.hedger.settleAs('mm-h1-1', 'executed', why)).toBe('settled');
    expect(bot.hedger.settleAs('mm-h1-1', 'executed', 'again')).toBe('not open');
    expect(bot.phases).toEqual(['in flight mm-h1-1', 'done mm-h1-1']);
  });

  test('is heard at once when that time has passed, and not during a look', async () => {
    const bot = await unknown('lost');
    Object.assign(bot.others, { btc: 1n, mxn: 1n });
    await bot.clock.advance(33_000);
    bot.toy.answerMs = 100;
    bot.turn();
    expect(bot.hedger.settleAs('mm-h1-1', 'failed', 'it never was')).toBe('busy');
    expect(bot.last.state).toBe('unknown');
    await bot.clock.advance(100);
    expect(wordsOf(bot.last)).toEqual(['failed', 'it never was']);
    const other = await unknown('lost');
    await other.clock.advance(33_000);
    expect(other.hedger.settleAs('mm-h1-1', 'failed', 'it never was')).toBe('settled');
    expect(other.phases).toEqual(['in flight mm-h1-1', 'failed mm-h1-1']);
  });

  test('is not asked about another hedge, one that can be looked up, or one by an order', async () => {
    const bot = await unknown();
    expect(bot.hedger.settleAs('mm-h1-2', 'executed', why)).toBe('not open');
    const executing = new HedgedBot(12);
    executing.toy.fateOfAccept = () => 'pending';
    await executing.turned();
    expect(executing.hedger.settleAs('mm-h1-1', 'executed', why)).toBe('not open');
    const taken = new HedgedBot(12, { venues: ['book'] });
    taken.desk.fateOfPlace = () => 'lost';
    await taken.turned();
    expect(taken.hedger.settleAs('mm-h1-1', 'executed', why)).toBe('not open');
    const between = routed();
    between.toy.fateOfAccept = () => 'told';
    await between.turned();
    await between.turned();
    expect(between.last.state).toBe('between');
    expect(between.hedger.settleAs('mm-h1-1', 'executed', why)).toBe('not open');
  });

  test('is not heard any more when the exchange has been found to work on it meanwhile', async () => {
    const bot = new HedgedBot(12);
    bot.toy.fateOfAccept = () => 'untold';
    bot.toy.canLook = false;
    await bot.turned();
    expect(bot.hedger.settleAs('mm-h1-1', 'failed', 'it never was')).toBe('busy');
    bot.toy.executed[0]!.status = 'pending';
    bot.toy.canLook = true;
    await bot.turned();
    expect(bot.last).toMatchObject({ state: 'executing', conversionId: 'c-q1' });
    const [, due] = await around(bot, 33_000);
    expect(due.state).toBe('executing');
    bot.toy.executed[0]!.status = 'completed';
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['completed', null]);
    expect(bot.phases).toEqual(['in flight mm-h1-1', 'done mm-h1-1']);
  });

  test('is not heard any more when the look of that moment found it', async () => {
    const bot = await unknown();
    bot.toy.canLook = true;
    bot.toy.answerMs = 100;
    bot.turn();
    expect(bot.hedger.settleAs('mm-h1-1', 'failed', 'it never was')).toBe('busy');
    await bot.clock.advance(100);
    expect(wordsOf(bot.last)).toEqual(['completed', null]);
    expect(bot.hedger.settleAs('mm-h1-1', 'failed', 'it never was')).toBe('not open');
  });
});

describe('a route over a third currency', () => {
  test('is told leg by leg, keeps what it holds in its row, and ends with its second leg', async () => {
    const bot = routed();
    await bot.turned();
    expect(bot.last).toMatchObject({
      state: 'executing',
      route: { via: 'usd', leg: 1, holds: '600.9', until: null },
      // The limit of 30 bps on 12,000, in its worst case.
      costMax: '36',
    });
    expect(bot.last.route).toMatchObject({ worth: '12005.982', least: '11964' });
    await bot.turned();
    const until = bot.clock.now() + 20_000;
    expect(bot.last).toMatchObject({ state: 'between', why: null, route: { leg: 1, holds: '600.9', until } });
    expect(bot.log.at(-1)).toEqual({
      level: 'info',
      fields: { id: 'mm-h1-1' },
      text: 'hedge mm-h1-1: the first leg converted 12 btc to 600.9 usd',
    });
    expect(bot.disk).toEqual(bot.rows);
    // The pause is not waited for.
    await bot.turned();
    expect(bot.last).toMatchObject({ state: 'executing', offer: { id: 'q4' }, route: { leg: 2, until } });
    await bot.turned();
    expect(bot.last.state).toBe('completed');
    expect(bot.phases).toEqual([
      'in flight mm-h1-1',
      'planned mm-h1-1~2',
      'done mm-h1-1',
      'in flight mm-h1-1~2',
      'done mm-h1-1~2',
    ]);
    expect(bot.desk.engine.account.total('usd')).toBe(0n);
  });

  test('sells in its second leg what its first one really brought', async () => {
    const bot = routed();
    await bot.turned();
    bot.toy.executed[0]!.get = { currency: 'usd', amount: '601.25' };
    await bot.turned();
    expect(bot.last).toMatchObject({ state: 'between', route: { holds: '601.25' } });
    await bot.turned();
    await bot.turned();
    expect(bot.toy.asked.at(-1)).toMatchObject({ from: 'usd', give: '601.25' });
    expect(bot.last.state).toBe('completed');
  });

  test('has failed, with its planned leg, when its first leg has', async () => {
    const bot = routed();
    bot.toy.fateOfAccept = () => 'refused';
    await bot.turned();
    expect(bot.last.state).toBe('failed');
    expect(bot.phases).toEqual(['in flight mm-h1-1', 'planned mm-h1-1~2', 'failed mm-h1-1', 'failed mm-h1-1~2']);
  });

  test('asks for its second leg again after five seconds, says why once, and is stranded when its time is over', async () => {
    const bot = routed();
    await bot.turned();
    await bot.turned();
    const { until } = bot.last.route!;
    // A second leg that brings less than its least.
    bot.toy.spreadBps = 90n;
    await bot.turned();
    const why = 'second leg: the offer returns less than 11964 mxn';
    expect(wordsOf(bot.last)).toEqual(['between', why]);
    const asked = bot.toy.asked.length;
    await bot.clock.advance(4_999);
    await bot.turned();
    expect(bot.toy.asked).toHaveLength(asked);
    await bot.clock.advance(1);
    await bot.turned();
    expect(bot.toy.asked).toHaveLength(asked + 1);
    expect(bot.log.filter(({ text }) => text === `hedge mm-h1-1 waits after its first leg: ${why}`)).toHaveLength(1);
    expect(bot.told.filter(event => event.kind === 'hedge' && event.row.why === why)).toHaveLength(1);
    await bot.clock.advance(until! - 1 - bot.clock.now());
    await bot.turned();
    expect(bot.last.state).toBe('between');
    await bot.clock.advance(1);
    bot.mayAct = false;
    await bot.turned();
    expect(bot.last.state).toBe('between');
    bot.mayAct = true;
    await bot.clock.advance(5_000);
    await bot.turned();
    const lies = '600.9 usd, valued at 12005.982 mxn';
    expect(wordsOf(bot.last)).toEqual([
      'stranded',
      `no second leg within the limits was available in time, so ${lies}, remain after the first leg`,
    ]);
    expect(bot.log.at(-1)).toEqual({
      level: 'warn',
      fields: { id: 'mm-h1-1' },
      text: `hedge mm-h1-1 stopped after its first leg: ${lies}, remain; convert this amount manually`,
    });
    expect(bot.phases.at(-1)).toBe('failed mm-h1-1~2');
    expect(bot.disk).toEqual(bot.rows);
  });

  test('whose second leg is just good enough takes it, and waits when its offer fails or would expire', async () => {
    const bot = routed();
    await bot.turned();
    await bot.turned();
    bot.toy.fateOfOffer = () => 'refused';
    await bot.turned();
    expect(bot.last.why).toBe('second leg: 0379: not now');
    bot.toy.fateOfOffer = () => 'told';
    Object.assign(bot.toy, { answerMs: 26_001, lifeMs: 30_000 });
    (bot.setup.routes as { waitMs: number }).waitMs = 20_000;
    await bot.clock.advance(5_000);
    bot.turn();
    await bot.clock.advance(26_001);
    expect(bot.last.why).toBe('second leg: the offer would expire before its acceptance reaches the exchange');
    const good = routed();
    await good.turned();
    await good.turned();
    Object.assign(good.toy, { answerMs: 26_000, lifeMs: 30_000 });
    // 600.9 usd at 20: of 12,018 it must keep 54 at most.
    const offer = good.toy.offer.bind(good.toy);
    good.toy.offer = async (way, ask) => {
      const answer = await offer(way, ask);
      if (answer.kind === 'done') Object.assign(answer.value, { get: { currency: 'mxn', amount: '11964' } });
      return answer;
    };
    good.turn();
    await good.clock.advance(26_000);
    expect(good.toy.accepted).toHaveLength(2);
  });

  test('whose second leg is not carried out waits between its legs again, and is planned again', async () => {
    const bot = routed();
    await bot.turned();
    await bot.turned();
    bot.toy.fateOfAccept = () => 'refused';
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['between', 'second leg: refused: 0380 gone']);
    expect(bot.phases.slice(-2)).toEqual(['in flight mm-h1-1~2', 'planned mm-h1-1~2']);
    expect(bot.log.at(-1)).toEqual({
      level: 'warn',
      fields: { id: 'mm-h1-1', why: 'refused: 0380 gone' },
      text: 'hedge mm-h1-1: the second leg was not executed: refused: 0380 gone',
    });
    expect(bot.disk).toEqual(bot.rows);
    bot.toy.fateOfAccept = () => 'told';
    await bot.clock.advance(5_000);
    await bot.turned();
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['completed', null]);
    expect(bot.phases.slice(-2)).toEqual(['in flight mm-h1-1~2', 'done mm-h1-1~2']);
    expect(bot.desk.engine.account.total('usd')).toBe(0n);
  });
});

describe('a start', () => {
  const sold = offerOf();
  const between = rowOf({ state: 'between', offer: sold, route: routeOf() });
  test.each([
    [rowOf({ state: 'accepted', offer: sold }), ['in flight h1']],
    [rowOf({ state: 'unknown', offer: sold, route: routeOf() }), ['planned h1~2', 'in flight h1']],
    [rowOf({ state: 'executing', offer: sold, route: routeOf({ leg: 2 }) }), ['in flight h1~2']],
    [between, ['planned h1~2']],
    [rowOf({ state: 'accepted', offer: offerOf({ way: 'book' }) }), []],
    [rowOf({ state: 'quoted' }), []],
    [rowOf({ state: 'completed', offer: sold, route: routeOf() }), []],
  ])('%# tells again what may still be carried out, and what is planned', (row, phases) => {
    const bot = new HedgedBot(0);
    bot.disk = [row];
    bot.restart();
    expect(bot.phases).toEqual(phases);
  });

  test('gives a route its time anew: that of the configuration, or ten minutes where it has no routes any more', () => {
    for (const [changes, ms] of [
      [{ routes }, 20_000],
      [{}, 600_000],
    ] as const) {
      const bot = new HedgedBot(0, changes);
      bot.disk = [between];
      bot.restart();
      expect(bot.last.route?.until).toBe(bot.clock.now() + ms);
    }
  });

  test('strands a hedge between legs that has no route, by name', async () => {
    const bot = new HedgedBot(0);
    bot.disk = [rowOf({ state: 'between' })];
    expect(() => bot.restart()).not.toThrow();
    expect(wordsOf(bot.last)).toEqual(['failed', 'the run ended']);
  });

  test('after an order that took the book has it as its ledger has it', async () => {
    const bot = new HedgedBot(12);
    bot.disk = [rowOf({ state: 'accepted', offer: offerOf({ way: 'book', id: 'mm-1-40000001' }), costMax: '12' })];
    bot.restart();
    await bot.turned();
    expect(wordsOf(bot.rows[0]!)).toEqual([
      'completed',
      'the bot restarted before the end of the order was recorded; the ledger has the trades of the order, if any',
    ]);
    expect(bot.rows[0]!.costMax).toBe('12');
    expect(bot.texts).toMatch(/hedge h1: filled in the bot's book by order mm-1-40000001 \(the bot restarted before/);
  });
});

describe('a hedge by an order', () => {
  test('is on disk before the engine is asked for it, and ends with it', async () => {
    const bot = new HedgedBot(12, { venues: ['book'] });
    const onDisk: unknown[] = [];
    bot.desk.fateOfPlace = ({ id }) => {
      onDisk.push(bot.disk.map(({ state, offer }) => [state, offer?.id]));
      expect(id).toBe('mm-1-40000001');
      return 'done';
    };
    await bot.turned();
    const at = bot.clock.now();
    const offer = {
      ...{ way: 'book', id: 'mm-1-40000001', lifeMs: 15_000 },
      ...{ give: { currency: 'btc', amount: '12' }, get: { currency: 'mxn', amount: '11988' } },
    };
    expect(bot.told.filter(({ kind }) => kind === 'take')).toEqual([
      { kind: 'take', at, id: 'mm-1-40000001', side: 'sell', price: 999, amount: 12, until: at + 15_000 },
    ]);
    expect(onDisk).toEqual([[['accepted', 'mm-1-40000001']]]);
    expect(bot.last).toMatchObject({ state: 'accepted', offer, acceptedAt: at, costMax: '12' });
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['completed', null]);
    expect(bot.disk).toEqual(bot.rows);
    expect(bot.log.at(-1)?.text).toBe("hedge mm-h1-1: filled in the bot's book by order mm-1-40000001");
    expect([bot.inventory, bot.phases]).toEqual([0, []]);
  });

  test('in part costs its part, and the next order has an id of its own and is waited for', async () => {
    const bot = new HedgedBot(12, { venues: ['book'], away: [30] });
    bot.desk.bids = [[999, 12]];
    bot.desk.fateOfPlace = ({ takes }) => {
      // Others were faster: a third is left.
      if (takes) bot.desk.bids = [[999, 4]];
      return 'done';
    };
    await bot.turned();
    await bot.turned();
    expect(bot.last).toMatchObject({
      ...{ state: 'completed', costMax: '4' },
      why: 'partly filled; nothing more was available at the price of the order',
    });
    expect(bot.inventory).toBe(8);
    // A quote of ours is in its way, and its cancellation is lost.
    bot.desk.plant('x', 'buy', 970, 1);
    await bot.clock.advance(10_000);
    bot.desk.bids = [[999, 12]];
    bot.desk.fateOfPlace = () => 'lost';
    await bot.turned();
    expect(bot.last).toMatchObject({ state: 'accepted', offer: { id: 'mm-1-40000002' } });
    await bot.turned();
    expect(bot.last.state).toBe('unknown');
  });

  test('waits until a quote of ours in its way is gone, and is over only after that', async () => {
    const bot = new HedgedBot(12, { venues: ['book'], away: [5], rules: { costMaxBps: 200 } });
    bot.desk.bids = [[990, 50]];
    bot.desk.asks = [[1_010, 50]];
    await bot.clock.advance(1_000);
    bot.look();
    expect(bot.desk.prices('buy')).toEqual([995]);
    bot.desk.fateOfCancel = () => 'lost';
    for (let looks = 0; looks < 3; looks++) {
      await bot.turned();
      expect(wordsOf(bot.last)).toEqual(['accepted', null]);
      await bot.clock.advance(1_000);
    }
    expect(bot.inventory).toBe(12);
    bot.desk.fateOfCancel = () => 'done';
    await bot.passes(6_000);
    expect(wordsOf(bot.last)).toEqual(['completed', null]);
    expect(bot.inventory).toBe(0);
  });

  test('that is never sent has failed', async () => {
    const bot = new HedgedBot(12, { venues: ['book'] });
    bot.change = view => ({ ...view, limits: { ...view.limits!, collarBps: 5_000 } });
    bot.desk.step({ kind: 'pause', at: bot.desk.now, reason: 'lunch' } as never);
    bot.change = view => ({ ...view, refusal: null });
    await bot.turned();
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['failed', 'the order was not sent: paused by a person']);
    expect(bot.log.at(-1)?.text).toBe('hedge mm-h1-1 was not executed: the order was not sent: paused by a person');
  });

  test.each(['disk', 'halt'])(
    'is not asked for without a row on disk, or when trading stopped meanwhile: %s',
    async what => {
      const bot = new HedgedBot(12, { venues: ['book'] });
      bot.accepts = what !== 'disk';
      let asked = 0;
      Object.defineProperty(bot, 'mayAct', { get: () => what === 'disk' || asked++ === 0 });
      await bot.turned();
      expect(bot.told.filter(({ kind }) => kind === 'take')).toEqual([]);
      expect(wordsOf(bot.last)).toEqual(['failed', 'the hedge could not be written to disk, or trading was stopped']);
    },
  );

  test('is none where no order may be sent', async () => {
    const bot = new HedgedBot(12, { venues: ['book'], noOrders: true });
    await bot.turned();
    expect(wordsOf(bot.last)).toEqual(['failed', 'no way out was taken']);
  });
});

describe('a request to close everything', () => {
  test('goes past the band at once, within its own bound, and ends at the target', async () => {
    const bot = new HedgedBot(4);
    await bot.turned();
    expect(bot.rows).toEqual([]);
    bot.flatten = { id: 'f1', costMax: moneyOf('3.9') };
    await bot.turned();
    expect(bot.last).toMatchObject({ state: 'failed', flatten: { id: 'f1', cost: '0' } });
    expect(bot.last.weighed[0]).toMatchObject({ not: 'exceeds the remaining hedge budget (flatten)' });
    // Another request is looked at without a pause.
    bot.flatten = { id: 'f2', costMax: moneyOf('4') };
    await bot.turned();
    expect(bot.last).toMatchObject({ state: 'executing', costMax: '4', flatten: { id: 'f2', cost: '0' } });
    await bot.turned();
    expect([bot.last.state, bot.inventory]).toEqual(['completed', 0]);
    await bot.clock.advance(10_000);
    await bot.turned();
    expect(bot.ended).toEqual(['inventory is at its target']);
    expect(bot.rows).toHaveLength(2);
  });

  test('that is taken back or replaced while offers are asked for carries nothing out', async () => {
    for (const next of [null, { id: 'f2', costMax: moneyOf('9') }]) {
      const bot = new HedgedBot(4);
      bot.flatten = { id: 'f1', costMax: moneyOf('9') };
      bot.toy.answerMs = 100;
      bot.turn();
      bot.flatten = next;
      await bot.clock.advance(1_000);
      expect(wordsOf(bot.last)).toEqual(['failed', 'the flatten request ended before the hedge was sent']);
      expect(bot.toy.accepted).toEqual([]);
    }
  });

  test('bounds the whole of a route by what is left of it', async () => {
    const bot = routed(4);
    bot.flatten = { id: 'f1', costMax: moneyOf('5') };
    await bot.turned();
    expect(bot.last).toMatchObject({ costMax: '5', route: { least: '3995' } });
    const short = routed(-4);
    short.flatten = { id: 'f1', costMax: moneyOf('5') };
    await short.turned();
    expect(short.last).toMatchObject({ costMax: '5', route: { leg: 1 } });
  });
});

describe('a band that follows from risk and flow', () => {
  const bandModel = {
    ...{ order: moneyOf('1'), ordersMax: 100, risk: 10, volatilityBps: 57, fillsPerMinute: 1, decayPerBps: 0.19 },
  };
  test('leaves its own rest, is wider after fills of quotes, and not after fills of orders that take', async () => {
    const amountOf = async (fills: readonly boolean[]) => {
      const bot = new HedgedBot(60, { bandModel, rules: { band: moneyOf('1000') } });
      for (const maker of fills)
        for (let n = 0; n < 400; n++)
          bot.hedger.onNews({ kind: 'fill', fill: { maker, major: moneyOf('1') } } as never);
      await bot.turned();
      return bot.rows[0] === undefined ? null : Number(bot.rows[0].amount);
    };
    const usual = await amountOf([]);
    expect(usual).toBeGreaterThan(0);
    expect(usual).toBeLessThan(60);
    expect(await amountOf([false])).toBe(usual);
    expect((await amountOf([true])) ?? 0).toBeLessThan(usual!);
  });

  test('is not used by a request to close everything', async () => {
    const bot = new HedgedBot(60, { bandModel });
    bot.flatten = { id: 'f1', costMax: moneyOf('900') };
    await bot.turned();
    expect(bot.last).toMatchObject({ amount: '60', state: 'executing' });
  });
});

describe('a hedge under way', () => {
  test('is asked for when something is told of it, at most once a second, and nothing is when none is', async () => {
    const bot = new HedgedBot(12);
    bot.toy.fateOfAccept = () => 'pending';
    await bot.hedger.pollSoon();
    expect(bot.rows).toEqual([]);
    await bot.turned();
    const looks = () => bot.toy.calls.filter(call => call === 'state').length;
    await bot.hedger.pollSoon();
    await bot.hedger.pollSoon();
    expect(looks()).toBe(1);
    await bot.clock.advance(999);
    await bot.hedger.pollSoon();
    expect(looks()).toBe(1);
    await bot.clock.advance(1);
    await bot.hedger.pollSoon();
    expect(looks()).toBe(2);
  });

  test('is settled before an end: balances are read, then it is asked for, each second until it is over or time is', async () => {
    for (const [deadline, state] of [
      [60_000, 'completed'],
      [3_000, 'executing'],
    ] as const) {
      const bot = new HedgedBot(12);
      bot.toy.fateOfAccept = () => 'pending';
      await bot.turned();
      bot.mayAct = false;
      const order: string[] = [];
      const asked = bot.toy.state.bind(bot.toy);
      bot.toy.state = (...of) => {
        order.push('asked');
        return asked(...of);
      };
      let isDone = false;
      const end = bot.clock.elapsed() + deadline;
      const read = () => Promise.resolve(order.push('read'));
      void bot.hedger.settle(end, read).then(() => (isDone = true));
      await bot.clock.advance(9_000);
      expect([isDone, bot.last.state]).toEqual([true, state]);
      expect(order).toEqual(Array.from({ length: state === 'completed' ? 8 : 3 }, () => ['read', 'asked']).flat());
    }
  });
});
