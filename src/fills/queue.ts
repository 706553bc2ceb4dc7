/** Queue models: estimates of the lots of others ahead of the bot's order, from events at its price. */

/** The bot's order as the models see it; they update its mutable fields. */
export type Queued = {
  /** Its price, in whole ticks from any fixed start. */
  readonly place: number;
  left: number;
  /** Estimated lots of others ahead of it. */
  front: number;
  /** Lots traded at its price since the level last changed; that change includes them again. */
  traded: number;
  /** First event not yet in the queue that it joined. */
  readonly joined: number;
  /** Time at which it came to rest, on the clock of the executions. */
  readonly restedAt: number;
};

export interface QueueModel {
  readonly name: string;
  /** Initializes an order in a visible queue. Later, a negative front means that an execution at its price has reached the order. */
  joined(order: Queued, displayed: number): void;
  /** Initializes an order in a queue that the recording does not show, or shows only with its next snapshot; `guess` is its likely size. */
  joinedUnseen(order: Queued, guess: number): void;
  traded(order: Queued, lots: number): void;
  /** Applies a change of the order's price level from `before` to `after`, in row `row`. */
  changed(order: Queued, before: number, after: number, row: number): void;
}

/** Probability that a cancel was behind the order, from the lots ahead and behind. */
type Behind = (front: number, back: number) => number;

/**
 * Returns the model in which every cancel is behind the order until the level is smaller than the lots ahead. Only
 * trades advance the order.
 */
export function riskAverse(): QueueModel {
  return {
    name: 'risk-averse',
    joined: joinQueue,
    // Infinite until seen, so that fewer levels or rarer snapshots never increase fills.
    joinedUnseen: order => joinQueue(order, Infinity),
    traded,
    changed(order, _before, after) {
      order.traded = 0;
      order.front = Math.min(order.front, after);
    },
  };
}

/** Returns the model that splits cancels by the n-th powers of the lots ahead and behind (formulas E7). */
export const power = (n: number): QueueModel =>
  n === 2
    ? shared('power 2', (front, back) => (back * back) / (back * back + front * front))
    : shared(`power ${n}`, (front, back) => back ** n / (back ** n + front ** n));

/** Returns the model that splits cancels by logarithms. */
export const logarithmic = (): QueueModel =>
  shared('log', (front, back) => Math.log1p(back) / (Math.log1p(back) + Math.log1p(front)));

function joinQueue(order: Queued, displayed: number): void {
  order.front = displayed;
  order.traded = 0;
}

function traded(order: Queued, lots: number): void {
  order.front -= lots;
  order.traded += lots;
}

function shared(name: string, behind: Behind): QueueModel {
  return {
    name,
    joined: joinQueue,
    joinedUnseen: joinQueue,
    traded,
    changed(order, before, after) {
      // This change includes the traded lots again.
      const shrunk = before - after - order.traded;
      order.traded = 0;
      if (shrunk < 0) {
        order.front = Math.min(order.front, after);
        return;
      }
      const front = order.front;
      const back = before - front;
      // A front slightly below zero means none ahead, and must not enter a power.
      const share = behind(Math.max(0, front), Math.max(0, back));
      // With nothing ahead and behind, there is nothing to split.
      if (!(share >= 0)) order.front = after;
      else order.front = Math.min(front - (1 - share) * shrunk + Math.min(back - share * shrunk, 0), after);
    },
  };
}
