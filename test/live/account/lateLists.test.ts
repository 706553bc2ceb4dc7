/** Withdrawals and deposits whose line in the exchange's lists comes late, or before the balance: the bot waits a stated time, and lifts what it did by itself. */
import { afterEach, describe, expect, test } from 'vitest';
import { money, moneyOf, textOfMoney } from '../../../src/core/index.ts';
import type { Switches } from '../../../src/sandbox/index.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { started, worldOf, type Running, type World } from '../world.ts';
import { few } from '../../many.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));

function world(seed: number, switches: Partial<Switches>, transferListDelayMaxMs = 10 * MINUTE): World {
  const made = worldOf(seed, { inventory: { target: undefined }, timing: { transferListDelayMaxMs } });
  made.box.exchange.venue.set(switches);
  worlds.push(made);
  return made;
}

const account = ({ box }: World) => box.exchange.venue.accounts.get(box.account.id)!;
const live = (at: World) => account(at).active.size;
const texts = (running: Running) => running.log.map(({ text }) => text).join('\n');

/** As an operator of the exchange, or the web page of its owner, withdraws. */
function withdraw(at: World, sum: string, fails = false): void {
  const details = {
    network: 'ARBITRUM',
    asset: 'mxn',
    sum: moneyOf(sum),
    from: '0xf',
    to: '0xt',
    hash: '0xh',
  } as const;
  const failure = fails ? { reason: 'no such address', code: 'transaction_failed' } : null;
  const { transactions } = at.box.exchange;
  expect(
    transactions.start(account(at), { kind: 'CRYPTO_WITHDRAWAL', ...details }, { failure, refund: null }, null),
  ).not.toBeNull();
}

async function booked(at: World) {
  const row = (await ledgerFileIn(at.stateDir, realClock()))?.causes.get('mxn');
  if (!row) throw new Error('nothing is booked');
  const sum = Object.values(row).reduce((all, each) => all + each, 0n);
  expect(textOfMoney(money(sum))).toBe(textOfMoney(account(at).total('mxn')));
  return Object.fromEntries(Object.entries(row).map(([cause, each]) => [cause, textOfMoney(each)]));
}

describe('a withdrawal', () => {
  const lists = [
    ['at creation', 3 * MINUTE],
    ['at completion', 0],
    ['at completion', 3 * MINUTE],
    ['at creation', 0],
  ] as const;
  test.each(few(lists, 2))(
    'that leaves the total %s and is listed %i ms later halts nothing: quotes are away at most until the list shows it, and it is booked',
    async (withdrawalTotal, transferListDelayMs) => {
      const at = world(61, { withdrawalTotal, transferListDelayMs, transactionStepMs: 20_000 });
      const running = await started(at);
      await at.clock.advance(30 * SECOND);
      withdraw(at, '5000.25');
      await at.clock.advance(20 * SECOND);
      if (withdrawalTotal === 'at creation' && transferListDelayMs > 0) {
        expect(live(at)).toBe(0);
        expect(texts(running)).toMatch(
          /differ from the bot's ledger by -5000\.25 mxn \(balance minus ledger\); quoting is paused\. .* trading halts if .* within 5\d\d s \(timing\.transferListDelayMaxMs\)/,
        );
      } else expect(live(at)).toBeGreaterThan(0);
      await at.clock.advance(4 * MINUTE);
      expect(latchIn(at.stateDir).read()).toBeNull();
      expect(live(at)).toBeGreaterThan(0);
      const { summary } = await running.stop();
      expect({ matches: summary.ledgerMatches, halted: summary.halted, refused: summary.orders.refused }).toEqual({
        ...{ matches: true, halted: undefined, refused: 0 },
      });
      expect(await booked(at)).toMatchObject({ withdrawals: '-5000.25', refunds: '0', adjustments: '0' });
      expect(replay(at.stateDir, 'all', () => undefined)).toBe(true);
    },
  );

  test('that fails and comes back is two bookings that add up to nothing', async () => {
    const at = world(62, { transferListDelayMs: 40_000, transactionStepMs: 30_000 });
    const running = await started(at);
    await at.clock.advance(30 * SECOND);
    withdraw(at, '700', true);
    await at.clock.advance(3 * MINUTE);
    expect(live(at)).toBeGreaterThan(0);
    expect((await running.stop()).summary).toMatchObject({ ledgerMatches: true });
    expect(await booked(at)).toMatchObject({ withdrawals: '-700', refunds: '700' });
  });

  test('that no list ever shows halts after the stated time, and not before', async () => {
    const at = world(63, { transferListDelayMs: 86_400_000 }, 2 * MINUTE);
    const running = await started(at);
    await at.clock.advance(30 * SECOND);
    withdraw(at, '31.5');
    await at.clock.advance(110 * SECOND);
    expect([live(at), latchIn(at.stateDir).read()]).toEqual([0, null]);
    await at.clock.advance(35 * SECOND);
    expect(latchIn(at.stateDir).read()?.reason).toMatch(/differ from our ledger by -31\.5 mxn/);
    await running.stop();
  });

  test('that is listed while another is not yet lets each have its own time', async () => {
    const at = world(64, { transferListDelayMs: 90_000 }, 2 * MINUTE);
    const running = await started(at);
    await at.clock.advance(30 * SECOND);
    for (let i = 0; i < 4; i++) {
      withdraw(at, `${i + 1}00`);
      await at.clock.advance(80 * SECOND);
    }
    await at.clock.advance(2 * MINUTE);
    expect(texts(running)).not.toMatch(/halted/);
    expect((await running.stop()).summary).toMatchObject({ ledgerMatches: true });
    expect(await booked(at)).toMatchObject({ withdrawals: '-1000', adjustments: '0' });
  });
});

describe('what moved before the first start and is listed after it', () => {
  test('is in the opening and is not booked again when something else differs', async () => {
    const at = world(65, { transferListDelayMs: 60_000 });
    withdraw(at, '900');
    const running = await started(at);
    await at.clock.advance(30 * SECOND);
    at.box.exchange.venue.set({ transferListDelayMs: 0 });
    // From here on the lists are looked at because something differs; what is early there is none of it.
    await at.clock.advance(11 * MINUTE);
    withdraw(at, '40');
    await at.clock.advance(30 * SECOND);
    expect(live(at)).toBeGreaterThan(0);
    expect((await running.stop()).summary).toMatchObject({ ledgerMatches: true });
    expect(await booked(at)).toMatchObject({ withdrawals: '-40', adjustments: '0' });
  });
});
