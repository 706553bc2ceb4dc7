import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { digestOf, reloadDigestOf } from '../../../src/app/run/reloading.ts';
import { shadowRuns } from '../../../backtest/app/shadow/shadow.ts';
import type { Config } from '../../../src/config.ts';
import { approvedStrategiesIn } from '../../../src/app/run/approvedStrategy.ts';
import { readRecording, recordingName, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { RequestBox } from '../../../src/live/mailbox/mailbox.ts';
import { strategyFileOf } from '../../../strategies/index.ts';
import { KIND } from '../../../src/tape/index.ts';
import { collectTape } from '../../../src/tape/import/collectTape.ts';
import { stateRecording } from '../../../src/app/tapes/stateRecording.ts';
import { changedOwn, OWN_STRATEGY } from '../../strategies/ownFile.ts';
import { failedStart } from '../crashes.ts';
import { CannotStart } from '../../../src/live/loop/opening.ts';
import { advancing } from '../world.ts';
import { OwnBot } from './ownBot.ts';

/** Values that the strategy file of a test reads and writes outside of itself. */
type Outside = { calls: number; fails: boolean; now: () => number };
const outside = (globalThis as { ownTest?: Outside }).ownTest ?? {
  ...{ calls: 0, fails: false },
  now: () => performance.now(),
};
(globalThis as { ownTest?: Outside }).ownTest = outside;
afterEach(() => void Object.assign(outside, { calls: 0, fails: false }));

/** A strategy with a memory that counts its calls, also those of previews, and moves its quotes with it. */
const COUNTING = changedOwn(
  'const unknown =',
  `const outside = (globalThis as any).ownTest;
      outside.calls += 1;
      if (outside.fails) throw new Error('no luck');
      flow.share = (outside.calls % 5) / 5;
      const unknown =`,
);

describe('a run with a strategy file', () => {
  test('is replayed with the same commands, and no line of the file is run', async () => {
    const bot = await new OwnBot(301, COUNTING).start();
    await bot.world.clock.advance(60_000);
    // A preview in between does not run the file, whose keys and quotes the asking command compares.
    bot.text = bot.text.replace('halfSpreadBps: 16', 'halfSpreadBps: 40');
    expect(await bot.ask(null, true)).toMatchObject({ end: 'nothing to do' });
    bot.text = `${bot.text}log: { level: debug }\n`;
    expect(await bot.ask(null, true)).toMatchObject({ end: 'shown', lines: [expect.stringMatching(/^log\.level: /)] });
    expect(bot.reads).toBe(0);
    await bot.world.clock.advance(20_000);
    expect(bot.orders()).toBeGreaterThan(0);
    await bot.running.stop();
    const { calls } = outside;
    expect(calls).toBeGreaterThan(50);
    outside.fails = true;
    expect(bot.replayed()).toMatch(/^run \d+: \d+ inputs, \d{2,} commands, all commands identical$/m);
    expect(outside.calls).toBe(calls);
    const { of } = readRecording(bot.world.stateDir, recordingsIn(bot.world.stateDir)[0]!.run)!;
    expect((JSON.parse(of.setup) as { strategy: object }).strategy).toMatchObject({ code: COUNTING });
    // The shadow repeats the decisions with the recorded quotes.
    const { clock, stateDir: dir } = bot.world;
    const causes: string[] = [];
    const shadowed = shadowRuns({
      ...{ dir, model: 'expected', clock, once: true, signal: new AbortController().signal },
      onAlarm: ({ cause }) => causes.push(cause),
      onTrouble: line => expect.unreachable(line),
    });
    expect(await advancing(clock, 250, shadowed)).toMatchObject({
      isCaughtUp: true,
      instrument: { symbol: bot.read().config.book },
    });
    expect(causes).not.toContain('decision');
    expect(outside.calls).toBe(calls);
    bot.world.end();
  });

  test('quotes again after an error, when a reload without a change makes the strategy again', async () => {
    const bot = await new OwnBot(302, COUNTING).start();
    expect((await bot.ask()).end).toBe('nothing to do');
    outside.fails = true;
    await bot.world.clock.advance(10_000);
    outside.fails = false;
    await bot.world.clock.advance(10_000);
    expect(bot.orders()).toBe(0);
    const answer = await bot.ask();
    expect(answer.end).toBe('taken');
    expect(answer.lines[0]).toMatch(/^the strategy is made again, because \.\/own\.ts:\d+ failed: no luck;/);
    await bot.world.clock.advance(20_000);
    expect(bot.orders()).toBeGreaterThan(0);
    await bot.running.stop();
    expect(bot.replayed()).not.toContain('DIFFERENT');
    bot.world.end();
  });

  test('does not quote after a call without an end, which the recording has as its quotes', async () => {
    const until = 'const until = outside.now() + 4_000; while (outside.now() < until);';
    const code = COUNTING.replace("throw new Error('no luck');", `{ ${until} }`);
    const bot = await new OwnBot(309, code).start();
    expect(bot.orders()).toBeGreaterThan(0);
    outside.fails = true;
    await bot.world.clock.advance(10_000);
    outside.fails = false;
    await bot.world.clock.advance(10_000);
    expect(bot.orders()).toBe(0);
    const answer = await bot.ask();
    expect([answer.end, answer.lines[0]]).toEqual([
      'taken',
      expect.stringMatching(
        /^the strategy is made again, because \.\/own\.ts failed: quote: expected an end within 2 s/,
      ),
    ]);
    await bot.world.clock.advance(20_000);
    expect(bot.orders()).toBeGreaterThan(0);
    await bot.running.stop();
    expect(bot.replayed()).not.toContain('DIFFERENT');
    bot.world.end();
  });

  test('does not quote after an error at the changes of runs, until a reload', async () => {
    const bot = await new OwnBot(305, COUNTING, { journal: { rollHours: 0.01 } }).start();
    outside.fails = true;
    await bot.world.clock.advance(5_000);
    outside.fails = false;
    const calls = outside.calls;
    await bot.world.clock.advance(120_000);
    const cancel = new RequestBox(bot.world.stateDir, 'cancel', 'cancelAnswer');
    cancel.put({ id: 'all', at: bot.world.clock.now(), by: 'ann', reason: 'a test' });
    await bot.world.clock.advance(20_000);
    expect(cancel.answered()?.end).toBe('gone');
    expect(recordingsIn(bot.world.stateDir).length).toBeGreaterThan(3);
    expect([bot.orders(), outside.calls]).toEqual([0, calls]);
    const answer = await bot.ask();
    expect([answer.end, answer.lines[0]]).toEqual(['taken', expect.stringMatching(/failed: no luck;/)]);
    await bot.world.clock.advance(20_000);
    expect(bot.orders()).toBeGreaterThan(0);
    await bot.running.stop();
    expect(bot.replayed()).not.toContain('DIFFERENT');
    bot.world.end();
  });

  test('does not run a changed file after SIGHUP with money, unless the configuration pins it', async () => {
    const remote = (config: Config) =>
      ({
        ...config,
        exchange: { ...config.exchange, kind: 'remote', restUrl: 'http://127.0.0.1' },
      }) as unknown as Config;
    const bot = await new OwnBot(306, OWN_STRATEGY).start(remote);
    const hangUp = async (): Promise<string> => {
      const { length } = bot.running.log;
      bot.running.hangUp();
      await bot.world.clock.advance(20_000);
      return bot.running.log
        .slice(length)
        .map(({ text }) => text)
        .join('\n');
    };
    bot.code = `${OWN_STRATEGY}// changed\n`;
    const { sha256, name } = strategyFileOf('./own.ts', bot.code);
    const refused = await hangUp();
    expect(refused).toContain(`(${strategyFileOf('./own.ts', OWN_STRATEGY).name} -> ${name}), and no one has approved`);
    expect(refused).toContain(
      'restore the file, or check it and apply it with puntas reload, or with the key strategy.sha256',
    );
    expect(bot.reads).toBe(0);
    bot.text = bot.text.replace('file: ./own.ts', `file: ./own.ts\n  sha256: ${sha256}`);
    expect(await hangUp()).toMatch(/reload: applied: run \d+/);
    // The approved file is now the file of the last run, also if its recordings are gone.
    for (const { run } of recordingsIn(bot.world.stateDir).slice(0, -1))
      rmSync(join(bot.world.stateDir, recordingName(run)));
    expect(approvedStrategiesIn(bot.world.stateDir)).toMatchObject([{ sha256, code: bot.code }]);
    bot.text = bot.text.replace(/\n {2}sha256: .*/, '');
    bot.text = bot.text.replace('halfSpreadBps: 16', 'halfSpreadBps: 40');
    expect(await hangUp()).toMatch(/reload: applied: run \d+/);
    await bot.running.stop();
    bot.world.end();
  });

  test('approves its file when it starts to trade, and not when it could not start', async () => {
    const bot = await new OwnBot(308, OWN_STRATEGY).start();
    await bot.running.stop();
    const { stateDir } = bot.world;
    expect(approvedStrategiesIn(stateDir)).toMatchObject([{ code: OWN_STRATEGY }]);
    bot.code = `${OWN_STRATEGY}// changed\n`;
    const { config } = bot.read();
    // No request reaches the exchange.
    expect(await failedStart(bot.world, stateDir, { config, fate: () => 'not sent' })).toBeInstanceOf(CannotStart);
    expect(recordingsIn(stateDir)).toHaveLength(2);
    expect(approvedStrategiesIn(stateDir)).toMatchObject([{ code: OWN_STRATEGY }]);
    bot.world.end();
  });

  test('runs a changed file after SIGHUP without money, with a warning', async () => {
    const bot = await new OwnBot(307, OWN_STRATEGY).start();
    bot.code = `${OWN_STRATEGY}// changed\n`;
    bot.running.hangUp();
    await bot.world.clock.advance(20_000);
    const texts = bot.running.log.map(({ text }) => text).join('\n');
    expect(texts).toMatch(/the strategy file changed since the last run .*; the changed file is used/);
    expect(texts).toMatch(/reload: applied: run \d+/);
    await bot.running.stop();
    bot.world.end();
  });

  test('gets the trades of its earlier runs and of the time between, quotes at once, and is replayed with them', async () => {
    const code = changedOwn('contract: 1', 'contract: 1, history: () => 120_000').replace(
      'trade: ({ side }) =>',
      'trade: ({ side, at }) => void (globalThis as any).ownTest.heard?.push(at), was: ({ side }: any) =>',
    );
    const heard: number[] = [];
    Object.assign(outside, { heard });
    const bot = await new OwnBot(304, code).start();
    await bot.world.clock.advance(200_000);
    await bot.running.stop();
    const first = [...heard];
    expect(first.length).toBeGreaterThan(20);
    await bot.world.clock.advance(15_000);
    heard.length = 0;
    await bot.start();
    const now = bot.world.clock.now();
    const before = heard.filter(at => at < now - 20_000);
    // All of the first run within the two minutes, and those of the 15 s without a run.
    expect(before.slice(0, 20)).toEqual(first.filter(at => at >= before[0]!).slice(0, 20));
    expect(heard).toEqual([...heard].sort((a, b) => a - b));
    expect(bot.running.log.map(({ text }) => text).join('\n')).toMatch(
      /the strategy got \d+ trades from the recordings and the exchange: the last 120 s, of which it needs 120 s/,
    );
    expect(bot.orders()).toBeGreaterThan(0);
    await bot.running.stop();
    const calls = heard.length;
    expect(bot.replayed()).not.toContain('DIFFERENT');
    expect(bot.replayed().match(/all commands identical/g)?.length).toBe(2);
    expect(heard.length).toBe(calls);
    bot.world.end();
  });

  test('is silent from the loss of the stream until it has the missed trades, each with its time, and is replayed so', async () => {
    const code = changedOwn('contract: 1', 'contract: 1, history: () => 30_000').replace(
      'trade: ({ side }) =>',
      'trade: ({ side, at }) => void (globalThis as any).ownTest.heard?.push(at), was: ({ side }: any) =>',
    );
    const heard: number[] = [];
    Object.assign(outside, { heard });
    const bot = await new OwnBot(305, code).start();
    const { clock, box } = bot.world;
    await clock.advance(40_000);
    expect(bot.orders()).toBeGreaterThan(0);
    bot.line.isCut = true;
    bot.line.cut();
    await clock.advance(2_000);
    const lostAt = clock.now();
    let quoted = 0;
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      quoted += bot.orders();
    }
    expect(quoted).toBe(0);
    bot.line.isCut = false;
    await clock.advance(70_000);
    expect(bot.orders()).toBeGreaterThan(0);
    await bot.running.stop();
    const { history } = [...box.exchange.venue.books.values()].find(
      ({ rules }) => rules.book === bot.read().config.book,
    )!;
    const listed = history.page(10_000, 'asc').map(({ at }) => at);
    // The list has times in whole seconds.
    const from = heard.findIndex(at => at > lostAt);
    const missed = listed.slice(listed.length - (heard.length - from)).filter(at => at < lostAt + 60_000);
    expect(missed.length).toBeGreaterThan(5);
    for (const [i, at] of missed.entries()) expect(Math.abs(heard[from + i]! - at)).toBeLessThan(1_000);
    expect(heard).toEqual([...heard].sort((a, b) => a - b));
    expect(bot.replayed()).not.toContain('DIFFERENT');
    // A tape of the recording has none of them at the time at which they were read.
    const tape = await collectTape(stateRecording(bot.world.stateDir));
    expect(tape.flaws.find(({ what }) => /read after an outage/.test(what))?.count).toBeGreaterThanOrEqual(
      missed.length,
    );
    // They are in a gap of the tape, although books were polled meanwhile.
    const gap = tape.gaps.find(({ from, to }) => from <= lostAt && to >= lostAt + 60_000);
    expect(gap?.why).toMatch(/the stream of trades was down/);
    const { kind, at } = tape.columns;
    const trades = Array.from(kind, (one, row) => [one, at[row]!] as const).filter(([one]) => one === KIND.trade);
    expect(trades.filter(([, time]) => time > lostAt && time < lostAt + 61_000)).toEqual([]);
    bot.world.end();
  });

  test('is reloaded only with the digest of the configuration and its strategy file', async () => {
    const bot = await new OwnBot(303, OWN_STRATEGY).start();
    const { config, text } = bot.read();
    expect((await bot.ask(digestOf(text))).lines[0]).toMatch(/differs from the previewed file/);
    expect((await bot.ask(reloadDigestOf(text, config))).end).toBe('nothing to do');
    await bot.running.stop();
    bot.world.end();
  });
});
