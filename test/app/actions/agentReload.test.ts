/** A reload that an agent previews or proposes, beside a running bot: its mailbox stays untouched until a person reviews it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { changesForAgent, reloadedFile } from '../../../src/app/actions/reloadChanges.ts';
import { ProposalDesk } from '../../../src/app/actions/proposalDesk.ts';
import { reviewProposal } from '../../../src/app/actions/proposals.ts';
import { newProposalId } from '../../../src/app/console/consoleProposals.ts';
import { ReloadBox } from '../../../src/live/mailbox/mailbox.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { digestOf, reloadDigestOf } from '../../../src/app/run/reloading.ts';
import { readConfigText, shippedConfig } from '../../../src/wiring/configFile.ts';
import { Folders } from '../../live/states.ts';
import { folderWith, OWN_STRATEGY, quotingBy } from '../../strategies/ownFile.ts';
import { worldOf } from '../../live/world.ts';
import { botOn } from './botOn.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const SECRET = 'T0/the-secret-of-the-hook';
const files = (dir: string) =>
  ['reload.json', 'reload-answer.json', 'reloads.jsonl', 'reload-previewed.json'].map(name => {
    const path = join(dir, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : null;
  });

test('shows the changes without secrets, and leaves the reload of an operator as it was', async () => {
  const world = worldOf(71, {}, 'sandbox');
  const { stateDir, clock } = world;
  const folder = folders.fresh();
  mkdirSync(folder);
  const file = join(folder, 'my.yaml');
  const tree = parse(readFileSync(shippedConfig('sandbox'), 'utf8')) as Record<string, Record<string, unknown>>;
  const write = (changes: Record<string, unknown>) =>
    writeFileSync(file, stringify({ ...tree, metrics: { port: 0 }, state: { dir: stateDir }, ...changes }));
  write({});
  const { running, passing, bot, preview } = await botOn(world, file);
  const wider = { strategy: { ...tree['strategy'], halfSpreadBps: 40 } };
  const alerts = { webhook: { url: `https://hooks.example.com/${SECRET}` } };
  write(wider);
  const operators = { id: 'op-1', action: 'reload', reason: 'a test', by: 'Ana', via: 'command' } as const;
  expect((await passing(preview(operators)))[0]).toBe('strategy.halfSpreadBps: 16 -> 40');
  const before = files(stateDir);
  expect(before[3]).toContain(digestOf(readFileSync(file, 'utf8')));

  const desk = new ProposalDesk({ bot, clock, preview, newId: newProposalId });
  const asked = { action: 'reload', reason: 'wider spread', agent: 'Ana', minutes: null };
  const lines = await passing(desk.preview(asked));
  expect(lines).toContain('strategy.halfSpreadBps: 16 -> 40');
  const { id, digest } = await passing(desk.propose(asked));
  await clock.advance(5_000);
  expect(files(stateDir)).toEqual(before);
  write({ ...wider, alerts });
  const shown = (await passing(desk.preview(asked))).join('\n');
  expect(shown).toContain('alerts.webhook.url: not set -> "https://hooks.example.com/…": takes effect only after');
  expect(shown).not.toContain(SECRET);
  // A file with errors, and one without changes, say so and ask nothing either.
  write({ alerts: { webhook: { url: `http//${SECRET}` } } });
  await expect(passing(desk.preview(asked))).rejects.toThrow(/^the configuration file has errors; [^/]*$/);
  write({});
  expect(await passing(desk.preview(asked))).toContain('nothing has changed since the last recorded run');
  expect(files(stateDir)).toEqual(before);

  // The preview of a person asks the bot, and also leaves what the operator saw; also one that the bot refuses.
  write(wider);
  const approver = { by: 'Luz', via: 'command' } as const;
  const { lines: reviewed, approve } = await passing(reviewProposal(bot, { id, digest }, approver, clock, preview));
  expect(reviewed.some(line => line.includes(' ask '))).toBe(true);
  expect(files(stateDir).slice(2)).toEqual(before.slice(2));
  write({ alerts });
  const restart = { ...operators, id: 'op-2', by: 'a helper', via: 'agent' } as const;
  expect((await passing(preview(restart))).join('\n')).toMatch(/takes effect only after a restart/);
  expect(files(stateDir).slice(2)).toEqual(before.slice(2));
  write(wider);
  expect(await passing(approve())).toMatchObject({ end: 'done' });
  expect(await running.stop()).toMatchObject({ left: [], failure: null });
  world.end();
});

test('of a strategy file is bound to its text: a person reviews the text that the bot then runs', async () => {
  const world = worldOf(72, {}, 'sandbox');
  const { stateDir, clock } = world;
  const { dir, yaml: file } = folderWith(OWN_STRATEGY);
  const tree = parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, stringify({ ...tree, state: { dir: stateDir } }));
  const { running, passing, bot, preview } = await botOn(world, file);
  const desk = new ProposalDesk({ bot, clock, preview, newId: newProposalId });
  const asked = { action: 'reload', reason: 'a new idea', agent: 'Ana', minutes: null };
  expect(await passing(desk.preview(asked))).toContain('nothing has changed since the last recorded run');
  const write = (comment: string) => writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}// ${comment}\n`);
  write('one');
  const lines = await passing(desk.preview(asked));
  expect(lines[0]).toMatch(/^strategy\.name: "?own\.ts@[0-9a-f]{12}"? -> "?own\.ts@[0-9a-f]{12}"?$/);
  expect(lines.join('\n')).not.toContain('defineStrategy');
  const approver = { by: 'Luz', via: 'command' } as const;
  const review = (of: { readonly id: string; readonly digest: string }) =>
    passing(reviewProposal(bot, of, approver, clock, preview));
  const first = await review(await passing(desk.propose(asked)));
  // The preview of a person has the change and the quotes, and the bot has not run the file.
  expect(first.lines).toContain(lines[0]);
  expect(first.lines.some(line => / +now +then$/.test(line))).toBe(true);
  write('two');
  expect(await passing(first.approve())).toMatchObject({ end: 'refused', lines: [expect.stringMatching(/changed/)] });
  const second = await review(await passing(desk.propose({ ...asked, reason: 'again' })));
  expect(await passing(second.approve())).toMatchObject({ end: 'done' });
  expect(await passing(desk.preview(asked))).toContain('nothing has changed since the last recorded run');
  expect(await running.stop()).toMatchObject({ left: [], failure: null });
  world.end();
});

test('a reload that was approved for another text does not run the strategy file', async () => {
  const world = worldOf(71, {}, 'sandbox');
  const { stateDir, clock } = world;
  const { dir, yaml: file } = folderWith(OWN_STRATEGY);
  writeFileSync(file, stringify({ ...(parse(readFileSync(file, 'utf8')) as object), state: { dir: stateDir } }));
  const { running } = await botOn(world, file);
  const marker = join(dir, 'was-run');
  const mark = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(marker)}, '');\n`;
  writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}${mark}`);
  const { config, text } = readConfigText(file);
  const box = new ReloadBox(stateDir);
  for (const [id, digest, end] of [
    ['r-1', 'f'.repeat(64), 'kept'],
    ['r-2', digestOf(text), 'kept'],
    ['r-3', reloadDigestOf(text, config), 'taken'],
  ] as const) {
    box.put({ id, at: clock.now(), by: 'Ana', reason: 'a test', digest, isPreview: false });
    await clock.advance(10_000);
    expect([id, box.answered()?.end, existsSync(marker)]).toEqual([id, end, end === 'taken']);
  }
  await running.stop();
  world.end();
});

test.each([
  ['throws', "throw new Error('no luck');", /own\.ts:\d+ failed: no luck; correct the file/],
  [
    'quotes no number',
    'return around(p, lots, view, [...fairSteps(view), { name: "x", ticks: NaN }]);',
    /invalid quote: .*NaN/,
  ],
  ['never returns', 'for (;;);', /failed: quote: expected an end within 2 s, found none/],
])(
  'a reload of a strategy file that %s is refused, and the bot goes on with the file that it has',
  async (_, body, why) => {
    const world = worldOf(71, {}, 'sandbox');
    const { stateDir, clock } = world;
    const { dir, yaml: file } = folderWith(OWN_STRATEGY);
    writeFileSync(file, stringify({ ...(parse(readFileSync(file, 'utf8')) as object), state: { dir: stateDir } }));
    const { running } = await botOn(world, file);
    const live = () => world.box.exchange.venue.accounts.get(world.box.account.id)!.active.size;
    expect(live()).toBeGreaterThan(0);
    writeFileSync(join(dir, 'own.ts'), quotingBy(body));
    const { config, text } = readConfigText(file);
    const box = new ReloadBox(stateDir);
    const digest = reloadDigestOf(text, config);
    box.put({ id: 'r-1', at: clock.now(), by: 'Ana', reason: 'a test', digest, isPreview: false });
    await clock.advance(10_000);
    expect(box.answered()).toMatchObject({ end: 'kept' });
    expect(box.answered()!.lines[0]).toMatch(/^the bot would not quote: /);
    expect(box.answered()!.lines.join('\n')).toMatch(why);
    await clock.advance(20_000);
    expect(live()).toBeGreaterThan(0);
    expect(await running.stop()).toMatchObject({ left: [], failure: null });
    world.end();
  },
);

test('the changes of a file are those since the last recorded run, in words that say what a reload does with each', () => {
  const folder = folders.fresh();
  const dir = join(folder, 'state');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const [file, own] = [join(folder, 'my.yaml'), join(folder, 'own.ts')];
  writeFileSync(own, OWN_STRATEGY);
  const tree = parse(readFileSync(shippedConfig('sandbox'), 'utf8')) as Record<string, Record<string, unknown>>;
  const alerts = (secret: string) => ({ webhook: { url: `https://hooks.example.com/${secret}` } });
  const write = (changes: Record<string, unknown>) =>
    writeFileSync(file, stringify({ ...tree, state: { dir }, alerts: alerts(SECRET), ...changes }));
  const lines = () => changesForAgent({ configFile: file, stateDir: dir }, reloadedFile({ configFile: file, stateDir: dir }), 1); // prettier-ignore
  const notRunning = 'no bot is running (never ran): the bot reads the file at its next start';
  const reviewed = 'the bot computes its quotes with these changes when a person reviews the proposal';
  write({});
  expect(lines()).toEqual([notRunning, 'the changes are unknown, because the bot has no recording yet', reviewed]);
  const setup = JSON.stringify(readConfigText(file).config);
  recorderIn(dir, { run: 1, startedAt: 1, setup, format: 2 }).close();
  expect(lines()).toEqual([notRunning, 'nothing has changed since the last recorded run', reviewed]);
  write({ strategy: { ...tree['strategy'], halfSpreadBps: 40 }, log: { level: 'debug' } });
  expect(lines()).toEqual([notRunning, 'strategy.halfSpreadBps: 16 -> 40', 'log.level: "info" -> "debug"', reviewed]);
  write({ strategy: { ...tree['strategy'], halfSpreadBps: 40 }, alerts: alerts('another') });
  const [, spread, address, ...rest] = lines();
  expect([spread, address]).toEqual([
    'strategy.halfSpreadBps: 16 -> 40',
    expect.stringMatching(
      /^alerts\.webhook\.url: "https:\/\/hooks\.example\.com\/…" -> "https:\/\/hooks\.example\.com\/…": takes effect only after a restart/,
    ),
  ]);
  expect(rest).toEqual([
    'the bot refuses a reload with such a change, unless the difference comes from a flag of its start command',
    reviewed,
  ]);
  expect([lines().join('\n').includes(SECRET), lines().join('\n').includes('another')]).toEqual([false, false]);
  write({ strategy: { file: './own.ts', halfSpreadBps: 16, amount: '0.006', levels: 2 } });
  const unread = 'parameters of the strategy file that the configuration does not set are not compared';
  expect(lines()).toContain(unread);
  recorderIn(dir, { run: 2, startedAt: 2, setup: JSON.stringify(readConfigText(file).config), format: 2 }).close();
  expect(lines()).toEqual([notRunning, 'nothing has changed since the last recorded run', unread, reviewed]);
  write({});
  expect(lines()).not.toContain(unread);
});
