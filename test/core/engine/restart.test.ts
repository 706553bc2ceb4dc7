/** State that an engine hands to the next one, and how that one uses it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  money,
  textOfMoney,
  type EngineOptions,
  type HaltLimits,
  type RestoredLedger,
} from '../../../src/core/index.ts';
import { ledgerOf, textOfLedger } from '../../../src/live/recording/ledgerText.ts';
import { runsOf } from '../../many.ts';
import { ToyExchange } from '../toyExchange.ts';
import { plain } from '../market.ts';

const START = 1.7e12 - (1.7e12 % 3_600_000);
const MINUTE = 60_000;
const halts = {
  ...{ drawdownMax: 10n ** 30n, dayLossMax: 10n ** 30n },
  ...{ fillsPer10Min: 99, refusalsPerMinute: 99, unknownsPerMinute: 99, messagesPerMinute: 999 },
} as unknown as HaltLimits;
const LIMITS = { positionMax: 1e9, orderValueMax: 10n ** 9n, ordersMax: 20, collarBps: 1_000, staleAfterMs: 3_000 };
const measured = {
  ...{ horizonMs: 5_000, halfLifeMs: 1e9, minFills: 2, standardErrors: 1, toleratedBps: 0, widenBpsMax: 5 },
};

/** A run that sells 4 btc at 1,002, and its ledger. */
function firstRun(options: Partial<EngineOptions> = {}) {
  const toy = new ToyExchange({ halts, adverseSelection: measured, ...options });
  toy.now = START;
  expect(toy.engine.ledger([])).toBeNull();
  toy.open().round();
  const order = toy.live.find(({ side }) => side === 'sell')!;
  toy.fill(order.id, 4);
  toy.rounds(3, 1_000);
  return { toy, ledger: toy.engine.ledger(['9'])! };
}

function nextRun(ledger: RestoredLedger | null, at: number, options: Partial<EngineOptions> = {}): ToyExchange {
  const toy = new ToyExchange({ halts, run: 8, ...options });
  toy.now = at;
  toy.step({ kind: 'restore', at, orders: [], ledger });
  return toy;
}
const profitOf = (toy: ToyExchange) => textOfMoney(toy.engine.book.snapshot(toy.now).booked.sinceOpening.profit.total);

describe('the next run', () => {
  it('has the holdings, the target, the profit and the markouts of the one before', () => {
    const { toy, ledger } = firstRun();
    expect(ledger.target).toBe(1_000_000_000);
    expect(ledger.guard).not.toBeNull();
    expect(ledger.profit).toMatchObject({ since: START, at: toy.now });
    const next = nextRun(ledger, toy.now + MINUTE, { adverseSelection: measured });
    const { booked, markouts } = next.engine.book.snapshot(next.now);
    expect([textOfMoney(booked.holdings.get('btc')!), textOfMoney(booked.inventory)]).toEqual(['999999996', '-4']);
    expect(markouts!.curves).toEqual(toy.engine.book.snapshot(toy.now).markouts!.curves);
    // 4 btc sold 2 above the mid price.
    expect([profitOf(toy), profitOf(next)]).toEqual(['8', '8']);
    expect(next.engine.ledger([])!.profit).toMatchObject({ since: START });
    expect(next.engine.ledger([])!.adverse).toEqual(ledger.adverse);
  });

  it('keeps markouts that it does not measure for the one after it, and has none where there were none', () => {
    const { toy, ledger } = firstRun();
    const next = nextRun(ledger, toy.now + MINUTE);
    expect(next.engine.book.snapshot(next.now).markouts).toBeNull();
    expect(next.engine.ledger([])!.adverse).toEqual(ledger.adverse);
    const { ledger: without } = firstRun({ adverseSelection: undefined } as never);
    expect('adverse' in without).toBe(false);
    expect('adverse' in nextRun(without, toy.now + MINUTE).engine.ledger([])!).toBe(false);
  });

  it('without a ledger or without limits has nothing to hand on of them', () => {
    expect(nextRun(null, START).engine.ledger([])).toBeNull();
    const { ledger } = firstRun({ halts: undefined } as never);
    expect(ledger.guard).toBeNull();
  });

  it.each([
    [59 * MINUTE, 0],
    [60 * MINUTE, 1],
    [61 * MINUTE, 1],
  ])('that begins %i ms after the start of an hour ends it: %i times', (after, times) => {
    const { toy, ledger } = firstRun();
    const next = new ToyExchange({ halts, run: 8 });
    const ended: unknown[] = [];
    next.engine.book.hourEnds.listen(one => ended.push(one));
    next.step({ kind: 'restore', at: START + after, orders: [], ledger });
    expect(ended.length).toBe(times);
    if (times > 0) expect(ended[0]).toMatchObject({ at: toy.now, since: START });
  });

  it('ends an hour of its own with the first event of the next, once, with the profit of the last before', () => {
    const { toy } = firstRun();
    const ended: { readonly at: number | null }[] = [];
    toy.engine.book.hourEnds.listen(one => ended.push(one));
    const until = (at: number) => toy.step({ kind: 'timer', at: (toy.now = at) });
    until(START + 60 * MINUTE - 1);
    expect(ended).toEqual([]);
    until(START + 60 * MINUTE);
    until(START + 61 * MINUTE);
    expect(ended.map(({ at }) => at)).toEqual([START + 60 * MINUTE - 1]);
  });
});

const change = fc.record({
  what: fc.constantFrom('fill', 'fill', 'deposit', 'fee', 'price', 'conversion', 'restart'),
  currency: fc.constantFrom('btc', 'mxn', 'usd'),
  /** In 10^-18 of a currency: all digits, so that nothing is a multiple of a lot. */
  amount: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
  lots: fc.integer({ min: 1, max: 9 }),
});

describe('losses', () => {
  it('are those of one run over any path of the price, wherever it is cut into runs', () => {
    const step = fc.record({ bid: fc.integer({ min: 800, max: 1_200 }), isCut: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(1e9, 1e9 - 7, 1e9 - 4),
        (path, target) => {
          const options = { target: target as never, strategy: { quote: () => ({ bids: [], asks: [] }) } };
          const trades = firstRun({ target: target as never });
          const whole = nextRun(trades.ledger, trades.toy.now, options);
          let cut = nextRun(trades.ledger, trades.toy.now, options);
          const lead = (toy: ToyExchange): void => {
            toy.step({ kind: 'rules', at: toy.now, instrument: plain, makerRate: 0, takerRate: 0 });
          };
          lead(whole);
          lead(cut);
          for (const { bid, isCut } of path) {
            if (isCut) {
              cut = nextRun(ledgerOf(textOfLedger(cut.engine.ledger([])!)), cut.now, options);
              lead(cut);
            }
            for (const toy of [whole, cut]) {
              [toy.bids, toy.asks] = [[[bid, 50]], [[bid + 20, 50]]];
              toy.rounds(2, 500);
            }
            const guards = [whole, cut].map(({ engine }) => engine.ledger([])!.guard);
            expect(guards[1]).toEqual(guards[0]);
            expect(guards[0]).not.toBeNull();
            const uses = [whole, cut].map(({ engine, now }) => engine.book.limitUses(now).slice(0, 4));
            expect(uses[1]).toEqual(uses[0]);
          }
        },
      ),
      {
        ...runsOf(300, 40),
        examples: [
          [
            [
              { bid: 990, isCut: false },
              { bid: 800, isCut: true },
            ],
            1e9 - 7,
          ],
        ],
      },
    );
  });

  it('between two runs halt the next one at its first price, and not before', () => {
    const limits = { ...halts, drawdownMax: money(100n * 10n ** 18n), dayLossMax: money(100n * 10n ** 18n) };
    const options = { halts: limits, target: (1e9 - 10) as never };
    const { toy, ledger } = firstRun(options);
    const next = nextRun(ledger, toy.now + MINUTE, options);
    next.step({ kind: 'rules', at: next.now, instrument: plain, makerRate: 0, takerRate: 0 });
    expect(next.engine.book.haltedBecause).toBeNull();
    [next.bids, next.asks] = [[[960, 50]], [[980, 50]]];
    next.rounds(2, 500);
    // 6 btc beyond the target lose 30 each.
    expect(next.engine.book.haltedBecause).toMatch(/^drawdown: profit fell 180 from its highest, the limit is 100$/);
    next.step({ kind: 'resume', at: next.now });
    next.rounds(2, 500);
    expect(next.engine.book.haltedBecause).toBeNull();
  });
});

describe('a stored state', () => {
  it('is exactly the state that was stored, in every part, whatever happened and with any target', () => {
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 12 }),
        fc.constantFrom(null, 1e9, 1e9 - 7),
        (changes, target) => {
          const priceMove = { bps: 500, windowMs: 60_000 };
          const options: Partial<EngineOptions> = {
            adverseSelection: measured,
            ...{ target: target as never },
            limits: { ...LIMITS, priceMove } as never,
          };
          const { toy: first } = firstRun(options);
          let toy = first;
          for (const [n, { what, currency, amount, lots }] of changes.entries()) {
            const at = (toy.now += 1_000);
            const transfer = { kind: 'transfer', at, source: `t${n}`, currency, occurredAt: at, why: 'drawn' } as const;
            const conversion = {
              ...{ id: `c${n}`, give: { currency: 'btc', amount: money(amount) } },
              get: { currency: 'mxn', amount: money(amount * 999n) },
            };
            const order = toy.live[n % Math.max(1, toy.live.length)];
            if (what === 'fill' && order) toy.fill(order.id, lots);
            if (what === 'deposit') toy.step({ ...transfer, cause: 'deposits', amount: money(amount) });
            if (what === 'fee') toy.step({ ...transfer, cause: 'fees', amount: money(amount / 1_000_000n) });
            if (what === 'price') toy.bids = [[980 + lots, 50]];
            if (what === 'conversion') toy.step({ kind: 'conversion', at, phase: 'done', conversion });
            if (what !== 'restart') toy.rounds(2, 500);
            const before = toy.engine.ledger(['1', '2'])!;
            const text = textOfLedger(before);
            expect(ledgerOf(text)).toEqual(before);
            const next = nextRun(ledgerOf(text), toy.now + 1, options);
            const after = next.engine.ledger(['1', '2'])!;
            expect(after).toEqual({ ...before, profit: { ...before.profit, at: after.profit!.at } });
            const [was, is] = [toy, next].map(({ engine, now }) => engine.book.snapshot(now).booked);
            expect([is!.inventory, is!.holdings, is!.sinceOpening.profit]).toEqual([
              ...[was!.inventory, was!.holdings, was!.sinceOpening.profit],
            ]);
            if (what !== 'restart') continue;
            next.step({ kind: 'rules', at: next.now, instrument: plain, makerRate: 0, takerRate: 0 });
            toy = next;
          }
        },
      ),
      runsOf(500, 8),
    );
  });
});

describe('orders of the bot', () => {
  it('are known by their id also after they ended, and told apart from those that may be live', () => {
    const { toy } = firstRun();
    const [buy] = toy.live.filter(({ side }) => side === 'buy');
    expect(toy.engine.book.order(buy!.id)?.level).toBe(1);
    expect(toy.engine.book.order('mm-7-999')).toBeUndefined();
    toy.fill(buy!.id, 10);
    toy.rounds(1);
    expect(toy.engine.book.order(buy!.id)?.state).toBe('done');
    expect(toy.engine.book.unfinished.map(({ id }) => id)).not.toContain(buy!.id);
    expect(toy.engine.book.liveOrders.every(({ state }) => state !== 'done')).toBe(true);
  });
});
