/** What a tuned configuration carries for programs: one comment line with the study's evidence, which holds for that very content and no other. */
import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Tuning } from '../../../backtest/index.ts';
import type { TrialRecord } from './registry.ts';

const interval = z.object({ low: z.number(), high: z.number() }).nullable();
const span = z.tuple([z.string(), z.string()]).nullable();

const schema = z.object({
  /** SHA-256 of the configuration's data. */
  config: z.string(),
  puntas: z.string(),
  study: z.string(),
  trial: z.number(),
  /** Configurations ever tried on these hours. */
  trials: z.number(),
  tapes: z.array(z.object({ market: z.string(), digest: z.string(), tuned: span, heldOut: span })),
  better: z.boolean(),
  /** Minor currency, after 60 s and fees, under the lower of the fill models. */
  net60s: z.number(),
  interval,
  deflated: z.number(),
  pbo: z.number().nullable(),
  holdout: z.object({ at: z.string(), net60s: z.number(), interval }).nullable(),
});

export type TunedEvidence = z.infer<typeof schema>;

const MARK = '# evidence: ';

/** `body`: the configuration below it. */
export function tunedLine({ number }: TrialRecord, tuning: Tuning, body: string): string {
  const { evidence, holdout, verdict, tapes, study, made } = tuning;
  const told: TunedEvidence = {
    ...{ config: digestOfYaml(body), puntas: made.puntas, study, trial: number },
    trials: evidence?.deflated.trials ?? 0,
    tapes: tapes.map(({ market, digest, tuned, heldOut }) => ({
      ...{ market, digest },
      tuned: tuned === null ? null : [tuned[0], tuned[1]],
      heldOut: heldOut === null ? null : [heldOut[0], heldOut[1]],
    })),
    better: verdict.better,
    net60s: evidence?.net ?? 0,
    interval: evidence?.interval ?? null,
    deflated: evidence?.deflated.probability ?? 0,
    pbo: evidence?.pbo?.value ?? null,
    holdout: holdout && { at: holdout.at, net60s: holdout.net, interval: holdout.interval },
  };
  return `${MARK}${JSON.stringify(told)}`;
}

/** Null where the file has none; in words where it has one that does not hold. */
export function tunedEvidenceIn(text: string): TunedEvidence | string | null {
  const line = text.split('\n').find(row => row.startsWith(MARK));
  if (line === undefined) return null;
  let found: unknown;
  try {
    found = JSON.parse(line.slice(MARK.length));
  } catch {
    found = null;
  }
  const read = schema.safeParse(found);
  if (!read.success) return 'its line "# evidence:" is none that puntas tune wrote';
  if (read.data.config !== digestOfYaml(text))
    return 'it was changed after it was tuned, so that its evidence is of another';
  return read.data;
}

/** The same without that line: for a text that does not say the same any more. */
export const withoutEvidence = (text: string): string =>
  text
    .split('\n')
    .filter(row => !row.startsWith(MARK))
    .join('\n');

/** Of the data of a YAML text: remarks and order of lines aside, what it says. */
export const digestOfYaml = (text: string): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(parse(text, { uniqueKeys: false }))))
    .digest('hex');

const sorted = (data: unknown): unknown => {
  if (Array.isArray(data)) return data.map(sorted);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, sorted(value)]),
  );
};
