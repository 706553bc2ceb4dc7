/** The remote control over real sockets: what is asked of Telegram, what is answered, and what happens while Telegram fails. */
import { mkdirSync } from 'node:fs';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { remoteControl } from '../../../src/app/remote/remote.ts';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import { configSchema, type Config } from '../../../src/config.ts';
import { Secret, type Clock } from '../../../src/core/index.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { remoteCountsIn } from '../../../src/live/safety/remoteCounts.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { readConfig, shippedConfig } from '../../../src/wiring/configFile.ts';
import { Folders } from '../../live/states.ts';
import { REMOTE_TOKEN, TelegramDouble, type Fault } from './telegramDouble.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Real time, of which the test can skip some; waits up to a minute are twenty times as short. */
function hastyClock(): Clock & { skip(ms: number): void } {
  const real = realClock();
  let skipped = 0;
  return {
    now: () => real.now() + skipped,
    elapsed: () => real.elapsed() + skipped,
    after: (ms, call) => real.after(ms > 60_000 ? ms : ms / 20, call),
    skip: ms => void (skipped += ms),
  };
}

function configOf({ url }: TelegramDouble, dir: string, resume = false): Config {
  const alerts = configSchema.shape.alerts.parse({
    telegram: { chatId: '-100', url, remote: { chats: ['-100'], users: ['1'], resume } },
  })!;
  return { ...readConfig(shippedConfig('sandbox')), alerts, state: { dir } };
}

async function desk({ resume = false, startFaults = [] as Fault[], pollMs = 25_000, clock = hastyClock() } = {}) {
  const telegram = await new TelegramDouble().start();
  telegram.pollMs = pollMs;
  telegram.faults.set('getMe', startFaults);
  const dir = folders.fresh();
  mkdirSync(dir, { mode: 0o700 });
  const config = configOf(telegram, dir, resume);
  const [lines, troubles]: [string[], string[]] = [[], []];
  const stop = new AbortController();
  const running = remoteControl(
    {
      ...{ config, bot: { stateDir: dir }, token: new Secret(REMOTE_TOKEN), clock },
      ...{ onLine: line => void lines.push(line), onTrouble: line => void troubles.push(line) },
    },
    stop.signal,
  );
  const leave = async () => {
    stop.abort();
    await running;
  };
  ends.push(() => telegram.close(), leave);
  await until(() => telegram.calls.includes('getUpdates'));
  return { telegram, dir, clock, lines, troubles, leave, latch: latchIn(dir) };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 5));
}

/** In the second after the start, because Telegram's times are whole seconds. */
const soon = (clock: Clock): number => clock.now() + 1_000;

describe('a remote control', () => {
  test('answers a status and a profit, and halts a bot by preview and button', async () => {
    const { telegram, clock, latch, dir, lines, leave, troubles } = await desk();
    expect(lines).toEqual(['remote control: @desk_bot takes commands of the users 1 in the chats -100']);
    telegram.says('/status', soon(clock));
    await until(() => telegram.sent.length === 1);
    expect(telegram.sent[0]).toMatchObject({ chat: '-100', button: null });
    expect(telegram.sent[0]!.text).toMatch(/no bot has run with this state directory yet\nheld by: none\n/);
    telegram.says('/profit', soon(clock));
    await until(() => telegram.sent.length === 2);
    expect(telegram.sent[1]!.text).toContain('/profit failed: ');
    expect(telegram.sent[1]!.text).toContain('no ledger yet');
    telegram.says('/halt the feed looks wrong', soon(clock));
    await until(() => telegram.sent.length === 3);
    expect(latch.read()).toBeNull();
    telegram.presses(telegram.lastButton);
    await until(() => telegram.sent.length === 4);
    expect(telegram.sent[3]!.text).toMatch(/^demo btc_mxn: Done\.\n- halted: /);
    expect(latch.read()).toMatchObject({ reason: 'the feed looks wrong', who: 'Telegram 1 (Ana)' });
    expect(telegram.notices).toEqual(['Started; the result follows.']);
    await leave();
    expect(remoteCountsIn(dir)).toEqual({ accepted: 4, foreign: 0, old: 0, repeated: 0, 'too many': 0, ignored: 0 });
    expect(troubles).toEqual([]);
  });

  test('acts once although Telegram gives every update again and again', async () => {
    const { telegram, clock, dir } = await desk();
    telegram.repeats = true;
    telegram.says('/pause 5m odd fills', soon(clock));
    await until(() => telegram.sent.length === 1);
    telegram.presses(telegram.lastButton);
    await until(() => telegram.sent.length === 2);
    const polls = telegram.calls.filter(call => call === 'getUpdates').length;
    await until(() => telegram.calls.filter(call => call === 'getUpdates').length > polls + 3);
    expect(telegram.sent).toHaveLength(2);
    expect(actionsIn(dir)).toHaveLength(1);
    await until(() => (remoteCountsIn(dir)?.repeated ?? 0) > 3);
  });

  test('confirms every update, also one without a sender and one of another kind', async () => {
    const { telegram, dir } = await desk();
    telegram.update({ update_id: 9_001, message: { text: '/halt', date: 1 } });
    telegram.update({ update_id: 9_002, channel_post: { text: '/halt', date: 1, chat: { id: -100 } } });
    await until(() => remoteCountsIn(dir)?.foreign === 2);
    const polls = telegram.calls.filter(call => call === 'getUpdates').length;
    telegram.update({ update_id: 9_003, message: { text: '/halt', date: 1 } });
    await until(() => telegram.calls.filter(call => call === 'getUpdates').length > polls);
    await until(() => remoteCountsIn(dir)?.foreign === 3);
    expect(remoteCountsIn(dir)).toMatchObject({ foreign: 3, repeated: 0 });
  });

  test('that was killed between an action and its confirmation does not act again after its restart', async () => {
    const { telegram, clock, dir, leave } = await desk();
    telegram.repeats = true;
    telegram.says('/halt', clock.now() + 1_000);
    await until(() => telegram.sent.length === 1);
    telegram.presses(telegram.lastButton);
    await until(() => telegram.sent.length === 2);
    await leave();
    // The second life gets the same updates. Its clock is later, as after a real restart.
    const next = hastyClock();
    next.skip(3_000);
    const stop = new AbortController();
    latchIn(dir).lift('looked at', 1, 'Ana');
    const running = remoteControl(
      {
        ...{ config: configOf(telegram, dir), bot: { stateDir: dir }, token: new Secret(REMOTE_TOKEN), clock: next },
        ...{ onLine: () => undefined, onTrouble: () => undefined },
      },
      stop.signal,
    );
    await until(() => telegram.sent.length === 4);
    expect(telegram.sent.slice(2).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^\/halt was ignored, because it was sent before the remote control started/),
      expect.stringMatching(/^This button had no effect/),
    ]);
    expect(latchIn(dir).read()).toBeNull();
    stop.abort();
    await running;
  });

  test('answers nothing to a flood of strangers, counts it, and still takes the command of its user', async () => {
    const { telegram, clock, dir } = await desk();
    for (let i = 0; i < 300; i++) telegram.says('/halt', soon(clock), { user: 5 + i, chat: 5 + i });
    telegram.says('/help', soon(clock));
    await until(() => telegram.sent.length === 1);
    expect(telegram.sent[0]!.text).toMatch(/^\/status: /);
    await until(() => remoteCountsIn(dir)?.foreign === 300);
    expect(telegram.notices).toEqual([]);
  });

  test.each<[string, Parameters<TelegramDouble['faults']['set']>[1], RegExp]>([
    ['an error', [{ status: 502, body: '<html>' }], /^getUpdates answered 502; retrying; trading continues$/],
    ['no JSON', [{ status: 200, body: '{"ok":' }], /^getUpdates answered 200; retrying/],
    ['no list', [{ status: 200, body: '{"ok":true,"result":7}' }], /no list of updates; retrying/],
    ['a closed connection', ['cut', 'cut'], /; retrying; trading continues$/],
    [
      'a second program with the same token',
      [{ status: 409, body: '{"ok":false,"description":"Conflict"}' }],
      /^getUpdates answered 409: Conflict \(another program reads the updates of this token/,
    ],
    [
      'a rejected token',
      [{ status: 401, body: '{"ok":false,"description":"Unauthorized"}' }],
      /Telegram does not know/,
    ],
  ])('survives %s: one line, then it takes commands again', async (_, faults, line) => {
    const { telegram, clock, lines, troubles } = await desk();
    telegram.faults.set('getUpdates', faults);
    // Ends the pending poll, after which the faults come.
    telegram.says('hello', soon(clock));
    await until(() => telegram.faults.get('getUpdates')!.length === 0);
    telegram.says('/help', soon(clock));
    await until(() => telegram.sent.length === 1);
    expect(lines.at(-1)).toBe('remote control: Telegram answers again');
    expect(troubles).toEqual([expect.stringMatching(line)]);
    expect(JSON.stringify([lines, troubles])).not.toContain(REMOTE_TOKEN);
  });

  test('reports one failure a minute while Telegram fails every other time', async () => {
    const { telegram, clock, lines, troubles } = await desk();
    for (let round = 0; round < 4; round++) {
      // Failures of different reasons, so that no comparison of texts makes one of them.
      telegram.faults.set('getUpdates', [{ status: 502 + (round % 2), body: '' }]);
      telegram.says('hello', soon(clock));
      await until(() => telegram.faults.get('getUpdates')!.length === 0);
      telegram.says('/help', soon(clock));
      await until(() => telegram.sent.length === round + 1);
      if (round === 2) clock.skip(60_000);
    }
    expect(troubles).toEqual([
      expect.stringContaining('getUpdates answered 502'),
      expect.stringContaining('getUpdates answered 503'),
    ]);
    expect(lines.filter(line => line === 'remote control: Telegram answers again')).toHaveLength(2);
  });

  test('reports a failure that lasts once, however long it lasts', async () => {
    const { telegram, clock, lines, troubles } = await desk();
    telegram.faults.set('getUpdates', Array<Fault>(4).fill({ status: 502, body: '' }));
    telegram.says('hello', soon(clock));
    for (const left of [3, 2, 1, 0]) {
      await until(() => telegram.faults.get('getUpdates')!.length === left);
      clock.skip(70_000);
    }
    telegram.says('/help', soon(clock));
    await until(() => telegram.sent.length === 1);
    expect(troubles).toEqual([expect.stringContaining('getUpdates answered 502')]);
    expect(lines.filter(line => line === 'remote control: Telegram answers again')).toHaveLength(1);
  });

  test('writes its last counts when it ends, though the next time to write them is far', async () => {
    const hasty = hastyClock();
    const clock = { ...hasty, after: (ms: number, call: () => void) => hasty.after(ms === 1_000 ? 600_000 : ms, call) };
    const { telegram, dir, leave } = await desk({ clock });
    telegram.says('/help', soon(clock));
    await until(() => telegram.sent.length === 1);
    expect(remoteCountsIn(dir)?.accepted).toBe(0);
    await leave();
    expect(remoteCountsIn(dir)?.accepted).toBe(1);
  });

  test('starts as soon as Telegram answers, and asks again when there was no update', async () => {
    const startFaults: Fault[] = ['cut', { status: 500, body: '' }, { status: 200, body: '{"ok":true,"result":{}}' }];
    const { telegram, troubles } = await desk({ startFaults, pollMs: 5 });
    expect(troubles).toHaveLength(1);
    await until(() => telegram.calls.filter(call => call === 'getUpdates').length > 3);
    expect(troubles).toHaveLength(1);
  });

  test('sends an answer again after a failure, waits as long as Telegram asks, and drops what Telegram rejects', async () => {
    const { telegram, clock, troubles } = await desk();
    telegram.faults.set('sendMessage', [{ status: 429, body: '{"ok":false,"parameters":{"retry_after":2}}' }, 'cut']);
    telegram.says('/help', soon(clock));
    await until(() => telegram.sent.length === 1);
    telegram.faults.set('sendMessage', [
      { status: 403, body: '{"ok":false,"description":"Forbidden: bot was kicked"}' },
    ]);
    telegram.says('/help', soon(clock));
    await until(() => troubles.length === 1);
    expect(troubles).toEqual(['an answer was dropped: sendMessage answered 403: Forbidden: bot was kicked']);
    telegram.says('/help', soon(clock));
    await until(() => telegram.sent.length === 2);
  });

  test('a button that is pressed after a minute has no effect', async () => {
    const { telegram, clock, latch } = await desk();
    telegram.says('/halt', soon(clock));
    await until(() => telegram.sent.length === 1);
    clock.skip(60_000);
    telegram.presses(telegram.lastButton);
    await until(() => telegram.sent.length === 2);
    expect(telegram.sent[1]!.text).toMatch(/^This button had no effect/);
    expect(latch.read()).toBeNull();
  });

  test('ends at once, also while Telegram does not answer', async () => {
    const { telegram, clock, leave } = await desk();
    telegram.faults.set('getUpdates', ['hang']);
    telegram.says('hello', soon(clock));
    await until(() => telegram.faults.get('getUpdates')!.length === 0);
    await leave();
  });
});
