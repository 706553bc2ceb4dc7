/** The exchange changes a book under a running bot: its tick, its bounds, its fees, and whether it is there at all. */
import { afterEach, describe, expect, test } from 'vitest';
import { moneyOf, textOfPrice } from '../../../src/core/index.ts';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { recordingsIn } from '../../../src/live/recording/recordings.ts';
import { few } from '../../many.ts';
import type { Fate } from '../inProcess.ts';
import { started, worldOf, type Running, type World } from '../world.ts';

const SECOND = 1_000;
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));

function world(seed: number, changes: Parameters<typeof worldOf>[1] = {}): World {
  const made = worldOf(seed, changes);
  worlds.push(made);
  return made;
}

const account = ({ box }: World) => box.exchange.venue.accounts.get(box.account.id)!;
const prices = (at: World, side: 'buy' | 'sell'): readonly string[] =>
  [...account(at).active.values()].filter(o => o.side === side).map(o => textOfPrice(o.instrument, o.price));
const texts = (running: Running) => running.log.map(({ text }) => text).join('\n');
const isOnTick = (tick: string) => (price: string) => moneyOf(price) % moneyOf(tick) === 0n;
const refusalsOf = (running: Running) => running.log.filter(({ text }) => /was rejected \(04/.test(text)).length;

async function quotesOn(at: World, tick: string, withinS: number): Promise<number> {
  for (let s = 1; s <= withinS; s++) {
    await at.clock.advance(SECOND);
    const sides = [prices(at, 'buy'), prices(at, 'sell')];
    if (sides.every(side => side.length === 3 && side.every(isOnTick(tick)))) return s;
  }
  throw new Error(
    `no quotes on ${tick} within ${withinS} s: ${prices(at, 'buy').join()} and ${prices(at, 'sell').join()}`,
  );
}

describe('a tick that changes under a running bot', () => {
  test.each(['20', '500'])(
    'to %s is taken up by the next run within half a minute, without a halt, and one line says so',
    async tick => {
      const at = world(71, { strategy: { levelSpacingBps: 60, refreshToleranceBps: 0.2 }, limits: { collarBps: 900 } });
      const running = await started(at);
      await quotesOn(at, '10', 20);
      at.box.exchange.venue.changeBook('btc_mxn', { tickSize: tick });
      // The first order that is refused makes it look; what rests may keep its place until the market moves.
      await at.clock.advance(30 * SECOND);
      if (!texts(running).includes('the exchange changed')) await at.clock.advance(300 * SECOND);
      await quotesOn(at, tick, 30);
      expect(texts(running)).toMatch(
        new RegExp(
          `the exchange changed btc_mxn: tick 10 -> ${tick}.*; quotes are canceled, and the next run applies the change`,
        ),
      );
      expect(refusalsOf(running)).toBeLessThanOrEqual(6);
      expect(latchIn(at.stateDir).read()).toBeNull();
      expect(recordingsIn(at.stateDir)).toHaveLength(2);
      const { summary } = await running.stop();
      expect(summary).toMatchObject({ openOrdersLeft: 0, ledgerMatches: true });
      expect(replay(at.stateDir, 'all', () => undefined)).toBe(true);
    },
  );

  test.each(few([71, 72, 73, 74, 75, 76], 2))(
    'leaves the book without quotes for no longer than two reads of the account (seed %i)',
    async seed => {
      for (const tick of ['20', '500']) {
        const at = world(seed, {
          strategy: { levelSpacingBps: 60, refreshToleranceBps: 0.2 },
          limits: { collarBps: 900 },
        });
        const seen = { withdrawn: 0, quoting: 0 };
        const running = await started(at, {
          onLine: ({ text }) => {
            if (text === 'not quoting: rules of the book changed') seen.withdrawn ||= at.clock.now();
            if (text === 'quoting' && seen.withdrawn > 0) seen.quoting ||= at.clock.now();
          },
        });
        await quotesOn(at, '10', 20);
        at.box.exchange.venue.changeBook('btc_mxn', { tickSize: tick });
        for (let s = 0; seen.quoting === 0 && s < 400; s++) await at.clock.advance(SECOND);
        expect(seen.withdrawn).toBeGreaterThan(0);
        expect(seen.quoting - seen.withdrawn).toBeLessThanOrEqual(2 * at.config.timing.privatePollMs);
        expect((await running.stop()).summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0 });
      }
    },
  );

  test('and back again before the next run began is quoted on as before', async () => {
    const at = world(72, { strategy: { refreshToleranceBps: 0.2 } });
    let fate: Fate = 'arrives';
    const running = await started(at, { fate: ({ target }) => (/available_books/.test(target) ? fate : 'arrives') });
    await quotesOn(at, '10', 20);
    at.box.exchange.venue.changeBook('btc_mxn', { tickSize: '100' });
    fate = 'lost';
    await at.clock.advance(40 * SECOND);
    // Not knowing the rules it places nothing, and is not refused twenty times.
    expect(refusalsOf(running)).toBeLessThanOrEqual(6);
    expect(latchIn(at.stateDir).read()).toBeNull();
    at.box.exchange.venue.changeBook('btc_mxn', { tickSize: '10' });
    fate = 'arrives';
    await quotesOn(at, '10', 60);
    expect((await running.stop()).summary.ledgerMatches).toBe(true);
  });
});

describe('other rules', () => {
  test('of amounts and fees are taken up by the run that goes on, and one line says which', async () => {
    const at = world(73);
    const running = await started(at);
    await quotesOn(at, '10', 20);
    const { venue } = at.box.exchange;
    venue.changeBook(
      'btc_mxn',
      { minimumAmount: '0.00100000', maximumValue: '1000000.00' },
      { maker: '0.0004', taker: '0.0009' },
    );
    await at.clock.advance(310 * SECOND);
    expect(texts(running)).toMatch(
      /the exchange changed btc_mxn: smallest amount 0\.0000006 -> 0\.001, largest value 200000000 -> 1000000, maker fee .* -> 0\.0400%, taker fee .* -> 0\.0900%; the change applies immediately/,
    );
    expect(recordingsIn(at.stateDir)).toHaveLength(1);
    // At any one moment a side may just be on its way from one price to the next.
    await quotesOn(at, '10', 30);
    expect(recordingsIn(at.stateDir)).toHaveLength(1);
    expect((await running.stop()).summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0 });
  });

  test('that remove the book are named, nothing is placed, and nothing halts', async () => {
    const at = world(74);
    const running = await started(at);
    await quotesOn(at, '10', 20);
    at.box.stop();
    at.box.exchange.venue.closeBook('btc_mxn');
    await at.clock.advance(320 * SECOND);
    const placed = running.arrived.filter(({ method }) => method === 'POST').length;
    await at.clock.advance(60 * SECOND);
    expect(texts(running)).toMatch(
      /the exchange no longer lists btc_mxn; nothing is quoted until it lists the book again/,
    );
    expect(texts(running)).toMatch(/not quoting: book is not traded any more/);
    expect(running.arrived.filter(({ method }) => method === 'POST')).toHaveLength(placed);
    expect(latchIn(at.stateDir).read()).toBeNull();
    await running.stop();
  });

  test('that are read for a next run apply at once to the run that goes on', async () => {
    // A next run is due after 72 seconds, and cannot start; the run itself reads the fees after five minutes.
    const at = world(75, { journal: { rollHours: 0.02 } });
    const running = await started(at);
    await quotesOn(at, '10', 20);
    // Without fills none shows the other fee.
    at.box.stop();
    at.box.exchange.venue.changeBook('btc_mxn', {}, { maker: '0.006', taker: '0.0078' });
    await at.clock.advance(90 * SECOND);
    expect(texts(running)).toMatch(
      /the next run could not start, so the current run continues: .*maker fees \(together 120 bps\)/,
    );
    expect(texts(running)).toMatch(
      /the exchange changed btc_mxn: maker fee .* -> 0\.6000%.*; the change applies immediately/,
    );
    const [bid, ask] = [Math.max(...prices(at, 'buy').map(Number)), Math.min(...prices(at, 'sell').map(Number))];
    expect(ask / bid - 1).toBeGreaterThan(0.012);
    expect((await running.stop()).summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0 });
  });
});
