/**
 * Faults, and the intensity that one seed draws of each: each class is on with a probability of one half and has an
 * intensity of its own.
 */
import { chanceOf } from './chance.ts';

export const FAULTS = [
  // The network.
  'lost requests',
  'lost replies',
  'latency',
  'late delivery',
  'duplicates',
  'proxy retries',
  'resets',
  'not sent',
  'truncated bodies',
  'html replies',
  'partitions',
  'endpoint partitions',
  'stream faults',
  // The exchange.
  'errors though applied',
  'errors not applied',
  'lock-outs',
  'late trade records',
  'lagging reads',
  'empty cancels',
  'partial cancels',
  'cancels by the venue',
  'slow matching',
  'changed rules',
  'busy market',
  // The book.
  'frozen book',
  'sequence back',
  'one-sided book',
  'crossed book',
  'empty book',
  'only ours in the book',
  // The machine.
  'clock steps',
  'crashes',
  'crashes at a step',
  'crashes in recovery',
  'disk full',
  'freezes',
  // People and other programs.
  'orders of others',
  'trades of others',
  'transfers',
  'orphans',
  'halts by a person',
  'stops by a person',
  'tight limits',
  // Added later: a class in the middle would change what every seed draws after it.
  'long absences',
  'sentinel trouble',
  // The conversion desks; they strike where the bot hedges.
  'desk requests lost',
  'desk requests late',
  'desk answers lost',
  'desk answers late',
  'desk errors',
  'unconfirmable quotes',
  'quotes withdrawn',
  'capacity gone',
  'conversions fail',
  'conversions stuck',
  'conversion list cut',
  // Webhooks; they strike where the bot has an inbox.
  'webhooks lost',
  'webhooks late',
  'webhooks duplicated',
  'webhooks forged',
  'transactions',
  // A book that arrives seconds after it was read, and after it none.
  'late books',
  // Placements and cancels, each for itself: one may overtake the other.
  'slow placing',
  'slow canceling',
  // Decisions of the exchange about the book and the account.
  'removed book',
  'suspended trading',
  'changed fees',
  // Other hedge routes, if the bot hedges. Each strike of the second class moves the price of the dollar.
  'hedges by the book',
  'hedges over dollars',
  // The clocks of the machines of bot and sentinel drift away from the clock of the exchange.
  'drifting clocks',
  // The machine goes down, and the disk loses writes that it had confirmed.
  'lying disk',
  // Instead of a ladder, the bot has any strategy, with random values from the schema.
  'drawn configuration',
  // The second exchange; they strike where the bot hedges there.
  'elsewhere requests lost',
  'elsewhere answers lost',
  'elsewhere errors',
  'elsewhere rejects',
  'elsewhere partial fills',
  'elsewhere late',
  'elsewhere late lists',
  'elsewhere silence',
  'elsewhere clock',
  // Little money there, and money that persons move there or lock.
  'elsewhere short funds',
  'elsewhere transfers',
  // Little request weight per minute, or other programs that use it.
  'elsewhere budget',
  // The book there has another quote currency.
  'elsewhere other currency',
] as const;

export type Fault = (typeof FAULTS)[number];

/** Intensity in (0, 1] of each class that is on. */
export type Swarm = ReadonlyMap<Fault, number>;

/** Probabilities of classes in a steered draw; a class without one is on with a probability of one half. */
export type Weights = ReadonlyMap<Fault, number>;

/** Every tenth seed is calm: nothing is injected, and the price of safety can be told from the others. */
export const isCalm = (seed: number): boolean => seed % 10 === 0;

/** `only` keeps the drawn intensity of the classes that it names, and switches the others off. */
export function swarmOf(seed: number, only?: readonly Fault[], weights?: Weights): Swarm {
  const chance = chanceOf(seed, 'swarm');
  const swarm = new Map<Fault, number>();
  for (const fault of FAULTS) {
    const on = chance.hit(weights?.get(fault) ?? 0.5);
    // Mostly mild: with everything at its worst the bot would hardly ever quote, and little could be learnt.
    const intensity = 0.05 + 0.95 * chance.next() ** 3;
    if (only ? only.includes(fault) : on && !isCalm(seed)) swarm.set(fault, intensity);
  }
  return swarm;
}
