/** A scout of recordings: the fees of its configuration, and the books and recordings that it leaves out. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scoutRecordings, type FeesAsked } from '../../../../backtest/app/scout/scout.ts';
import { scoutConfig } from '../../../../backtest/app/scout/scoutConfig.ts';
import { loadConfig, type Config } from '../../../../src/config.ts';
import { feesOf } from '../../../../src/sandbox/index.ts';
import { TapeWriter } from '../../../../src/tape/index.ts';
import { readShipped } from '../../../../src/wiring/configFile.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';
import { plantedMarket } from '../../profile/plantedMarket.ts';

const root = mkdtempSync(join(tmpdir(), 'puntas-scout-recordings-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

beforeAll(() => {
  const { columns, rules } = plantedMarket(7, 1, {
    ...{ perMinute: 6, decayPerBps: 0.1, move: 1, moveOfReach: 0.2, volatilityBps: 40 },
  });
  const writer = new TapeWriter({ dir: join(root, 'paying'), rules, source: 'planted', depth: 1 });
  writer.append(columns);
  writer.close();
  mkdirSync(join(root, 'empty'));
});

const scouted = (config: Config, fees: FeesAsked, books: readonly string[] | null = null) =>
  scoutRecordings(
    {
      ...{ config, books, fees, latencyMs: 25, seed: 1, version: 'test', progress: NO_PROGRESS },
      isStopped: () => false,
    },
    [root],
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

  test.each([
    ['backtest', { ...shipped, backtest: { ...shipped.backtest, fees: rebate } }, rebate],
    ['exchange', { ...shipped, exchange: { ...exchange, fees } }, fees],
  ] as const)('is in the %s section of the configuration that a scout writes', async (section, config, written) => {
    const found = await scouted(config, 'config');
    const loaded = loadConfig(scoutConfig(found, config)!, 'written');
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    const { backtest, exchange: place } = loaded.config;
    expect(section === 'backtest' ? backtest.fees : place.kind === 'embedded' && place.fees).toEqual(written);
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
