/** Requests about orders whose end is not confirmed: each unknown order canceled alone, cancels repeated, look-ups paced. */
import { beforeEach, describe, expect, it } from 'vitest';
import { amount, Orders, price } from '../../../src/core/index.ts';
import { approveByIds, CANCEL_CHUNK } from '../../../src/core/orders/commands.ts';
import { UnknownOrderResolver } from '../../../src/core/orders/unknownOrderResolver.ts';
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
    expect(cancels(T + AGAIN, ['given'])).toEqual(both);
    expect(cancels(T + AGAIN + 1)).toEqual({ alone: [], others: [] });
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
