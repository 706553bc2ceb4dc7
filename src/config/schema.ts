/** Schema of the YAML: every key with its unit, default and bounds. Unknown keys are rejected. */
import { z } from 'zod';
import { BOOK_NAME } from '../core/index.ts';
import { fairValueParameters, strategies } from '../../strategies/index.ts';
import type { StrategyName } from '../../strategies/index.ts';
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
import { aboveZero, decimalText } from '../../strategies/index.ts';
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
        .describe(
          'Public requests in any 60 s. The exchange allows 60 for one address: the default leaves a tenth of it free.',
        ),
      privatePerMinute: z
        .int()
        .min(1)
        .max(100_000)
        .default(270)
        .describe(
          'Private requests in any 60 s, cancels not counted. The exchange allows 300 for one account: the default leaves a tenth of it free.',
        ),
    })
    .prefault({})
    .describe(
      'Requests that may be sent. More than the exchange allows, with those of your other programs, gets address or account locked out for a minute.',
    ),
  requestTimeoutMs: millis(100, 60_000)
    .default(5_000)
    .describe('A request without a whole answer after this many ms has an unknown outcome.'),
  stream: z
    .boolean()
    .default(true)
    .describe('Takes market data from the WebSocket stream; books are polled while it is not there, and with false.'),
  authentication: z
    .enum(['bitso', 'headers'])
    .default('bitso')
    .describe(
      'How requests are signed: one Authorization header as Bitso has it (bitso), or three plain headers (headers).',
    ),
};

const market = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.literal('flow').describe('Seeded makers and takers; runs for ever.') })
    .describe('A market made up by seeded actors.'),
  z
    .strictObject({
      kind: z.literal('tape').describe('A recording, replayed in time.'),
      dir: z.string().min(1).max(4_096).describe('Folder of the recording, from the folder of this file.'),
      loop: z.boolean().default(true).describe('Starts over when the recording ends; otherwise the run stops there.'),
    })
    .describe('A recorded market.'),
]);

const embedded = z.strictObject({
  kind: z
    .literal('embedded')
    .describe('The exchange in the box: a real server on this machine, play money, no key needed.'),
  seed: z.int().min(0).max(2_147_483_647).default(1).describe('Seed of everything random. Same seed, same market.'),
  engineDelayMs: millis(0, 60_000)
    .default(50)
    .describe('Time in ms between the arrival of an order and its matching. A listed cancel is true at once.'),
  market: market.prefault({ kind: 'flow' }).describe("Where other people's orders come from."),
  balances: balances
    .default({ btc: '1.5', mxn: '2000000' })
    .describe('Opening balance by currency, as quoted decimal text.'),
  volume30d: decimalText
    .default('200000000')
    .describe(
      'Traded volume of the last 30 days in the minor currency, as quoted decimal text: it chooses the fee tier.',
    ),
  port: port.default(0).describe('Port on 127.0.0.1; 0 takes a free one.'),
  ...requests,
});

const remote = z.strictObject({
  kind: z
    .literal('remote')
    .describe('An exchange somewhere else, with your key. Real money on the production address.'),
  venue: z
    .string()
    .optional()
    .describe('Which exchange it is. There is one: bitso, which is also meant when this is left out.'),
  restUrl: baseAddress.describe(
    'Base address of the REST interface, like https://api.bitso.com. https, except on this machine.',
  ),
  rfqUrl: baseAddress.optional().describe('Base address of the conversion (RFQ) interface. Left out: restUrl.'),
  webhookUrl: baseAddress.optional().describe('Base address at which webhooks are registered. Left out: restUrl.'),
  streamUrl: address(/^wss?:$/, 'wss://ws.example.com')
    .optional()
    .describe('Address of the WebSocket stream, like wss://ws.bitso.com. Left out: books are polled only.'),
  ...requests,
});

const limits = z.strictObject({
  positionMax: aboveZero.describe(
    'How far inventory may be from its target in the worst case, with everything that is live, pending or unknown filled; in the major currency, as quoted decimal text.',
  ),
  orderValueMax: aboveZero.describe(
    'Largest value of one order, price times amount; in the minor currency, as quoted decimal text.',
  ),
  ordersMax: z.int().min(1).max(500).describe('Live orders on both sides together, pending and unknown ones included.'),
  collarBps: z
    .number()
    .gt(0)
    .max(5_000)
    .describe('An order priced further than this many bps from the middle of the touch is refused.'),
  drawdownMax: aboveZero.describe(
    'Trading halts when the profit has fallen this far from its highest; in the minor currency, as quoted decimal text.',
  ),
  dayLossMax: aboveZero.describe(
    'Trading halts when this much was lost since the start of the UTC day; in the minor currency, as quoted decimal text.',
  ),
});

const perMinute = (fallback: number) => z.int().min(1).max(100_000).default(fallback);
const halts = z.strictObject({
  fillsPer10Min: z
    .int()
    .min(1)
    .max(100_000)
    .default(300)
    .describe('More executions than this in ten minutes halt trading.'),
  refusalsPerMinute: perMinute(20).describe(
    'More placements refused by the exchange than this in a minute halt trading.',
  ),
  unknownsPerMinute: perMinute(20).describe(
    'More placements without a usable answer than this in a minute halt trading.',
  ),
  messagesPerMinute: perMinute(600).describe('More placements and cancels than this in a minute halt trading.'),
});

/** Name and parameters of a strategy, for every strategy in the index. */
export type StrategyConfig = {
  readonly [K in StrategyName]: z.infer<(typeof strategies)[K]['parameters']> & { readonly name: K };
}[StrategyName];

const members = Object.entries(strategies).map(([name, { parameters, summary }]) =>
  parameters.safeExtend({ name: z.literal(name).describe(summary) }),
);
const [first, ...others] = members;
if (first === undefined) throw new Error('strategies/index.ts lists no strategy');
// The mapped list has lost which parameters belong to which name; the type above has not.
const strategy = z.discriminatedUnion('name', [first, ...others]) as unknown as z.ZodType<StrategyConfig>;

export const configSchema = z
  .strictObject({
    book: z
      .string()
      .regex(BOOK_NAME, 'expected <major>_<minor>, like btc_mxn')
      .describe('The book to quote, <major>_<minor>. One process quotes one book.'),
    instance: z
      .string()
      .regex(/^[A-Za-z0-9]{1,12}$/, 'expected 1 to 12 letters and digits, like mm1')
      .describe(
        'Name of this bot in its order ids, <instance>-<run>-<counter>: 1 to 12 letters and digits. Never give one name to two bots on one account.',
      ),
    exchange: z.discriminatedUnion('kind', [embedded, remote]).describe('Where to trade.'),
    strategy: strategy.meta(AT_RELOAD).describe('What to quote: the name of a strategy and its parameters.'),
    fairValue: fairValueParameters.optional().meta(AT_RELOAD),
    paper: paper
      .prefault({})
      .describe(
        "For puntas run --paper: trades the remote exchange's market on paper, without a key and without money.",
      ),
    limits: limits
      .meta(AT_RELOAD)
      .describe('What can never be exceeded. All are required: without them the book is not traded.'),
    halts: halts
      .prefault({})
      .meta(AT_RELOAD)
      .describe(
        'Behaviour that no healthy bot shows. A halt cancels everything and stays, also after a restart, until puntas resume.',
      ),
    sentinel: z
      .strictObject({
        required: z
          .boolean()
          .default(false)
          .meta(AT_RELOAD)
          .describe('Nothing is quoted while no sentinel (puntas sentinel) shows life. Recommended with real money.'),
        ttlMs: millis(5_000, 600_000)
          .default(30_000)
          .meta(ELSEWHERE)
          .describe(
            'The sentinel takes the bot for dead when it has shown no life for this many ms, and for cut off when it lives and has read nothing of its own orders for as long while the exchange answers the sentinel.',
          ),
      })
      .prefault({})
      .describe("The second process that takes the bot's orders out when the bot is dead or frozen."),
    reference: reference.optional().meta(AT_RELOAD),
    hedge: hedge
      .optional()
      .meta(AT_RELOAD)
      .describe('Lets inventory leave by conversions. Left out: it leaves by quotes and their skew alone.'),
    backtest: backtestKeys.prefault({}).meta(ELSEWHERE).describe('What puntas backtest assumes that no tape tells.'),
    markouts: markouts.optional().meta(AT_RELOAD),
    pull: pull.optional().meta(AT_RELOAD),
    nextTierCounts: nextTierCounts.meta(AT_RELOAD),
    rfqReference: rfqReference
      .optional()
      .meta(AT_RELOAD)
      .describe(
        'Asks RFQ for its prices, as a second opinion where the book is thin and as the bound of the skew. Left out: never.',
      ),
    regimes: regimes
      .optional()
      .meta(AT_RELOAD)
      .describe(
        'When the bot by itself quotes wider, or only closes inventory. Left out: it never does; puntas reduce lets it close inventory only.',
      ),
    inventory: z
      .strictObject({
        target: decimalText
          .optional()
          .describe(
            'Inventory to come back to, in the major currency, as quoted decimal text. Left out: the opening balance.',
          ),
      })
      .prefault({})
      .meta(AT_RELOAD)
      .describe('What to hold.'),
    timing: timing.prefault({}).meta(AT_RELOAD).describe('When things happen.'),
    metrics: z
      .strictObject({
        host: z
          .string()
          .regex(/^[A-Za-z0-9.:-]{1,253}$/, 'expected a host name or address, like 127.0.0.1')
          .default('127.0.0.1')
          .describe(
            'Address on which /metrics, /healthz and /readyz are served. 0.0.0.0 (every interface) is for containers.',
          ),
        port: port.default(9_464).describe('Port; 0 takes a free one.'),
        allowedHosts: z
          .array(z.string().regex(/^[A-Za-z0-9.:-]{1,253}$/, 'expected a host name, like bot.internal'))
          .max(20)
          .default([])
          .describe(
            'Names by which the server may be asked besides localhost and its own address (Host header, without port).',
          ),
      })
      .prefault({})
      .describe('Where Prometheus reads.'),
    state: z
      .strictObject({
        dir: z
          .string()
          .min(1)
          .max(4_096)
          .default('./state')
          .describe(
            'Folder of everything that survives a restart. Relative paths are taken from the folder of this file.',
          ),
      })
      .prefault({})
      .describe('What survives a restart.'),
    journal: z
      .strictObject({
        rollHours: z
          .number()
          .min(0.01)
          .max(168)
          .default(24)
          .describe(
            'A run that has lasted this many hours, or whose recording takes an eighth of keepMb, ends, and the next one takes over: orders are withdrawn for some seconds.',
          ),
        keepMb: z
          .number()
          .min(0.1)
          .max(1_000_000)
          .default(2_048)
          .describe('What the recordings of all runs may take on disk, in MB (10^6 bytes): the oldest are deleted.'),
      })
      .prefault({})
      .meta(AT_RELOAD)
      .describe('How much of what happened is kept, for puntas replay.'),
    webhooks: z
      .strictObject({
        host: z
          .string()
          .regex(/^[A-Za-z0-9.:-]{1,253}$/, 'expected a host name or address, like 127.0.0.1')
          .default('127.0.0.1')
          .describe('Address on which deliveries are received. Put a proxy with TLS in front of it.'),
        port: port.describe('Port; 0 takes a free one.'),
        callbackUrl: address(/^https?:$/, 'https://bot.example.com')
          .optional()
          .meta(ELSEWHERE)
          .describe(
            'Address at which the exchange reaches the listener; the secret path is put behind it. For puntas webhooks register.',
          ),
        sources: z
          .array(addressRange)
          .max(100)
          .default([])
          .describe(
            'Addresses and ranges that may deliver, like 52.15.91.227 or 10.0.0.0/8. Empty: whoever knows the path.',
          ),
        proxies: z
          .array(addressRange)
          .max(20)
          .default([])
          .describe('Proxies in front of the listener: from these alone X-Forwarded-For is believed.'),
        signature: z
          .enum(['off', 'required'])
          .default('off')
          .describe(
            'Whether a delivery must be signed with a key of the public list of the exchange. The interface document says nothing of signatures.',
          ),
        keep: z
          .int()
          .min(1_000)
          .max(10_000_000)
          .default(100_000)
          .describe('Deliveries that are kept; of the sender with most the oldest go first.'),
        keepMb: z
          .number()
          .min(2)
          .max(10_000)
          .default(64)
          .describe(
            'What the deliveries that are kept may take on disk, in MB (10^6 bytes); of the sender with most the oldest go first.',
          ),
      })
      .optional()
      .describe(
        'Receives the deliveries of the exchange. Left out: nothing listens, and money that moves is seen by polling alone. The secret path is in PUNTAS_WEBHOOK_TOKEN.',
      ),
    alerts: alerts.optional(),
    console: consoleKeys.optional(),
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error'])
          .default('info')
          .meta(AT_ONCE)
          .describe('Least important kind of line that is written.'),
      })
      .prefault({})
      .describe('What is written to stderr.'),
  })
  .describe('Configuration of Puntas: one process, one book.');

/** Checked configuration with defaults. */
export type Config = z.infer<typeof configSchema>;

export type RemoteSettings = z.infer<typeof remote>;
export type WebhookSettings = NonNullable<Config['webhooks']>;
