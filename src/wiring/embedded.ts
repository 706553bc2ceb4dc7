/** Embedded exchange with its configured market and one funded account. */
import {
  cyclesOf,
  lotOf,
  moneyOf,
  pairOf,
  priceAcross,
  Secret,
  type Clock,
  type Millis,
  textOfError,
} from '../core/index.ts';
import {
  embeddedFeesOf,
  externalReferenceOf,
  flowMarketOf,
  liveBooksOf,
  marketBooksOf,
  marketModelOf,
  recordedBooksOf,
  type Config,
} from '../config.ts';
import {
  arbitrageur,
  createVenue,
  feesOf,
  FLOW_PROFILES,
  isLinkedCurrency,
  linkedFlows,
  linkedMarket,
  SECOND_VENUE,
  serve,
  simulatedMarket,
  tapeMarket,
  TapeRounds,
  withOperator,
  withSecondOperator,
  type DeliveryPort,
  type EmbeddedExchange,
  type Market,
  type MarketModel,
  type Served,
} from '../sandbox/index.ts';
import type { Tape } from '../tape/index.ts';
import { newPause, type ElsewhereAccess } from './elsewhere/access.ts';
import { bookBetween, openSecond, secondProblem, type SecondBox } from './elsewhere/secondExchange.ts';
import { UsageError } from './usageError.ts';
import { httpDeliveries } from './deliveries.ts';

export type Embedded = {
  /** Origin of the exchange's URL: scheme, host and port. */
  readonly origin: string;
  readonly key: string;
  readonly secret: Secret;
  readonly seed: number;
  readonly born: Millis;
  /** Books with a market, the traded book first. */
  readonly books: readonly string[];
  /** Second exchange, if configured. */
  readonly elsewhere?: ElsewhereAccess;
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  /**
   * Recordings that serve as the market, that of the traded book first; empty for the simulated market of the
   * configured books.
   */
  readonly tapes: readonly Tape[];
  readonly port: number;
  /** Name of the setting with which the operator changes the port, for errors. */
  readonly portFrom: string;
  /** Seed that overrides the configured one. */
  readonly seed?: number;
  /**
   * Whether every book of the built-in market has a flow, not only the configured books. No effect with recordings.
   */
  readonly allBooks?: boolean;
  /** Token for the operator's calls. */
  readonly operatorToken?: string;
};

/** Embedded exchange in this process, without a socket. */
export type Box = {
  readonly exchange: EmbeddedExchange;
  readonly account: { readonly id: string; readonly key: string; readonly secret: string };
  readonly seed: number;
  /** Books with a market, the traded book first. */
  readonly books: readonly string[];
  /** Second exchange, if configured. */
  readonly second: SecondBox | null;
  stop(): void;
};

/**
 * Returns the exchange with its market and one funded account.
 * @throws UsageError for a remote exchange, for a book without a market, for configured recordings without their tapes,
 *   or for tapes that cannot be replayed together.
 */
export function openBox(
  config: Config,
  clock: Clock,
  options: Pick<EmbeddedOptions, 'tapes' | 'seed' | 'allBooks'> & { readonly deliveries?: DeliveryPort },
): Box {
  const { exchange, book } = config;
  if (exchange.kind !== 'embedded') throw new UsageError(`exchange.kind: expected embedded, found ${exchange.kind}`);
  const { tapes } = options;
  const [tape = null] = tapes;
  if (tape === null && exchange.market.kind === 'tape')
    throw new UsageError(
      `exchange.market: this command does not replay a recording, but the configuration has the recording ${exchange.market.dir}; remove the section market for the built-in market`,
    );
  if (tape !== null && config.elsewhere?.kind === 'embedded')
    throw new UsageError(
      'elsewhere: there is no second exchange if the market is a recording (--tape); remove the section elsewhere, or run without --tape',
    );
  const shared = marketBooksOf(exchange);
  if (tape !== null && shared !== undefined)
    throw new UsageError(
      'exchange.market.books: the market is a recording (--tape), which has one book; remove the key books, or run without --tape',
    );
  if (tape !== null && tapes.length !== 1 + Object.keys(recordedBooksOf(exchange) ?? {}).length)
    throw new UsageError(
      'exchange.market.books: --tape replaces the recordings of the configuration by one recording; remove the key books, or run without --tape',
    );
  const seed = options.seed ?? exchange.seed;
  const model = marketModelOf(exchange);
  const linkedBooks = tape === null ? linkedBooksOf(config) : null;
  const openArbitrage = shared && linkedBooks && arbitrageOf(exchange, [book, ...linkedBooks]);
  const second = tape === null ? secondOf(config, clock, seed) : null;
  const linked = linkedBooks && linkedMarkets(exchange, seed, second);
  const loop = exchange.market.kind === 'tape' ? exchange.market.loop : true;
  const recorded = tape === null ? null : recordedMarkets(tapes, loop);
  if (recorded !== null) refuseUnrecorded(config, recorded);
  const market = recorded?.get(book) ?? linked?.(book) ?? simulatedOf(book, seed, model);
  const venue = createVenue({
    clock,
    seed,
    switches: {
      engineDelayMinMs: Math.min(1, exchange.engineDelayMs),
      engineDelayMaxMs: exchange.engineDelayMs,
      // A recording already includes the delay of its market data.
      ...(tape !== null && { feedDelayMinMs: 0, feedDelayMaxMs: 0 }),
    },
    ...(tape === null ? {} : { books: tapes.map(each => ({ ...each.rules, ...countedIn(each) })) }),
    ...(options.deliveries && { deliveries: options.deliveries }),
  });
  const live = [...liveBooksOf(exchange, book)];
  const volume30d = Object.fromEntries(live.map(name => [feesOf(pairOf(name)[1]).group, exchange.volume30d]));
  const account = venue.openAccount({ balances: exchange.balances, volume30d });
  for (const name of live) {
    const fees = embeddedFeesOf(exchange, book, name);
    if (fees) venue.venue.changeBook(name, {}, fees);
  }
  const markets = new Map<string, Market>();
  const start = (name: string, each: Market) => {
    markets.set(name, each);
    each.start(venue.marketplace(name));
  };
  let arbitrage: ReturnType<typeof arbitrageur> | undefined;
  const stop = () => {
    arbitrage?.stop();
    for (const each of markets.values()) each.stop();
    second?.stop();
    venue.close();
  };
  try {
    start(book, market);
    second?.start();
    const others =
      recorded ??
      (linked === null
        ? referenceMarkets(config, venue, seed)
        : (linkedBooks ?? []).map((name): [string, Market] => [name, linked(name)]));
    for (const [name, each] of others) if (name !== book) start(name, each);
    if (tape === null && options.allBooks === true)
      Object.keys(FLOW_PROFILES).forEach((name, i) => {
        if (markets.has(name)) return;
        start(name, linked === null || shared === undefined ? simulatedOf(name, seed + 101 + i, model) : linked(name));
      });
    arbitrage = openArbitrage?.(venue, seed);
    arbitrage?.start();
  } catch (error) {
    stop();
    throw error;
  }
  return { exchange: venue, account, seed, books: [...markets.keys()], second, stop };
}

/**
 * Serves the exchange on 127.0.0.1 only; port 0 selects a free port. Rejects with `UsageError` if `openBox` throws this
 * error or if the port is in use. After a rejection, nothing keeps running.
 */
export async function startEmbedded(config: Config, clock: Clock, options: EmbeddedOptions): Promise<Embedded> {
  const deliveries = httpDeliveries();
  let box: Box;
  try {
    box = openBox(config, clock, { ...options, deliveries });
  } catch (error) {
    await deliveries.close();
    throw error;
  }
  const { exchange, account, seed, books, second } = box;
  const { operatorToken } = options;
  const servers: Served[] = [];
  try {
    const respond = operatorToken === undefined ? exchange.respond : withOperator(exchange, operatorToken);
    const server = await serve({ respond, stream: exchange.stream }, { host: '127.0.0.1', port: options.port });
    servers.push(server);
    const elsewhere = second ? await serveSecond(config, second, servers, operatorToken) : null;
    return {
      origin: server.url,
      key: account.key,
      secret: new Secret(account.secret),
      seed,
      born: clock.now(),
      books,
      ...(elsewhere && { elsewhere }),
      stop: async () => {
        for (const each of servers) await each.close();
        box.stop();
        await deliveries.close();
      },
    };
  } catch (error) {
    for (const each of servers) await each.close();
    box.stop();
    await deliveries.close();
    if (error instanceof UsageError) throw error;
    const why = textOfError(error);
    throw new UsageError(`${why}; choose another port with ${options.portFrom}, or 0 for any free port`);
  }
}

/**
 * Returns the second exchange, or `null` if none is configured. Throws a `UsageError` for a book that it does not list.
 */
function secondOf(config: Config, clock: Clock, seed: number): SecondBox | null {
  const { elsewhere } = config;
  if (elsewhere?.kind !== 'embedded') return null;
  const problem = secondProblem(elsewhere);
  if (problem !== null) throw new UsageError(problem);
  return openSecond(config, elsewhere, clock, seed);
}

/** Serves the second exchange on 127.0.0.1 and returns the access of its account. */
async function serveSecond(
  { elsewhere }: Config,
  { exchange, account }: SecondBox,
  servers: Served[],
  operatorToken: string | undefined,
): Promise<ElsewhereAccess> {
  if (elsewhere?.kind !== 'embedded')
    throw new Error(`elsewhere.kind: expected embedded, found ${elsewhere?.kind ?? 'no section elsewhere'}`);
  const { serveRequest, stream } = exchange;
  const operated = operatorToken === undefined ? serveRequest : withSecondOperator(exchange, operatorToken);
  try {
    const server = await serve({ serveRequest: operated, stream }, { host: '127.0.0.1', port: elsewhere.port });
    servers.push(server);
    return {
      venue: SECOND_VENUE,
      book: elsewhere.book,
      restUrl: server.url,
      streamUrl: server.url.replace(/^http/, 'ws'),
      key: account.key,
      secret: new Secret(account.secret),
      pause: newPause(),
    };
  } catch (error) {
    const why = textOfError(error);
    throw new UsageError(`${why}; choose another port with elsewhere.port, or 0 for any free port`);
  }
}

/**
 * Returns the books beside the traded one whose markets follow the same underlying price per currency: those of
 * `exchange.market.books` and of the reference price, and with a second exchange the book between the quote currencies
 * of both traded books. Returns `null` if the traded book has a price of its own.
 * @throws UsageError for a book whose currencies have no underlying price, or that the exchange does not list.
 */
function linkedBooksOf(config: Config): readonly string[] | null {
  const { book, exchange, elsewhere } = config;
  const shared = marketBooksOf(exchange);
  if (shared === undefined && elsewhere?.kind !== 'embedded') return null;
  const named = Object.keys(shared ?? {});
  for (const name of named) refuseUnlinked(name, 'exchange.market.books: ');
  const between =
    elsewhere?.kind === 'embedded'
      ? bookBetween(Object.keys(FLOW_PROFILES), pairOf(book)[1], pairOf(elsewhere.book)[1])
      : null;
  const read = externalReferenceOf(config)?.read ?? [];
  for (const name of [book, ...read]) refuseUnlinked(name);
  const books = new Set([...(between === null ? [] : [between]), ...named, ...read]);
  books.delete(book);
  return [...books];
}

/**
 * Throws `UsageError` if a currency of the book has no underlying price, or if the exchange does not list the book.
 * `where`: start of the message.
 */
function refuseUnlinked(book: string, where = ''): void {
  const books = Object.keys(FLOW_PROFILES);
  const unknown = pairOf(book).find(currency => !isLinkedCurrency(currency));
  if (unknown === undefined && books.includes(book)) return;
  const why = unknown === undefined ? `does not list ${book}` : `cannot simulate the price of ${unknown} in ${book}`;
  throw new UsageError(`${where}the embedded exchange ${why}; expected one of ${books.join(', ')}`);
}

/**
 * Returns the replay of each recording by its book, all on one clock.
 * @throws UsageError if a recording cannot be replayed, or if the recordings have no time in common.
 */
function recordedMarkets(tapes: readonly Tape[], loop: boolean): ReadonlyMap<string, Market> {
  const markets = new Map<string, Market>();
  try {
    const rounds = new TapeRounds(tapes);
    for (const tape of tapes) markets.set(tape.instrument.symbol, tapeMarket(tape, { loop, rounds }));
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
  return markets;
}

/** Throws `UsageError` if the reference price reads a book of this exchange that is not among the recorded ones. */
function refuseUnrecorded(config: Config, recorded: ReadonlyMap<string, Market>): void {
  const missing = (externalReferenceOf(config)?.read ?? []).filter(name => !recorded.has(name)).join(', ');
  if (missing === '') return;
  throw new UsageError(
    `reference: expected a recording of ${missing}, because the market of this exchange is a recording; name all recordings in exchange.market (kind: tape, dir, books) and run without --tape, or remove the section reference`,
  );
}

/**
 * Returns a function that creates the market of a book from the underlying price per currency, with the lag and the
 * noise of the book.
 */
function linkedMarkets(exchange: Config['exchange'], seed: number, second: SecondBox | null): (book: string) => Market {
  if (second) return book => second.marketHere(book);
  const { correlation, books } = flowMarketOf(exchange) ?? {};
  const flows = linkedFlows({ seed, correlation });
  return book => {
    const [base, quote] = pairOf(book);
    return flows.here(base, quote, false, books?.[book]);
  };
}

/**
 * Returns the configured arbitrageur, which is not started yet; `null` if none is configured. `books`: the live books.
 * @throws UsageError if no three of the books form a cycle.
 */
function arbitrageOf(
  exchange: Config['exchange'],
  books: readonly string[],
): ((venue: EmbeddedExchange, seed: number) => ReturnType<typeof arbitrageur>) | null {
  const settings = flowMarketOf(exchange)?.arbitrageur;
  if (settings === undefined) return null;
  if (cyclesOf(books).length === 0)
    throw new UsageError(
      `exchange.market.arbitrageur: expected three live books that form a cycle, like btc_mxn, btc_usd and usd_mxn; found ${books.join(', ')}; add books to exchange.market.books, or remove this key`,
    );
  return (venue, seed) =>
    arbitrageur(new Map(books.map(book => [book, venue.marketplace(book)])), { seed, ...settings });
}

/**
 * Returns markets for the books of the configured reference price that are read from this exchange. If some of them
 * lead from the base to the quote currency, the first one follows the traded book. The price through these books then
 * equals the traded book's recent price. Each of the other books has its own flow.
 */
function referenceMarkets(
  config: Config,
  venue: EmbeddedExchange,
  seed: number,
): readonly (readonly [book: string, market: Market])[] {
  const { read, here } = externalReferenceOf(config) ?? { read: [], here: [] };
  const [first, ...others] = here;
  const mid = (book: string): number => {
    const place = venue.marketplace(book);
    const [bid, ask] = [place.bestBid(), place.bestAsk()];
    return bid > 0 && ask > 0 ? ((bid + ask) / 2) * Number(place.instrument.tick) : Number.NaN;
  };
  const markets = read
    .filter(book => book !== first?.book)
    .map((book, i): [string, Market] => [book, simulatedOf(book, seed + 1 + i, marketModelOf(config.exchange))]);
  if (first !== undefined) {
    const price = (): number => {
      const rest =
        mid(config.book) /
        priceAcross(
          others,
          others.map(({ book }) => mid(book)),
        );
      return (first.divides ? 1 / rest : rest) / Number(venue.marketplace(first.book).instrument.tick);
    };
    markets.push([first.book, linkedMarket({ price, everyMs: 1_000 })]);
  }
  return markets;
}

function simulatedOf(book: string, seed: number, model: MarketModel): Market {
  const profile = FLOW_PROFILES[book];
  if (!profile) {
    throw new UsageError(
      `the embedded exchange has no market for ${book}; expected one of ${Object.keys(FLOW_PROFILES).join(', ')}, or a recording with --tape DIR`,
    );
  }
  return simulatedMarket(model, { seed, profile });
}

/**
 * Returns the lot in which a tape counts amounts if it is finer than the lot of the book's rules, so recorded amounts
 * stay exact; otherwise an empty object.
 */
function countedIn({ instrument: { lot }, rules }: Tape): { readonly lot?: string } {
  return moneyOf(lot) < moneyOf(lotOf(rules)) ? { lot } : {};
}
