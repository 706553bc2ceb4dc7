/**
 * `puntas check` and `puntas doctor` with a key of Kraken, for the bot or for its hedges: the remedy of each failed private
 * request is shown, few nonces are rejected, and none is sent by a clock that is ahead.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { doctor } from '../../../src/app/doctor/doctor.ts';
import { check } from '../../../src/app/doctor/check.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import type { Clock } from '../../../src/core/index.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { nonceMarkOf } from '../../../src/live/state/stateSummary.ts';
import { sentenceOf } from '../../../src/messages/exits.ts';
import { accountName } from '../../../src/wiring/elsewhere/access.ts';
import { withVenue } from '../../../src/wiring/venueAccess.ts';
import { BOOKS } from '../../exchange/everyVenue.ts';
import { KrakenDouble } from '../../krakenDouble/server.ts';
import { sandboxConfig } from '../../live/world.ts';
import { memoryLog } from '../../memoryLog.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-private-reads-'));
const [KEY, SECRET] = ['bot-key', Buffer.from('bot secret').toString('base64')];
const openLog = () => memoryLog().log;
let double = new KrakenDouble({});
let restUrl = '';
beforeEach(async () => {
  double = new KrakenDouble({ [KEY]: SECRET });
  ({ restUrl } = await double.listen());
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await double.close();
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Sets both keys, which a command removes from the environment. */
function setKeys(): void {
  for (const section of ['', 'ELSEWHERE_']) {
    vi.stubEnv(`PUNTAS_${section}API_KEY`, KEY);
    vi.stubEnv(`PUNTAS_${section}API_SECRET`, SECRET);
  }
}

/** Configurations with Kraken, by its section. */
const CONFIGS: Readonly<Record<string, () => Config>> = {
  exchange: () => {
    const loaded = loadConfig(
      `
book: ${BOOKS['kraken']!}
instance: mm
exchange: { kind: remote, venue: kraken, restUrl: '${restUrl}', stream: false, requestTimeoutMs: 3000 }
strategy: { name: ladder, halfSpreadBps: 50, levels: 1, levelSpacingBps: 1, amount: '0.1', levelAmountStep: '0', refreshToleranceBps: 20, minEdgeBps: 1, skew: { priceBpsAtLimit: 1, sizeRange: '1' } }
limits: { positionMax: '1', orderValueMax: '20000', ordersMax: 4, collarBps: 500, drawdownMax: '5000', dayLossMax: '5000' }
timing: { decideEveryMs: 500, bookPollMs: 2000, privatePollMs: 15000, requestDelayMaxMs: 5000, tradeReportDelayMaxMs: 500, shutdownMs: 20000 }
metrics: { port: 0 }
state: { dir: '${dir}' }
`,
      'private.yaml',
    );
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    return loaded.config;
  },
  elsewhere: () => {
    const config = sandboxConfig(
      { state: { dir }, inventory: { target: '11.5' }, timing: { shutdownMs: 70_000 } },
      'elsewhere',
    );
    const { reference: _source, fairValue: _value, ...others } = config;
    const there = { kind: 'remote', venue: 'kraken', book: BOOKS['kraken']!, restUrl, stream: false };
    return { ...others, elsewhere: { ...there, requestTimeoutMs: 3_000 } } as Config;
  },
};

/** Commands, which return the text for the operator. */
const COMMANDS: Readonly<Record<string, (config: Config, clock?: Clock) => Promise<string>>> = {
  check: (config, clock = realClock()) => {
    setKeys();
    return withVenue(config, [], { speed: 1, openLog }, clock, venue => check(config, venue, clock, 1, undefined)).then(
      ({ text }) => text,
      (error: unknown) => sentenceOf(error),
    );
  },
  doctor: async (config, clock = realClock()) => {
    setKeys();
    const { findings } = await doctor({
      ...{ config, which: { configFile: undefined, stateDir: dir }, clock, seed: 5, version: 'test', openLog },
      tell: () => undefined,
      // Only a clock that is ahead must keep the trial orders from being sent.
      ...(clock.now() - Date.now() > 60_000 ? { mayOrder: () => Promise.resolve(true) } : {}),
      onStarted: () => undefined,
    });
    return findings.map(({ check: of, says, todo }) => `${of}: ${says}; ${todo}`).join('\n');
  },
};

const CASES = Object.entries(COMMANDS).flatMap(([name, command]) =>
  Object.entries(CONFIGS).map(([section, configOf]) => [name, section, command, configOf] as const),
);

/** Endpoints of the private requests so far, each once. */
const privateEndpoints = () => [
  ...new Set(double.seen.filter(({ fields }) => 'nonce' in fields).map(({ endpoint }) => endpoint)),
];

/** Answers the next requests to these endpoints with an error text; returns how many of them came. */
function failing(endpoints: readonly string[], text: string): () => number {
  const all = endpoints.map(endpoint => {
    const faults = Array.from({ length: 100 }, () => ({ kind: 'error' as const, text }));
    double.faults.set(endpoint, faults);
    return faults;
  });
  return () => all.reduce((sum, faults) => sum + 100 - faults.length, 0);
}

const REMEDIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  exchange: { 'EAPI:Invalid key': 'check that PUNTAS_API_KEY is an active key of this exchange' },
  elsewhere: { 'EAPI:Invalid key': 'check that PUNTAS_ELSEWHERE_API_KEY is an active key of this exchange' },
};
const NONCE = 'use this key in no other program';

test.each(CASES)(
  'puntas %s, Kraken in section %s: the remedy of every private request is shown, and two nonces are rejected at most',
  async (_, section, command, configOf) => {
    const config = configOf();
    const healthy = await command(config);
    const endpoints = privateEndpoints();
    expect(endpoints.length, healthy).toBeGreaterThan(section === 'exchange' ? 3 : 0);
    expect(healthy).not.toMatch(/is an active key|in no other program/);
    for (const endpoint of endpoints) {
      const failed = failing([endpoint], 'EAPI:Invalid key');
      expect(await command(config), endpoint).toContain(REMEDIES[section]!['EAPI:Invalid key']);
      expect(failed(), endpoint).toBeGreaterThan(0);
      double.faults.clear();
    }
    const rejected = failing(endpoints, 'EAPI:Invalid nonce');
    expect(await command(config)).toContain(NONCE);
    expect(rejected()).toBe(2);
  },
);

const shifted = (ms: number): Clock => {
  const clock = realClock();
  return { ...clock, now: () => clock.now() + ms };
};

test.each(CASES)(
  'puntas %s, Kraken in section %s: with a clock 2 h ahead of Kraken only, no nonce is sent or stored, and no trial order is placed',
  async (name, section, command, configOf) => {
    const clock = shifted(7_200_000);
    const text = await command(configOf(), clock);
    expect(text).toMatch(
      /clock is (7199|7200|7201) s ahead of the exchange clock, so no request with the key was sent/,
    );
    expect(text).toContain('enable NTP');
    if (name === 'doctor') expect(text).toMatch(/^order: trial order not sent: this machine's clock is .*enable NTP/m);
    expect(privateEndpoints()).toEqual([]);
    const there = section === 'exchange' ? undefined : accountName({ restUrl, key: KEY });
    expect(await nonceMarkOf(dir, clock, there)).toBe(0n);
  },
);
