/** Promotions of configurations with a strategy file: what was approved is what runs. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { promotionJudge } from '../../../backtest/app/promote/checkStage.ts';
import { approvePromotion, promoteOptions, promotionBack, startPromotion } from '../../../src/app/promote/promote.ts';
import { keptCopy } from '../../../src/app/promote/liveFile.ts';
import { previewBack } from '../../../src/app/promote/previewBack.ts';
import { noteInJournal, promotionJournal } from '../../../src/app/promote/promotionJournal.ts';
import type { OpenPromotion } from '../../../src/app/promote/promotionState.ts';
import type { ApprovedRecord } from '../../../src/app/promote/records.ts';
import { reloadRunningBot } from '../../../src/app/promote/runningBot.ts';
import type { PromoteOptions } from '../../../src/app/promote/promoteCommand.ts';
import { showPromotion } from '../../../src/app/promote/showPromotion.ts';
import { storeApprovedStrategies } from '../../../src/app/run/approvedStrategy.ts';
import { digestOf, reloadDigestOf } from '../../../src/app/run/reloading.ts';
import { claimStateDir } from '../../../src/live/files/stateDir.ts';
import { heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { advanceUntil } from '../../live/world.ts';
import { ReloadBox } from '../../../src/live/mailbox/mailbox.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { readConfig, readConfigText, readTradedConfig } from '../../../src/wiring/configFile.ts';
import { strategyFileOf } from '../../../strategies/index.ts';
import { btcMxn } from '../../core/market.ts';
import { changedOwn, OWN_STRATEGY } from '../../strategies/ownFile.ts';
import { NO_PROGRESS } from '../noProgress.ts';

const SANDBOX = readFileSync(fileURLToPath(new URL('../../../config/sandbox.yaml', import.meta.url)), 'utf8');
const root = mkdtempSync(join(tmpdir(), 'puntas-promote-own-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let dir = root;
beforeEach(() => (dir = mkdtempSync(join(root, 'one-'))));

const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const own = stringify({
  ...(parse(SANDBOX) as object),
  strategy: { file: './own.ts', halfSpreadBps: 16, amount: '0.006', levels: 2 },
});
const judged: PromoteOptions['judge'] = {
  ...promotionJudge,
  checkStage: () => Promise.resolve({ check: { findings: [], result: 'passed' }, traded: null }),
};
const optionsOf = (judge: PromoteOptions['judge'] = judged) =>
  promoteOptions({
    judge,
    ...{ liveFile: join(dir, 'my.yaml'), by: 'ann', reason: 'a test', needsReason: true, version: '0.1.0', threads: 1 },
    ...{ clock: realClock(), progress: NO_PROGRESS, onInput: () => undefined },
  });
const criteria = () =>
  file(
    'criteria.yaml',
    'replay: { tapes: [{ flow: { seconds: 300, seed: 3 } }], segments: 1, fillsLeast: 1, net60sLeast: null }',
  );
const begun = () => {
  file('my.yaml', SANDBOX);
  file('own.ts', OWN_STRATEGY);
  return startPromotion(optionsOf(), { candidate: file('best.yaml', own), criteria: criteria() });
};

describe('a promotion of a strategy file', () => {
  const { sha256, name } = strategyFileOf('./own.ts', OWN_STRATEGY);

  test('copies the file: what is changed afterwards neither runs on paper nor is judged, and the journal has its hash', async () => {
    const { lines } = await begun();
    expect(lines.join('\n')).toContain(`and a copy of the strategy file ${name}`);
    file('own.ts', changedOwn('contract: 1', 'contract: 9'));
    const paper = readTradedConfig(join(dir, 'my.promotions/1/paper.yaml')).strategy;
    expect(paper).toMatchObject({ file: `../files/${sha256}/own.ts`, sha256, code: OWN_STRATEGY, name });
    const { end, standing } = await approvePromotion(optionsOf(promotionJudge), false);
    expect([end, standing.open?.stage]).toEqual(['done', 'paper']);
    const { records } = promotionJournal(join(dir, 'my.promotions'));
    expect(records.filter(({ kind }) => kind === 'started' || kind === 'approved')).toMatchObject([
      { kind: 'started', strategy: { name, sha256 } },
      { kind: 'approved', strategy: { name, sha256 } },
    ]);
  });

  test('refuses to run a copy that was changed, on paper and live', async () => {
    await begun();
    const copy = join(dir, `my.promotions/files/${sha256}/own.ts`);
    writeFileSync(copy, `${OWN_STRATEGY}\n`);
    expect(() => readTradedConfig(join(dir, 'my.promotions/1/paper.yaml'))).toThrow(
      /strategy\.sha256: expected the SHA-256 .* is not the approved text/,
    );
    await expect(approvePromotion(optionsOf(promotionJudge), false)).rejects.toThrow(
      /settings that affect trading were changed/,
    );
    // It can still be seen and ended.
    expect(showPromotion(optionsOf()).standing.open?.stage).toBe('replay');
    expect((await promotionBack(optionsOf())).end).toBe('done');
  });

  test('cannot start without the file', async () => {
    file('my.yaml', SANDBOX);
    await expect(
      startPromotion(optionsOf(), { candidate: file('best.yaml', own), criteria: criteria() }),
    ).rejects.toThrow(/best\.yaml: strategy\.file: \.\/own\.ts: cannot be read/);
    expect(existsSync(join(dir, 'my.promotions/journal.jsonl'))).toBe(false);
  });
});

describe('a rollback to a strategy file', () => {
  const passing: PromoteOptions['judge'] = {
    ...promotionJudge,
    checkStage: (open: OpenPromotion) =>
      Promise.resolve({
        check: { findings: [], result: 'passed' },
        traded: open.stage === 'replay' ? null : { instrument: btcMxn, midTicks: 150_000_000 },
      }),
  };
  const CHANGED = `${OWN_STRATEGY}// changed\n`;
  /** A live file with a strategy file, and a promotion of the shipped ladder in its place. */
  const begunLive = async (live = own): Promise<string> => {
    const liveFile = file('my.yaml', live);
    file('own.ts', OWN_STRATEGY);
    await startPromotion(optionsOf(passing), { candidate: file('best.yaml', SANDBOX), criteria: criteria() });
    await approvePromotion(optionsOf(passing), false);
    return liveFile;
  };
  const record = (run: number, liveFile: string) =>
    recorderIn(readConfig(liveFile).state.dir, {
      ...{ run, startedAt: 1 },
      setup: JSON.stringify(readTradedConfig(liveFile)),
    }).close();
  const taken = (path: string, code: string) =>
    ({ ...readConfig(join(dir, 'my.yaml')), strategy: strategyFileOf(path, code) }) as never;
  const strategyAfter = async (liveFile: string) => {
    expect((await promotionBack(optionsOf())).end).toBe('done');
    return readTradedConfig(liveFile).strategy;
  };

  test('restores the text of the last run before the approval, whatever has become of the file', async () => {
    const liveFile = await begunLive();
    record(1, liveFile);
    file('own.ts', CHANGED);
    await approvePromotion(optionsOf(passing), false);
    expect(readConfigText(liveFile).config.strategy).not.toHaveProperty('file');
    rmSync(join(dir, 'own.ts'));
    const { sha256 } = strategyFileOf('own.ts', OWN_STRATEGY);
    expect(await strategyAfter(liveFile)).toMatchObject({ code: OWN_STRATEGY, sha256, halfSpreadBps: 16 });
    expect((parse(readFileSync(liveFile, 'utf8')) as { strategy: object }).strategy).toEqual({
      ...{ file: `my.promotions/files/${sha256}/own.ts`, sha256 },
      ...{ halfSpreadBps: 16, amount: '0.006', levels: 2 },
    });
  });

  test.each([
    ['no run took a file', () => undefined],
    ['the last run took another file', stateDir => storeApprovedStrategies(stateDir, taken('./b.ts', CHANGED))],
    ['the approval cannot be read', stateDir => writeFileSync(join(stateDir, 'strategy.json'), 'damaged')],
  ] as [string, (stateDir: string) => void][])('is refused, and the approval says so, if %s', async (_, before) => {
    const liveFile = await begunLive();
    const { dir: stateDir } = readConfig(liveFile).state;
    mkdirSync(stateDir, { recursive: true });
    before(stateDir);
    const { lines } = await approvePromotion(optionsOf(passing), false);
    expect(lines.join('\n')).toMatch(
      /this promotion cannot be rolled back: no approved text of the strategy file \.\/own\.ts is known/,
    );
    for (const work of [promotionBack(optionsOf()), previewBack(optionsOf())])
      await expect(work).rejects.toThrow(/promotion 1 kept no copy of the strategy file/);
  });

  test('restores the text at the approval if the bot took it from another path, or the configuration pins it', async () => {
    const { sha256 } = strategyFileOf('own.ts', OWN_STRATEGY);
    for (const isPinned of [false, true]) {
      dir = mkdtempSync(join(root, 'one-'));
      const liveFile = await begunLive(
        isPinned ? own.replace('file: ./own.ts', `file: ./own.ts\n  sha256: ${sha256}`) : own,
      );
      const { dir: stateDir } = readConfig(liveFile).state;
      mkdirSync(stateDir, { recursive: true });
      if (!isPinned) storeApprovedStrategies(stateDir, taken('./b.ts', OWN_STRATEGY));
      const { lines } = await approvePromotion(optionsOf(passing), false);
      expect(lines.join('\n')).not.toContain('cannot be rolled back');
      file('own.ts', CHANGED);
      expect((await previewBack(optionsOf())).lines.join('\n')).toContain('would be restored');
      expect(await strategyAfter(liveFile)).toMatchObject({ code: OWN_STRATEGY });
    }
  });

  test('writes a lost or changed copy again if a run took its text; otherwise refuses, also when it completes later', async () => {
    const { sha256 } = strategyFileOf('own.ts', OWN_STRATEGY);
    const liveFile = await begunLive();
    record(1, liveFile);
    await approvePromotion(optionsOf(passing), false);
    const { dir: stateDir } = readConfig(liveFile).state;
    const [copy, promotions] = [join(dir, `my.promotions/files/${sha256}/own.ts`), join(dir, 'my.promotions')];
    writeFileSync(copy, CHANGED);
    // A preview writes nothing.
    expect((await previewBack(optionsOf())).lines.join('\n')).toContain('would be restored');
    expect(readFileSync(copy, 'utf8')).toBe(CHANGED);
    renameSync(stateDir, `${stateDir}.aside`);
    const { length } = promotionJournal(promotions).records;
    const live = readFileSync(liveFile, 'utf8');
    const refused = async () => {
      for (const work of [() => promotionBack(optionsOf()), () => previewBack(optionsOf())])
        await expect(work()).rejects.toThrow(new RegExp(`the strategy file was changed; restore .* ${sha256}`));
      expect(readFileSync(liveFile, 'utf8')).toBe(live);
    };
    await refused();
    expect(promotionJournal(promotions).records).toHaveLength(length);
    // A rollback that was killed after its decision.
    const last = promotionJournal(promotions).standing.placed.at(-1)!;
    noteInJournal(promotions, {
      ...{ kind: 'back', promotion: 1, at: 1, by: 'ann', reason: 'a test', version: '0.1.0' },
      ...{ to: last.before, from: digestOf(live) },
    });
    await refused();
    renameSync(`${stateDir}.aside`, stateDir);
    expect(await strategyAfter(liveFile)).toMatchObject({ code: OWN_STRATEGY, sha256 });
    expect(readFileSync(copy, 'utf8')).toBe(OWN_STRATEGY);
  });

  test('restores the text that the configuration pins, not another one that ran', async () => {
    const { sha256 } = strategyFileOf('own.ts', OWN_STRATEGY);
    const liveFile = await begunLive();
    file('own.ts', CHANGED);
    record(1, liveFile);
    file('own.ts', OWN_STRATEGY);
    file('my.yaml', own.replace('file: ./own.ts', `file: ./own.ts\n  sha256: ${sha256}`));
    await approvePromotion(optionsOf(passing), false);
    file('own.ts', CHANGED);
    expect(await strategyAfter(liveFile)).toMatchObject({ code: OWN_STRATEGY, sha256 });
  });

  test('is refused if the text that ran is unknown, as after a promotion of an earlier version', async () => {
    const liveFile = await begunLive();
    const promotions = join(dir, 'my.promotions');
    const approval = promotionJournal(promotions).records.find(({ kind }) => kind === 'approved') as ApprovedRecord;
    const [to, before] = [keptCopy(promotions, SANDBOX), keptCopy(promotions, own)];
    noteInJournal(promotions, { ...approval, stage: 'paper', to, before });
    file('my.yaml', SANDBOX);
    const { promotion, at, by, reason, version } = approval;
    noteInJournal(promotions, { kind: 'placed', promotion, at, by, reason, version });
    const { length } = promotionJournal(promotions).records;
    for (const work of [promotionBack(optionsOf()), previewBack(optionsOf())])
      await expect(work).rejects.toThrow(
        /promotion 1 kept no copy of the strategy file \.\/own\.ts that ran before it/,
      );
    expect([promotionJournal(promotions).records.length, readFileSync(liveFile, 'utf8')]).toEqual([length, SANDBOX]);
  });
});

test('a rollback reloads a running bot with the digest that the bot computes when it has run the file', async () => {
  file('own.ts', OWN_STRATEGY);
  const liveFile = file('my.yaml', own);
  const clock = new VirtualClock(Date.now());
  const { config, text } = readConfigText(liveFile);
  claimStateDir(config.state.dir);
  heartbeatIn(config.state.dir, 'bot', clock).beat('alive');
  const box = new ReloadBox(config.state.dir);
  const asked: (string | null)[] = [];
  const look = () => {
    const request = box.waiting();
    if (request !== null) {
      box.take();
      asked.push(request.digest);
      box.answer({ id: request.id, end: 'taken', lines: ['applied'] });
    }
    clock.after(500, look);
  };
  look();
  let isOver = false;
  const bot = { liveFile, by: 'ann', reason: 'a test', clock };
  const reloaded = reloadRunningBot(bot, digestOf(text)).finally(() => (isOver = true));
  await advanceUntil(clock, 250, () => isOver);
  expect(await reloaded).toEqual({ end: 'done', lines: ['reload: applied'] });
  expect(asked).toEqual([reloadDigestOf(text, readTradedConfig(liveFile))]);
  expect(await reloadRunningBot(bot, digestOf('another text'))).toMatchObject({ end: 'refused' });
});
