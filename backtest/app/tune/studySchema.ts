/** Schema of a study's YAML, with defaults and bounds. Unknown keys are rejected. */
import { z } from 'zod';
import { BOOK_NAME } from '../../../src/core/index.ts';
import { MODEL_NAMES } from '../../index.ts';
import { sessionOf } from '../../../src/tape/index.ts';
import { MEASURE_NAMES } from './measures.ts';

const path = z.string().min(1).max(4_096);
const name = z
  .string()
  .regex(/^[\w.-]{1,64}$/, 'expected a name of 1 to 64 letters, digits, underscores, dots and dashes');
const scalar = z.union([z.number(), z.string(), z.boolean()], 'expected a number, text, true or false');
const bounds = z.tuple(
  [z.number('expected a number'), z.number('expected a number')],
  'expected the lowest and the highest value, like [1, 10]',
);

const KINDS = ['linear', 'log', 'integer', 'choice'] as const;
const oneOf = (given: object, keys: readonly string[]): boolean =>
  keys.filter(key => (given as Readonly<Record<string, unknown>>)[key] !== undefined).length === 1;

const parameter = z
  .strictObject({
    linear: bounds.optional(),
    log: bounds.optional(),
    integer: bounds.optional(),
    choice: z
      .union(
        [z.array(scalar).min(1).max(1_000), z.record(name, z.unknown())],
        'expected a list of values, or a map of names to values',
      )
      .optional(),
    step: z.number().positive().optional(),
    when: z
      .record(z.string(), z.union([scalar, z.array(scalar).min(1)], 'expected a value or a list of values'))
      .refine(
        given => Object.keys(given).length === 1,
        'expected one other parameter with the values at which this parameter applies',
      )
      .optional(),
  })
  .refine(given => oneOf(given, KINDS), `expected exactly one of ${KINDS.join(', ')}`)
  .refine(given => given.choice === undefined || given.step === undefined, {
    path: ['step'],
    message: 'expected no step with choice, because choice lists the values',
  });

const tape = z
  .strictObject({
    path: path.optional(),
    session: z
      .string()
      .superRefine((text, context) => {
        try {
          sessionOf(text);
        } catch (error) {
          context.addIssue((error as Error).message);
        }
      })
      .optional(),
    flow: z
      .strictObject({
        seconds: z.int().min(60).max(2_592_000),
        seed: z.int().min(0).max(2_147_483_647),
        driftBpsPerHour: z.number().min(-5_000).max(5_000).default(0),
      })
      .optional(),
    name: name.optional(),
  })
  .refine(given => oneOf(given, ['path', 'flow']), 'expected either path: (a recording) or flow: (the built-in market)')
  .refine(
    given => given.session === undefined || given.flow === undefined,
    'session applies only to a recording (path:), because the built-in market never closes',
  );

const bound = z
  .strictObject({ min: z.number().optional(), max: z.number().optional() })
  .refine(given => given.min !== undefined || given.max !== undefined, 'expected min:, max: or both');

const holdout = z
  .strictObject({
    lastShare: z.number().min(0.05).max(0.9).optional(),
    tapes: z.array(name).min(1).optional(),
  })
  .refine(
    given => oneOf(given, ['lastShare', 'tapes']),
    'expected either lastShare: (share of every tape) or tapes: (names of tapes)',
  );

const search = z.strictObject({
  algorithm: z.enum(['tpe', 'cmaEs', 'sobol', 'random']).default('tpe'),
  seed: z.int().min(0).max(2_147_483_647).default(1),
  trials: z.int().min(1).max(100_000),
  batch: z.int().min(1).max(256).default(8),
});

const pruning = z.strictObject({
  /** Number of finished trials before the first trial can be pruned. */
  startAfterTrials: z.int().min(1).max(100_000).default(8),
  afterPieces: z.int().min(1).max(10_000).default(1),
});

export const studySchema = z.strictObject({
  config: path,
  tapes: z.array(tape).min(1).max(1_000),
  reference: z.record(z.string().regex(BOOK_NAME, 'expected a book like btc_usd'), path).default({}),
  parameters: z
    .record(z.string(), parameter)
    .refine(given => Object.keys(given).length > 0, 'expected at least one parameter'),
  search,
  objectives: z.array(z.enum(MEASURE_NAMES)).min(1).max(MEASURE_NAMES.length).default(['net60s']),
  constraints: z.partialRecord(z.enum(MEASURE_NAMES), bound).default({}),
  models: z.array(z.enum(MODEL_NAMES)).min(1).default(['pessimistic', 'expected']),
  startsAfterSeconds: z.array(z.number().min(0).max(86_400)).min(1).max(60).default([0]),
  latenciesMs: z
    .array(
      z.union([z.number().min(0).max(60_000), path], 'expected a number of ms, or a distribution as in --latency-ms'),
    )
    .min(1)
    .max(12)
    .default([25]),
  feedLatencyMs: z
    .union([z.number().min(0).max(60_000), path], 'expected a number of ms, or a distribution as in --feed-latency-ms')
    .default(0),
  segments: z.int().min(1).max(100).default(4),
  pruning: z.union([pruning, z.literal(false)], 'expected false, or keys like startAfterTrials: 8').prefault({}),
  holdout: holdout.prefault({ lastShare: 0.25 }),
  embargoSeconds: z.number().min(60).max(86_400).default(60),
});

export type StudyKeys = z.infer<typeof studySchema>;
export type ParameterKeys = StudyKeys['parameters'][string];
