/** Keys of paper fees that the followed exchange makes useless: each in one line of the log, over real sockets. */
import { afterEach, expect, test } from 'vitest';
import { amount, price } from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { createSecondExchange, createVenue, serve } from '../../src/sandbox/index.ts';
import { openPaper } from '../../src/wiring/paper.ts';
import { paperConfig } from '../live/paperWorld.ts';
import { memoryLog } from '../memoryLog.ts';
import { CALM } from '../sandbox/trader.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const OPENS = {
  bitso: () => createVenue({ clock: realClock(), switches: CALM }),
  binance: () => createSecondExchange({ clock: realClock() }),
};

const FEES = { maker: '0.001', taker: '0.001' };
const UNUSED_FEES = 'paper.fees has no effect, because the followed exchange lists its own fees; remove this key';
const UNUSED_VOLUME =
  'paper.volume30d has no effect, because the followed exchange lists no fee tiers; remove this key';

test.each([
  ['bitso', 'btc_mxn', { volume30d: '5' }, []],
  ['bitso', 'btc_mxn', { volume30d: '5', fees: FEES }, [UNUSED_FEES]],
  ['binance', 'btc_usdt', { volume30d: '0', fees: FEES }, []],
  ['binance', 'btc_usdt', { volume30d: '5', fees: FEES }, [UNUSED_VOLUME]],
] as const)('on %s in %s, of %j', async (venue, book, paper, lines) => {
  const exchange = OPENS[venue]();
  const served = await serve(exchange, { host: '127.0.0.1', port: 0 });
  closing.push(() => served.close());
  const place = exchange.marketplace(book);
  place.place('sell', price(4_000_000), amount(1_000), 'GTC');
  place.place('buy', price(3_999_000), amount(1_000), 'GTC');
  const config = paperConfig(
    { ...paper, balances: { btc: '1', mxn: '1000000', usdt: '100000' } },
    { book, exchange: { kind: 'remote', venue, restUrl: served.url, stream: false } },
  );
  const { log, texts } = memoryLog();
  const opened = await openPaper(config, realClock(), {
    ...{ log, seed: 1, isReadOnly: true },
    onBroken: () => undefined,
  });
  closing.push(() => opened.stop());
  expect(texts().filter(text => text.includes('paper.'))).toEqual(lines);
});
