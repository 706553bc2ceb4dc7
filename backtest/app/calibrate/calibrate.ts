/**
 * `puntas calibrate`: measures the inputs of a model from a recording and prints them as configuration, with their
 * standard errors.
 */
import { counted, legsOf, pairOf, textInSeconds, type Instrument } from '../../../src/core/index.ts';
import { calibrationOf, leaderOf, type Calibration, type Estimate, type Tape } from '../../../src/tape/index.ts';
import { hedgedBookOf, hedgedTable, hedgedWords, type HedgedBook, type HedgeVenue } from '../../index.ts';
import {
  adverseAtBest,
  commentLines,
  distancesIn,
  distancesJson,
  distancesText,
  profileLines,
  type DistancesAsked,
  type MeasuredDistances,
} from './measuredDistances.ts';
import { digits, fairValueText, type ReferenceFound } from './fairValueText.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { withProgress, type Progress } from '../../../src/messages/progress.ts';

/**
 * Recordings of the reference's books, in the order in which they convert the base currency to the quote currency.
 * `ageS` is the age of the reference price when the bot uses it, in seconds.
 */
export type RecordedReference = { readonly tapes: ReadonlyMap<string, Tape>; readonly ageS: number };

/**
 * Returns YAML, or one JSON object; unknown values are comments in YAML and null in JSON. Throws `UsageError` if the
 * books of the reference do not connect the currencies of the tape's book.
 */
export async function calibrate(
  tape: Tape,
  progress: Progress,
  asked: DistancesAsked & { readonly json: boolean },
  reference: RecordedReference | null = null,
  hedge: HedgeVenue | null = null,
): Promise<string> {
  const { instrument, source } = tape;
  const elsewhere = reference === null ? null : referenceOf(tape, reference);
  const found = await withProgress(progress, 'measuring', onShare => calibrationOf(tape, onShare));
  const distances = await withProgress(progress, 'pegging orders', onShare => distancesIn(tape, asked, onShare));
  const hedged = hedge === null ? null : hedgedIn(tape, hedge, asked, distances);
  if (!asked.json) {
    const text = fragment(found, instrument, source, distances, elsewhere);
    return hedged === null ? text : `${text}${hedgedText(hedged)}`;
  }
  const { leader = null } = elsewhere ?? {};
  const about = { book: instrument.symbol, source, ...found, leader, distances: distancesJson(distances) };
  return `${JSON.stringify({ ...about, ...(hedged !== null && { hedged }) })}\n`;
}

/** Measures the tape with a hedge. Mean latency and maker fees are taken from the measurement without a hedge. */
const hedgedIn = (
  tape: Tape,
  hedge: HedgeVenue,
  { seed }: DistancesAsked,
  { profile, verdicts }: MeasuredDistances,
): HedgedBook =>
  hedgedBookOf(tape.instrument.symbol, tape, hedge, {
    ...{ makersBps: verdicts.map(({ feeBps }) => feeBps), latencyMs: Math.round(profile.latencyMs), seed },
  });

/** Formats the result with a hedge as comments, with a newline at the end. */
const hedgedText = (book: HedgedBook): string =>
  `${commentLines(['', ...hedgedWords(book), '', ...hedgedTable(book)]).join('\n')}\n`;

function referenceOf(tape: Tape, { tapes, ageS }: RecordedReference): ReferenceFound {
  const { symbol } = tape.instrument;
  const books = [...tapes.keys()];
  const legs = legsOf(symbol, books);
  if (legs === null)
    throw new UsageError(
      `--reference: expected books that form a chain from the base to the quote currency of ${symbol}, found ${books.join(', ')}`,
    );
  return { leader: leaderOf(tape, legs, [...tapes.values()], ageS), books, own: symbol };
}

/**
 * Formats YAML, with a newline at its end: `market:` in bps and arrivals per minute (formulas E4, formulas E6),
 * `fairValue:` in ticks and bps (formulas E5).
 */
export function fragment(
  c: Calibration,
  { symbol, tick }: Pick<Instrument, 'symbol' | 'tick'>,
  source: string,
  distances: MeasuredDistances | null = null,
  elsewhere: ReferenceFound | null = null,
): string {
  const { volatilityBps, arrivals } = c;
  const ofFills = distances && adverseAtBest(distances);
  const adverseBps = ofFills ?? c.adverseBps;
  const ends = (side: 'buy' | 'sell'): string => {
    const found = arrivals?.sides[side];
    return found
      ? `${counted(digits(found.perMinute), 'arrival')} per minute, decay ${digits(found.decayPerBps)} per bps of distance`
      : 'cannot be measured';
  };
  return [
    `# ${symbol}, from ${source}: ${Math.round(c.seconds)} s, ${counted(c.trades, 'trade')}.`,
    '# The number after +- is the standard error (jackknife over ten time blocks).',
    ...(distances === null ? [] : ['#', ...distancesText(distances, pairOf(symbol)[1]), '#']),
    '# Copy this into the strategy section, if the strategy has a key "market".',
    'market:',
    line('volatilityBps', volatilityBps, 'standard deviation of the price over one hour (two-scale estimator)'),
    line('arrivalsPerMinute', arrivals?.perMinute ?? null, 'A'),
    line('decayPerBps', arrivals?.decayPerBps ?? null, `k; R2 ${digits(arrivals?.rSquared ?? Number.NaN)}`),
    line(
      'adverseBps',
      adverseBps && { ...adverseBps, value: Math.max(0, adverseBps.value) },
      ofFills
        ? `xi: adverse price move in the 60 s after fills at ${digits(ofFills.distanceBps)} bps from the mid price`
        : 'xi: adverse price move in the 10 s after a trade',
    ),
    ...(distances === null ? [] : profileLines(distances)),
    ...(arrivals === null
      ? []
      : [
          `  # at bids: ${ends('buy')}; at asks: ${ends('sell')}`,
          `  # measured by virtual orders that rest for ${textInSeconds(arrivals.windowMs)} at ${arrivals.distancesBps.map(digits).join(', ')} bps from the mid price`,
        ]),
    ...fairValueText(c, tick, elsewhere),
    '',
  ].join('\n');
}

const line = (key: string, estimate: Estimate | null, what: string): string =>
  estimate === null
    ? `  # ${key}: cannot be measured from this recording`
    : `  ${key}: ${digits(estimate.value)} # +- ${digits(estimate.error)}; ${what}`;
