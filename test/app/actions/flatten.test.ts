/** To close everything is asked for with a sum, shown with its cost first, and refused where there is no hedger. */
import { mkdirSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { costOfFlatten, flatten } from '../../../src/app/actions/flatten.ts';
import { replayedMoment } from '../../../src/app/inspect/explain.ts';
import { moneyOf } from '../../../src/core/index.ts';
import { flattenIn } from '../../../src/live/safety/flatten.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { hedgedWorld, held } from '../../hedge/hedgedWorld.ts';
import { Folders } from '../../live/states.ts';
import { started, worldOf, type World } from '../../live/world.ts';
import { runsOf } from '../../many.ts';

const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));

const hedged = (): World => {
  const made = hedgedWorld(3, { band: '0.09', venues: ['rfq', 'book'] });
  worlds.push(made);
  return made;
};

const ask = (costMax = '900') =>
  ({ id: 'one', action: 'flatten', reason: 'end of the week', by: 'ana', via: 'command', costMax }) as const;
const botOf = ({ stateDir }: World) => ({ configFile: undefined, stateDir });

describe('a flatten', () => {
  test('is shown with what is beyond the target and what closing all of it would cost by the book, whatever its rules, and changes nothing then', async () => {
    const made = hedged();
    const running = await started(made);
    await made.clock.advance(20_000);
    const { lines } = await previewAction(botOf(made), ask(), made.clock);
    const text = lines.join('\n');
    expect(text).toContain('inventory is 0.08 btc above its target');
    const [, cost, bps] =
      /hedging all inventory through the book would now cost about ([\d.]+) mxn \(([\d.]+) bps\)/.exec(text)!;
    // Half a spread and the fee of a taker, of 0.08 btc at some 1.5 million.
    expect(Number(cost)).toBeCloseTo((0.08 * 1_500_000 * Number(bps)) / 10_000, -1);
    expect(Number(bps)).toBeGreaterThan(10);
    expect(text).toContain('costs at most 100 bps (hedge.costMaxBps)');
    expect(flattenIn(made.stateDir).read()).toBeNull();
    // All inventory will be closed, whichever part of it the hedger would close, or leave, by itself.
    const moment = replayedMoment({ dir: made.stateDir, at: null });
    const rules = fc.record({
      band: fc.constantFrom('0.01', '0.05', '0.08', '0.5'),
      residual: fc.constantFrom('0', '0.001', '0.009'),
      carryBpsPerHour: fc.constantFrom(0, 1, 100),
      unwindMs: fc.constantFrom(1_000, 600_000),
      costDayMax: fc.constantFrom(undefined, '0.01', '1000'),
    });
    const costWith = (hedge: object) =>
      costOfFlatten({ ...moment, setup: { ...moment.setup, hedge: { ...moment.setup.hedge!, ...hedge } } }, at)[1];
    const at = moment.seen.at!;
    const told = costWith({});
    expect(told).toMatch(/^hedging all inventory through the book would now cost about/);
    fc.assert(
      fc.property(rules, hedge => {
        expect(costWith(hedge)).toBe(told);
      }),
    );
    // Without the book among the venues, its price is not what the hedges would cost.
    const elsewhere = costOfFlatten(
      { ...moment, setup: { ...moment.setup, hedge: { ...moment.setup.hedge!, venues: ['elsewhere'] } } },
      at,
    ).join('\n');
    expect(elsewhere).toContain('prices of the hedge routes (elsewhere) are read only at execution');
    expect(elsewhere).not.toContain('through the book');
    await running.stop();
  });

  test('is carried out, and the journal has who, why and the sum', async () => {
    const made = hedged();
    const running = await started(made);
    await made.clock.advance(20_000);
    expect((await executeAction(botOf(made), ask(), made.clock)).end).toBe('done');
    await made.clock.advance(120_000);
    expect(held(made)).toBe(moneyOf('1.5'));
    const entry = { action: 'flatten', by: 'ana', reason: 'end of the week', costMax: '900', end: 'done' };
    expect(actionsIn(made.stateDir)).toMatchObject([entry]);
    expect(latchIn(made.stateDir).readReduce()?.reason).toBe('flatten: end of the week');
    await running.stop();
  });

  test.each(['', '0', '0.00', '-5', '1e3', '12 mxn', 'NaN'])(
    'for %j is refused before anything is written',
    async sum => {
      const made = hedged();
      const running = await started(made);
      await expect(executeAction(botOf(made), ask(sum), made.clock)).rejects.toThrow('--max-cost: expected');
      expect(flattenIn(made.stateDir).read()).toBeNull();
      expect(latchIn(made.stateDir).readReduce()).toBeNull();
      await running.stop();
    },
  );

  test('with another maximum cost replaces the earlier one, and the same again does not', async () => {
    const made = hedged();
    const running = await started(made);
    const asked = () => flattenIn(made.stateDir).read();
    await executeAction(botOf(made), { ...ask('900'), id: 'first' }, made.clock);
    await executeAction(botOf(made), { ...ask('900'), id: 'again' }, made.clock);
    expect(asked()).toMatchObject({ id: 'first', costMax: moneyOf('900') });
    await executeAction(botOf(made), { ...ask('500'), id: 'other' }, made.clock);
    expect(asked()).toMatchObject({ id: 'other', costMax: moneyOf('500') });
    await running.stop();
  });

  test('is refused where inventory leaves by quotes alone', async () => {
    const made = worldOf(3, {});
    worlds.push(made);
    const running = await started(made);
    // A bot that runs has the configuration that it started with, whatever its file says now.
    for (const configFile of [undefined, shippedConfig('hedged')]) {
      const { end, lines } = await executeAction({ ...botOf(made), configFile }, ask(), made.clock);
      expect([end, lines.join()]).toEqual(['refused', expect.stringContaining('no hedge section')]);
    }
    expect(latchIn(made.stateDir).readReduce()).toBeNull();
    await running.stop();
  });

  test('continues the request in force if who, why and sum are the same, and otherwise replaces it and names it', () => {
    const folders = new Folders();
    const asks = fc.record({
      by: fc.constantFrom('ana', 'luz'),
      reason: fc.constantFrom('end of the week', 'odd fills'),
      costMax: fc.constantFrom('900', '500'),
      isHalted: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(asks, { minLength: 1, maxLength: 6 }), all => {
        const dir = folders.fresh();
        mkdirSync(dir, { mode: 0o700 });
        const bot = { stateDir: dir, configFile: shippedConfig('hedged') };
        let before: {
          readonly id: string;
          readonly by: string;
          readonly reason: string;
          readonly costMax: string;
        } | null = null;
        for (const [n, { isHalted, ...asked }] of all.entries()) {
          if (isHalted) latchIn(dir).set({ reason: 'a loss', at: n, by: 'bot' });
          else if (latchIn(dir).read() !== null) {
            // A resume cancels the request too.
            latchIn(dir).lift('looked at it', n);
            before = null;
          }
          const own = { ...ask(), ...asked, id: `n-${n}` };
          const text = flatten(bot, own, n).join('\n');
          const { by, reason, costMax } = asked;
          const isSame: boolean = before?.by === by && before.reason === reason && before.costMax === costMax;
          const replaced = /replaces the earlier flatten \((.*)\), whose costs/.exec(text)?.[1];
          expect(replaced).toBe(isSame ? undefined : before?.reason);
          expect(text.includes('this flatten was already requested')).toBe(isSame);
          expect(text.includes('trading is halted: Puntas hedges nothing')).toBe(isHalted);
          expect(text).toContain(
            `after its next start, the hedger closes all inventory, at a total cost of at most ${costMax} `,
          );
          if (!isSame) before = own;
          expect(flattenIn(dir).read()).toMatchObject({ id: before!.id, by, reason, costMax: moneyOf(costMax) });
          // The reason of the reduce-only state that was in force before stays.
          expect(latchIn(dir).readReduce()?.reason).toMatch(/^flatten: /);
        }
      }),
      runsOf(60, 15),
    );
    folders.clear();
  });
});
