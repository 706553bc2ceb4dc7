/** Recordings of other books for hedges over third currencies in a backtest, and the routes without recordings. */
import type { Config } from '../../../src/config.ts';
import { pairOf } from '../../../src/core/index.ts';
import { bestsOf, type DataFlaw, type RecordedBests, type Tape } from '../../../src/tape/index.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';

/** Recordings, by book symbol. */
export type ReferenceTapes = ReadonlyMap<string, Tape>;
export type Span = { readonly from: number; readonly to: number };

type Pair = readonly [string, string];
type Hedged = Pick<Config, 'hedge' | 'book'>;

/**
 * Returns each third currency with the two currency pairs that a hedge over it trades. A pair can be served by a book
 * of its two currencies in either order.
 */
function routesOf({ hedge, book }: Hedged): readonly { readonly via: string; readonly pairs: readonly Pair[] }[] {
  const [major, minor] = pairOf(book);
  return (hedge?.routes?.via ?? []).map(via => ({
    via,
    pairs: [
      [major, via],
      [via, minor],
    ],
  }));
}

const namesOf = ([one, other]: Pair): readonly [string, string] => [`${one}_${other}`, `${other}_${one}`];

/** Lists every book that can serve a configured route. */
export const routeBooks = (config: Hedged): readonly string[] =>
  routesOf(config).flatMap(({ pairs }) => pairs.flatMap(namesOf));

/**
 * Returns the recorded best prices of the books on hedge routes. A route is dropped unless both of its books have a
 * recording. Throws `UsageError` for recordings that do not overlap `span`.
 */
export function recordedRoutes(config: Hedged, tapes: ReferenceTapes, span: Span): readonly RecordedBests[] {
  const found = new Set<Tape>();
  for (const { pairs } of routesOf(config)) {
    const legs = pairs.flatMap(pair =>
      namesOf(pair)
        .flatMap(name => tapes.get(name) ?? [])
        .slice(0, 1),
    );
    if (legs.length === pairs.length) for (const tape of legs) found.add(tape);
  }
  return [...found].map(tape => requireOverlap(span, tape.instrument.symbol, bestsOf(tape)));
}

/** Returns `found` if it overlaps `span`. Throws `UsageError` otherwise. */
export function requireOverlap<T extends Pick<RecordedBests, 'at' | 'to' | 'source'>>(
  span: Span,
  book: string,
  found: T,
): T {
  const problem = overlapProblem(span, found);
  if (problem === null) return found;
  throw new UsageError(`--reference ${book}: ${found.source} ${problem}`);
}

/** Returns why a recording does not overlap `span`, as text after its name; `null` if it does. */
export function overlapProblem(span: Span, found: Pick<RecordedBests, 'at' | 'to'>): string | null {
  const from = found.at[0] ?? Infinity;
  if (from <= span.to && found.to >= span.from) return null;
  const when = (at: number) => new Date(at).toISOString();
  const prices = Number.isFinite(from) ? `prices from ${when(from)} to ${when(found.to)}` : 'no prices';
  return `has ${prices}, but the tape covers ${when(span.from)} to ${when(span.to)}; use a recording of the tape's hours`;
}

/** Returns the hedge routes without recordings, as data flaws. */
export function untestedRoutes(config: Hedged, recorded: readonly RecordedBests[]): readonly DataFlaw[] {
  const books = recorded.map(({ instrument }) => instrument.symbol);
  return routesOf(config).flatMap(({ via, pairs }) => {
    if (pairs.every(pair => namesOf(pair).some(name => books.includes(name)))) return [];
    const needs = pairs.map(pair => namesOf(pair)[0]).join(' and ');
    return [
      {
        what: `no recordings of ${needs}`,
        count: 1,
        done: `no hedges through ${via}, because recordings of ${needs} are missing`,
      },
    ];
  });
}
