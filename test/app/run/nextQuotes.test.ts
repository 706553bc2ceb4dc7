/** Tests of the quotes that a reload shows: they are those that the next run would place beside foreign orders. */
import { describe, expect, test } from 'vitest';
import { nextPreview } from '../../../src/app/run/nextQuotes.ts';
import { loadConfig } from '../../../src/config.ts';
import type { OrderReport, Side } from '../../../src/core/index.ts';
import { Desk, quoteAround } from '../../core/desk.ts';
import { plain } from '../../core/market.ts';

const CONFIG = `book: btc_mxn
instance: mm
exchange: {kind: embedded}
strategy: {name: ladder, halfSpreadBps: 40, levels: 1, amount: '10'}
limits: {positionMax: '100', orderValueMax: '50000', ordersMax: 12, collarBps: 200, drawdownMax: '100', dayLossMax: '100'}
`;

const foreign = (side: Side, price: string): OrderReport => ({
  book: plain.symbol,
  oid: `of-${side}-${price}`,
  side,
  type: 'limit',
  status: 'open',
  price,
  originalAmount: '5',
  unfilledAmount: '5',
  createdAt: 0,
});

/** Returns the preview beside a running bot whose reads of open orders list these foreign orders. */
function previewBeside(orders: readonly OrderReport[]) {
  const loaded = loadConfig(CONFIG, 'next.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const desk = new Desk({ strategy: quoteAround(2) });
  const step = desk.step.bind(desk);
  desk.step = event => step(event.kind === 'open orders' ? { ...event, orders: [...event.orders, ...orders] } : event);
  desk.open().rounds(3);
  const rules = { instrument: plain, makerRate: 0, takerRate: 0 };
  return nextPreview(loaded.config, rules, desk.engine, desk.now, null);
}

describe('the quotes of the next run', () => {
  test.each<readonly [string, readonly OrderReport[], (string | undefined)[]]>([
    ['no foreign order', [], [undefined, undefined]],
    ['foreign orders that they do not cross', [foreign('sell', '997'), foreign('buy', '1003')], [undefined, undefined]],
    [
      'a foreign ask',
      [foreign('sell', '999'), foreign('sell', '995')],
      ['would cross another order of the account', undefined],
    ],
    [
      'a foreign bid between two ticks',
      [foreign('buy', '1004.5')],
      [undefined, 'would cross another order of the account'],
    ],
  ])('beside %s are those that the gate would approve', (_, orders, expected) => {
    const { levels, unshown } = previewBeside(orders);
    expect([unshown.buy?.reason, unshown.sell?.reason]).toEqual(expected);
    expect(levels.map(({ level }) => level.price).toSorted((a, b) => a - b)).toEqual([996, 1004]);
  });
});
