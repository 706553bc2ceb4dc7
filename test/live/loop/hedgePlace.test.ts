/** Terms of hedges on the other exchange as a run sees them: the volatility of usable books only, and values by rate. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { hedgeViewOf } from '../../../src/hedge/view.ts';
import { placeSetupOf } from '../../../src/live/loop/hedgePlace.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { hedgePlaceOf } from '../../../src/wiring/place.ts';
import { plain } from '../../core/market.ts';
import { TwoDesks } from '../../core/twoDesks.ts';

const VOLATILITY_BPS = 60;

/** Setup of a run on a desk, whose rules there are those of the desk's book. */
function setupOn(two: TwoDesks) {
  const read = loadConfig(JSON.stringify(parse(readFileSync(shippedConfig('elsewhere'), 'utf8'))), 'my.yaml');
  if (!read.ok) throw new Error(read.errors.join('\n'));
  const shipped = hedgePlaceOf(read.config, {} as never, {} as never)!;
  const rules = { known: { instrument: plain, takerRate: 0 } } as never;
  const place = { ...shipped, rules, terms: { ...shipped.terms, volatilityBps: VOLATILITY_BPS } };
  const clock = { elapsed: () => two.desk.now } as never;
  return placeSetupOf(place, two.desk.engine, { clock, time: () => two.desk.now }, () => null);
}

/** Lets the desk run for `rounds` of 3 s while the hedger looks each time. */
function observes(two: TwoDesks, { observe }: ReturnType<typeof setupOn>, rounds: number): void {
  for (let n = 0; n < rounds; n++) {
    two.desk.round(3_000);
    two.readThere();
    const { now, engine } = two.desk;
    observe(now, hedgeViewOf(engine, { instrument: plain, takerRate: 0, balancesAt: now }, now));
  }
}

test('a book that has one side for a while does not change the volatility, which would close hedges for hours', () => {
  const two = new TwoDesks();
  two.desk.open({ btc: 1e9 - 500, mxn: 1e9 });
  two.readThere();
  const place = setupOn(two);
  observes(two, place, 5);
  const before = place.setup.perRootSecond();
  const { bids } = two.desk;
  for (const side of [[], bids, [], bids]) {
    two.desk.bids = side;
    observes(two, place, 2);
  }
  expect(place.setup.perRootSecond()).toBeLessThanOrEqual(before);
  // A price that does move is measured.
  two.desk.bids = [[1_000, 50]];
  two.desk.asks = [[1_020, 50]];
  observes(two, place, 2);
  expect(place.setup.perRootSecond()).toBeGreaterThan(before);
});

test('without a rate, no order there is within the maximum value', () => {
  const two = new TwoDesks();
  two.desk.open();
  const { rate, setup } = setupOn(two);
  expect([rate(), setup.bounds.orderValueMax]).toEqual([null, 0n]);
});
