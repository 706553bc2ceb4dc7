/** Actions of the API on a real state directory: once per key, also at the same time and after a restart; and what a configuration shows. */
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import { readBot, withoutSecrets } from '../../../src/app/actions/botReads.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { consoleApi } from '../../../src/app/console/consoleApi.ts';
import { loadConfig } from '../../../src/config.ts';
import type { ActionRequest } from '../../../src/console/index.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { Folders } from '../../live/states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

function desk() {
  const dir = folders.fresh();
  mkdirSync(dir, { mode: 0o700 });
  const clock = new VirtualClock();
  const bot = { stateDir: dir };
  let reads = 0;
  const api = (canAct = true) =>
    consoleApi(bot, clock, canAct, {
      read: async read => {
        reads++;
        return readBot(bot, read, clock);
      },
      preview: async ask => (await previewAction(bot, ask, clock)).lines,
      proposalPreview: async ask => (await previewAction(bot, ask, clock)).lines,
      summary: () => null,
      events: () => [],
    });
  return { dir, clock, api, reads: () => reads, latch: latchIn(dir) };
}

const pause: ActionRequest = { action: 'pause', reason: 'odd fills', by: 'Ana', minutes: 30, costMax: null };

describe('an action with a key', () => {
  test('is executed once, however often it is sent, and each answer is the first one', async () => {
    const { dir, api, latch, clock } = desk();
    const { act } = api();
    const answers = await Promise.all([act!(pause, 'key-00001'), act!(pause, 'key-00001'), act!(pause, 'key-00001')]);
    expect(answers.map(over => over !== 'other request' && over.isRepeated)).toEqual([false, true, true]);
    expect(actionsIn(dir)).toMatchObject([{ id: 'key-00001', via: 'api', by: 'Ana', action: 'pause', end: 'done' }]);
    const { until } = latch.readPause()!;
    await clock.advance(60_000);
    expect(await act!(pause, 'key-00001')).toMatchObject({ end: 'done', isRepeated: true });
    expect(latch.readPause()!.until).toBe(until);
    expect(await act!(pause, 'key-00002')).toMatchObject({ isRepeated: false });
    expect(latch.readPause()!.until).toBe(until! + 60_000);
  });

  test('is not executed again by the next process, because the journal has it', async () => {
    const { dir, api, latch } = desk();
    await api().act!(pause, 'key-00001');
    latch.lift('looked at', 1, 'Ana');
    const next = api();
    expect(await next.act!(pause, 'key-00001')).toMatchObject({ end: 'done', isRepeated: true });
    expect(await next.act!({ ...pause, action: 'halt', minutes: null }, 'key-00001')).toBe('other request');
    expect(actionsIn(dir)).toHaveLength(1);
    expect(latch.read()).toBeNull();
  });

  test.each<Partial<ActionRequest>>([
    { reason: 'something else' },
    { by: 'Luz' },
    { minutes: 31 },
    { minutes: null },
    { action: 'reduce' },
  ])('that is sent again as %j is another request, and does nothing', async change => {
    const { dir, api } = desk();
    const { act } = api();
    await act!(pause, 'key-00001');
    expect(await act!({ ...pause, ...change }, 'key-00001')).toBe('other request');
    // The next process has only the journal.
    expect(await api().act!({ ...pause, ...change }, 'key-00001')).toBe('other request');
    expect(actionsIn(dir)).toHaveLength(1);
  });

  test('that was invalid can be sent again under its key', async () => {
    const { api, latch } = desk();
    const { act } = api();
    await expect(act!({ ...pause, reason: '\u200b\u200b\u200b\u200b' }, 'key-00001')).rejects.toThrow(/--reason/);
    expect(await act!(pause, 'key-00001')).toMatchObject({ end: 'done', isRepeated: false });
    expect(latch.readPause()).not.toBeNull();
  });

  test('and its preview are off where actions are off', () => {
    const { act, preview } = desk().api(false);
    expect([act, preview]).toEqual([null, null]);
  });
});

test('a preview changes nothing', async () => {
  const { dir, api, latch } = desk();
  const lines = await api().preview!({ ...pause, action: 'halt', minutes: null });
  expect(lines).toEqual([expect.stringMatching(/^no bot is running/)]);
  expect([latch.read(), actionsIn(dir)]).toEqual([null, []]);
});

test('equal reads at the same time share one replay, and a day that does not exist is refused', async () => {
  const { api, reads } = desk();
  const { read } = api();
  const [one, other] = await Promise.all([read({ what: 'status' }), read({ what: 'status' })]);
  expect(one).toBe(other);
  expect(JSON.parse(one)).toMatchObject({ bot: { state: 'never ran' }, run: null });
  expect(reads()).toBe(1);
  await expect(read({ what: 'report', from: '2026-02-30' })).rejects.toThrow('2026-02-30: expected a day');
  await expect(read({ what: 'fills', max: 5 })).rejects.toThrow(/no ledger yet/);
});

test('a configuration shows no address beyond its origin, because the rest can be a secret', () => {
  const text = `${readFileSync(shippedConfig('sandbox'), 'utf8')}\nalerts: { webhook: { url: https://hooks.example.com/services/T0/the-secret } }\n`;
  const loaded = loadConfig(text, 'a.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const shown = withoutSecrets(loaded.config) as { alerts: { webhook: { url: string } }; book: string };
  expect(shown.alerts.webhook.url).toBe('https://hooks.example.com/…');
  expect(JSON.stringify(shown)).not.toContain('the-secret');
  expect(shown).toEqual({ ...loaded.config, alerts: shown.alerts });
});
