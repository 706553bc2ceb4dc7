/** Sources of the reference price on the other exchange, over real sockets: `elsewhere.stream` decides whether they stream. */
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadConfig } from '../../src/config.ts';
import { amount, price } from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { createSecondExchange, serve } from '../../src/sandbox/index.ts';
import { livePricesOf, type SourceAccess } from '../../src/wiring/feeds.ts';

const SANDBOX = parse(readFileSync(new URL('../../config/sandbox.yaml', import.meta.url), 'utf8')) as object;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise(resolve => setTimeout(resolve, 20));
};

/** The traded exchange, from which no source reads. */
const refused = () => Promise.reject(new Error('expected no read of the traded exchange'));
const NONE: SourceAccess['exchange'] = { availableBooks: refused, orderBook: refused };

/** Returns the number of connections to the address of the stream until the source has a price. */
async function connectionsWith(stream: boolean, hasAccess: boolean): Promise<number> {
  const exchange = createSecondExchange({ clock: realClock() });
  const place = exchange.marketplace('btc_usdt');
  place.place('sell', price(4_000_000), amount(1_000), 'GTC');
  place.place('buy', price(3_999_000), amount(1_000), 'GTC');
  const served = await serve(exchange, { host: '127.0.0.1', port: 0 });
  let connections = 0;
  const streamed = createServer(socket => {
    connections += 1;
    socket.on('error', () => undefined).destroy();
  });
  await new Promise<void>(resolve => streamed.listen(0, '127.0.0.1', resolve));
  const streamUrl = `ws://127.0.0.1:${(streamed.address() as AddressInfo).port}`;
  closing.push(
    () => served.close(),
    () => streamed.close(),
  );
  const elsewhere = { kind: 'remote', venue: 'binance', book: 'btc_usdt', restUrl: served.url, streamUrl, stream };
  const source = { name: 'far', books: [{ book: 'btc_usdt', as: 'btc_mxn', from: 'elsewhere' }] };
  const loaded = loadConfig(stringify({ ...SANDBOX, elsewhere, reference: { sources: [source] } }), 'my.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const access: SourceAccess = { exchange: NONE, ...(hasAccess && { elsewhere: { ...elsewhere, streamUrl } }) };
  const [feed] = livePricesOf(loaded.config, access, realClock(), 1)!();
  let isPriced = false;
  feed!.source.start(news => (isPriced ||= news.kind === 'book'));
  closing.push(() => feed!.source.close());
  await until(() => isPriced && (!stream || connections > 0));
  return connections;
}

test.each([true, false])(
  'a source from elsewhere is only polled with stream: false, with access from the bot: %s',
  async hasAccess => {
    expect(await connectionsWith(false, hasAccess)).toBe(0);
    expect(await connectionsWith(true, hasAccess)).toBeGreaterThan(0);
  },
);
