/** The table of a fleet for a terminal: each figure in its column, and the sums with all that they lack. */
import { expect, test } from 'vitest';
import { fleetTable } from '../../../src/app/fleet/fleetTable.ts';
import type { BotSummary, SummaryRun } from '../../../src/console/index.ts';
import type { HeardState } from '../../../src/fleet/botWatch.ts';
import { fleetView } from '../../../src/fleet/fleetView.ts';
import { summaryWith } from '../../fleet/doubles.ts';

const profitOf = (total: string, run: string | null) => ({ total, run, since: `opening of ${total}` });
const noPrice = { bid: null, ask: null, bookAgeMs: null };
const listed = (
  name: string,
  run: Partial<SummaryRun>,
  change: Partial<BotSummary> = {},
  heard: Partial<HeardState> = {},
) => ({
  ...{ name, link: '' },
  heard: { state: 'heard', summary: summaryWith(run, change), heardAgoMs: 0, problem: null, ...heard } as const,
});

test('has a row for each bot, then what is wrong, then the sums of each kind of money with their rates, ages and gaps', () => {
  const halts = [{ what: 'halted', reason: 'odd fills', at: 1, by: 'ana', until: null }] as const;
  const last = (agoMs: number) => ({ at: 1, agoMs, side: 'bid', price: '20', amount: '0.1' }) as const;
  const view = fleetView(
    [
      listed('first', {
        ...{ profit: profitOf('100', '5'), inventory: '-0.25', fills: { count: 3, last: last(119_000) } },
      }),
      listed(
        'second',
        {
          ...{ book: 'usd_mxn', base: 'usd', market: { bid: '19', ask: '21', bookAgeMs: 30_000 } },
          ...{ profit: profitOf('-7.5', '2'), inventory: '12.3456789', fills: { count: 3, last: last(7_199_000) } },
          regime: { regime: 'halted', since: 1, why: '' },
        },
        { halts },
      ),
      listed(
        'third',
        {
          ...{ book: 'eth_usd', base: 'eth', quote: 'usd', market: noPrice, money: 'real' },
          ...{ profit: profitOf('3', '1'), inventory: null, fills: { count: 0, last: last(172_800_000) } },
        },
        {},
        { state: 'silent', heardAgoMs: 200_000, problem: 'nothing listens' },
      ),
      listed(
        'fourth',
        {
          ...{ book: 'btc_brl', quote: 'brl', market: noPrice, money: 'paper' },
          ...{ profit: profitOf('9', '4'), inventory: '1', fills: { count: 0, last: null } },
        },
        { bot: { state: 'silent', beatAgoMs: 60_000, writtenAgoMs: 0 } },
      ),
      listed('fifth', { money: 'play', profit: profitOf('0.5', null), inventory: '2' }),
    ],
    'mxn',
    { at: 5, version: '0.1.0' },
  );
  expect(fleetTable(view)).toEqual([
    'bot            state        regime      profit        inventory        last fill',
    'first          running      normal      +100.00 mxn   -0.25 btc        119 s',
    'second         running      halted      -7.50 mxn     12.345678 usd    119 min',
    'third          silent       normal      +3.00 usd                      2 d',
    'fourth         no heartbeat normal      +9.00 brl     1 btc',
    'fifth          running      normal      +0.50 mxn     2 btc            10 s',
    '',
    'second: halted by ana: odd fills',
    'third: silent for 3 min: nothing listens',
    "fourth: no heartbeat for 60 s: the bot's process is down or hangs",
    '',
    'profit, real money, 3 bots: +152.50 mxn',
    'inventory relative to target: -0.25 btc, 12.345678 usd',
    '1 usd = 20 mxn from usd_mxn, 30 s old',
    'the sums include figures of third that are 3 min old',
    'the sums lack the inventory of third',
    '',
    'profit, paper, 1 bot: unknown',
    'inventory relative to target: 1 btc',
    'not in the sum: +9.00 brl of 1 bot, because no book has a rate to mxn',
    'the sums include figures of fourth that are 60 s old',
    '',
    'profit, play money, 1 bot: +0.50 mxn',
    'inventory relative to target: 2 btc',
  ]);
});
