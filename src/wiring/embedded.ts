/** Embedded exchange with its configured market and one funded account. */
import { lotOf, moneyOf, pairOf, priceAcross, Secret, type Clock, type Millis } from '../core/index.ts';
import { externalReferenceOf, type Config } from '../config.ts';
import {
  createVenue,
  FLOW_PROFILES,
  seededFlow,
  serve,
  linkedMarket,
  SECOND_VENUE,
  tapeMarket,
  withOperator,
  withSecondOperator,
  type DeliveryPort,
  type EmbeddedExchange,
  type Market,
  type Served,
} from '../sandbox/index.ts';
import type { Tape } from '../tape/index.ts';
import type { ElsewhereAccess } from './elsewhere/access.ts';
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
  /** Second exchange, if configured. */
  readonly elsewhere?: ElsewhereAccess;
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  /** Recording that serves as the market; `null` for the seeded flow of the configured book. */
  readonly tape: Tape | null;
  readonly port: number;
  /** Name of the setting with which the operator changes the port, for errors. */
  readonly portFrom: string;
  /** Seed that overrides the configured one. */
  readonly seed?: number;
  /**
   * Whether every book of the built-in market has a flow, not only the configured book. A recording has only one book.
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
  /** Second exchange, if configured. */
  readonly second: SecondBox | null;
  stop(): void;
};

/**
 * Returns the exchange with its market and one funded account.
 * @throws UsageError for a remote exchange, for a book without a market, or for a configured recording without a tape.
 */
export function openBox(
  config: Config,
  clock: Clock,
  options: Pick<EmbeddedOptions, 'tape' | 'seed' | 'allBooks'> & { readonly deliveries?: DeliveryPort },
): Box {
  const { exchange, book } = config;
  if (exchange.kind !== 'embedded') throw new UsageError(`exchange.kind: expected embedded, found ${exchange.kind}`);
  const { tape } = options;
  if (tape === null && exchange.market.kind === 'tape')
    throw new UsageError(
      `exchange.market: this command does not replay a recording, but the configuration has the recording ${exchange.market.dir}; remove the section market for the built-in market`,
    );
  if (tape !== null && config.elsewhere?.kind === 'embedded')
    throw new UsageError(
      'elsewhere: there is no second exchange if the market is a recording (--tape); remove the section elsewhere, or run without --tape',
    );
  const seed = options.seed ?? exchange.seed;
  const second = tape === null ? secondOf(config, clock, seed) : null;
  const market =
    tape === null
      ? (second?.marketHere(book) ?? flowOf(book, seed))
      : tapeMarket(tape, { loop: exchange.market.kind === 'tape' ? exchange.market.loop : true });
  const venue = createVenue({
    clock,
    seed,
    switches: {
      engineDelayMinMs: Math.min(1, exchange.engineDelayMs),
      engineDelayMaxMs: exchange.engineDelayMs,
      // A recording already includes the delay of its market data.
      ...(tape !== null && { feedDelayMinMs: 0, feedDelayMaxMs: 0 }),
    },
    ...(tape === null ? {} : { books: [{ ...tape.rules, ...countedIn(tape) }] }),
    ...(options.deliveries && { deliveries: options.deliveries }),
  });
  const [, group] = pairOf(book);
  const account = venue.openAccount({ balances: exchange.balances, volume30d: { [group]: exchange.volume30d } });
  if (exchange.fees) venue.venue.changeBook(book, {}, exchange.fees);
  market.start(venue.marketplace(book));
  const referenceMarkets = second ? startLinked(config, venue, second) : startReference(config, venue, seed);
  const others = tape === null && options.allBooks === true ? startOthers(config, venue, seed, second) : [];
  return {
    exchange: venue,
    account,
    seed,
    second,
    stop: () => {
      for (const other of [...referenceMarkets, ...others]) other.stop();
      market.stop();
      second?.stop();
      venue.close();
    },
  };
}

/**
 * Serves the exchange on 127.0.0.1 only; port 0 selects a free port. Rejects with `UsageError` if `openBox` throws this
 * error or if the port is in use. After a rejection, nothing keeps running.
 */
export async function startEmbedded(config: Config, clock: Clock, options: EmbeddedOptions): Promise<Embedded> {
  const deliveries = httpDeliveries();
  const box = openBox(config, clock, { ...options, deliveries });
  const { exchange, account, seed, second } = box;
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
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${why}; choose another port with ${options.portFrom}, or 0 for any free port`);
  }
}

/** Returns the second exchange, or `null` if none is configured. Throws a `UsageError` for books without a market. */
function secondOf(config: Config, clock: Clock, seed: number): SecondBox | null {
  const { elsewhere } = config;
  if (elsewhere?.kind !== 'embedded') return null;
  const problem = secondProblem(config, elsewhere);
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
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${why}; choose another port with elsewhere.port, or 0 for any free port`);
  }
}

/**
 * Starts the markets of the second exchange. On the first, starts linked markets in the book between the quote
 * currencies of both traded books, and in the books of the configured reference price.
 */
function startLinked(config: Config, venue: EmbeddedExchange, second: SecondBox): readonly Market[] {
  second.start();
  const { book, elsewhere } = config;
  const between = bookBetween([...venue.venue.books.keys()], pairOf(book)[1], pairOf(elsewhere!.book)[1]);
  const books = new Set([...(between === null ? [] : [between]), ...(externalReferenceOf(config)?.read ?? [])]);
  books.delete(book);
  return [...books].map(name => {
    const market = second.marketHere(name);
    market.start(venue.marketplace(name));
    return market;
  });
}

/**
 * Starts markets in the books of the configured reference price that are read from this exchange. If some of them lead
 * from the base to the quote currency, the first of these is linked, so that the price through them equals the traded
 * book's recent price. Each of the other books has its own flow.
 */
function startReference(config: Config, venue: EmbeddedExchange, seed: number): readonly Market[] {
  const { read, here } = externalReferenceOf(config) ?? { read: [], here: [] };
  const [first, ...others] = here;
  const mid = (book: string): number => {
    const place = venue.marketplace(book);
    const [bid, ask] = [place.bestBid(), place.bestAsk()];
    return bid > 0 && ask > 0 ? ((bid + ask) / 2) * Number(place.instrument.tick) : Number.NaN;
  };
  const markets = read
    .filter(book => book !== first?.book)
    .map((book, i): [string, Market] => [book, flowOf(book, seed + 1 + i)]);
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
  for (const [book, market] of markets) market.start(venue.marketplace(book));
  return markets.map(([, market]) => market);
}

/** Starts flows in the built-in books other than the traded book and the books of the reference price. */
function startOthers(
  config: Config,
  venue: EmbeddedExchange,
  seed: number,
  second: SecondBox | null,
): readonly Market[] {
  const { book: traded, elsewhere } = config;
  const between = second && bookBetween(Object.keys(FLOW_PROFILES), pairOf(traded)[1], pairOf(elsewhere!.book)[1]);
  const taken = [traded, between, ...(externalReferenceOf(config)?.read ?? [])];
  return Object.keys(FLOW_PROFILES).flatMap((book, i) => {
    if (taken.includes(book)) return [];
    const flow = flowOf(book, seed + 101 + i);
    flow.start(venue.marketplace(book));
    return [flow];
  });
}

function flowOf(book: string, seed: number): Market {
  const profile = FLOW_PROFILES[book];
  if (!profile) {
    throw new UsageError(
      `the embedded exchange has no market for ${book}; expected one of ${Object.keys(FLOW_PROFILES).join(', ')}, or a recording with --tape DIR`,
    );
  }
  return seededFlow({ seed, profile });
}

/**
 * Returns the lot of a tape if the lot is finer than the lot of the tape's rules. The amounts of the tape then remain
 * exact.
 */
function countedIn({ instrument: { lot }, rules }: Tape): { readonly lot?: string } {
  return moneyOf(lot) < moneyOf(lotOf(rules)) ? { lot } : {};
}
