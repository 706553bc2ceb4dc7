/**
 * Market whose prices follow another book of the exchange, so that cross prices agree. The market has makers but no
 * takers.
 */
import type { Amount, Millis, Price, Timer } from '../../core/index.ts';
import type { Market, Marketplace } from './market.ts';

export type LinkedMarketOptions = {
  /** Returns the price to follow, in this book's ticks; NaN if there is no price. */
  readonly price: () => number;
  readonly everyMs: Millis;
};

const LEVELS = 5;
/** Distance of the first level from the price, and between levels, in bps. */
const STEP_BPS = 2;

/**
 * Returns a market with five levels on each side of the price. All levels are replaced when the price moves by a tick.
 */
export function linkedMarket({ price, everyMs }: LinkedMarketOptions): Market {
  let timer: Timer | undefined;
  let laid: number[] = [];
  let mid = Number.NaN;
  let stopped = false;

  function lay(place: Marketplace): void {
    const now = Math.round(price());
    if (now > LEVELS && now !== mid) {
      for (const id of laid) place.cancel(id);
      laid = [];
      mid = now;
      const { amountMin, amountMax } = place.instrument;
      const lots = Math.min(amountMax, 1_000 * amountMin) as Amount;
      for (let i = 1; i <= LEVELS; i++) {
        const away = Math.max(i, Math.ceil((now * STEP_BPS * i) / 10_000));
        laid.push(place.place('buy', (now - away) as Price, lots, 'GTC').id);
        laid.push(place.place('sell', (now + away) as Price, lots, 'GTC').id);
      }
    }
    if (!stopped) timer = place.clock.after(everyMs, () => lay(place));
  }

  return {
    start: lay,
    stop: () => {
      stopped = true;
      timer?.stop();
    },
  };
}
