import { expect, test } from 'vitest';
import { amount, price, type SeenTrade, type View } from '../../../src/core/index.ts';
import { Desk } from '../desk.ts';

/** A desk whose strategy writes down what it hears and sees. */
function listening() {
  const heard: SeenTrade[] = [];
  const views: Pick<View, 'hearsTrades' | 'reference' | 'lastTrade'>[] = [];
  const strategy = {
    quote: ({ hearsTrades, reference, lastTrade }: View) => {
      views.push({ hearsTrades, reference, lastTrade });
      return { bids: [], asks: [] };
    },
    trade: (trade: SeenTrade) => void heard.push(trade),
  };
  return { desk: new Desk({ strategy }).open().round(), heard, views };
}

test('a strategy hears each whole public trade, and not the last one of some', () => {
  const { desk, heard, views } = listening();
  desk.step({ kind: 'public trade', at: desk.now, price: price(1_001) });
  desk.step({ kind: 'public trade', at: desk.now, price: price(1_002), amount: amount(7), side: 'sell' });
  expect(heard).toEqual([{ at: desk.now, price: 1_002, amount: 7, side: 'sell' }]);
  desk.step({ kind: 'timer', at: (desk.now += 10) });
  expect(views.at(-1)).toMatchObject({ lastTrade: 1_002 });
});

test('a strategy knows that it hears every trade while the driver keeps the book itself, and not while books are polled', () => {
  const { desk, views } = listening();
  for (const showsOwn of [false, true]) {
    desk.showsOwn = showsOwn;
    desk.round();
    expect(views.at(-1)).toMatchObject({ hearsTrades: !showsOwn });
  }
});

test('a strategy sees the last price from elsewhere with its time, and null before there was one', () => {
  const { desk, views } = listening();
  desk.step({ kind: 'timer', at: (desk.now += 10) });
  expect(views.at(-1)).toMatchObject({ reference: null });
  desk.step({ kind: 'reference', at: desk.now, startedAt: desk.now - 3, price: 999.5 });
  desk.step({ kind: 'timer', at: (desk.now += 10) });
  expect(views.at(-1)).toMatchObject({ reference: { at: desk.now - 13, price: 999.5 } });
});

test('a price from elsewhere that was asked for before the process stood still is not shown again', () => {
  const { desk, views } = listening();
  desk.step({ kind: 'reference', at: desk.now, startedAt: desk.now, price: 999.5 });
  desk.step({ kind: 'slept', at: (desk.now += 10) });
  desk.step({ kind: 'reference', at: desk.now, startedAt: desk.now - 1, price: 999.5 });
  desk.round();
  expect(views.at(-1)).toMatchObject({ reference: null });
  desk.step({ kind: 'reference', at: desk.now, startedAt: desk.now, price: 1_000.5 });
  desk.round();
  expect(views.at(-1)).toMatchObject({ reference: { price: 1_000.5 } });
});

test('what a strategy computed with is in the snapshot, from its last quote', () => {
  const figures = [{ name: 'gamma', value: 2, unit: 'per mxn' }];
  const desk = new Desk({ strategy: { quote: () => ({ bids: [], asks: [], figures }) } });
  expect(desk.engine.book.snapshot(desk.now).figures).toEqual([]);
  desk.open().round();
  expect(desk.engine.book.snapshot(desk.now).figures).toBe(figures);
});
