/**
 * Second embedded exchange: a venue with books, accounts and matching of its own that supports Binance's spot
 * interface.
 */
import { randomOf, type Clock, type DecimalText } from '../../core/index.ts';
import type { ServeRequest } from '../http/server.ts';
import type { FollowedPlace } from '../markets/market.ts';
import type { Stream } from '../stream/stream.ts';
import type { Respond } from '../http/rest.ts';
import { bookRow, NO_BOUND, type BookSetup } from '../venue/books.ts';
import { marketplaceOf } from '../venue/marketplace.ts';
import { truthOf, type Truth } from '../venue/truth.ts';
import { Venue, type AccountOptions } from '../venue/venue.ts';
import { binanceRest, servedBy } from './binanceRest.ts';
import type { BinanceWorld } from './binanceRoute.ts';
import { binanceStream } from './binanceStream.ts';
import { secondSwitchesOf, type SecondSwitches } from './binanceSwitches.ts';
import { bnbPayment } from './commissions.ts';
import { RequestWeights } from './requestWeights.ts';
import { ShownBooks } from './symbols.ts';

/** Fees as fractions of the received amount. */
export type FeeRates = { readonly maker: DecimalText; readonly taker: DecimalText };

export type SecondExchangeOptions = {
  readonly clock: Clock;
  readonly seed?: number;
  /** Listed books. Default: the books of SECOND_BOOKS. */
  readonly books?: readonly BookSetup[];
  /** Fees of every book. Default: 0.1% for maker and taker, as in the samples of rest-api.md. */
  readonly fees?: FeeRates;
  readonly switches?: Partial<SecondSwitches>;
};

export type SecondExchange = {
  readonly venue: Venue;
  /** Answers a request immediately, without lost, cut or replaced answers. */
  readonly respond: Respond;
  /** Answers a request with delays, throttling, and lost, cut and replaced answers. */
  readonly serveRequest: ServeRequest;
  readonly stream: Stream;
  readonly switches: SecondSwitches;
  /** Changes switches, effective immediately. */
  set(overrides: Partial<SecondSwitches>): SecondSwitches;
  openAccount(options?: AccountOptions): { readonly key: string; readonly secret: string; readonly id: string };
  /** Returns the interface of a book for a market simulator. Throws a RangeError if the book is not listed. */
  marketplace(book: string): FollowedPlace;
  /** Returns the complete true state, for test oracles. */
  truth(): Truth;
  /** Stops all timers. */
  close(): void;
};

/** Name of the venue whose interface the exchange supports. */
export const SECOND_VENUE = 'binance';

const FEES: FeeRates = { maker: '0.001', taker: '0.001' };

/**
 * Books and rules. All values are invented but near Binance's: ticks and steps of BTCUSDT as in common public captures,
 * not verified.
 */
export const SECOND_BOOKS: readonly BookSetup[] = [
  setupOf('btc_usdt', '0.01', ['0.00001', '9000'], ['0.01', '1000000'], ['5', '9000000']),
  setupOf('eth_usdt', '0.01', ['0.0001', '9000'], ['0.01', '1000000'], ['5', '9000000']),
  setupOf('btc_mxn', '1', ['0.00001', '900'], ['1000', '100000000'], ['100', '200000000']),
  setupOf('usdt_mxn', '0.001', ['0.1', '9000000'], ['0.1', '1000'], ['100', '200000000']),
  setupOf('bnb_usdt', '0.01', ['0.001', '900000'], ['0.01', '100000'], ['5', '9000000']),
];

/** Returns a book whose unit of amounts is its minimum amount. */
function setupOf(...row: Parameters<typeof bookRow>): BookSetup {
  const rules = bookRow(...row);
  return { ...rules, lot: rules.minimumAmount };
}

/**
 * Creates the exchange. `seed` (default 1) determines ids, delays and faults. Throws a RangeError on an invalid switch
 * or book rule.
 */
export function createSecondExchange(options: SecondExchangeOptions): SecondExchange {
  const seed = options.seed ?? 1;
  let switches = secondSwitchesOf(options.switches);
  const { clock: base } = options;
  const clock: Clock = {
    now: () => base.now() + switches.clockOffsetMs,
    elapsed: () => base.elapsed(),
    after: (ms, call) => base.after(ms, call),
  };
  const { maker, taker } = options.fees ?? FEES;
  const venue: Venue = new Venue({
    clock,
    seed,
    orderIds: 'growing',
    books: (options.books ?? SECOND_BOOKS).map(book => ({
      ...book,
      fees: { group: 'all', tiers: [{ volume: NO_BOUND, maker, taker }] },
    })),
    switches: {
      engineDelayMinMs: 0,
      engineDelayMaxMs: 0,
      finishedVisibleMs: 86_400_000,
      tradeRecordDelayMs: switches.tradeRecordDelayMs,
    },
    payFee: bnbPayment(() => ({ venue, switches })),
  });
  const [ids, faults, delays] = [randomOf(seed ^ 0xb1d), randomOf(seed ^ 0xfa17), randomOf(seed ^ 0xde1b)];
  const shown = new ShownBooks();
  const world: BinanceWorld = {
    venue,
    clock,
    shown,
    weights: new RequestWeights(clock),
    get switches() {
      return switches;
    },
    clientId: () => Array.from({ length: 22 }, () => LETTERS[ids.integer(0, LETTERS.length - 1)]).join(''),
    draws: pips => pips > 0 && faults.integer(0, 9_999) < pips,
  };
  const set = (overrides: Partial<SecondSwitches>): SecondSwitches => {
    switches = secondSwitchesOf(overrides, switches);
    venue.set({ tradeRecordDelayMs: switches.tradeRecordDelayMs });
    shown.freeze(switches.books === 'frozen' ? venue.books.values() : null);
    return switches;
  };
  set({});
  const respond = binanceRest(world);
  const stream = binanceStream(world);
  return {
    venue,
    respond,
    serveRequest: servedBy(world, respond, delays),
    stream,
    get switches() {
      return switches;
    },
    set,
    openAccount: account => venue.openAccount(account),
    marketplace: book => marketplaceOf(venue, book),
    truth: () => truthOf(venue),
    close: () => {
      stream.close();
      venue.close();
    },
  };
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
