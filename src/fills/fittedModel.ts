/**
 * Fill model that is fitted from the bot's own fills: each order follows one of several hypotheses about its queue,
 * drawn with the fitted probabilities.
 */
import { sharedVolume } from './fillRules.ts';
import { queueWithHidden } from './hiddenLots.ts';
import type { FillModel } from './models.ts';
import { cancelsAhead, power, riskAverse, type Queued, type QueueModel } from './queueModels.ts';

/**
 * Rules for canceled lots at the price of an order: all behind it, split by squares (`power2`), split in proportion
 * (`power1`), or all ahead of it.
 */
export const CANCEL_RULES = ['behind', 'power2', 'power1', 'ahead'] as const;
export type CancelRule = (typeof CANCEL_RULES)[number];

/**
 * Assumption about the lots ahead of an order on arrival: `shown` times the displayed lots, plus `own` times the lots
 * of the order. Lots beyond the displayed ones are hidden: they trade after the displayed lots and are not canceled.
 */
export type QueueHypothesis = { readonly cancels: CancelRule; readonly shown: number; readonly own: number };

export type WeightedHypothesis = QueueHypothesis & { readonly weight: number };

/** Hypothesis of the default model `expected`. */
export const EXPECTED_HYPOTHESIS: QueueHypothesis = { cancels: 'power2', shown: 1, own: 0 };

const SHOWN = [0.25, 0.5, 0.75, 1, 1.5, 2, 4];
const OWN = [0.5, 1, 2, 4, 8];

/** Hypotheses that a fit can combine. With no lots ahead, cancels do not matter, so that assumption appears once. */
export const QUEUE_HYPOTHESES: readonly QueueHypothesis[] = [
  { cancels: 'power2', shown: 0, own: 0 },
  ...CANCEL_RULES.flatMap(cancels => [
    ...SHOWN.map(shown => ({ cancels, shown, own: 0 })),
    ...OWN.map(own => ({ cancels, shown: 1, own })),
  ]),
];

/** Maximum number of hypotheses in a file. */
const HYPOTHESES_MAX = 200;
/** Maximum of `shown` and `own` in a file. */
const FACTOR_MAX = 1_000;

function baseOf(cancels: CancelRule): QueueModel {
  switch (cancels) {
    case 'behind':
      return riskAverse();
    case 'power2':
      return power(2);
    case 'power1':
      return power(1);
    case 'ahead':
      return cancelsAhead();
  }
}

/** Returns the queue model of one hypothesis. Create one for each exchange: it remembers hidden lots of its orders. */
export const hypothesisQueue = ({ cancels, shown, own }: QueueHypothesis): QueueModel => ({
  ...queueWithHidden(baseOf(cancels), ({ left }, displayed) => ({
    shown: Math.min(shown, 1) * displayed,
    hidden: Math.max(0, shown - 1) * displayed + own * left,
  })),
  name: `${cancels} ${shown} ${own}`,
});

/**
 * Returns the fill model of fitted hypotheses. `draw` returns random numbers from 0 to below 1: one for each order. An
 * order keeps its hypothesis. An order that came from an earlier process follows `expected`.
 */
export function fittedModel(hypotheses: readonly WeightedHypothesis[], draw: () => number): FillModel {
  const queues = hypotheses.map(hypothesisQueue);
  const fallback = hypothesisQueue(EXPECTED_HYPOTHESIS);
  const sums: number[] = [];
  let total = 0;
  for (const { weight } of hypotheses) sums.push((total += weight));
  const drawn = new WeakMap<
    Queued,
    { readonly queue: QueueModel; readonly place: number; readonly restedAt: number }
  >();
  const queueOf = (order: Queued): QueueModel => {
    const { place, restedAt } = order;
    const known = drawn.get(order);
    // A replay reuses the objects of ended orders.
    if (known !== undefined && known.place === place && known.restedAt === restedAt) return known.queue;
    const at = draw() * total;
    const queue = queues[sums.findIndex(sum => at < sum)] ?? queues.at(-1) ?? fallback;
    drawn.set(order, { queue, place, restedAt });
    return queue;
  };
  const laterQueueOf = (order: Queued): QueueModel => drawn.get(order)?.queue ?? fallback;
  const queue: QueueModel = {
    name: 'fitted',
    joined: (order, displayed) => queueOf(order).joined(order, displayed),
    joinedUnseen: (order, guess) => queueOf(order).joinedUnseen(order, guess),
    shown: (order, displayed) => laterQueueOf(order).shown?.(order, displayed),
    traded: (order, lots) => laterQueueOf(order).traded(order, lots),
    changed: (order, before, after, row) => laterQueueOf(order).changed(order, before, after, row),
  };
  return { name: 'fitted', queue, rule: sharedVolume(queue) };
}

/**
 * Returns the hypotheses of a parameter file, or the reason why they cannot be used. `book` is the book for which they
 * are to be used.
 */
export function parsedHypotheses(file: unknown, book: string): readonly WeightedHypothesis[] | string {
  const {
    kind,
    book: fitted,
    hypotheses,
  } = (typeof file === 'object' && file !== null ? file : {}) as Record<string, unknown>;
  if (kind !== FITTED_KIND) return 'is not a file of puntas calibrate --fills; write one with --out';
  if (fitted !== book) return `was fitted on ${JSON.stringify(fitted)}, expected ${book}`;
  if (!Array.isArray(hypotheses) || hypotheses.length === 0 || hypotheses.length > HYPOTHESES_MAX)
    return `hypotheses: expected 1 to ${HYPOTHESES_MAX} entries`;
  const found: WeightedHypothesis[] = [];
  for (const [i, one] of hypotheses.entries()) {
    const { cancels, shown, own, weight } = (typeof one === 'object' && one !== null ? one : {}) as Record<
      string,
      unknown
    >;
    const rule = CANCEL_RULES.find(known => known === cancels);
    if (rule === undefined) return `hypotheses.${i}.cancels: expected one of ${CANCEL_RULES.join(', ')}`;
    if (!isIn(shown, FACTOR_MAX)) return `hypotheses.${i}.shown: expected a number from 0 to ${FACTOR_MAX}`;
    if (!isIn(own, FACTOR_MAX)) return `hypotheses.${i}.own: expected a number from 0 to ${FACTOR_MAX}`;
    if (!isIn(weight, 1)) return `hypotheses.${i}.weight: expected a number from 0 to 1`;
    found.push({ cancels: rule, shown, own, weight });
  }
  const sum = found.reduce((all, { weight }) => all + weight, 0);
  return Math.abs(sum - 1) < 0.001 ? found : `hypotheses: expected weights with the sum 1, found ${sum}`;
}

/** Mark of a parameter file. */
export const FITTED_KIND = 'puntas fitted fills 1';

const isIn = (x: unknown, max: number): x is number => typeof x === 'number' && x >= 0 && x <= max;
