/** Source of live prices that reads a book or a feed at regular intervals. */
import type { Clock, Millis, Timer } from '../../core/index.ts';
import type { Feed } from './feed.ts';
import type { LivePriceNews, LivePriceSource } from './livePriceSource.ts';

/** Returns the prices of a feed, read every `everyMs`. A price without bid and ask counts as both. */
export function feedPriceSource(feed: Feed, clock: Clock, everyMs: Millis): LivePriceSource {
  let timer: Timer | null = null;
  let isOver = false;
  let reading: Promise<void> = Promise.resolve();
  const read = async (onNews: (news: LivePriceNews) => void): Promise<void> => {
    const startedAt = clock.elapsed();
    const found = await feed.read();
    if (isOver) return;
    timer = clock.after(Math.max(0, everyMs - (clock.elapsed() - startedAt)), () => {
      reading = read(onNews);
    });
    if (found.kind === 'failed') return onNews({ kind: 'lost', reason: found.why });
    const { bid = found.price, ask = found.price, ageMs } = found;
    onNews({ kind: 'book', bids: [[bid, 0]], asks: [[ask, 0]], sentAt: null, ageMs });
  };
  return {
    name: feed.name,
    start(onNews) {
      timer = clock.after(0, () => {
        reading = read(onNews);
      });
    },
    // No price has to be discarded, because each comes with its age.
    rejectAsUnreliable: () => undefined,
    async close() {
      isOver = true;
      timer?.stop();
      await reading;
      await feed.close();
    },
  };
}
