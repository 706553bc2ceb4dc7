/** Totals over the runs of one process, so that reported figures do not restart with each run. */
import {
  differenceOfProfits,
  type DecisionCount,
  type Millis,
  type Profit,
  type Side,
  type Snapshot,
  type TradeFigures,
} from '../../core/index.ts';

const SIDES: readonly Side[] = ['buy', 'sell'];

export class RunTotals {
  /** Profit since the opening of the ledger, as it was at the start of the first run. */
  #found: Profit | null = null;
  #ended: { readonly snapshot: Snapshot; readonly ms: Millis } | null = null;

  /** Adds an ended run that lasted `ms`; `last` is its final snapshot. */
  add(last: Snapshot, ms: Millis): void {
    this.#found ??= differenceOfProfits(last.booked.sinceOpening.profit, last.booked.runProfit);
    this.#ended = { snapshot: this.with(last, ms), ms: ms + (this.#ended?.ms ?? 0) };
  }

  /**
   * Returns the snapshot of the current run, which started `ms` ago. Counts, profit and shares of time include the
   * earlier runs.
   */
  with(now: Snapshot, ms: Millis): Snapshot {
    if (this.#ended === null) return now;
    const { snapshot: before, ms: msBefore } = this.#ended;
    const share = (side: 'bid' | 'ask') =>
      msBefore + ms > 0 ? (before.uptime[side] * msBefore + now.uptime[side] * ms) / (msBefore + ms) : now.uptime[side];
    /** Returns the figures since the first run. The profit includes the inventory's gain between two runs. */
    const since = <F extends TradeFigures>(of: F): F => ({
      ...of,
      fills: before.booked.fills + of.fills,
      profit: this.#found === null ? of.profit : differenceOfProfits(of.sinceOpening.profit, this.#found),
    });
    return {
      ...now,
      booked: since(now.booked),
      known: { ...now.known, trades: now.known.trades && since(now.known.trades) },
      regimes: regimesOf(before.regimes, now.regimes),
      decisions: decisionsOf(before.decisions, now.decisions),
      counts: Object.fromEntries(SIDES.map(side => [side, countsOf(before, now, side)])) as Snapshot['counts'],
      uptime: { bid: share('bid'), ask: share('ask') },
    };
  }
}

function countsOf(before: Snapshot, now: Snapshot, side: Side): Snapshot['counts'][Side] {
  const [a, b] = [before.counts[side], now.counts[side]];
  return {
    placed: a.placed + b.placed,
    canceled: a.canceled + b.canceled,
    filled: a.filled + b.filled,
    refused: a.refused + b.refused,
    unknown: a.unknown + b.unknown,
  };
}

const regimesOf = (a: Snapshot['regimes'], b: Snapshot['regimes']): Snapshot['regimes'] => ({
  normal: a.normal + b.normal,
  wide: a.wide + b.wide,
  'reduce only': a['reduce only'] + b['reduce only'],
  paused: a.paused + b.paused,
  halted: a.halted + b.halted,
});

function decisionsOf(before: readonly DecisionCount[], now: readonly DecisionCount[]): readonly DecisionCount[] {
  const all = new Map<string, DecisionCount>();
  for (const one of [...before, ...now]) {
    const key = `${one.side} ${one.action} ${one.reason}`;
    all.set(key, { ...one, count: one.count + (all.get(key)?.count ?? 0) });
  }
  return [...all.values()];
}
