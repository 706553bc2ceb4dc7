/** What a tuned configuration carries for programs: one comment line with the study's evidence, which holds for that very content and no other. */
import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { z } from 'zod';

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

/** Start of that line. */
export const EVIDENCE_MARK = '# evidence: ';

/** Null where the file has none; in words where it has one that does not hold. */
export function tunedEvidenceIn(text: string): TunedEvidence | string | null {
  const line = text.split('\n').find(row => row.startsWith(EVIDENCE_MARK));
  if (line === undefined) return null;
  let found: unknown;
  try {
    found = JSON.parse(line.slice(EVIDENCE_MARK.length));
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
    .filter(row => !row.startsWith(EVIDENCE_MARK))
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
