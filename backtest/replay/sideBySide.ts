/**
 * Several replays over one market that is decoded and read once, each with its own engine, orders, account and time.
 * They are independent of each other.
 */
import { ReplayMarket } from './replayMarket.ts';
import { TapeReplay, type ReplayOptions, type ReplayResult } from './replay.ts';
import type { MarketRows } from '../rows/rows.ts';
import type { RowWindow } from '../rows/rowWindow.ts';

/** Inputs of one replay, except the rows. */
export type SideBySideOptions = Omit<ReplayOptions, 'rows'>;

/**
 * Runs the replays; results are in the order of the options and byte-identical to separate runs. Rejects with any
 * replay's error.
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
 * Scheduler that runs events in order of exchange time, so that the market advances only if no replay has an event
 * before its next row.
 */
class Side {
  readonly #market: ReplayMarket;
  readonly #replays: readonly TapeReplay[];
  /** Time of each replay's next event; Infinity if it is over. */
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
      // An execution may cause an earlier event.
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

  /** Index of the replay that is due first, the lowest of equals; -1 if all are over. */
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
