/** Order and search of the rows of the fleet page. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FleetRow } from '../../src/console/index.ts';
import { between } from '../draws.ts';
import { matchesSearch, severityOf, SORT_COLUMNS, sortedRows } from '../../src/console/page/fleet/fleetRows.ts';
import { shortRate } from '../../src/console/page/texts.ts';

const row = (change: Partial<FleetRow> = {}): FleetRow => ({
  ...{
    name: 'a',
    link: 'http://127.0.0.1:1',
    state: 'heard',
    heardAgoMs: 0,
    figuresAgoMs: 0,
    problem: null,
    trouble: null,
    sameAs: null,
  },
  ...{ version: '0.1.0', bot: 'running', money: 'real', book: 'btc_mxn', base: 'btc', quote: 'mxn', instance: 'ana' },
  ...{ strategy: 'ladder', regime: 'normal', why: null, ownProfit: '1', profit: '1', runProfit: '1', inventory: '0' },
  ...{ uptime: 1, fillCount: 0, lastFill: null, alerts: [] },
  ...change,
});
const rows = fc.array(
  fc.record({
    name: fc.stringMatching(/^[a-z]{1,4}$/),
    profit: fc.option(fc.integer().map(String)),
    runProfit: fc.option(fc.integer().map(String)),
    inventory: fc.option(fc.integer().map(String)),
    uptime: fc.option(between(0, 1)),
    regime: fc.option(fc.constantFrom('normal', 'halted')),
    version: fc.option(fc.constantFrom('0.1.0', '0.2.0')),
  }),
);

describe('rows', () => {
  test('sorted by any column are the same rows, unknown values last, and a second sort changes nothing', () => {
    fc.assert(
      fc.property(rows, fc.constantFrom(...SORT_COLUMNS), fc.boolean(), (of, column, isDown) => {
        const all = of.map(row);
        const sorted = sortedRows(all, { column, isDown });
        expect(new Set(sorted)).toEqual(new Set(all));
        expect(sortedRows(sorted, { column, isDown })).toEqual(sorted);
        const unknown = sorted.map(one => column === 'profit' && one.profit === null);
        expect(unknown).toEqual([...unknown].sort());
        const known = sorted.flatMap(({ profit }) => (column === 'profit' && profit !== null ? [Number(profit)] : []));
        expect(known).toEqual([...known].sort((a, b) => (isDown ? b - a : a - b)));
      }),
    );
  });

  test('that differ in one column alone are sorted by this column', () => {
    const more: Readonly<Record<(typeof SORT_COLUMNS)[number], Partial<FleetRow>>> = {
      ...{ name: { name: 'b' }, state: { state: 'silent' }, regime: { regime: 'paused' }, profit: { profit: '2' } },
      ...{ run: { runProfit: '2' }, inventory: { inventory: '2' }, uptime: { uptime: 2 } },
      ...{
        fill: { lastFill: { agoMs: 2 } as FleetRow['lastFill'] },
        alerts: { alerts: [{ level: 'warn', text: 'x' }] },
      },
      version: { version: '0.2.0' },
    };
    const less: Partial<FleetRow> = { lastFill: { agoMs: 1 } as FleetRow['lastFill'] };
    for (const column of SORT_COLUMNS) {
      const changed = column === 'name' || column === 'state' ? more[column] : { name: 'a', ...more[column] };
      const [low, high] = [row({ name: 'a', ...less }), row({ name: 'a', ...less, ...changed })];
      for (const by of SORT_COLUMNS) {
        const isMoved =
          by === column || (by === 'state' && column === 'regime') || (by === 'state' && column === 'alerts');
        const sorted = sortedRows([low, high], { column: by, isDown: true });
        expect([column, by, sorted[0] === high]).toEqual([column, by, isMoved]);
      }
    }
  });

  test('by state begin with what needs attention most', () => {
    const worst = [
      row({ name: 'silent console', state: 'silent' }),
      row({ name: 'silent bot', bot: 'silent' }),
      row({ name: 'halted', regime: 'halted' }),
      row({ name: 'error', alerts: [{ level: 'error', text: 'x' }] }),
      row({ name: 'stopped', bot: 'stopped' }),
      row({ name: 'waiting', state: 'waiting' }),
      row({ name: 'good' }),
    ];
    const severities = worst.map(severityOf);
    expect(severities).toEqual([...severities].sort((a, b) => b - a));
    expect(new Set(severities).size).toBe(worst.length);
    expect(sortedRows([...worst].reverse(), { column: 'state', isDown: true })).toEqual(worst);
  });

  test('are found by every word of a search, in any case and field', () => {
    const one = row({ trouble: 'silent for 40 s: no answer', alerts: [{ level: 'warn', text: 'Paused by ana' }] });
    for (const text of ['', 'BTC', 'mxn ladder', 'silent 40', 'paused', '0.1'])
      expect(matchesSearch(one, text)).toBe(true);
    for (const text of ['eth', 'btc eth']) expect(matchesSearch(one, text)).toBe(false);
  });
});

test('a rate has at most 8 significant digits, those of its exact text, and all digits before the point', () => {
  expect(
    ['18.543981452935590879', '0.0539258520001', '20', '1743210.55123', '1234567890.5', '0.10', '100000000'].map(
      shortRate,
    ),
  ).toEqual(['18.543981', '0.053925852', '20', '1743210.5', '1234567890', '0.1', '100000000']);
  const rate = fc.tuple(fc.nat(10 ** 9), fc.nat(10 ** 9)).map(([whole, part]) => `${whole}.${part}1`);
  fc.assert(
    fc.property(rate, text => {
      const shown = shortRate(text);
      expect(text.startsWith(shown)).toBe(true);
      const [whole = '', fraction = ''] = shown.split('.');
      expect(whole).toBe(text.split('.')[0]);
      const digits = `${whole}${fraction}`.replace(/^0+/, '').length;
      expect(digits).toBeLessThanOrEqual(Math.max(8, whole.length));
    }),
  );
});
