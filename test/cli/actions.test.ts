/** Status, pause, cancel and the journal, on real processes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { keysOf } from './jsonPage.ts';
import { Bench, printed, puntas, ran } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

type Status = {
  readonly bot: { readonly state: string };
  readonly heldBy: readonly { readonly what: string; readonly who: string | null; readonly reason: string }[];
  readonly run: { readonly bids: readonly unknown[]; readonly asks: readonly unknown[] };
  readonly lastAction: { readonly action: string } | null;
};

test('a person looks at a bot, pauses it over a restart, resumes it, has its orders canceled, and the journal has all of it', async () => {
  const config = bench.config();
  const state = bench.path('state-1');
  const status = async () => printed(await ran(['status', '-c', config, '--json'])) as Status;
  const act = (verb: string, ...more: string[]) => ran([verb, '-c', config, '--by', 'ann', ...more]);
  const first = puntas(['run', '-c', config]);
  await first.sees(/"bids":3,"asks":3/);
  const calm = await status();
  const ofSeveralBooks = ['otherBooks', 'otherProfits'];
  expect(Object.keys(calm)).toEqual(keysOf('status --json').filter(key => !ofSeveralBooks.includes(key)));
  expect([calm.bot.state, calm.heldBy, calm.run.bids.length, calm.lastAction]).toEqual(['runs', [], 3, null]);
  const { stdout: page } = await ran(['status', '-c', config]);
  const rows = page.trimEnd().split('\n');
  expect(rows.length).toBeLessThanOrEqual(15);
  expect(rows.filter(row => row.length > 80)).toEqual([]);

  const shown = await act('pause', '--preview');
  expect(shown.stdout).toMatch(
    /^[1-6] of [1-6] live orders would be canceled .*\n +now +then\n[\s\S]*then: none, paused by a person\n$/,
  );
  expect((await act('pause', '--reason', 'no')).stderr).toMatch(/--reason: expected a few words that say why/);
  const paused = await act('pause', '--for', '2h', '--reason', 'a look at the feed', '--json');
  expect([paused.code, Object.keys(printed(paused) as object)]).toEqual([0, keysOf('pause --json')]);
  await first.sees(/"bids":0,"asks":0/);
  first.signal('SIGTERM');
  expect((await first.ended).code).toBe(0);

  const second = puntas(['run', '-c', config]);
  await second.sees(/paused by ann: a look at the feed/);
  await second.sees(/"bids":0,"asks":0/);
  expect((await status()).heldBy).toMatchObject([{ what: 'pause', who: 'ann', reason: 'a look at the feed' }]);
  expect((await act('resume', '--reason', 'it is fine')).code).toBe(0);
  await second.sees(/"bids":3,"asks":3/);

  const canceled = await act('cancel', '--reason', 'they look odd');
  expect([canceled.code, canceled.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^\d orders? \S+ live; verified: no open orders of demo left on btc_mxn\nrun \d+ resumed after /,
    ),
  ]);
  const both = await Promise.all(['one', 'two'].map(name => act('pause', '--reason', `both at once, ${name}`)));
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  second.signal('SIGTERM');
  expect((await second.ended).code).toBe(0);
  const nobody = await act('cancel', '--reason', 'they look odd');
  expect([nobody.code, nobody.stderr]).toEqual([
    3,
    expect.stringMatching(/: the bot has stopped; to cancel its remaining orders, run: npx puntas halt --cancel/),
  ]);

  const journal = readFileSync(join(state, 'actions.jsonl'), 'utf8').trimEnd().split('\n');
  const entries = journal.map(line => JSON.parse(line) as { action: string; by: string; end: string });
  expect(entries.map(({ action, end }) => `${action} ${end}`)).toEqual([
    ...['pause done', 'resume done', 'cancel done', 'pause done', 'pause done', 'cancel refused'],
  ]);
  expect(new Set(entries.map(({ by }) => by))).toEqual(new Set(['ann']));
  const replayed = await ran(['replay', state, '--all']);
  expect([replayed.code, replayed.stdout.match(/all commands identical/g)?.length]).toEqual([0, 3]);
});
