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
import { readConfigText, readTradedConfig, readTradedText } from '../../../src/wiring/configFile.ts';
import { ReloadBox } from '../../../src/live/mailbox/mailbox.ts';
import { inProcessStream } from '../../../src/sandbox/stream/streamInProcess.ts';
import { started, worldOf } from '../../live/world.ts';
import { strategyFileOf } from '../../../strategies/index.ts';
import { changedOwn, folderWith, OWN_STRATEGY, quotingBy } from '../../strategies/ownFile.ts';

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
  const preview = (sha256?: string, runMaxMs = 120_000) => {
    const { config, text } = readConfigText(yaml);
    const ask = { path: yaml, text, stateDir, now: world.clock.now() };
    // Enough time to fill the memory limit on a busy machine.
    const hashes = sha256 === undefined ? strategyHashesIn(config) : [sha256];
    return threadedStrategyPreview({ ...ask, hashes }, runMaxMs);
  };
  write({ takerBps: 9, levels: 1 });
  expect(await preview()).toEqual({
    at: world.clock.now(),
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
  writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}Promise.resolve().then(() => { for (;;); });`);
  expect(JSON.stringify(await preview(undefined, 2_000))).toMatch(/did not end within 2 s; .* also in a promise/);
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
  expect(enough).not.toMatch(/no trades yet|then:/);
  write({ levels: 1 });
  const short = quotesThen();
  expect(short).toMatch(/^ {2}bid 1 +\S+ at \d+ +-$/m);
  expect(short).toMatch(
    /^ {2}then: .*own\.ts needs the trades of 600 s, which are read when a run starts; quotes in at most 600 s/m,
  );
  expect(short).not.toContain('no trades yet');
  // A file without a history has none to give.
  writeFileSync(join(dir, 'own.ts'), OWN_STRATEGY);
  write({});
  await running.stop();
  const other = await started(world, { stream, config: readTradedConfig(yaml) });
  await world.clock.advance(10_000);
  writeFileSync(join(dir, 'own.ts'), code);
  expect(quotesThen()).toMatch(/needs the trades of 20 s, which are read when a run starts; quotes in at most 20 s/);
  await other.stop();
  world.end();
});

test('a reload shows what its preview has shown, also of a history, and says which files are in force after it', async () => {
  const world = worldOf(75, {}, 'sandbox');
  const { stateDir, clock } = world;
  const stream = inProcessStream(world.box.exchange.stream, clock);
  const code = changedOwn('contract: 1', 'contract: 1, history: p => 10_000 * p.takerBps');
  const { dir, yaml } = folderWith(code);
  const tree = parse(readFileSync(yaml, 'utf8')) as { readonly strategy: object };
  const write = (keys: object) =>
    writeFileSync(yaml, stringify({ ...tree, strategy: { ...tree.strategy, ...keys }, state: { dir: stateDir } }));
  write({});
  const given = readTradedConfig(yaml);
  const settled: (readonly string[])[] = [];
  const source = {
    ...{ file: yaml, given, inspect: () => readConfigText(yaml) },
    read: (approve: Parameters<typeof readTradedText>[1]) => readTradedText(yaml, approve),
    settle: (names: readonly string[]) => void settled.push(names),
  };
  const running = await started(world, { stream, config: given, source });
  await clock.advance(60_000);
  const previewed = (): readonly string[] => {
    const { config, text } = readConfigText(yaml);
    const preview = strategyPreview({
      ...{ path: yaml, text, stateDir, now: clock.now(), hashes: strategyHashesIn(config) },
    });
    return 'refused' in preview ? preview.refused : preview.quotes;
  };
  const reloaded = async () => {
    const box = new ReloadBox(stateDir);
    const id = `ask-${settled.length}`;
    box.put({ id, at: clock.now(), by: 'ann', reason: 'a test', digest: null, isPreview: false });
    for (let ms = 0; ms < 200_000; ms += 100) {
      await clock.advance(100);
      const answer = box.answered();
      if (answer?.id === id) return answer;
    }
    throw new Error('no answer');
  };
  const names = (text: string): readonly string[] => [strategyFileOf('own.ts', text).name];
  // The run has the trades of 60 s.
  write({ takerBps: 3, levels: 1 });
  const enough = previewed();
  expect(enough.filter(line => /^ {2}(ask|bid) 1 +\S+ at \d+ +\S+ at \d+$/.test(line))).toHaveLength(2);
  const shown = (await reloaded()).lines;
  // The thread of the preview takes real time, in which the clock of this test goes on: the bot may just not quote.
  expect(shown.filter(line => /^ {2}(ask|bid) 1 .* at \d+$/.test(line))).toHaveLength(2);
  expect(shown.join('\n')).not.toContain('then:');
  await clock.advance(10_000);
  write({ takerBps: 50, levels: 1 });
  const [then] = previewed().filter(line => line.startsWith('  then:'));
  expect(then).toMatch(/own\.ts needs the trades of 500 s, which are read when a run starts; quotes in at most 500 s/);
  expect((await reloaded()).lines).toContain(then);
  writeFileSync(join(dir, 'own.ts'), changedOwn('contract: 1', 'contract: 7'));
  expect((await reloaded()).end).toBe('kept');
  const other = changedOwn('contract: 1', 'contract: 1, warmup: () => 1');
  writeFileSync(join(dir, 'own.ts'), other);
  expect((await reloaded()).end).toBe('taken');
  expect(settled).toEqual([names(code), names(code), names(code), names(other)]);
  await running.stop();
  world.end();
});
