/** What one more configuration beside others needs of memory: heap and buffers, after a collection late in the run. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { runSideBySide, type MarketRows } from '../../backtest/index.ts';
import { sideBySideOptions } from './production.ts';

const MORE = 8;
/** Share of the tape behind which it is looked at: as many orders are remembered then as ever. */
const LATE = 0.9;

/** In MB. */
export async function memoryOfOneMore(rows: MarketRows): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = async (count: number): Promise<number> => {
    const [first, ...others] = sideBySideOptions(rows, count);
    let bytes = 0;
    const onProgress = (share: number): void => {
      if (share < LATE || bytes > 0) return;
      collect();
      const { heapUsed, external } = process.memoryUsage();
      bytes = heapUsed + external;
    };
    await runSideBySide(rows, [{ ...first!, onProgress }, ...others]);
    return bytes;
  };
  // Once before: what the program itself keeps is there then.
  await used(1);
  const alone = await used(1);
  return ((await used(1 + MORE)) - alone) / MORE / 1e6;
}
