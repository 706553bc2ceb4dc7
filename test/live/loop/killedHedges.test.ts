/**
 * A whole bot over two exchanges, killed at each request of a hedge on the second: the next run sends no order again, and in
 * the end the ledger of both exchanges is what they have.
 */
import { afterAll, afterEach, expect, test } from 'vitest';
import { causesFrom, moneyOf, sumOfCauses, textOfMoney, type WireRequest } from '../../../src/core/index.ts';
import { hedgesIn } from '../../../src/app/inspect/hedges.ts';
import { settleHedge } from '../../../src/app/inspect/settleHedge.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { Trader } from '../../sandbox/trader.ts';
import { doomed, failedStart, restarted } from '../crashes.ts';
import type { Fate } from '../inProcess.ts';
import { Folders } from '../states.ts';
import { advanceUntil, worldOf, type World } from '../world.ts';

const folders = new Folders();
const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.end();
});
afterAll(() => folders.clear());

/** Requests of a hedge at the second exchange, in their order. */
const STEPS = {
  book: ({ method, target }: WireRequest) => method === 'GET' && /\/depth\?.*limit/.test(target),
  order: ({ method, target }: WireRequest) => method === 'POST' && /\/order\b/.test(target),
  'look-up': ({ method, target }: WireRequest) => method === 'GET' && /\/order\?/.test(target),
  trades: ({ method, target }: WireRequest) => method === 'GET' && /\/myTrades\?/.test(target),
  balances: ({ method, target }: WireRequest) => method === 'GET' && /\/account\?/.test(target),
} as const;
type Step = keyof typeof STEPS;

const CASES: readonly (readonly [step: Step, fate: Fate])[] = [
  ['order', 'unanswered'],
  ['order', 'lost'],
  ['look-up', 'arrives'],
  ['order', 'arrives'],
  ['order', { heldMs: 4_000 }],
  ['trades', 'lost'],
  ['balances', 'lost'],
  ['book', 'lost'],
];

test.each(CASES)('killed at the request of the %s, which is %j', async (step, fate) => {
  const world = worldOf(7, { strategy: { halfSpreadBps: 3 } }, 'elsewhere');
  worlds.push(world);
  const { box, clock } = world;
  const second = box.second!.exchange;
  let orders = 0;
  let isArmed = false;
  const first = await doomed(world, folders, undefined, {}, request => {
    if (STEPS.order(request)) orders++;
    // Balances are read after the hedge, the book before it.
    const isDue = isArmed && (step === 'balances' ? orders > 0 : true);
    return isDue && STEPS[step](request) ? fate : null;
  });
  await clock.advance(20_000);
  isArmed = true;
  // Another account sells through the bids of the bot.
  const seller = new Trader(box.exchange, box.exchange.openAccount({ balances: { btc: '50', mxn: '0' } }));
  seller.limit('btc_mxn', 'sell', '1480000', '8');
  await advanceUntil(clock, 1_000, () => first.left() !== null);
  const next = await restarted(world, first.left()!);
  const dir = first.left()!;
  await clock.advance(180_000);
  const { summary, failure } = await next.stop();
  expect([failure, summary.halted, summary.ledgerMatches]).toEqual([null, undefined, true]);
  const rows = hedgesIn(dir);
  expect(rows.filter(({ state }) => state === 'completed').length).toBeGreaterThan(0);
  expect(rows.filter(({ state }) => state !== 'completed' && state !== 'failed')).toEqual([]);
  // Every order that left was accepted once: the exchange has no other order of a hedge, and each has one row.
  const there = second.truth().accounts.get(box.second!.account.id)!;
  const ids = new Set(there.trades.map(({ order }) => order.originId));
  expect(new Set(there.trades.map(({ order }) => order.oid)).size).toBe(ids.size);
  expect(ids).toEqual(new Set(rows.flatMap(({ state, offer }) => (state === 'completed' ? [offer!.id] : []))));
  const file = (await ledgerFileIn(dir, clock))!;
  const causes = causesFrom(file.entries);
  const home = box.exchange.truth().accounts.get(box.account.id)!;
  for (const [account, place] of [
    [home, ''],
    [there, '@binance'],
  ] as const)
    for (const [currency, { total }] of account.balances) {
      const row = causes.get(`${currency}${place}`);
      const sum = row === undefined ? moneyOf('0') : sumOfCauses(row);
      expect([currency, place, textOfMoney(sum)]).toEqual([currency, place, textOfMoney(total)]);
    }
});

/** A bot that was killed as its first order there met its fate, and the account that it had there. */
async function killedAtOrder(fate: Fate) {
  const world = worldOf(7, { strategy: { halfSpreadBps: 3 } }, 'elsewhere');
  worlds.push(world);
  const { box, clock } = world;
  const first = await doomed(world, folders, undefined, {}, request => (STEPS.order(request) ? fate : null));
  await clock.advance(20_000);
  const seller = new Trader(box.exchange, box.exchange.openAccount({ balances: { btc: '50', mxn: '0' } }));
  seller.limit('btc_mxn', 'sell', '1480000', '8');
  await advanceUntil(clock, 1_000, () => first.left() !== null);
  const dir = first.left()!;
  const { id } = hedgesIn(dir).at(-1)!;
  // Another account at the same exchange, with the same funds.
  const other = box.second!.exchange.openAccount({ balances: { btc: '1.5', usdt: '120000' } });
  const tradesOf = (account: string) => box.second!.exchange.truth().accounts.get(account)!.trades;
  return { world, clock, dir, id, other, tradesOf };
}

const REFUSED =
  'in the book btc_usdt at binance has no known outcome, but the section elsewhere has another address or API key; restore the former address and key until the hedge has ended';

test('a hedge without a known outcome is looked up with no other key, and never sent again: the next start is refused', async () => {
  const { world, clock, dir, id, other, tradesOf } = await killedAtOrder('unanswered');
  const error = String(await failedStart(world, dir, { accountThere: other }));
  expect(error).toContain(`hedge ${id} ${REFUSED}`);
  expect(tradesOf(other.id)).toEqual([]);
  const next = await restarted(world, dir);
  await clock.advance(180_000);
  const { summary, failure } = await next.stop();
  expect([failure, summary.halted, summary.ledgerMatches]).toEqual([null, undefined, true]);
  expect(hedgesIn(dir).find(row => row.id === id)?.state).toBe('completed');
});

test('with another key, a hedge that was not executed ends by the word of the operator, and inventory is hedged there', async () => {
  const { world, clock, dir, id, other, tradesOf } = await killedAtOrder('lost');
  await settleHedge(dir, { id, as: 'failed', reason: 'not in its history', by: 'ann' }, realClock());
  const tooSoon = String(await failedStart(world, dir, { accountThere: other }));
  expect(tooSoon).toContain(
    `hedge ${id} ${REFUSED}; the outcome stated with puntas hedges settle takes effect at 2026-01-01T00:1`,
  );
  await clock.advance(600_000);
  const next = await restarted(world, dir, { accountThere: other });
  await clock.advance(60_000);
  const { summary, failure } = await next.stop();
  expect([failure, summary.halted, summary.ledgerMatches]).toEqual([null, undefined, true]);
  const why = 'settled as failed by ann: not in its history';
  expect(hedgesIn(dir).find(row => row.id === id)).toMatchObject({ state: 'failed', why });
  expect(new NumberedMailbox(dir, 'settle').waiting()).toEqual([]);
  const said = next.log.map(({ text }) => text).filter(text => text.includes(`hedge ${id}`));
  expect(said).toEqual([`hedge ${id}: ${why}`]);
  expect([tradesOf(world.box.second!.account.id).length, tradesOf(other.id).length > 0]).toEqual([0, true]);
});
