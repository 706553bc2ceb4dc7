/** Keys of the exchange: embedded or remote, with request budgets and the deadline of a request. */
import { z } from 'zod';
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

const market = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.literal('flow').describe('Simulated, seeded traders.') })
    .describe('Market of simulated traders.'),
  z
    .strictObject({
      kind: z.literal('tape').describe('Replay of a recording.'),
      dir: z.string().min(1).max(4_096).describe('Folder of the recording, relative to this file.'),
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
  volume30d: decimalText.default('200000000').describe('30-day volume (quote), for the fee tier.'),
  fees: z
    .strictObject({ maker: rate, taker: rate })
    .optional()
    .describe('Fees of the book, as fractions. If omitted, the fee tier of volume30d.'),
  port: port.default(0).describe('Port on 127.0.0.1; 0 selects a free port.'),
  ...requests,
});

const remote = z.strictObject({
  kind: z.literal('remote').describe('Remote exchange with your key.'),
  venue: z.string().optional().describe('Exchange name, always bitso.'),
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
