/**
 * Several independent replays over one market that is decoded and read once. Each replay has its own engine, orders,
 * account and time.
 */
import { ReplayMarket } from './replayMarket.ts';
import { TapeReplay, type ReplayOptions, type ReplayResult } from './replay.ts';
import type { MarketRows } from '../rows/rows.ts';
import type { RowWindow } from '../rows/rowWindow.ts';

/** Inputs of one replay, except the rows. */
export type SideBySideOptions = Omit<ReplayOptions, 'rows'>;

/**
 * Runs the replays. Results are in the order of `all` and byte-identical to those of separate runs. Rejects with the
 * error of any replay.
 */
export async function runSideBySide(
  rows: MarketRows | RowWindow,
  all: readonly SideBySideOptions[],
): Promise<readonly ReplayResult[]> {
  const market = new ReplayMarket(rows);
  const replays = all.map(options => new TapeReplay({ ...options, rows }, market));
  await new Side(market, replays).run();
  return replays.map(replay => replay.result());
}

/**
 * Scheduler that runs the events of all replays in order of exchange time. The market advances only if no replay has an
 * event before the next row.
 */
class Side {
  readonly #market: ReplayMarket;
  readonly #replays: readonly TapeReplay[];
  /** Time of each replay's next event; Infinity for a replay that is over. */
  readonly #due: Float64Array;

  constructor(market: ReplayMarket, replays: readonly TapeReplay[]) {
    this.#market = market;
    this.#replays = replays;
    this.#due = new Float64Array(replays.length).fill(Infinity);
  }

  async run(): Promise<void> {
    const { there } = this.#market;
    const due = this.#due;
    for (let i = 0; i < due.length; i++) this.#aim(i);
    for (let i = this.#first(); i >= 0; i = this.#first()) {
      // Reading stops at an execution, which may cause an event that is due earlier.
      if (there.readTo(due[i]!)) {
        this.#lookAgain();
        i = this.#first();
      }
      const replay = this.#replays[i]!;
      const { exchange } = replay;
      if (exchange.act()) {
        const hedgeAt = replay.turn(exchange.reached);
        if (hedgeAt !== null) await replay.liveTo(hedgeAt);
        this.#aim(i);
      } else due[i] = exchange.dueAt;
    }
  }

  /**
   * Returns the index of the replay with the earliest next event; the lowest index if several replays have it, -1 if
   * all replays are over.
   */
  #first(): number {
    const due = this.#due;
    let first = -1;
    let at = Infinity;
    for (let i = 0; i < due.length; i++)
      if (due[i]! < at) {
        at = due[i]!;
        first = i;
      }
    return first;
  }

  #aim(i: number): void {
    const replay = this.#replays[i]!;
    if (replay.aim()) {
      this.#due[i] = replay.exchange.dueAt;
      return;
    }
    this.#due[i] = Infinity;
    this.#market.there.leave(replay.exchange);
  }

  #lookAgain(): void {
    for (let i = 0; i < this.#due.length; i++)
      if (this.#due[i]! < Infinity) this.#due[i] = this.#replays[i]!.exchange.dueAt;
  }
}
