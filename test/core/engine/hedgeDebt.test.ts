/** Bounds on inventory that another exchange should have hedged: debt, failed hedges, funds and drift there (E17). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  hedgeRoomLeft,
  money,
  moneyOf,
  textOfMoney,
  type EngineOptions,
  type HedgeBounds,
  type HedgeRow,
  type Money,
  type Side,
  type Strategy,
} from '../../../src/core/index.ts';
import { isMany, runsOf } from '../../many.ts';
import { ToyExchange, PATIENCE, quoteAround } from '../toyExchange.ts';
import { TwoToyExchanges, UNIT } from '../twoToyExchanges.ts';

const BAND = 12;
/** Lots of one full side: two levels of 10. */
const FULL = 20;
const PRICE_THERE = 55;
const SIDES = ['buy', 'sell'] as const;
const other = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy');
const lots = (count: number): Money => money(BigInt(count) * UNIT);
const bounds = (of: Partial<HedgeBounds> = {}): HedgeBounds => ({
  ...{ band: lots(BAND), debtMax: lots(1_000), failuresMax: 3, isOnlyRoute: false },
  ...of,
});

/** A bot with quotes of two levels whose hedges are orders there. `inventory` is the true one. */
class Hedged extends TwoToyExchanges {
  open: { readonly side: Side; readonly size: number; readonly ends: () => unknown } | null = null;
  inventory0 = 0n;
  #hedges = 0;
  #run = 7;
  readonly #bounds: HedgeBounds;

  constructor(of: HedgeBounds, perLevel = 10, levels = 2, timing: Partial<EngineOptions['timing']> = {}) {
    const strategy: Strategy = {
      quote: view => {
        const { bids, asks } = quoteAround(...[2, 4, 6].slice(0, levels)).quote(view);
        const sized = (side: typeof bids) => side.map(level => ({ ...level, amount: perLevel as never }));
        return { bids: sized(bids), asks: sized(asks) };
      },
    };
    super({ bounds: of, target: null, strategy, timing: { ...PATIENCE, ...timing } });
    this.#bounds = of;
    this.toy.open({ btc: 1e9, mxn: 1e12 });
    this.readThere();
    this.toy.rounds(2);
  }

  /** Inventory as both exchanges have it. */
  get trueInventory(): bigint {
    return this.inventory0 + BigInt(this.toy.traded.lots) * UNIT;
  }

  get known(): Money {
    return this.toy.engine.book.snapshot(this.toy.now).booked.inventory;
  }

  get figures() {
    return this.toy.engine.book.snapshot(this.toy.now).elsewhere!;
  }

  /** Lots of a side's orders that the exchange has. */
  live(side: Side): number {
    return this.toy.live.reduce((sum, o) => (o.side === side ? sum + o.amount - o.filled : sum), 0);
  }

  /** Inventory if all orders of a side fill and the open hedge on this side executes. */
  worst(side: Side): bigint {
    const hedged = this.open?.side === side ? this.open.size : 0;
    return (side === 'buy' ? this.trueInventory : -this.trueInventory) + lots(this.live(side) + hedged);
  }

  /** Debt by its definition: inventory beyond the band with the open order where it makes it worse. */
  get debt(): bigint {
    const of = (side: Side) =>
      (side === 'buy' ? this.known : -this.known) + (this.open?.side === side ? lots(this.open.size) : 0n);
    return [0n, of('buy') - lots(BAND), of('sell') - lots(BAND)].reduce((a, b) => (b > a ? b : a));
  }

  /** Reason why a side is empty, as `explain` shows it; `null` if it is not. */
  why(side: Side): string | null {
    const { emptySidesText } = this.toy.engine.book.snapshot(this.toy.now);
    const start = side === 'buy' ? 'no bid: ' : 'no ask: ';
    return emptySidesText?.startsWith(start) === true ? emptySidesText.slice(start.length) : null;
  }

  fill(side: Side, most: number): void {
    const order = this.toy.live.find(o => o.side === side);
    if (order) this.toy.fill(order.id, most);
  }

  /** Fills orders until inventory has this many lots. */
  fillTo(to: number): void {
    for (let n = 0; n < 20 && this.known !== lots(to); n++) {
      const left = Number((lots(to) - this.known) / UNIT);
      this.fill(left > 0 ? 'buy' : 'sell', Math.abs(left));
      this.toy.rounds(2);
    }
    expect(this.known).toBe(lots(to));
  }

  /** Sends a hedge of what is beyond the target, as the hedger does: only beyond the band, and within the room. */
  hedge(): void {
    if (this.open !== null) return;
    const size = this.known < 0n ? -this.known : this.known;
    const side = this.known > 0n ? 'sell' : 'buy';
    const { engine, now } = this.toy;
    if (size <= this.#bounds.band || engine.elsewhere!.closedBecause(side) !== null) return;
    const { btc, usdt } = { btc: this.truth.get('btc')!, usdt: this.truth.get('usdt')! };
    const affordable = Number((side === 'sell' ? btc : usdt / BigInt(PRICE_THERE + 1)) / UNIT);
    const most = Math.min(Number(size / UNIT), hedgeRoomLeft(side, engine.book.riskContext(now)), affordable);
    if (most > 0) this.send(side, most);
  }

  send(side: Side, size: number, feeIn = 'usdt'): void {
    const id = `h${++this.#hedges}`;
    const parts: number[] = [];
    const ends = this.order(id, side, size, PRICE_THERE, parts, feeIn);
    this.open = Object.assign({ side, size, ends }, { parts });
  }

  /** Ends the open hedge with these executions. */
  end(parts: readonly number[]): void {
    if (this.open === null) return;
    const { size, ends } = this.open;
    let left = size;
    const filled = parts.flatMap(part => {
      const most = Math.min(part, left);
      left -= most;
      return most > 0 ? [most] : [];
    });
    (this.open as unknown as { parts: number[] }).parts.push(...filled);
    const before = this.truth.get('btc')!;
    this.open = null;
    ends();
    this.inventory0 += this.truth.get('btc')! - before;
  }

  /** Stops without an order left, and starts again from the ledger; the open hedge is only looked up. */
  startsAgain(): void {
    const { open } = this;
    this.toy.fateOfCancel = () => 'done';
    this.toy.round();
    for (const order of this.toy.live) order.isLive = false;
    this.toy.round();
    const { traded } = this.toy;
    this.inventory0 += BigInt(traded.lots) * UNIT;
    const [btc, mxn] = [this.#home.btc + traded.lots, this.#home.mxn - traded.paid];
    this.#home = { btc, mxn };
    this.restart(++this.#run);
    if (open !== null) this.flyAgain(open.side, open.size, PRICE_THERE);
    this.toy.open({ btc, mxn });
    this.readThere(open === null);
    this.toy.rounds(2);
  }

  #home = { btc: 1e9, mxn: 1e12 };
}

const step = fc.record({
  what: fc.constantFrom(
    ...(['fill', 'fill', 'fill', 'fill late', 'end', 'fails', 'fails'] as const),
    ...(['round', 'lost cancels', 'lost answers', 'restart', 'base leaves', 'quote leaves', 'read'] as const),
  ),
  side: fc.constantFrom<Side>('buy', 'buy', 'buy', 'sell'),
  size: fc.integer({ min: 1, max: FULL }),
  isHedged: fc.boolean(),
  parts: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 2 }),
});

const drawn = fc.record({
  steps: fc.array(step, { maxLength: 40, size: 'max' }),
  of: fc.record({
    debtMax: fc.constantFrom(lots(5), lots(30), lots(1_000), lots(1_000)),
    failuresMax: fc.integer({ min: 0, max: 3 }),
    isOnlyRoute: fc.boolean(),
    drift: fc.constantFrom(undefined, { max: moneyOf('20000') }, { max: moneyOf('3000') }),
  }),
});

describe('bounds on inventory that is not hedged', () => {
  test('whatever fills, fails and is lost, the worst inventory of a side stays within b + (m+1)L and b + debtMax, and the debt is exact', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(drawn, ({ steps, of: { drift, ...of } }) => {
        const all = bounds(drift ? { ...of, drift } : of);
        const two = new Hedged(all);
        const { failuresMax, isOnlyRoute } = all;
        const most = lots(BAND) + [all.debtMax, lots((failuresMax + 1) * FULL)].reduce((a, b) => (b < a ? b : a));
        let lost = false;
        for (const { what, side, size, parts, isHedged } of steps) {
          if (what === 'fill' || what === 'fill late') two.fill(side, size);
          if (isHedged) two.hedge();
          if (what === 'end') two.end(parts);
          if (what === 'fails') two.end([]);
          if (what === 'restart') {
            two.toy.round(500);
            const { failures } = two.figures;
            two.startsAgain();
            // A restart must not forget failed hedges while inventory is beyond the band.
            expect(two.figures.failures).toBe(two.figures.debt > 0n ? failures : 0);
            if (two.figures.debt > 0n && failures > 0) seen.add('kept failures');
          }
          if (what === 'read' && two.open === null) two.readThere();
          if (what === 'lost cancels') {
            lost = !lost;
            const now = lost;
            two.toy.fateOfCancel = () => (now ? 'lost' : 'done');
            // A lost cancel is repeated after a second.
            if (!now) two.toy.rounds(2, 1_100);
          }
          if (what === 'restart') lost = false;
          if (what === 'lost answers') {
            let count = 2;
            two.toy.fateOfPlace = () => (count-- > 0 ? 'done untold' : 'done');
          }
          if (what === 'base leaves' && two.open === null)
            two.transfers(`t${two.toy.now}`, 'btc', money(-(two.truth.get('btc')! / 2n)));
          if (what === 'quote leaves' && two.open === null)
            two.transfers(`t${two.toy.now}`, 'usdt', money(-(two.truth.get('usdt')! / 2n)));
          for (const each of SIDES) expect(two.worst(each)).toBeLessThanOrEqual(most);
          if (what === 'fill late') continue;
          two.toy.round(500);
          for (const each of SIDES) {
            expect(two.worst(each)).toBeLessThanOrEqual(most);
            if (two.worst(each) > most - lots(10)) seen.add(all.debtMax < lots(100) ? 'near debtMax' : 'near (m+1)L');
          }
          expect(two.figures.debt).toBe(two.debt);
          expect(two.toy.engine.book.haltedBecause).toBeNull();
          if (lost) continue;
          const { figures } = two;
          const adds = two.known > 0n ? 'buy' : 'sell';
          const isPulled = failuresMax === 0 ? two.open !== null : figures.failures >= failuresMax;
          const beyond = (two.known < 0n ? -two.known : two.known) - lots(BAND);
          if (beyond > 0n && isPulled) {
            expect(two.live(adds)).toBe(0);
            seen.add('pulled');
          }
          for (const each of SIDES) {
            if (two.live(each) === 0) seen.add('empty');
            if (two.live(each) === 0 || !isOnlyRoute) continue;
            const isClosed = figures.closed[other(each)] !== null;
            const free = each === 'buy' ? two.truth.get('btc')! : (two.truth.get('usdt')! * 1825n) / 102_000n;
            if (isClosed) seen.add('closed');
            expect(two.worst(each)).toBeLessThanOrEqual(lots(BAND) + (isClosed ? 0n : free));
          }
        }
      }),
      { ...runsOf(3_000, 12), seed: 4 },
    );
    const always = ['closed', 'empty', 'kept failures', 'near debtMax', 'pulled'];
    expect([...seen].toSorted()).toEqual(
      isMany ? [...always, 'near (m+1)L'].toSorted() : expect.arrayContaining(always),
    );
  });

  /** Fills everything on the buy side until nothing is quoted there. */
  const takesAll = (two: Hedged) => {
    for (let n = 0; n < 20 && two.live('buy') > 0; n++) {
      two.fill('buy', FULL);
      two.toy.rounds(2);
    }
  };

  test('the example of E17: with a band of 12 and sides of 18, three failed hedges lead to 84 at most, and no allowed failure to 30', () => {
    for (const [failuresMax, most] of [
      [3, 84],
      [0, 30],
    ] as const) {
      const two = new Hedged(bounds({ failuresMax }), 6, 3);
      two.fillTo(BAND);
      takesAll(two);
      for (let n = 0; n < 5; n++) {
        two.hedge();
        expect(two.open!.side).toBe('sell');
        two.toy.round();
        if (failuresMax === 0) expect(two.live('buy')).toBe(0);
        two.end([]);
        two.toy.rounds(2);
        takesAll(two);
      }
      expect(textOfMoney(two.known)).toBe(String(most));
      expect(two.figures).toMatchObject({
        failures: 5,
        debt: lots(most - BAND),
        debtValue: lots((most - BAND) * 1_000),
      });
      expect(two.why('buy')).toBe(
        failuresMax === 3
          ? 'waits for a hedge (consecutive failed hedges: 5; with hedge.elsewhere.failuresMax 3, this side waits until a hedge executes or inventory is within its band)'
          : 'waits for a hedge (hedge due at binance: until the hedge ends, inventory may exceed the band by at most 18 btc, one full side of quotes)',
      );
      two.hedge();
      two.end([most - BAND + 5]);
      two.toy.rounds(2);
      expect(two.figures).toMatchObject({ failures: 0, debt: 0n });
      expect(two.live('buy')).toBe(18);
    }
  });

  test('a restart continues the count of failed hedges, also after a run without hedges there', () => {
    const two = new Hedged(bounds({ failuresMax: 2 }));
    two.fillTo(BAND + 3);
    for (let n = 0; n < 2; n++) {
      two.hedge();
      two.end([]);
      two.toy.rounds(2);
    }
    const pulled =
      'waits for a hedge (consecutive failed hedges: 2; with hedge.elsewhere.failuresMax 2, this side waits until a hedge executes or inventory is within its band)';
    expect([two.live('buy'), two.why('buy')]).toEqual([0, pulled]);
    two.startsAgain();
    expect([two.live('buy'), two.why('buy')]).toEqual([0, pulled]);
    const without = new ToyExchange({ target: null, run: 90 });
    const ledger = two.toy.engine.ledger([])!;
    without.step({ kind: 'restore', at: two.toy.now + 1_000, orders: [], ledger });
    without.open({ btc: 1e9 + BAND + 3, mxn: 1e12 });
    const state = { place: 'binance', failures: 2, band: String(BAND) };
    expect([ledger.hedgeDebt, without.engine.ledger([])!.hedgeDebt]).toEqual([state, state]);
    two.hedge();
    two.end([1]);
    two.toy.rounds(2);
    two.startsAgain();
    expect([two.figures.failures, two.toy.engine.ledger([])!.hedgeDebt]).toEqual([0, undefined]);
  });

  test.each([true, false])(
    'a restart continues a computed band, by which failed hedges count; computed: %s',
    computed => {
      const two = new Hedged(bounds({ band: lots(50), failuresMax: 1, isBandComputed: computed }));
      two.fillTo(20);
      two.toy.step({ kind: 'hedge', at: two.toy.now, row: { band: '8.5' } as HedgeRow });
      two.send('sell', 5);
      two.end([]);
      two.toy.rounds(2);
      expect([two.figures.failures, two.live('buy')]).toEqual([1, 0]);
      two.startsAgain();
      // With a fixed band of 50, an inventory of 20 is no debt.
      expect([two.figures.failures, two.live('buy')]).toEqual(computed ? [1, 0] : [0, FULL]);
      expect(textOfMoney(two.figures.debt)).toBe(computed ? '11.5' : '0');
    },
  );

  test('an order there counts in full where it makes the debt worse, and does not lessen it where it helps', () => {
    const two = new Hedged(bounds({ band: lots(5) }));
    two.fill('buy', 10);
    two.toy.rounds(2);
    two.send('sell', 10);
    expect([two.figures.openOrders, textOfMoney(two.figures.debt)]).toEqual([1, '5']);
    two.fill('sell', 10);
    two.toy.rounds(2);
    // Inventory is 0 if the sale there fails, and -10 if it executes.
    expect([textOfMoney(two.known), textOfMoney(two.figures.debt)]).toEqual(['0', '5']);
    two.end([10]);
    expect([textOfMoney(two.known), textOfMoney(two.figures.debt)]).toEqual(['-10', '5']);
  });

  test('a computed band replaces the configured maximum from the first hedge on, and never exceeds it', () => {
    const two = new Hedged(bounds({ band: lots(50) }));
    two.fillTo(20);
    expect(two.figures.debt).toBe(0n);
    const decides = (band: string) => two.toy.step({ kind: 'hedge', at: two.toy.now, row: { band } as HedgeRow });
    decides('8.5');
    expect(textOfMoney(two.figures.debt)).toBe('11.5');
    decides('60');
    two.fillTo(54);
    expect(textOfMoney(two.figures.debt)).toBe('4');
  });

  test('beyond debtMax the side that adds is not quoted, with its reason in numbers, and the other side is', () => {
    const two = new Hedged(bounds({ debtMax: lots(4) }), 4);
    two.fillTo(16);
    expect([two.live('buy'), two.live('sell')]).toEqual([0, 8]);
    expect(two.why('buy')).toBe(
      'hedge debt limit (hedge debt is 4 btc; if all orders of this side filled, the debt would exceed hedge.elsewhere.debtMax (4 btc))',
    );
    two.fillTo(12);
    expect([two.live('buy'), two.why('buy')]).toEqual([4, null]);
  });

  test('without funds there, the side that they would hedge stays within the band, and comes back with them', () => {
    const two = new Hedged(bounds({ isOnlyRoute: true, band: lots(10) }));
    two.transfers('out', 'btc', money(-two.truth.get('btc')!));
    two.toy.rounds(2);
    expect([two.live('buy'), two.live('sell')]).toEqual([10, FULL]);
    two.fill('buy', 10);
    two.toy.rounds(2);
    expect([two.live('buy'), two.live('sell')]).toEqual([0, FULL]);
    expect(two.why('buy')).toBe(
      'no hedge elsewhere (no hedge at binance for a larger amount: only 0 btc is available there)',
    );
    two.transfers('in', 'btc', lots(30));
    two.toy.rounds(2);
    expect(two.live('buy')).toBe(FULL);
    // 90,000 usdt at 18.25 buy some 1,610 btc at 1,000, and an unknown rate buys none.
    two.fill('sell', 10);
    two.toy.rounds(2);
    two.fill('sell', 10);
    two.toy.rounds(2);
    two.rate = null;
    two.readThere();
    two.toy.rounds(2);
    expect(textOfMoney(two.known)).toBe('-10');
    expect(two.live('sell')).toBe(0);
    expect(two.why('sell')).toBe('no hedge elsewhere (no hedge at binance: the value of usdt is unknown)');
  });

  test('with other routes, a side without funds there is quoted', () => {
    const two = new Hedged(bounds({ band: lots(10) }));
    two.transfers('out', 'btc', money(-two.truth.get('btc')!));
    two.fill('buy', 10);
    two.toy.rounds(2);
    expect(two.live('buy')).toBe(FULL);
  });

  test('what hedges leave in the currency there is a figure with its value, and beyond its maximum the way that adds closes', () => {
    const two = new Hedged(bounds({ isOnlyRoute: true, drift: { max: moneyOf('12000') } }));
    const { engine } = two.toy;
    two.send('sell', 11);
    two.end([11]);
    // 605 usdt less a fee of 0.605, at 18.25.
    expect(two.figures).toMatchObject({ drift: moneyOf('604.395'), driftValue: moneyOf('11030.20875') });
    expect([engine.elsewhere!.closedBecause('sell'), engine.elsewhere!.closedBecause('buy')]).toEqual([null, null]);
    two.rate = moneyOf('20');
    two.readThere();
    const closed =
      "the drift of 604.395 usdt is worth 12087.9 in the bot's quote currency, and hedge.elsewhere.driftMax is 12000";
    expect(two.figures).toMatchObject({ rate: moneyOf('20'), closed: { sell: closed, buy: null } });
    // Inventory of -11 is within the band; bids may not pass the band, because the way that would hedge them is closed.
    two.toy.rounds(2);
    two.fill('buy', 10);
    two.toy.rounds(2);
    two.fill('buy', 10);
    two.toy.rounds(2);
    expect([textOfMoney(two.known), two.live('buy')]).toEqual(['9', 0]);
    expect(two.why('buy')).toBe(`no hedge elsewhere (no hedge at binance: ${closed})`);
    two.rate = null;
    two.readThere();
    expect(two.figures.driftValue).toBeNull();
    expect(two.figures.closed).toEqual({
      sell: 'the drift of 604.395 usdt has no known value, because no source in reference.sources has a rate for usdt',
      buy: null,
    });
    // What a person moves away is no drift any more; what is bought there with it neither.
    two.transfers('moved back', 'usdt', money(-moneyOf('604.395')));
    expect([two.figures.drift, two.figures.closed.sell]).toEqual([0n, null]);
    two.send('buy', 2);
    two.end([2]);
    expect(textOfMoney(two.figures.drift)).toBe('-110.11');
    const before = two.figures.drift;
    two.startsAgain();
    expect(two.figures.drift).toBe(before);
  });

  test('the drift is measured from a target, if one is configured', () => {
    const two = new Hedged(bounds({ drift: { max: moneyOf('1000'), target: moneyOf('91000') } }));
    expect(two.figures).toMatchObject({ drift: moneyOf('-1000'), driftValue: moneyOf('-18250') });
    expect(two.figures.closed.buy).toContain(
      'the drift of -1000 usdt from hedge.elsewhere.quoteTarget (91000) is worth -18250',
    );
  });
});

describe('an account elsewhere that cannot be used', () => {
  test('with balances older than their maximum age nothing is quoted, and the text names the place', () => {
    const two = new Hedged(bounds({ balancesMaxAgeMs: 60_000 }));
    two.toy.rounds(11, 5_000);
    expect(two.toy.live.length).toBe(4);
    two.toy.round(5_000);
    expect(two.toy.live).toEqual([]);
    const { quoting, waitsFor } = two.toy.engine.book.snapshot(two.toy.now);
    expect(quoting).toBe('not ready');
    expect(waitsFor).toBe('binance: the last read of the balances is 61 s old, and the maximum age is 60 s');
    two.readThere();
    two.toy.rounds(2);
    expect(two.toy.live.length).toBe(4);
  });

  test('with balances that differ from its ledger nothing is quoted, and the text names the place', () => {
    const toy = new Hedged(bounds());
    toy.truth.set('usdt', moneyOf('89990'));
    for (let n = 0; n < 3; n++) {
      toy.toy.round(500);
      toy.readThere();
    }
    // Without a list of transfers to wait for, a difference that lasts halts.
    expect(toy.toy.engine.book.haltedBecause).toContain('-10 usdt@binance');
    const patient = new Hedged(bounds(), 10, 2, { listWaitMs: 600_000 });
    patient.truth.set('usdt', moneyOf('89990'));
    for (let n = 0; n < 12; n++) {
      patient.toy.round(1_500);
      patient.readThere();
    }
    const { quoting, waitsFor } = patient.toy.engine.book.snapshot(patient.toy.now);
    expect(quoting).toBe('ledger differs from the balances');
    expect(waitsFor).toBe('binance: -10 usdt@binance (balance on the exchange minus ledger)');
  });
});

test('a run without the account keeps its ledger apart, counts its base currency, and a later run with it continues exactly', () => {
  const two = new Hedged(bounds());
  two.fill('buy', 7);
  two.toy.rounds(2);
  two.send('sell', 5, 'bnb');
  two.end([5]);
  const ledger = two.toy.engine.ledger([])!;
  const without = new ToyExchange({ target: null, run: 90 });
  without.now = two.toy.now + 1_000;
  without.step({ kind: 'restore', at: without.now, orders: [], ledger });
  const { lots: bought, paid } = two.toy.traded;
  without.open({ btc: 1e9 + bought, mxn: 1e12 - paid });
  without.rounds(2);
  expect([...without.engine.account.totals.keys()].toSorted()).toEqual(['btc', 'mxn']);
  expect(textOfMoney(without.engine.book.snapshot(without.now).booked.inventory)).toBe('2');
  without.fill(without.live.find(({ side }) => side === 'buy')!.id, 4);
  without.rounds(2);
  expect(textOfMoney(without.engine.book.snapshot(without.now).booked.inventory)).toBe('6');
  const kept = without.engine.ledger([])!;
  const placed = (of: typeof kept) => [...of.causes].filter(([name]) => name.includes('@'));
  expect(placed(kept)).toEqual(placed(ledger));
  expect(kept.sources.filter(name => name.includes('@'))).toEqual(ledger.sources.filter(name => name.includes('@')));
  // Another place keeps them apart as well; the first place continues from them.
  for (const place of ['kraken', 'binance']) {
    const elsewhere = { place, major: 'btc', minor: 'usdt', bounds: bounds() };
    const toy = new ToyExchange({ target: null, run: 91, elsewhere });
    toy.now = without.now + 1_000;
    toy.step({ kind: 'restore', at: toy.now, orders: [], ledger: kept });
    expect(toy.engine.elsewhere!.held).toBe(place === 'binance' ? lots(495) : 0n);
    expect(placed(toy.engine.ledger([])!)).toEqual(placed(kept));
    expect(textOfMoney(toy.engine.book.snapshot(toy.now).booked.inventory)).toBe('6');
  }
});
