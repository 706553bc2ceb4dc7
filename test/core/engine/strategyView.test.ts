import { expect, test } from 'vitest';
import { amount, price, type SeenTrade, type View } from '../../../src/core/index.ts';
import { ToyExchange } from '../toyExchange.ts';

/** A toy exchange whose strategy writes down what it hears and sees. */
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
  return { toy: new ToyExchange({ strategy }).open().round(), heard, views };
}

test('a strategy hears each whole public trade, and not the last one of some', () => {
  const { toy, heard, views } = listening();
  toy.step({ kind: 'public trade', at: toy.now, price: price(1_001) });
  toy.step({ kind: 'public trade', at: toy.now, price: price(1_002), amount: amount(7), side: 'sell' });
  expect(heard).toEqual([{ at: toy.now, price: 1_002, amount: 7, side: 'sell' }]);
  toy.step({ kind: 'timer', at: (toy.now += 10) });
  expect(views.at(-1)).toMatchObject({ lastTrade: 1_002 });
});

test('a strategy knows that it hears every trade while the driver keeps the book itself, and not while books are polled', () => {
  const { toy, views } = listening();
  for (const showsOwn of [false, true]) {
    toy.showsOwn = showsOwn;
    toy.round();
    expect(views.at(-1)).toMatchObject({ hearsTrades: !showsOwn });
  }
});

test('a strategy sees the last price from elsewhere with its time, and null before there was one', () => {
  const { toy, views } = listening();
  toy.step({ kind: 'timer', at: (toy.now += 10) });
  expect(views.at(-1)).toMatchObject({ reference: null });
  toy.step({ kind: 'reference', at: toy.now, startedAt: toy.now - 3, price: 999.5 });
  toy.step({ kind: 'timer', at: (toy.now += 10) });
  expect(views.at(-1)).toMatchObject({ reference: { at: toy.now - 13, price: 999.5 } });
});

test('a price from elsewhere that was asked for before the process stood still is not shown again', () => {
  const { toy, views } = listening();
  toy.step({ kind: 'reference', at: toy.now, startedAt: toy.now, price: 999.5 });
  toy.step({ kind: 'slept', at: (toy.now += 10) });
  toy.step({ kind: 'reference', at: toy.now, startedAt: toy.now - 1, price: 999.5 });
  toy.round();
  expect(views.at(-1)).toMatchObject({ reference: null });
  toy.step({ kind: 'reference', at: toy.now, startedAt: toy.now, price: 1_000.5 });
  toy.round();
  expect(views.at(-1)).toMatchObject({ reference: { price: 1_000.5 } });
});

test('what a strategy computed with is in the snapshot, from its last quote', () => {
  const figures = [{ name: 'gamma', value: 2, unit: 'per mxn' }];
  const toy = new ToyExchange({ strategy: { quote: () => ({ bids: [], asks: [], figures }) } });
  expect(toy.engine.book.snapshot(toy.now).figures).toEqual([]);
  toy.open().round();
  expect(toy.engine.book.snapshot(toy.now).figures).toBe(figures);
});
