/** Requests about orders whose end is not confirmed: each unknown order canceled alone, cancels repeated, look-ups paced. */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { amount, Orders, price, type OrderReport } from '../../../src/core/index.ts';
import { approveByIds, CANCEL_CHUNK, type Approved, type Command } from '../../../src/core/orders/commands.ts';
import { isInBook } from '../../../src/core/orders/orders.ts';
import { UnknownOrderResolver } from '../../../src/core/orders/unknownOrderResolver.ts';
import { runsOf } from '../../many.ts';
import { plain } from '../market.ts';

const T = 1.7e12;
const AGAIN = 50;
const LOOK = 200;
let orders: Orders;
let resolver: UnknownOrderResolver;
const place = (id: string, fate: 'open' | 'unknown') => {
  orders.intend(id, 'buy', price(100), amount(10), T);
  orders.sent(id);
  const done = { kind: 'done', value: { oid: `oid-${id}` } } as const;
  orders.answered(id, fate === 'open' ? done : { kind: 'unknown', reason: 'timeout' }, false, T);
};
const cancels = (at: number, others: string[] = []) => {
  const alone = resolver
    .cancels(at, others)
    .map(command => [command.kind, ...(command.kind === 'place' ? [] : command.ids)]);
  return { alone, others };
};

beforeEach(() => {
  const patience = { requestDelayMaxMs: 1000, tradeReportDelayMaxMs: 300, cancelAgainMs: AGAIN };
  orders = new Orders(plain, patience, () => {});
  resolver = new UnknownOrderResolver(orders, LOOK);
});

/** Origin of an order of this run; one of an earlier run has 4 of 10 lots filled. */
const origin = fc.constantFrom('placed', 'lost', 'restored', 'restored with its oid');
/** Whether the exchange has it, and whether look-ups list it once it has ended. */
const fate = fc.constantFrom('in the book', 'ended and listed', 'ended and not listed', 'never arrived');
type Fate = 'in the book' | 'ended and listed' | 'ended and not listed' | 'never arrived';

/** An exchange that has these orders and loses the first answers. */
class Exchange {
  readonly #fates: Map<string, Fate>;
  readonly #filled: ReadonlyMap<string, number>;
  #lost: number;

  constructor(fates: ReadonlyMap<string, Fate>, filled: ReadonlyMap<string, number>, lost: number) {
    this.#fates = new Map(fates);
    this.#filled = filled;
    this.#lost = lost;
  }

  reports(...fates: readonly Fate[]): OrderReport[] {
    const all = [...this.#fates].filter(([, is]) => fates.includes(is));
    return all.map(([id, is]) => ({
      ...{ book: 'btc_mxn', oid: `oid-${id}`, originId: id, side: 'buy', type: 'limit', price: '100', createdAt: T },
      ...{ status: is === 'in the book' ? 'open' : 'cancelled', originalAmount: '10' },
      unfilledAmount: `${10 - (this.#filled.get(id) ?? 0)}`,
    }));
  }

  answer(command: Approved<Command>, at: number): void {
    if (command.kind === 'place') return;
    if (this.#lost-- > 0) {
      if (command.kind === 'cancel') orders.cancelAnswered(command.ids, NO_ANSWER, at, at);
      return;
    }
    const shown = this.reports('in the book', 'ended and listed').filter(one => command.ids.includes(one.originId!));
    if (command.kind === 'look') return orders.lookedUp(command.ids, shown, at, at);
    const hit = shown.filter(({ status }) => status === 'open');
    orders.cancelAnswered(command.ids, { kind: 'done', value: hit.map(({ oid }) => oid) }, at, at);
    for (const one of hit) this.#fates.set(one.originId!, 'ended and listed');
  }
}

const NO_ANSWER = { kind: 'unknown', reason: 'no answer' } as const;

it('every order ends, however it began, whatever the exchange has of it, and however many there are', () => {
  const cases = fc.array(fc.tuple(origin, fate), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(cases, fc.nat(6), fc.constantFrom(30, 130, 700), (drawn, lost, pause) => {
      const delays = { requestDelayMaxMs: 1000, tradeReportDelayMaxMs: 300, cancelAgainMs: AGAIN };
      orders = new Orders(plain, delays, () => {});
      resolver = new UnknownOrderResolver(orders, LOOK);
      const filled = new Map<string, number>();
      drawn.forEach(([from], n) => {
        const id = `a-${n}`;
        if (from === 'placed' || from === 'lost') return place(id, from === 'lost' ? 'unknown' : 'open');
        filled.set(id, 4);
        const left = {
          id,
          side: 'buy',
          price: price(100),
          amount: amount(10),
          filled: amount(4),
          at: T - 60_000,
        } as const;
        orders.restore({ ...left, oid: from === 'restored' ? null : `oid-${id}` }, T);
      });
      const exchange = new Exchange(new Map(drawn.map(([, is], n) => [`a-${n}`, is])), filled, lost);
      // Twice the longest delay, and a few rounds for the lost answers.
      const until = T + 2_000 + 20 * pause;
      for (let at = T; at <= until; at += pause) {
        orders.tick(at);
        const others = orders.live.filter(isInBook).map(({ id }) => id);
        const alone = resolver.cancels(at, others);
        for (const id of others) orders.cancelSent(id, at);
        for (const command of [...alone, ...approveByIds('cancel', others), ...resolver.looks(at)])
          exchange.answer(command, at);
        orders.read(exchange.reports('in the book'), true, at, at);
        orders.tradesRead(at);
      }
      expect(orders.live.map(({ id, state, oid }) => [id, state, oid])).toEqual([]);
    }),
    runsOf(5_000, 100),
  );
});

describe('cancels', () => {
  it('go to each unknown order alone, at once and again after each pause', () => {
    place('a-1', 'unknown');
    place('a-2', 'open');
    place('a-3', 'unknown');
    const both = {
      alone: [
        ['cancel', 'a-1'],
        ['cancel', 'a-3'],
      ],
      others: ['given'],
    };
    expect(cancels(T, ['given'])).toEqual(both);
    expect(cancels(T + AGAIN - 1)).toEqual({ alone: [], others: [] });
    // While no answer has come, none is repeated.
    expect(cancels(T + AGAIN)).toEqual({ alone: [], others: [] });
    for (const id of ['a-1', 'a-3']) orders.cancelAnswered([id], NO_ANSWER, T, T + AGAIN);
    expect(cancels(T + AGAIN, ['given'])).toEqual(both);
    expect(cancels(T + AGAIN + 1)).toEqual({ alone: [], others: [] });
  });

  it('do not pile up while the exchange is silent, and are repeated once it has failed to answer', () => {
    const silent = fc.record({
      states: fc.array(fc.constantFrom('unknown' as const, 'open' as const), { minLength: 1, maxLength: 12 }),
      /** Whether a request ends without an answer in this round, oldest first. */
      fails: fc.array(fc.boolean(), { maxLength: 60 }),
    });
    fc.assert(
      fc.property(silent, ({ states, fails }) => {
        orders = new Orders(
          plain,
          { requestDelayMaxMs: 1e9, tradeReportDelayMaxMs: 300, cancelAgainMs: AGAIN },
          () => {},
        );
        resolver = new UnknownOrderResolver(orders, LOOK);
        states.forEach((state, n) => place(`b-${n}`, state));
        const waiting = states.map(() => 0);
        const send = (n: number, at: number): void => {
          orders.cancelSent(`b-${n}`, at);
          waiting[n]!++;
        };
        states.forEach((state, n) => state === 'open' && send(n, T));
        const numbers = (ids: readonly string[]) => ids.map(id => Number(id.slice(2)));
        for (let round = 1; round <= 60; round++) {
          const at = T + round * AGAIN;
          const { alone, others } = cancels(at);
          for (const n of numbers(alone.map(([, id]) => id!))) waiting[n]!++;
          for (const n of numbers(others)) send(n, at);
          const most = states.map(state => (state === 'unknown' ? 1 : 2));
          expect(waiting.map((count, n) => count > 0 && count <= most[n]!)).toEqual(states.map(() => true));
          const n = fails[round - 1] === true ? waiting.findIndex(count => count > 0) : -1;
          if (n < 0) continue;
          orders.cancelAnswered([`b-${n}`], NO_ANSWER, at, at);
          waiting[n]!--;
        }
      }),
      runsOf(2_000, 50),
    );
  });

  it('that were inconclusive are due again together, and are sent by the caller', () => {
    place('a-1', 'open');
    place('a-2', 'open');
    for (const id of ['a-1', 'a-2']) orders.cancelSent(id, T);
    expect(cancels(T + AGAIN - 1, ['a-9'])).toEqual({ alone: [], others: ['a-9'] });
    // The caller reports what it sends: until then they remain due.
    for (let n = 0; n < 2; n++)
      expect(cancels(T + AGAIN, ['a-9'])).toEqual({ alone: [], others: ['a-9', 'a-1', 'a-2'] });
    orders.cancelSent('a-1', T + AGAIN);
    expect(cancels(T + AGAIN)).toEqual({ alone: [], others: ['a-2'] });
  });
});

describe('look-ups', () => {
  const looked = (at: number) => resolver.looks(at).flatMap(command => (command.kind === 'look' ? command.ids : ['?']));

  it('ask for all orders that need one, and again after the pause; a look that asked for none starts no pause', () => {
    place('a-1', 'open');
    expect(looked(T)).toEqual([]);
    place('a-2', 'unknown');
    place('a-3', 'unknown');
    expect(looked(T)).toEqual(['a-2', 'a-3']);
    expect(looked(T + LOOK - 1)).toEqual([]);
    expect(looked(T + LOOK)).toEqual(['a-2', 'a-3']);
    expect(looked(T + LOOK + 1)).toEqual([]);
  });

  it('are sent in requests of limited length, each id once and in order', () => {
    for (const count of [0, 1, CANCEL_CHUNK, CANCEL_CHUNK + 1, 2 * CANCEL_CHUNK + 3]) {
      const ids = Array.from({ length: count }, (_, n) => `b-${count}-${n}`);
      const sizes = Array.from({ length: Math.ceil(count / 50) }, (_, n) => Math.min(50, count - 50 * n));
      for (const kind of ['look', 'cancel'] as const) {
        const commands = approveByIds(kind, ids);
        expect(commands.flatMap(one => one.ids)).toEqual(ids);
        expect(commands.map(one => [one.kind, one.ids.length])).toEqual(sizes.map(size => [kind, size]));
      }
    }
  });

  const needs = (id = 'a-1') => orders.needsLookUp(orders.get(id)!);

  it('ask for a taker order from the answer to its placement, though it is open', () => {
    orders.intend('a-1', 'buy', price(100), amount(10), T, { takes: true });
    orders.sent('a-1');
    expect(needs()).toBe(false);
    orders.answered('a-1', { kind: 'done', value: { oid: 'o-1' } }, false, T);
    expect(needs()).toBe(true);
    place('a-2', 'open');
    expect(needs('a-2')).toBe(false);
  });

  it('ask for an order that is being canceled from the answer to its cancel, and not before', () => {
    place('a-1', 'open');
    orders.cancelAnswered(['a-1'], { kind: 'done', value: [] }, T, T);
    expect(needs()).toBe(false);
    place('a-2', 'open');
    orders.cancelSent('a-2', T);
    expect(needs('a-2')).toBe(false);
    orders.cancelAnswered(['a-2'], { kind: 'unknown', reason: 'reset' }, T, T);
    expect(needs('a-2')).toBe(false);
    orders.cancelAnswered(['a-2'], { kind: 'done', value: [] }, T, T);
    expect(needs('a-2')).toBe(true);
  });

  it('ask for an order that ended until its final amount is known', () => {
    place('a-1', 'open');
    for (const ms of [300, 301]) orders.read([], true, T + ms, T + ms);
    expect([orders.get('a-1')!.state, needs()]).toEqual(['closed-unsettled', true]);
    const ended = {
      book: 'btc_mxn',
      oid: 'oid-a-1',
      originId: 'a-1',
      side: 'buy',
      type: 'limit',
      price: '100',
    } as const;
    const report = { ...ended, status: 'cancelled', originalAmount: '10', unfilledAmount: '6', createdAt: T } as const;
    orders.lookedUp(['a-1'], [report], T + 302, T + 303);
    expect([orders.get('a-1')!.state, needs()]).toEqual(['closed-unsettled', false]);
  });
});
