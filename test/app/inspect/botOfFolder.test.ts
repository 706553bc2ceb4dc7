/** Owner of a state directory: a file of another bot does not select it, and an action on a stopped bot says so. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { assertNotOnPaper, assertOwnFolder, notRunningText } from '../../../src/app/inspect/botOfFolder.ts';
import { asTrialOrder, type Config } from '../../../src/config.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { recorderIn, recordingName } from '../../../src/live/recording/recordings.ts';
import { HEARTBEAT_FILES, heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { claimState } from '../../../src/live/state/paperMark.ts';
import { sandboxConfig } from '../../live/world.ts';

const base = mkdtempSync(join(tmpdir(), 'puntas-folders-'));
afterAll(() => rmSync(base, { recursive: true }));
const clock = realClock();

const config = sandboxConfig();
const remote = (restUrl: string, venue = 'bitso'): Config => ({
  ...config,
  exchange: { ...config.exchange, kind: 'remote', venue, restUrl },
});
const withBooks = (...symbols: readonly string[]): Config => ({
  ...config,
  book: symbols[0]!,
  books: symbols.map(symbol => ({ symbol })) as Config['books'],
});

let folders = 0;
/** A state directory with these runs; `life`: heartbeat of its bot, if it has one. */
function folderOf(runs: readonly Config[], life?: 'runs' | 'stopped' | 'silent', isPaper = false): string {
  const dir = join(base, `state-${++folders}`);
  claimState(dir, isPaper);
  runs.forEach((each, i) =>
    recorderIn(dir, { run: i + 1, startedAt: i, setup: JSON.stringify(each), format: 2 }).close(),
  );
  if (life !== undefined) heartbeatIn(dir, 'bot', clock, 1).beat(life === 'stopped' ? 'stopped' : 'alive');
  if (life === 'silent') utimesSync(join(dir, HEARTBEAT_FILES.bot), 1, 1);
  return dir;
}

const API = 'https://api.bitso.com';
const others: Readonly<Record<string, readonly [ran: Config, given: Config, says: string | null]>> = {
  'the same bot': [config, config, null],
  'another strategy of the same bot': [config, { ...config, strategy: { ...config.strategy, seed: 5 } as never }, null],
  'another instance': [config, { ...config, instance: 'other' }, 'but the bot of my.yaml is other on btc_mxn at '],
  'another book': [config, { ...config, book: 'eth_mxn' }, 'is demo on eth_mxn at an embedded exchange'],
  'one book more': [config, withBooks('btc_mxn', 'eth_mxn'), null],
  'one book fewer, and not the first': [withBooks('btc_mxn', 'eth_mxn'), { ...config, book: 'eth_mxn' }, null],
  'no book of the last run': [
    withBooks('btc_mxn', 'eth_mxn'),
    withBooks('xrp_mxn', 'ltc_mxn'),
    'is demo on xrp_mxn, ltc_mxn at ',
  ],
  'an address with a slash at its end': [remote(API), remote(`${API}/`), null],
  'another address': [remote(API), remote('https://stage.bitso.com'), 'is demo on btc_mxn at https://stage.bitso.com;'],
  'a remote exchange after an embedded one': [config, remote(API), `is demo on btc_mxn at ${API};`],
  'an embedded exchange after a remote one': [remote(API), config, 'is demo on btc_mxn at an embedded exchange;'],
};
test.each(Object.entries(others))('a folder of the last run, and a file with %s', (_, [ran, given, says]) => {
  const dir = folderOf([{ ...config, instance: 'earlier' }, ran]);
  const check = () => assertOwnFolder('my.yaml', given, dir);
  if (says === null) return expect(check).not.toThrow();
  expect(check).toThrow(says);
  expect(check).toThrow(`${dir}: the last run here was demo on `);
  expect(check).toThrow(`or --state ${dir} for the bot that has run here`);
});

test('a folder without a readable run belongs to nobody, and a trial order is no run', () => {
  const check = (dir: string) => () => assertOwnFolder('my.yaml', { ...config, instance: 'other' }, dir);
  expect(check(join(base, 'nowhere'))).not.toThrow();
  expect(check(folderOf([]))).not.toThrow();
  expect(check(folderOf([asTrialOrder(config, false)]))).not.toThrow();
  expect(check(folderOf([config, asTrialOrder(config, false)]))).toThrow('the last run here was demo on btc_mxn');
  const damaged = folderOf([config]);
  writeFileSync(join(damaged, recordingName(1)), 'no recording');
  expect(check(damaged)).not.toThrow();
});

test('a paper folder belongs to its instance and books, because a run on paper is recorded with an embedded exchange', () => {
  const dir = folderOf([config], undefined, true);
  expect(() => assertOwnFolder('my.yaml', remote(API), dir)).not.toThrow();
  expect(() => assertOwnFolder('my.yaml', { ...remote(API), instance: 'other' }, dir)).toThrow(
    'the last run here was demo on btc_mxn on paper, but the bot of my.yaml is other on btc_mxn on paper;',
  );
});

test('a sentinel may reach the exchange at another address than the bot, but not with another instance', () => {
  const dir = folderOf([remote(API)]);
  const ownLine = remote('http://127.0.0.1:1');
  expect(() => assertOwnFolder('my.yaml', ownLine, dir)).toThrow('is demo on btc_mxn at http://127.0.0.1:1;');
  expect(() => assertOwnFolder('my.yaml', ownLine, dir, true)).not.toThrow();
  expect(() => assertOwnFolder('my.yaml', { ...ownLine, instance: 'other' }, dir, true)).toThrow('is other on btc_mxn');
});

const LIVES = ['runs', 'silent', 'stopped', undefined] as const;
test.each(LIVES.flatMap(live => LIVES.map(paper => [live, paper] as const)))(
  'an action on a bot that is %s, with a paper bot that is %s, is refused only if --paper can be missing',
  (live, paper) => {
    const given = {
      ...remote(API),
      state: { ...config.state, dir: folderOf([remote(API)], live) },
      paper: { ...config.paper, stateDir: folderOf([config], paper, true) },
    };
    const check = () => assertNotOnPaper('my.yaml', given, clock.now());
    const isOver = live === 'stopped' || live === undefined;
    const isOnPaper = paper === 'runs' || paper === 'silent';
    if (!(isOver && isOnPaper)) return expect(check).not.toThrow();
    expect(check).toThrow(
      `my.yaml: the bot in ${given.state.dir} is not running, but the paper bot in ${given.paper.stateDir} is; add --paper, or pass --state ${given.state.dir} for`,
    );
    // The paper bot of another file is no reason.
    expect(() => assertNotOnPaper('my.yaml', { ...given, instance: 'other' }, clock.now())).not.toThrow();
  },
);

test('an action says that no bot is running, and which one was the last, but not of a silent one', () => {
  const text = (...of: Parameters<typeof folderOf>) => notRunningText(folderOf(...of), clock.now());
  expect(text([config], 'runs')).toBeNull();
  expect(text([config], 'silent')).toBeNull();
  expect(text([config], 'stopped')).toMatch(
    /^no bot is running in \S+, where the last run was demo on btc_mxn at an embedded exchange; this takes effect at its next start$/,
  );
  expect(text([config], 'stopped', true)).toContain('the last run was demo on btc_mxn on paper;');
  expect(text([])).toMatch(/^no bot is running in \S+; this takes effect at its next start$/);
});
