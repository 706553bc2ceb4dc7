import { expect, test } from 'vitest';
import { randomOf, Secret } from '../../../src/core/index.ts';
import { exchangeClient } from '../../../src/exchange/index.ts';
import { cancelAllAndVerify } from '../../../src/live/safety/cancelAllAndVerify.ts';
import { ConnectivityLog } from '../../../src/live/connectivityLog.ts';
import { memoryLog } from '../../memoryLog.ts';
import { arena } from '../../sandbox/trader.ts';
import { wireTo } from '../inProcess.ts';

test('cancels the orders of the bot in every book, and no order of another bot', async () => {
  const { clock, exchange, ann } = arena();
  const client = exchangeClient({
    clock,
    random: randomOf(1),
    transport: wireTo({ exchange, clock, random: randomOf(2) }),
    credentials: { key: ann.key, secret: new Secret(ann.secret) },
  });
  const own = [
    ann.limit('btc_mxn', 'buy', '1000000', '0.001', { origin_id: 'mm-1-1' }),
    ann.limit('eth_mxn', 'buy', '10000', '0.01', { origin_id: 'mm-1-2' }),
  ];
  const other = ann.limit('eth_mxn', 'buy', '10000', '0.01', { origin_id: 'other-1' });
  const done = cancelAllAndVerify(
    {
      ...{ exchange: client, clock, connectivity: new ConnectivityLog(memoryLog().log, clock) },
      ...{ book: 'btc_mxn', others: ['eth_mxn'], instance: 'mm' },
    },
    () => true,
  );
  await clock.advance(10_000);
  expect(await done).toEqual([]);
  expect([...own, other].map(oid => ann.order(oid)?.['status'])).toEqual(['cancelled', 'cancelled', 'open']);
  await client.close();
});
