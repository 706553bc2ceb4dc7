/** Collection of a recording as a tape in memory. */
import { amount, price } from '../../core/index.ts';
import { SeenDepth } from '../model/seenDepth.ts';
import { tapeRules } from '../model/tapeRules.ts';
import { KIND, TapeBuilder, type Columns, type SideCode, type Tape } from '../model/tape.ts';
import { importRecording, type Recording } from './recording.ts';

/**
 * Collects the rows of a recording in a tape. If the recording has no rules, they come from `tapeRules`. Rejects with a
 * WrongFile of one line if the recording cannot be used, and with a RangeError above 20 million rows. `onBytes`
 * receives the number of bytes read since the last call.
 */
export async function collectTape(recording: Recording, onBytes?: (count: number) => void): Promise<Tape> {
  const builder = new TapeBuilder();
  const seen = new SeenDepth();
  const append = ({ length, kind, side, at, local, ...of }: Columns): void => {
    for (let row = 0; row < length; row++) {
      const what = kind[row];
      const [time, received, code] = [at[row]!, local[row]!, side[row]! as SideCode];
      const [ticks, lots, id] = [price(of.price[row]!), amount(of.amount[row]!), of.id[row]!];
      seen.take(what!, code, time, ticks, lots);
      if (what === KIND.clear) builder.clear(time, received);
      else if (what === KIND.level) builder.level(time, received, code, ticks, lots);
      else if (what === KIND.trade) builder.trade(time, received, code, ticks, lots, id);
      else if (what === KIND.add || what === KIND.change || what === KIND.remove)
        builder.order(what, time, received, code, ticks, lots, id);
    }
  };
  const sink = { append, gap: () => undefined };
  const { dirt: flaws, gaps } = await importRecording(recording, sink, onBytes);
  const { instrument, source, quotesOnly } = recording;
  const depth = recording.depth === Infinity ? Infinity : Math.min(recording.depth, seen.levels ?? Infinity);
  const { rules } = recording.rules
    ? { rules: recording.rules }
    : tapeRules(instrument.symbol, instrument.tick, instrument.lot);
  return { source, instrument, rules, columns: builder.columns(), gaps, flaws, depth, quotesOnly };
}
