/** Mean of values that cluster in time, with a standard error from clusters and optional exponential forgetting. */
import type { Millis } from '../model/units.ts';

/**
 * Returns the cluster length, in ms. Fills within one cluster have dependent markouts at a horizon of `horizonS`
 * seconds.
 */
export const clusterMsOf = (horizonS: number): Millis => Math.max(60_000, horizonS * 1000);

/**
 * Sums from which a mean is computed, as stored for the next run. All sums are finite, in the order of
 * `ClusteredMean.state`.
 */
export type MeanState = readonly number[];

/**
 * Weighted mean and its standard error, as a ratio of sums over clusters. Values of one cluster must be consecutive.
 *
 * With a memory, old values lose weight, so that the mean follows recent values. The weight of a value falls to e^(-n /
 * memory) within n cluster lengths. Without new values, the effective number of clusters falls.
 */
export class ClusteredMean {
  count = 0;
  readonly #memory: number;
  #clusters = 0;
  #cluster = Number.NaN;
  // `#value` and `#weight` are sums over the open cluster: of weight times value, and of weight. `#values` and
  // `#weights` are sums over all finished clusters. The other three fields are sums over finished clusters, too. Each
  // field adds the product of two sums of a cluster, such as value sum times weight sum.
  #value = 0;
  #weight = 0;
  #values = 0;
  #weights = 0;
  #valueValue = 0;
  #valueWeight = 0;
  #weightWeight = 0;

  /** `memory` is a number of clusters. By default, old values lose no weight. */
  constructor(memory = Infinity) {
    this.#memory = memory;
  }

  add(value: number, weight: number, cluster: number): void {
    if (cluster !== this.#cluster) {
      this.#close();
      if (this.#memory < Infinity) this.#fade(this.kept(cluster));
      this.#cluster = cluster;
      this.#clusters++;
    }
    this.count++;
    this.#value += weight * value;
    this.#weight += weight;
  }

  mean(): number | null {
    const weight = this.#weights + this.#weight;
    return weight > 0 ? (this.#values + this.#value) / weight : null;
  }

  /** Standard error of the mean; `null` with fewer than two clusters. */
  error(): number | null {
    const mean = this.mean();
    if (mean === null || !(this.#clusters >= 2)) return null;
    const [value, weight] = [this.#value, this.#weight];
    const squares =
      this.#valueValue +
      value * value -
      2 * mean * (this.#valueWeight + value * weight) +
      mean * mean * (this.#weightWeight + weight * weight);
    const correction = this.#clusters / (this.#clusters - 1);
    return Math.sqrt(correction * Math.max(0, squares)) / (this.#weights + weight);
  }

  /**
   * Number of equally weighted clusters that would give the mean the same precision. Old clusters count less; 0 without
   * values.
   */
  effective(): number {
    const weight = this.#weights + this.#weight;
    return weight > 0 ? (weight * weight) / (this.#weightWeight + this.#weight * this.#weight) : 0;
  }

  /** Returns the factor by which the stored sums are multiplied if `cluster` is the next cluster. */
  kept(cluster: number): number {
    const passed = cluster - this.#cluster;
    return passed > 0 ? Math.exp(-passed / this.#memory) : 1;
  }

  state(): MeanState {
    return [
      this.count,
      this.#clusters,
      Number.isNaN(this.#cluster) ? 0 : this.#cluster,
      this.#value,
      this.#weight,
      this.#values,
      this.#weights,
      this.#valueValue,
      this.#valueWeight,
      this.#weightWeight,
    ];
  }

  restore(state: MeanState): void {
    const [count = 0, clusters = 0, cluster = 0, ...sums] = state;
    this.count = count;
    this.#clusters = clusters;
    this.#cluster = count > 0 ? cluster : Number.NaN;
    [
      this.#value = 0,
      this.#weight = 0,
      this.#values = 0,
      this.#weights = 0,
      this.#valueValue = 0,
      this.#valueWeight = 0,
      this.#weightWeight = 0,
    ] = sums;
  }

  #close(): void {
    const [value, weight] = [this.#value, this.#weight];
    this.#values += value;
    this.#weights += weight;
    this.#valueValue += value * value;
    this.#valueWeight += value * weight;
    this.#weightWeight += weight * weight;
    this.#value = 0;
    this.#weight = 0;
  }

  #fade(kept: number): void {
    this.#clusters *= kept;
    this.#values *= kept;
    this.#weights *= kept;
    this.#valueValue *= kept;
    this.#valueWeight *= kept;
    this.#weightWeight *= kept;
  }
}
