/** Rows of hedges for the tests of this room. */
import type { HedgeRow } from '../../src/core/index.ts';

export const NOW = 1_700_000_000_000;

/** A hedge that sells 2 btc for 1,990 mxn; it is requested and has no offer. */
export const rowOf = (changes: Partial<HedgeRow> = {}): HedgeRow => ({
  ...{ id: 'h1', at: NOW, state: 'requested', amount: '2', weighed: [], offer: null },
  ...{ acceptedAt: null, conversionId: null, why: null },
  ...changes,
});

export const offerOf = (changes: object = {}): NonNullable<HedgeRow['offer']> => ({
  ...{ way: 'rfq', id: 'q1', lifeMs: 30_000 },
  ...{ give: { currency: 'btc', amount: '2' }, get: { currency: 'mxn', amount: '1990' } },
  ...changes,
});

/** A route over the dollar that got 110 for the 2 btc. */
export const routeOf = (changes: object = {}): NonNullable<HedgeRow['route']> => ({
  ...{ via: 'usd', leg: 1, holds: '110', worth: '1985', least: '1980', until: null },
  ...changes,
});
