/** A bot that is killed at each step of a hedge: the next one finds out, goes on or stops by name, within the same limits. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { hedgesIn } from '../../src/app/inspect/hedges.ts';
import { moneyOf, textOfMoney, type WireRequest } from '../../src/core/index.ts';
import { doomed, restarted } from '../live/crashes.ts';
import { Folders } from '../live/states.ts';
import type { World } from '../live/world.ts';
import { converted, dollars, hedgedWorld, held, isTake } from './hedgedWorld.ts';

const folders = new Folders();
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));
afterAll(() => folders.clear());

const isOfHedge = (request: WireRequest) => request.target.includes('/rfq/v1/') || isTake(request);
const COST_MAX_BPS = 60;

/** Killed at the n-th request that is about a hedge, which meets that fate; then started again. */
async function killedAt(n: number, fate: 'lost' | 'unanswered', hedge: object, prepare: (made: World) => void) {
  const limits = { limits: { orderValueMax: '200000' } };
  const made = hedgedWorld(7, { costMaxBps: COST_MAX_BPS, pauseMs: 600_000, ...hedge }, '1.58', limits);
  worlds.push(made);
  prepare(made);
  let seen = 0;
  let fatal = '';
  const { left } = await doomed(made, folders, request => {
    if (!isOfHedge(request) || ++seen < n) return null;
    fatal = `${request.method} ${request.target}`;
    return fate;
  });
  for (let steps = 0; steps < 120 && left() === null; steps++) await made.clock.advance(250);
  const dir = left();
  if (dir === null) throw new Error(`only ${seen} requests were about a hedge`);
  const second = await restarted(made, dir);
  await made.clock.advance(75_000);
  const { summary, left: orders, failure } = await second.stop();
  expect({ fatal, orders, failure, ledger: summary.ledgerMatches, halted: summary.halted }).toEqual({
    fatal,
    orders: [],
    failure: null,
    ledger: true,
    halted: undefined,
  });
  const rows = hedgesIn(dir);
  // What the exchange has of it, at the middle of the decisions: never dearer than the limit, whatever was carried out in which life.
  const middle = Number(rows.findLast(row => row.middle !== undefined)?.middle);
  const [btc, mxn, usd] = ['btc', 'mxn', 'usd'].map(currency => Number(textOfMoney(held(made, currency))));
  const cost = (1.58 - btc!) * middle - (mxn! - 2_000_000) - usd! * 18.31;
  expect(cost).toBeLessThanOrEqual(0.0801 * middle * (COST_MAX_BPS / 10_000) * 1.1);
  expect(held(made)).toBeGreaterThanOrEqual(moneyOf('1.4999'));
  const last = rows.at(-1);
  if (usd! > 1) expect(['between', 'stranded']).toContain(last?.state);
  return { made, rows, fatal };
}

describe('a bot that is killed over a route', () => {
  test.each([
    [4, 'unanswered'],
    [5, 'lost'],
    [5, 'unanswered'],
    [6, 'unanswered'],
    [7, 'lost'],
    [8, 'lost'],
    [8, 'unanswered'],
  ] as const)(
    'at its request %i, which is %s, finishes it or says where it stopped, and carries no leg out twice',
    async (n, fate) => {
      const { made } = await killedAt(n, fate, { venues: ['rfq'], routes: { via: ['usd'] } }, world =>
        dollars(world, 100),
      );
      // Two legs of one route, or, where the first never was carried out, of the next one.
      expect(converted(made)).toHaveLength(2);
      expect(held(made, 'usd')).toBeLessThan(moneyOf('0.02'));
    },
  );
});

describe('a bot that is killed as it takes the book', () => {
  test.each(['lost', 'unanswered'] as const)(
    'with an order that is %s, sells at most what was to leave',
    async fate => {
      const { rows, fatal } = await killedAt(1, fate, { venues: ['book'] }, () => undefined);
      expect(fatal).toMatch(/POST .*orders/);
      expect(rows[0]?.state).toBe(fate === 'lost' ? 'failed' : 'completed');
    },
  );
});
