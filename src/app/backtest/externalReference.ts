/** The recordings that stand in for the price from elsewhere in a backtest. */
import type { ExternalReferenceOptions } from '../../../backtest/index.ts';
import { externalReferenceOf } from '../../config.ts';
import type { Config } from '../../config.ts';
import { midsOf } from '../../tape/index.ts';
import type { Tape } from '../../tape/index.ts';
import { kindOf } from '../../../strategies/index.ts';
import { UsageError } from '../wiring/usageError.ts';

/** Recordings by the book that they are of. */
export type ReferenceTapes = ReadonlyMap<string, Tape>;

/** Null when none were given. Throws `UsageError` for recordings that the configured reference does not go through, for one that is missing, and for another time. */
export function recordedElsewhere(
  config: Config,
  tapes: ReferenceTapes,
  span: { readonly from: number; readonly to: number },
): ExternalReferenceOptions | null {
  if (tapes.size === 0) return null;
  const elsewhere = externalReferenceOf(config);
  if (elsewhere === null) throw new UsageError('--reference: the configuration has no reference');
  const { legs, everyMs } = elsewhere;
  const books = legs.map(({ book }) => book);
  for (const book of tapes.keys())
    if (!books.includes(book))
      throw new UsageError(`--reference ${book}: the reference goes through ${books.join(', ')}`);
  const mids = books.map(book => {
    const tape = tapes.get(book);
    if (tape === undefined) throw new UsageError(`--reference: no recording of ${book}; give ${flagsFor(books)}`);
    const found = midsOf(tape);
    if (!(found.at.length > 0 && (found.at[0] ?? Infinity) <= span.to && found.to >= span.from)) {
      const when = (at: number) => (Number.isFinite(at) ? new Date(at).toISOString() : 'never');
      throw new UsageError(
        `--reference ${book}: ${found.source} tells its price from ${when(found.at[0] ?? Infinity)} to ${when(found.to)}, not while the tape runs (${when(span.from)} to ${when(span.to)})`,
      );
    }
    return found;
  });
  return { legs, mids, everyMs };
}

/** What to tell somebody whose configuration quotes around a reference that the backtest has not; null when all is well. */
export function missingReference(config: Config, tapes: ReferenceTapes): string | null {
  const wants = kindOf(config.strategy.name).needsReference === true || config.fairValue?.reference !== undefined;
  const elsewhere = externalReferenceOf(config);
  if (!wants || tapes.size > 0 || elsewhere === null) return null;
  return `nothing is quoted without a reference: give ${flagsFor(elsewhere.legs.map(({ book }) => book))}`;
}

const flagsFor = (books: readonly string[]): string => books.map(book => `--reference ${book}=DIR`).join(' ');
