/**
 * Machine-readable evidence of a tuning study: one comment line in the tuned configuration. The evidence is valid only
 * for the content of that configuration.
 */
import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { z } from 'zod';

const interval = z.object({ low: z.number(), high: z.number() }).nullable();
const span = z.tuple([z.string(), z.string()]).nullable();

const schema = z.object({
  /** SHA-256 of the configuration's data, and of its strategy file. */
  config: z.string(),
  puntas: z.string(),
  study: z.string(),
  trial: z.number(),
  /** Number of configurations ever tested on the hours of these tapes. */
  trials: z.number(),
  tapes: z.array(z.object({ market: z.string(), digest: z.string(), tuned: span, heldOut: span })),
  better: z.boolean(),
  /** Markout after 60 s less fees, in the quote currency, by the fill model with the lowest result. */
  net60s: z.number(),
  interval,
  deflated: z.number(),
  pbo: z.number().nullable(),
  holdout: z.object({ at: z.string(), net60s: z.number(), interval }).nullable(),
});

export type TunedEvidence = z.infer<typeof schema>;

/** Prefix of the evidence line. */
export const EVIDENCE_MARK = '# evidence: ';

/**
 * Returns the evidence in a configuration; `null` if there is none. If the evidence is invalid, returns the reason as
 * text. `strategyHash`: SHA-256 of its strategy file.
 */
export function tunedEvidenceIn(text: string, strategyHash?: string): TunedEvidence | string | null {
  const line = text.split('\n').find(row => row.startsWith(EVIDENCE_MARK));
  if (line === undefined) return null;
  let found: unknown;
  try {
    found = JSON.parse(line.slice(EVIDENCE_MARK.length));
  } catch {
    found = null;
  }
  const read = schema.safeParse(found);
  if (!read.success) return 'the line "# evidence:" was not written by puntas tune';
  if (read.data.config !== digestOfYaml(text, strategyHash))
    return 'the file was changed after tuning, so its evidence does not apply';
  return read.data;
}

/** Removes the evidence line from a text whose content has changed. */
export const withoutEvidence = (text: string): string =>
  text
    .split('\n')
    .filter(row => !row.startsWith(EVIDENCE_MARK))
    .join('\n');

/**
 * Returns the digest of the data in a YAML text, regardless of comments and the order of keys, and of its strategy file.
 */
export const digestOfYaml = (text: string, strategyHash = ''): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(parse(text, { uniqueKeys: false }))))
    .update(strategyHash)
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
