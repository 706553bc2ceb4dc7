/** Origin ids name the bot, the run and a number that is used once; two bots or two runs never share one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amount, ORDER_COUNTERS, Orders, price } from '../../../src/core/index.ts';
import { OriginIds } from '../../../src/core/orders/originIds.ts';
import { plain } from '../market.ts';

const instance = fc.stringMatching(/^[A-Za-z0-9]{1,16}$/);
const run = fc.integer({ min: 0, max: 999_999 });
const taken = (ids: OriginIds, count: number): string[] =>
  Array.from({ length: count }, () => {
    const id = ids.next;
    ids.take();
    return id;
  });

describe('origin ids', () => {
  it('are of their bot and run and of no other, in turn, and have at most forty characters', () => {
    fc.assert(
      fc.property(instance, run, instance, run, (mine, myRun, other, otherRun) => {
        const [ids, others] = [new OriginIds(mine, myRun), new OriginIds(other, otherRun)];
        const first = taken(ids, 3);
        expect(first).toEqual([1, 2, 3].map(n => `${mine}-${myRun}-${n}`));
        expect(ids.next).toBe(`${mine}-${myRun}-4`);
        expect([ids.instance, ids.run]).toEqual([mine, myRun]);
        for (const id of first) {
          expect(id.length).toBeLessThanOrEqual(40 - 8);
          expect([ids.isOwnId(id), others.isOwnId(id)]).toEqual([true, mine === other]);
          expect([ids.isOfThisRun(id), others.isOfThisRun(id)]).toEqual([true, mine === other && myRun === otherRun]);
          expect([ids.isLater(id), others.isLater(id)]).toEqual([false, myRun > otherRun]);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('are not those of a bot or a run whose name only begins like this one', () => {
    const ids = new OriginIds('bot', 1);
    expect(['bot-1-1', 'bot1-1-1', 'abot-1-1', 'bot-12-1', 'bot'].map(id => ids.isOwnId(id))).toEqual([
      ...[true, false, false, true, false],
    ]);
    expect(['bot-1-1', 'bot-12-1', 'bot-0-1', 'x-bot-1-1'].map(id => ids.isOfThisRun(id))).toEqual([
      ...[true, false, false, false],
    ]);
  });

  it('refuse a name or a run that no id could hold, and say which', () => {
    for (const bad of ['', 'a'.repeat(17), 'a-b', 'a b', 'ä', 'bot\n', '-bot', 'bot-'])
      expect(() => new OriginIds(bad, 1)).toThrow(
        new RangeError(`instance must be 1 to 16 letters and digits, found ${JSON.stringify(bad)}`),
      );
    for (const bad of [-1, 0.5, NaN, Infinity, 2 ** 53])
      expect(() => new OriginIds('bot', bad)).toThrow(
        new RangeError(`run must be a whole number of at least 0, found ${bad}`),
      );
    expect(new OriginIds('bot', 0).next).toBe('bot-0-1');
    const fits = 'a'.repeat(16);
    expect(new OriginIds(fits, 10 ** 13 - 1).next).toHaveLength(31 + 1);
    expect(() => new OriginIds(fits, 10 ** 13)).toThrow(
      new RangeError(
        `the order id prefix ${fits}-10000000000000- (instance and run) has more than 31 characters; choose a shorter instance`,
      ),
    );
  });

  it('give a trade to the order that its origin id names, else to the one with its oid', () => {
    const ids = new OriginIds('bot', 3);
    const orders = new Orders(plain, { requestDelayMaxMs: 1, tradeReportDelayMaxMs: 2, cancelAgainMs: 3 }, () => {});
    orders.intend('bot-3-1', 'buy', price(1), amount(1), 1.7e12);
    orders.sent('bot-3-1');
    orders.answered('bot-3-1', { kind: 'done', value: { oid: 'o-1' } }, false, 1.7e12);
    const trade = { book: 'btc_mxn', tid: '1', createdAt: 1.7e12, side: 'buy', price: '1', major: '1' } as const;
    const ownerOf = (of: { readonly oid: string; readonly originId?: string }) =>
      ids.ownerOf({ ...trade, minor: '1', feeAmount: '0', feeCurrency: 'btc', maker: true, ...of }, orders);
    expect(ownerOf({ oid: 'o-1' })).toBe('bot-3-1');
    expect(ownerOf({ oid: 'o-1', originId: 'bot-1-7' })).toBe('bot-1-7');
    expect(ownerOf({ oid: 'o-1', originId: 'by hand' })).toBe('bot-3-1');
    expect(ownerOf({ oid: 'o-2', originId: 'by hand' })).toBeNull();
    expect(ownerOf({ oid: 'o-2' })).toBeNull();
  });

  it('have no maximum in a replay, and no quote there has an id of another kind; the run of a bot ends at its last id', () => {
    const { last } = ORDER_COUNTERS.quote;
    const [replay, live] = [new OriginIds('bot', 1), new OriginIds('bot', 218_000_000)];
    for (let n = 0; n < last - 1; n++) {
      replay.take();
      live.take();
    }
    expect([replay.next, live.next]).toEqual([`bot-1-${last}`, `bot-218000000-${last}`]);
    replay.take();
    live.take();
    expect(replay.next).toBe(`bot-1-${ORDER_COUNTERS.elsewhere.last + 1}`);
    expect(() => live.next).toThrow('run 218000000 of bot has ids for 39999999 orders of the kind quote');
    replay.take();
    expect(replay.next).toBe(`bot-1-${ORDER_COUNTERS.elsewhere.last + 2}`);
  });
});
