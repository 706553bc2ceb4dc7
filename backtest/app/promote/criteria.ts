/** Criteria of a promotion: YAML read once, before the first stage, with defaults for everything but the tapes. */
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { Criteria } from '../../../src/app/promote/evidence.ts';
import { MODEL_NAMES } from '../../index.ts';
import { studySchema } from '../tune/studySchema.ts';
import { readYamlFile } from '../../../src/wiring/yamlFile.ts';

const share = z.number().min(0).max(1);
const count = z.int().min(0).max(1_000_000_000);
const { tapes, reference, models, latenciesMs, feedLatencyMs, segments } = studySchema.shape;

const replay = z.strictObject({
  tapes: tapes.optional(),
  reference,
  models,
  latenciesMs,
  feedLatencyMs,
  segments,
  tuned: z.boolean().optional(),
  net60sLeast: z.number().nullable().default(0),
  fillsLeast: count.default(100),
  uptimeLeast: share.default(0.8),
  drawdownMost: z.number().min(0).optional(),
  haltsMost: count.default(0),
});

const running = {
  hoursLeast: z.number().min(0).max(100_000).default(24),
  fillsLeast: count.default(100),
  uptimeLeast: share.default(0.9),
  net60sBpsLeast: z.number().min(-10_000).max(10_000).nullable().default(0),
  haltsMost: count.default(0),
};

const paper = z.strictObject({
  ...running,
  models: z.array(z.enum(MODEL_NAMES)).min(1).default(['pessimistic', 'expected']),
});
const smallest = z.strictObject(running);

const criteriaSchema = z.strictObject({
  replay: replay.prefault({}),
  paper: paper.prefault({}),
  smallest: smallest.prefault({}),
});

/** Default criteria. They name no tapes, so the replay stage uses the evidence from tuning. */
export const DEFAULT_CRITERIA: Criteria = criteriaSchema.parse({});

/** Reads criteria. Throws `UsageError` with one line per mistake. */
export function readCriteria(path: string): Criteria {
  const { data } = readYamlFile(path, criteriaSchema, {
    ...{ what: 'list of criteria', like: 'like paper: { hoursLeast: 24 }' },
    advice: 'pass the list of criteria with --criteria FILE (docs/promotion.md)',
  });
  const from = dirname(resolve(path));
  const { tapes: given, reference: others } = data.replay;
  const placed = {
    ...(given && {
      tapes: given.map(tape => (tape.path === undefined ? tape : { ...tape, path: resolve(from, tape.path) })),
    }),
    reference: Object.fromEntries(Object.entries(others).map(([book, at]) => [book, resolve(from, at)])),
  };
  return { ...data, replay: { ...data.replay, ...placed } };
}
