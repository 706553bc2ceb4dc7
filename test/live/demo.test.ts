import { describe, expect, test } from 'vitest';
import { moneyOf } from '../../src/core/index.ts';
import { few, isMany } from '../many.ts';
import { demo } from './demo.ts';
import { sandboxConfig, started, worldOf } from './world.ts';

describe('the default configuration, as a newcomer meets it', () => {
  test('quotes both sides within 20 s, and is filled within a minute on the seed that it ships with, within four on nine of ten seeds', async () => {
    const { exchange } = sandboxConfig();
    const shipped = exchange.kind === 'embedded' ? exchange.seed : 0;
    const others = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].filter(seed => seed !== shipped);
    const demos = [];
    for (const seed of few([shipped, ...others], 2)) demos.push(await demo(seed, 240));
    expect(demos.filter(({ bothSidesAfter }) => !(bothSidesAfter <= 20))).toEqual([]);
    expect(demos[0]?.firstFillAfter).toBeLessThanOrEqual(60);
    expect(demos.filter(({ firstFillAfter }) => firstFillAfter <= 240).length).toBeGreaterThanOrEqual(demos.length - 1);
    for (const { summary, left, failure } of demos) {
      expect({ left, failure, refused: summary.orders.refused, ledger: summary.ledgerMatches }).toEqual({
        left: [],
        failure: null,
        refused: 0,
        ledger: true,
      });
    }
  });

  if (isMany)
    test('is never refused an order in an hour, nor goes beyond its position limit, and ends with an exact ledger', async () => {
      const world = worldOf(1);
      const { clock, box } = world;
      const running = await started(world);
      const { inventory, limits } = sandboxConfig();
      const held = () => box.exchange.venue.accounts.get(box.account.id)!.total('btc');
      let furthest = 0n;
      for (let second = 0; second < 3_600; second++) {
        await clock.advance(1_000);
        const away = held() - moneyOf(inventory.target!);
        if (away > furthest || -away > furthest) furthest = away < 0n ? -away : away;
      }
      const { summary, left, failure } = await running.stop();
      expect({ left, failure, refused: summary.orders.refused, unknown: summary.orders.unknown }).toEqual({
        left: [],
        failure: null,
        refused: 0,
        unknown: 0,
      });
      expect(summary.ledgerMatches).toBe(true);
      // 27 on this seed since a start reads the balances twice, which moves every later request; more than 30 before.
      expect(summary.fills).toBeGreaterThan(20);
      expect(furthest > 0n && furthest <= moneyOf(limits.positionMax)).toBe(true);
      world.end();
    });
});
