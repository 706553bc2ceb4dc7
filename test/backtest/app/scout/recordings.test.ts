/** A scout of recordings: the fees of its configuration, and the books and recordings that it leaves out. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { ownFees } from '../../../../backtest/app/backtest/backtest.ts';
import { scoutRecordings, type FeesAsked } from '../../../../backtest/app/scout/scout.ts';
import { scoutConfig } from '../../../../backtest/app/scout/scoutConfig.ts';
import { bpsText, type BookPair } from '../../../../backtest/index.ts';
import { edgeProblem, embeddedFeesOf, loadConfig, marketBooksOf, type Config } from '../../../../src/config.ts';
import { pairOf, signedRateCeil } from '../../../../src/core/index.ts';
import { feesOf } from '../../../../src/sandbox/index.ts';
import { TapeWriter } from '../../../../src/tape/index.ts';
import { readShipped, shippedConfig } from '../../../../src/wiring/configFile.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';
import { runsOf } from '../../../many.ts';
import { plantedMarket } from '../../profile/plantedMarket.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-scout-recordings-'));
/** Recordings in which quoting pays at any fee of the embedded exchange. */
const generous = mkdtempSync(join(tmpdir(), 'puntas-scout-generous-'));
afterAll(() => {
  for (const dir of [root, generous]) rmSync(dir, { recursive: true, force: true });
});

function plant(dir: string, decayPerBps: number): void {
  const { columns, rules } = plantedMarket(7, 1, {
    ...{ perMinute: 6, decayPerBps, move: 1, moveOfReach: 0.2, volatilityBps: 40 },
  });
  const writer = new TapeWriter({ dir, rules, source: 'planted', depth: 1 });
  writer.append(columns);
  writer.close();
}

beforeAll(() => {
  plant(join(root, 'paying'), 0.1);
  plant(join(generous, 'paying'), 0.01);
  mkdirSync(join(root, 'empty'));
});

const scouted = (config: Config, fees: FeesAsked, books: readonly string[] | null = null, dir = root) =>
  scoutRecordings(
    {
      ...{ config, books, fees, latencyMs: 25, seed: 1, version: 'test', progress: NO_PROGRESS },
      isStopped: () => false,
    },
    [dir],
  );

const shipped = readShipped('sandbox');
const { exchange } = shipped;
if (exchange.kind !== 'embedded') throw new Error('the shipped configuration has another exchange');
const rebate = { maker: '-0.0002', taker: '0.0004' };
const fees = { maker: '0.0003', taker: '0.0006' };
const elsewhere = { ...shipped, book: 'eth_mxn' };

describe('the maker fee that a scout of a recording assumes', () => {
  const [entry, best] = [feesOf('mxn').tiers[0]!, feesOf('mxn').tiers.at(-1)!];
  const bps = (rate: string): number => 1e4 * Number(rate);

  test.each<readonly [string, Config, FeesAsked, number]>([
    ['of the tier of the volume', shipped, 'config', bps(best.maker)],
    ['of backtest.fees', { ...shipped, backtest: { ...shipped.backtest, fees: rebate } }, 'config', -2],
    ['of backtest.fees, for every book', { ...elsewhere, backtest: { ...shipped.backtest, fees } }, 'config', 3],
    ['of exchange.fees', { ...shipped, exchange: { ...exchange, fees } }, 'config', 3],
    [
      'of the tier, if exchange.fees are those of another book',
      { ...elsewhere, exchange: { ...exchange, fees } },
      'config',
      bps(best.maker),
    ],
    ['of the tier that --fees names', { ...shipped, exchange: { ...exchange, fees } }, 'entry', bps(entry.maker)],
  ])('is that %s', async (_, config, asked, feeBps) => {
    const { scouting } = await scouted(config, asked);
    expect(scouting.books.map(book => book.feeBps)).toEqual([expect.closeTo(feeBps, 9)]);
  });
});

describe('a scout of several recordings', () => {
  const two = mkdtempSync(join(tmpdir(), 'puntas-scout-two-'));
  afterAll(() => rmSync(two, { recursive: true, force: true }));
  beforeAll(() => {
    plant(join(two, 'one'), 0.1);
    plant(join(two, 'other'), 0.1);
  });

  test('says how they move together, with the keys of the page on JSON', async () => {
    const { together } = (await scouted(shipped, 4, null, two)).scouting;
    // Both recordings are of one market.
    expect(together?.pairs).toHaveLength(1);
    expect(together?.pairs[0]?.correlation?.value).toBeCloseTo(1, 9);
    expect(together?.pairs[0]?.sameSide).toBeGreaterThan(1.9);
    const [, section = ''] = readFileSync('docs/json.md', 'utf8').split('## `puntas scout --json`');
    const told = section.split('\n## ')[0] ?? '';
    const implied: Required<NonNullable<BookPair['implied']>> = {
      ...{ book: '', isSecondShort: true, volatilityBps: null, recordedBps: null },
    };
    for (const key of ['together', ...[together!, together!.pairs[0]!, implied].flatMap(of => Object.keys(of))])
      expect(told).toContain(`\`${key}\``);
  });

  test('says nothing of it for a single recording', async () => {
    const { scouting } = await scouted(shipped, 4);
    expect('together' in scouting).toBe(false);
  });
});

describe('the configuration that a scout writes', () => {
  const loadedRemote = loadConfig(
    stringify({
      ...(parse(readFileSync(shippedConfig('sandbox'), 'utf8')) as object),
      exchange: { kind: 'remote', restUrl: 'https://api.example', budgets: { publicPerMinute: 60 } },
      paper: { volume30d: '100000000' },
    }),
    'remote',
  );
  if (!loadedRemote.ok) throw new Error(loadedRemote.errors.join('\n'));
  const { config: remote } = loadedRemote;
  const withBacktest = (own: { readonly maker: string; readonly taker: string }, config: Config = shipped): Config => ({
    ...config,
    backtest: { ...config.backtest, fees: own },
  });
  const withFees: Config = { ...shipped, exchange: { ...exchange, fees } };
  const cheap = { maker: '0', taker: '0.0001' };

  test.each<readonly [string, Config, FeesAsked, 'exchange' | 'backtest only']>([
    ['the tier of the volume', shipped, 'config', 'exchange'],
    ['another tier', { ...shipped, exchange: { ...exchange, volume30d: '100000000' } }, 'config', 'exchange'],
    ['the tier of the volume of paper runs', remote, 'config', 'exchange'],
    ['the best tier', shipped, 'best', 'exchange'],
    ['the entry tier', withBacktest(fees), 'entry', 'exchange'],
    ['the best tier, whatever backtest.fees are', withBacktest(fees), 'best', 'exchange'],
    ['a fee that is that of a tier', withFees, 10, 'exchange'],
    ['backtest.fees', withBacktest(fees), 'config', 'exchange'],
    ['backtest.fees with a maker fee of zero', withBacktest(cheap), 'config', 'exchange'],
    ['backtest.fees beside a remote exchange', withBacktest(fees, remote), 'config', 'exchange'],
    ['exchange.fees', withFees, 'config', 'exchange'],
    ['a fee between two tiers', shipped, 12.3, 'exchange'],
    ['a fee below all tiers', shipped, 0.5, 'exchange'],
    ['no fee', withFees, 0, 'exchange'],
    ['a rebate in backtest.fees', withBacktest(rebate), 'config', 'backtest only'],
    ['a rebate for takers', withBacktest({ maker: '0.0003', taker: '-0.0001' }), 'config', 'backtest only'],
    ['a rebate by --fees', shipped, -2, 'backtest only'],
  ])('charges the measured fee, or says that only a backtest does: %s', async (_, config, asked, by) => {
    const found = await scouted(config, asked, null, generous);
    const [best] = found.scouting.books;
    const written = scoutConfig(found, config)!;
    const loaded = loadConfig(written.text, 'written');
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    expect(loaded.warnings).toEqual([]);
    const heading = written.text.split('\n').filter(line => line.startsWith('#'));
    expect(heading[1]).toContain(`At a maker fee of ${bpsText(best!.feeBps)} bps,`);
    // Rate of its exchange, and rate of its backtests.
    const { exchange: place, book } = loaded.config;
    if (place.kind !== 'embedded') throw new Error('the exchange of a recording is embedded');
    const { maker } = place.fees ?? feesOf(book.slice(-3)).tiers.find(tier => +place.volume30d <= +tier.volume)!;
    const own = ownFees(loaded.config)?.tiers[0]?.maker ?? maker;
    expect(signedRateCeil(own)).toBe(Math.round(best!.feeBps * 1e4));
    expect(edgeProblem(loaded.config, signedRateCeil(own))).toBeNull();
    if (by === 'exchange') expect([own, written.note, heading.length]).toEqual([maker, null, 3]);
    else expect(heading).toContainEqual(expect.stringMatching(/^# Only puntas backtest uses the fees in/));
    expect(heading.includes(`# ${written.note}`)).toBe(by !== 'exchange');
  });

  test('keeps the live books of the embedded exchange that was measured, with the fees of each', async () => {
    const desk = readShipped('desk-exchange');
    const { exchange: place } = desk;
    if (place.kind !== 'embedded' || place.market.kind !== 'flow')
      throw new Error('the shipped configuration has another exchange');
    const { market: flow } = place;
    const { correlation, arbitrageur } = flow;
    const config: Config = { ...desk, exchange: { ...place, fees } };
    const found = await scouted(config, 12.3, null, generous);
    const live = new Map([...found.found].map(([name, about]) => [name, { ...about, path: null }]));
    for (const traded of ['btc_mxn', 'eth_usd']) {
      const [major, minor] = pairOf(traded);
      const books = found.scouting.books.map(book => ({ ...book, book: traded, major, minor }));
      const written = scoutConfig({ scouting: { ...found.scouting, books }, found: live }, config)!;
      const loaded = loadConfig(written.text, 'written');
      if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
      const { exchange: kept } = loaded.config;
      const before = marketBooksOf(place)!;
      const after = marketBooksOf(kept)!;
      expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
      expect(embeddedFeesOf(kept, traded, traded)).toMatchObject({ maker: '0.00123000' });
      if (traded !== 'btc_mxn') expect(after['btc_mxn']).toEqual({ ...before['btc_mxn'], fees });
      expect(correlation).toBeGreaterThan(0);
      expect(kept).toMatchObject({ market: { correlation, arbitrageur } });
    }
    // An arbitrageur needs three books that form a cycle, which the books of a reference price are not part of here.
    const market = { ...flow, books: { btc_usd: { lagMs: 0 } } };
    const two: Config = { ...config, exchange: { ...place, fees, market } };
    const written = scoutConfig({ scouting: found.scouting, found: live }, two)!;
    const loaded = loadConfig(written.text, 'written');
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    expect(loaded.config.exchange).toMatchObject({ market: { correlation: 0.7 } });
    expect(loaded.config.exchange).not.toHaveProperty('market.arbitrageur');
  });

  test('charges the measured fee in its book and the old ones in other live books, whichever tier was asked for and whatever the volume was', async () => {
    const desk = readShipped('desk-exchange');
    const { exchange: place } = desk;
    if (place.kind !== 'embedded') throw new Error('the shipped configuration has another exchange');
    const found = await scouted(desk, 'best', null, generous);
    const chargedBy = (kept: typeof place, traded: string, book: string): number => {
      const { tiers } = feesOf(pairOf(book)[1]);
      const tier = tiers.find(({ volume }) => Number(kept.volume30d) <= Number(volume)) ?? tiers.at(-1)!;
      return signedRateCeil((embeddedFeesOf(kept, traded, book) ?? tier).maker);
    };
    const any = fc.record({
      book: fc.constantFrom('btc_mxn', 'eth_mxn', 'eth_usd'),
      volume30d: fc.constantFrom('0', '2000000', '45000000', '200000000'),
      own: fc.constantFrom(undefined, fees),
      // A tier by its name or by its fee, and fees between, above and below all tiers.
      ask: fc.constantFrom<FeesAsked[]>('entry', 'best', 'config', 0, 5),
      nth: fc.nat({ max: 30 }),
    });
    fc.assert(
      fc.property(any, ({ book, volume30d, own, ask, nth }) => {
        const [major, minor] = pairOf(book);
        const { tiers } = feesOf(minor);
        const rates = tiers.map(({ maker }) => signedRateCeil(maker));
        const at = { entry: 0, best: tiers.length - 1, config: tiers.findIndex(tier => +volume30d <= +tier.volume) };
        const rate = typeof ask === 'string' ? rates[at[ask]]! : (rates[nth] ?? 100 * nth) + 100 * ask;
        const fee = typeof ask === 'string' ? ask : rate / 1e4;
        const before = { ...place, volume30d, ...(own && { fees: own }) };
        const books = found.scouting.books.map(one => ({ ...one, book, major, minor, feeBps: rate / 1e4 }));
        const live = new Map([...found.found].map(([name, about]) => [name, { ...about, path: null, tiers }]));
        const scouting = { ...found.scouting, fees: String(fee), books };
        const written = scoutConfig({ scouting, found: live }, { ...desk, exchange: before })!;
        const loaded = loadConfig(written.text, 'written');
        if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
        const { exchange: kept } = loaded.config;
        if (kept.kind !== 'embedded') throw new Error('the exchange that was measured is embedded');
        expect(chargedBy(kept, book, book)).toBe(rate);
        if (kept.fees) expect(kept.volume30d).toBe(volume30d);
        for (const other of Object.keys(marketBooksOf(kept)!))
          if (other !== book && (kept.volume30d === volume30d || embeddedFeesOf(before, desk.book, other)))
            expect([other, chargedBy(kept, book, other)]).toEqual([other, chargedBy(before, desk.book, other)]);
      }),
      runsOf(500, 30),
    );
  });

  test.each<readonly [string, number, Config['paper']['fees'], string | null]>([
    ['a fee', 12.3, { maker: '0.00123000', taker: '0.00123000' }, null],
    ['no fee', 0, { maker: '0.00000000', taker: '0.00000000' }, null],
    ['a rebate', -2, { maker: '0', taker: '0' }, 'Paper trading pays no rebate'],
  ])('charges %s of --fees on paper, if the live exchange lists no fees', async (_, asked, paperFees, note) => {
    const found = await scouted(remote, asked, null, generous);
    const unlisted = new Map([...found.found].map(([name, about]) => [name, { ...about, path: null, tiers: [] }]));
    const written = scoutConfig({ ...found, found: unlisted }, remote)!;
    const loaded = loadConfig(written.text, 'written');
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    expect([loaded.warnings, loaded.config.paper.fees]).toEqual([[], paperFees]);
    expect(written.note === null ? null : written.note.includes(note!)).toBe(note === null ? null : true);
  });
});

test('a book without a recording and a recording that cannot be used are left out with a reason, also with --books', async () => {
  const [all, some] = [await scouted(shipped, 4), await scouted(shipped, 4, ['btc_mxn', 'eht_mxn'])];
  expect(all.scouting.leftOut.map(({ what }) => what)).toEqual(['empty']);
  expect(some.scouting.leftOut).toEqual([
    ...all.scouting.leftOut,
    { what: 'eht_mxn', why: 'no recording of this book was found' },
  ]);
});
