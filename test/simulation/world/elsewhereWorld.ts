/**
 * The second exchange of a simulated world: its markets, the account of the bot there, its faults, the persons who move
 * money there, and the way to it.
 */
import {
  money,
  moneyOf,
  pairOf,
  TransportFailure,
  type Millis,
  type Transport,
  type WireReply,
  type WireRequest,
} from '../../../src/core/index.ts';
import {
  createSecondExchange,
  linkedFlows,
  type EmbeddedExchange,
  type LinkedFlows,
  type Market,
  type SecondExchange,
  type SecondSwitches,
} from '../../../src/sandbox/index.ts';
import { Dead, type Life } from '../processes/life.ts';
import type { Fault } from './faults.ts';
import { PEER } from './network.ts';
import { BOOK, type Place } from './scenario.ts';
import type { World } from './world.ts';

/** Order in a request. `price` and `amount` are decimal text. */
export type SentElsewhere = {
  readonly id: string;
  readonly side: 'buy' | 'sell';
  readonly price: string;
  readonly amount: string;
};

/** Classes of the first exchange that move the base currency without the bot, or lose what the bot has stored. */
const LEFT_OUT: readonly Fault[] = [
  ...(['lying disk', 'orders of others', 'trades of others', 'transfers', 'transactions', 'orphans'] as const),
  ...(['drawn configuration', 'changed rules', 'hedges by the book', 'hedges over dollars'] as const),
];

/** Returns the swarm without the classes that a world with a second exchange does not have. */
export const swarmElsewhere = <S extends ReadonlyMap<Fault, number>>(swarm: S): Map<Fault, number> =>
  new Map([...swarm].filter(([fault]) => !LEFT_OUT.includes(fault)));

const CALM = {
  ...{ requestDelayMinMs: 5, requestDelayMaxMs: 40, answerDelayMinMs: 5, answerDelayMaxMs: 40 },
  ...{ requestLostPips: 0, answerLostPips: 0, answerCutPips: 0, serverErrorPips: 0, rejectPips: 0 },
  ...{ iocFillPips: 10_000, lookupDelayMs: 0, tradeRecordDelayMs: 0, clockOffsetMs: 0 },
  ...{ throttle: 'off', trading: 'on', books: 'live', rateLimits: 'on', weightPerMinute: 6_000 },
} as const satisfies Partial<SecondSwitches>;
const DELAY_MAX_MS = 3_000;
const LISTED_WITHIN_MS = 1_500;
/** Weight of the heaviest request, which other programs at the bot's address send. */
const DEPTH_WEIGHT = 250;
const DEPTH_TARGET = '/api/v3/depth?symbol=BTCMXN&limit=5000';

/** Observer of the requests of a life. */
export type Witness = {
  /** A request is about to leave; `order` is the order in it. */
  asking(life: Life, path: string, order: SentElsewhere | null): void;
  /** The exchange has answered, whether or not the answer arrives. `isBanned`: it would answer so to everybody. */
  served(life: Life, reply: WireReply, order: SentElsewhere | null, isThrottled: boolean): void;
  /** The answer has arrived. */
  answered(life: Life, reply: WireReply): void;
};

/** Account of the bot on its own exchange, from which and to which persons send money. */
export type Home = {
  readonly exchange: EmbeddedExchange;
  readonly id: string;
  /** Whether the bot has compared the balances of both accounts with its ledger. */
  readonly isKnown: () => boolean;
  /** Amount in a currency that the bot has booked as on its way, in 10^-18. */
  readonly onItsWay: (currency: string) => bigint;
  /** Called when money leaves or arrives. */
  readonly transferred: () => void;
};

/** Money that persons have moved to the account there, that is on its way, and that they have locked, in 10^-18. */
export type Persons = { readonly net: bigint; readonly onItsWay: bigint; readonly locked: bigint };
const UNTOUCHED: Persons = { net: 0n, onItsWay: 0n, locked: 0n };

export class ElsewhereWorld {
  readonly exchange: SecondExchange;
  readonly account: { readonly id: string; readonly key: string; readonly secret: string };
  readonly #world: World;
  readonly #flows: LinkedFlows;
  readonly #place: Place;
  readonly #home: Home;
  readonly #persons = new Map<string, Persons>();
  /** Ends of what persons have begun, which healing brings about. */
  readonly #ends = new Set<() => void>();
  #markets: readonly Market[] = [];

  constructor(world: World, place: Place, home: Home) {
    this.#world = world;
    this.#place = place;
    this.#home = home;
    if (world.drawn('elsewhere other currency') > 0) world.count('elsewhere other currency');
    const { seed } = world;
    const chance = world.chance('second exchange');
    this.exchange = createSecondExchange({
      ...{ clock: world.venueClock, seed: seed + 1_009, fees: { maker: '0.0004', taker: '0.0005' } },
      switches: CALM,
    });
    this.account = this.exchange.openAccount({ balances: place.balances });
    const basis = { constantBps: chance.pick([0, 0, 3]), revertingBps: 2, revertingS: 60, walkBpsPerHour: 0 };
    this.#flows = linkedFlows({ seed, leadMs: chance.pick([0, 1_500]), basis, noiseBps: { here: 0.5, there: 0.2 } });
    this.#strike();
    this.#startPersons();
    this.#startBudget();
  }

  /** Returns the market of the first exchange, linked to that of the second, which starts with it. */
  start(): LinkedMarket {
    const { book } = this.#place;
    const books = book === BOOK ? [book] : [book, 'usdt_mxn'];
    this.#markets = books.map(each => {
      const there = this.#flows.there(...pairOf(each), 3);
      there.start(this.exchange.marketplace(each));
      return there;
    });
    return this.#flows.here(...pairOf(BOOK), true);
  }

  /** Ends all faults. */
  heal(): void {
    // Without limits no ban outlasts the faults.
    this.exchange.set({ ...CALM, rateLimits: 'off' });
    for (const end of this.#ends) end();
  }

  stopMarket(): void {
    for (const market of this.#markets) market.stop();
  }

  /** Returns what persons have done with a currency of the account there. */
  personsOf(currency: string): Persons {
    return this.#persons.get(currency) ?? UNTOUCHED;
  }

  /** Whether money is on its way of which the bot knows nothing: persons do not resume until it is booked. */
  get hasUnbooked(): boolean {
    return [...this.#persons.keys()].some(currency => this.#isUnbooked(currency));
  }

  /** Mid price of a book there, in 10^-18 of its quote currency; 0 if a side is empty. */
  midOf(book: string): bigint {
    const place = this.exchange.marketplace(book);
    const [bid, ask] = [place.bestBid(), place.bestAsk()];
    return bid > 0 && ask > 0 ? (BigInt(bid + ask) * place.instrument.tickMoney) / 2n : 0n;
  }

  /** Returns the way of one life. */
  transport(life: Life, deadlineMs: Millis, witness: Witness): Transport {
    return { send: request => this.#send(life, request, deadlineMs, witness), close: () => Promise.resolve() };
  }

  #send(life: Life, request: WireRequest, deadlineMs: Millis, witness: Witness): Promise<WireReply> {
    const world = this.#world;
    const [path = ''] = request.target.split('?');
    const what = `${request.method} ${path}`;
    try {
      life.step(`before sending ${what} elsewhere`);
    } catch (error) {
      if (error instanceof Dead) return NEVER;
      throw error;
    }
    const order = orderElsewhere(request);
    witness.asking(life, path, order);
    world.trace.add(`sent elsewhere #${life.number} ${what} ${order === null ? '' : JSON.stringify(order)}`);
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (how: () => void) => {
        if (isOver) return;
        isOver = true;
        deadline.stop();
        world.touched = true;
        how();
      };
      const lost = (why: string) => end(() => reject(new TransportFailure(why, true)));
      const deadline = life.clock.after(deadlineMs, () => lost(`no complete answer within ${deadlineMs} ms`));
      this.exchange.serveRequest(request, PEER, served => {
        const reply = typeof served === 'string' ? served : 'cut' in served ? 'cut' : `${served.status} ${served.body}`;
        world.trace.add(`answer elsewhere ${what} ${reply}`);
        if (served === 'silence') return;
        const isWhole = typeof served !== 'string' && !('cut' in served);
        if (isWhole) witness.served(life, served, order, this.exchange.switches.throttle !== 'off');
        life.receive(() => {
          if (!isWhole) return lost('the connection was lost');
          if (!isOver) witness.answered(life, served);
          end(() => resolve(served));
        });
      });
      try {
        life.step(`after sending ${what} elsewhere`);
      } catch (error) {
        if (!(error instanceof Dead)) throw error;
      }
    });
  }

  /** Switches the faults of the seed on. */
  #strike(): void {
    const world = this.#world;
    const chance = world.chance('faults elsewhere');
    const pips = (fault: Fault, most: number) => Math.round(this.#drawn(fault) * most);
    const late = 40 + Math.round(this.#drawn('elsewhere late') * DELAY_MAX_MS);
    const listed = Math.round(this.#drawn('elsewhere late lists') * LISTED_WITHIN_MS);
    const isPartial = this.#drawn('elsewhere partial fills') > 0;
    this.exchange.set({
      faultScope: chance.pick(['orders', 'orders', 'writes', 'signed', 'all']),
      ...{ requestLostPips: pips('elsewhere requests lost', 3_000), lostAs: chance.pick(['closed', 'silence']) },
      ...{ answerLostPips: pips('elsewhere answers lost', 3_000), answerCutPips: pips('elsewhere answers lost', 500) },
      ...{
        serverErrorPips: pips('elsewhere errors', 2_000),
        serverErrorExecutes: chance.pick(['half', 'always', 'never']),
      },
      serverError: chance.pick(['502', '503', '504', '-1000', '-1001', '-1006', '-1007', '-1008']),
      // One in twenty and up to every second order.
      rejectPips: this.#drawn('elsewhere rejects') === 0 ? 0 : Math.max(500, pips('elsewhere rejects', 5_000)),
      rejectAs: chance.pick(['-2010', '-1013', '-1015', '-1021']),
      iocFillPips: isPartial ? chance.pick([0, 1_000, 3_000, 7_000]) : 10_000,
      ...{ requestDelayMaxMs: late, answerDelayMaxMs: late, lookupDelayMs: listed, tradeRecordDelayMs: listed },
    });
    world.often('elsewhere silence', 60_000, draw => {
      const ms = draw.between(3_000, 60_000);
      const [how, back] = draw.pick([
        [{ throttle: '418' }, { throttle: 'off' }],
        [{ throttle: '429' }, { throttle: 'off' }],
        [{ trading: 'off' }, { trading: 'on' }],
        [{ books: 'frozen' }, { books: 'live' }],
      ] as const);
      return () => this.#for('elsewhere silence', ms, how, back);
    });
    world.often('elsewhere clock', 90_000, draw => {
      const [ms, offset] = [draw.between(5_000, 90_000), draw.pick([-70_000, -3_000, 1_500, 70_000])];
      return () => this.#for('elsewhere clock', ms, { clockOffsetMs: offset }, { clockOffsetMs: 0 });
    });
  }

  /** Persons send money between both accounts and lock some of it there. */
  #startPersons(): void {
    const world = this.#world;
    const currencies = Object.keys(this.#place.balances);
    if (this.#drawn('elsewhere short funds') > 0 && this.#place.isRefilled)
      world.often('elsewhere short funds', 120_000, draw => {
        const [currency, share, ms] = [draw.pick(currencies), draw.between(0.02, 0.2), draw.between(1_000, 60_000)];
        return () => this.#sends('elsewhere short funds', currency, share, false, ms);
      });
    world.often('elsewhere transfers', 60_000, draw => {
      const [currency, share] = [draw.pick(currencies), draw.pick([0.1, 0.5, 1])];
      const [isOut, locks] = [draw.hit(0.6), draw.hit(0.5)];
      const ms = draw.between(1_000, locks ? 400_000 : 60_000);
      return () =>
        locks ? this.#locks(currency, share, ms) : this.#sends('elsewhere transfers', currency, share, isOut, ms);
    });
  }

  /** Sends a share of what is available from one account to the other, where it arrives after `ms`. */
  #sends(fault: Fault, currency: string, share: number, isOut: boolean, ms: Millis): void {
    const [here, there] = [this.#accountHere, this.#accountThere];
    // Two unbooked transfers that cross look to the bot like one.
    if (!this.#home.isKnown() || this.#isUnbooked(currency)) return;
    const sum = shareOf((isOut ? there : here).available(currency), isOut ? share : share / 10);
    if (sum === 0n) return;
    const [venue, other] = [this.#home.exchange.venue, this.exchange.venue];
    if (!(isOut ? other.withdraw(there, currency, sum) : venue.withdraw(here, currency, sum))) return;
    this.#world.count(fault);
    this.#world.trace.add(`persons send ${sum} ${currency} ${isOut ? 'from' : 'to'} there`);
    this.#change(currency, { net: isOut ? -sum : 0n, onItsWay: sum });
    this.#home.transferred();
    const arrives = (): void => {
      // A resume after an arrival there of which the bot knows no departure would book the amount twice.
      if (!isOut && this.#isUnbooked(currency)) return void this.#world.clock.after(1_000, arrives);
      if (isOut) venue.deposit(here, currency, sum);
      else other.deposit(there, currency, sum);
      this.#change(currency, { net: isOut ? 0n : sum, onItsWay: money(-sum) });
      this.#home.transferred();
    };
    this.#after(ms, arrives);
  }

  /** Locks a share of what is available there, as an order far from the market does, for `ms`. */
  #locks(currency: string, share: number, ms: Millis): void {
    const there = this.#accountThere;
    const sum = shareOf(there.available(currency), share);
    if (sum === 0n) return;
    this.#world.count('elsewhere transfers');
    this.#world.trace.add(`persons lock ${sum} ${currency} there`);
    there.lock(currency, sum);
    this.#change(currency, { locked: sum });
    this.#after(ms, () => {
      there.lock(currency, money(-sum));
      this.#change(currency, { locked: money(-sum) });
    });
  }

  /** Whether the bot has booked less than is on its way in a currency. */
  #isUnbooked(currency: string): boolean {
    return this.personsOf(currency).onItsWay > this.#home.onItsWay(currency);
  }

  #change(currency: string, by: Partial<Persons>): void {
    const { net, onItsWay, locked } = this.personsOf(currency);
    const [{ net: n = 0n, onItsWay: o = 0n, locked: l = 0n }] = [by];
    this.#persons.set(currency, { net: net + n, onItsWay: onItsWay + o, locked: locked + l });
    this.#world.touched = true;
  }

  /** Calls `end` after `ms`, or at the latest when everything heals. */
  #after(ms: Millis, end: () => void): void {
    const once = () => {
      if (!this.#ends.delete(once)) return;
      end();
    };
    this.#ends.add(once);
    this.#world.clock.after(ms, once);
  }

  get #accountHere() {
    return this.#home.exchange.venue.accounts.get(this.#home.id)!;
  }

  get #accountThere() {
    return this.exchange.venue.accounts.get(this.account.id)!;
  }

  /** The exchange grants little request weight, or other programs at the bot's address use most of it. */
  #startBudget(): void {
    const world = this.#world;
    if (this.#drawn('elsewhere budget') === 0) return;
    const chance = world.chance('budget elsewhere');
    if (chance.hit(0.6)) {
      this.exchange.set({ weightPerMinute: chance.integer(60, 600) });
      return;
    }
    const perMinute = chance.between(0.7, 1) * CALM.weightPerMinute;
    let pausedUntil = 0;
    const ask = () => {
      if (!world.isFaulty) return;
      world.clock.after((60_000 * DEPTH_WEIGHT) / perMinute, ask);
      if (world.clock.elapsed() < pausedUntil) return;
      const request = { method: 'GET', target: DEPTH_TARGET, headers: {}, body: '' } as const;
      const { headers } = this.exchange.respond(request, PEER);
      pausedUntil = world.clock.elapsed() + Number(headers['retry-after'] ?? 0) * 1_000;
    };
    world.clock.after(0, ask);
  }

  #for(fault: Fault, ms: Millis, how: Partial<SecondSwitches>, back: Partial<SecondSwitches>): void {
    const world = this.#world;
    world.count(fault);
    world.trace.add(`elsewhere ${JSON.stringify(how)} for ${ms.toFixed(0)}`);
    this.exchange.set(how);
    world.clock.after(ms, () => this.exchange.set(back));
  }

  #drawn(fault: Fault): number {
    const intensity = this.#world.drawn(fault);
    if (intensity > 0) this.#world.count(fault);
    return intensity;
  }
}

export type LinkedMarket = ReturnType<LinkedFlows['here']>;

/** Returns the order in a request; `null` if it places none. */
function orderElsewhere({ method, target, body }: WireRequest): SentElsewhere | null {
  const [path = '', query = ''] = target.split('?');
  if (method !== 'POST' || !path.endsWith('/v3/order')) return null;
  const fields = new URLSearchParams(`${query}&${body}`);
  const of = (name: string) => fields.get(name) ?? '';
  const side = of('side') === 'BUY' ? 'buy' : 'sell';
  return { id: of('newClientOrderId'), side, price: of('price'), amount: of('quantity') };
}

/** Returns a share of a sum, in whole 10^-8. */
const shareOf = (sum: bigint, share: number) =>
  money(((sum * BigInt(Math.round(share * 1_000))) / 1_000n / moneyOf('0.00000001')) * moneyOf('0.00000001'));

const NEVER = new Promise<never>(() => undefined);
