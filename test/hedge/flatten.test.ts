/** A person has everything closed: the hedger takes the inventory to its target, for at most what was named in all, whatever the band, and a restart begins nothing anew. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { hedgesIn } from '../../src/app/inspect/hedges.ts';
import { money, moneyOf, textOfMoney } from '../../src/core/index.ts';
import { flattenIn } from '../../src/live/safety/flatten.ts';
import { latchIn } from '../../src/live/safety/latch.ts';
import { doomed, restarted } from '../live/crashes.ts';
import { Folders } from '../live/states.ts';
import { started, type World } from '../live/world.ts';
import { hedgedWorld, held, isAccept } from './hedgedWorld.ts';

const folders = new Folders();
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));
afterAll(() => folders.clear());

/** Nothing would leave by itself. */
function world(seed: number, btc: string, hedge: object = {}, limits: object = {}): World {
  const made = hedgedWorld(seed, { band: '0.09', ...hedge }, btc, { limits });
  made.box.exchange.venue.set({ conversionPaddingPips: 30 });
  worlds.push(made);
  return made;
}

function ask(dir: string, costMax: string, id = 'one'): void {
  latchIn(dir).setReduce({ reason: 'flatten: the week is over', at: 1, by: 'person' });
  flattenIn(dir).set({ id, at: 1, by: 'ana', reason: 'the week is over', costMax: moneyOf(costMax) });
}

const told = (log: readonly { readonly text: string }[]) => log.map(({ text }) => text).join('\n');

describe('a request to close everything', () => {
  test.each([
    ['sold', '1.58'],
    ['bought', '1.42'],
  ])('has inventory within its band %s to the target, says so, is over then, and only closes on', async (_, btc) => {
    const made = world(3, btc);
    const running = await started(made);
    await made.clock.advance(40_000);
    expect(running.arrived.filter(isAccept)).toEqual([]);
    ask(made.stateDir, '2000');
    await made.clock.advance(60_000);
    expect(held(made)).toBe(moneyOf('1.5'));
    expect(running.arrived.filter(isAccept)).toHaveLength(1);
    expect(told(running.log)).toContain('flatten: inventory is at its target');
    expect(flattenIn(made.stateDir).read()).toBeNull();
    expect(readFileSync(join(made.stateDir, 'resumed.jsonl'), 'utf8')).toMatch(/"by":"bot".*flatten: the week is over/);
    expect(latchIn(made.stateDir).readReduce()).not.toBeNull();
    const { summary, left } = await running.stop();
    expect({ left, ledger: summary.ledgerMatches }).toEqual({ left: [], ledger: true });
  });

  test('spends nothing that its bound does not pay for', async () => {
    const made = world(3, '1.58');
    ask(made.stateDir, '0.01');
    const running = await started(made);
    await made.clock.advance(90_000);
    await running.stop();
    expect(running.arrived.filter(isAccept)).toEqual([]);
    expect(told(running.log)).toContain('exceeds the remaining hedge budget (flatten)');
    expect(flattenIn(made.stateDir).read()).not.toBeNull();
  });

  test('spends at most its bound over all of its hedges, over the death of the bot too', async () => {
    // No order takes more than a part of it, at some 40 mxn.
    const made = world(3, '1.58', { venues: ['book'], pauseMs: 1_000 }, { orderValueMax: '20000' });
    const whole = '130';
    const first = await doomed(made, folders);
    ask(made.stateDir, whole);
    for (let n = 0; n < 400 && held(made) === moneyOf('1.58'); n++) await made.clock.advance(250);
    const dir = first.kill();
    const second = await restarted(made, dir);
    await made.clock.advance(240_000);
    const { summary } = await second.stop();
    expect(summary.ledgerMatches).toBe(true);
    const rows = hedgesIn(dir).filter(({ state }) => state === 'completed');
    expect(rows.length).toBeGreaterThan(1);
    const costs = rows.map(({ costMax }) => moneyOf(costMax ?? '0'));
    const sum = costs.reduce((a, b) => a + b, 0n);
    expect(sum <= moneyOf(whole), `${rows.length} hedges: ${rows.map(row => row.costMax).join(' ')}`).toBe(true);
    // What each row says of those before it is what they were, in both lives.
    rows.forEach((row, i) =>
      expect(row.flatten?.cost).toBe(textOfMoney(money(costs.slice(0, i).reduce((a, b) => a + b, 0n)))),
    );
    // It ended because of the bound, not for want of inventory.
    expect(held(made)).toBeGreaterThan(moneyOf('1.5'));
    expect(told(second.log)).toContain('exceeds the remaining hedge budget (flatten)');
  });

  test('is taken back by resume', async () => {
    const made = world(3, '1.58');
    const running = await started(made);
    ask(made.stateDir, '2000');
    latchIn(made.stateDir).lift('changed my mind', 2);
    expect(existsSync(join(made.stateDir, 'FLATTEN'))).toBe(false);
    await made.clock.advance(60_000);
    await running.stop();
    expect(running.arrived.filter(isAccept)).toEqual([]);
  });

  test.each(['', '{', '{"id":"a b","costMax":"5"}', '{"id":"a","costMax":"-5"}', '{"id":"a","costMax":"much"}'])(
    'that cannot be read spends nothing: %s',
    text => {
      const made = world(3, '1.5');
      writeFileSync(join(made.stateDir, 'FLATTEN'), text);
      expect(flattenIn(made.stateDir).read()).toBeNull();
    },
  );
});
