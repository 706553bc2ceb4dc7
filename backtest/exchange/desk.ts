/**
 * Conversion desk inside a replay: the embedded exchange's desk, which quotes around the recorded book. Its requests
 * take time and can fail.
 */
import {
  money,
  moneyOf,
  moneyOfValue,
  randomOf,
  textOfMoney,
  valueFloor,
  valueOf,
  type Amount,
  type Clock,
  type ConversionDesk,
  type ConversionOffer,
  type ConversionState,
  type ConversionWay,
  type Instrument,
  type Millis,
  type Money,
  type Outcome,
  type Price,
  type Random,
  type Value,
} from '../../src/core/index.ts';
import {
  Account,
  crossesFrom,
  EXECUTED_BEFORE,
  NOT_FOUND,
  VenueConversions,
  RfqDesk,
  switchesOf,
  type VenueConversion,
  type DeskBook,
  type DeskPair,
  type DeskConversion,
  type DeskSum,
  type DeskWorld,
  type Switches,
} from '../../src/sandbox/index.ts';
import type { RecordedBests } from '../../src/tape/index.ts';
import { recordedDeskBook } from './recordedBests.ts';
import type { SimulatedExchange } from './simulatedExchange.ts';
import type { Travel } from '../rows/latency.ts';

/** Options of the desk. They are plain data, so that a job can be sent to another thread. Shares are from 0 to 1. */
export type ReplayDeskOptions = {
  /**
   * Spread, quote life, refill, delays and failures of RFQ and conversions. Default: the switches of the embedded
   * exchange.
   */
  readonly switches?: Partial<Switches>;
  /**
   * Capacity of RFQ in one direction until it refills, in the quote currency, as decimal text. Default: the capacity of
   * the embedded exchange.
   */
  readonly capacity?: string;
  /** One-way latency of requests and answers; if absent, the latency of orders applies. */
  readonly latencyMs?: Millis;
  /** Time in ms after which a request without an answer counts as unknown. */
  readonly timeoutMs: Millis;
  /** Share of quotes and acceptances that are rejected at random. */
  readonly refusedShare: number;
  /** Share of requests without an answer; half of these requests never arrive. */
  readonly lostShare: number;
  readonly seed: number;
  /** Recordings of other books, for conversions over third currencies. */
  readonly beside?: readonly RecordedBests[];
};

export type DeskScene = {
  readonly clock: Clock;
  readonly instrument: Instrument;
  readonly exchange: SimulatedExchange;
  /** Price at price index 0, in ticks. */
  readonly base: number;
  readonly there: Travel;
  readonly back: Travel;
  /** Returns the balance of the account at the exchange. */
  readonly total: (currency: string) => Money;
  /** Executes a conversion at the exchange. */
  readonly swap: (pay: DeskSum, receive: DeskSum) => void;
  /** Returns the refusal if a request cannot be sent or is rejected; `null` if it is admitted. */
  readonly admit: () => Extract<Outcome<never>, { kind: 'refused' }> | null;
  /** Whether the recording has market data now. */
  readonly isKnown: () => boolean;
};

const REFUSED = { kind: 'refused', code: 'unexpected', message: 'the desk rejected the request' } as const;

export class ReplayDesk implements ConversionDesk {
  /** Number of requests sent. */
  requests = 0;
  readonly #options: ReplayDeskOptions;
  readonly #scene: DeskScene;
  readonly #random: Random;
  readonly #rfq: RfqDesk;
  /** Desk that only lists the pairs. */
  readonly #listed: RfqDesk;
  readonly #conversions: VenueConversions;
  readonly #account: Account;

  constructor(options: ReplayDeskOptions, scene: DeskScene) {
    this.#options = options;
    this.#scene = scene;
    this.#random = randomOf(options.seed);
    this.#account = new Funds(scene);
    const world = worldOf(options, scene);
    this.#rfq = new RfqDesk(world, randomOf(options.seed ^ 0xfa), () => undefined);
    const books = new Map([...world.books].map(([name, book]) => [name, { ...book, engine: SOME_PRICE }]));
    this.#listed = new RfqDesk({ ...world, books }, randomOf(0), () => undefined);
    this.#conversions = new VenueConversions(world, randomOf(options.seed ^ 0xc0));
  }

  pairs: ConversionDesk['pairs'] = () =>
    this.#ask('read', () =>
      done(
        this.#listed
          .pairs()
          .filter(isRecorded)
          .map(({ source, target, sourceDecimals, targetDecimals }) => ({
            from: source,
            to: target,
            fromDecimals: sourceDecimals,
            toDecimals: targetDecimals,
          })),
      ),
    );

  offer: ConversionDesk['offer'] = (way, { from, to, give, get }) =>
    this.#ask('write', (): Outcome<ConversionOffer> => {
      const sum = moneyOf(give ?? get ?? '0');
      if (way === 'conversion') {
        const asked = { from, to, ...(give === undefined ? { receive: sum } : { spend: sum }) };
        const quoted = this.#conversions.quote(this.#account, asked);
        if (quoted.kind === 'refused') return quoted;
        const { id, from: pay, to: receive, created, expires } = quoted.value;
        return done({ way, id, give: leg(pay), get: leg(receive), lifeMs: expires - created, canConfirm: true });
      }
      const pair = this.#rfq.pairs(from).find(one => one.target === to && isRecorded(one));
      if (!pair) return refused('invalid_target_currency');
      const asked = { pair, fixed: give === undefined ? ('target' as const) : ('source' as const), sum };
      const quoted = this.#rfq.quote(this.#account, asked);
      if (quoted.kind === 'refused') return refused(quoted.code);
      const { id, sourceSum, targetSum, createdAt, expiresAt, canConfirm, maxTradable } = quoted.value;
      return done({
        way,
        id,
        give: leg({ currency: from, sum: sourceSum }),
        get: leg({ currency: to, sum: targetSum }),
        lifeMs: expiresAt - createdAt,
        canConfirm,
        ...(maxTradable && { most: leg(maxTradable) }),
      });
    });

  accept: ConversionDesk['accept'] = ({ way, id }) =>
    this.#ask('write', () => {
      if (way === 'conversion') {
        const started = this.#conversions.execute(this.#account, id);
        return started.kind === 'refused' ? started : done({ conversionId: started.value.id });
      }
      const taken = this.#rfq.convert(this.#account, id);
      return taken.kind === 'refused' ? refused(taken.code) : done({ conversionId: taken.value.id });
    });

  state: ConversionDesk['state'] = (way: ConversionWay, conversionId: string) =>
    this.#ask('read', (): Outcome<ConversionState> => {
      if (way === 'rfq') {
        const found = this.#rfq.conversion(conversionId);
        return found ? done(stateOf(found)) : refused('rfq_conversion_not_found');
      }
      const found = this.#conversions.find(this.#account, conversionId);
      return found ? done(stateOfConversion(found)) : refused(NOT_FOUND);
    });

  find: ConversionDesk['find'] = (way, quoteId) =>
    this.#ask('read', () => {
      if (way === 'conversion') {
        const conversion = this.#conversions.ofQuote(this.#account, quoteId);
        return done(conversion ? stateOfConversion(conversion) : null);
      }
      const found = this.#rfq.conversionsOf(this.#account).find(({ quote }) => quote.id === quoteId);
      return done(found ? stateOf(found) : null);
    });

  /**
   * Sends a request and resolves with its answer. The request is executed when it arrives, at the exchange's time.
   * Request and answer can be lost.
   */
  async #ask<T>(kind: 'read' | 'write', work: () => Outcome<T>): Promise<Outcome<T>> {
    const { clock, there, back, admit } = this.#scene;
    const { latencyMs, timeoutMs, refusedShare, lostShare } = this.#options;
    const [lost, unwilling] = [this.#random.next(), this.#random.next()];
    const barred = admit();
    if (barred !== null) return barred;
    this.requests++;
    const go = latencyMs ?? there(clock.now());
    return new Promise(resolve => {
      if (lost < lostShare) {
        if (lost >= lostShare / 2) clock.after(go, () => void work());
        clock.after(timeoutMs, () => resolve({ kind: 'unknown', reason: 'no answer came' }));
        return;
      }
      clock.after(go, () => {
        const outcome = kind === 'write' && unwilling < refusedShare ? REFUSED : work();
        clock.after(latencyMs ?? back(clock.now()), () => resolve(outcome));
      });
    });
  }
}

/** Account at the exchange: its balances after fills and conversions, and the amounts locked by resting orders. */
class Funds extends Account {
  readonly #scene: DeskScene;

  constructor(scene: DeskScene) {
    super('replay', 1, scene.clock.now(), new Map());
    this.#scene = scene;
  }

  override total(currency: string): Money {
    return this.#scene.total(currency);
  }

  override locked(currency: string): Money {
    const { instrument, exchange, base } = this.#scene;
    let sum = super.locked(currency) as bigint;
    if (currency === instrument.major)
      for (const { left } of exchange.asks.orders) sum += BigInt(left) * instrument.lotMoney;
    else if (currency === instrument.minor)
      for (const { left, place } of exchange.bids.orders)
        sum += moneyOfValue(instrument, valueOf((place + base) as Price, left as Amount));
    return money(sum);
  }
}

function worldOf({ switches, capacity, beside = [] }: ReplayDeskOptions, scene: DeskScene): DeskWorld {
  const { clock, exchange, base, instrument, isKnown, swap } = scene;
  const ticks = (place: number, none: number): number => (place === none || !isKnown() ? 0 : place + base);
  const book: DeskBook = {
    // The desk derives its capacity from the largest order value, so a given capacity replaces that value.
    instrument: capacity === undefined ? instrument : { ...instrument, valueMax: valueFloor(instrument, capacity) },
    rules: { book: instrument.symbol },
    engine: {
      bestBid: () => ticks(exchange.seenBid, 0),
      bestAsk: () => ticks(exchange.seenAsk, exchange.book.last),
      eachLevel: exchange.eachLevel.bind(exchange, base),
    },
  };
  const books = new Map([[instrument.symbol, book]]);
  const asMuch = (other: Instrument): Value => {
    const { minor } = instrument;
    const rate = other.minor === minor ? ONE_TO_ONE : crossesFrom({ books }, minor).get(other.minor)?.rate;
    const { over, under } = rate ?? NO_RATE;
    return valueFloor(other, textOfMoney(money((moneyOf(capacity ?? '0') * over) / under)));
  };
  for (const recorded of beside) {
    const valueMax = capacity === undefined ? undefined : () => asMuch(recorded.instrument);
    books.set(recorded.instrument.symbol, recordedDeskBook(recorded, clock, valueMax));
  }
  return {
    clock,
    switches: switchesOf({ ...switches, ...(capacity !== undefined && { rfqCapacityPips: 10_000 }) }),
    books,
    swap: (account, pay, receive) => {
      if (!(pay.sum >= 0n && pay.sum <= account.available(pay.currency))) return false;
      swap(pay, receive);
      return true;
    },
  };
}

const ONE_TO_ONE = { over: 1n, under: 1n };
const NO_RATE = { over: 0n, under: 1n };
/** Whether a single book prices the pair. A chain of books would invent a price for a book without a recording. */
const isRecorded = ({ cross }: DeskPair): boolean => cross.path.length === 1;
/** Prices that are always present, so that the list of pairs does not depend on the time. */
const SOME_PRICE: DeskBook['engine'] = { bestBid: () => 1, bestAsk: () => 2, eachLevel: () => undefined };
const done = <T>(value: T): Outcome<T> => ({ kind: 'done', value });
const refused = (code: string): Outcome<never> => ({
  kind: 'refused',
  code,
  message: code,
  ...(code === EXECUTED_BEFORE ? { meaning: 'executed before' } : {}),
});
const leg = ({ currency, sum }: DeskSum) => ({ currency, amount: textOfMoney(sum) });
const stateOfConversion = ({ id, status, quote: { from, to } }: VenueConversion): ConversionState => ({
  id,
  status: status === 'completed' || status === 'failed' ? status : 'pending',
  give: leg(from),
  get: leg(to),
});
const STATUS = { PENDING: 'pending', FAILED: 'failed', COMPLETED: 'completed' } as const;
const stateOf = ({ id, status, quote: { pair, sourceSum, targetSum } }: DeskConversion): ConversionState => ({
  id,
  status: STATUS[status],
  give: leg({ currency: pair.source, sum: sourceSum }),
  get: leg({ currency: pair.target, sum: targetSum }),
});
