import { describe, expect, test } from 'vitest';
import type { Amount, EngineNews, Price } from '../../src/core/index.ts';
import { takerOrderOutcome, takerOrderFromNews, type TakerOrderState } from '../../src/hedge/takerOrderOutcome.ts';
import { hedgeInputsOf } from '../../src/hedge/hedgeInputs.ts';
import { ToyExchange, quoteAround } from '../core/toyExchange.ts';
import { plain } from '../core/market.ts';

const ID = 'mm-7-t1';

/** Long by ten lots, with quotes two ticks from the middle; the last that is told of the order that takes. */
function traded() {
  let told: TakerOrderState | null = null;
  const onNews = (news: EngineNews) => {
    const order = takerOrderFromNews(news);
    if (order?.id === ID) told = order;
  };
  const toy = new ToyExchange({ strategy: quoteAround(2), onNews }).open();
  toy.rounds(2);
  toy.fill(toy.live.find(({ side }) => side === 'buy')!.id, 10);
  toy.rounds(2);
  const take = (price: number, amount: number) =>
    toy.step({
      ...{ kind: 'take', at: toy.now, id: ID, side: 'sell', until: toy.now + 5_000 },
      price: price as Price,
      amount: amount as Amount,
    });
  return { toy, take, told: () => told };
}
const viewOf = (toy: ToyExchange) =>
  hedgeInputsOf(toy.engine, { instrument: plain, takerRate: 0, balancesAt: toy.now }, toy.now);

test("a hedger's view stays what it was, whatever the engine takes afterwards", () => {
  const { toy } = traded();
  const view = viewOf(toy);
  const before = structuredClone(view);
  toy.bids = [[900, 7]];
  toy.asks = [[1100, 7]];
  toy.rounds(3);
  toy.fill(toy.live.find(({ side }) => side === 'sell')!.id, 10);
  toy.rounds(3);
  expect(viewOf(toy)).not.toEqual(before);
  expect(view).toEqual(before);
});

test('a view has every level of each side, and on each side its own worst price', () => {
  const { toy } = traded();
  toy.bids = [
    [990, 5],
    [980, 6],
  ];
  toy.asks = [
    [1_010, 7],
    [1_020, 8],
    [1_030, 9],
  ];
  toy.rounds(3);
  const { depth, sides, mid } = viewOf(toy);
  expect([depth.bids, depth.asks, mid]).toEqual([2, 3, 1_000n * 10n ** 18n]);
  const listed = [depth.bidPrices, depth.bidAmounts, depth.askPrices, depth.askAmounts].map(values => [...values]);
  expect(listed).toEqual([
    [990, 980],
    [5, 6],
    [1_010, 1_020, 1_030],
    [7, 8, 9],
  ]);
  expect(sides.sell.priceBound < 1_000 && sides.buy.priceBound > 1_000).toBe(true);
});

describe('what the engine tells of an order that takes', () => {
  test('ends its hedge with the share of its cost that traded', () => {
    const { toy, take, told } = traded();
    take(990, 10);
    toy.rounds(3);
    expect(takerOrderOutcome({ costMax: '8' }, told())).toMatchObject({
      state: 'completed',
      why: null,
      costMax: 8n * 10n ** 18n,
    });
  });

  test('fails its hedge when it is not sent', () => {
    const { toy, take, told } = traded();
    take(800, 10);
    toy.rounds(3);
    expect(takerOrderOutcome({ costMax: '8' }, told())).toEqual({
      state: 'failed',
      why: 'the order was not sent: price outside the collar',
    });
  });

  test('goes on with its hedge when the exchange shows the order again after its end', () => {
    const { toy, take, told } = traded();
    toy.fateOfPlace = () => 'done untold';
    take(990, 10);
    const order = toy.truth.get(ID)!;
    const shown = (isLive: boolean) => toy.report({ ...order, isLive, filled: 0 });
    const outcome = { kind: 'done', value: [shown(false)] } as const;
    toy.step({ kind: 'looked up', at: toy.now, startedAt: toy.now, ids: [ID], outcome });
    expect(told()).toMatchObject({ state: 'done', filled: 0 });
    const at = toy.now + 1;
    toy.step({ kind: 'open orders', at, startedAt: at, complete: false, orders: [shown(true)] });
    expect(takerOrderOutcome({ costMax: '8' }, told())).toEqual({ state: 'executing' });
  });

  test('leaves its hedge unknown while nothing tells whether it arrived', () => {
    const { toy, take, told } = traded();
    toy.fateOfPlace = () => 'lost';
    take(990, 10);
    expect(takerOrderOutcome({ costMax: '8' }, told())).toEqual({ state: 'unknown' });
  });
});

test('an order of which nothing is told since the start had its end before it; one that waits is waited for', () => {
  const lost = takerOrderOutcome({}, null);
  expect(lost?.state).toBe('completed');
  expect(lost && 'why' in lost && lost.why).toMatch(/the bot restarted before/);
  expect(takerOrderOutcome({}, { id: ID, state: 'waiting' })).toBeNull();
});

describe('the end of an order that takes', () => {
  const done = (filled: number, ending: string | null) =>
    ({ id: ID, state: 'done', filled, amount: 8, ending }) as unknown as TakerOrderState;

  test.each([
    ['executing', { id: ID, state: 'executing' }, { state: 'executing' }],
    ['unknown', { id: ID, state: 'unknown' }, { state: 'unknown' }],
    [
      'refused',
      { id: ID, state: 'refused', why: 'halted' },
      { state: 'failed', why: 'the order was not sent: halted' },
    ],
    ['canceled', done(0, 'canceled'), { state: 'failed', why: 'nothing was available at the price of the order' }],
    ['ended otherwise', done(0, 'refused'), { state: 'failed', why: 'the order ended: refused' }],
    ['filled', done(8, 'filled'), { state: 'completed', why: null, costMax: 10n ** 18n }],
    [
      'filled in part',
      done(3, 'canceled'),
      {
        state: 'completed',
        why: 'partly filled; nothing more was available at the price of the order',
        costMax: 375n * 10n ** 15n,
      },
    ],
  ] as const)('of an order that is %s is that of its hedge', (_, order, outcome) => {
    expect(takerOrderOutcome({ costMax: '1' }, order)).toEqual(outcome);
  });

  test('costs nothing where no limit was kept', () => {
    expect(takerOrderOutcome({}, done(8, 'filled'))).toMatchObject({ costMax: 0n });
  });

  test('is told by the news of its sending, of its refusal and of its order, and by no other', () => {
    const order = { id: ID, filled: 3, amount: 8, ending: 'canceled' };
    const of = (state: string, kind: string) =>
      takerOrderFromNews({ kind: 'order', news: { kind, order: { ...order, state } } } as unknown as EngineNews);
    expect(takerOrderFromNews({ kind: 'taking', command: { id: ID } } as unknown as EngineNews)).toEqual({
      id: ID,
      state: 'executing',
    });
    expect(takerOrderFromNews({ kind: 'not taken', id: ID, why: 'halted' })).toEqual({
      id: ID,
      state: 'refused',
      why: 'halted',
    });
    expect(takerOrderFromNews({ kind: 'halted', reason: 'x' } as unknown as EngineNews)).toBeNull();
    expect(of('done', 'ended')).toEqual({ ...order, state: 'done' });
    expect(of('done', 'reopened')).toEqual({ id: ID, state: 'executing' });
    expect(of('open', 'ended')).toEqual({ id: ID, state: 'executing' });
    expect(of('unknown', 'unknown')).toEqual({ id: ID, state: 'unknown' });
  });
});

test("a hedger's view has the levels that are filled, the differences of the last read of the balances, and the refusal of now", () => {
  const { toy } = traded();
  const view = viewOf(toy);
  expect(view.refusal).toBeNull();
  expect([view.depth.bids, view.depth.asks]).toEqual([1, 1]);
  expect([...view.depth.bidPrices, ...view.depth.askPrices]).toEqual([990, 1010]);
  expect([...view.depth.bidAmounts, ...view.depth.askAmounts]).toEqual([50, 50]);
  const balance = (currency: string, total: string) => ({ currency, total, locked: '0', available: total });
  const balances = [balance('btc', '1000000013'), balance('mxn', '999990020')];
  toy.step({ kind: 'balances', at: toy.now, startedAt: toy.now - 5, quiet: false, balances });
  expect(hedgeInputsOf(toy.engine, { instrument: plain, takerRate: 7, balancesAt: 3 }, toy.now)).toMatchObject({
    takerRate: 7,
    balances: { at: 3, differences: [{ currency: 'btc', difference: 3n * 10n ** 18n }] },
  });
  // No decision since: the book has become too old.
  const later = hedgeInputsOf(toy.engine, { instrument: plain, takerRate: 0, balancesAt: 0 }, toy.now + 60_000);
  expect(later.refusal).toBe('book stale');
  toy.step({ kind: 'stop', at: toy.now });
  expect(viewOf(toy).refusal).toBe('stopping');
});
