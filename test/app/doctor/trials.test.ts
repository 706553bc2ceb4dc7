/** Trial orders of `puntas doctor` on both exchanges, over the sockets of the embedded ones. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { botStatus } from '../../../src/app/actions/botStatus.ts';
import { flatten } from '../../../src/app/actions/flatten.ts';
import { hedges } from '../../../src/app/inspect/hedges.ts';
import { lastConfigOf } from '../../../src/app/inspect/botOfFolder.ts';
import { BotProcess } from '../../../src/app/run/botProcess.ts';
import { asTrialOrder, isTrialOrder } from '../../../src/config.ts';
import { recorderIn, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { withVenue } from '../../../src/wiring/venueAccess.ts';
import { doctor } from '../../../src/app/doctor/doctor.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { memoryLog } from '../../memoryLog.ts';
import { withOpenHedge } from '../../live/openHedge.ts';
import { sandboxConfig } from '../../live/world.ts';

const dir = mkdtempSync(join(tmpdir(), 'puntas-trials-'));
const config = sandboxConfig({ state: { dir } }, 'elsewhere');
const clock = realClock();

/** Orders as this process sent them, by the exchange whose interface they use. */
const sent = { here: 0, there: 0 };
function onRequest(message: unknown): void {
  const { method, path } = (message as { readonly request: { readonly method: string; readonly path: string } })
    .request;
  if (method !== 'POST') return;
  if (/\/order(\?|$)/.test(path)) sent.there++;
  if (/\/orders(\?|$)/.test(path)) sent.here++;
}
const openLog = () => memoryLog().log;

beforeAll(async () => {
  // The bot has run before, so that there is something that a trial could change.
  await withVenue(config, [], { speed: 1, openLog }, clock, (venue, log, seed) =>
    BotProcess.run({
      ...{ config, venue, clock, seed, log, version: 'test', openingApartMs: 0 },
      onStarted: stop => void setTimeout(() => stop('the test is over'), 1_000),
    }),
  );
  subscribe('undici:request:create', onRequest);
});
afterAll(() => {
  unsubscribe('undici:request:create', onRequest);
  rmSync(dir, { recursive: true });
});

/** Tries both orders; returns what was said about them. */
async function tried(): Promise<readonly string[]> {
  const { findings } = await doctor({
    ...{ config, which: { configFile: undefined, stateDir: dir }, clock, seed: 5, version: 'test' },
    openLog,
    tell: () => undefined,
    mayOrder: () => Promise.resolve(true),
    onStarted: () => undefined,
  });
  return findings
    .filter(({ says }) => /trial order|immediate-or-cancel|accepted and canceled/.test(says))
    .map(({ check, says }) => `${check}: ${says}`);
}

/** Output of `status` and `hedges` without the profit, which has the price of the last checkpoint. */
async function shown() {
  const { run, heldBy, bot, openOrders, note } = await botStatus(dir, clock);
  return { run, heldBy, state: bot.state, count: openOrders.count, note, hedges: hedges(dir, false) };
}

test('one order is sent to each exchange, and none to either while a hedge is open or the bot runs', async () => {
  const before = await shown();
  const said = await tried();
  expect(said).toEqual([
    expect.stringMatching(/^elsewhere: .* immediate-or-cancel, 10% away from the best price: accepted, not executed/),
    expect.stringMatching(/^order: .*: accepted and canceled/),
  ]);
  expect(sent).toEqual({ here: 1, there: 1 });
  // The trial is the last run, and no command takes its configuration for that of the bot.
  expect(recordingsIn(dir)).toHaveLength(2);
  expect(await shown()).toEqual(before);
  expect(lastConfigOf(dir).hedge?.venues).toEqual(['elsewhere']);
  withOpenHedge(dir);
  expect(await tried()).toEqual(['order: trial order not sent: hedge h-1 is still open']);
  heartbeatIn(dir, 'bot', clock).beat('alive');
  expect(await tried()).toEqual([expect.stringMatching(/^order: trial order not sent: the bot is running/)]);
  expect(sent).toEqual({ here: 1, there: 1 });
});

test('without another run, flatten reads the file that it is given, and cancels use the configuration of the trial', () => {
  const state = mkdtempSync(join(tmpdir(), 'puntas-trial-'));
  recorderIn(state, { run: 1, startedAt: 0, setup: JSON.stringify(asTrialOrder(config, false)), format: 2 }).close();
  const ask = {
    id: 'one',
    action: 'flatten',
    reason: 'end of the week',
    by: 'ana',
    via: 'command',
    costMax: '9',
  } as const;
  expect(() => flatten({ configFile: undefined, stateDir: state }, ask, 0)).toThrow(
    /the recordings contain only trial orders of puntas doctor; pass the YAML file of the bot with -c FILE/,
  );
  expect(isTrialOrder(lastConfigOf(state))).toBe(true);
  const lines = flatten({ configFile: shippedConfig('elsewhere'), stateDir: state }, ask, 0);
  expect(lines[0]).toContain('the bot is not running; after its next start, the hedger closes all inventory');
  rmSync(state, { recursive: true });
});
