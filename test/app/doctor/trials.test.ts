/** Trial orders of `puntas doctor` on both exchanges, over the sockets of the embedded ones. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
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
beforeAll(() => subscribe('undici:request:create', onRequest));
beforeEach(() => void Object.assign(sent, { here: 0, there: 0 }));
afterAll(() => {
  unsubscribe('undici:request:create', onRequest);
  rmSync(dir, { recursive: true });
});

/** Tries both orders; returns what was said about them. */
async function tried(): Promise<readonly string[]> {
  const { findings } = await doctor({
    ...{ config, which: { configFile: undefined, stateDir: dir }, clock, seed: 5, version: 'test' },
    openLog: () => memoryLog().log,
    tell: () => undefined,
    mayOrder: () => Promise.resolve(true),
    onStarted: () => undefined,
  });
  return findings
    .filter(({ says }) => /trial order|immediate or cancel|accepted and canceled/.test(says))
    .map(({ check, says }) => `${check}: ${says}`);
}

test('one order is sent to each exchange, and none to either while a hedge is open or the bot runs', async () => {
  const said = await tried();
  expect(said).toEqual([
    expect.stringMatching(/^elsewhere: .* immediate or cancel, 10% from the market: accepted, executed nothing/),
    expect.stringMatching(/^order: .*: accepted and canceled/),
  ]);
  expect(sent).toEqual({ here: 1, there: 1 });
  withOpenHedge(dir);
  expect(await tried()).toEqual(['order: trial order not sent: hedge h-1 is still open']);
  heartbeatIn(dir, 'bot', clock).beat('alive');
  expect(await tried()).toEqual([expect.stringMatching(/^order: trial order not sent: the bot is running/)]);
  expect(sent).toEqual({ here: 1, there: 1 });
});
