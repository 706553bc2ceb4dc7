/** Tests of two bots with one account on the embedded exchange: neither trades with a known order of the other. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  Engine,
  randomOf,
  Secret,
  type Amount,
  type EngineEvent,
  type EngineNews,
  type Exchange,
  type Instrument,
  type Price,
  type Side,
  type View,
} from '../../../src/core/index.ts';
import { exchangeClient } from '../../../src/exchange/bitso/client.ts';
import { Reads } from '../../../src/live/account/reads.ts';
import { isFailed, type Failed } from '../../../src/live/failedRequest.ts';
import { readRules } from '../../../src/live/loop/opening.ts';
import { send } from '../../../src/live/loop/sends.ts';
import { PATIENCE } from '../../core/toyExchange.ts';
import { runsOf } from '../../many.ts';
import { arena, type Trader } from '../../sandbox/trader.ts';

const BOOK = 'btc_mxn';
const TICK = 10;
const MID = 1_500_000;
/** Amount of one quote, in lots of 10^-8. */
const LOTS = 1_000_000;
const REFUSAL = 'would cross another order of the account';

type Arena = ReturnType<typeof arena>;

class AccountBot {
  /** Distance of its quotes from the mid price, in ticks. */
  away = 3;
  readonly refused: string[] = [];
  readonly #arena: Arena;
  readonly #client: Exchange;
  readonly #reads: Reads;
  readonly #instance: string;
  readonly #engine: Engine;
  readonly #instrument: Instrument;
  #taken = 0;
  /** Whether a requested taker order was neither sent nor refused yet. */
  #isTaking = false;

  private constructor(of: Arena, client: Exchange, instance: string, instrument: Instrument) {
    this.#arena = of;
    this.#client = client;
    this.#instance = instance;
    this.#instrument = instrument;
    this.#reads = new Reads(client, BOOK, undefined, () => this.#at);
    this.#engine = Engine.ofOneBook({
      instrument,
      strategy: { quote: view => this.#quote(view) },
      limits: {
        positionMax: 1_000_000_000,
        orderValueMax: 10n ** 18n,
        ordersMax: 20,
        collarBps: 1_000,
        staleAfterMs: 3_000,
      } as never,
      tolerance: { priceBps: 0, amountShare: 0.5, maxAgeMs: 3_600_000 },
      instance,
      run: 1,
      target: null,
      timing: PATIENCE,
      onNews: news => this.#hear(news),
    });
  }

  static async open(of: Arena, account: Trader, instance: string): Promise<AccountBot> {
    const client = exchangeClient({
      clock: of.clock,
      random: randomOf(1),
      transport: {
        send: request => Promise.resolve(of.exchange.respond(request, '127.0.0.1')),
        close: () => Promise.resolve(),
      },
      credentials: credentialsOf(of, account),
      budgets: { public: 1e6, private: 1e6 },
    });
    const rules = await readRules(client, BOOK);
    const bot = new AccountBot(of, client, instance, rules.instrument);
    await bot.#step({ kind: 'rules', at: bot.#at, ...rules });
    await bot.reads();
    return bot;
  }

  get #at(): number {
    return this.#arena.clock.now();
  }

  /** Reads trades, open orders, balances and book, then lets the engine decide. */
  async reads(): Promise<void> {
    await this.#arena.clock.advance(100);
    const trades = must(await this.#reads.trades());
    this.#reads.take(trades);
    await this.#step(trades);
    await this.#step(must(await this.#reads.openOrders()));
    await this.#step({ ...must(await this.#reads.balances()), quiet: true });
    const book = await this.#reads.book(this.#instrument);
    if (book !== null) await this.#step(must(book));
    await this.#step({ kind: 'timer', at: this.#at });
  }

  /**
   * Requests a taker order back to the target, as a hedger would, at a price this many ticks from the mid price. Reads
   * until the order is sent or refused: an order that the other bot places in between would be unknown.
   */
  async takes(ticks: number): Promise<void> {
    const { position } = this.#engine.book.riskContext(this.#at);
    if (position === 0) return;
    this.#isTaking = true;
    const side: Side = position > 0 ? 'sell' : 'buy';
    await this.#step({
      kind: 'take',
      at: this.#at,
      id: `${this.#instance}-1-t${++this.#taken}`,
      side,
      price: (MID / TICK + (side === 'sell' ? -ticks : ticks)) as Price,
      amount: Math.min(Math.abs(position), 3 * LOTS) as Amount,
      until: this.#at + 1_000,
    });
    await this.#step({ kind: 'timer', at: this.#at });
    while (this.#isTaking) await this.reads();
  }

  #quote({ mid }: View) {
    const level = (sign: number) => [{ price: Math.round(mid) + sign * this.away, amount: LOTS as Amount, why: [] }];
    return { bids: level(-1), asks: level(1) };
  }

  #hear(news: EngineNews): void {
    if (news.kind !== 'not taken') return;
    this.refused.push(news.why);
    this.#isTaking = false;
  }

  async #step(event: EngineEvent): Promise<void> {
    for (const command of this.#engine.step(event)) {
      if (command.kind === 'place' && command.takes === true) this.#isTaking = false;
      const { event: answer } = await send(command, {
        exchange: this.#client,
        book: BOOK,
        instrument: this.#instrument,
        time: () => this.#at,
        mayPlace: () => true,
        engine: this.#engine,
      });
      await this.#step(answer);
    }
  }
}

function must<T extends object>(read: T | Failed): T {
  if (isFailed(read)) throw new Error(JSON.stringify(read));
  return read;
}

function credentialsOf({ exchange }: Arena, { id }: Trader) {
  const { key, secret } = exchange.venue.addKey(id, {});
  return { key, secret: new Secret(secret), headers: 'authorization' as const };
}

type TradeRow = { readonly tid: string };

/** Returns the ids of the account's trades with itself, which the exchange lists twice. */
function selfTrades(account: Trader): readonly string[] {
  const rows = account.get<readonly TradeRow[]>('GET', '/api/v3/user_trades?limit=100');
  const tids = rows.map(({ tid }) => tid);
  return tids.filter((tid, n) => tids.indexOf(tid) !== n);
}

/** Replaces the market's orders with a bid and an ask, each `ticks` from the mid price. */
function surround(market: Trader, ticks: number): void {
  market.call('DELETE', '/api/v3/orders/all');
  const at = (sign: number) => String(MID + sign * ticks * TICK);
  market.limit(BOOK, 'buy', at(-1), '0.5', { time_in_force: 'postonly' });
  market.limit(BOOK, 'sell', at(1), '0.5', { time_in_force: 'postonly' });
}

const happening = fc.record({
  bot: fc.constantFrom(0, 1),
  away: fc.integer({ min: 1, max: 12 }),
  market: fc.integer({ min: 4, max: 15 }),
  /** Distance of a taker order of the bot from the mid price, in ticks; `null` if the bot only quotes. */
  takes: fc.option(fc.integer({ min: 0, max: 20 })),
  /** Side of a market order of another trader before the turn of the bot; `null` if there is none. */
  hits: fc.option(fc.constantFrom<Side>('buy', 'sell')),
});

/** Returns a turn in which the bot only quotes, one tick from the mid price. */
const quoteBy = (bot: 0 | 1) => ({ bot, away: 1, market: 4, takes: null, hits: null });

async function pairOf(world: Arena): Promise<readonly [AccountBot, AccountBot]> {
  surround(world.bob, 10);
  return [await AccountBot.open(world, world.ann, 'one'), await AccountBot.open(world, world.ann, 'two')];
}

const tradesOf = (account: Trader): number =>
  account.get<readonly TradeRow[]>('GET', '/api/v3/user_trades?limit=100').length;

test('a hedge through the book that would take a quote of the other bot is refused, and one that stops before it trades', async () => {
  const world = arena();
  const { ann, bob } = world;
  const [one, two] = await pairOf(world);
  await one.reads();
  bob.place({ book: BOOK, side: 'sell', type: 'market', major: '0.01' });
  expect(tradesOf(ann)).toBe(1);
  for (const bot of [one, two, one, two]) await bot.reads();
  // The other bot's bid is 3 ticks from the mid price; the market's bid is 10 ticks from it.
  await two.takes(10);
  expect([two.refused, tradesOf(ann)]).toEqual([[REFUSAL], 1]);
  one.away = 12;
  for (const bot of [one, one, two]) await bot.reads();
  // The taker order waits until a read shows that the bot's own bid has ended.
  await two.takes(10);
  for (let n = 0; n < 3; n++) await two.reads();
  expect([two.refused, tradesOf(ann), selfTrades(ann)]).toEqual([[REFUSAL], 2, []]);
});

test('two bots of one account do not trade with each other: neither quotes nor hedges through the book cross what was read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 4, maxLength: 14 }), async all => {
      const world = arena();
      const { ann, bob } = world;
      const bots = await pairOf(world);
      for (const { bot: which, away, market, takes, hits } of all) {
        const bot = bots[which];
        bot.away = away;
        if (hits !== null) bob.place({ book: BOOK, side: hits, type: 'market', major: '0.01' });
        surround(bob, market);
        for (let n = 0; n < 2; n++) await bot.reads();
        if (takes !== null) await bot.takes(takes);
        expect(selfTrades(ann)).toEqual([]);
      }
    }),
    {
      ...runsOf(300, 5),
      // Failed on 2026-11-27: the other bot placed an ask while a taker order waited for the end of the bot's own ask.
      examples: [[[quoteBy(1), { ...quoteBy(0), takes: 3, hits: 'buy' }, quoteBy(1), quoteBy(0)]]],
    },
  );
});
