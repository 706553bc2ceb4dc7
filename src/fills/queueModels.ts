/** Queue models: estimates of the lots of other traders ahead of the bot's order, from events at its price. */

/** The bot's order in a queue model, which updates the mutable fields. */
export type Queued = {
  /** Price, in complete ticks from any fixed start. */
  readonly place: number;
  left: number;
  /** Estimated lots of other traders ahead of the order. */
  front: number;
  /** Lots traded at the order's price since the last change of the level; the next change includes these lots again. */
  traded: number;
  /** Number of the first event after the order joined the queue. */
  readonly joined: number;
  /** Time at which the order came to rest, on the clock of the executions. */
  readonly restedAt: number;
};

export interface QueueModel {
  readonly name: string;
  /**
   * Initializes an order in a visible queue of `displayed` lots. `front` becomes negative when an execution at the
   * order's price reaches the order.
   */
  joined(order: Queued, displayed: number): void;
  /**
   * Initializes an order whose queue the recording does not show, or shows only in the next snapshot. `guess` is the
   * likely length of the queue, in lots.
   */
  joinedUnseen(order: Queued, guess: number): void;
  /**
   * Applies the first recording of the queue of an order that joined unseen: `displayed` lots. If omitted, the lots
   * ahead are at most these.
   */
  shown?(order: Queued, displayed: number): void;
  traded(order: Queued, lots: number): void;
  /** Applies a change of the order's price level from `before` to `after` lots, in row `row`. */
  changed(order: Queued, before: number, after: number, row: number): void;
}

/** Returns the probability that a cancel was behind the order, given the lots ahead of the order and behind it. */
export type Behind = (front: number, back: number) => number;

/**
 * Returns the model in which only trades advance the order. Every canceled lot counts as behind the order, unless after
 * the cancel the level has fewer lots than were ahead of the order.
 */
export function riskAverse(): QueueModel {
  return {
    name: 'risk-averse',
    joined: joinQueue,
    // The lots ahead are infinite until the recording shows the queue, so that fewer levels or rarer snapshots never
    // increase fills.
    joinedUnseen: order => joinQueue(order, Infinity),
    traded,
    changed(order, _before, after) {
      order.traded = 0;
      order.front = Math.min(order.front, after);
    },
  };
}

/** Returns the model that splits cancels by the n-th powers of the lots ahead and behind (source E7). */
export const power = (n: number): QueueModel =>
  n === 2
    ? splitCancels('power 2', (front, back) => (back * back) / (back * back + front * front))
    : splitCancels(`power ${n}`, (front, back) => back ** n / (back ** n + front ** n));

/** Returns the model that splits cancels by the logarithms of the lots ahead and behind (source E7). */
export const logarithmic = (): QueueModel =>
  splitCancels('log', (front, back) => Math.log1p(back) / (Math.log1p(back) + Math.log1p(front)));

/** Returns the model in which every canceled lot was ahead of the order, while there are lots ahead. */
export const cancelsAhead = (): QueueModel => splitCancels('cancels ahead', () => 0);

function joinQueue(order: Queued, displayed: number): void {
  order.front = displayed;
  order.traded = 0;
}

function traded(order: Queued, lots: number): void {
  order.front -= lots;
  order.traded += lots;
}

/**
 * Returns the model that splits canceled lots between those ahead of the order and those behind it. If the share is not
 * a number, the lots left at the price are all ahead.
 */
export function splitCancels(name: string, behind: Behind): QueueModel {
  return {
    name,
    joined: joinQueue,
    joinedUnseen: joinQueue,
    traded,
    changed(order, before, after) {
      // The level's change includes the lots in `order.traded`, which `traded` has already subtracted from the lots
      // ahead.
      const shrunk = before - after - order.traded;
      order.traded = 0;
      if (shrunk < 0) {
        order.front = Math.min(order.front, after);
        return;
      }
      const front = order.front;
      const back = before - front;
      // A negative number of lots ahead counts as 0, because the split formulas need numbers of at least 0.
      const share = behind(Math.max(0, front), Math.max(0, back));
      // With no lots ahead and behind, there is nothing to split, and the share is not a number.
      if (!(share >= 0)) order.front = after;
      else order.front = Math.min(front - (1 - share) * shrunk + Math.min(back - share * shrunk, 0), after);
    },
  };
}
