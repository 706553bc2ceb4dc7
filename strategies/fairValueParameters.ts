/** YAML section `fairValue`: the parts of the price that every strategy quotes around. */
import { z } from 'zod';
import { aboveZero, bps, duration } from './parameters.ts';

const weight = z
  .number()
  .gt(0)
  .max(1_000)
  .default(1)
  .describe('Share in the mean, relative to the weights of the other prices.');

const maxDivergenceBps = z
  .number()
  .gt(0)
  .max(5_000)
  .default(100)
  .describe('Further than this many bps from the middle of our own book nothing is quoted: one of the two is wrong.');

const TABLE_MAX = 200;

const microprice = z
  .strictObject({
    weight,
    tick: aboveZero.describe('The tick that the table counts in, as quoted decimal text; another one is refused.'),
    imbalanceBuckets: z.int().min(1).max(100).describe('Columns: equal parts of bid amount / (bid + ask amount).'),
    spreadsTicks: z
      .array(z.number().gt(0))
      .max(20)
      .describe('Upper bounds of the spread in ticks of all rows but the last, ascending.'),
    adjustTicks: z
      .array(z.array(z.number().min(-100_000).max(100_000).nullable()).max(TABLE_MAX))
      .max(21)
      .describe(
        'Ticks to add to the middle, a row for each spread; null where the recording could not tell: nothing is quoted then.',
      ),
  })
  .superRefine((p, context) => {
    const wrong = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (p.spreadsTicks.some((bound, i) => i > 0 && !(bound > (p.spreadsTicks[i - 1] ?? 0))))
      wrong(['spreadsTicks'], 'expected each larger than the one before');
    if (p.adjustTicks.length !== p.spreadsTicks.length + 1)
      wrong(['adjustTicks'], `expected ${p.spreadsTicks.length + 1} rows, one more than spreadsTicks`);
    else if (p.adjustTicks.some(row => row.length !== p.imbalanceBuckets))
      wrong(['adjustTicks'], `expected rows of ${p.imbalanceBuckets} numbers, as imbalanceBuckets says`);
  })
  .describe(
    'The middle and what is usually still to come, by imbalance and spread of the touch (Stoikov); puntas calibrate writes it from a recording.',
  );

/** Maximum imbalance, in standard deviations. */
export const DEVIATIONS_MAX = 3;

/** Keys of the part and of the imbalance maker. */
export const imbalanceKeys = {
  depthBps: z
    .number()
    .min(0)
    .max(5_000)
    .default(30)
    .describe('Amounts up to this many bps from the middle count, on both sides. 0: those of the best prices alone.'),
  bpsPerDeviation: bps
    .default(2)
    .describe(
      `How far the fair value is moved towards where the book is thin by one standard deviation of imbalance, in bps; at most ${DEVIATIONS_MAX} deviations count.`,
    ),
  memory: duration
    .default('10m')
    .describe(
      'The mean and the deviation of the imbalance are followed with this time constant: what is always there says nothing.',
    ),
};

export const fairValueParameters = z
  .strictObject({
    withinBps: z
      .number()
      .gt(0)
      .max(5_000)
      .default(50)
      .describe('Nothing is quoted while the fair value is further than this many bps from the middle.'),
    mid: z.strictObject({ weight }).optional().describe('The middle of the touch.'),
    weightedMid: z
      .strictObject({ weight })
      .optional()
      .describe('The middle weighted by the amounts of the touch: nearer to the ask when the bid is the larger.'),
    microprice: microprice.optional(),
    lastTrades: z
      .strictObject({
        weight,
        memory: duration.default('30s').describe('A trade counts e times less after each of these, and by its amount.'),
        maxAgeMs: z
          .int()
          .min(100)
          .max(86_400_000)
          .default(60_000)
          .describe('Nothing is quoted while the newest trade that was heard is older than this many ms.'),
      })
      .optional()
      .describe('The mean price of the last public trades. They are heard while the stream is there.'),
    reference: z
      .strictObject({
        weight,
        maxAgeMs: z
          .int()
          .min(100)
          .max(3_600_000)
          .default(15_000)
          .describe('A reference older than this many ms is not quoted on.'),
        maxDivergenceBps,
        basisMemory: duration
          .optional()
          .describe(
            'The usual ratio of our book to the reference is followed with this time constant, like 1h, and taken as given. Left out: the reference is taken as it is.',
          ),
      })
      .optional()
      .describe('The price from elsewhere that the section reference: reads: other books of the exchange, or a feed.'),
    depthImbalance: z
      .strictObject(imbalanceKeys)
      .optional()
      .describe('Added to the mean: a move towards the side on which the book is thinner than usual.'),
    orderFlowImbalance: z
      .strictObject({
        bpsPerUnit: z
          .number()
          .min(-100_000)
          .max(100_000)
          .describe(
            'Coefficient: bps for each unit of the major currency that the touch gained on the bid or lost on the ask.',
          ),
        memory: duration.default('10s').describe('Order flow is forgotten exponentially with this time constant.'),
        maxBps: z.number().gt(0).max(1_000).default(5).describe('It moves the fair value by at most this many bps.'),
      })
      .optional()
      .describe('Added to the mean: the order flow at the touch (Cont, Kukanov, Stoikov), as seen at each decision.'),
  })
  .describe(
    'The price that every strategy quotes around: a weighted mean of the prices named here (of none: the middle), and what order flow and imbalance add to it. What cannot be computed means no quote, and says so. Left out: the middle.',
  );

export type FairValueParameters = z.infer<typeof fairValueParameters>;
