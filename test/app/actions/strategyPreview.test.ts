/** Preview of a strategy file before its approval: in a thread, from the recording of the bot, without secrets. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  strategyIdentityChanges,
  strategyPreview,
  threadedStrategyPreview,
} from '../../../src/app/actions/strategyPreview.ts';
import { strategyHashesIn } from '../../../src/config.ts';
import { readConfigText, readTradedConfig } from '../../../src/wiring/configFile.ts';
import { inProcessStream } from '../../../src/sandbox/stream/streamInProcess.ts';
import { started, worldOf } from '../../live/world.ts';
import { strategyFileOf } from '../../../strategies/index.ts';
import { folderWith, OWN_STRATEGY, quotingBy } from '../../strategies/ownFile.ts';

afterEach(() => vi.unstubAllEnvs());

test('a preview compares keys and quotes with the last run, runs only the text of its hash, and sees no secrets', async () => {
  const world = worldOf(73, {}, 'sandbox');
  const { stateDir } = world;
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  const tree = parse(readFileSync(yaml, 'utf8')) as { readonly strategy: object };
  const write = (keys: object) =>
    writeFileSync(yaml, stringify({ ...tree, strategy: { ...tree.strategy, ...keys }, state: { dir: stateDir } }));
  write({});
  const running = await started(world, { config: readTradedConfig(yaml) });
  await world.clock.advance(10_000);
  const preview = (sha256?: string) => {
    const { config, text } = readConfigText(yaml);
    const ask = { path: yaml, text, stateDir, now: world.clock.now() };
    // Enough time to fill the memory limit on a busy machine.
    const hashes = sha256 === undefined ? strategyHashesIn(config) : [sha256];
    return threadedStrategyPreview({ ...ask, hashes }, 120_000);
  };
  write({ takerBps: 9, levels: 1 });
  expect(await preview()).toEqual({
    changes: ['strategy.levels: 2 -> 1', 'strategy.takerBps: 2 -> 9'],
    quotes: [
      expect.stringMatching(/^ +now +then$/),
      expect.stringMatching(/^ {2}ask 2 .* -$/),
      expect.stringMatching(/^ {2}ask 1 +\S+ at \d+ +\S+ at \d+$/),
      expect.stringMatching(/^ {2}bid 1 +\S+ at \d+ +\S+ at \d+$/),
      expect.stringMatching(/^ {2}bid 2 .* -$/),
    ],
  });
  vi.stubEnv('PUNTAS_API_SECRET', 'the secret');
  writeFileSync(join(dir, 'own.ts'), quotingBy("return silent('secret: ' + process.env.PUNTAS_API_SECRET);"));
  expect(JSON.stringify(await preview())).toContain('secret: undefined');
  const marker = join(dir, 'was-run');
  const mark = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(marker)}, '');\n`;
  writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}${mark}`);
  // The change of the file itself is shown without running it.
  const { strategy } = readConfigText(yaml).config;
  expect(strategyIdentityChanges(readConfigText(yaml).config, stateDir)).toEqual([
    `strategy.name: "${strategyFileOf('own.ts', OWN_STRATEGY).name}" -> "${strategy.name}"`,
  ]);
  expect(existsSync(marker)).toBe(false);
  expect(await preview('0'.repeat(64))).toEqual({ refused: ['./own.ts: changed during the preview; try again'] });
  const forged = await preview();
  expect(JSON.stringify(forged)).not.toMatch(/strategy\.(name|sha256)/);
  expect(existsSync(marker)).toBe(true);
  writeFileSync(join(dir, 'own.ts'), quotingBy('let list: any = null; for (;;) list = { list };'));
  expect(JSON.stringify(await preview())).toMatch(/preview of the strategy file failed: .*memory/);
  writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}${mark}`);
  write({ levels: 0 });
  expect(JSON.stringify(await preview())).toContain('strategy.levels: ');
  expect(existsSync(marker)).toBe(true);
  await running.stop();
  world.end();
});

test('a preview gives a strategy with a history the trades of the run, or says that they are not enough', async () => {
  const world = worldOf(74, {}, 'sandbox');
  const { stateDir } = world;
  const stream = inProcessStream(world.box.exchange.stream, world.clock);
  const code = quotingBy(
    "if (flow.share === 0) return silent('no trades yet'); return around(p, lots, view, [...fairSteps(view)]);",
  ).replace('contract: 1', 'contract: 1, history: p => (p.levels === 2 ? 20_000 : 600_000)');
  const { dir, yaml } = folderWith(code);
  const tree = parse(readFileSync(yaml, 'utf8')) as { readonly strategy: object };
  const write = (keys: object) =>
    writeFileSync(yaml, stringify({ ...tree, strategy: { ...tree.strategy, ...keys }, state: { dir: stateDir } }));
  write({});
  const running = await started(world, { stream, config: readTradedConfig(yaml) });
  await world.clock.advance(60_000);
  const quotesThen = (): string => {
    const { config, text } = readConfigText(yaml);
    const ask = { path: yaml, text, stateDir, now: world.clock.now(), hashes: strategyHashesIn(config) };
    const preview = strategyPreview(ask);
    return 'refused' in preview ? preview.refused.join('\n') : preview.quotes.join('\n');
  };
  write({ takerBps: 9 });
  const enough = quotesThen();
  expect(enough).toMatch(/^ {2}bid 2 +\S+ at \d+ +\S+ at \d+$/m);
  expect(enough).not.toMatch(/no trades yet|the preview has/);
  write({ levels: 1 });
  const short = quotesThen();
  expect(short).toMatch(/^ {2}bid 1 +\S+ at \d+ +-$/m);
  expect(short).toMatch(/^ {2}then: .*own\.ts needs the trades of 600 s and has \d{2} s; quotes in \d{3} s/m);
  expect(short).toMatch(/^ {2}the preview has the complete trades of this run only, and cannot show quotes; before/m);
  expect(short).not.toContain('no trades yet');
  // A file without a history has none to give.
  writeFileSync(join(dir, 'own.ts'), OWN_STRATEGY);
  write({});
  await running.stop();
  const other = await started(world, { stream, config: readTradedConfig(yaml) });
  await world.clock.advance(10_000);
  writeFileSync(join(dir, 'own.ts'), code);
  expect(quotesThen()).toMatch(/needs the trades of 20 s and has 0 s; quotes in 20 s(?:.|\n)*the preview has the/);
  await other.stop();
  world.end();
});
