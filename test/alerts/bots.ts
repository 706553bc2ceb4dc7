/** Bots at one moment, as alerts look at them. */
import type { Look } from '../../src/alerts/conditions.ts';
import { firstRegime, type RegimeState } from '../../src/core/index.ts';

export type Bot = Omit<Look, 'elapsed' | 'requests' | 'decisions'>;
export const none = { placed: 0, canceled: 0, filled: 0, refused: 0, unknown: 0 };
export const calm: RegimeState = { ...firstRegime, regime: 'normal', why: '', refusal: null };
export const CALM: Bot = {
  symbol: 'btc_mxn',
  snapshot: {
    ...{ quoting: null, waitsFor: null, unshown: { buy: null, sell: null }, emptySidesText: null, regime: calm },
    livePrice: null,
    elsewhere: null,
    counts: { buy: none, sell: none },
    booked: { fills: 0 },
  },
  quotesLive: { buy: 3, sell: 3 },
  uses: [],
  ...{ sentinelAgeMs: null, diskFreeBytes: 1e12, journalWritable: true, budget: { public: 50, private: 250 } },
  resumeCommand: 'puntas resume -c my.yaml',
};
export const snapshot = (changes: Partial<Bot['snapshot']>): Bot => ({
  ...CALM,
  snapshot: { ...CALM.snapshot, ...changes },
});
