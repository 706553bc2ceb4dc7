/** Trials and results as exchanged with other machines: plain data, validated by the process that receives them. */
import { z } from 'zod';
import { BOOK_NAME } from '../../../src/core/index.ts';
import { MODEL_NAMES, type LatencySpec } from '../../index.ts';
import type { Latencies } from '../backtest/backtestModel.ts';
import { MEASURE_NAMES } from '../tune/measures.ts';
import { digestOfData } from '../tune/study.ts';

const TEXT_MAX = 262_144;
const NUMBERS_MAX = 1_000_000;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const book = z.string().regex(BOOK_NAME);
const ms = z.number().min(0).max(1e9);
const numbers = z.array(z.number()).max(NUMBERS_MAX);

const latency = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('constant'), ms }),
  z.strictObject({ kind: z.literal('exponential'), least: ms, mean: ms }),
  z.strictObject({ kind: z.literal('lognormal'), median: ms, sigma: z.number().min(0).max(5) }),
  z.strictObject({ kind: z.literal('recorded'), sent: numbers, took: numbers }),
]);

const latencies = z.strictObject({
  ...{ orders: latency, cancels: latency, answers: latency, feed: latency },
  fills: latency.optional(),
});

const hours = z.strictObject({
  market: z.string().min(1).max(200),
  digest: sha256,
  from: z.number(),
  to: z.number(),
});

/** Recording, identified by the hash of its files instead of a path. */
const recorded = z.union([
  z.strictObject({
    flow: z.strictObject({
      seed: z.int().min(0).max(2_147_483_647),
      seconds: z.int().min(60).max(2_592_000),
      driftBpsPerHour: z.number().min(-5_000).max(5_000),
    }),
  }),
  z.strictObject({ files: sha256, session: z.string().max(1_000).optional() }),
]);

/** Inputs that all trials of a study share. */
const settingSchema = z.strictObject({
  book,
  seed: z.int().min(0).max(2_147_483_647),
  models: z.array(z.enum(MODEL_NAMES)).min(1).max(MODEL_NAMES.length),
  objective: z.enum(MEASURE_NAMES),
  segments: z.int().min(1).max(100),
  startsAfterSeconds: z.array(z.number().min(0).max(86_400)).min(1).max(60),
  latencies: z.array(latencies).min(1).max(12),
  tapes: z
    .array(z.strictObject({ name: z.string().min(1).max(100), recorded, tuned: hours }))
    .min(1)
    .max(1_000),
  /** Recordings of other books, by book symbol. `files` is the hash of the files, and `digest` the hash of the rows. */
  references: z.record(book, z.strictObject({ files: sha256, digest: sha256 })),
});

const jobSchema = z.strictObject({
  form: z.literal(1),
  version: z.string().max(64),
  code: sha256,
  study: sha256,
  run: sha256,
  number: z.int().min(0),
  /** Configuration as YAML; `config` is the digest of its contents. */
  text: z.string().max(TEXT_MAX),
  /** Text of the strategy file; absent if the configuration selects no file. */
  strategyText: z.string().max(TEXT_MAX).optional(),
  config: sha256,
  bounds: z.array(z.number().nullable()).max(100_000),
  setting: settingSchema,
});

const outcomeSchema = z.strictObject({
  state: z.enum(['done', 'pruned']),
  why: z.string().max(1_000).nullable(),
  measures: z.strictObject(
    Object.fromEntries(MEASURE_NAMES.map(name => [name, z.number()])) as Record<
      (typeof MEASURE_NAMES)[number],
      z.ZodNumber
    >,
  ),
  soFar: numbers,
  blocks: numbers,
});

export type QueuedSetting = z.infer<typeof settingSchema>;
export type TrialJob = z.infer<typeof jobSchema>;
export type QueuedOutcome = z.infer<typeof outcomeSchema>;

/** Validates a job from a queue; returns an error text if it is invalid. */
export const trialJobOf = (data: unknown): TrialJob | string => checked(jobSchema, data);

/** Validates a worker's result; returns an error text if it is invalid. */
export const queuedOutcomeOf = (data: unknown): QueuedOutcome | string => checked(outcomeSchema, data);

function checked<S extends z.ZodType>(schema: S, data: unknown): z.output<S> | string {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  return `${first?.path.map(String).join('.')}: ${first?.message}`;
}

/**
 * Returns the id of a job. Requests for the same trial in one run of a study have the same id if the program's code is
 * equal. Studies do not share jobs.
 */
export const trialJobId = ({ form, code, run, config, bounds, setting }: TrialJob): string =>
  `t-${digestOfData({ form, code, run, config, bounds, setting })}`;

/** Returns the name of the queue for workers with this code. */
export const trialQueueName = (code: string): string => `puntas-trials-${code.slice(0, 16)}`;

/** Converts latencies to their JSON form. */
export const plainLatencies = ({ orders, cancels, answers, feed, fills }: Latencies): z.infer<typeof latencies> => ({
  ...{ orders: plain(orders), cancels: plain(cancels), answers: plain(answers), feed: plain(feed) },
  ...(fills && { fills: plain(fills) }),
});

const plain = (spec: LatencySpec): z.infer<typeof latency> =>
  spec.kind === 'recorded' ? { kind: 'recorded', sent: [...spec.sent], took: [...spec.took] } : spec;

/** Converts latencies from JSON to the form for replays. */
export const latenciesFrom = ({ orders, cancels, answers, feed, fills }: z.infer<typeof latencies>): Latencies => ({
  ...{ orders: typed(orders), cancels: typed(cancels), answers: typed(answers), feed: typed(feed) },
  ...(fills && { fills: typed(fills) }),
});

const typed = (spec: z.infer<typeof latency>): LatencySpec =>
  spec.kind === 'recorded'
    ? { kind: 'recorded', sent: Float64Array.from(spec.sent), took: Float64Array.from(spec.took) }
    : spec;
