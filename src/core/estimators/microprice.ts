/** Micro-price: expected future mid price, given imbalance and spread of the best levels. Fitted from a recording. */
import { solve } from './linear.ts';

/**
 * Correction of the mid price by state, in ticks: one row per spread, from narrow to wide; one column per imbalance
 * bucket.
 */
export type MicropriceTable = {
  readonly imbalanceBuckets: number;
  /** Largest spread of each row, in ticks; the last row has no bound. */
  readonly spreadsTicks: readonly number[];
  readonly adjustTicks: readonly (readonly number[])[];
};

/** Inputs that select a state: best amounts, and the spread in ticks. */
export type ImbalanceState = { readonly bidAmount: number; readonly askAmount: number; readonly spread: number };

/**
 * Counts of transitions between states (Stoikov 2018, Quant. Finance 18(12)). Every sample also counts with the sides
 * swapped. The swapped copies make the corrections antisymmetric, so that their sum converges. Counts of separate time
 * blocks can be added.
 */
export class MicropriceCounts {
  readonly buckets: number;
  readonly spreadsTicks: readonly number[];
  readonly #states: number;
  /** Number of observed transitions from each state to each state. */
  readonly #steps: Float64Array;
  /** Sum of the mid-price moves that started in each state, in ticks. */
  readonly #moves: Float64Array;
  readonly #seen: Float64Array;

  constructor(imbalanceBuckets: number, spreadsTicks: readonly number[]) {
    this.buckets = imbalanceBuckets;
    this.spreadsTicks = spreadsTicks;
    this.#states = imbalanceBuckets * (spreadsTicks.length + 1);
    this.#steps = new Float64Array(this.#states ** 2);
    this.#moves = new Float64Array(this.#states);
    this.#seen = new Float64Array(this.#states);
  }

  /** Adds one step between two observations, in which the mid price moved `move` ticks. Ignores invalid numbers. */
  add(from: ImbalanceState, to: ImbalanceState, move: number): void {
    const [a, b] = [stateOf(this.buckets, this.spreadsTicks, from), stateOf(this.buckets, this.spreadsTicks, to)];
    if (a < 0 || b < 0 || !Number.isFinite(move)) return;
    this.#count(a, b, move);
    this.#count(this.#mirror(a), this.#mirror(b), -move);
  }

  /** Adds the counts of another instance with the same states. */
  addAll(other: MicropriceCounts): void {
    if (other.#states !== this.#states)
      throw new RangeError('cannot add microprice counts of another number of states');
    for (let i = 0; i < this.#steps.length; i++) this.#steps[i] = this.#steps[i]! + other.#steps[i]!;
    for (let i = 0; i < this.#states; i++) {
      this.#moves[i] = this.#moves[i]! + other.#moves[i]!;
      this.#seen[i] = this.#seen[i]! + other.#seen[i]!;
    }
  }

  /** Number of samples; the copies with swapped sides are not counted. */
  get samples(): number {
    return this.#seen.reduce((sum, n) => sum + n, 0) / 2;
  }

  /** Number of steps that started in each state or its mirror, in the layout of the table. */
  seen(): readonly (readonly number[])[] {
    return this.#rows(this.#seen);
  }

  /**
   * Computes the corrections. Q holds the probabilities of steps without a move of the mid price. R holds the
   * probabilities of steps with a move, and r the mean moves.
   *
   * Then G = (1 - Q)^-1 r, B = (1 - Q)^-1 R, and the correction G + B G + B B G + ... is (1 - Q - R)^-1 r. Each state
   * gets one extra observation that ends without a move. The extra observation keeps the correction of a rare state
   * small and the sum finite.
   */
  table(): MicropriceTable {
    const n = this.#states;
    const matrix = new Float64Array(n * n);
    const moves = new Float64Array(n);
    for (let a = 0; a < n; a++) {
      const total = this.#seen[a]! + 1;
      moves[a] = this.#moves[a]! / total;
      for (let b = 0; b < n; b++) matrix[a * n + b] = (a === b ? 1 : 0) - this.#steps[a * n + b]! / total;
    }
    return {
      imbalanceBuckets: this.buckets,
      spreadsTicks: this.spreadsTicks,
      adjustTicks: this.#rows(solve(matrix, moves)),
    };
  }

  #rows(states: Float64Array): readonly (readonly number[])[] {
    return Array.from({ length: states.length / this.buckets }, (_, row) =>
      Array.from(states.subarray(row * this.buckets, (row + 1) * this.buckets)),
    );
  }

  #count(from: number, to: number, move: number): void {
    const cell = from * this.#states + to;
    this.#seen[from] = this.#seen[from]! + 1;
    this.#steps[cell] = this.#steps[cell]! + 1;
    this.#moves[from] = this.#moves[from]! + move;
  }

  /** Returns the mirror of a state: equal spread, sides swapped. */
  #mirror(state: number): number {
    const bucket = state % this.buckets;
    return state - bucket + (this.buckets - 1 - bucket);
  }
}

/** Returns the ticks to add to the mid price; NaN if best prices or amounts are invalid. */
export function micropriceAdjustment(table: MicropriceTable, touch: ImbalanceState): number {
  const state = stateOf(table.imbalanceBuckets, table.spreadsTicks, touch);
  if (state < 0) return Number.NaN;
  const row = Math.floor(state / table.imbalanceBuckets);
  return table.adjustTicks[row]?.[state % table.imbalanceBuckets] ?? Number.NaN;
}

/** Returns the index of a state in the table, row by row; -1 if best prices or amounts are invalid. */
function stateOf(buckets: number, spreadsTicks: readonly number[], touch: ImbalanceState): number {
  const { bidAmount, askAmount, spread } = touch;
  const imbalance = bidAmount / (bidAmount + askAmount);
  if (!(imbalance >= 0 && imbalance <= 1 && spread > 0)) return -1;
  let row = 0;
  while (row < spreadsTicks.length && spread > spreadsTicks[row]!) row++;
  return row * buckets + Math.min(buckets - 1, Math.floor(imbalance * buckets));
}
