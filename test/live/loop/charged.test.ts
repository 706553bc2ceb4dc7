/** Fills that were charged at another fee than the bot's: the fees are read at once, and not again and again in vain. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { moneyOf, differentChargedRate, textOfMoney, type Money } from '../../../src/core/index.ts';
import { few } from '../../many.ts';
import { started, worldOf, type World } from '../world.ts';

const SECOND = 1_000;
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));

describe('a fee that changes under a running bot', () => {
  test.each(few([92, 93, 94], 2))('is read within three seconds of the first fill at it (seed %i)', async seed => {
    const world = worldOf(seed);
    worlds.push(world);
    const readsAt: number[] = [];
    const running = await started(world, {
      onArrival: ({ target }) => void (target.includes('/v3/fees') && readsAt.push(world.clock.now())),
    });
    await world.clock.advance(10 * SECOND);
    world.box.exchange.venue.changeBook('btc_mxn', {}, { maker: '0.0044', taker: '0.0066' });
    const told = () => running.log.filter(({ text }) => /was charged 0\.4400 % instead of/.test(text));
    const before = readsAt.length;
    let waited = 0;
    for (; told().length === 0 && waited < 280; waited++) await world.clock.advance(SECOND);
    expect(told().length, `no fill within ${waited} s`).toBe(1);
    await world.clock.advance(3 * SECOND);
    expect(readsAt.length).toBe(before + 1);
    expect(running.log.filter(({ text }) => /maker fee .* -> 0\.4400 %/.test(text))).toHaveLength(1);
    // The fills from before the change that are listed late ask for nothing more.
    await world.clock.advance(60 * SECOND);
    expect(readsAt.length).toBeLessThanOrEqual(before + 2);
    expect((await running.stop()).summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0 });
  });
});

describe('the rate that a trade was charged at', () => {
  const pair = { major: 'btc', minor: 'mxn' };
  const sides = fc.record({
    lots: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    rate: fc.integer({ min: 0, max: 5_000_000 }),
    inMajor: fc.boolean(),
    maker: fc.boolean(),
  });
  /** A fee at a rate, rounded half up to the eighth decimal. */
  const tradeOf = ({
    lots,
    rate,
    inMajor,
    maker,
  }: {
    lots: bigint;
    rate: number;
    inMajor: boolean;
    maker: boolean;
  }) => {
    const major = textOfMoney((lots * 10n ** 10n) as Money);
    const minor = textOfMoney((lots * 10n ** 10n * 1_500_000n) as Money);
    const base = moneyOf(inMajor ? major : minor) as bigint;
    const fee = ((base * BigInt(rate)) / 10n ** 8n + 5n * 10n ** 9n) / 10n ** 10n;
    const feeAmount = textOfMoney((fee * 10n ** 10n) as Money);
    return { major, minor, feeAmount, feeCurrency: inMajor ? 'btc' : 'mxn', maker };
  };

  test('is no other one where it is the expected one, however it was rounded', () => {
    fc.assert(
      fc.property(sides, of => {
        const rates = of.maker ? { makerRate: of.rate, takerRate: 1 } : { makerRate: 1, takerRate: of.rate };
        expect(differentChargedRate(tradeOf(of), pair, rates)).toBeNull();
      }),
    );
  });

  test('is found where it is another by a tenth, on every fill that is large enough to show it', () => {
    fc.assert(
      fc.property(sides, of => {
        const base = moneyOf(of.inMajor ? tradeOf(of).major : tradeOf(of).minor) as bigint;
        fc.pre(of.rate >= 10_000 && (base * BigInt(of.rate)) / 10n ** 9n > 10n ** 12n);
        const expected = Math.round(of.rate * 1.1);
        const found = differentChargedRate(tradeOf(of), pair, { makerRate: expected, takerRate: expected });
        expect(found).not.toBeNull();
        expect(Math.abs(found! - of.rate)).toBeLessThanOrEqual(of.rate / 100 + 2);
      }),
    );
  });

  test('is none where the fee is in a third currency', () => {
    const trade = { major: '1', minor: '1500000', feeAmount: '5', feeCurrency: 'usd', maker: true };
    expect(differentChargedRate(trade, pair, { makerRate: 1, takerRate: 1 })).toBeNull();
  });
});
