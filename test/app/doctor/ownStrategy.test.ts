/** `puntas doctor` and `puntas check` with a strategy file: what they check of it, and what they say is not checked. */
import { rmSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { budgetFindings } from '../../../src/app/doctor/account.ts';
import { check } from '../../../src/app/doctor/check.ts';
import { doctor } from '../../../src/app/doctor/doctor.ts';
import { strategyFileFindings } from '../../../src/app/doctor/ownStrategy.ts';
import type { Config } from '../../../src/config.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { publicClientOf } from '../../../src/wiring/bot.ts';
import { readConfig, readTradedConfig } from '../../../src/wiring/configFile.ts';
import { withVenue } from '../../../src/wiring/venueAccess.ts';
import { memoryLog } from '../../memoryLog.ts';
import { changedOwn, folderWith, OWN_STRATEGY } from '../../strategies/ownFile.ts';

const remote = (yaml: string): Config => {
  const config = readConfig(yaml);
  return { ...config, exchange: { ...config.exchange, kind: 'remote' } } as unknown as Config;
};
const found = (yaml: string) =>
  strategyFileFindings(remote(yaml), yaml).map(({ result, says }) => `${result}: ${says}`);
const NOT_CHECKED =
  /^warn: not checked: parameters, quotes, money and request budget of own\.ts@[0-9a-f]{12}, because doctor/;

test('doctor fails if a start would refuse the strategy file, and says what it does not check', () => {
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  expect(found(yaml)).toEqual([expect.stringMatching(NOT_CHECKED)]);
  const { state } = readConfig(yaml);
  recorderIn(state.dir, { run: 1, startedAt: 1, setup: JSON.stringify(readTradedConfig(yaml)) }).close();
  expect(found(yaml)).toEqual([expect.stringMatching(NOT_CHECKED)]);
  const text = readFileSync(yaml, 'utf8');
  const pin = (sha256: string) =>
    writeFileSync(yaml, text.replace('file: ./own.ts', `file: ./own.ts\n  sha256: ${sha256}`));
  const own = readTradedConfig(yaml).strategy as { readonly sha256: string };
  writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}// changed\n`);
  expect(found(yaml)).toEqual([
    expect.stringMatching(
      /^fail: \.\/own\.ts: the strategy file changed since the last run .* and no one has approved/,
    ),
    expect.stringMatching(NOT_CHECKED),
  ]);
  pin(own.sha256);
  expect(found(yaml)).toEqual([
    expect.stringMatching(/^fail: own\.ts@\w+ is not the approved text, whose SHA-256 is /),
  ]);
  pin((readConfig(yaml).strategy as typeof own).sha256);
  expect(found(yaml)).toEqual([expect.stringMatching(NOT_CHECKED)]);
  rmSync(join(dir, 'own.ts'));
  expect(found(yaml)).toEqual(['fail: ./own.ts cannot be read']);
  writeFileSync(join(dir, 'own.ts'), OWN_STRATEGY);
  const config = remote(yaml);
  rmSync(yaml);
  expect(strategyFileFindings(config, yaml)).toMatchObject([{ check: 'strategy file', result: 'fail' }]);
});

test('doctor passes no quote, amount or number of orders of a strategy file', async () => {
  const { yaml } = folderWith(OWN_STRATEGY);
  const config = readConfig(yaml);
  const { findings } = await doctor({
    ...{
      config,
      which: { configFile: yaml, stateDir: config.state.dir },
      clock: realClock(),
      seed: 1,
      version: 'test',
    },
    ...{ openLog: () => memoryLog().log, tell: () => undefined, onStarted: () => undefined },
  });
  const texts = findings.map(({ check: of, result, says }) => `${of}: ${result}: ${says}`);
  expect(texts.filter(text => text.startsWith('strategy file: '))).toHaveLength(1);
  expect(texts.find(text => text.startsWith('configuration: '))).toContain('except those of the strategy file');
  expect(texts.find(text => text.startsWith('requests: '))).toContain('whose number is not checked');
  expect(texts.filter(text => /^(?:quotes|balances|bids' money|asks' money|spread): /.test(text))).toEqual([]);
  expect(texts.some(text => text.startsWith('book: pass: '))).toBe(true);
  expect(budgetFindings([config], 4)[0]!.says).toContain('replace all 4 quotes');
});

test('check on paper reads the history of the followed exchange, as a paper run does', async () => {
  const { yaml } = folderWith(changedOwn('contract: 1', 'contract: 1, history: () => 60_000'));
  const config = readTradedConfig(yaml);
  const asked = new Set<string>();
  const clock = realClock();
  await withVenue(config, [], { speed: 1, openLog: () => memoryLog().log }, clock, async venue => {
    const followed = publicClientOf(config, venue.restUrl, clock, 1);
    const watched = new Proxy(followed, {
      get: (of, name) => {
        asked.add(String(name));
        const value: unknown = Reflect.get(of, name);
        return typeof value === 'function' ? (value.bind(of) as unknown) : value;
      },
    });
    const paper = { opens: 1, start: '', follows: '', followed: watched, fills: '', outcome: () => '' };
    await check(config, { ...venue, paper }, clock, 1, undefined);
    await followed.close();
  });
  expect([...asked]).toContain('trades');
});
