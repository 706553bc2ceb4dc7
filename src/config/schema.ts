/**
 * Schema of the YAML, with its sections in order. Most sections are in the folder `sections`. Unknown keys are
 * rejected.
 */
import { z } from 'zod';
import { BOOK_NAME } from '../core/index.ts';
import { decimalText, fairValueParameters } from '../../strategies/index.ts';
import { alerts } from './sections/alerts.ts';
import { backtestKeys } from './sections/backtest.ts';
import { consoleKeys } from './sections/console.ts';
import { elsewhere, exchangeKeys } from './sections/exchange.ts';
import { hedge } from './sections/hedge.ts';
import { journalKeys } from './sections/journal.ts';
import { accountLimits, crossRates, haltKeys, jointInventory, limitKeys } from './sections/limits.ts';
import { markouts } from './sections/markouts.ts';
import { metricsKeys } from './sections/metrics.ts';
import { paper } from './sections/paper.ts';
import { pull } from './sections/pull.ts';
import { reference } from './sections/reference.ts';
import { regimes } from './sections/regimes.ts';
import { rfqReference } from './sections/rfqReference.ts';
import { sentinelKeys } from './sections/sentinel.ts';
import { strategyKeys, type StrategyConfig } from './sections/strategy.ts';
import { AT_ONCE, AT_RELOAD, ELSEWHERE } from './sections/takesEffect.ts';
import { timing } from './sections/timing.ts';
import { fillSamples, nextTierCounts } from './sections/values.ts';
import { webhookKeys } from './sections/webhooks.ts';

/** Maximum number of books of one process. */
export const BOOKS_MAX = 16;

/** Keys of a configuration of one book. */
const oneBook = {
  book: z.string().regex(BOOK_NAME, 'expected <base>_<quote>, like btc_mxn').describe('Book to quote, <base>_<quote>.'),
  instance: z
    .string()
    .regex(/^[A-Za-z0-9]{1,12}$/, 'expected 1 to 12 letters and digits, like mm1')
    .describe('Bot name in order ids: 1 to 12 letters and digits, unique per account.'),
  exchange: exchangeKeys,
  elsewhere: elsewhere.optional(),
  strategy: strategyKeys
    .meta(AT_RELOAD)
    .describe(
      'Strategy and its parameters. `file: PATH` instead of `name` selects a strategy file, relative to this file.',
    ),
  fairValue: fairValueParameters.optional().meta(AT_RELOAD),
  paper: paper.prefault({}).describe('Settings of puntas run --paper.'),
  limits: limitKeys.meta(AT_RELOAD).describe('Hard limits.'),
  accountLimits: accountLimits.optional().meta(AT_RELOAD),
  halts: haltKeys
    .prefault({})
    .meta(AT_RELOAD)
    .describe('Maximum activity, beyond which trading halts until you run puntas resume.'),
  sentinel: sentinelKeys.prefault({}).describe("Second process that cancels the bot's orders if the bot is down."),
  reference: reference.optional().meta(AT_RELOAD),
  hedge: hedge.optional().meta(AT_RELOAD).describe('Hedges of inventory. If omitted, only quotes reduce inventory.'),
  backtest: backtestKeys.prefault({}).meta(ELSEWHERE).describe('Assumptions of puntas backtest.'),
  markouts: markouts.optional().meta(AT_RELOAD),
  pull: pull.optional().meta(AT_RELOAD),
  nextTierCounts: nextTierCounts.meta(AT_RELOAD),
  fillSamples: fillSamples.optional().meta(AT_RELOAD),
  rfqReference: rfqReference
    .optional()
    .meta(AT_RELOAD)
    .describe('RFQ prices to check a thin book and limit the inventory skew.'),
  regimes: regimes.optional().meta(AT_RELOAD).describe('Automatic wide and reduce-only regimes.'),
  inventory: z
    .strictObject({
      target: decimalText.optional().describe('Target inventory (base). If omitted, the opening balance.'),
    })
    .prefault({})
    .meta(AT_RELOAD)
    .describe('Inventory target.'),
  jointInventory: jointInventory.optional().meta(AT_RELOAD),
  crossRates: crossRates.optional().meta(AT_RELOAD),
  timing: timing.prefault({}).meta(AT_RELOAD).describe('Intervals and time limits.'),
  metrics: metricsKeys.prefault({}).describe('Metrics server.'),
  state: z
    .strictObject({
      dir: z.string().min(1).max(4_096).default('./state').describe('State directory, relative to this file.'),
    })
    .prefault({})
    .describe('Durable state.'),
  journal: journalKeys.prefault({}).meta(AT_RELOAD).describe('Recordings for puntas replay and explain.'),
  webhooks: webhookKeys
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
};

type OneBook = z.infer<z.ZodObject<typeof oneBook, z.core.$strict>>;

/** Sections of one book, which an entry of `books` can have. All other keys are shared by all books. */
export const PER_BOOK = [
  'strategy',
  'fairValue',
  'limits',
  'halts',
  'reference',
  'markouts',
  'pull',
  'nextTierCounts',
  'fillSamples',
  'regimes',
  'inventory',
] as const satisfies readonly (keyof OneBook)[];

/** Sections of one of several books, with defaults. */
export type BookSections = { readonly symbol: string } & Partial<Pick<OneBook, (typeof PER_BOOK)[number]>>;

/** Entries of `books`. The schema of one book checks their sections, together with those of the file. */
const books: z.ZodType<readonly BookSections[]> = z
  .array(
    z.looseObject({
      symbol: z.string().regex(BOOK_NAME, 'expected <base>_<quote>, like btc_mxn').describe('Book to quote.'),
    }),
  )
  .min(1)
  .max(BOOKS_MAX);

const { book, ...others } = oneBook;

export const configSchema = z
  .strictObject({
    book,
    books: books
      .optional()
      .describe(
        'Several books of one account, instead of book. Each has a symbol, and sections that replace those of this file.',
      ),
    ...others,
  })
  .describe('Configuration of Puntas: one process, one account.');

/**
 * Checked configuration with defaults. With several books, it is the configuration of the first book, and `books` has
 * the sections of each; `booksOf` returns the configuration of each book.
 */
export type Config = z.infer<typeof configSchema>;

/** Schema of a configuration, whose strategy can be a file. */
export type ConfigSchema = typeof configSchema;

/** Returns the schema of a configuration whose strategy has these keys; `null`: those of the strategies of Puntas. */
export const schemaFor = (keys: z.ZodType<StrategyConfig> | null): ConfigSchema =>
  keys === null ? configSchema : configSchema.extend({ strategy: keys.meta(AT_RELOAD) });
