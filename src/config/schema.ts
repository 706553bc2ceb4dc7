/** Schema of the YAML: every key with its unit, default and bounds. Unknown keys are rejected. */
import { z } from 'zod';
import { BOOK_NAME } from '../core/index.ts';
import { fairValueParameters, strategies, aboveZero, decimalText, type StrategyName } from '../../strategies/index.ts';
import { alerts } from './alerts.ts';
import { backtestKeys } from './backtest.ts';
import { consoleKeys } from './console.ts';
import { hedge } from './hedge.ts';
import { markouts } from './markouts.ts';
import { paper } from './paper.ts';
import { pull } from './pull.ts';
import { regimes } from './regimes.ts';
import { reference } from './reference.ts';
import { rfqReference } from './rfqReference.ts';
import { timing } from './timing.ts';
import { AT_RELOAD, ELSEWHERE, AT_ONCE } from './takesEffect.ts';
import { address, addressRange, balances, baseAddress, millis, nextTierCounts, port } from './values.ts';

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
        .describe('Private requests per 60 s without cancels (exchange limit: 300 per account).'),
    })
    .prefault({})
    .describe('Request budgets. Exceeding the limits of the exchange causes a lockout of a minute.'),
  requestTimeoutMs: millis(100, 60_000)
    .default(5_000)
    .describe('Time after which the outcome of a request is unknown.'),
  stream: z.boolean().default(true).describe('Whether to use the WebSocket stream instead of polling.'),
  authentication: z
    .enum(['bitso', 'headers'])
    .default('bitso')
    .describe('Signature in one Authorization header, or in three headers.'),
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
  port: port.default(0).describe('Port on 127.0.0.1; 0 selects a free port.'),
  ...requests,
});

const remote = z.strictObject({
  kind: z.literal('remote').describe('Remote exchange with your key.'),
  venue: z.string().optional().describe('Exchange name; only bitso.'),
  restUrl: baseAddress.describe('REST address, like https://api.bitso.com.'),
  rfqUrl: baseAddress.optional().describe('RFQ address. If omitted, restUrl.'),
  webhookUrl: baseAddress.optional().describe('Webhook address. If omitted, restUrl.'),
  streamUrl: address(/^wss?:$/, 'wss://ws.example.com')
    .optional()
    .describe('Stream address, like wss://ws.bitso.com. If omitted, books are polled.'),
  ...requests,
});

const limits = z.strictObject({
  positionMax: aboveZero.describe(
    'Maximum distance of inventory from its target if all live and unknown orders fill (base).',
  ),
  orderValueMax: aboveZero.describe('Maximum value of one order (quote).'),
  ordersMax: z.int().min(1).max(500).describe('Maximum open orders, including pending and unknown orders.'),
  collarBps: z.number().gt(0).max(5_000).describe('Maximum distance of an order from the mid price.'),
  drawdownMax: aboveZero.describe('Drawdown at which trading halts (quote).'),
  dayLossMax: aboveZero.describe('Loss per UTC day at which trading halts (quote).'),
});

const perMinute = (fallback: number) => z.int().min(1).max(100_000).default(fallback);
const halts = z.strictObject({
  fillsPer10Min: z.int().min(1).max(100_000).default(300).describe('Maximum fills.'),
  refusalsPerMinute: perMinute(20).describe('Maximum rejected placements.'),
  unknownsPerMinute: perMinute(20).describe('Maximum placements of unknown outcome.'),
  messagesPerMinute: perMinute(600).describe('Maximum placements and cancels.'),
});

/** Name and parameters of any strategy in the index. */
export type StrategyConfig = {
  readonly [K in StrategyName]: z.infer<(typeof strategies)[K]['parameters']> & { readonly name: K };
}[StrategyName];

const members = Object.entries(strategies).map(([name, { parameters, summary }]) =>
  parameters.safeExtend({ name: z.literal(name).describe(summary) }),
);
const [first, ...others] = members;
if (first === undefined) throw new Error('strategies/index.ts lists no strategy');
// The type of the mapped list does not connect names with parameters; StrategyConfig does.
const strategy = z.discriminatedUnion('name', [first, ...others]) as unknown as z.ZodType<StrategyConfig>;

export const configSchema = z
  .strictObject({
    book: z
      .string()
      .regex(BOOK_NAME, 'expected <major>_<minor>, like btc_mxn')
      .describe('Book to quote, <base>_<quote>.'),
    instance: z
      .string()
      .regex(/^[A-Za-z0-9]{1,12}$/, 'expected 1 to 12 letters and digits, like mm1')
      .describe('Name in order ids: 1 to 12 letters and digits, unique per account.'),
    exchange: z.discriminatedUnion('kind', [embedded, remote]).describe('Exchange to trade on.'),
    strategy: strategy.meta(AT_RELOAD).describe('Strategy and its parameters.'),
    fairValue: fairValueParameters.optional().meta(AT_RELOAD),
    paper: paper.prefault({}).describe('Settings of puntas run --paper.'),
    limits: limits.meta(AT_RELOAD).describe('Hard limits. All are required.'),
    halts: halts
      .prefault({})
      .meta(AT_RELOAD)
      .describe('Maximum activity; above it, trading halts until puntas resume.'),
    sentinel: z
      .strictObject({
        required: z
          .boolean()
          .default(false)
          .meta(AT_RELOAD)
          .describe('Whether quoting requires a sentinel; recommended with real money.'),
        ttlMs: millis(5_000, 600_000)
          .default(30_000)
          .meta(ELSEWHERE)
          .describe("Timeout for the bot's heartbeat, and for its reads while the exchange is reachable."),
      })
      .prefault({})
      .describe("Second process that cancels the bot's orders if the bot is down."),
    reference: reference.optional().meta(AT_RELOAD),
    hedge: hedge.optional().meta(AT_RELOAD).describe('Hedges inventory. If omitted, only quotes reduce it.'),
    backtest: backtestKeys.prefault({}).meta(ELSEWHERE).describe('Assumptions of puntas backtest.'),
    markouts: markouts.optional().meta(AT_RELOAD),
    pull: pull.optional().meta(AT_RELOAD),
    nextTierCounts: nextTierCounts.meta(AT_RELOAD),
    rfqReference: rfqReference
      .optional()
      .meta(AT_RELOAD)
      .describe('RFQ prices that check a thin book and limit the skew.'),
    regimes: regimes.optional().meta(AT_RELOAD).describe('Automatic wide and reduce-only regimes.'),
    inventory: z
      .strictObject({
        target: decimalText.optional().describe('Target inventory (base). If omitted, the opening balance.'),
      })
      .prefault({})
      .meta(AT_RELOAD)
      .describe('Inventory target.'),
    timing: timing.prefault({}).meta(AT_RELOAD).describe('Intervals and time limits.'),
    metrics: z
      .strictObject({
        host: z
          .string()
          .regex(/^[A-Za-z0-9.:-]{1,253}$/, 'expected a host name or address, like 127.0.0.1')
          .default('127.0.0.1')
          .describe('Listen address; 0.0.0.0 only in containers.'),
        port: port.default(9_464).describe('Port; 0 selects a free port.'),
        allowedHosts: z
          .array(z.string().regex(/^[A-Za-z0-9.:-]{1,253}$/, 'expected a host name, like bot.internal'))
          .max(20)
          .default([])
          .describe('Further accepted Host headers, without port.'),
      })
      .prefault({})
      .describe('Metrics server.'),
    state: z
      .strictObject({
        dir: z.string().min(1).max(4_096).default('./state').describe('State directory, relative to this file.'),
      })
      .prefault({})
      .describe('Durable state.'),
    journal: z
      .strictObject({
        rollHours: z
          .number()
          .min(0.01)
          .max(168)
          .default(24)
          .describe('Time after which a new run starts, without quotes for some seconds.'),
        keepMb: z
          .number()
          .min(0.1)
          .max(1_000_000)
          .default(2_048)
          .describe('Maximum size; the oldest recordings are deleted.'),
      })
      .prefault({})
      .meta(AT_RELOAD)
      .describe('Recordings for puntas replay and explain.'),
    webhooks: z
      .strictObject({
        host: z
          .string()
          .regex(/^[A-Za-z0-9.:-]{1,253}$/, 'expected a host name or address, like 127.0.0.1')
          .default('127.0.0.1')
          .describe('Listen address; use a TLS proxy in front.'),
        port: port.describe('Port; 0 selects a free port.'),
        callbackUrl: address(/^https?:$/, 'https://bot.example.com')
          .optional()
          .meta(ELSEWHERE)
          .describe('Public address, for puntas webhooks register; the secret path is appended.'),
        sources: z
          .array(addressRange)
          .max(100)
          .default([])
          .describe('Allowed sender addresses and ranges, like 10.0.0.0/8. If empty, any.'),
        proxies: z.array(addressRange).max(20).default([]).describe('Proxies whose X-Forwarded-For is trusted.'),
        signature: z
          .enum(['off', 'required'])
          .default('off')
          .describe("Whether deliveries need the exchange's signature."),
        keep: z
          .int()
          .min(1_000)
          .max(10_000_000)
          .default(100_000)
          .describe('Maximum stored deliveries; the oldest are deleted.'),
        keepMb: z.number().min(2).max(10_000).default(64).describe('Maximum size of stored deliveries.'),
      })
      .optional()
      .describe('Webhook listener; token in PUNTAS_WEBHOOK_TOKEN. If omitted, transfers are polled.'),
    alerts: alerts.optional(),
    console: consoleKeys.optional(),
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error'])
          .default('info')
          .meta(AT_ONCE)
          .describe('Minimum level of log lines.'),
      })
      .prefault({})
      .describe('Log on stderr.'),
  })
  .describe('Configuration of Puntas: one process, one book.');

/** Checked configuration with defaults. */
export type Config = z.infer<typeof configSchema>;

export type RemoteSettings = z.infer<typeof remote>;
export type WebhookSettings = NonNullable<Config['webhooks']>;
