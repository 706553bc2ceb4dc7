/** A mean of values that share their moment with others: its standard error comes from clusters, and it may forget. */
import type { Millis } from '../model/units.ts';

/** Fills of one such stretch of time share their market, seen at a horizon of so many seconds. */
export const clusterMsOf = (horizonS: number): Millis => Math.max(60_000, horizonS * 1000);

/** The sums behind a mean, as they are kept over a restart: in this order, all finite. */
export type MeanState = readonly number[];

/**
 * A weighted mean and the error of a ratio of sums over clusters; values of a cluster come one after the other. With a memory, everything
 * fades by e^(-clusters passed / memory): the mean then stands on what is recent, and on less and less where nothing comes.
 */
export class ClusteredMean {
  count = 0;
  readonly #memory: number;
  #clusters = 0;
  #cluster = Number.NaN;
  // Sums of weight times value and of weight: of the open cluster, of all closed ones, and of the products of those.
  #value = 0;
  #weight = 0;
  #values = 0;
  #weights = 0;
  #valueValue = 0;
  #valueWeight = 0;
  #weightWeight = 0;

  /** `memory` in clusters; without one nothing is forgotten. */
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

  /** Null with fewer than two clusters. */
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

  /** How many clusters of one weight the mean stands on; of those that are remembered, what is left of them. 0 without any. */
  effective(): number {
    const weight = this.#weights + this.#weight;
    return weight > 0 ? (weight * weight) / (this.#weightWeight + this.#weight * this.#weight) : 0;
  }

  /** The share of everything that is still remembered at this place in the row of clusters. */
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
