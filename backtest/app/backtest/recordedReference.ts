/** Recordings that provide the reference price of a backtest. */
import type { ExternalReferenceOptions } from '../../index.ts';
import { externalReferenceOf, liveSourcesOf, type Config } from '../../../src/config.ts';
import { midsOf } from '../../../src/tape/index.ts';
import { kindOf } from '../../../strategies/index.ts';
import { requireOverlap, routeBooks, type ReferenceTapes, type Span } from './hedgeRoutes.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';

/**
 * Returns the recorded reference; `null` if no book of the reference has a recording. Throws `UsageError` if only some
 * of its books have recordings, or if a recording does not overlap `span`. Also throws for a recording that neither the
 * reference nor a hedge route uses.
 */
export function recordedElsewhere(config: Config, tapes: ReferenceTapes, span: Span): ExternalReferenceOptions | null {
  if (tapes.size === 0) return null;
  const elsewhere = externalReferenceOf(config);
  const over = routeBooks(config);
  if (elsewhere === null && over.length === 0)
    throw new UsageError(
      '--reference: the configuration has no reference price and no hedge route through a book; remove the flag',
    );
  const books = elsewhere?.legs.map(({ book }) => book) ?? [];
  const through = [
    ...(elsewhere === null ? [] : [`the reference price uses ${books.join(', ')}`]),
    ...(over.length === 0 ? [] : [`hedge.routes can use ${over.join(', ')}`]),
  ].join('; ');
  for (const book of tapes.keys())
    if (!books.includes(book) && !over.includes(book))
      throw new UsageError(`--reference ${book}: the configuration does not use this book; ${through}`);
  if (elsewhere === null || !books.some(book => tapes.has(book))) return null;
  const mids = books.map(book => {
    const tape = tapes.get(book);
    if (tape === undefined) throw new UsageError(`--reference: no recording of ${book}; pass ${flagsFor(books)}`);
    return requireOverlap(span, book, midsOf(tape));
  });
  const { legs, everyMs } = elsewhere;
  const [feed] = liveSourcesOf(withRecordedSource(config))?.feeds ?? [];
  if (feed === undefined) return { legs, mids, everyMs };
  const source = config.reference?.sources?.[0]?.name;
  return { legs, mids, everyMs: Math.min(everyMs, SOURCE_EVERY_MS), feed: feed.key, ...(source && { source }) };
}

/** Interval between reads of a recorded price source, in ms. It is short, because a live source pushes its prices. */
const SOURCE_EVERY_MS = 250;

/**
 * Returns the configuration with only the first source of the reference price, treated as a single book, because
 * recordings have mid prices of one source. Returns the configuration unchanged if it has no sources.
 */
export function withRecordedSource(config: Config): Config {
  const { reference, book } = config;
  const [first] = reference?.sources ?? [];
  if (reference === undefined || first === undefined) return config;
  const { amount: _, frozenAfterMs: __, ...source } = first;
  return {
    ...config,
    reference: { ...reference, sources: [{ ...source, books: [book], from: 'exchange' }], sourcesMin: 1 },
  };
}

/**
 * Returns a warning if the configuration quotes around a reference that the backtest lacks; otherwise `null`. `advice`:
 * words before the flags that add the reference.
 */
export function missingReference(config: Config, tapes: ReferenceTapes, advice = 'pass'): string | null {
  const wants =
    kindOf(config.strategy).needsReference === true ||
    config.fairValue?.reference !== undefined ||
    config.reference?.sources !== undefined ||
    config.pull?.leader !== undefined;
  const elsewhere = externalReferenceOf(config);
  if (!wants || elsewhere === null || elsewhere.legs.some(({ book }) => tapes.has(book))) return null;
  return `the bot quotes nothing, because the backtest has no reference price; ${advice} ${flagsFor(elsewhere.legs.map(({ book }) => book))}`;
}

const flagsFor = (books: readonly string[]): string => books.map(book => `--reference ${book}=DIR`).join(' ');
