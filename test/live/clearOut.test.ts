/** Taking every order of one instance out of the exchange: what is verified is what the exchange's own list shows whole. */
import { describe, expect, test } from 'vitest';
import { randomOf } from '../../src/core/index.ts';
import { exchangeClient, Secret } from '../../src/exchange/index.ts';
import { cancelAll, clearOut } from '../../src/live/clearOut.ts';
import { Reach } from '../../src/live/reach.ts';
import { arena } from '../sandbox/trader.ts';
import { wireTo } from './inProcess.ts';

describe('clearing out', () => {
  test('verifies nothing while the list of open orders is full of orders of others, and all of it once it is not', async () => {
    const { clock, exchange, ann } = arena();
    // The exchange lists the newest first, and no page after the first.
    const ours = ann.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'mm-1-1' });
    const others = Array.from({ length: 500 }, (_, i) =>
      ann.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: `other-${i}` }),
    );
    const client = exchangeClient({
      clock,
      random: randomOf(1),
      transport: wireTo({ exchange, clock, random: randomOf(2) }),
      credentials: { key: ann.key, secret: new Secret(ann.secret) },
    });
    const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    let isOver = false;
    const reach = new Reach(silent, clock);
    const clearing = clearOut({ exchange: client, clock, reach, book: 'btc_mxn', instance: 'mm' }, () => true);
    void clearing.then(() => (isOver = true));
    await clock.advance(60_000);
    expect([isOver, ann.order(ours)?.['status']]).toEqual([false, 'open']);
    ann.call('DELETE', `/api/v3/orders/${others[0]}`);
    await clock.advance(10_000);
    expect(await clearing).toEqual([]);
    expect(ann.order(ours)?.['status']).toBe('cancelled');
    expect(ann.order(others[1]!)?.['status']).toBe('open');
    await client.close();
  });

  test('takes out as many orders as there are, fifty in a request', async () => {
    const { clock, exchange, ann } = arena();
    const oids = Array.from({ length: 120 }, (_, i) =>
      ann.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: `mm-1-${i}` }),
    );
    const client = exchangeClient({
      clock,
      random: randomOf(1),
      transport: wireTo({ exchange, clock, random: randomOf(2) }),
      credentials: { key: ann.key, secret: new Secret(ann.secret) },
    });
    const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const canceling = cancelAll(
      { exchange: client, reach: new Reach(silent, clock) },
      oids.map((_, i) => `mm-1-${i}`),
    );
    await clock.advance(10_000);
    await canceling;
    expect(oids.filter(oid => ann.order(oid)?.['status'] !== 'cancelled')).toEqual([]);
    await client.close();
  });
});
