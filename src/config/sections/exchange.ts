/**
 * Keys of the exchange, embedded or remote, with request budgets and the deadline of a request; and of the other
 * exchange, which may be a second embedded one with linked markets.
 */
import { z } from 'zod';
import { BOOK_NAME } from '../../core/index.ts';
import { decimalText } from '../../../strategies/index.ts';
import { address, balances, baseAddress, millis, port, rate } from './values.ts';

const requests = {
  budgets: z
    .strictObject({
      publicPerMinute: z
        .int()
        .min(1)
        .max(100_000)
        .default(54)
        .describe('Public requests per 60 s (exchange limit: 60 per address).'),
      privatePerMinute: z
        .int()
        .min(1)
        .max(100_000)
        .default(270)
        .describe('Private requests other than cancels, per 60 s (exchange limit: 300 per account).'),
    })
    .prefault({})
    .describe('Request budgets. Exceeding the exchange limits causes a one-minute lockout.'),
  requestTimeoutMs: millis(100, 60_000).default(5_000).describe("Timeout after which a request's outcome is unknown."),
  stream: z.boolean().default(true).describe('Whether the WebSocket stream replaces polling.'),
  authentication: z
    .enum(['bitso', 'headers'])
    .default('bitso')
    .describe('bitso: signature in one Authorization header; headers: in three headers.'),
};

const feeRates = z.strictObject({
  maker: rate.describe('Maker fee (fraction).'),
  taker: rate.describe('Taker fee (fraction).'),
});

const marketBook = z.strictObject({
  lagMs: millis(0, 60_000).default(0).describe('Lag of this book behind the books with lagMs 0.'),
  noiseBps: z
    .number()
    .min(0)
    .max(1_000)
    .optional()
    .describe(
      'Standard deviation of the noise of this book around the underlying prices that all books share. If omitted, elsewhere.noiseBps.here, or 0.5.',
    ),
  fees: feeRates.optional().describe('Fees of this book, as fractions. If omitted, the fee tier of volume30d.'),
});

const recordedBook = z.strictObject({
  dir: z.string().min(1).max(4_096).describe('Folder of the recording of this book, relative to this file.'),
  fees: feeRates.optional().describe('Fees of this book, as fractions. If omitted, the fee tier of volume30d.'),
});

const market = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('flow').describe('Simulated, seeded traders.'),
      books: z
        .record(z.string().regex(BOOK_NAME, 'expected <base>_<quote>, like btc_usd'), marketBook)
        .optional()
        .describe(
          'More books with simulated traders, whose cross prices agree; may include the traded book. If omitted, only the traded book has traders.',
        ),
      correlation: z
        .number()
        .min(0)
        .max(0.99)
        .optional()
        .describe(
          'Correlation of the price moves, in usdt, of any two of btc, eth, xrp, sol, ltc and bnb. If omitted, 0.',
        ),
      arbitrageur: z
        .strictObject({
          costBps: z.number().min(0).max(1_000).default(10).describe('Cost of each trade of the arbitrageur.'),
          everyMs: millis(10, 3_600_000).default(1_000).describe('Mean time between two looks at the prices.'),
        })
        .optional()
        .describe(
          'Trader that takes from three of the books when their prices disagree by more than the costs of three trades. If omitted, there is none.',
        ),
    })
    .describe('Market of simulated traders.'),
  z
    .strictObject({
      kind: z
        .literal('lifelike')
        .describe('Simulated, seeded traders with the short-term structure of recorded books.'),
      imbalanceSignal: z
        .boolean()
        .default(true)
        .describe(
          'Whether a hidden signal, which the best amounts show, moves the price. If false, imbalance predicts less.',
        ),
    })
    .describe('Market of simulated traders for strategies on imbalance, flow and depth.'),
  z
    .strictObject({
      kind: z.literal('tape').describe('Replay of a recording.'),
      dir: z.string().min(1).max(4_096).describe('Folder of the recording, relative to this file.'),
      books: z
        .record(z.string().regex(BOOK_NAME, 'expected <base>_<quote>, like btc_usd'), recordedBook)
        .optional()
        .describe('Recordings of more books, replayed at the times at which they were recorded. If omitted, none.'),
      loop: z.boolean().default(true).describe('Whether to repeat the recording.'),
    })
    .describe('Recorded market.'),
]);

const embedded = z.strictObject({
  kind: z.literal('embedded').describe('Embedded exchange with play money; needs no key.'),
  seed: z.int().min(0).max(2_147_483_647).default(1).describe('Random seed.'),
  engineDelayMs: millis(0, 60_000).default(50).describe('Delay before an order is matched.'),
  market: market.prefault({ kind: 'flow' }).describe("Source of the other traders' orders."),
  balances: balances.default({ btc: '1.5', mxn: '2000000' }).describe('Opening balances by currency.'),
  volume30d: decimalText.default('200000000').describe('30-day volume (in each quote currency), for the fee tier.'),
  fees: feeRates.optional().describe('Fees of the traded book, as fractions. If omitted, the fee tier of volume30d.'),
  port: port.default(0).describe('Port on 127.0.0.1; 0 selects a free port.'),
  ...requests,
});

const remote = z.strictObject({
  kind: z.literal('remote').describe('Remote exchange with your key.'),
  venue: z.string().optional().describe('Exchange name: bitso (default), binance or kraken.'),
  acceptUntried: z
    .string()
    .optional()
    .describe(
      'Name of this exchange. Permits real orders although Puntas has traded only with test doubles of the exchange.',
    ),
  restUrl: baseAddress.describe('REST address, like https://api.bitso.com.'),
  rfqUrl: baseAddress.optional().describe('RFQ address. If omitted, restUrl.'),
  webhookUrl: baseAddress.optional().describe('Webhook address. If omitted, restUrl.'),
  streamUrl: address(/^wss?:$/, 'wss://ws.example.com')
    .optional()
    .describe('Stream address, like wss://ws.bitso.com. If omitted, books are polled.'),
  ...requests,
});

export const exchangeKeys = z.discriminatedUnion('kind', [embedded, remote]).describe('Exchange to trade on.');

export type RemoteSettings = z.infer<typeof remote>;

type ExchangeSettings = z.infer<typeof exchangeKeys>;

/** Returns the market of simulated traders of the embedded exchange; `undefined` for another market or exchange. */
export const flowMarketOf = (exchange: ExchangeSettings) =>
  exchange.kind === 'embedded' && exchange.market.kind === 'flow' ? exchange.market : undefined;

/** Returns the model of the simulated traders; the seeded flow for a recording or a remote exchange. */
export const marketModelOf = (exchange: ExchangeSettings) =>
  exchange.kind === 'embedded' && exchange.market.kind === 'lifelike' ? exchange.market : ({ kind: 'flow' } as const);

/**
 * Returns the books of the embedded exchange that are simulated from the same underlying prices as the traded book;
 * `undefined` if there are none.
 */
export const marketBooksOf = (exchange: ExchangeSettings) => flowMarketOf(exchange)?.books;

/**
 * Returns the recorded books besides the traded one that the embedded exchange replays; `undefined` if there are none.
 */
export const recordedBooksOf = (exchange: ExchangeSettings) =>
  exchange.kind === 'embedded' && exchange.market.kind === 'tape' ? exchange.market.books : undefined;

/** Returns `exchange.market.books`, simulated or recorded; `undefined` without this key. */
export const namedBooksOf = (exchange: ExchangeSettings) => marketBooksOf(exchange) ?? recordedBooksOf(exchange);

/** Returns the books that the configuration names as live: the traded book, and those of `exchange.market.books`. */
export const liveBooksOf = (exchange: ExchangeSettings, traded: string): ReadonlySet<string> =>
  new Set([traded, ...Object.keys(namedBooksOf(exchange) ?? {})]);

/**
 * Returns the fees that the embedded exchange charges in `book` instead of its fee tiers; `undefined` if none are set.
 * `traded`: the traded book.
 */
export const embeddedFeesOf = (
  exchange: z.infer<typeof exchangeKeys>,
  traded: string,
  book: string,
): z.infer<typeof feeRates> | undefined =>
  (exchange.kind === 'embedded' && book === traded ? exchange.fees : undefined) ?? namedBooksOf(exchange)?.[book]?.fees;

/** Keys that both kinds of the other exchange have. */
const there = {
  book: z
    .string()
    .regex(BOOK_NAME, 'expected <base>_<quote>, like btc_usdt')
    .describe('Book on the other exchange, <base>_<quote>.'),
  requestTimeoutMs: millis(100, 60_000).default(5_000).describe("Timeout after which a request's outcome is unknown."),
  stream: z.boolean().default(true).describe('Whether the WebSocket stream replaces polling.'),
};

const distanceBps = (fallback: number, min = 0) => z.number().min(min).max(1_000).default(fallback);

const basis = z
  .strictObject({
    constantBps: distanceBps(0, -1_000).describe('Constant part of the basis.'),
    revertingBps: distanceBps(2).describe('Standard deviation of the mean-reverting part of the basis.'),
    revertingS: z
      .number()
      .min(1)
      .max(86_400)
      .default(300)
      .describe('Time constant of the mean-reverting part of the basis (s).'),
    walkBpsPerHour: distanceBps(0).describe('Standard deviation of the random-walk part of the basis after an hour.'),
  })
  .prefault({})
  .describe("Basis: distance of the first exchange's price from the second exchange's price.");

const secondEmbedded = z.strictObject({
  kind: z.literal('embedded').describe('Second embedded exchange, with markets linked to the first.'),
  ...there,
  seed: z.int().min(0).max(2_147_483_647).optional().describe('Random seed. If omitted, exchange.seed.'),
  port: port.default(0).describe('Port on 127.0.0.1; 0 selects a free port.'),
  balances: balances.default({ btc: '1.5', usdt: '100000' }).describe('Opening balances by currency.'),
  fees: feeRates.default({ maker: '0.00075', taker: '0.00075' }).describe('Fees, as fractions of the received amount.'),
  latencyMs: millis(0, 60_000).default(20).describe('Delay of requests, answers and stream frames.'),
  leadMs: millis(0, 60_000).default(1_500).describe("Time by which this exchange's prices lead the first exchange's."),
  spreadBps: z.number().min(0.3).max(1_000).default(3).describe("Median spread of this exchange's book."),
  noiseBps: z
    .strictObject({
      here: distanceBps(0.5).describe('Price noise on the first exchange (standard deviation).'),
      there: distanceBps(0.2).describe('Price noise on the second exchange (standard deviation).'),
    })
    .prefault({})
    .describe('Standard deviation of the price noise on each exchange.'),
  basis,
});

const secondRemote = z.strictObject({
  kind: z
    .literal('remote')
    .describe('Remote exchange; key in PUNTAS_ELSEWHERE_API_KEY and PUNTAS_ELSEWHERE_API_SECRET.'),
  venue: z.string().describe('Exchange name.'),
  acceptUntried: z
    .string()
    .optional()
    .describe(
      'Name of this exchange. Permits hedges although Puntas has traded only with test doubles of the exchange.',
    ),
  ...there,
  restUrl: baseAddress.describe('REST address.'),
  streamUrl: address(/^wss?:$/, 'wss://ws.example.com')
    .optional()
    .describe('Stream address. If omitted, books are polled.'),
});

export const elsewhere = z
  .discriminatedUnion('kind', [secondEmbedded, secondRemote])
  .describe('Second exchange, for hedges (hedge.elsewhere). If omitted, there is none.');

export type SecondSettings = z.infer<typeof secondEmbedded>;
export type ElsewhereSettings = z.infer<typeof elsewhere>;
