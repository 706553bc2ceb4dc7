/** `puntas calibrate`: the numbers that a model needs, from a recording, as the part of a configuration that they belong in, with their errors. */
import type { Calibration, Estimate, Tape } from '../tape/index.ts';
import { calibrationOf } from '../tape/index.ts';

/** YAML; what the recording cannot tell is said in a comment. */
export function calibrate(tape: Tape): string {
  const { instrument, source } = tape;
  return fragment(calibrationOf(tape), instrument.symbol, source);
}

export function fragment(c: Calibration, book: string, source: string): string {
  const { volatilityBps, arrivals, adverseBps, microprice } = c;
  const ends = (side: 'buy' | 'sell'): string => {
    const found = arrivals?.sides[side];
    return found ? `${digits(found.perMinute)} a minute, ${digits(found.decayPerBps)} per bps` : 'not to be told';
  };
  return [
    `# ${book}, from ${source}: ${Math.round(c.seconds)} s, ${c.trades} trades.`,
    '# Each number with its standard error (jackknife over ten stretches of time). Put them under strategy:',
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
    ...(microprice === null
      ? ['# microprice: too few changes of the touch with amounts to tell']
      : [
          `microprice: # from ${microprice.samples} changes of the touch; ticks to add to the middle`,
          `  imbalanceBuckets: ${microprice.table.imbalanceBuckets}`,
          `  spreadsTicks: [${microprice.table.spreadsTicks.map(digits).join(', ')}]`,
          '  adjustTicks:',
          ...microprice.table.adjustTicks.map(
            (row, r) =>
              `    - [${row.map(digits).join(', ')}] # +- ${(microprice.errors[r] ?? []).map(error => digits(error)).join(' ')}`,
          ),
        ]),
    '',
  ].join('\n');
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
