/** Terms of hedges on the other exchange as a run sees them: the volatility of usable books only, and values by rate. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { causesOf, moneyOf } from '../../../src/core/index.ts';
import { loadConfig } from '../../../src/config.ts';
import { hedgeInputsOf } from '../../../src/hedge/hedgeInputs.ts';
import { elsewhereSetupOf, rateOf, stateElsewhere } from '../../../src/hedge/index.ts';
import { heldLeftElsewhere, hedgesToContinue } from '../../../src/live/loop/elsewhereHedging.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { elsewhereHedgingOf } from '../../../src/wiring/elsewhereHedging.ts';
import { plain } from '../../core/market.ts';
import { TwoToyExchanges } from '../../core/twoToyExchanges.ts';
import { applyPendingSettlements } from '../../../src/live/state/settlements.ts';
import { heardLog } from '../../memoryLog.ts';
import { NOW, rowOf } from '../../hedge/hedgeRows.ts';

const VOLATILITY_BPS = 60;

/** Setup of a run on a toy exchange, whose rules there are those of its book. */
function setupOn(two: TwoToyExchanges, unread: () => string | null = () => null) {
  const read = loadConfig(JSON.stringify(parse(readFileSync(shippedConfig('elsewhere'), 'utf8'))), 'my.yaml');
  if (!read.ok) throw new Error(read.errors.join('\n'));
  const shipped = elsewhereHedgingOf(read.config, { start: () => undefined } as never)!;
  const rules = { known: { instrument: plain, takerRate: 0 } } as never;
  const place = { ...shipped, rules, terms: { ...shipped.terms, volatilityBps: VOLATILITY_BPS } };
  const clock = { elapsed: () => two.toy.now } as never;
  return elsewhereSetupOf(
    place,
    two.toy.engine,
    { clock, time: () => two.toy.now },
    { unread, readMoved: () => Promise.resolve(null) },
  );
}

/** Lets the toy exchange run for `rounds` of 3 s while the hedger looks each time. */
function observes(two: TwoToyExchanges, { observe }: ReturnType<typeof setupOn>, rounds: number): void {
  for (let n = 0; n < rounds; n++) {
    two.toy.round(3_000);
    two.readThere();
    const { now, engine } = two.toy;
    observe(now, hedgeInputsOf(engine, { instrument: plain, takerRate: 0, balancesAt: now }, now));
  }
}

test('a book that has one side for a while does not change the volatility, which would close hedges for hours', () => {
  const two = new TwoToyExchanges();
  two.toy.open({ btc: 1e9 - 500, mxn: 1e9 });
  two.readThere();
  const place = setupOn(two);
  observes(two, place, 5);
  const before = place.setup.perRootSecond();
  const { bids } = two.toy;
  for (const side of [[], bids, [], bids]) {
    two.toy.bids = side;
    observes(two, place, 2);
  }
  expect(place.setup.perRootSecond()).toBeLessThanOrEqual(before);
  // A price that does move is measured.
  two.toy.bids = [[1_000, 50]];
  two.toy.asks = [[1_020, 50]];
  observes(two, place, 2);
  expect(place.setup.perRootSecond()).toBeGreaterThan(before);
});

test('without a rate, no order there is within the maximum value', () => {
  const two = new TwoToyExchanges();
  two.toy.open();
  const { rate, setup } = setupOn(two);
  expect([rate(), setup.bounds.orderValueMax]).toEqual([null, 0n]);
});

test.each([
  [
    undefined,
    'this configuration has no hedges on another exchange; restore the sections elsewhere and hedge.elsewhere',
  ],
  [{ name: 'kraken' }, 'the section elsewhere has the book btc_usdt at kraken; restore the former book and exchange'],
  [
    { rules: { book: 'btc_usdc' } },
    'the section elsewhere has the book btc_usdc at binance; restore the former book and exchange',
  ],
  [{ account: 'two' }, 'the section elsewhere has another address or API key; restore the former address and key'],
] as const)('an open hedge elsewhere needs the account and the book of its order: not %j', (change, says) => {
  const place = { name: 'binance', account: 'one', rules: { book: 'btc_usdt' } };
  const other = change && { ...place, ...change };
  const order = { id: 'o', book: 'btc_usdt', side: 'sell', price: '1', amount: '1' } as const;
  const elsewhere = { place: 'binance', account: 'one', order, rate: '1' };
  const text = `hedge h1 in the book btc_usdt at binance has no known outcome, but ${says} until the hedge has ended`;
  const said = { id: 'h1', as: 'failed', by: 'ann', reason: 'seen there', at: NOW } as const;
  for (const state of ['accepted', 'executing', 'unknown'] as const) {
    const hedges = [rowOf({ id: 'h0' }), rowOf({ state, elsewhere, acceptedAt: NOW })];
    const left = { hedges } as never;
    const dueAt = NOW + 600_000;
    for (const settlements of [[], [{ ...said, id: 'h0' }], [{ ...said, as: 'executed' as const }]])
      expect(() => hedgesToContinue(left, other, settlements, dueAt)).toThrow(
        `${text}, or settle the hedge with puntas hedges settle h1 --as failed`,
      );
    expect(() => hedgesToContinue(left, other, [said], dueAt - 1)).toThrow(
      `${text}; the outcome stated with puntas hedges settle takes effect at ${new Date(dueAt).toISOString()}; start the bot again then`,
    );
    const settled = { ...hedges[1], state: 'failed', why: 'settled as failed by ann: seen there' };
    expect(hedgesToContinue(left, other, [said], dueAt)).toEqual({ hedges: [hedges[0], settled], settled: [settled] });
    // In its own account the look-ups decide.
    expect(hedgesToContinue(left, place, [said], dueAt)).toEqual({ hedges, settled: [] });
  }
  const ended = [...(['completed', 'failed'] as const).map(state => rowOf({ state, elsewhere })), rowOf()];
  expect(hedgesToContinue({ hedges: ended } as never, other, [said], NOW)).toEqual({ hedges: ended, settled: [] });
});

test('a run without a hedger says that a settlement was ignored only if it did not end the hedge', () => {
  const order = { id: 'o', book: 'btc_usdt', side: 'sell', price: '1', amount: '1' } as const;
  const elsewhere = { place: 'binance', account: 'one', order, rate: '1' };
  const open = rowOf({ state: 'unknown', elsewhere, acceptedAt: NOW });
  const said = { id: open.id, as: 'failed', by: 'ann', reason: 'seen there', at: NOW } as const;
  const { hedges: kept } = hedgesToContinue({ hedges: [open] } as never, undefined, [said], NOW + 600_000);
  const ends = [
    [kept, []],
    // A hedge that ended for another reason, and one that is no longer stored.
    [
      [rowOf({ state: 'failed', why: 'not listed' })],
      ['hedge h1 is no longer open; the settlement by ann was ignored'],
    ],
    [[], ['hedge h1 is no longer open; the settlement by ann was ignored']],
  ] as const;
  for (const [rows, expected] of ends) {
    const lines: string[] = [];
    const done: string[] = [];
    const box = { waiting: () => [said], done: (id: string) => done.push(id) } as never;
    const connectivity = { say: () => expect.fail('the settlement waits') } as never;
    const log = heardLog(({ text }) => lines.push(text));
    applyPendingSettlements(box, { hedger: null, kept: rows, persist: () => true, log, connectivity });
    expect([lines, done]).toEqual([expected, [open.id]]);
  }
});

test('money at an exchange that the bot no longer knows is named at the start, with the booking that ends it', () => {
  const two = new TwoToyExchanges();
  two.toy.open();
  two.readThere();
  const ledger = two.toy.engine.ledger([]);
  const left = { ledger } as never;
  expect(heldLeftElsewhere(left, 'binance')).toBeNull();
  expect(heldLeftElsewhere(left, 'kraken')).toMatch(
    /^the ledger also has 500 btc@binance, 90000 usdt@binance, .* Book out each amount that is no longer in its account, for example: puntas ledger adjust -c FILE --currency btc@binance --amount=-500 --reason "\.\.\." \(add --in-transit only if you sent the amount to an exchange that this bot reads and the first balances read there did not include the amount\)$/,
  );
  // Without the section, no amount can be in transit.
  expect(heldLeftElsewhere(left, null)).toMatch(/--currency btc@binance --amount=-500 --reason "\.\.\."$/);
});

test('of what is left at exchanges that the bot does not read, each amount is named, also below zero, and none in transit', () => {
  const causes = new Map(
    Object.entries({
      btc: '1',
      'btc@known': '2',
      'btc@transit': '3',
      'btc@old': '-4',
      'mxn@old': '0',
      'eth@older': '5',
    }).map(([name, sum]) => [name, causesOf({ opening: moneyOf(sum) })]),
  );
  const left = { ledger: { causes } } as never;
  expect(heldLeftElsewhere(left, 'known')).toContain('the ledger also has -4 btc@old, 5 eth@older, in accounts');
  expect(heldLeftElsewhere(left, null)).toContain('also has 2 btc@known, 3 btc@transit, -4 btc@old, 5 eth@older, in');
});

test('the rate is that of the first named source that has one', () => {
  const sources = Object.entries({ a: Number.NaN, b: 17, c: 18, d: 0, e: 1e12, f: 1e-13 }).map(([name, quoteRate]) => ({
    ...{ name, quoteRate },
  }));
  for (const [names, rate] of [
    [null, '1'],
    [['b', 'c'], '17'],
    [['c', 'b'], '18'],
    [['none', 'a', 'd', 'e', 'f', 'c', 'b'], '18'],
    [['a', 'd'], null],
    [[], null],
  ] as const)
    expect(rateOf(names, sources)).toBe(rate === null ? null : moneyOf(rate));
});

test('the state of hedges there is that of the last one, whatever was hedged here since', () => {
  const there = { way: 'elsewhere' } as never;
  const rows = [
    rowOf({ id: 'h1', offer: there, state: 'completed' }),
    rowOf({ id: 'h2', offer: there, state: 'unknown' }),
    rowOf({ id: 'h3', offer: { way: 'rfq' } as never, state: 'accepted' }),
  ];
  expect([0, 1, 2, 3].map(count => stateElsewhere(rows.slice(0, count)))).toEqual([
    '',
    'h1 over',
    'h2 open',
    'h2 open',
  ]);
});

test('no hedge is sent there while the balances there are unknown', () => {
  const two = new TwoToyExchanges();
  two.toy.open();
  two.readThere();
  let unread: string | null = null;
  const { setup } = setupOn(two, () => unread);
  expect(setup.closedBecause('sell')).toBeNull();
  unread = 'not read for an hour';
  expect([setup.closedBecause('buy'), setup.closedBecause('sell')]).toEqual([unread, unread]);
});
