/** `puntas check` and `puntas doctor` at Kraken with a clock that is ahead: no nonce locks the key for the right clock. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { doctor, type DoctorOptions } from '../../../src/app/doctor/doctor.ts';
import { check } from '../../../src/app/doctor/check.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import { Secret, type Clock } from '../../../src/core/index.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { sentenceOf } from '../../../src/messages/exits.ts';
import { BOOKS } from '../../exchange/everyVenue.ts';
import { KrakenDouble } from '../../krakenDouble/server.ts';
import { memoryLog } from '../../memoryLog.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-clock-ahead-'));
afterAll(() => rmSync(dir, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

const [KEY, SECRET] = ['bot-key', Buffer.from('bot secret').toString('base64')];

function configOf(restUrl: string): Config {
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
    'ahead.yaml',
  );
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
}

const shifted = (ms: number): Clock => {
  const clock = realClock();
  return { ...clock, now: () => clock.now() + ms };
};
const AHEAD = /clock is (7199|7200|7201) s ahead of the exchange clock, so no request with the key was sent/;

/** Commands, which return the text for the operator. */
const COMMANDS: Readonly<Record<string, (config: Config, clock: Clock) => Promise<string>>> = {
  check: (config, clock) =>
    check(
      config,
      {
        restUrl: `${config.exchange.kind === 'remote' ? config.exchange.restUrl : ''}/0`,
        key: KEY,
        secret: new Secret(SECRET),
        speed: 1,
      },
      clock,
      1,
      undefined,
    ).then(
      ({ text }) => text,
      (error: unknown) => sentenceOf(error),
    ),
  doctor: async (config, clock) => {
    vi.stubEnv('PUNTAS_API_KEY', KEY);
    vi.stubEnv('PUNTAS_API_SECRET', SECRET);
    const options: DoctorOptions = {
      ...{ config, which: { configFile: undefined, stateDir: dir }, clock, seed: 5, version: 'test' },
      openLog: () => memoryLog().log,
      tell: () => undefined,
      onStarted: () => undefined,
    };
    return (await doctor(options)).findings.map(({ check: of, says, todo }) => `${of}: ${says}; ${todo}`).join('\n');
  },
};

test.each(
  Object.entries(COMMANDS).flatMap(([name, command]) =>
    [0, 7_200_000].map(aheadMs => [name, aheadMs, command] as const),
  ),
)('puntas %s with a clock %i ms ahead', async (_, aheadMs, command) => {
  const double = new KrakenDouble({ [KEY]: SECRET });
  const { restUrl } = await double.listen();
  const text = await command(configOf(restUrl), shifted(aheadMs));
  const signed = double.seen.filter(({ fields }) => fields['nonce'] !== undefined);
  await double.close();
  if (aheadMs > 0) {
    expect(text).toMatch(AHEAD);
    expect(text).toContain('enable NTP');
    expect(signed).toEqual([]);
  } else {
    expect(text).not.toContain('ahead of the exchange clock');
    expect(signed.length, text).toBeGreaterThan(0);
  }
});
