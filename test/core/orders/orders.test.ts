/** Orders against the truth: whatever comes back from a tiny exchange, late, twice or never, nothing that may live is given up. */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  amount,
  mayLive,
  Orders,
  price,
  remaining,
  type OrderNews,
  type OrderReport,
  type Outcome,
  type Side,
} from '../../../src/core/index.ts';
import { plain } from '../market.ts';

const FENCE = 1000;
const SETTLE = 300;
/** What the model's world may do at most; within the assumptions that the fence and the settle time state. */
const HOLD_MAX = 990;
const TRADE_LAG_MAX = 290;
const READ_LAG_MAX = 100;
const TIMEOUT = 400;
const patience = { requestDelayMaxMs: FENCE, tradeReportDelayMaxMs: SETTLE, cancelAgainMs: 50 };

/** One order as it truly is on the exchange. */
type True = {
  id: string;
  oid: string;
  side: Side;
  amount: number;
  /** When its placement arrives; Infinity: never, or refused. */
  arrivesAt: number;
  endedAt: number;
  canceled: boolean;
  fills: { tid: number; lots: number; visibleAt: number; at: number }[];
};

class World {
  now = 0;
  readonly news: OrderNews[] = [];
  readonly orders = new Orders(plain, patience, news => this.news.push(news));
  readonly truth: True[] = [];
  readonly #queue: { at: number; order: number; run: () => void }[] = [];
  readonly #seen = new Set<number>();
  #order = 0;
  #tid = 0;

  later(at: number, run: () => void): void {
    this.#queue.push({ at, order: this.#order++, run });
  }

  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      this.#queue.sort((a, b) => a.at - b.at || a.order - b.order);
      const next = this.#queue[0];
      if (!next || next.at > until) break;
      this.#queue.shift();
      this.now = Math.max(this.now, next.at);
      next.run();
      this.check();
    }
    this.now = until;
    this.orders.tick(this.now);
    this.check();
  }

  filledOf = (t: True, asOf = Infinity): number => t.fills.reduce((sum, f) => (f.at <= asOf ? sum + f.lots : sum), 0);
  isAlive = (t: True, at = this.now): boolean => t.arrivesAt <= at && at < t.endedAt;
  mayFillYet = (t: True): boolean => t.arrivesAt < Infinity && this.now < t.endedAt;

  place(
    side: Side,
    lots: number,
    hold: number,
    fate: 'accepted' | 'refused' | 'lost',
    isAnswered: boolean,
    isTwice: boolean,
  ): void {
    const id = `a-1-${this.truth.length + 1}`;
    const oid = `oid-${id}`;
    this.orders.intend(id, side, price(100), amount(lots), this.now);
    this.orders.sent(id);
    const arrivesAt = this.now + hold;
    const t: True = {
      id,
      oid,
      side,
      amount: lots,
      arrivesAt: fate === 'accepted' ? arrivesAt : Infinity,
      endedAt: Infinity,
      canceled: false,
      fills: [],
    };
    this.truth.push(t);
    const answer: Outcome<{ readonly oid: string }> =
      fate === 'accepted' ? { kind: 'done', value: { oid } } : { kind: 'refused', code: '0403', message: 'no' };
    const isInTime = isAnswered && fate !== 'lost' && hold < TIMEOUT;
    const outcome = isInTime ? answer : ({ kind: 'unknown', reason: 'timeout' } as const);
    const at = isInTime ? arrivesAt + 1 : this.now + TIMEOUT;
    this.later(at, () => this.orders.answered(id, outcome, false, this.now));
    if (isTwice && isInTime) this.later(at + 50, () => this.orders.answered(id, outcome, false, this.now));
  }

  fill(which: number, lots: number, lag: number): void {
    const t = this.truth[which % Math.max(1, this.truth.length)];
    if (!t || !this.isAlive(t)) return;
    const all = Math.min(lots, t.amount - this.filledOf(t));
    t.fills.push({ tid: this.#tid++, lots: all, visibleAt: this.now + lag, at: this.now });
    if (this.filledOf(t) === t.amount) t.endedAt = this.now;
  }

  vanish(which: number): void {
    const t = this.truth[which % Math.max(1, this.truth.length)];
    if (t) this.end(t);
  }

  report(t: True, asOf: number): OrderReport {
    const left = t.amount - this.filledOf(t, asOf);
    const isOver = asOf >= t.endedAt;
    const status = isOver ? (t.canceled ? 'cancelled' : 'completed') : left < t.amount ? 'partially filled' : 'open';
    const of = {
      book: 'btc_mxn',
      oid: t.oid,
      originId: t.id,
      side: t.side,
      type: 'limit',
      price: '100',
      createdAt: 0,
    } as const;
    return { ...of, status, originalAmount: String(t.amount), unfilledAmount: String(left) };
  }

  read(delay: number, lag: number, isComplete: boolean, isTwice: boolean): void {
    const startedAt = this.now;
    const asOf = startedAt - lag;
    const reports = this.truth.filter(t => this.isAlive(t, asOf)).map(t => this.report(t, asOf));
    const shown = isComplete ? reports : reports.slice(0, 1);
    const deliver = (): void => this.orders.read(shown, isComplete, startedAt, this.now);
    this.later(this.now + delay, deliver);
    if (isTwice) this.later(this.now + delay + 40, deliver);
  }

  readTrades(delay: number, isTwice: boolean): void {
    const startedAt = this.now;
    const visible = this.truth.flatMap(t => t.fills.filter(f => f.visibleAt <= startedAt).map(f => ({ t, f })));
    const deliver = (): void => {
      for (const { t, f } of visible) {
        if (this.#seen.has(f.tid)) continue;
        this.#seen.add(f.tid);
        this.orders.filled(t.id, t.oid, amount(f.lots), this.now);
      }
      this.orders.tradesRead(startedAt);
    };
    this.later(this.now + delay, deliver);
    if (isTwice) this.later(this.now + delay + 40, deliver);
  }

  look(delay: number, lag: number, isTwice: boolean): void {
    const startedAt = this.now;
    const asOf = startedAt - lag;
    const ids = [...this.orders.live].map(o => o.id);
    const reports = this.truth.filter(t => ids.includes(t.id) && t.arrivesAt <= asOf).map(t => this.report(t, asOf));
    const deliver = (): void => this.orders.lookedUp(ids, reports, startedAt, this.now);
    this.later(this.now + delay, deliver);
    if (isTwice) this.later(this.now + delay + 40, deliver);
  }

  /** As the engine does: confirmed orders together, every unknown alone. What is hit ends only `work` later, and may fill until then. */
  cancel(delay: number, work: number, isAnswered: boolean, isTwice: boolean): void {
    const live = [...this.orders.live];
    const confirmed = live.filter(o => o.state === 'open' || o.state === 'partially filled' || o.state === 'canceling');
    const unknown = live.filter(o => o.state === 'unknown');
    for (const group of [confirmed, ...unknown.map(o => [o])]) {
      const ids = group.map(o => o.id);
      const startedAt = this.now;
      for (const id of ids) this.orders.cancelSent(id, this.now);
      this.later(this.now + delay, () => {
        const hit = this.truth.filter(t => ids.includes(t.id) && this.isAlive(t));
        for (const t of hit) this.later(this.now + work, () => this.end(t));
        const outcome: Outcome<readonly string[]> = isAnswered
          ? { kind: 'done', value: hit.map(t => t.oid) }
          : { kind: 'unknown', reason: 'reset' };
        const deliver = (): void => this.orders.cancelAnswered(ids, outcome, startedAt, this.now);
        this.later(this.now + delay, deliver);
        if (isTwice) this.later(this.now + delay + 40, deliver);
      });
    }
  }

  end(t: True): void {
    if (!this.isAlive(t)) return;
    t.endedAt = this.now;
    t.canceled = true;
  }

  /** The laws, after everything that happens. */
  check(): void {
    const reserved = { buy: 0, sell: 0 };
    for (const t of this.truth) {
      const order = this.orders.get(t.id)!;
      const truly = this.filledOf(t);
      const may = (this.mayFillYet(t) ? t.amount - truly : 0) + (truly - order.filled);
      const held = order.state === 'done' ? 0 : remaining(order);
      const broken =
        order.filled > truly
          ? 'a fill was applied twice'
          : !mayLive(order) && this.mayFillYet(t)
            ? 'what lives was taken for over'
            : held < may
              ? `${may} may still fill and ${held} is reserved`
              : null;
      if (broken !== null) throw new Error(`at ${this.now}: ${broken}: ${JSON.stringify({ order, t })}`);
      reserved[t.side] += held;
    }
    expect([this.orders.reserved('buy'), this.orders.reserved('sell')]).toEqual([reserved.buy, reserved.sell]);
  }
}

const fromTo = (min: number, max: number) => fc.integer({ min, max });
const delay = fc.oneof(fc.constant(0), fromTo(0, 30), fromTo(0, 300));
const lag = fc.oneof(fc.constant(0), fromTo(0, READ_LAG_MAX));
type Act = (world: World) => void;
/** An act that fast-check can print. */
const called = <A extends readonly unknown[]>(
  name: string,
  args: readonly [...A],
  run: (world: World, ...args: A) => void,
): Act =>
  Object.assign((world: World) => run(world, ...args), { [fc.toStringMethod]: () => `${name}(${args.join(', ')})` });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom<Side>('buy', 'sell'),
        fromTo(1, 10),
        fc.oneof(fromTo(0, 50), fromTo(0, HOLD_MAX)),
        fc.constantFrom('accepted' as const, 'accepted' as const, 'refused' as const, 'lost' as const),
        fc.boolean(),
        fc.boolean(),
      )
      .map(all => called('place', all, (w, ...args) => w.place(...args))),
  },
  {
    weight: 8,
    arbitrary: fc.oneof(fromTo(1, 30), fromTo(1, 500)).map(ms => called('advance', [ms], (w, n) => w.advance(n))),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.nat(5), fromTo(1, 10), fromTo(0, TRADE_LAG_MAX))
      .map(all => called('fill', all, (w, ...args) => w.fill(...args))),
  },
  { weight: 1, arbitrary: fc.nat(5).map(which => called('vanish', [which], (w, n) => w.vanish(n))) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(delay, lag, fc.boolean(), fc.boolean())
      .map(all => called('read', all, (w, ...args) => w.read(...args))),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(delay, fc.boolean())
      .map(all => called('readTrades', all, (w, ...args) => w.readTrades(...args))),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(delay, lag, fc.boolean()).map(all => called('look', all, (w, ...args) => w.look(...args))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(delay, fromTo(0, 60), fc.boolean(), fc.boolean())
      .map(all => called('cancel', all, (w, ...args) => w.cancel(...args))),
  },
);

describe('orders', () => {
  it('never give up what may live, always reserve what may still fill, and apply each fill once, for any history of evidence', () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(fc.array(act, { maxLength: 80, size: 'medium' }), fc.boolean(), (acts, canLook) => {
        const world = new World();
        for (const one of acts) {
          one(world);
          world.check();
        }
        // Then the network heals: within fence and settle time everything is known again.
        for (let waited = 0; waited < 2 * (FENCE + SETTLE) + 2 * HOLD_MAX; waited += 60) {
          world.read(0, 0, true, false);
          world.readTrades(0, false);
          if (canLook || [...world.orders.live].some(o => o.state === 'unknown')) world.look(0, 0, false);
          for (const o of world.orders.live) if (o.state === 'unknown') reached.add('unknown while healing');
          if ([...world.orders.live].some(o => o.state === 'unknown' || o.state === 'canceling'))
            world.cancel(1, 5, true, false);
          world.advance(60);
        }
        for (const t of world.truth) {
          const order = world.orders.get(t.id)!;
          const isAlive = world.isAlive(t);
          expect({ order, mayLive: mayLive(order), isOver: order.state === 'done' }).toMatchObject({
            mayLive: isAlive,
            isOver: !isAlive,
          });
          expect(order.filled).toBe(world.filledOf(t));
          if (order.ending) reached.add(order.ending);
        }
        for (const news of world.news) reached.add(news.kind);
      }),
      { numRuns: 400 },
    );
    // A model that never gets into trouble proves nothing.
    for (const must of [
      'unknown while healing',
      'filled',
      'canceled',
      'refused',
      'vanished',
      'never arrived',
      'unknown',
      'resolved',
      'ended',
    ]) {
      expect(reached).toContain(must);
    }
  });
});

describe('one order', () => {
  const none: readonly OrderReport[] = [];
  const id = 'a-1-1';
  let news: OrderNews[];
  let orders: Orders;
  const state = () => orders.get(id)!.state;
  const listed = (status: OrderReport['status'], unfilled = '10'): OrderReport => ({
    book: 'btc_mxn',
    oid: 'oid-1',
    originId: id,
    side: 'buy',
    type: 'limit',
    status,
    price: '100',
    originalAmount: '10',
    unfilledAmount: unfilled,
    createdAt: 0,
  });

  beforeEach(() => {
    news = [];
    orders = new Orders(plain, patience, one => news.push(one));
    orders.intend(id, 'buy', price(100), amount(10), 0);
    orders.sent(id);
  });

  /** The whole rule by which an unknown may be closed; each piece of evidence can be left out. */
  function collect(from: number, without = ''): void {
    const reads = without === 'a fourth read' ? 3 : 4;
    for (let n = 0; n < reads; n++) orders.read(none, without !== 'complete reads', from + n, from + n);
    if (without !== 'a look-up') orders.lookedUp([id], none, from, from);
    if (without === 'a cancel of its own')
      orders.cancelAnswered([id, 'other'], { kind: 'done', value: [] }, from, from);
    else if (without === 'an answered cancel')
      orders.cancelAnswered([id], { kind: 'unknown', reason: 'reset' }, from, from);
    else if (without === 'a successful cancel')
      orders.cancelAnswered([id], { kind: 'refused', code: '0301', message: '' }, from, from);
    else orders.cancelAnswered([id], { kind: 'done', value: [] }, from, from);
    if (without !== 'a read of trades') orders.tradesRead(from);
    orders.tick(from + 10);
  }

  it.each([
    'a fourth read',
    'complete reads',
    'a look-up',
    'a cancel of its own',
    'an answered cancel',
    'a successful cancel',
    'a read of trades',
  ])('that is unknown stays so without %s', without => {
    orders.answered(id, { kind: 'unknown', reason: 'timeout' }, false, 400);
    collect(400 + FENCE, without);
    expect(state()).toBe('unknown');
    expect(orders.reserved('buy')).toBe(10);
  });

  it('that is unknown is not closed by evidence from before the fence, which counts from the lost answer', () => {
    orders.answered(id, { kind: 'unknown', reason: 'timeout' }, false, 400);
    collect(400 + FENCE - 5);
    orders.tick(1e9);
    expect(state()).toBe('unknown');
  });

  it.each(['a read of open orders', 'a look-up', 'a cancel of its own', 'a read of trades'])(
    'that is unknown is not closed while %s began before its fence, however late its answer came',
    early => {
      orders.answered(id, { kind: 'unknown', reason: 'timeout' }, false, 400);
      const fence = 400 + FENCE;
      const late = fence + 10_000;
      const from = (what: string): number => (what === early ? fence - 1 : fence);
      for (let n = 0; n < 4; n++) orders.read(none, true, from('a read of open orders'), late);
      orders.lookedUp([id], none, from('a look-up'), late);
      orders.cancelAnswered([id], { kind: 'done', value: [] }, from('a cancel of its own'), late);
      orders.tradesRead(from('a read of trades'));
      orders.tick(late);
      expect(state()).toBe('unknown');
    },
  );

  it('that is on its way out before its placement was answered is not closed by reads that do not show it', () => {
    orders.cancelSent(id, 5);
    for (let n = 0; n < 5; n++) orders.read(none, true, SETTLE + 10 + n, SETTLE + 20 + n);
    orders.tradesRead(10 * SETTLE);
    orders.tick(10 * SETTLE);
    expect([state(), orders.reserved('buy')]).toEqual(['canceling', 10]);
    orders.answered(id, { kind: 'done', value: { oid: 'oid-1' } }, false, 11 * SETTLE);
    for (let n = 0; n < 2; n++) orders.read(none, true, 12 * SETTLE + n, 12 * SETTLE + 5 + n);
    expect([state(), orders.get(id)!.ending]).toEqual(['closed-unsettled', 'vanished']);
  });

  it.each([
    ['ahead', 1e9],
    ['behind', 1],
  ])('that an earlier run left is unknown for a whole fence, though the clock of that run was %s', (_, placedAt) => {
    const left = {
      id: 'a-0-1',
      side: 'buy',
      price: price(990),
      amount: amount(10),
      filled: amount(0),
      oid: null,
    } as const;
    orders.restore({ ...left, at: placedAt }, 5_000);
    const collectLeft = (from: number) => {
      for (let n = 0; n < 4; n++) orders.read(none, true, from + n, from + n);
      orders.lookedUp([left.id], none, from + 5, from + 5);
      orders.cancelAnswered([left.id], { kind: 'done', value: [] }, from + 5, from + 5);
      orders.tradesRead(from + 5);
      orders.tick(from + 6);
      return orders.get(left.id)!.state;
    };
    expect(collectLeft(5_000 + FENCE - 5)).toBe('unknown');
    expect(collectLeft(5_000 + FENCE)).toBe('closed-unsettled');
  });

  it('that is unknown closes by the whole rule, and then stays reserved for the settle time', () => {
    orders.answered(id, { kind: 'unknown', reason: 'timeout' }, false, 400);
    collect(400 + FENCE);
    expect(state()).toBe('closed-unsettled');
    expect(orders.reserved('buy')).toBe(10);
    orders.tick(1e9);
    expect(state()).toBe('closed-unsettled');
    orders.tradesRead(400 + FENCE + 10 + SETTLE);
    orders.tick(1e9);
    expect([state(), orders.get(id)!.ending, orders.reserved('buy')]).toEqual(['done', 'never arrived', 0]);
  });

  it('that is seen once starts its negative evidence again', () => {
    orders.answered(id, { kind: 'unknown', reason: 'timeout' }, false, 400);
    for (let n = 0; n < 3; n++) orders.read(none, true, 2000 + n, 2000 + n);
    orders.read([listed('open')], true, 2010, 2010);
    expect(state()).toBe('open');
    orders.read(none, true, 2011, 2011);
    orders.tick(2012);
    expect(state()).toBe('open');
  });

  it('that was given up is reopened by a late sighting, and counts again', () => {
    orders.answered(id, { kind: 'unknown', reason: 'timeout' }, false, 400);
    collect(400 + FENCE);
    orders.tradesRead(1e6);
    orders.tick(1e6);
    expect([state(), orders.reserved('buy')]).toEqual(['done', 0]);
    orders.read([listed('open')], true, 1e6 + 1, 1e6 + 2);
    expect([state(), orders.reserved('buy'), orders.get(id)!.ending]).toEqual(['open', 10, null]);
    expect(news.map(n => n.kind)).toEqual(['unknown', 'ended', 'reopened']);
  });

  it('that is reopened is reserved for all that is not filled, whatever final amount a look-up had told', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }), (told, filled) => {
        const again = new Orders(plain, patience, () => undefined);
        again.intend(id, 'buy', price(100), amount(10), 0);
        again.sent(id);
        again.answered(id, { kind: 'done', value: { oid: 'oid-1' } }, false, 10);
        if (filled > 0) again.filled(id, 'oid-1', amount(filled), 15);
        again.lookedUp([id], [listed('cancelled', String(10 - told))], 20, 30);
        again.read([listed('partially filled', String(10 - filled))], true, 40, 50);
        expect([again.get(id)!.ending, again.reserved('buy')]).toEqual([null, 10 - filled]);
      }),
    );
  });

  it('of an earlier run goes on from the fills that the ledger has of it: those that follow are added', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 1, max: 4 }), (before, after) => {
        const left = { id: 'a-0-1', side: 'buy', price: price(99), amount: amount(10), oid: 'oid-7', at: 0 } as const;
        const next = new Orders(plain, patience, () => undefined);
        next.restore({ ...left, filled: amount(before) }, 1);
        next.filled('a-0-1', 'oid-7', amount(after), 5);
        expect([next.get('a-0-1')!.filled, next.reserved('buy')]).toEqual([before + after, 10 - before - after]);
      }),
    );
  });

  it('that a look-up tells larger than it was sent is reserved for no more than was sent', () => {
    orders.answered(id, { kind: 'done', value: { oid: 'oid-1' } }, false, 10);
    orders.lookedUp([id], [{ ...listed('cancelled', '0'), originalAmount: '25' }], 20, 30);
    expect([state(), orders.reserved('buy')]).toEqual(['closed-unsettled', 10]);
  });

  it('that ended while a read was on its way is not reopened by it, however late that comes', () => {
    orders.answered(id, { kind: 'done', value: { oid: 'oid-1' } }, false, 10);
    orders.lookedUp([id], [listed('cancelled')], 40, 50);
    orders.read([listed('open')], true, 45, 90);
    expect([state(), orders.get(id)!.ending]).toEqual(['done', 'canceled']);
    orders.read([listed('open')], true, 51, 95);
    expect(state()).toBe('open');
  });

  it('is forgotten whole, its oid with it, when five thousand others have ended since', () => {
    for (let n = 0; n <= 5_000; n++) {
      orders.intend(`a-2-${n}`, 'sell', price(100), amount(1), 0);
      orders.sent(`a-2-${n}`);
      orders.filled(`a-2-${n}`, `o-${n}`, amount(1), 5);
    }
    expect([orders.get('a-2-0'), orders.byOid('o-0'), orders.byOid('o-1')?.id]).toEqual([
      undefined,
      undefined,
      'a-2-1',
    ]);
  });

  it('that was just answered is not taken for vanished by reads that lag, only by two of them and after the settle time', () => {
    orders.answered(id, { kind: 'done', value: { oid: 'oid-1' } }, false, 10);
    orders.read(none, true, 11, 12);
    orders.read(none, true, 13, 14);
    expect(state()).toBe('open');
    orders.read(none, true, 10 + SETTLE, 10 + SETTLE);
    expect([state(), orders.get(id)!.ending, orders.reserved('buy')]).toEqual(['closed-unsettled', 'vanished', 10]);
  });

  it('that was just seen for the first time is not taken for vanished by reads that lag behind that', () => {
    orders.read([listed('open')], true, 500, 510);
    orders.read(none, true, 520, 521);
    orders.read(none, true, 530, 531);
    expect(state()).toBe('open');
  });

  it('that was filled whole is not reopened by a read that is older or lags', () => {
    orders.answered(id, { kind: 'done', value: { oid: 'oid-1' } }, false, 10);
    orders.filled(id, 'oid-1', amount(10), 500);
    orders.read([listed('partially filled', '4')], true, 490, 510);
    orders.read([listed('partially filled', '4')], true, 600, 610);
    expect([state(), orders.get(id)!.ending]).toEqual(['done', 'filled']);
    expect(orders.live.length).toBe(0);
  });

  it('that was filled whole may still be in a book whose read started before that was known', () => {
    orders.answered(id, { kind: 'done', value: { oid: 'oid-1' } }, false, 10);
    orders.filled(id, 'oid-1', amount(10), 500);
    expect([...orders.inBookSince(499)].map(o => o.id)).toEqual([id]);
    expect([...orders.inBookSince(501)]).toEqual([]);
  });

  it('is refused only while nothing proves that it exists', () => {
    orders.read([listed('open')], true, 5, 6);
    orders.answered(id, { kind: 'refused', code: '0403', message: '' }, false, 10);
    expect(state()).toBe('open');
  });

  it('is unknown, not refused, when the refusal proves that it exists', () => {
    orders.answered(id, { kind: 'refused', code: '0356', message: 'duplicate' }, true, 10);
    expect([state(), orders.reserved('buy')]).toEqual(['unknown', 10]);
  });

  it('canceled with an answer that does not list it is proven nothing', () => {
    orders.answered(id, { kind: 'done', value: { oid: 'oid-1' } }, false, 10);
    orders.cancelSent(id, 20);
    orders.cancelAnswered([id], { kind: 'done', value: [] }, 20, 30);
    orders.tick(1e9);
    expect([state(), orders.reserved('buy')]).toEqual(['canceling', 10]);
    expect(orders.isCancelDue(orders.get(id)!, 69)).toBe(false);
    expect(orders.isCancelDue(orders.get(id)!, 70)).toBe(true);
  });

  it('listed by a cancel keeps its slot and its reservation until a look-up tells its final amount, and then exactly that', () => {
    orders.answered(id, { kind: 'done', value: { oid: 'oid-1' } }, false, 10);
    orders.cancelSent(id, 20);
    orders.cancelAnswered([id], { kind: 'done', value: ['oid-1'] }, 20, 30);
    expect([state(), orders.reserved('buy')]).toEqual(['canceling', 10]);
    expect(orders.needsLookUp(orders.get(id)!)).toBe(true);
    orders.lookedUp([id], [listed('cancelled', '6')], 40, 50);
    expect([state(), orders.reserved('buy')]).toEqual(['closed-unsettled', 4]);
    orders.filled(id, 'oid-1', amount(4), 60);
    expect([state(), orders.reserved('buy'), orders.get(id)!.ending]).toEqual(['done', 0, 'canceled']);
  });

  it('of an earlier run is taken in with what it has left, and its old trades are not counted again', () => {
    const report = { ...listed('partially filled', '6'), originId: 'a-0-7', oid: 'oid-7' };
    orders.adopt(report, price(100), amount(10), amount(4), 0);
    expect([orders.get('a-0-7')!.state, orders.reserved('buy')]).toEqual(['partially filled', 16]);
    orders.filled('a-0-7', 'oid-7', amount(4), 5);
    expect(orders.reserved('buy')).toBe(16);
    orders.filled('a-0-7', 'oid-7', amount(6), 6);
    expect(orders.get('a-0-7')!.state).toBe('done');
  });

  it('breaks loudly when it is filled beyond its amount, has two oids, or its id is used twice', () => {
    orders.answered(id, { kind: 'done', value: { oid: 'oid-1' } }, false, 10);
    expect(() => orders.intend(id, 'buy', price(1), amount(1), 0)).toThrow(/used before/);
    expect(() => orders.answered(id, { kind: 'done', value: { oid: 'oid-2' } }, false, 10)).toThrow(
      /two order ids of the exchange/,
    );
    expect(() => orders.filled(id, 'oid-1', amount(11), 20)).toThrow(/exceed its amount/);
    expect(() => orders.sent(id)).toThrow(/impossible/);
    expect(() => orders.sent('a-1-2')).toThrow(/does not exist/);
  });

  it('says what became of it, once each: unknown, then resolved by its fill', () => {
    orders.answered(id, { kind: 'unknown', reason: 'timeout' }, false, 400);
    orders.filled(id, 'oid-1', amount(10), 500);
    expect(news.map(n => n.kind)).toEqual(['unknown', 'ended']);
    expect(orders.filled(null, 'oid-nobody', amount(1), 500)).toBe(false);
  });
});
