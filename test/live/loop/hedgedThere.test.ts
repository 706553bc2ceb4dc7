/** A whole bot over two exchanges: a fill is hedged on the second at once, both ledgers are exact, and a replay decides the same. */
import { afterEach, expect, test } from 'vitest';
import { recordedConfig } from '../../../src/config.ts';
import type { WireRequest } from '../../../src/core/index.ts';
import { firstRules, replayRun } from '../../../src/live/replay/replay.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { engineOf } from '../../../src/wiring/bot.ts';
import { Trader } from '../../sandbox/trader.ts';
import { started, worldOf, type World } from '../world.ts';

let world: World | null = null;
afterEach(() => world?.end());

test('a fill is hedged there long before the next check, the summary has both accounts, and a replay gives the same commands', async () => {
  const at = worldOf(7, { hedge: { everyMs: 60_000 } }, 'elsewhere');
  world = at;
  const { box, clock } = at;
  const orders: { readonly at: number; readonly request: WireRequest }[] = [];
  const run = await started(at, {
    fateThere: request => {
      if (request.method === 'POST') orders.push({ at: clock.now(), request });
      return 'arrives';
    },
  });
  // The first check of the hedger has passed, and the next is a minute away.
  await clock.advance(20_000);
  const seller = new Trader(box.exchange, box.exchange.openAccount({ balances: { btc: '50', mxn: '0' } }));
  seller.limit('btc_mxn', 'sell', '1480000', '8');
  await clock.advance(15_000);
  const fill = box.exchange.truth().accounts.get(box.account.id)!.trades[0]!;
  expect(orders.length).toBeGreaterThan(0);
  // Private reads are polled here, every few seconds; the hedge follows the read.
  expect(orders[0]!.at - fill.at).toBeLessThan(at.config.timing.privatePollMs + 1_000);
  await clock.advance(10_000);
  const { summary } = await run.stop();
  expect([summary.ledgerMatches, summary.halted]).toEqual([true, undefined]);
  expect(summary.elsewhere).toMatchObject({ place: 'binance', debt: '0', openOrders: 0 });
  const there = box.second!.exchange.truth().accounts.get(box.second!.account.id)!;
  const balances = new Map([...there.balances].map(([currency, { total }]) => [currency, total] as const));
  expect(Number(summary.elsewhere!.funds.base)).toBeCloseTo(Number(balances.get('btc')!) / 1e18, 12);
  const number = recordingsIn(at.stateDir)[0]!.run;
  const setup = recordedConfig(readRecording(at.stateDir, number)!.of.setup);
  const engine = engineOf(setup, firstRules(at.stateDir, number)!, number);
  const { difference, commands } = replayRun(at.stateDir, number, engine);
  expect(difference).toBeNull();
  expect(commands).toBeGreaterThan(0);
});
