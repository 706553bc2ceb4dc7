import { describe, expect, it } from 'vitest';
import { describeMissingData, QuotingNews } from '../../../src/core/engine/readiness.ts';
import { plain } from '../market.ts';

describe('what is missing before the first quote', () => {
  const READY = { fees: true, balances: null, account: true, isAlone: true, hasNoEarlierOrders: true };
  it.each([
    [{}, null],
    [{ hasNoEarlierOrders: false }, 'orders of an earlier run may still be open'],
    [
      { hasNoEarlierOrders: false, isAlone: false },
      "the exchange listed open orders with this bot's instance name, but this run did not place them; another process may use this name",
    ],
    [
      { hasNoEarlierOrders: false, isAlone: false, account: false },
      'the open orders and trades of the account have not been read yet',
    ],
    [
      { isAlone: false, account: false, balances: 'the balances have not been read yet' },
      'the balances have not been read yet',
    ],
    [
      { ...READY, fees: false, account: false, balances: 'no balances' },
      'the fees and rules of the book have not been read yet',
    ],
  ])('of %j is told first: %s', (facts, missing) => {
    expect(describeMissingData({ ...READY, ...facts })).toBe(missing);
  });
});

describe('news of quoting', () => {
  const NONE = { buy: null, sell: null };
  const empty = (reason: string) => ({ reason, words: null, level: null }) as never;
  const context = { missing: 'fees', instrument: plain } as never;
  let task = (): string | null => null;
  const newsOf = (news: QuotingNews, refusal: string | null, buy: string | null = null, sell = buy) => {
    const unshown = { buy: buy === null ? null : empty(buy), sell: sell === null ? null : empty(sell) };
    const shown = buy === null && sell === null ? NONE : unshown;
    const all = news.newsAfter(refusal as never, shown, () => context, task);
    return all && [all.kind, all.reason, all.why];
  };

  it('are told once for each change: not ready is where it begins, and one empty side is none', () => {
    const news = new QuotingNews();
    expect(newsOf(news, 'not ready')).toBeNull();
    expect(newsOf(news, null)).toEqual(['quoting', null, null]);
    expect(newsOf(news, null, 'at the cap', null)).toBeNull();
    expect(newsOf(news, null, null, 'at the cap')).toBeNull();
    expect(newsOf(news, null, 'at the cap')).toEqual(['quoting', null, 'no bid and no ask: at the cap']);
    expect(newsOf(news, null, 'at the cap')).toBeNull();
    expect(newsOf(news, null, 'at the cap', 'too old')).toEqual([
      'quoting',
      null,
      'no bid: at the cap; no ask: too old',
    ]);
    expect(newsOf(news, 'halted', 'at the cap')).toEqual(['quoting', 'halted', null]);
    expect(newsOf(news, 'halted')).toBeNull();
    expect(newsOf(news, 'not ready')).toEqual(['quoting', 'not ready', 'fees']);
    expect(newsOf(news, null)).toEqual(['quoting', null, null]);
  });

  it('ask for the facts of the risk only where there is something to tell', () => {
    const news = new QuotingNews();
    const unasked = (): never => {
      throw new Error('asked');
    };
    expect(news.newsAfter('not ready', NONE, unasked, () => null)).toBeNull();
    expect(news.newsAfter(null, NONE, unasked, unasked)).not.toBeNull();
    expect(news.newsAfter('halted', NONE, unasked, unasked)).not.toBeNull();
  });

  it('at the start are what the operator must do, and at a stop before the first quote what is missing', () => {
    const stopped = new QuotingNews();
    expect(newsOf(stopped, 'not ready')).toBeNull();
    expect(newsOf(stopped, 'stopping')).toEqual(['quoting', 'stopping', 'fees']);
    const news = new QuotingNews();
    expect(newsOf(news, 'not ready')).toBeNull();
    for (const text of ['book 1 btc', 'book 2 btc']) {
      task = () => text;
      expect(newsOf(news, 'not ready')).toEqual(['quoting', 'not ready', 'fees']);
      expect(newsOf(news, 'not ready')).toBeNull();
    }
    expect(newsOf(news, null)).toEqual(['quoting', null, null]);
    expect(newsOf(news, 'stopping')).toEqual(['quoting', 'stopping', null]);
  });
});
