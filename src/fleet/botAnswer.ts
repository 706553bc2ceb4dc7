/** Parser of the summary from a bot's console. It rejects every value that the fleet page could not use safely. */
import { z } from 'zod';
import { SUMMARY_FORMAT, SUMMARY_MAX, type BotSummary } from '../console/index.ts';
import { shownText } from '../core/index.ts';

/** Maximum size of an answer in bytes. A book has about 1.5 kB, and at most 5 texts of `SUMMARY_MAX`. */
export const ANSWER_BYTES_MAX = 262_144;
/** Maximum number of books after the first. */
const OTHERS_MAX = 15;

/**
 * Text of a console, with control characters replaced. Text longer than `max` is rejected, because no console sends it.
 */
const printable = (max: number) => z.string().max(max).transform(shownText);
const name = z.string().regex(/^[A-Za-z0-9._-]{1,40}$/);
const label = printable(SUMMARY_MAX.label);
const time = z.number().min(0).max(8.64e15);
const ago = z.number().min(0).nullable();
const sum = z.string().regex(/^-?\d{1,20}(?:\.\d{1,18})?$/);
const positive = z.string().regex(/^(?=.*[1-9])\d{1,20}(?:\.\d{1,18})?$/);
const share = z.number().min(0);
const sentence = printable(2_000);

const NEW_NAMES = { beatAgo: 'beatAgoMs', writtenAgo: 'writtenAgoMs', ago: 'agoMs' } as const;

/** Returns the value with the new names of keys that an older console sends under their old names only. */
function withNewNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const renamed: Record<string, unknown> = { ...value };
  for (const [old, name] of Object.entries(NEW_NAMES)) {
    if (!(name in renamed) && old in renamed) renamed[name] = renamed[old];
    delete renamed[old];
  }
  return renamed;
}

/** Schema of a run with one book. */
const runSchema = z.object({
  ...{ at: time, instance: label, strategy: label, money: z.enum(['real', 'paper', 'play']) },
  ...{ book: name, base: name, quote: name },
  // An older console does not send them.
  ledgerSince: label.nullable().default(null),
  ...{ number: z.int().min(0).nullable().default(null), startedAt: time.nullable().default(null) },
  regime: z.object({ regime: label, since: time.nullable(), why: sentence, failure: sentence.optional() }),
  refusal: sentence.nullable(),
  market: z.object({ bid: positive.nullable(), ask: positive.nullable(), bookAgeMs: ago }),
  profit: z.object({ total: sum, run: sum.nullable(), since: label.nullable() }).nullable(),
  inventory: sum.nullable(),
  unknown: sentence.nullable(),
  uptime: z.object({ bid: share, ask: share }),
  fills: z.object({
    count: z.int().min(0).nullable(),
    last: z.preprocess(
      withNewNames,
      z
        .object({ at: time, agoMs: z.number().min(0), side: z.enum(['bid', 'ask']), price: positive, amount: sum })
        .nullable(),
    ),
  }),
  limit: z.object({ limit: label, share }).nullable(),
  events: z.object({
    ...{ warnings: z.int().min(0), errors: z.int().min(0) },
    last: z.object({ at: time, who: sentence, level: z.enum(['info', 'warn', 'error']), text: sentence }).nullable(),
  }),
});

/** Fields that later versions add are ignored. */
const summarySchema = z.object({
  format: z.literal(SUMMARY_FORMAT),
  version: label,
  madeAt: time,
  bot: z.preprocess(
    withNewNames,
    z.object({ state: z.enum(['running', 'stopped', 'silent', 'never ran']), beatAgoMs: ago, writtenAgoMs: ago }),
  ),
  halts: z
    .array(
      z.object({
        what: z.enum(['halted', 'paused', 'held', 'reduce only', 'flatten']),
        ...{ reason: sentence, at: time, by: sentence, until: time.nullable() },
        book: name.optional(),
      }),
    )
    .max(20),
  note: sentence.nullable(),
  run: runSchema.nullable(),
  otherBooks: z.array(runSchema).max(OTHERS_MAX).optional(),
});

/** Returns the summary in an answer, or the reason why it has none, in one clause. */
export function summaryIn(body: string): BotSummary | string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return 'the answer is not JSON; check that the address is that of a console';
  }
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined;
  if (format !== SUMMARY_FORMAT)
    return typeof format === 'number'
      ? `the console sends format ${format}, but this Puntas reads format ${SUMMARY_FORMAT}; run both in the same version`
      : 'the answer is not a summary of a bot; check that the address is that of a console';
  const read = summarySchema.safeParse(value);
  if (read.success) return read.data;
  const where = read.error.issues[0]?.path.map(String).join('.') ?? '';
  return `the answer has an invalid value in ${shownText(where).slice(0, 80)}; run console and fleet in the same version`;
}
