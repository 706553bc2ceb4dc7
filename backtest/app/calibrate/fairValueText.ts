/**
 * YAML section `fairValue` from a recording: the micro-price, the weight of a reference price, and predictors of the
 * next move.
 */
import { counted, shortDecimal, textInSeconds } from '../../../src/core/index.ts';
import { imbalanceOf, type Calibration, type Prediction, type Leader, type Signals } from '../../../src/tape/index.ts';

/**
 * Reference price (`leader`) that predicts the price of the book `own`. `books`: the books that make up the reference
 * price.
 */
export type ReferenceFound = { readonly leader: Leader; readonly books: readonly string[]; readonly own: string };

/** Minimum number of samples per cell of the micro-price table; cells with fewer samples are printed as null. */
const SEEN_MIN = 10;

/** Formats the lines of the section `fairValue`, in ticks of `tick` and bps (formulas E5). */
export function fairValueText(
  { microprice, signals }: Calibration,
  tick: string,
  elsewhere: ReferenceFound | null,
): readonly string[] {
  const rest = elsewhere === null || elsewhere.leader.weight === 0 ? null : 1 - elsewhere.leader.weight;
  const parts = [
    ...(microprice === null
      ? ['  # microprice: cannot be measured; the best prices and their amounts changed too rarely']
      : table(microprice, tick, rest)),
    ...(elsewhere === null ? [] : referenceText(elsewhere, microprice === null ? rest : null)),
    ...(signals === null ? [] : slopes(signals, microprice !== null)),
  ];
  const isEmpty = parts.every(part => part.startsWith('  #'));
  return ['# Copy this to the top level of the configuration:', isEmpty ? '# fairValue:' : 'fairValue:', ...parts];
}

/** Minimum weight in the output, because a weight must be above zero. */
const SHARE_MIN = 0.001;
const weightText = (share: number): string => digits(Math.max(SHARE_MIN, share));

/**
 * Formats the micro-price. `share` is the weight of the micro-price next to a reference; `null` without a reference.
 */
const table = (
  {
    table: { imbalanceBuckets, spreadsTicks, adjustTicks },
    errors,
    seen,
    samples,
  }: NonNullable<Calibration['microprice']>,
  tick: string,
  share: number | null,
): readonly string[] => [
  `  microprice: # measured from ${counted(samples, 'change')} of the best prices`,
  ...(share === null ? [] : [`    weight: ${weightText(share)} # 1 minus the weight of the reference`]),
  `    tick: '${tick}'`,
  `    imbalanceBuckets: ${imbalanceBuckets}`,
  `    spreadsTicks: [${spreadsTicks.map(digits).join(', ')}]`,
  `    adjustTicks: # ticks to add to the mid price; null if measured from fewer than ${SEEN_MIN} changes`,
  ...adjustTicks.map((row, r) => {
    const isKnown = (c: number): boolean => (seen[r]?.[c] ?? 0) >= SEEN_MIN;
    const values = row.map((ticks, c) => (isKnown(c) && Number.isFinite(ticks) ? digits(ticks) : 'null'));
    const spread = (errors[r] ?? []).map((error, c) => (isKnown(c) ? digits(error) : '-'));
    return `      - [${values.join(', ')}] # +- ${spread.join(' ')}`;
  }),
];

/** Formats the reference price. `midShare` is the weight of the mid price; `null` if the section has no mid price. */
function referenceText({ leader, books, own }: ReferenceFound, midShare: number | null): readonly string[] {
  const { horizons, chosen, weight, basisMemoryS, ageS, moving } = leader;
  const read = books.includes(own) ? 'feeds: [...]' : `books: [${books.join(', ')}]`;
  const rows = horizons.map(({ seconds, foretold }) => `  #   ${seconds} s: ${predictionText(foretold)}`);
  const about = [
    `  # reference price from ${books.join(', ')}, delayed by ${ageS} s; this price changes in ${digits(100 * moving)}% of all seconds`,
    "  # per horizon: share of the gap to the reference price that the book's price closes within the horizon (95% interval)",
    '  # r: correlation in the complete recording; later: correlation in the last third, if fitted to the first two thirds',
    ...rows,
  ];
  if (weight === 0) return [...about, '  # reference: weight 0, because the reference predicts no better than chance'];
  return [
    ...about,
    ...(midShare === null ? [] : [`  mid: { weight: ${weightText(midShare)} } # 1 minus the weight of the reference`]),
    `  reference: # also add the section reference: { ${read} }`,
    `    weight: ${weightText(weight)} # share of the gap to the reference price that the book's price closes within ${chosen} s`,
    `    basisMemory: ${durationText(basisMemoryS)}`,
  ];
}

const predictionText = (of: Prediction | null): string =>
  of === null
    ? 'cannot be measured'
    : `${digits(of.slope.value)} (${digits(of.low)} to ${digits(of.high)}), r ${of.r.toFixed(2)}, later ${of.rLater.toFixed(2)}${of.holds ? '' : '; predicts no better than chance'}`;

const durationText = (seconds: number): string => (seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`);

function slopes(signals: Signals, hasMicroprice: boolean): readonly string[] {
  const { orderFlow, memoryMs, imbalances, imbalanceMemoryMs, aheadMs } = signals;
  const ahead = `mean price move in the next ${textInSeconds(aheadMs)}`;
  const best = imbalanceOf(signals);
  // The micro-price and the imbalance both use the amounts at the best prices; together they would count these amounts
  // twice.
  const mark = hasMicroprice ? '  # ' : '  ';
  return [
    ...(orderFlow?.holds === true
      ? [
          '  orderFlowImbalance:',
          `    bpsPerUnit: ${digits(orderFlow.slope.value)} # +- ${digits(orderFlow.slope.error)}; ${ahead}; correlation ${orderFlow.r.toFixed(2)} in the complete recording, ${orderFlow.rLater.toFixed(2)} in its last third`,
          `    memory: ${memoryMs / 1_000}s`,
        ]
      : [
          `  # orderFlowImbalance: bpsPerUnit 0; ${ahead}, in bps per unit of order flow (95% interval): ${predictionText(orderFlow)}`,
        ]),
    `  # imbalance: ${ahead}, in bps per standard deviation of the imbalance (95% interval)`,
    '  # r: correlation in the complete recording; later: correlation in the last third, if fitted to the first two thirds',
    ...imbalances.map(
      ({ depthBps, foretold }) =>
        `  #   ${depthBps === 0 ? 'at the best prices' : `within ${depthBps} bps`}: ${predictionText(foretold)}`,
    ),
    ...(best === null
      ? ['  # depthImbalance: bpsPerDeviation 0']
      : [
          ...(hasMicroprice
            ? [
                '  # Use either depthImbalance or microprice, because both use the amounts at the best prices. The strategy "imbalance" has the keys of depthImbalance too.',
              ]
            : []),
          `${mark}depthImbalance:`,
          `${mark}  bpsPerDeviation: ${digits(best.slope)}`,
          `${mark}  depthBps: ${best.depthBps}`,
          `${mark}  memory: ${imbalanceMemoryMs / 60_000}m`,
        ]),
  ];
}

/**
 * Rounds to four significant digits, without an exponent; "unknown" if not finite, such as the standard error from a
 * short recording.
 */
export const digits = (x: number): string => {
  if (!Number.isFinite(x)) return 'unknown';
  const text = String(Number(x.toPrecision(4)));
  return text.includes('e') ? shortDecimal(x.toFixed(10)) : text;
};
