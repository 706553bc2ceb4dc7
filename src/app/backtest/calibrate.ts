/** `puntas calibrate`: the numbers that a model needs, from a recording, as the part of a configuration that they belong in, with their errors. */
import type { Instrument } from '../../core/index.ts';
import type { Calibration, Estimate, Signals, Tape } from '../../tape/index.ts';
import { calibrationOf } from '../../tape/index.ts';

/** YAML; what the recording cannot tell is said in a comment. */
export function calibrate(tape: Tape): string {
  const { instrument, source } = tape;
  return fragment(calibrationOf(tape), instrument, source);
}

/** YAML with a newline at its end: `market:` in bps and arrivals a minute (formulas E4, formulas E6), `fairValue:` in ticks and bps (formulas E5). */
export function fragment(
  c: Calibration,
  { symbol, tick }: Pick<Instrument, 'symbol' | 'tick'>,
  source: string,
): string {
  const { volatilityBps, arrivals, adverseBps } = c;
  const ends = (side: 'buy' | 'sell'): string => {
    const found = arrivals?.sides[side];
    return found ? `${digits(found.perMinute)} a minute, ${digits(found.decayPerBps)} per bps` : 'not to be told';
  };
  return [
    `# ${symbol}, from ${source}: ${Math.round(c.seconds)} s, ${c.trades} trades.`,
    '# Each number with its standard error (jackknife over ten stretches of time).',
    '# Goes under strategy:, of one that has a market:',
    'market:',
    line('volatilityBps', volatilityBps, 'one standard deviation over an hour (two-scale)'),
    line('arrivalsPerMinute', arrivals?.perMinute ?? null, 'A'),
    line('decayPerBps', arrivals?.decayPerBps ?? null, `k; R2 ${arrivals?.rSquared.toFixed(3) ?? 'unknown'}`),
    line('adverseBps', adverseBps && { ...adverseBps, value: Math.max(0, adverseBps.value) }, 'xi: after 10 s'),
    ...(arrivals === null
      ? []
      : [
          `  # bids alone: ${ends('buy')}; asks alone: ${ends('sell')}`,
          `  # from virtual orders of ${arrivals.windowMs / 1_000} s at ${arrivals.distancesBps.map(digits).join(', ')} bps`,
        ]),
    ...fairValueOf(c, tick),
    '',
  ].join('\n');
}

/** States that were seen less often say nothing of their own. */
const SEEN_MIN = 10;
/** A slope this many errors from nothing is more than chance. */
const ERRORS_MIN = 2;

/** A section of its own, to be put at the top of the file as it is. */
function fairValueOf({ microprice, signals }: Calibration, tick: string): readonly string[] {
  const parts = [
    ...(microprice === null
      ? ['  # microprice: too few changes of the touch with amounts to tell']
      : table(microprice, tick)),
    ...(signals === null ? [] : slopes(signals)),
  ];
  const isEmpty = parts.every(part => part.startsWith('  #'));
  return ['# Goes at the top of the file, as it stands:', isEmpty ? '# fairValue:' : 'fairValue:', ...parts];
}

const table = (
  {
    table: { imbalanceBuckets, spreadsTicks, adjustTicks },
    errors,
    seen,
    samples,
  }: NonNullable<Calibration['microprice']>,
  tick: string,
): readonly string[] => [
  `  microprice: # from ${samples} changes of the touch; ticks to add to the middle`,
  `    tick: '${tick}'`,
  `    imbalanceBuckets: ${imbalanceBuckets}`,
  `    spreadsTicks: [${spreadsTicks.map(digits).join(', ')}]`,
  `    adjustTicks: # null: seen less than ${SEEN_MIN} times`,
  ...adjustTicks.map((row, r) => {
    const isKnown = (c: number): boolean => (seen[r]?.[c] ?? 0) >= SEEN_MIN;
    const values = row.map((ticks, c) => (isKnown(c) ? digits(ticks) : 'null'));
    const spread = (errors[r] ?? []).map((error, c) => (isKnown(c) ? digits(error) : '-'));
    return `      - [${values.join(', ')}] # +- ${spread.join(' ')}`;
  }),
];

function slopes({ orderFlow, memoryMs, imbalance, depthBps, imbalanceMemoryMs, aheadMs }: Signals): readonly string[] {
  const part = (name: string, key: string, found: Estimate | null, others: string): readonly string[] => {
    if (found === null) return [`  # ${name}: not to be told from this recording`];
    const what = `# +- ${digits(found.error)}; slope of the move of the next ${aheadMs / 1_000} s`;
    if (!(found.value > ERRORS_MIN * found.error))
      return [`  # ${name}: ${key} ${digits(found.value)} ${what}: no more than chance`];
    return [`  ${name}:`, `    ${key}: ${digits(found.value)} ${what}`, others];
  };
  return [
    ...part('orderFlowImbalance', 'bpsPerUnit', orderFlow, `    memory: ${memoryMs / 1_000}s`),
    ...part(
      'depthImbalance',
      'bpsPerDeviation',
      imbalance,
      `    depthBps: ${depthBps}\n    memory: ${imbalanceMemoryMs / 60_000}m`,
    ),
  ];
}

const line = (key: string, estimate: Estimate | null, what: string): string =>
  estimate === null
    ? `  # ${key}: not to be told from this recording`
    : `  ${key}: ${digits(estimate.value)} # +- ${digits(estimate.error)}; ${what}`;

/** Four digits that count, without an exponent. */
const digits = (x: number): string => {
  const text = String(Number(x.toPrecision(4)));
  return text.includes('e') ? x.toFixed(10).replace(/\.?0+$/, '') : text;
};
