import { expect, test } from 'vitest';
import { VirtualClock } from '../../src/core/ports/virtualClock.ts';
import { cachedPage, metrics } from '../../src/monitor/index.ts';
import { calm } from './calm.ts';

function pageOf(quotes: () => number) {
  const clock = new VirtualClock();
  let renderings = 0;
  const shown = metrics('btc_mxn', '1', () => {
    renderings++;
    return { ...calm(), quotesLive: { buy: quotes(), sell: 0 } };
  });
  const page = cachedPage(shown.text, () => clock.elapsed());
  const bids = async () => Number(/^puntas_quotes_live\{.*side="buy"\} (\d+)$/m.exec(await page.text())![1]);
  return { clock, page, bids, renderings: () => renderings };
}

test('two hundred scrapes a second, many at once, render the page once a second', async () => {
  const { clock, page, renderings } = pageOf(() => 3);
  for (let i = 0; i < 500; i++) {
    await Promise.all([page.text(), page.text()]);
    await clock.advance(10);
  }
  expect(renderings()).toBe(5);
});

test('what is served is at most a second old, also after nobody has asked for long', async () => {
  let quotes = 1;
  const { clock, bids } = pageOf(() => quotes);
  expect(await bids()).toBe(1);
  quotes = 2;
  await clock.advance(999);
  expect(await bids()).toBe(1);
  await clock.advance(1);
  expect(await bids()).toBe(2);
  quotes = 3;
  await clock.advance(3_600_000);
  expect(await bids()).toBe(3);
});

test('what must be seen at once is, when the page is forgotten', async () => {
  let quotes = 1;
  const { page, bids } = pageOf(() => quotes);
  expect(await bids()).toBe(1);
  quotes = 0;
  page.forget();
  expect(await bids()).toBe(0);
});

test('a rendering that failed is not kept', async () => {
  let isBroken = true;
  const { bids } = pageOf(() => {
    if (isBroken) throw new Error('no snapshot');
    return 2;
  });
  await expect(bids()).rejects.toThrow('no snapshot');
  isBroken = false;
  expect(await bids()).toBe(2);
});
