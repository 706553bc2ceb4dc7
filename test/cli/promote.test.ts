/** `puntas promote` as a user runs it, from a tuned candidate to the live file of a bot that runs, and back. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { keptCopy } from '../../src/app/promote/liveFile.ts';
import { noteInJournal } from '../../src/app/promote/promotionJournal.ts';
import { approved, placed } from '../app/promote/records.ts';
import { keysOfStudy } from '../backtest/app/tune/studies.ts';
import { keysOf } from './jsonPage.ts';
import { Bench, complaints, endPrograms, printed, puntas, ran } from './program.ts';

const bench = new Bench();
// One that fails leaves no bot behind.
afterEach(endPrograms);
afterAll(() => bench.clear());

type Told = {
  readonly end: string;
  readonly stage: string | null;
  readonly check: {
    readonly result: string;
    readonly findings: readonly CriterionFinding[];
    readonly run: unknown;
  } | null;
  readonly lines: readonly string[];
  readonly next: readonly string[];
};
type CriterionFinding = { readonly criterion: string; readonly found: string; readonly result: string };

const FLOW = {
  tapes: [{ name: 'unseen', flow: { seconds: 600, seed: 31 } }],
  segments: 1,
  fillsLeast: 1,
  net60sLeast: null,
};
/** Of a bot that runs for seconds: everything but what only hours tell. */
const TRIED = { hoursLeast: 0.01, fillsLeast: 0, uptimeLeast: 0, net60sBpsLeast: null };
const criteria = bench.file('criteria.yaml', stringify({ replay: FLOW, paper: TRIED, smallest: TRIED }));

const promote = async (live: string, ...args: readonly string[]): Promise<Told> =>
  printed(await ran(['promote', ...args, '-c', live, '--json'])) as Told;
const of = (told: Told, name: string) => told.check?.findings.find(({ criterion }) => criterion === name);

describe('puntas promote', () => {
  test('takes a candidate through replay, paper and the smallest size into the file of a bot that runs, and back by one command', async () => {
    const live = bench.config();
    const shipped = readFileSync(live, 'utf8');
    // Nobody meets it there: what it holds stays within the limits of the smallest size.
    const before = shipped.replace('halfSpreadBps: 16', 'halfSpreadBps: 90');
    writeFileSync(live, before);
    const candidate = bench.file('best.yaml', shipped.replace('halfSpreadBps: 16', 'halfSpreadBps: 13'));
    const start = ['start', candidate, '--criteria', criteria, '--reason', 'a test'];
    expect((await promote(live, ...start)).stage).toBe('replay');
    const replayed = await promote(live, 'approve', '--reason', 'it pays');
    expect([replayed.end, replayed.stage, readFileSync(live, 'utf8')]).toEqual(['done', 'paper', before]);

    const early = await ran(['promote', 'approve', '-c', live, '--reason', 'too early', '--json']);
    expect([early.code, printed(early)]).toMatchObject([2, { end: 'refused', stage: 'paper' }]);
    const paper = live.replace('.yaml', '.promotions/1/paper.yaml');
    expect(replayed.next[0]).toBe(`npx puntas run -c ${paper}`);
    expect((await ran(['run', '-c', paper, '--speed', '30', '--for', '3s'])).code).toBe(0);
    const checked = await promote(live, 'check');
    expect(of(checked, 'runs')).toMatchObject({ found: '1', result: 'passed' });
    expect(checked.check?.result).toBe('passed');

    // A hand that sends the live file elsewhere meanwhile: its bot would lose its ledger, and going back its bot.
    writeFileSync(live, before.replace(/state-\d+/, 'elsewhere').replace('instance: demo', 'instance: two'));
    const elsewhere = await ran(['promote', 'approve', '-c', live, '--reason', 'as on paper', '--anyway']);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      2,
      expect.stringMatching(
        /promotion 1 \(best\.yaml\): instance: expected two as in .*\n.*: state\.dir: expected .*elsewhere/,
      ),
    ]);
    expect(readFileSync(live, 'utf8')).toContain('instance: two');
    writeFileSync(live, before);

    const bot = puntas(['run', '-c', live, '--speed', '10']);
    await bot.sees(/"bids":3,"asks":3/);
    const smallest = await promote(live, 'approve', '--reason', 'as on paper');
    expect([smallest.end, smallest.stage]).toEqual(['done', 'smallest']);
    expect(readFileSync(live, 'utf8')).toMatch(/amount: "?'?0\.0000\d+'?"? # was 0\.004/);
    expect(smallest.next).toEqual([
      `npx puntas reload -c ${live} --preview`,
      `npx puntas reload -c ${live} --reason "..."`,
    ]);
    const reloaded = await ran(['reload', '-c', live, '--reason', 'smallest']);
    expect([reloaded.code, reloaded.stdout, reloaded.stderr]).toMatchObject([
      0,
      expect.stringMatching(/applied: run/),
      '',
    ]);
    for (;;) {
      const told = await promote(live, 'check');
      if (told.check?.result === 'passed') break;
      expect(told.check?.result).toBe('not yet');
    }
    const whole = await promote(live, 'approve', '--reason', 'all of it');
    expect([whole.end, whole.stage, of(whole, 'ledger')?.result]).toEqual(['done', 'promoted', 'passed']);
    expect((await ran(['reload', '-c', live, '--reason', 'whole'])).code).toBe(0);

    const preview = await ran(['promote', 'back', '-c', live, '--preview']);
    expect(preview.stdout).toMatch(/strategy\.halfSpreadBps: 13 -> 90\n +now +then\n/);
    // An editor's slip, when it matters most.
    writeFileSync(live, 'book: [btc_mxn');
    expect((await ran(['promote', '-c', live])).stdout).toMatch(/is not a valid configuration:/);
    const slip = await ran(['promote', 'back', '-c', live, '--preview']);
    expect([slip.code, slip.stdout]).toEqual([
      0,
      expect.stringMatching(/ +now +then\n[^]*would\s+reload\s+the\s+file/),
    ]);
    const gone = await promote(live, 'back', '--reason', 'it lost');
    expect([gone.end, gone.stage, readFileSync(live, 'utf8')]).toEqual(['done', null, before]);
    expect(gone.lines.at(-1)).toMatch(/^reload: applied: run \d+ resumed with the new configuration/);
    expect((await promote(live)).lines).toEqual([]);
    bot.signal('SIGTERM');
    expect((await bot.ended).code).toBe(0);
    expect(Object.keys(gone)).toEqual(keysOf('promote --json'));
    for (const line of (await ran(['promote', '-c', live])).stdout.split('\n'))
      expect(line.length).toBeLessThanOrEqual(live.length + 60);
  });

  test('takes over what puntas tune says of its candidate, for that very content', async () => {
    const study = bench.file('study.yaml', stringify(keysOfStudy({ config: bench.config() })));
    const best = bench.path('tuned.yaml');
    await ran([
      'tune',
      '-c',
      study,
      '--registry',
      bench.path('registry'),
      '--yaml',
      best,
      '--anyway',
      '--open-holdout',
    ]);
    const live = bench.path('tuned-live.yaml');
    const told = await promote(live, 'start', best, '--new', '--reason', 'tuned');
    expect(told).toMatchObject({ stage: 'replay', tuned: { trial: expect.any(Number) as number, pbo: null } });
    const { check } = await promote(live, 'check');
    expect(check?.findings.map(({ criterion }) => criterion)).toEqual(['tuning', 'holdout']);
    expect(check?.findings[0]?.found).toMatch(
      /study [0-9a-f]{8}, trial \d+; deflated Sharpe ratio \d\.\d{3}, probability of overfitting unknown/,
    );
    expect(existsSync(live)).toBe(false);

    writeFileSync(best, readFileSync(best, 'utf8').replace('book: btc_mxn', 'book: btc_mxn\nnextTierCounts: true'));
    const changed = await ran([
      'promote',
      'start',
      best,
      '-c',
      bench.path('other.yaml'),
      '--new',
      '--reason',
      'changed',
    ]);
    expect([changed.code, complaints(changed)]).toEqual([2, [expect.stringContaining('was changed after tuning')]]);
  });

  test('a look that takes long keeps nobody from going back, and after a kill -9 the next one works', async () => {
    const live = bench.config();
    const candidate = bench.file(
      'slow.yaml',
      readFileSync(live, 'utf8').replace('halfSpreadBps: 16', 'halfSpreadBps: 14'),
    );
    // Longer than it takes to be told of: it is never waited for.
    const tapes = [5, 6, 7, 8].map(seed => ({ name: `long-${seed}`, flow: { seconds: 86_400, seed } }));
    const slow = { replay: { ...FLOW, tapes } };
    const file = bench.file('slow-criteria.yaml', stringify(slow));
    await promote(live, 'start', candidate, '--criteria', file, '--reason', 'a test');
    const first = puntas(['promote', 'check', '-c', live]);
    await first.sees(/recording the flow|replaying the candidate/);
    first.signal('SIGSTOP');
    expect(await promote(live, 'back', '--reason', 'too long')).toMatchObject({ end: 'done', stage: null });
    await promote(live, 'start', candidate, '--criteria', file, '--reason', 'once more');
    first.signal('SIGKILL');
    await first.ended;
    const journal = join(live.replace('.yaml', '.promotions'), 'journal.jsonl');
    writeFileSync(journal, `${readFileSync(journal, 'utf8')}{"kind":"checked","promo`);
    expect(await promote(live, 'back', '--reason', 'too long')).toMatchObject({ end: 'done', stage: null });
    expect((await ran(['promote', '-c', live])).code).toBe(0);
  });

  test('says until the bot has it that the file is back and a reload was refused', async () => {
    const live = bench.config();
    const before = readFileSync(live, 'utf8');
    const best = before.replace('halfSpreadBps: 16', 'halfSpreadBps: 15');
    await promote(live, 'start', bench.file('fifteen.yaml', best), '--criteria', criteria, '--reason', 'a test');
    const dir = live.replace('.yaml', '.promotions');
    noteInJournal(dir, approved(1, 1, 'replay', null, null));
    noteInJournal(dir, approved(1, 2, 'paper', keptCopy(dir, best), keptCopy(dir, before)));
    noteInJournal(dir, placed(1, 3));
    writeFileSync(live, best);
    const bot = puntas(['run', '-c', live, '--speed', '3']);
    await bot.sees(/"bids":3,"asks":3/);
    expect((await promote(live)).lines).toEqual([]);
    // It hears nothing for longer than a reload waits.
    bot.signal('SIGSTOP');
    const gone = await promote(live, 'back', '--reason', 'it lost');
    expect([gone.end, readFileSync(live, 'utf8'), gone.lines.at(-1)]).toEqual([
      'refused',
      before,
      expect.stringMatching(/^reload: .*no bot accepted the request/),
    ]);
    bot.signal('SIGCONT');
    const behind = `the live file is restored, but the running bot still uses the previous file; reload again with: npx puntas reload -c ${live} --reason "..."`;
    // It shows life again within seconds.
    let told = await promote(live);
    for (let i = 0; i < 30 && told.lines.length === 0; i++) told = await promote(live);
    expect([told.lines, told.next[1]]).toEqual([[behind], `npx puntas reload -c ${live} --reason "..."`]);
    const reloaded = await ran(['reload', '-c', live, '--reason', 'once more']);
    expect(reloaded.stdout).toMatch(/applied: run/);
    expect((await promote(live)).lines).toEqual([]);
    bot.signal('SIGTERM');
    expect((await bot.ended).code).toBe(0);
  });

  test.each([
    [
      ['promote', 'check', '-c', bench.path('none.yaml')],
      2,
      /none\.yaml: no such file; pass the live file with -c FILE$/,
    ],
    [['promote', 'start', '/nowhere.yaml', '-c', 'my.yaml', '--reason', 'a test'], 2, /^\/nowhere\.yaml: no such file/],
    [['promote', 'back', '-c', 'my.yaml'], 2, /^--reason: expected a few words that say why you run this command/],
  ])('%j is clear at once', async (args, code, line) => {
    const ended = await ran(args);
    expect([ended.code, complaints(ended)[0] ?? '']).toEqual([code, expect.stringMatching(line)]);
  });
});
