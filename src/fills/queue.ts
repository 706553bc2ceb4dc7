/** Queue models: how many lots of others are estimated to stand ahead of an order of ours, from what happens at its price. */

/** An order of ours as the models know it; what is written in it is theirs. */
export type Queued = {
  /** Its price, as whole ticks from any fixed start. */
  readonly place: number;
  left: number;
  /** Estimated lots of others ahead of it. */
  front: number;
  /** Lots traded at its price since the level last changed: that change will tell of them a second time. */
  traded: number;
  /** First event that is not yet in the queue it joined. */
  readonly joined: number;
  /** When it came to rest, on the clock of the executions. */
  readonly restedAt: number;
};

export interface QueueModel {
  readonly name: string;
  /** Whether an execution at its price has reached an order is told by its front below zero. */
  joined(order: Queued, displayed: number): void;
  /** It joined a queue of which the recording does not tell, or will tell only with its next picture; `guess`: what it is likely to hold. */
  joinedUnseen(order: Queued, guess: number): void;
  traded(order: Queued, lots: number): void;
  /** The level of the order's price went from `before` to `after` in row `row`. */
  changed(order: Queued, before: number, after: number, row: number): void;
}

/** Probability that a cancel was behind us, of lots ahead and behind. */
type Behind = (front: number, back: number) => number;

/** Every cancel was behind us until the level is smaller than what we thought to be ahead: only trades move us on. */
export function riskAverse(): QueueModel {
  return {
    name: 'risk-averse',
    joined: joinQueue,
    // Longer than any until it is seen: only then fewer levels, or rarer pictures, never bring more.
    joinedUnseen: order => joinQueue(order, Infinity),
    traded,
    changed(order, _before, after) {
      order.traded = 0;
      order.front = Math.min(order.front, after);
    },
  };
}

/** Cancels are shared out by the n-th powers of what is ahead and behind (formulas E7). */
export const power = (n: number): QueueModel =>
  n === 2
    ? shared('power 2', (front, back) => (back * back) / (back * back + front * front))
    : shared(`power ${n}`, (front, back) => back ** n / (back ** n + front ** n));

/** The same by logarithms. */
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
      // What trades took is in this change a second time.
      const shrunk = before - after - order.traded;
      order.traded = 0;
      if (shrunk < 0) {
        order.front = Math.min(order.front, after);
        return;
      }
      const front = order.front;
      const back = before - front;
      // A front a little below zero is nobody ahead, and must not come near a power.
      const share = behind(Math.max(0, front), Math.max(0, back));
      // Nobody ahead and nobody behind: whatever the share, there is nothing to share.
      if (!(share >= 0)) order.front = after;
      else order.front = Math.min(front - (1 - share) * shrunk + Math.min(back - share * shrunk, 0), after);
    },
  };
}
