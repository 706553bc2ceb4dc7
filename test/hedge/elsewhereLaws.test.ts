/**
 * The hedger with another exchange over histories of lost answers, partial fills, full disks and deaths: an order is on disk before
 * it leaves, leaves once, and in the end the ledger of both exchanges is what they have.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  moneyOf,
  randomOf,
  Secret,
  sleep,
  isAtPlace,
  sumOfCauses,
  textOfMoney,
  type EngineEvent,
  type HedgeRow,
  type WireRequest,
} from '../../src/core/index.ts';
import { exchangeClient } from '../../src/exchange/index.ts';
import { CheckBackoff } from '../../src/hedge/checkBackoff.ts';
import { ElsewhereDesk, Hedger, hedgeViewOf, isOver, mayStillExecute } from '../../src/hedge/index.ts';
import { ledgerOf, textOfLedger } from '../../src/live/recording/ledgerText.ts';
import { Desk, quoteAround } from '../core/desk.ts';
import { plain } from '../core/market.ts';
import { wireTo, type Fate } from '../live/inProcess.ts';
import { isMany, runsOf } from '../many.ts';
import { arena } from '../sandbox/trader.ts';
import { ToyDesk } from './toyDesk.ts';

const OPENING = 1_000_000_000;
const BAND = 5;
const LOTS = 12;
const isOrder = ({ method, target }: WireRequest) => method === 'POST' && target.endsWith('/orders');

/** A bot whose only way to hedge is the embedded exchange, through the client that ships. */
class BotOfTwo {
  readonly at = arena({ engineDelayMaxMs: 20, tradeRecordDelayMs: 400 });
  readonly there = this.at.open({ btc: '500', usd: '20000000', mxn: '0' });
  readonly maker = this.at.open({ btc: '500', usd: '20000000' });
  readonly clock = this.at.clock;
  readonly events: EngineEvent[] = [];
  fate: Fate = 'arrives';
  fateOfLook: Fate = 'arrives';
  accepts = true;
  mayAct = true;
  /** Id of the operator's request to close everything; `null` if there is none. */
  flatten: string | null = null;
  /** Delays an order before its client sends it, as a wait for the budget or for the rules of the book does. */
  beforePlace = (): Promise<void> => Promise.resolve();
  /** Mid price here from the next read of the book there on; absent if it stays. */
  midAtRead: number | undefined;
  /** Value of one usd in mxn, and the one from the next read of the book there on; absent if it stays. */
  rate = '0.02';
  rateAtRead: string | undefined;
  /** Lots of a quote here that fill while the book there is read next. */
  fillsAtRead = 0;
  /** Rows, and the ledger as text. */
  disk: { rows: readonly HedgeRow[]; ledger: string | null } = { rows: [], ledger: null };
  /** Ids of orders, as their requests left. */
  readonly sent: string[] = [];
  /** Ids of orders that left without being on disk. */
  readonly early: string[] = [];
  failure: Error | null = null;
  readonly #lots: number;
  readonly #valueMin: string;
  readonly #residual: string;
  #lives = 0;
  /** Balances here, at the start of this life. */
  #home = { btc: OPENING, mxn: OPENING };
  desk!: Desk;
  hedger!: Hedger;

  /** `valueMin`: minimum value of a hedge there. With one, the bot has no other route. `residual` stays after a hedge. */
  constructor(lots: number, valueMin = '0', residual = '0') {
    this.#lots = lots;
    this.#valueMin = valueMin;
    this.#residual = residual;
    this.live();
  }

  /** The bot starts, or dies and starts again from what is on disk. */
  live(): void {
    const life = ++this.#lives;
    const { lots, paid } = this.#lives === 1 ? { lots: 0, paid: 0 } : this.desk.traded;
    this.#home = { btc: this.#home.btc + lots, mxn: this.#home.mxn - paid };
    const { clock, at } = this;
    const client = exchangeClient({
      clock,
      random: randomOf(life),
      transport: wireTo({
        exchange: at.exchange,
        clock,
        random: randomOf(life + 100),
        deadlineMs: 2_000,
        fate: request => {
          if (request.target.includes('order_book')) {
            this.#fills();
            this.#moves();
          }
          if (!isOrder(request)) return this.fateOfLook;
          const id = (JSON.parse(request.body) as { origin_id: string }).origin_id;
          this.sent.push(id);
          if (!this.disk.rows.some(row => row.elsewhere?.order.id === id && mayStillExecute(row))) this.early.push(id);
          return this.fate;
        },
      }),
      credentials: { key: this.there.key, secret: new Secret(this.there.secret), nonceAbove: BigInt(life) } as never,
    });
    const heard = async <T>(answer: Promise<T>): Promise<T> => {
      const value = await answer;
      return life === this.#lives ? value : new Promise<never>(() => undefined);
    };
    const { instrument } = at.exchange.venue.books.get('btc_usd')!;
    const elsewhereDesk = new ElsewhereDesk({
      client: {
        orderBook: (...of) => heard(client.orderBook(...of)),
        place: async (...of) => {
          await this.beforePlace();
          return heard(client.place(...of));
        },
        lookUp: (...of) => heard(client.lookUp(...of)),
        orderTrades: (...of) => heard(client.orderTrades(...of)),
        cancel: (...of) => heard(client.cancel(...of)),
      },
      clock,
      instrument: () => instrument,
      times: { requestLifeMs: 30_000, listingDelayMs: 2_000 },
    });
    this.desk = new Desk({
      strategy: quoteAround(2),
      target: (OPENING + 500 - this.#lots) as never,
      elsewhere: {
        ...{ place: 'there', major: 'btc', minor: 'usd' },
        bounds: { band: moneyOf(String(BAND)), debtMax: moneyOf('1000'), failuresMax: 3, isOnlyRoute: true },
      },
      run: life,
    });
    this.desk.bids = [[999, 50]];
    this.desk.asks = [[1_001, 50]];
    this.desk.now = clock.now();
    const { ledger } = this.disk;
    if (ledger !== null) this.desk.step({ kind: 'restore', at: clock.now(), orders: [], ledger: ledgerOf(ledger) });
    this.desk.open(this.#home);
    this.hedger = new Hedger({
      setup: {
        // Offers of the desk cost more than any hedge may.
        desk: Object.assign(new ToyDesk(clock), { spreadBps: 5_000n }),
        venues: [this.#valueMin === '0' ? 'rfq' : 'elsewhere'],
        rules: {
          band: moneyOf(String(BAND)),
          residual: moneyOf(this.#residual),
          costMaxBps: 300,
          carryBpsPerHour: 0,
          unwindMs: 1,
        },
        elsewhere: {
          ...{
            desk: elsewhereDesk,
            at: { place: 'there', account: 'one' },
            instrument,
            takerRate: 650_000,
            marginBps: 5,
            backBps: 2,
            latencyMs: 500,
            riskZ: 1.6,
            valueMin: moneyOf(this.#valueMin),
            smallestUntil: 0,
          },
          bounds: { costMaxBps: 200, collarBps: 500, orderValueMax: (10n ** 30n) as never, room: 10 ** 12 },
          perRootSecond: () => 1e-4,
          rate: () => moneyOf(this.rate),
          funds: currency => this.desk.engine.elsewhere!.funds(currency),
          closedBecause: () => null,
        },
        ...{
          everyMs: 2_000,
          pauseMs: 4_000,
          quoteLifeMinMs: 0,
          requestDelayMaxMs: 11_000,
          tradeReportDelayMaxMs: 3_000,
        },
      },
      run: {
        clock,
        time: () => clock.now(),
        log: { info: () => undefined, warn: () => undefined },
        step: event => {
          this.desk.now = clock.now();
          this.events.push(event);
          this.desk.step(event);
        },
      },
      kept: { rows: this.disk.rows, prefix: `mm-h${life}-`, orders: { instance: 'mm', run: life } },
      pair: plain,
      view: () =>
        hedgeViewOf(this.desk.engine, { instrument: plain, takerRate: 0, balancesAt: clock.now() }, clock.now()),
      persist: () => {
        if (this.accepts) this.#keep();
        return this.accepts;
      },
      mayAct: () => this.mayAct,
      flatten: {
        current: () => (this.flatten === null ? null : { id: this.flatten, costMax: moneyOf('1000000') }),
        end: () => true,
      },
    });
    this.hedger.restore();
    this.look();
  }

  #keep(): void {
    this.disk = { rows: this.hedger.rows, ledger: textOfLedger(this.desk.engine.ledger([])!) };
  }

  /** A quote of the side that reduces inventory fills, as far as inventory goes. */
  #fills(): void {
    const quote = this.desk.live.find(({ side }) => side === (this.#lots > 0 ? 'sell' : 'buy'));
    const size = this.inventory < 0n ? -this.inventory : this.inventory;
    const lots = Math.min(this.fillsAtRead, Number(size / 10n ** 18n));
    this.fillsAtRead = 0;
    if (quote === undefined || lots === 0) return;
    this.desk.now = this.clock.now();
    this.desk.fill(quote.id, lots);
    this.desk.readPrivate();
    this.#keep();
  }

  #moves(): void {
    this.rate = this.rateAtRead ?? this.rate;
    const mid = this.midAtRead;
    if (mid === undefined) return;
    this.midAtRead = undefined;
    [this.desk.bids, this.desk.asks] = [[[mid - 1, 50]], [[mid + 1, 50]]];
    this.desk.now = this.clock.now();
    this.desk.round(0);
  }

  look(): void {
    this.desk.now = this.clock.now();
    this.desk.round(0);
    this.desk.readBalances();
    if (this.hedger.rows.some(mayStillExecute)) return;
    const balances = [...this.balances].map(([currency, sum]) => {
      const total = textOfMoney(sum);
      return { currency, total, locked: '0', available: total };
    });
    this.desk.step({
      kind: 'balances',
      at: this.desk.now,
      startedAt: this.desk.now,
      quiet: true,
      balances,
      place: 'there',
    });
  }

  async passes(ms: number, everyMs = 1_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += everyMs) {
      this.look();
      void this.hedger.turn().catch((error: unknown) => (this.failure = error as Error));
      await this.clock.advance(everyMs);
      if (this.failure !== null) throw this.failure;
    }
  }

  get balances() {
    const { balances } = this.at.exchange.truth().accounts.get(this.there.id)!;
    return new Map([...balances].map(([currency, { total }]) => [currency, total] as const));
  }

  get inventory(): bigint {
    return this.desk.engine.book.snapshot(this.clock.now()).booked.inventory;
  }
}

const worlds = fc.record({
  lots: fc.constantFrom(-LOTS, LOTS),
  depth: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
  events: fc.array(
    fc.record({
      ms: fc.constantFrom(500, 1_000, 4_000, 20_000),
      fate: fc.constantFrom<Fate>('arrives', 'arrives', 'not sent', 'lost', 'unanswered', { heldMs: 9_000 }),
      what: fc.constantFrom('none', 'none', 'dies', 'disk is full', 'halted', 'cannot look', 'more', 'fills'),
      lots: fc.integer({ min: 1, max: LOTS }),
    }),
    { maxLength: 10 },
  ),
});

test('an order there is on disk before it leaves, leaves once, moves inventory only towards its target, and both ledgers are exact', async () => {
  const cameUp = new Set<string>();
  await fc.assert(
    fc.asyncProperty(worlds, async ({ lots, depth, events }) => {
      const bot = new BotOfTwo(lots);
      const { maker, clock } = bot;
      const sells = lots > 0;
      const offer = () => {
        for (const [i, size] of depth.entries())
          maker.limit('btc_usd', sells ? 'buy' : 'sell', String(50_000 + (sells ? -i : i) * 10), String(size));
        maker.limit('btc_usd', sells ? 'sell' : 'buy', sells ? '50100' : '49900', '1');
      };
      offer();
      await clock.advance(1_000);
      for (const { ms, fate, what, lots: filled } of events) {
        bot.fate = fate;
        bot.fillsAtRead = what === 'fills' ? filled : 0;
        bot.fateOfLook = what === 'cannot look' ? 'lost' : 'arrives';
        bot.accepts = what !== 'disk is full';
        bot.mayAct = what !== 'halted';
        if (what === 'more') offer();
        if (what === 'dies') bot.live();
        await bot.passes(ms);
        expect(bot.hedger.rows.filter(row => !isOver(row)).length).toBeLessThanOrEqual(1);
        // Inventory and the open order together never pass the target.
        const { converting, position } = bot.desk.engine.book.riskContext(clock.now());
        const worst = sells ? position - converting.sell : -position - converting.buy;
        expect(worst).toBeGreaterThanOrEqual(-1);
      }
      Object.assign(bot, { fate: 'arrives', fateOfLook: 'arrives', accepts: true, mayAct: true });
      maker.limit('btc_usd', sells ? 'buy' : 'sell', '50000', '20');
      await bot.passes(60_000, 2_000);
      bot.mayAct = false;
      await bot.passes(60_000, 2_000);
      expect(bot.early).toEqual([]);
      expect(new Set(bot.sent).size).toBe(bot.sent.length);
      expect(bot.hedger.rows.filter(row => !isOver(row))).toEqual([]);
      const causes = [...bot.desk.engine.ledger([])!.causes].filter(([name]) => isAtPlace(name, 'there'));
      const ledger = new Map(causes.map(([name, row]) => [name.split('@')[0]!, sumOfCauses(row)]));
      for (const [currency, sum] of bot.balances)
        expect([currency, ledger.get(currency) ?? 0n]).toEqual([currency, sum]);
      expect(bot.desk.engine.book.haltedBecause).toBeNull();
      // Fees in the base currency leave less than the smallest order beyond the amount.
      const left = bot.inventory < 0n ? -bot.inventory : bot.inventory;
      expect(left <= moneyOf(String(BAND))).toBe(true);
      for (const { state, elsewhere } of bot.hedger.rows) if (elsewhere) cameUp.add(state);
    }),
    { ...runsOf(600, 12), seed: 17 },
  );
  if (isMany) expect([...cameUp].toSorted()).toEqual(['completed', 'failed']);
});

test('inventory below the minimum value of a hedge there leaves no row and no write to disk; above it, one hedge follows', async () => {
  for (const sign of [1, -1]) {
    // The mid price is 1,000.
    const [less, more] = [new BotOfTwo(sign * LOTS, '12001'), new BotOfTwo(sign * LOTS, '11999')];
    for (const bot of [less, more]) {
      bot.maker.limit('btc_usd', 'buy', '50000', '20');
      bot.maker.limit('btc_usd', 'sell', '50010', '20');
      await bot.clock.advance(1_000);
      await bot.passes(20_000);
    }
    expect([less.hedger.rows, less.disk.ledger]).toEqual([[], null]);
    expect(more.hedger.rows.map(({ state }) => state)).toEqual(['completed']);
  }
});

test.each([
  ['not if the bot may no longer act', 1_000, false, false],
  ['not if its price is older than 15 s', 16_000, true, false],
  ['if its price is younger than 15 s', 14_000, true, true],
] as const)('an order that waits in its client is sent %s', async (_, waitsMs, mayAct, isSent) => {
  const bot = new BotOfTwo(LOTS, '1');
  const { clock, hedger, maker } = bot;
  maker.limit('btc_usd', 'buy', '50000', '20');
  maker.limit('btc_usd', 'sell', '50010', '20');
  await clock.advance(1_000);
  bot.beforePlace = async () => {
    bot.mayAct = mayAct;
    await sleep(clock, waitsMs);
  };
  bot.look();
  void hedger.turn();
  await clock.advance(waitsMs + 2_000);
  if (isSent) await bot.passes(4_000);
  expect(bot.sent.length).toBe(isSent ? 1 : 0);
  expect(hedger.rows.map(({ state }) => state)).toEqual([isSent ? 'completed' : 'failed']);
  expect(bot.balances.get('btc') === moneyOf('500')).toBe(!isSent);
});

test('a hedge costs at most what was counted for it, against the mid price of its decision, wherever that and the rate move meanwhile', async () => {
  const moves = fc.record({
    lots: fc.constantFrom(-LOTS, LOTS),
    mid: fc.integer({ min: 985, max: 1_015 }),
    rate: fc.constantFrom('0.0199', '0.02', '0.0201'),
  });
  await fc.assert(
    fc.asyncProperty(moves, async ({ lots, mid, rate }) => {
      const bot = new BotOfTwo(lots, '1');
      bot.maker.limit('btc_usd', 'buy', '50000', '20');
      bot.maker.limit('btc_usd', 'sell', '50010', '20');
      await bot.clock.advance(1_000);
      [bot.midAtRead, bot.rateAtRead] = [mid, rate];
      await bot.passes(10_000);
      const { trades } = bot.at.exchange.truth().accounts.get(bot.there.id)!;
      const [row] = bot.hedger.rows;
      if (trades.length === 0) return expect(row?.state).not.toBe('completed');
      expect([row?.state, row?.middle, row?.elsewhere?.rate]).toEqual(['completed', String(mid), rate]);
      const there = bot.balances;
      const base = there.get('btc')! - moneyOf('500');
      const cash = ((there.get('usd')! - moneyOf('20000000')) * moneyOf(rate)) / 10n ** 18n;
      const paid = -(base * BigInt(mid) + cash);
      expect(paid <= moneyOf(row!.costMax!)).toBe(true);
    }),
    runsOf(100, 12),
  );
});

test.each(['0', '2'])('a hedge that fails again and again, and leaves %s, is tried less often', async residual => {
  const bot = new BotOfTwo(LOTS, '1', residual);
  const { clock, hedger, maker } = bot;
  const rejected: Fate = { instead: { status: 400, headers: {}, body: '{"success":false,"error":{"code":"0379"}}' } };
  maker.limit('btc_usd', 'buy', '50000', '50');
  maker.limit('btc_usd', 'sell', '50010', '50');
  await clock.advance(1_000);
  bot.fate = rejected;
  // Checks are 2 s apart. The second failure causes a pause of 2 s, each further one the longest pause, 4 s.
  await bot.passes(60_000, 2_000);
  expect([bot.sent.length, hedger.rows.length]).toEqual([11, 11]);
  bot.fate = 'arrives';
  await bot.passes(6_000, 2_000);
  expect([bot.sent.length, hedger.rows.at(-1)!.state]).toEqual([12, 'completed']);
});

test('a new request to close everything does not wait for the pause after failed hedges', async () => {
  const bot = new BotOfTwo(LOTS, '1');
  const { clock, maker } = bot;
  maker.limit('btc_usd', 'buy', '50000', '50');
  maker.limit('btc_usd', 'sell', '50010', '50');
  await clock.advance(1_000);
  bot.fate = { instead: { status: 400, headers: {}, body: '{"success":false,"error":{"code":"0379"}}' } };
  await bot.passes(20_000, 2_000);
  // A check right after a failed one is in the pause.
  const before = bot.sent.length;
  while (bot.sent.length === before) await bot.passes(1_000);
  bot.fate = 'arrives';
  await bot.passes(500, 500);
  expect(bot.sent.length).toBe(before + 1);
  bot.flatten = 'f1';
  await bot.passes(500, 500);
  expect(bot.sent.length).toBe(before + 2);
});

test('a check of another amount never waits, and no pause is longer than the maximum', () => {
  const numbers = { everyMs: fc.integer({ min: 500, max: 60_000 }), maxMs: fc.integer({ min: 1_000, max: 3_600_000 }) };
  fc.assert(
    fc.property(fc.record({ ...numbers, count: fc.integer({ min: 1, max: 40 }) }), ({ everyMs, maxMs, count }) => {
      const backoff = new CheckBackoff(everyMs, maxMs);
      const [amount, other] = [moneyOf('1'), moneyOf('1.1')];
      for (let i = 0; i < count; i++) backoff.failed(amount, 0);
      const pauseMs = Math.min(maxMs, everyMs * (2 ** (count - 1) - 1));
      const rests = [Math.max(0, pauseMs - 1), pauseMs].map(at => backoff.isResting(amount, at));
      expect([...rests, backoff.isResting(other, 0)]).toEqual([count > 1, false, false]);
      backoff.failed(other, 0);
      expect([backoff.isResting(amount, 0), backoff.isResting(other, 0)]).toEqual([false, false]);
      backoff.failed(other, 0);
      for (let i = 0; i < count; i++) backoff.failed(other, 0, true);
      // A price that is too bad may become good for seconds.
      expect(backoff.isResting(other, 5_000)).toBe(false);
      backoff.reset();
      expect(backoff.isResting(other, 0)).toBe(false);
    }),
  );
});
