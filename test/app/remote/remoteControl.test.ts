/** Updates that act: only the button of a preview, once, in time, by the user and in the chat of the preview. */
import { mkdirSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import { ACTION_NAMES } from '../../../src/app/actions/actions.ts';
import { readChatUpdate, type ChatUpdate } from '../../../src/app/remote/chatUpdate.ts';
import { previewKey, previewWithin, remoteBot } from '../../../src/app/remote/remote.ts';
import { RemoteControl } from '../../../src/app/remote/remoteControl.ts';
import { APPROVAL_MS, type ActionRequest } from '../../../src/console/index.ts';
import { settle, VirtualClock } from '../../../src/core/index.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { REMOTE_OUTCOMES } from '../../../src/live/safety/remoteCounts.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import { Folders } from '../../live/states.ts';
import { runsOf } from '../../many.ts';

const folders = new Folders();
afterAll(() => folders.clear());

type Sent = { readonly chat: string; readonly text: string; readonly button: string | null };

/** A control of a bot that does not run, with a real state directory and the actions of the console. */
function desk({ canResume = false, users = ['1', '2'], books = [] as readonly string[] } = {}) {
  const dir = folders.fresh();
  mkdirSync(dir, { mode: 0o700 });
  const clock = new VirtualClock();
  const bot = { stateDir: dir, ...(books.length === 0 ? {} : { configFile: 'config/desk.yaml' }) };
  const sent: Sent[] = [];
  const notices: string[] = [];
  let made = 0;
  const reads: string[] = [];
  const control = new RemoteControl({
    ...{ chats: ['-100', '-200'], users, canResume, ownName: 'desk_bot', botName: () => 'main btc_mxn', clock },
    books: () => books,
    newId: () => `id-${++made}`,
    ...remoteBot(bot, clock, async ask => (await previewAction(bot, ask, clock)).lines),
    read: async read => {
      reads.push(read);
      await settle();
      return `the ${read}`;
    },
    send: (chat, text, button) => void sent.push({ chat, text, button: button?.data ?? null }),
    acknowledge: (_, text) => void notices.push(text),
  });
  let next = 100;
  const take = async (update: unknown): Promise<void> => {
    control.take(readChatUpdate(update)!);
    for (let turns = 0; turns < 4; turns++) await settle();
  };
  const says = (text: string, { user = 1, chat = -100, at = clock.now() + 1_000, id = next++, more = {} } = {}) =>
    take({
      update_id: id,
      message: {
        text,
        date: Math.floor(at / 1000),
        from: { id: user, first_name: 'Ana' },
        chat: { id: chat },
        ...more,
      },
    });
  const presses = (data: string, { user = 1, chat = -100, id = next++ } = {}) =>
    take({ update_id: id, callback_query: { id: 'c', data, from: { id: user }, message: { chat: { id: chat } } } });
  const button = () => sent.findLast(each => each.button !== null)?.button ?? 'none';
  return { dir, clock, control, sent, notices, reads, says, presses, take, button, latch: latchIn(dir) };
}

/** Stops in force. */
const stopsOf = (dir: string) => [latchIn(dir).read(), latchIn(dir).readReduce(), latchIn(dir).readPause()];

describe('an action', () => {
  test('is previewed, and only its button acts: the latch and the journal name the user, the channel and the reason', async () => {
    const { says, presses, button, sent, latch, dir, notices } = desk();
    await says('/halt the feed looks wrong');
    expect(sent.at(-1)!.text).toMatch(
      /^main btc_mxn: preview of halt\. Reason: the feed looks wrong\n- no bot is running[^]*Nothing has happened yet\. Confirm within 60 s\.$/,
    );
    expect(latch.read()).toBeNull();
    await presses(button());
    expect(latch.read()).toMatchObject({ reason: 'the feed looks wrong', by: 'person', who: 'Telegram 1 (Ana)' });
    expect(actionsIn(dir)).toMatchObject([{ action: 'halt', via: 'telegram', by: 'Telegram 1 (Ana)', end: 'done' }]);
    expect(sent.at(-1)!.text).toMatch(/^main btc_mxn: Done\.\n- /);
    expect(notices).toEqual(['Started; the result follows.']);
  });

  test.each([
    ['/pause', null, 'no reason given'],
    ['/pause 30m', 30, 'no reason given'],
    ['/pause 2h odd fills', 120, 'odd fills'],
    ['/pause 3H', 180, 'no reason given'],
    ['/PAUSE@Desk_Bot   odd\nfills', null, 'odd fills'],
  ])('%j pauses for %j minutes, because of %j', async (text, minutes, reason) => {
    const { says, presses, button, latch, clock } = desk();
    await says(text);
    const at = clock.now();
    await presses(button());
    const until = minutes === null ? null : at + minutes * 60_000;
    expect(latch.readPause()).toMatchObject({ reason, until });
  });

  test('a pause lasts as long as its number of minutes or hours, in letters of any case, from a minute to a week', async () => {
    const unit = fc.constantFrom(['m', 1], ['M', 1], ['h', 60], ['H', 60] as const);
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.nat(200), fc.nat(99_999)), unit, async (count, [letter, scale]) => {
        const { says, presses, button, latch, clock, sent } = desk();
        await says(`/pause ${count}${letter}`);
        const minutes = count * Number(scale);
        if (minutes < 1 || minutes > 7 * 24 * 60) {
          expect([button(), sent.length]).toEqual(['none', 1]);
          return;
        }
        const at = clock.now();
        await presses(button());
        expect(latch.readPause()?.until).toBe(at + minutes * 60_000);
      }),
      runsOf(100, 12),
    );
  });

  test.each(['/pause 0m', '/pause 169h'])('%j is refused with the reason, and has no button', async text => {
    const { says, sent, button } = desk();
    await says(text);
    expect(sent.at(-1)!.text).toMatch(/ failed: expected a duration/);
    expect(button()).toBe('none');
  });

  test.each(['/halt abc', '/pause 30m ok', '/pause 90'])('%j acts although its reason is short', async text => {
    const { says, presses, button, latch } = desk();
    await says(text);
    await presses(button());
    expect((latch.read() ?? latch.readPause())?.reason).toMatch(/^(abc|ok|90) \(no further reason\)$/);
  });

  test.each([
    ['/pause', '/pause 1m', true],
    ['/pause 2h', '/pause 119m', true],
    ['/pause 2h', '/pause 2h', false],
    ['/pause 2h', '/pause', false],
  ])(
    'of pauses: after %j, %j is refused (%j), because it would let the bot quote sooner',
    async (first, then, isRefused) => {
      const { says, presses, button, sent, latch } = desk();
      await says(first);
      await presses(button());
      const before = latch.readPause();
      const shown = sent.length;
      await says(then);
      const last = sent.slice(shown).at(-1)!;
      expect(last.button === null).toBe(isRefused);
      if (isRefused) expect(last.text).toMatch(/a shorter one would let the bot quote sooner, and resume is off here/);
      if (isRefused) expect(latch.readPause()).toEqual(before);
      const free = desk({ canResume: true });
      await free.says(first);
      await free.presses(free.button());
      const count = free.sent.length;
      await free.says(then);
      expect(free.sent.slice(count).at(-1)!.button).not.toBeNull();
    },
  );

  test('is refused if another pause came after the preview of a pause', async () => {
    const { says, presses, button, sent, latch, clock } = desk();
    await says('/pause 30m');
    latch.setPause({ reason: 'of the desk', at: clock.now(), by: 'person', until: null });
    await presses(button());
    expect(sent.at(-1)!.text).toMatch(/REFUSED\.\n- the stops in force have changed since the preview/);
    expect(latch.readPause()?.reason).toBe('of the desk');
  });

  test('is confirmed once: a second press has no effect and says so', async () => {
    const { says, presses, button, sent, dir } = desk();
    await says('/reduce');
    await presses(button());
    await presses(button());
    expect(actionsIn(dir)).toHaveLength(1);
    expect(sent.at(-1)!.text).toMatch(/^This button had no effect/);
  });

  test('expires after a minute, also one that the machine slept through', async () => {
    for (const pass of [
      async (clock: VirtualClock) => clock.advance(APPROVAL_MS),
      async (clock: VirtualClock) => clock.step(APPROVAL_MS),
    ]) {
      const { says, presses, button, clock, latch, sent } = desk();
      await says('/halt');
      await pass(clock);
      await presses(button());
      expect(latch.read()).toBeNull();
      expect(sent.at(-1)!.text).toMatch(/^This button had no effect/);
    }
  });

  test.each([
    ['another user', { user: 2 }],
    ['the same user in another chat', { chat: -200 }],
  ])('is not confirmed by %s', async (_, who) => {
    const { says, presses, button, latch } = desk();
    await says('/halt');
    await presses(button(), who);
    expect(latch.read()).toBeNull();
    await presses(button());
    expect(latch.read()).not.toBeNull();
  });

  test('resume is off until it is switched on', async () => {
    const off = desk();
    off.latch.set({ reason: 'a loss', at: 0, by: 'bot' });
    await off.says('/resume');
    expect(off.sent.at(-1)!.text).toMatch(/^unknown command \/resume\n[^]*Resume is off here/);
    expect(off.button()).toBe('none');
    const on = desk({ canResume: true });
    on.latch.set({ reason: 'a loss', at: 0, by: 'bot' });
    await on.says('/resume we have looked');
    expect(on.sent.at(-1)!.text).toContain('halt by the bot (a loss) would be lifted');
    await on.presses(on.button());
    expect(on.latch.read()).toBeNull();
  });

  test('resume does not lift a halt that came after its preview', async () => {
    const { says, presses, button, latch, sent } = desk({ canResume: true });
    latch.setPause({ reason: 'a look', at: 0, by: 'person', until: null });
    await says('/resume');
    latch.set({ reason: 'a loss', at: 1, by: 'bot' });
    await presses(button());
    expect(latch.read()).toMatchObject({ reason: 'a loss' });
    expect(latch.readPause()).not.toBeNull();
    expect(sent.at(-1)!.text).toMatch(/^main btc_mxn: REFUSED\.\n- the stops in force have changed since the preview/);
  });
});

describe('an update', () => {
  test.each([
    ['a user who is not listed', { user: 3 }],
    ['a chat that is not listed', { chat: -300 }],
    ['the private chat of a listed user that is not listed', { chat: 1 }],
  ])('from %s is counted and not answered', async (_, who) => {
    const { says, presses, sent, notices, control, button } = desk();
    await says('/status', who);
    await says('/halt', who);
    await says('hello', who);
    await says('/halt');
    const before = sent.length;
    await presses(button(), who);
    expect(sent).toHaveLength(before);
    expect(notices).toEqual([]);
    expect(control.counts).toEqual({ accepted: 1, foreign: 4, old: 0, repeated: 0, 'too many': 0, ignored: 0 });
  });

  test.each([
    ['hello', {}],
    ['/halt@other_bot', {}],
    ['/halt', { more: { forward_origin: { type: 'user' } } }],
    ['/halt', { more: { via_bot: { id: 4 } } }],
    ['not /halt', {}],
  ])('%j %j is no command to this bot', async (text, how) => {
    const { says, sent, control } = desk();
    await says(text, how);
    expect(sent).toEqual([]);
    expect(control.counts.ignored).toBe(1);
  });

  test('that is old, or from before the start, or from a clock that is ahead, does not act, and its user learns it', async () => {
    const { says, sent, clock, button, control } = desk();
    await says('/halt', { at: clock.now() - 1 });
    expect(sent.at(-1)!.text).toMatch(/^\/halt was ignored, because it was sent before the remote control started; /);
    await clock.advance(600_000);
    await says('/halt', { at: clock.now() - 62_000 });
    expect(sent.at(-1)!.text).toMatch(/because it was sent 62 s ago \(maximum 60 s\)/);
    await says('/halt', { at: clock.now() + 62_000 });
    expect(sent.at(-1)!.text).toMatch(/because its time is 62 s ahead of the clock/);
    expect(button()).toBe('none');
    expect(control.counts.old).toBe(3);
    await says('/halt', { at: clock.now() - 58_000 });
    expect(button()).not.toBe('none');
  });

  test('that is repeated under its number has no second effect', async () => {
    const { says, presses, button, sent, dir, control } = desk();
    await says('/halt', { id: 7 });
    await says('/halt', { id: 7 });
    expect(sent).toHaveLength(1);
    await presses(button(), { id: 8 });
    await presses(button(), { id: 8 });
    expect(actionsIn(dir)).toHaveLength(1);
    expect(control.counts.repeated).toBe(2);
  });

  test('of the last 2,000 is repeated, whatever came before it, and the number of an older one is free again', () => {
    const { control } = desk();
    const isRepeated = (id: number): boolean => {
      const before = control.counts.repeated;
      control.take({ id, sender: null, content: { kind: 'other' } });
      return control.counts.repeated > before;
    };
    for (let id = 0; id < 5_000; id++) {
      expect(isRepeated(id)).toBe(false);
      for (const back of [0, 1, 1_999]) if (id >= back) expect(isRepeated(id - back)).toBe(true);
    }
    expect(isRepeated(1_000)).toBe(false);
  });

  test('of any sender and kind counts once under its number; later ones of that number are repeated and have no answer', async () => {
    const update = fc.record({
      id: fc.nat(4),
      sender: fc.constantFrom(null, { chat: '-100', user: '1', name: '' }, { chat: '-7', user: '1', name: '' }),
      content: fc.constantFrom(
        { kind: 'other' } as const,
        { kind: 'button', callbackId: 'c', data: 'confirm:id-1' } as const,
        { kind: 'command', command: 'help', addressee: null, words: '', at: 0 } as const,
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(update, { maxLength: 10 }), async updates => {
        const { control, sent, clock } = desk();
        const known = new Set<number>();
        for (const { content, ...one } of updates) {
          const [shown, before] = [sent.length, control.counts];
          control.take({ ...one, content: content.kind === 'command' ? { ...content, at: clock.now() } : content });
          await settle();
          expect(control.counts.repeated - before.repeated).toBe(known.has(one.id) ? 1 : 0);
          if (known.has(one.id)) expect(sent).toHaveLength(shown);
          known.add(one.id);
        }
        expect(REMOTE_OUTCOMES.reduce((sum, outcome) => sum + control.counts[outcome], 0)).toBe(updates.length);
      }),
      runsOf(500, 30),
    );
  });

  test('of a flood is answered twenty times a minute, with one notice; other users are not affected', async () => {
    const { says, sent, control, clock } = desk();
    for (let i = 0; i < 100; i++) await says('/help');
    expect(sent).toHaveLength(21);
    expect(sent.at(-1)!.text).toBe('too many commands: at most 20 per minute; wait a minute');
    expect(control.counts).toMatchObject({ accepted: 20, 'too many': 80 });
    await says('/help', { user: 2 });
    expect(sent).toHaveLength(22);
    await clock.advance(60_000);
    await says('/help');
    expect(sent).toHaveLength(23);
  });

  test('of any history is answered at most twenty times a minute for a user in a chat, with one notice each time that this is reached', async () => {
    const step = fc.record({
      ms: fc.constantFrom(0, 30_000, 30_000, 59_999, 60_000),
      count: fc.constantFrom(1, 20, 25),
      owner: fc.constantFrom([1, -100], [1, -100], [1, -100], [1, -200], [2, -100] as const),
      kind: fc.constantFrom('command', 'button'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async steps => {
        const { control, sent, clock } = desk();
        const seen = new Map<string, { at: number[]; isTold: boolean }>();
        let [id, wanted] = [0, 0];
        for (const { ms, count, owner: of, kind } of steps) {
          const [user, chat] = [Number(of[0]), Number(of[1])];
          await clock.advance(ms);
          const [now, before] = [clock.elapsed(), wanted];
          const owner = seen.get(`${user} ${chat}`) ?? { at: [], isTold: false };
          seen.set(`${user} ${chat}`, owner);
          for (let n = 0; n < count; n++) {
            const sender = { chat: String(chat), user: String(user), name: '' };
            const command = { kind: 'command', command: 'help', addressee: null, words: '', at: clock.now() } as const;
            const press = { kind: 'button', callbackId: 'c', data: `confirm:id-${id}` } as const;
            control.take({ id: ++id, sender, content: kind === 'command' ? command : press });
            const isAccepted = owner.at.filter(at => at > now - 60_000).length < 20;
            if (isAccepted) owner.at.push(now);
            if (isAccepted || !owner.isTold) wanted++;
            owner.isTold = !isAccepted;
          }
          await settle();
          expect(sent.slice(before).map(each => each.chat)).toEqual(
            new Array<string>(wanted - before).fill(String(chat)),
          );
        }
      }),
      runsOf(300, 60),
    );
  });

  test('that asks for the same read as another one shares its result', async () => {
    const { control, sent, reads, clock } = desk();
    for (let id = 0; id < 5; id++)
      control.take({
        id,
        sender: { chat: '-100', user: '1', name: '' },
        content: { kind: 'command', command: 'status', addressee: null, words: '', at: clock.now() },
      });
    for (let turns = 0; turns < 4; turns++) await settle();
    expect(reads).toEqual(['status']);
    expect(sent.map(({ text }) => text)).toEqual(new Array<string>(5).fill('the status'));
  });

  test('of any form is read without an error, and its number is kept', () => {
    const part = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(null, [], {}, '/halt', { id: 1 }, { id: 1e300 }));
    const message = fc.record(
      { text: part, date: part, from: part, chat: part, forward_origin: part },
      { requiredKeys: [] },
    );
    const update = fc.record(
      { update_id: fc.nat(), message: fc.oneof(part, message), callback_query: fc.oneof(part, message) },
      { requiredKeys: ['update_id'] },
    );
    fc.assert(
      fc.property(update, raw => {
        const found = readChatUpdate(raw)!;
        expect(found.id).toBe(raw.update_id);
        if (found.sender !== null) expect(found.sender.user).toMatch(/^-?\d+$/);
      }),
    );
    for (const none of [null, 1, 'x', [], {}, { update_id: -1 }, { update_id: 1.5 }, { update_id: '1' }])
      expect(readChatUpdate(none)).toBeNull();
  });
});

describe('every command', () => {
  const sender = fc.constantFrom(
    { user: 1, chat: -100, isListed: true },
    { user: 2, chat: -200, isListed: true },
    { user: 3, chat: -100, isListed: false },
    { user: 1, chat: -300, isListed: false },
    { user: 3, chat: -300, isListed: false },
    // The private chat of a listed user.
    { user: 1, chat: 1, isListed: false },
  );

  test('of the help and every action of Puntas: answers listed senders once, others never, and does nothing by itself', async () => {
    const { says: help, sent: told } = desk({ canResume: true });
    await help('/help');
    const helped = [...told[0]!.text.matchAll(/^\/(\w+)/gm)].map(([, command]) => command!);
    expect(helped).toEqual(expect.arrayContaining(['status', 'profit', 'pause', 'reduce', 'halt', 'resume']));
    const commands = [...new Set([...helped, ...ACTION_NAMES, 'help', 'set', 'start', 'confirm', 'approve'])];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...commands),
        sender,
        fc.boolean(),
        async (command, { isListed, ...who }, canResume) => {
          const { says, sent, dir, button } = desk({ canResume });
          await says(`/${command} to try it`, who);
          expect(sent.length).toBe(isListed ? 1 : 0);
          // A button is offered for the actions of the help only.
          const isAction = ['pause', 'reduce', 'halt', ...(canResume ? ['resume'] : [])].includes(command);
          if (!isAction || !isListed) expect(button()).toBe('none');
          expect(actionsIn(dir)).toEqual([]);
          expect(stopsOf(dir)).toEqual([null, null, null]);
        },
      ),
      runsOf(400, 80),
    );
  });

  test('guesses of a button: a thousand by strangers do nothing, a listed user has twenty a minute, and the true one still acts', async () => {
    const { says, presses, button, dir, sent, clock, latch } = desk();
    await says('/halt the feed looks wrong');
    const shown = sent.length;
    for (let i = 0; i < 1_000; i++) await presses(i % 2 === 0 ? button() : `confirm:id-${i}`, { user: 3, chat: -100 });
    expect([actionsIn(dir), sent.length]).toEqual([[], shown]);
    for (let i = 0; i < 100; i++) await presses(`confirm:guess-${i}`, { user: 2, chat: -100 });
    // Each accepted guess is answered, and the end of them once.
    expect([actionsIn(dir), sent.length - shown]).toEqual([[], 21]);
    expect(stopsOf(dir)).toEqual([null, null, null]);
    await clock.advance(30_000);
    await presses(button());
    expect(latch.read()).toMatchObject({ reason: 'the feed looks wrong', by: 'person' });
    expect(actionsIn(dir)).toHaveLength(1);
  });
});

type Step =
  | {
      readonly kind: 'says';
      readonly user: number;
      readonly chat: number;
      readonly age: number;
      readonly action: string;
    }
  | { readonly kind: 'presses'; readonly user: number; readonly chat: number; readonly which: number }
  | { readonly kind: 'repeats'; readonly which: number }
  | { readonly kind: 'passes'; readonly ms: number };

/** Mostly one user in one chat; the last user and the last chat are not listed. */
const who = {
  user: fc.constantFrom(1, 1, 1, 1, 2, 3),
  chat: fc.constantFrom(-100, -100, -100, -100, -200, -300),
};
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    ...{ kind: fc.constant('says' as const), ...who },
    age: fc.constantFrom(-70_000, 0, 0, 2_000, 30_000, 59_000, 62_000),
    action: fc.constantFrom('halt', 'halt', 'pause', 'resume', 'status', 'flatten', 'reload'),
  }),
  fc.record({ kind: fc.constant('presses' as const), ...who, which: fc.constantFrom(0, 0, 0, 1, 2) }),
  fc.record({ kind: fc.constant('repeats' as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant('passes' as const), ms: fc.constantFrom(1, 1_000, 5_000, 59_999, 60_000) }),
);
const steps = fc.array(step, { minLength: 10, maxLength: 60 });

describe('a preview that is not ready', () => {
  const asked = (action: 'halt' | 'resume') =>
    ({ id: 'one', action, reason: 'look at it', by: 'ana', via: 'telegram' }) as const;
  const failing = async () => {
    throw new Error('the recording is damaged');
  };

  test('because it failed does not prevent a stop, and prevents a resume', async () => {
    const clock = new VirtualClock();
    expect(await previewWithin(asked('halt'), clock, failing())).toEqual([
      'the effect on the quotes is unknown, because the replay of the recording failed (the recording is damaged); the action does not depend on it',
    ]);
    await expect(previewWithin(asked('resume'), clock, failing())).rejects.toThrow(
      'no preview, because the replay of the recording failed (the recording is damaged); use puntas resume on the machine',
    );
  });

  test.each([
    ['halt', 10_000],
    ['resume', 120_000],
  ] as const)('of a %s is waited for %i ms', async (action, ms) => {
    const clock = new VirtualClock();
    const lines = new Promise<readonly string[]>(() => undefined);
    let end = '';
    void previewWithin(asked(action), clock, lines).then(
      ([line]) => void (end = String(line)),
      (error: unknown) => void (end = String(error)),
    );
    await clock.advance(ms - 1);
    expect(end).toBe('');
    await clock.advance(1);
    expect(end).toMatch(action === 'halt' ? /does not depend on it$/ : /use puntas resume on the machine$/);
  });
});

test('nothing acts but a press within a minute of a preview, by its user in its chat, and no preview acts twice', async () => {
  let actedInAll = 0;
  await fc.assert(
    fc.asyncProperty(steps, async all => {
      const clock = new VirtualClock();
      const prepared: { readonly id: string; readonly owner: string; readonly at: number }[] = [];
      const acted: { readonly id: string; readonly by: string; readonly at: number }[] = [];
      let [made, presser] = [0, ''];
      const control = new RemoteControl({
        ...{ chats: ['-100', '-200'], users: ['1', '2'], canResume: false, ownName: 'desk_bot', clock },
        ...{ botName: () => 'main btc_mxn', pauseNow: () => null, books: () => [], stoppedBooks: () => [] },
        newId: () => `id-${++made}`,
        actions: {
          names: [],
          cost: async () => [],
          prepare: async (request: ActionRequest) => {
            expect(['halt', 'pause']).toContain(request.action);
            const id = `id-${prepared.length + 1}`;
            prepared.push({ id, owner: asker, at: clock.now() });
            return {
              lines: [],
              execute: async () => {
                acted.push({ id, by: presser, at: clock.now() });
                return { end: 'done', lines: [] };
              },
            };
          },
        },
        read: async read => read,
        send: () => undefined,
        acknowledge: () => undefined,
      });
      let asker = '';
      const taken: { readonly update: ChatUpdate; readonly owner: string }[] = [];
      const take = async (update: ChatUpdate, owner: string): Promise<void> => {
        [asker, presser] = [owner, owner];
        control.take(update);
        await settle();
      };
      await clock.advance(100_000);
      for (const step of all) {
        if (step.kind === 'passes') await clock.advance(step.ms);
        else if (step.kind === 'repeats') {
          const again = taken[step.which];
          if (again !== undefined) await take(again.update, again.owner);
        } else {
          const owner = `${step.chat} ${step.user}`;
          const content =
            step.kind === 'says'
              ? ({
                  kind: 'command',
                  command: step.action,
                  addressee: null,
                  words: '',
                  at: clock.now() - step.age,
                } as const)
              : ({ kind: 'button', callbackId: 'c', data: `confirm:id-${made - step.which}` } as const);
          const sender = { chat: String(step.chat), user: String(step.user), name: '' };
          const update = { id: taken.length, sender, content };
          taken.push({ update, owner });
          await take(update, owner);
        }
      }
      actedInAll += acted.length;
      expect(new Set(acted.map(({ id }) => id)).size).toBe(acted.length);
      for (const { id, by, at } of acted) {
        const preview = prepared.find(each => each.id === id)!;
        expect(by).toBe(preview.owner);
        expect(at - preview.at).toBeLessThan(APPROVAL_MS);
        expect(by).toMatch(/^-[12]00 [12]$/);
      }
      expect(REMOTE_OUTCOMES.reduce((sum, outcome) => sum + control.counts[outcome], 0)).toBeGreaterThanOrEqual(
        taken.length,
      );
    }),
    runsOf(2_000, 200),
  );
  expect(actedInAll).toBeGreaterThan(0);
});

describe('a bot with several books', () => {
  const books = ['btc_mxn', 'eth_mxn', 'btc_usd'];
  /** Stops in a state directory: those of all books, and those of each. */
  const stopsIn = (dir: string) =>
    [latchIn(dir), ...books.map(book => bookLatchIn(dir, book))].map(latch =>
      latch.read() !== null ? 'halt' : latch.readReduce() !== null ? 'reduce' : latch.readPause() ? 'pause' : '',
    );

  test('is acted on in exactly the book whose preview is confirmed, and in all of them without a name', async () => {
    const which = fc.constantFrom('', ...books, 'ETH_MXN');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('pause', 'reduce', 'halt'),
        which,
        which,
        fc.boolean(),
        async (action, one, other, isFirst) => {
          const { says, presses, dir, sent } = desk({ books });
          const previewed = async (book: string) => {
            await says(`/${action} ${book} odd prices`);
            return sent.at(-1)!;
          };
          const first = await previewed(one);
          const second = await previewed(other);
          const target = (book: string) => (book === '' ? 'all 3 books' : book.toLowerCase());
          expect(first.text).toContain(`preview of ${action} of ${target(one)}. Reason: odd prices\n`);
          expect(second.text).toContain(`preview of ${action} of ${target(other)}. Reason: odd prices\n`);
          expect(stopsIn(dir)).toEqual(['', '', '', '']);
          await presses((isFirst ? first : second).button!);
          const book = (isFirst ? one : other).toLowerCase();
          expect(stopsIn(dir)).toEqual(['', ...books].map(each => (each === book ? action : '')));
        },
      ),
      runsOf(60, 12),
    );
  });

  test('refuses the name of a book that it does not have, and names its books in the help', async () => {
    const { says, sent, button, dir } = desk({ books });
    await says('/halt sol_mxn odd prices');
    expect(sent.at(-1)!.text).toBe('/halt failed: sol_mxn: expected a book of this bot (btc_mxn, eth_mxn, btc_usd)');
    expect([button(), stopsIn(dir)]).toEqual(['none', ['', '', '', '']]);
    await says('/help');
    expect(sent.at(-1)!.text).toContain('like /halt btc_mxn; without a name, all books');
  });

  test('resumes one book and no other', async () => {
    const { says, presses, button, dir } = desk({ books, canResume: true });
    for (const book of books) {
      await says(`/halt ${book}`);
      await presses(button());
    }
    await says('/resume eth_mxn seen');
    await presses(button());
    expect(stopsIn(dir)).toEqual(['', 'halt', '', 'halt']);
  });

  test('has after a reload the books that it has then, and resumes only the removed book that it names', async () => {
    const quoted: string[] = ['btc_mxn', 'eth_mxn'];
    const { says, presses, button, dir, sent } = desk({ books: quoted, canResume: true });
    await says('/halt btc_usd odd prices');
    expect(sent.at(-1)!.text).toContain('expected a book of this bot (btc_mxn, eth_mxn)');
    quoted.push('btc_usd');
    await says('/help');
    expect(sent.at(-1)!.text).toContain('like /halt btc_mxn; without a name');
    for (const words of ['btc_usd odd prices', 'all odd prices']) {
      await says(`/halt ${words}`);
      await presses(button());
    }
    expect(sent.at(-2)!.text).toContain('preview of halt of all 3 books');
    expect(stopsIn(dir)).toEqual(['halt', '', '', 'halt']);
    quoted.splice(0);
    await says('/resume btc_usd seen');
    expect(sent.at(-1)!.text).toContain('preview of resume of btc_usd');
    await presses(button());
    expect(stopsIn(dir)).toEqual(['halt', '', '', '']);
  });

  test('has no shorter pause of a book whose pause is longer, while resume is off', async () => {
    const { says, presses, button, sent } = desk({ books });
    await says('/pause eth_mxn 2h');
    await presses(button());
    await says('/pause eth_mxn 1h');
    expect(sent.at(-1)!.text).toContain('a pause is in force that lasts until');
    await says('/pause btc_mxn 1h');
    expect(sent.at(-1)!.text).toContain('preview of pause of btc_mxn for 60 minutes');
  });

  test('has one preview for equal requests that are made at the same time, and one for each resume', async () => {
    const dir = folders.fresh();
    mkdirSync(dir, { mode: 0o700 });
    const made: string[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>(resolve => (release = resolve));
    const { actions } = remoteBot({ stateDir: dir }, new VirtualClock(), async asked => {
      made.push(previewKey(asked));
      await held;
      return [String(made.length)];
    });
    const names = ['pause', 'reduce', 'halt', 'resume'];
    const targets = [{}, ...books.map(book => ({ book }))];
    const requests = [...names, ...names].flatMap(action =>
      targets.map(of => ({ action, ...of, reason: 'odd fills', by: 'Ana', minutes: null, costMax: null })),
    );
    const all = requests.map(request => actions.prepare(request, () => undefined));
    release();
    await Promise.all(all);
    const counts = new Map(made.map(key => [key, made.filter(each => each === key).length]));
    for (const [key, count] of counts) expect([key, count]).toEqual([key, key.startsWith('resume ') ? 2 : 1]);
    expect(counts.size).toBe(names.length * targets.length);
  });

  test('has a preview for each book', () => {
    const asked = { id: 'a', reason: 'the test', by: 'ann', via: 'telegram', action: 'halt' } as const;
    const keys = [previewKey(asked), ...books.map(book => previewKey({ ...asked, book }))];
    expect(new Set(keys).size).toBe(4);
  });
});
