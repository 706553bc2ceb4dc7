/** Keys of the other exchange: a second embedded exchange with linked markets, or a remote exchange with its own key. */
import { z } from 'zod';
import { BOOK_NAME } from '../../core/index.ts';
import { address, balances, baseAddress, millis, port, rate } from './values.ts';

const both = {
  book: z.string().regex(BOOK_NAME, 'expected <base>_<quote>, like btc_usdt').describe('Book there, <base>_<quote>.'),
  requestTimeoutMs: millis(100, 60_000).default(5_000).describe("Timeout after which a request's outcome is unknown."),
  stream: z.boolean().default(true).describe('Whether the WebSocket stream replaces polling.'),
};

const bps = (fallback: number, min = 0) => z.number().min(min).max(1_000).default(fallback);

const basis = z
  .strictObject({
    constantBps: bps(0, -1_000).describe('Constant part.'),
    revertingBps: bps(2).describe('Standard deviation of the mean-reverting part.'),
    revertingS: z.number().min(1).max(86_400).default(300).describe('Time constant of the mean-reverting part (s).'),
    walkBpsPerHour: bps(0).describe('Standard deviation of the random walk after an hour.'),
  })
  .prefault({})
  .describe('Distance of the price here from the price there.');

const embedded = z.strictObject({
  kind: z.literal('embedded').describe('Second embedded exchange, with markets linked to the first.'),
  ...both,
  seed: z.int().min(0).max(2_147_483_647).optional().describe('Random seed. If omitted, exchange.seed.'),
  port: port.default(0).describe('Port on 127.0.0.1; 0 selects a free port.'),
  balances: balances.default({ btc: '1.5', usdt: '100000' }).describe('Opening balances by currency.'),
  fees: z
    .strictObject({ maker: rate, taker: rate })
    .default({ maker: '0.00075', taker: '0.00075' })
    .describe('Fees, as fractions of what is received.'),
  latencyMs: millis(0, 60_000).default(20).describe('Delay of requests, answers and stream frames, each way.'),
  leadMs: millis(0, 60_000).default(1_500).describe('Time by which prices there move first.'),
  spreadBps: z.number().min(0.3).max(1_000).default(3).describe('Median spread there.'),
  noiseBps: z
    .strictObject({ here: bps(0.5).describe('Noise here.'), there: bps(0.2).describe('Noise there.') })
    .prefault({})
    .describe('Standard deviation of the noise of each price.'),
  basis,
});

const remote = z.strictObject({
  kind: z.literal('remote').describe('Remote exchange; key in PUNTAS_ELSEWHERE_API_KEY and _SECRET.'),
  venue: z.string().describe('Exchange name.'),
  ...both,
  restUrl: baseAddress.describe('REST address.'),
  streamUrl: address(/^wss?:$/, 'wss://ws.example.com')
    .optional()
    .describe('Stream address. If omitted, books are polled.'),
});

export const elsewhere = z
  .discriminatedUnion('kind', [embedded, remote])
  .describe('Other exchange, for hedges. If omitted, there is none.');

export type SecondSettings = z.infer<typeof embedded>;
export type ElsewhereSettings = z.infer<typeof elsewhere>;
