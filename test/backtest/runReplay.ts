/** One replay over a market of its own. */
import { ReplayMarket } from '../../backtest/replay/replayMarket.ts';
import { TapeReplay, type ReplayOptions, type ReplayResult } from '../../backtest/replay/replay.ts';

/** Without a hedger. */
export function runReplay(options: ReplayOptions): ReplayResult {
  if (options.hedge) throw new TypeError('a replay with a hedger waits for it: runHedgedReplay');
  return new TapeReplay(options, new ReplayMarket(options.rows)).run();
}

/** With or without one. */
export async function runHedgedReplay(options: ReplayOptions): Promise<ReplayResult> {
  return new TapeReplay(options, new ReplayMarket(options.rows)).runHedged();
}
