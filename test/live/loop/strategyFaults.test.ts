/** A strategy file with a fault of each kind: its sentence in `check-strategy` and in the bot, and what the running bot then does with its orders. */
import { afterEach, expect, test } from 'vitest';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { botStatusText } from '../../../src/app/actions/botStatusText.ts';
import { consoleView } from '../../../src/app/console/consoleView.ts';
import { LiveRun } from '../../../src/app/console/liveRun.ts';
import { strategyVerdicts } from '../../../src/app/develop/strategyCheck.ts';
import { explain } from '../../../src/app/inspect/explain.ts';
import { explanationText } from '../../../src/app/inspect/explainText.ts';
import { watchedLine, watchedRows } from '../../../src/app/watch/watchStatus.ts';
import { summaryOfView } from '../../../src/console/summary.ts';
import { summaryIn } from '../../../src/fleet/botAnswer.ts';
import { fleetView } from '../../../src/fleet/index.ts';
import { describe } from '../../../src/messages/summary.ts';
import { strategyFileOf } from '../../../strategies/index.ts';
import { changedOwn, OWN_STRATEGY, quotingBy } from '../../strategies/ownFile.ts';
import type { World } from '../world.ts';
import { OwnBot } from './ownBot.ts';

/** Switch of the fault, and a clock, outside of the strategy file, which has none. */
const outside = { isFaulty: false, now: () => performance.now() };
(globalThis as { ownFault?: typeof outside }).ownFault = outside;
afterEach(() => void (outside.isFaulty = false));

/** The strategy with a fault that begins while its bot runs. */
const faulty = (fault: string): string =>
  quotingBy(`if ((globalThis as any).ownFault?.isFaulty) { ${fault} } return around(p, lots, view, fairSteps(view));`);

/** Sentences of the check about a file that is faulty from the start. */
function sentencesOn(code: string): readonly string[] {
  outside.isFaulty = true;
  try {
    return strategyVerdicts(strategyFileOf('./own.ts', code), null).flatMap(({ law, violation }) =>
      violation === null ? [] : [`${law}: ${violation}`],
    );
  } catch (error) {
    return [(error as Error).message];
  } finally {
    outside.isFaulty = false;
  }
}

const NAN =
  "return { bids: [{ price: NaN, amount: lots, why: [{ name: 'x', ticks: NaN }] }], asks: [], noAsk: 'none' };";
/** Kinds of faults that begin in a call: the code, and the sentence while the bot runs. */
const KINDS: readonly (readonly [kind: string, fault: string, check: RegExp | null, sentence: RegExp])[] = [
  [
    'throws',
    "throw new Error('no luck');",
    /^returns a valid quote.*: threw at \.\/own\.ts:17: no luck$/,
    /held back by the strategy \(\.\/own\.ts:17 failed: no luck; correct the file, and reload it in a running bot\)/,
  ],
  [
    'never returns',
    'const { now } = (globalThis as any).ownFault; const until = now() + 4_000; while (now() < until);',
    // The command has a thread for it: test/cli/ownStrategy.test.ts.
    null,
    /held back by the strategy \(\.\/own\.ts failed: quote: expected an end within 2 s, found none; look for a loop without an end; correct the file/,
  ],
  [
    'quotes no number',
    NAN,
    /^quotes finite prices.*: bids\[0\]\.price: expected a finite number, found NaN$/,
    /held back by the strategy \(\.\/own\.ts returned an invalid quote: bids\[0\]\.price: expected a finite number, found NaN; correct the file, and reload it in a running bot\)/,
  ],
];

test.each(KINDS)(
  'a file that %s has its sentence, and the bot cancels, places nothing, and goes on',
  async (_, fault, check, sentence) => {
    const code = faulty(fault);
    if (check !== null) expect(sentencesOn(code).filter(line => check.test(line))).toHaveLength(1);
    expect(strategyVerdicts(strategyFileOf('./own.ts', code), null).filter(({ violation }) => violation)).toEqual([]);
    const bot = await new OwnBot(311, code).start();
    expect(bot.orders()).toBeGreaterThan(0);
    outside.isFaulty = true;
    // Two decisions: of the fault, and until the exchange has canceled.
    await bot.world.clock.advance(5_000);
    expect(bot.orders()).toBe(0);
    const told = bot.running.log.filter(({ text }) => sentence.test(text));
    expect(told.map(({ level }) => level)).toContain('error');
    expect(told.map(({ level }) => level)).not.toContain('warn');
    let quoted = 0;
    for (let second = 0; second < 20; second++) {
      await bot.world.clock.advance(1_000);
      quoted += bot.orders();
    }
    expect(quoted).toBe(0);
    await expectFirst(bot.world);
    outside.isFaulty = false;
    await bot.ask();
    await bot.world.clock.advance(20_000);
    expect(bot.orders()).toBeGreaterThan(0);
    expect((await botStatus(bot.world.stateDir, bot.world.clock)).run?.regime.regime).toBe('normal');
    const end = await bot.running.stop();
    expect(end).toMatchObject({ left: [], failure: null, summary: { ledgerMatches: true } });
    // A reload makes a new strategy only after an error, and not after an invalid quote.
    if (fault !== NAN) expect(end.summary).not.toHaveProperty('strategyFault');
    expect(bot.replayed()).not.toContain('DIFFERENT');
    bot.world.end();
  },
);

test('the result of a run whose file has failed says so, as text and as JSON', async () => {
  const bot = await new OwnBot(312, faulty("throw new Error('no luck');")).start();
  outside.isFaulty = true;
  await bot.world.clock.advance(5_000);
  const { summary } = await bot.running.stop();
  expect(summary.strategyFault).toMatch(/^\.\/own\.ts:17 failed: no luck; correct the file/);
  expect(describe(summary, 'puntas resume')).toContain(
    `the strategy did not quote as it should: ${summary.strategyFault!}`,
  );
  bot.world.end();
});

/** Expects that every view of the bot says that the file failed, and what to do, where it otherwise says `normal`. */
async function expectFirst({ stateDir, clock }: World): Promise<void> {
  const status = await botStatus(stateDir, clock);
  const { why } = status.run!.regime;
  expect(why).toMatch(/^\.\/own\.ts.* (failed|invalid quote): .*; correct the file, and reload it in a running bot$/);
  expect([status.run!.regime.regime, status.run!.whyNot]).toEqual(['paused', why]);
  const rows = botStatusText(status, stateDir).split('\n');
  expect(rows.find(row => /^ {2}\S/.test(row))).toMatch(/^ {2}regime +paused since .* UTC: \.\/own\.ts/);
  const seen = { status, fills: [], catchingUp: null };
  expect(watchedRows(seen, 400)).toContain(`regime    paused: ${why}`);
  expect(watchedLine(seen)).toContain(`paused: ${why}`);
  const explained = explain({ dir: stateDir, at: null });
  expect(explained.regime).toMatchObject({ regime: 'paused', why, failure: why });
  expect(explanationText(explained)).toContain(`: ${why}\n`);
  const live = new LiveRun(stateDir, clock);
  live.start();
  while (live.catchingUp !== null || live.replay === null) await clock.advance(0);
  const bot = { state: 'running', beatAgoMs: 0, writtenAgoMs: 0, halts: [] } as const;
  const outside = { bot, runs: live.runs, catchingUp: null, budgets: null, events: [], note: null, ledger: null };
  const view = consoleView(live.replay, { ...outside, kind: 'live' })!;
  live.stop();
  expect(view.decision.regime).toMatchObject({ regime: 'paused', why, failure: why });
  const summary = summaryOfView(view, { version: '0.1.0', madeAt: view.at, money: 'play', speed: 1 });
  expect(summaryIn(JSON.stringify(summary))).toEqual(summary);
  const heard = { state: 'heard', summary, heardAgoMs: 0, problem: null } as const;
  const [row] = fleetView([{ name: 'ana', link: 'http://127.0.0.1', heard }], 'mxn', { at: 0, version: '0.1.0' }).bots;
  expect([row?.regime, row?.why]).toEqual(['paused', why]);
  expect(row?.alerts[0]).toEqual({ level: 'error', text: `strategy file failed: ${why}` });
}

test('a file of a wrong version is refused by the check, at a start, and by the reload of a running bot, which goes on with the file that it has', async () => {
  const wrong = changedOwn('contract: 1', 'contract: 2');
  const sentence = /\.\/own\.ts: expected contract: 1, found 2; this Puntas runs strategies of contract 1 only/;
  expect(sentencesOn(wrong)).toEqual([expect.stringMatching(sentence)]);
  expect(() => new OwnBot(312, wrong).read()).toThrow(sentence);
  const bot = await new OwnBot(312, OWN_STRATEGY).start();
  bot.code = wrong;
  const answer = await bot.ask();
  expect([answer.end, answer.lines.join('\n')]).toEqual(['kept', expect.stringMatching(sentence)]);
  bot.running.hangUp();
  await bot.world.clock.advance(20_000);
  expect(bot.orders()).toBeGreaterThan(0);
  expect(await bot.running.stop()).toMatchObject({ left: [], failure: null, summary: { ledgerMatches: true } });
  expect(bot.replayed()).not.toContain('DIFFERENT');
  bot.world.end();
});

test('a file that looks ahead by what an earlier strategy saw has its sentence, and in a bot there is nothing ahead to see', async () => {
  const code = quotingBy(`const seen: { at: number; mid: number }[] = ((URL as any).seenAhead ??= []);
    const later = seen.find(one => one.at > view.at && one.at < view.at + 10_000);
    seen.push({ at: view.at, mid: view.mid });
    return around(p, lots, view, [...fairSteps(view), { name: 'later', ticks: later ? later.mid - view.mid : 0 }]);`);
  expect(sentencesOn(code)).toContainEqual(
    expect.stringMatching(
      /^does not look ahead: .*: gave other quotes at the second pass, as if it knew what came later;/,
    ),
  );
  const memory = URL as { seenAhead?: unknown };
  delete memory.seenAhead;
  const bot = await new OwnBot(313, code).start();
  await bot.world.clock.advance(60_000);
  expect(bot.orders()).toBeGreaterThan(0);
  // Each earlier view was in the past.
  expect((memory.seenAhead as { at: number }[]).map(({ at }) => at)).toEqual(
    (memory.seenAhead as { at: number }[]).map(({ at }) => at).sort((a, b) => a - b),
  );
  expect(await bot.running.stop()).toMatchObject({ left: [], failure: null, summary: { ledgerMatches: true } });
  expect(bot.replayed()).not.toContain('DIFFERENT');
  delete memory.seenAhead;
  bot.world.end();
});
