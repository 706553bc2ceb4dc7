/** Orders beside a slow model: after every call of any history, also of one that no exchange would tell, both say the same. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { amount, Orders, price, type OrderNews, type OrderReport, type Outcome } from '../../../src/core/index.ts';
import { plain } from '../market.ts';
import { runsOf } from '../../many.ts';
import { CANCEL_AGAIN, filledOf, oidOf, OrderModel, REQUEST_DELAY, stateOf, TRADE_DELAY } from './orderModel.ts';

/** Near the present, so that a sum of two times is nothing like their difference. */
const START = 1.7e12;
const delays = { requestDelayMaxMs: REQUEST_DELAY, tradeReportDelayMaxMs: TRADE_DELAY, cancelAgainMs: CANCEL_AGAIN };

class Both {
  now = START;
  readonly news: string[] = [];
  readonly model = new OrderModel();
  readonly orders = new Orders(plain, delays, one => this.news.push(wordsOf(one)));

  pick = (n: number) => this.model.all[n % this.model.all.length];
  some = (ns: readonly number[]) => [...new Set(ns.map(this.pick))].filter(one => one !== undefined);

  report(id: string, status: OrderReport['status'], filled: number, isNamed = true): OrderReport {
    const { side, amount: all } = this.model.all.find(one => one.id === id)!;
    const named = isNamed ? { originId: id } : {};
    const texts = { originalAmount: String(all), unfilledAmount: String(all - filled), price: '100' };
    return { book: 'btc_mxn', oid: oidOf({ id }), ...named, side, type: 'limit', status, createdAt: START, ...texts };
  }

  /** The state of both as text: one comparison instead of many. */
  check(): void {
    const { orders, model, now } = this;
    const sinces = [now - 20, ...model.all.map(one => one.closedAt)];
    const said = model.all.map(({ id }) => {
      const order = orders.get(id)!;
      const isFound = orders.byOid(oidOf(order)) === order;
      const due = [orders.isCancelDue(order, now), orders.needsLookUp(order), isFound];
      return [id, order.state, order.filled, order.oid, order.ending, ...due].join(' ');
    });
    const expected = model.all.map(one => {
      const due = [now >= one.cancelSentAt + CANCEL_AGAIN, model.needsLookUp(one), one.oid !== null];
      return [one.id, stateOf(one), filledOf(one), one.oid, one.ending, ...due].join(' ');
    });
    const idsOf = (of: Iterable<{ readonly id: string }>) => Array.from(of, ({ id }) => id).join(' ');
    said.push(idsOf(orders.live), ...sinces.map(since => idsOf(orders.inBookSince(since))), this.news.join(', '));
    expected.push(idsOf(model.live), ...sinces.map(since => idsOf(model.inBookSince(since))), model.news.join(', '));
    said.push([orders.reserved('buy'), orders.reserved('sell'), orders.areTradesMissing].join(' '));
    expected.push([model.reserved('buy'), model.reserved('sell'), model.areTradesMissing].join(' '));
    if (said.join('\n') !== expected.join('\n')) expect(said).toEqual(expected);
  }
}
const wordsOf = (news: OrderNews): string =>
  news.kind === 'ended' ? `ended ${news.order.id} ${news.ending}` : `${news.kind} ${news.order.id}`;

/** A report about an order that nobody here knows. */
const FOREIGN: OrderReport = {
  ...{ book: 'btc_mxn', oid: 'oid-of-another', originId: 'x-1', side: 'buy', type: 'limit', status: 'completed' },
  ...{ createdAt: START, originalAmount: '1', unfilledAmount: '0' },
};
const which = fc.nat(3);
const several = fc.array(which, { maxLength: 3 });
const startedAgo = fc.oneof(fc.constant(0), fc.nat(30), fc.nat(200));
const side = fc.constantFrom('buy', 'sell');
const size = fc.integer({ min: 1, max: 5 });
const status = fc.constantFrom('open', 'partially filled', 'queued', 'completed', 'cancelled');
type Act = (both: Both) => void;
const acts = {
  place: fc.tuple(side, size, fc.boolean()).map(([to, lots, takes]): Act => both => {
    if (both.model.all.length >= 4) return;
    const id = `a-${both.model.all.length}`;
    both.model.add(id, to, lots, both.now, { takes });
    both.orders.intend(id, to, price(100), amount(lots), both.now, { takes });
    both.orders.sent(id);
  }),
  restore: fc
    .tuple(side, fc.nat(4), fc.integer({ min: 1, max: 4 }), fc.boolean(), fc.boolean(), fc.nat(9))
    .map(([to, rest, all, isWhole, hasOid, ago]): Act => both => {
      if (both.model.all.length >= 4) return;
      const id = `b-${both.model.all.length}`;
      const [lots, filled] = isWhole ? [all, 0] : [rest, all];
      const left = { id, side: to, price: price(100), oid: hasOid ? oidOf({ id }) : null, at: both.now - ago };
      both.model.add(id, to, lots + filled, both.now, {
        at: 'unknown',
        traded: filled,
        oid: left.oid,
        closedAt: left.at,
      });
      both.orders.restore({ ...left, amount: amount(lots + filled), filled: amount(filled) }, both.now);
    }),
  adopt: fc.tuple(side, size, fc.nat(3)).map(([to, lots, filled]): Act => both => {
    if (both.model.all.length >= 4) return;
    const id = `c-${both.model.all.length}`;
    both.model.add(id, to, lots + filled, both.now, { at: 'open', reported: filled, oid: oidOf({ id }) });
    const report = { ...both.report(id, 'open', filled), originId: id };
    both.orders.adopt(report, price(100), amount(lots + filled), amount(filled), both.now);
  }),
  advance: fc.oneof(fc.nat(30), fc.nat(150), fc.constantFrom(59_940, 60_000)).map((ms): Act => both => {
    both.now += ms;
    both.model.tick(both.now);
    both.orders.tick(both.now);
  }),
  answered: fc
    .tuple(which, fc.constantFrom('accepted', 'rejected', 'exists', 'lost'))
    .map(([n, answer]): Act => both => {
      const order = both.pick(n);
      if (order === undefined || order.id.startsWith('c') || (order.id.startsWith('b') && answer === 'accepted'))
        return;
      const outcome: Outcome<{ readonly oid: string }> =
        answer === 'accepted'
          ? { kind: 'done', value: { oid: oidOf(order) } }
          : answer === 'lost'
            ? { kind: 'unknown', reason: 'timeout' }
            : { kind: 'refused', code: '0403', message: 'no' };
      both.model.answered(order, answer === 'exists' ? 'lost' : answer, both.now);
      both.orders.answered(order.id, outcome, answer === 'exists', both.now);
    }),
  cancelSent: which.map((n): Act => both => {
    const order = both.pick(n);
    if (order === undefined) return;
    both.model.cancelSent(order, both.now);
    both.orders.cancelSent(order.id, both.now);
  }),
  cancelAnswered: fc
    .tuple(several, several, fc.constantFrom('done', 'done', 'lost'), startedAgo)
    .map(([asks, hits, end, ago]): Act => both => {
      const asked = both.some(asks);
      // Alone only its own oid may be listed, or one that is known: any other would be taken for its own.
      const hit = both.some(hits).filter(one => one.oid !== null || asked.length !== 1 || one === asked[0]);
      const listed = [...(asked.length === 1 ? [] : ['oid-of-another']), ...hit.map(oidOf)];
      const outcome =
        end === 'done' ? ({ kind: 'done', value: listed } as const) : ({ kind: 'unknown', reason: 'reset' } as const);
      if (end === 'done') both.model.cancelAnswered(asked, listed, both.now - ago, both.now);
      both.orders.cancelAnswered(
        asked.map(({ id }) => id),
        outcome,
        both.now - ago,
        both.now,
      );
    }),
  read: fc
    .tuple(several, fc.boolean(), fc.boolean(), startedAgo)
    .map(([shows, isComplete, isNamed, ago]): Act => both => {
      const shown = both.some(shows).filter(one => isNamed || one.oid !== null);
      const reports = [FOREIGN, ...shown.map(one => both.report(one.id, 'open', 0, isNamed))];
      both.model.read(shown, isComplete, both.now - ago, both.now);
      both.orders.read(reports, isComplete, both.now - ago, both.now);
    }),
  absent: fc.tuple(fc.integer({ min: 1, max: 5 }), startedAgo).map(([times, ago]): Act => both => {
    for (let n = 0; n < times; n++) {
      both.model.read([], true, both.now - ago, both.now);
      both.orders.read([], true, both.now - ago, both.now);
    }
  }),
  lookedUp: fc
    .tuple(several, fc.array(fc.record({ n: which, status, filled: fc.nat(5) }), { maxLength: 2 }), startedAgo)
    .map(([asks, shows, ago]): Act => both => {
      const asked = both.some(asks);
      const found = both
        .some(shows.map(({ n }) => n))
        .map((order, i) => ({ order, status: shows[i]!.status, filled: Math.min(shows[i]!.filled, order.amount) }));
      const reports = [FOREIGN, ...found.map(({ order, status: as, filled }) => both.report(order.id, as, filled))];
      both.model.lookedUp(asked, found, both.now - ago, both.now);
      both.orders.lookedUp(
        asked.map(({ id }) => id),
        reports,
        both.now - ago,
        both.now,
      );
    }),
  /** All evidence that an unknown order never arrived, or all but one kind of it. */
  neverArrived: fc
    .tuple(which, fc.nat(15), startedAgo, fc.integer({ min: 3, max: 5 }))
    .map(([n, kind, ago, reads]): Act => both => {
      const { orders, model } = both;
      const order = model.live.find(one => one.at === 'unknown') ?? both.pick(n);
      if (order === undefined) return;
      both.now += REQUEST_DELAY;
      const { now } = both;
      const from = (bit: number) => now - (kind === 1 << bit ? ago : 0);
      for (let i = 0; i < reads; i++) {
        model.read([], true, from(0), now);
        orders.read([], true, from(0), now);
      }
      model.lookedUp([order], [], from(1), now);
      orders.lookedUp([order.id], [], from(1), now);
      model.cancelAnswered([order], [], from(2), now);
      orders.cancelAnswered([order.id], { kind: 'done', value: [] }, from(2), now);
      model.tradesRead(from(3));
      orders.tradesRead(from(3));
      model.tick(now);
      orders.tick(now);
    }),
  tradesRead: startedAgo.map((ago): Act => both => {
    both.model.tradesRead(both.now - ago);
    both.orders.tradesRead(both.now - ago);
  }),
  filled: fc.tuple(which, size, fc.boolean()).map(([n, lots, isNamed]): Act => both => {
    const order = both.pick(n);
    if (order === undefined || order.traded === order.amount) return;
    const all = Math.min(lots, order.amount - order.traded);
    const id = isNamed || order.oid === null ? order.id : null;
    both.model.filled(order, all, both.now);
    if (!both.orders.filled(id, oidOf(order), amount(all), both.now)) throw new Error('no order took the fill');
  }),
};
const named = Object.entries(acts).map(([name, arbitrary]) => ({
  name,
  arbitrary: arbitrary.map(run => ({ name, run })),
}));
const first = fc.oneof(...named.slice(0, 3).map(one => one.arbitrary));
const weights: Record<string, number> = { advance: 5, answered: 3, lookedUp: 3, neverArrived: 2, filled: 2 };
const act = fc.oneof(...named.map(({ name, arbitrary }) => ({ arbitrary, weight: weights[name] ?? 1 })));
const history = fc
  .tuple(fc.array(first, { minLength: 2, maxLength: 4 }), fc.array(act, { maxLength: 40, size: 'max' }))
  .map(parts => parts.flat());

it('orders say what the model says, after every call of any history', () => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(history, calls => {
      const both = new Both();
      const names: string[] = [];
      for (const { name, run } of calls) {
        names.push(name);
        run(both);
        try {
          both.check();
        } catch (error) {
          throw new Error(`after ${names.join(', ')}`, { cause: error });
        }
      }
      for (const one of both.news) {
        reached.add(one.replace(/ [a-c]-\d/, ''));
      }
    }),
    runsOf(20_000, 300),
  );
  // A model that never gets into trouble proves nothing.
  const endings = ['filled', 'canceled', 'refused', 'vanished', 'never arrived'].map(one => `ended ${one}`);
  const others = ['adopted', 'late fill', 'reopened', 'resolved', 'trades missing', 'unknown'];
  expect([...reached].toSorted()).toEqual([...endings, ...others].toSorted());
});
