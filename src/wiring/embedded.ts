/** Starts the embedded exchange with its market and one funded account, as the configuration asks. */
import { lotOf, moneyOf, pairOf, priceAcross, Secret } from '../core/index.ts';
import type { Clock, Millis } from '../core/index.ts';
import { externalReferenceOf } from '../config.ts';
import type { Config } from '../config.ts';
import {
  createVenue,
  FLOW_PROFILES,
  seededFlow,
  serve,
  linkedMarket,
  tapeMarket,
  withOperator,
} from '../sandbox/index.ts';
import type { DeliveryPort, EmbeddedExchange, Market } from '../sandbox/index.ts';
import type { Tape } from '../tape/index.ts';
import { UsageError } from './usageError.ts';
import { httpDeliveries } from './deliveries.ts';

export type Embedded = {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly key: string;
  readonly secret: Secret;
  readonly seed: number;
  readonly born: Millis;
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  /** The market is this recording; null: the seeded flow of the configured book. */
  readonly tape: Tape | null;
  readonly port: number;
  /** What a person changes to get another port. */
  readonly portFrom: string;
  /** Instead of the one in the configuration. */
  readonly seed?: number;
  /** Every book of the built-in market has one, not the configured book alone; a recording is of one book. */
  readonly allBooks?: boolean;
  /** Opens the operator's calls to who knows it. */
  readonly operatorToken?: string;
};

/** The same before it is served: in process, without a socket. */
export type Box = {
  readonly exchange: EmbeddedExchange;
  readonly account: { readonly id: string; readonly key: string; readonly secret: string };
  readonly seed: number;
  stop(): void;
};

/** The exchange with its market and one funded account. Throws `UsageError` for a remote exchange, and for a book that it has no market for. */
export function openBox(
  config: Config,
  clock: Clock,
  options: Pick<EmbeddedOptions, 'tape' | 'seed' | 'allBooks'> & { readonly deliveries?: DeliveryPort },
): Box {
  const { exchange, book } = config;
  if (exchange.kind !== 'embedded') throw new UsageError('this configuration has a remote exchange');
  const { tape } = options;
  const seed = options.seed ?? exchange.seed;
  const market =
    tape === null
      ? flowOf(book, seed)
      : tapeMarket(tape, { loop: exchange.market.kind === 'tape' ? exchange.market.loop : true });
  const venue = createVenue({
    clock,
    seed,
    switches: {
      engineDelayMinMs: Math.min(1, exchange.engineDelayMs),
      engineDelayMaxMs: exchange.engineDelayMs,
      // A recording has its own.
      ...(tape !== null && { feedDelayMinMs: 0, feedDelayMaxMs: 0 }),
    },
    ...(tape === null ? {} : { books: [{ ...tape.rules, ...countedIn(tape) }] }),
    ...(options.deliveries && { deliveries: options.deliveries }),
  });
  const [, group] = pairOf(book);
  const account = venue.openAccount({ balances: exchange.balances, volume30d: { [group]: exchange.volume30d } });
  market.start(venue.marketplace(book));
  const referenceMarkets = startReference(config, venue, seed);
  const others = tape === null && options.allBooks === true ? startOthers(config, venue, seed) : [];
  return {
    exchange: venue,
    account,
    seed,
    stop: () => {
      for (const other of [...referenceMarkets, ...others]) other.stop();
      market.stop();
      venue.close();
    },
  };
}

/**
 * On 127.0.0.1 alone; port 0 takes a free one. Rejects with `UsageError` as `openBox` throws, and when the port is taken: then nothing is left running.
 */
export async function startEmbedded(config: Config, clock: Clock, options: EmbeddedOptions): Promise<Embedded> {
  const deliveries = httpDeliveries();
  const box = openBox(config, clock, { ...options, deliveries });
  const { exchange, account, seed } = box;
  const { operatorToken } = options;
  try {
    const respond = operatorToken === undefined ? exchange.respond : withOperator(exchange, operatorToken);
    const server = await serve({ respond, stream: exchange.stream }, { host: '127.0.0.1', port: options.port });
    return {
      origin: server.url,
      key: account.key,
      secret: new Secret(account.secret),
      seed,
      born: clock.now(),
      stop: async () => {
        await server.close();
        box.stop();
        await deliveries.close();
      },
    };
  } catch (error) {
    box.stop();
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${why}; choose another port with ${options.portFrom}, or 0 for any free port`);
  }
}

/** Markets in the books of the configured reference: the last ones their own flow, the first so that the price through all is that of our book a moment ago. */
function startReference(config: Config, venue: EmbeddedExchange, seed: number): readonly Market[] {
  const reference = externalReferenceOf(config);
  const [first, ...others] = reference?.legs ?? [];
  if (reference === null || first === undefined) return [];
  // What a feed tells is not for us to lead: the other books live their own lives.
  if (reference.feeds.size > 0) {
    return reference.read.map((book, i) => {
      const flow = flowOf(book, seed + 1 + i);
      flow.start(venue.marketplace(book));
      return flow;
    });
  }
  const mid = (book: string): number => {
    const place = venue.marketplace(book);
    const [bid, ask] = [place.bestBid(), place.bestAsk()];
    return bid > 0 && ask > 0 ? ((bid + ask) / 2) * Number(place.instrument.tick) : Number.NaN;
  };
  const flows = others.map((leg, i): [string, Market] => [leg.book, flowOf(leg.book, seed + 1 + i)]);
  const price = (): number => {
    const rest =
      mid(config.book) /
      priceAcross(
        others,
        others.map(({ book }) => mid(book)),
      );
    return (first.divides ? 1 / rest : rest) / Number(venue.marketplace(first.book).instrument.tick);
  };
  const markets = [...flows, [first.book, linkedMarket({ price, everyMs: 1_000 })] as const];
  for (const [book, market] of markets) market.start(venue.marketplace(book));
  return markets.map(([, market]) => market);
}

/** Flows in the books that have none yet. */
function startOthers(config: Config, venue: EmbeddedExchange, seed: number): readonly Market[] {
  const taken = [config.book, ...(externalReferenceOf(config)?.read ?? [])];
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

/** A tape may count finer than its rules ask for: its amounts stay exact. */
function countedIn({ instrument: { lot }, rules }: Tape): { readonly lot?: string } {
  return moneyOf(lot) < moneyOf(lotOf(rules)) ? { lot } : {};
}
