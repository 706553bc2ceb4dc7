import { describe, expect, test } from 'vitest';
import type { Amount, EngineNews, Price } from '../../src/core/index.ts';
import { takerOrderOutcome, takerOrderFromNews, type TakerOrderState } from '../../src/hedge/takerOrderOutcome.ts';
import { hedgeViewOf } from '../../src/hedge/view.ts';
import { Desk, quoteAround } from '../core/desk.ts';
import { plain } from '../core/market.ts';

const ID = 'mm-7-t1';

/** Long by ten lots, with quotes two ticks from the middle; the last that is told of the order that takes. */
function traded() {
  let told: TakerOrderState | null = null;
  const onNews = (news: EngineNews) => {
    const order = takerOrderFromNews(news);
    if (order?.id === ID) told = order;
  };
  const desk = new Desk({ strategy: quoteAround(2), onNews }).open();
  desk.rounds(2);
  desk.fill(desk.live.find(({ side }) => side === 'buy')!.id, 10);
  desk.rounds(2);
  const take = (price: number, amount: number) =>
    desk.step({
      ...{ kind: 'take', at: desk.now, id: ID, side: 'sell', until: desk.now + 5_000 },
      price: price as Price,
      amount: amount as Amount,
    });
  return { desk, take, told: () => told };
}
const viewOf = (desk: Desk) =>
  hedgeViewOf(desk.engine, { instrument: plain, takerRate: 0, balancesAt: desk.now }, desk.now);

test("a hedger's view stays what it was, whatever the engine takes afterwards", () => {
  const { desk } = traded();
  const view = viewOf(desk);
  const before = structuredClone(view);
  desk.bids = [[900, 7]];
  desk.asks = [[1100, 7]];
  desk.rounds(3);
  desk.fill(desk.live.find(({ side }) => side === 'sell')!.id, 10);
  desk.rounds(3);
  expect(viewOf(desk)).not.toEqual(before);
  expect(view).toEqual(before);
});

describe('what the engine tells of an order that takes', () => {
  test('ends its hedge with the share of its cost that traded', () => {
    const { desk, take, told } = traded();
    take(990, 10);
    desk.rounds(3);
    expect(takerOrderOutcome({ costMax: '8' }, told())).toMatchObject({
      state: 'completed',
      why: null,
      costMax: 8n * 10n ** 18n,
    });
  });

  test('fails its hedge when it is not sent', () => {
    const { desk, take, told } = traded();
    take(800, 10);
    desk.rounds(3);
    expect(takerOrderOutcome({ costMax: '8' }, told())).toEqual({
      state: 'failed',
      why: 'the order was not sent: price outside the collar',
    });
  });

  test('goes on with its hedge when the exchange shows the order again after its end', () => {
    const { desk, take, told } = traded();
    desk.fateOfPlace = () => 'done untold';
    take(990, 10);
    const order = desk.truth.get(ID)!;
    const shown = (isLive: boolean) => desk.report({ ...order, isLive, filled: 0 });
    const outcome = { kind: 'done', value: [shown(false)] } as const;
    desk.step({ kind: 'looked up', at: desk.now, startedAt: desk.now, ids: [ID], outcome });
    expect(told()).toMatchObject({ state: 'done', filled: 0 });
    const at = desk.now + 1;
    desk.step({ kind: 'open orders', at, startedAt: at, complete: false, orders: [shown(true)] });
    expect(takerOrderOutcome({ costMax: '8' }, told())).toEqual({ state: 'executing' });
  });

  test('leaves its hedge unknown while nothing tells whether it arrived', () => {
    const { desk, take, told } = traded();
    desk.fateOfPlace = () => 'lost';
    take(990, 10);
    expect(takerOrderOutcome({ costMax: '8' }, told())).toEqual({ state: 'unknown' });
  });
});

test('an order of which nothing is told since the start had its end before it; one that waits is waited for', () => {
  const lost = takerOrderOutcome({}, null);
  expect(lost?.state).toBe('completed');
  expect(lost && 'why' in lost && lost.why).toMatch(/a restart came before/);
  expect(takerOrderOutcome({}, { id: ID, state: 'waiting' })).toBeNull();
});
