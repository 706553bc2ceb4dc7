import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { moneyOf, type AccountTier } from '../../src/core/index.ts';
import { ALERT_NAMES, METRICS, metrics, showProcess, type Monitored } from '../../src/monitor/index.ts';
import { runsOf } from '../many.ts';
import { calm } from './calm.ts';

const bought = [
  { currency: 'btc', sum: moneyOf('0.004') },
  { currency: 'mxn', sum: moneyOf('6000') },
];
const line = (text: string, start: string): string | undefined => text.split('\n').find(l => l.startsWith(start));

describe('the page', () => {
  test('of several books have a series for each, and what belongs to the account once', async () => {
    const other = { ...calm(), book: 'eth_mxn', spreadBps: 31 };
    const shown = metrics('btc_mxn', '1', calm, () => [other]);
    shown.ofBook('eth_mxn').order('buy', 'placed');
    shown.order('sell', 'placed');
    const text = await shown.text();
    const rowsOf = (name: string) =>
      text.split('\n').filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    expect(rowsOf('puntas_spread_bps')).toEqual([
      'puntas_spread_bps{book="btc_mxn"} 22',
      'puntas_spread_bps{book="eth_mxn"} 31',
    ]);
    expect(rowsOf('puntas_orders_total').filter(row => row.endsWith(' 1'))).toEqual([
      expect.stringMatching(/book="btc_mxn".*side="sell"|side="sell".*book="btc_mxn"/),
      expect.stringMatching(/book="eth_mxn".*side="buy"|side="buy".*book="eth_mxn"/),
    ]);
    for (const line of text.split('\n').filter(each => !each.startsWith('#') && !each.includes('book=')))
      expect(text.split('\n').filter(each => each === line && each !== '').length).toBeLessThanOrEqual(1);
  });

  test('shows the snapshot of the moment of the scrape', async () => {
    let now = calm();
    const shown = metrics('btc_mxn', '1.2.3', () => now);
    const first = await shown.text();
    expect(line(first, 'puntas_quotes_live{book="btc_mxn",side="buy"}')).toMatch(/ 3$/);
    expect(line(first, 'puntas_position{book="btc_mxn",currency="btc"}')).toMatch(/ 1\.5$/);
    expect(line(first, 'puntas_pnl{book="btc_mxn",currency="mxn",part="fees"}')).toMatch(/ -12\.25$/);
    expect(line(first, 'puntas_spread_bps{')).toMatch(/ 22$/);
    expect(line(first, 'puntas_book_age_seconds{')).toMatch(/ 0\.4$/);
    expect(line(first, 'puntas_request_budget_remaining{scope="public"}')).toMatch(/ 40$/);
    expect(line(first, 'puntas_event_loop_delay_seconds{book="btc_mxn",stat="longest"}')).toMatch(/ 0\.0625$/);
    expect(line(first, 'puntas_build_info{version="1.2.3"}')).toMatch(/ 1$/);
    now = { ...now, quotesLive: { buy: 0, sell: 3 }, position: new Map([['btc', moneyOf('2')]]) };
    const second = await shown.text();
    expect(line(second, 'puntas_quotes_live{book="btc_mxn",side="buy"}')).toMatch(/ 0$/);
    expect(line(second, 'puntas_position{book="btc_mxn",currency="btc"}')).toMatch(/ 2$/);
  });

  test.each([
    [0, '0'],
    [560_000, '0.0056'],
    [650_000, '0.0065'],
    [100_000_000, '1'],
  ])('tells a maker fee of %i parts of 10^-8 as the fraction %s', async (makerRate, fraction) => {
    const text = await metrics('btc_mxn', '1', () => ({ ...calm(), fees: { ...calm().fees, makerRate } })).text();
    expect(line(text, 'puntas_maker_fee{book="btc_mxn"}')).toBe(`puntas_maker_fee{book="btc_mxn"} ${fraction}`);
  });

  test('counts events, all series from 0 on', async () => {
    const shown = metrics('btc_mxn', '1', calm);
    expect(line(await shown.text(), 'puntas_orders_total{book="btc_mxn",side="sell",event="unknown"}')).toMatch(/ 0$/);
    shown.order('sell', 'unknown');
    shown.order('sell', 'unknown');
    shown.fill('buy', bought);
    shown.request('POST orders', 'done', 12);
    shown.loop(0.2);
    const text = await shown.text();
    expect(line(text, 'puntas_orders_total{book="btc_mxn",side="sell",event="unknown"}')).toMatch(/ 2$/);
    expect(line(text, 'puntas_orders_total{book="btc_mxn",side="buy",event="unknown"}')).toMatch(/ 0$/);
    expect(line(text, 'puntas_fills_total{book="btc_mxn",side="buy"}')).toMatch(/ 1$/);
    expect(text).toContain('puntas_request_seconds_bucket{le="0.025",endpoint="POST orders",outcome="done"} 1\n');
    expect(text).toContain('puntas_request_seconds_bucket{le="0.01",endpoint="POST orders",outcome="done"} 0\n');
    expect(line(text, 'puntas_loop_seconds_count')).toMatch(/ 1$/);
  });

  test('names the currency of each price, volume and profit in a label', async () => {
    const shown = metrics('btc_mxn', '1', calm);
    shown.fill('buy', bought);
    shown.fill('buy', bought);
    const text = await shown.text();
    expect(line(text, 'puntas_mid{book="btc_mxn",currency="mxn"}')).toMatch(/ 1500005$/);
    expect(line(text, 'puntas_quote_price{book="btc_mxn",currency="mxn",side="sell"}')).toMatch(/ 1501650$/);
    expect(line(text, 'puntas_volume_total{book="btc_mxn",side="buy",currency="btc"}')).toMatch(/ 0\.008$/);
    expect(line(text, 'puntas_volume_total{book="btc_mxn",side="buy",currency="mxn"}')).toMatch(/ 12000$/);
    expect(line(text, 'puntas_volume_total{book="btc_mxn",side="sell",currency="btc"}')).toMatch(/ 0$/);
  });

  test('shows each limit with what is used of it, and takes back what is not known any more', async () => {
    let now = calm();
    const shown = metrics('btc_mxn', '1', () => now);
    const first = await shown.text();
    expect(line(first, 'puntas_limit{book="btc_mxn",limit="drawdownMax",currency="mxn"}')).toMatch(/ 2000$/);
    expect(line(first, 'puntas_limit_used{book="btc_mxn",limit="drawdownMax",currency="mxn"}')).toMatch(/ 150$/);
    expect(line(first, 'puntas_limit_used{book="btc_mxn",limit="ordersMax"}')).toMatch(/ 6$/);
    expect(line(first, 'puntas_sentinel_age_seconds{')).toMatch(/ 1\.5$/);
    expect(line(first, 'puntas_state_free_bytes{')).toMatch(/ 20000000000$/);
    expect(line(first, 'puntas_stopped_cleanly{')).toMatch(/ 0$/);
    now = { ...now, mid: null, quotePrice: { buy: null, sell: null }, isStoppedCleanly: true };
    now = { ...now, limits: { ...now.limits, sentinelAgeMs: null, diskFreeBytes: null } };
    const second = await shown.text();
    for (const name of ['mid', 'quote_price', 'sentinel_age_seconds', 'state_free_bytes'])
      expect(second).not.toContain(`puntas_${name}{`);
    expect(line(second, 'puntas_stopped_cleanly{')).toMatch(/ 1$/);
    now = { ...now, limits: { ...now.limits, sentinelAgeMs: Infinity } };
    expect(line(await shown.text(), 'puntas_sentinel_age_seconds{')).toMatch(/ \+Inf$/);
  });

  test('after any snapshots shows of each gauge and total what a new page shows of the last one; only a reason why nothing is quoted stays, at 0', async () => {
    const base = calm();
    const [tier, elsewhere, inbox, markouts] = [base.fees.tier!, base.elsewhere!, base.disk.inbox!, base.markouts!];
    const one = <T>(...of: readonly T[]) => fc.constantFrom(...of);
    const some = <T>(all: readonly T[]) => fc.subarray([...all]);
    const { fees, limits, disk, ...changes } = {
      quotesLive: one({ buy: 3, sell: 3 }, { buy: 0, sell: 1 }),
      quotePrice: one(base.quotePrice, { buy: null, sell: moneyOf('5') }, { buy: null, sell: null }),
      mid: one(base.mid, null),
      position: one(base.position, null, new Map([['btc', moneyOf('2')]]), new Map([['eth', moneyOf('3')]])),
      pnl: one(base.pnl, null),
      profitSinceOpening: one(base.profitSinceOpening, null),
      profitOfRun: one(base.profitOfRun, null),
      spreadBps: one(22, null),
      marketSpreadBps: one(17.2, null),
      bookAgeMs: one(400, null),
      bookBudget: one(base.bookBudget, null),
      streamUp: one(true, false, null),
      queueAhead: one(base.queueAhead, { buy: null, sell: moneyOf('2') }, { buy: null, sell: null }),
      notQuoting: some(['stale-book', 'position limit', 'paused']),
      decisions: one<Monitored['decisions']>([], [{ side: 'sell', action: 'kept', reason: 'too old', count: 7 }]),
      regime: one<Monitored['regime']>('normal', 'wide', 'halted'),
      figures: some([...base.figures, { name: 'kappa', value: 3, unit: '1/s' }]),
      sources: some([
        ...base.sources,
        { ...base.sources[0]!, name: 'near', basisBps: null, ageMs: null, lagMs: null, basisErrorBps: null },
      ]),
      elsewhere: one(elsewhere, null, { ...elsewhere, driftValue: null }, { ...elsewhere, place: 'near' }),
      markouts: one(
        markouts,
        null,
        { ...markouts, curves: [] },
        { ...markouts, curves: markouts.curves.map(curve => ({ ...curve, bps: [null, 2], errorBps: [3, null] })) },
      ),
      fees: one<AccountTier | null>(tier, null, { ...tier, next: null }, { ...tier, currency: 'usd' }),
      limits: fc.record({
        uses: some(base.limits.uses),
        sentinelAgeMs: one(1_500, null, Infinity),
        diskFreeBytes: one(2e10, null),
      }),
      disk: one(inbox, null, { ...inbox, problem: 'disk full' }),
    };
    const snapshots = fc
      .tuple(fc.record(changes), fees, limits, disk)
      .map(([changed, ofTier, limit, ofInbox]): Monitored => ({
        ...{ ...base, ...changed, limits: limit },
        fees: { makerRate: 1, tier: ofTier },
        disk: { journalWritable: true, inbox: ofInbox },
      }));
    await fc.assert(
      fc.asyncProperty(fc.array(snapshots, { minLength: 2, maxLength: 5 }), async shown => {
        let now = shown[0]!;
        const page = metrics('btc_mxn', '1', () => now);
        let text = '';
        for (now of shown) text = await page.text();
        const isReason = (each: string): boolean => each.startsWith('puntas_not_quoting{');
        const fresh = (await metrics('btc_mxn', '1', () => now).text()).split('\n');
        const seen = new Set(shown.flatMap(({ notQuoting }) => notQuoting));
        const reasons = [...seen].map(
          reason =>
            `puntas_not_quoting{book="btc_mxn",reason="${reason}"} ${now.notQuoting.includes(reason) ? '1' : '0'}`,
        );
        const lines = text.split('\n');
        expect(lines.filter(isReason).sort()).toEqual(reasons.sort());
        expect(lines.filter(each => !isReason(each)).sort()).toEqual(fresh.filter(each => !isReason(each)).sort());
      }),
      runsOf(300, 30),
    );
  });

  test('shows each value of a state in its own series: the page was read once beside the state', async () => {
    const lines = (await metrics('btc_mxn', '1', calm).text()).split('\n');
    const values = lines.filter(each => each.startsWith('puntas_') && !/ 0$/.test(each));
    await expect(`${values.join('\n')}\n`).toMatchFileSnapshot(new URL('page.txt', import.meta.url).pathname);
  });

  test('shows each flag of a state in its own series: one that turns changes no other', async () => {
    const { disk } = calm();
    const changes: Readonly<Record<string, Partial<Monitored>>> = {
      puntas_paper: { isPaper: true },
      puntas_stopped_cleanly: { isStoppedCleanly: true },
      puntas_stream_up: { streamUp: false },
      puntas_journal_writable: { disk: { ...disk, journalWritable: false } },
      puntas_inbox_storing: { disk: { ...disk, inbox: { ...disk.inbox!, problem: 'the disk is full' } } },
    };
    const linesOf = async (changed: Partial<Monitored>) =>
      (await metrics('btc_mxn', '1', () => ({ ...calm(), ...changed })).text()).split('\n');
    const before = await linesOf({});
    for (const [name, changed] of Object.entries(changes)) {
      const different = (await linesOf(changed)).filter(each => !before.includes(each));
      expect(different.map(each => each.split('{')[0])).toEqual([name]);
    }
  });

  test('shows the process by the usual names when asked to', async () => {
    const shown = metrics('btc_mxn', '1', calm);
    showProcess(shown);
    const text = await shown.text();
    for (const name of ['process_start_time_seconds', 'process_resident_memory_bytes', 'process_cpu_seconds_total'])
      expect(Number(line(text, `${name} `)?.split(' ')[1])).toBeGreaterThan(0);
  });

  test('says "no book yet" with an age that every alert fires on, and shows no spread that does not exist', async () => {
    let now = calm();
    const shown = metrics('btc_mxn', '1', () => now);
    await shown.text();
    now = { ...now, bookAgeMs: null, spreadBps: null, marketSpreadBps: null };
    const text = await shown.text();
    expect(line(text, 'puntas_book_age_seconds{')).toMatch(/ \+Inf$/);
    expect(line(text, 'puntas_spread_bps{')).toBeUndefined();
    expect(line(text, 'puntas_market_spread_bps{')).toBeUndefined();
  });

  test('tells whether the stream is there and what stands before our best orders, and nothing of what is not known', async () => {
    let now = calm();
    const page = metrics('btc_mxn', '0.1.0', () => now);
    const first = await page.text();
    expect(line(first, 'puntas_stream_up{book="btc_mxn"}')).toMatch(/ 1$/);
    expect(line(first, 'puntas_strategy_figure{book="btc_mxn",name="gamma",unit="per mxn"}')).toMatch(/ 0.002$/);
    expect(line(first, 'puntas_queue_ahead{book="btc_mxn",side="buy"}')).toMatch(/ 0.25$/);
    expect(first).not.toContain('puntas_queue_ahead{book="btc_mxn",side="sell"}');
    now = { ...calm(), streamUp: false, queueAhead: { buy: null, sell: null } };
    const polled = await page.text();
    expect(line(polled, 'puntas_stream_up{book="btc_mxn"}')).toMatch(/ 0$/);
    expect(polled).not.toContain('puntas_queue_ahead{');
    now = { ...calm(), streamUp: null };
    expect(await page.text()).not.toContain('puntas_stream_up{');
  });

  test('counts what decisions did, the usual ones from 0 on, and never twice', async () => {
    let now = calm();
    const shown = metrics('btc_mxn', '1', () => now);
    const usual = 'puntas_decisions_total{book="btc_mxn",side="buy",decision="kept",reason="queue place"}';
    expect(line(await shown.text(), usual)).toMatch(/ 0$/);
    now = { ...now, decisions: [{ side: 'sell', action: 'not placed', reason: 'position limit', count: 7 }] };
    await shown.text();
    const other = 'puntas_decisions_total{book="btc_mxn",side="sell",decision="not placed",reason="position limit"}';
    expect(line(await shown.text(), other)).toMatch(/ 7$/);
  });

  test('shows the one regime that holds, and how often each was entered', async () => {
    const regimes = { normal: 3, wide: 2, 'reduce only': 0, paused: 4, halted: 0 };
    const text = await metrics('btc_mxn', '1', () => ({ ...calm(), regime: 'wide', regimes })).text();
    expect(line(text, 'puntas_regime{book="btc_mxn",regime="wide"}')).toMatch(/ 1$/);
    expect(line(text, 'puntas_regime{book="btc_mxn",regime="normal"}')).toMatch(/ 0$/);
    expect(line(text, 'puntas_regime_changes_total{book="btc_mxn",regime="paused"}')).toMatch(/ 4$/);
  });

  test('takes back a reason that no longer holds', async () => {
    let now = { ...calm(), notQuoting: ['stale-book'] };
    const shown = metrics('btc_mxn', '1', () => now);
    expect(line(await shown.text(), 'puntas_not_quoting{book="btc_mxn",reason="stale-book"}')).toMatch(/ 1$/);
    now = { ...now, notQuoting: [] };
    expect(line(await shown.text(), 'puntas_not_quoting{book="btc_mxn",reason="stale-book"}')).toMatch(/ 0$/);
  });

  test('stays small whatever is counted: a label takes a bounded number of values', async () => {
    let now = calm();
    const shown = metrics('btc_mxn', '1', () => now);
    for (let i = 0; i < 500; i++) {
      shown.request(`GET order ${i}`, 'done', 1);
      now = { ...now, notQuoting: [`reason ${i}`] };
      await shown.registry.getSingleMetricAsString('puntas_not_quoting');
      await shown.text();
    }
    const text = await shown.text();
    expect(text.split('\n').filter(l => l.startsWith('puntas_request_seconds_count'))).toHaveLength(65);
    expect(text.split('\n').filter(l => l.startsWith('puntas_not_quoting{'))).toHaveLength(65);
    expect(line(text, 'puntas_not_quoting{book="btc_mxn",reason="other"}')).toMatch(/ 1$/);
  });

  test('two bots in one process do not share counters', async () => {
    const one = metrics('btc_mxn', '1', calm);
    const other = metrics('btc_mxn', '1', calm);
    one.fill('buy', bought);
    expect(line(await other.text(), 'puntas_fills_total{book="btc_mxn",side="buy"}')).toMatch(/ 0$/);
  });
});

describe('the alert rules', () => {
  type Rules = { groups: { rules: { alert: string; expr: string }[] }[] };
  const rules = parse(readFileSync(new URL('../../config/prometheus/alerts.yml', import.meta.url), 'utf8')) as Rules;

  const of = new Map(rules.groups.flatMap(group => group.rules.map(({ alert, expr }) => [alert, expr] as const)));

  test('speak only of metrics that exist', () => {
    const names: readonly string[] = METRICS.map(({ name }) => name);
    const used = [...of.values()].flatMap(expr => expr.match(/puntas_[a-z_]+/g) ?? []);
    expect(used.length).toBeGreaterThan(8);
    for (const name of used) expect(names).toContain(name.replace(/_(bucket|count|sum)$/, ''));
  });

  test('are those of the registry by name, each about its metric', () => {
    expect([...of.keys()].sort()).toEqual([...ALERT_NAMES].sort());
    for (const { name, alerts = [] } of METRICS)
      for (const alert of alerts) expect(of.get(alert), alert).toMatch(new RegExp(`\\b${name}(?:_bucket|_count)?\\b`));
  });
});
