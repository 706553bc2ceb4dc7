/** A whole bot on an exchange whose client has traded only with test doubles: the first orders there have the smallest size. */
import { afterEach, expect, test } from 'vitest';
import { recordedConfig, type Config } from '../../../src/config.ts';
import { moneyOf, type WireRequest } from '../../../src/core/index.ts';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { botStatusMessage } from '../../../src/app/actions/botStatusText.ts';
import { explain } from '../../../src/app/inspect/explain.ts';
import { explanationText } from '../../../src/app/inspect/explainText.ts';
import { hedgesIn } from '../../../src/app/inspect/hedges.ts';
import { readRecording, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { firstRules, replayRun } from '../../../src/live/replay/replay.ts';
import { engineOf } from '../../../src/wiring/bot.ts';
import { accountName } from '../../../src/wiring/elsewhere/access.ts';
import { recordTrial } from '../../../src/app/untried/untried.ts';
import { VENUES } from '../../../src/wiring/venueRegistry.ts';
import type { LogLine } from '../../memoryLog.ts';
import { Trader } from '../../sandbox/trader.ts';
import { advanceUntil, started, worldOf, type Running, type World } from '../world.ts';

let world: World | null = null;
afterEach(() => world?.end());

/** A bot with real orders on both exchanges, of which the second is untried, and has a recorded trial order. */
function untriedWorld(): { readonly at: World; readonly config: Config } {
  const at = worldOf(7, { hedge: { everyMs: 1_000 } }, 'elsewhere');
  world = at;
  const { account } = at.box.second!;
  const there = accountName({ restUrl: 'http://127.0.0.1', key: account.key });
  recordTrial(at.stateDir, { section: 'elsewhere', name: 'binance', account: there }, 'accepted', 0);
  const remote = { kind: 'remote', restUrl: 'http://127.0.0.1', requestTimeoutMs: 5_000, stream: false } as const;
  const { exchange, elsewhere } = at.config;
  return {
    at,
    config: {
      ...at.config,
      exchange: { ...exchange, ...remote },
      elsewhere: { ...elsewhere, ...remote, venue: 'binance', acceptUntried: 'binance' } as Config['elsewhere'],
    },
  };
}

const orderOf = ({ method, body = '' }: WireRequest): number | null =>
  method === 'POST' ? Number(new URLSearchParams(String(body)).get('quantity')) : null;

/** Sells so much that the bot's bids are filled. */
const sell = ({ box }: World): void => {
  const seller = new Trader(box.exchange, box.exchange.openAccount({ balances: { btc: '50', mxn: '0' } }));
  seller.limit('btc_mxn', 'sell', '1480000', '8');
};
const texts = ({ log }: Running): string => log.map(({ text }) => text).join('\n');
const completed = ({ stateDir }: World): number =>
  hedgesIn(stateDir).filter(({ state }) => state === 'completed').length;
/** Sentences about the smallest size in `puntas status`, as text, and in `puntas explain`, which must be the same. */
async function shownSizes({ stateDir, clock }: World): Promise<readonly string[]> {
  const status = await botStatus(stateDir, clock);
  const explanation = explain({ dir: stateDir, at: null });
  const { smallestSizes } = status.run!;
  const lines = botStatusMessage(status, stateDir).split('\n');
  expect(lines.filter(line => line.startsWith('size: '))).toEqual(smallestSizes.map(text => `size: ${text}`));
  expect(explanationText(explanation).split('\n')).toEqual(expect.arrayContaining([...smallestSizes]));
  expect(explanation.smallestSizes).toEqual(smallestSizes);
  return smallestSizes;
}
const count = ({ stateDir }: World): number => hedgesIn(stateDir).at(-1)?.placed?.count ?? 0;

test('hedges have the smallest size until 20 have reconciled, over a restart; then an order covers a whole fill', async () => {
  const { at, config } = untriedWorld();
  const sizes: { readonly size: number; readonly count: number }[] = [];
  const fateThere = (request: WireRequest) => {
    const size = orderOf(request);
    if (size !== null) sizes.push({ size, count: count(at) });
    return 'arrives' as const;
  };
  let run = await started(at, { config, fateThere });
  expect(texts(run)).toContain('hedges at binance have the smallest size until 20 of them have reconciled');
  await at.clock.advance(20_000);
  sell(at);
  await advanceUntil(at.clock, 500, () => count(at) >= 5);
  const before = count(at);
  // The next read of the balances there shows the new count.
  await advanceUntil(at.clock, 500, () => count(at) > before);
  expect(await shownSizes(at)).toEqual([
    expect.stringMatching(/^hedges at binance have the smallest size: ([5-9]|1\d) of 20 have reconciled$/),
  ]);
  await run.stop();
  run = await started(at, { config, fateThere });
  expect(texts(run)).toMatch(/have reconciled with the balances there; so far ([5-9]|1\d) have/);
  const isOver = () => texts(run).includes('20 hedges at binance have reconciled');
  await advanceUntil(at.clock, 5_000, () => {
    sell(at);
    return isOver() && sizes.at(-1)!.count >= 20;
  });
  const { summary } = await run.stop();
  expect(summary.ledgerMatches).toBe(true);
  expect(await shownSizes(at)).toEqual([]);
  const smallest = Math.min(...sizes.map(({ size }) => size));
  const first = sizes.filter(each => each.count < 20).map(({ size }) => size);
  expect(Math.max(...first)).toBeLessThan(1.05 * smallest);
  expect(Math.max(...sizes.map(({ size }) => size))).toBeGreaterThan(2 * smallest);
});

test('hedges do not count if the first comparison of the balances after them differs, also once the difference is gone', async () => {
  const { at, config } = untriedWorld();
  const { venue } = at.box.second!.exchange;
  const there = venue.accounts.get(at.box.second!.account.id)!;
  let orders = 0;
  const fateThere = (request: WireRequest) => {
    if (orderOf(request) !== null && orders++ === 0) venue.deposit(there, 'usdt', moneyOf('50'));
    return 'arrives' as const;
  };
  let run = await started(at, { config, fateThere });
  await at.clock.advance(20_000);
  sell(at);
  await advanceUntil(at.clock, 100, () => orders > 0);
  // A difference that lasts stops the quotes, and with them the hedges.
  await at.clock.advance(30_000);
  const differed = completed(at);
  expect(differed).toBeGreaterThan(0);
  await at.clock.advance(5_000);
  expect(completed(at)).toBe(differed);
  expect(venue.withdraw(there, 'usdt', moneyOf('50'))).toBe(true);
  await at.clock.advance(10_000);
  sell(at);
  await advanceUntil(at.clock, 100, () => completed(at) > differed);
  await run.stop();
  const counted = completed(at) - differed;
  run = await started(at, { config });
  expect(texts(run)).toContain(`so far ${counted} have`);
  await run.stop();
});

test('quotes have the smallest size until 20 fills have reconciled, over a restart, and replays decide the same', async () => {
  const [bitso] = VENUES;
  VENUES[0] = { ...bitso!, tried: 'doubles' };
  try {
    const at = worldOf(7);
    world = at;
    const { box, clock, stateDir } = at;
    const account = accountName({ restUrl: 'http://127.0.0.1/api', key: box.account.key });
    recordTrial(stateDir, { section: 'exchange', name: 'bitso', account }, 'accepted', 0);
    const remote = { kind: 'remote', restUrl: 'http://127.0.0.1', acceptUntried: 'bitso' } as const;
    const config: Config = { ...at.config, exchange: { ...at.config.exchange, ...remote } };
    const amounts = { first: [] as number[], later: [] as number[] };
    let isFirst = true;
    const onArrival = ({ method, target, body = '' }: WireRequest) => {
      if (method !== 'POST' || !/\/orders(\?|$)/.test(target)) return;
      amounts[isFirst ? 'first' : 'later'].push(Number((JSON.parse(String(body)) as { readonly major: string }).major));
    };
    const onLine = ({ text }: LogLine) => (isFirst &&= !text.startsWith('20 fills have reconciled'));
    let run = await started(at, { config, onArrival, onLine });
    expect(texts(run)).toContain(
      'orders have the smallest size until 20 fills have reconciled with the balances; so far 0',
    );
    const fills = () => box.exchange.truth().accounts.get(box.account.id)!.trades.length;
    await advanceUntil(clock, 1_000, () => fills() >= 5);
    expect((await run.stop()).summary.ledgerMatches).toBe(true);
    const before = fills();
    expect(await shownSizes(at)).toEqual([`orders have the smallest size: ${before} of 20 fills have reconciled`]);
    run = await started(at, { config, onArrival, onLine });
    expect(texts(run)).toContain(`so far ${before} have`);
    await advanceUntil(clock, 1_000, () => !isFirst);
    expect(fills()).toBeGreaterThanOrEqual(20);
    await clock.advance(60_000);
    expect((await run.stop()).summary.ledgerMatches).toBe(true);
    expect(await shownSizes(at)).toEqual([]);
    expect(Math.max(...amounts.first)).toBeLessThan(1.05 * Math.min(...amounts.first));
    expect(Math.min(...amounts.later)).toBeGreaterThan(2 * Math.max(...amounts.first));
    for (const { run: number } of recordingsIn(stateDir)) {
      const setup = recordedConfig(readRecording(stateDir, number)!.of.setup);
      const engine = engineOf(setup, firstRules(stateDir, number)!, number);
      expect(replayRun(stateDir, number, engine).difference).toBeNull();
    }
  } finally {
    VENUES[0] = bitso!;
  }
});
