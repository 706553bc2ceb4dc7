/** Runs every command and checks every piece of YAML of the pages: `.ci/docs.sh`. Five sessions side by side; `-- WORD` runs those whose page or command has it, `-- !WORD` all whose page does not have it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordLinkedFlows } from '../../../backtest/index.ts';
import { TapeWriter } from '../../../src/tape/index.ts';
import { start, within } from '../../chaos/programs.ts';
import { Stage } from '../../runbook/stage.ts';
import { freePort } from '../../freePort.ts';
import { Clone, PATIENCE_MS, template } from './clone.ts';
import { everythingIn, figuresOf, inWords, planIn } from './pages.ts';
import { SHOWN, type Planned, type Session } from './plan.ts';
import { screensOf } from './screens.ts';
import { COLUMNS, isOnScreen, type Typed } from './terminal.ts';
import { ownFillModelOnPage, ownStrategyOnPage } from '../ownStrategy.ts';
import { fragmentsOf, hedgesElsewhere, wholeOf, type Fragment } from './yaml.ts';

/** The checkout: this file is dist/test/docs/run/main.js. */
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const DATA = process.env['PUNTAS_DATA'] ?? join(ROOT, '../shared/data');
const RECORDINGS = {
  recording: 'gemini-ethusd-2021-07-01-l1-trades',
  'recording-eth_usd': 'gemini-ethusd-2021-07-01-l1-trades',
  'recording-btc_usd': 'bitstamp-btcusd-2015-05-01-book-orders-trades',
  'recording-of-books': 'hyperliquid-2025-09-04-l2-trades',
};
/** Folders with recordings of the books of `config/desk.yaml`, and the books that each has. */
const DESK = { tapes: ['btc_mxn', 'eth_mxn', 'btc_usd'], btc: ['btc_mxn'], eth: ['eth_mxn'], usd: ['btc_usd'] };
/** Where the screens are kept, to be looked at. */
const KEPT = process.env['PUNTAS_DOCS_OUT'];
/** No screen that is printed to a person has any of these. */
const NEVER = /DIFFERENT|\bundefined\b|\bNaN\b|\[object |^ +at \S+ \(.*:\d+:\d+\)|Unhandled|TypeError/m;

const words = process.argv.slice(2);
const [others, named] = [true, false].map(is => words.filter(word => word.startsWith('!') === is)) as [
  string[],
  string[],
];
const wanted = (page: string, typed = ''): boolean =>
  !others.some(word => page.includes(word.slice(1))) &&
  (named.length === 0 || named.some(word => `${page} ${typed}`.includes(word)));
const found = everythingIn(ROOT);
const plan = planIn(ROOT);
const fragments = fragmentsOf(found.yaml);
const screens = screensOf(found.others);
const flaws: string[] = [...plan.flaws, ...screens.flaws];
const seen: { readonly typed: string; readonly text: string }[] = [];
let commandsRun = 0;
let yamlChecked = 0;
let made = 0;

const dir = mkdtempSync(join(tmpdir(), 'puntas-docs-'));
const stage = new Stage();

function keep(name: string, text: string): void {
  if (KEPT === undefined) return;
  mkdirSync(KEPT, { recursive: true });
  writeFileSync(join(KEPT, `${String(++made).padStart(3, '0')} ${name.replace(/[^\w.-]+/g, '_').slice(0, 100)}`), text);
}

/** Lines of a test run that name the failed test, its values and its seed. */
const TELLING = /\bFAIL\b|^\w*Error: |seed: -?\d|Counterexample: /;

function flaw(where: string, what: string, screen = ''): void {
  // The list at the end of the log has the line that tells most: often it is all that is kept.
  const lines = screen.trimEnd().split('\n');
  const told = lines.filter(line => TELLING.test(line)).slice(0, 3);
  const line = (told.length > 0 ? told : lines.slice(-1)).map(text => text.trim().slice(0, 300)).join(' | ');
  flaws.push(`${where}: ${what}${line === '' ? '' : `; it says: ${line}`}`);
  console.log(`FLAW ${where}: ${what}${screen === '' ? '' : `\n${screen.split('\n').slice(-60).join('\n')}`}`);
}

/** What came of a command that has ended. */
function judge(one: Planned, text: string, code: number | null, allowed: readonly number[], began: number): void {
  const where = `${one.places[0]} \`${one.typed}\``;
  keep(one.typed, text);
  seen.push({ typed: one.typed, text });
  commandsRun++;
  if (!allowed.includes(code ?? -1)) return flaw(where, `ended with ${code}`, text);
  const never = NEVER.exec(text);
  if (never) return flaw(where, `shows ${JSON.stringify(never[0])}`, text);
  const wide = text.split('\n').find(line => SHOWN.test(line) && line.replace('^C', '').length > COLUMNS);
  if (wide !== undefined) return flaw(where, `has a status line of more than ${COLUMNS} columns`, wide);
  if (one.shows && !isOnScreen(text, one.shows)) return flaw(where, `does not show ${one.shows}`, text);
  console.log(`ok   ${where} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
}

type Staying = { readonly one: Planned; readonly run: Typed; readonly began: number };

async function end({ one, run, began }: Staying): Promise<void> {
  if (!run.isOver()) run.ctrlC();
  await within(PATIENCE_MS, () => run.isOver());
  // npm and npx end with a code of their own after Ctrl-C, whatever the program's was.
  const allowed = /(?:^|&& )(?:[A-Z_]+=\S+ )*(?:npx|npm) [^&]*$/.test(one.typed) ? [0, 130] : [0];
  const code = run.isOver() ? await run.ended : null;
  judge(one, run.text(), code, allowed, began);
  if (
    /puntas run\b|npm start$/.test(one.typed) &&
    !/verified: no open orders left|"openOrdersLeft":0,/.test(run.text())
  )
    flaw(one.places[0]!, `\`${one.typed}\` did not end clean`, run.text());
}

async function runSession(session: Session, lane: number): Promise<void> {
  const home = join(dir, `lane-${lane}`);
  mkdirSync(home, { recursive: true });
  const all = session.commands.map(({ typed }) => typed).join('\n');
  const clone = await Clone.of(
    join(dir, 'template'),
    join(home, `puntas-${++made}`),
    ROOT,
    stage,
    /\bnpm\b|\btsc\b/.test(all),
  );
  const port = String(await freePort());
  const staying: Staying[] = [];
  let bot: Typed | null = null;
  let exported = '';
  try {
    if (/\bpuntas\b|npm start/.test(all)) clone.pointConfigsHere(all.includes('api.bitso.com'));
    for (const [name, target] of Object.entries(RECORDINGS)) symlinkSync(join(DATA, target), clone.path(name));
    for (const name of ['tape', ...Object.keys(DESK)]) symlinkSync(join(dir, name), clone.path(name));
    writeFileSync(clone.path('my-strategy.ts'), ownStrategyOnPage());
    writeFileSync(clone.path('my-fills.ts'), ownFillModelOnPage());
    await clone.account();
    if (!/^export PUNTAS_API_KEY_FILE/m.test(all)) clone.useKeys();
    const webhooks = all.includes('puntas webhooks');
    if (webhooks && !/^export PUNTAS_WEBHOOK_TOKEN/m.test(all)) clone.set('PUNTAS_WEBHOOK_TOKEN', 'a1b2c3d4'.repeat(6));
    const added = fragments.filter(
      fragment =>
        (fragment.page === session.page || (webhooks && fragment.page === 'docs/webhooks.md')) &&
        !hedgesElsewhere(fragment),
    );
    if (!/^(?:cp .*|.*puntas init) my\.yaml\b/m.test(all)) await clone.myYaml(added.map(({ tree }) => tree));
    if (all.includes('bot.log')) {
      const run = clone.types('puntas run 2> bot.log');
      const log = clone.path('bot.log');
      await within(PATIENCE_MS, () => existsSync(log) && /"msg":"quoting"/.test(readFileSync(log, 'utf8')));
      run.ctrlC();
      await run.ended;
    }
    if (all.includes('$TOKEN')) {
      const exchange = clone.types(`puntas exchange --port ${port}`);
      await clone.shows(exchange, /operatorToken +\S+/);
      clone.set('TOKEN', /operatorToken +(\S+)/.exec(exchange.text())![1]!);
    }
    // Nearly always a file of its own; a shipped one where every command of the session is about that.
    const files = new Set(session.commands.map(({ typed }) => / -c (\S+)/.exec(typed)?.[1] ?? 'my.yaml'));
    const file = files.size === 1 ? [...files][0]! : 'my.yaml';
    const state = join(dirname(file), 'state');
    if (session.beside) {
      bot = clone.types(`puntas run -c ${file}`);
      await clone.shows(bot, SHOWN);
      await clone.shows(bot, SHOWN, bot.text().length);
    }
    const latched = () => ['HALTED', 'REDUCE', 'PAUSED'].some(name => existsSync(clone.path(join(state, name))));
    for (const [i, one] of session.commands.entries()) {
      const began = Date.now();
      // Commands of sentences have nothing to do with each other: the state of one bot is not another's.
      if (!session.block && !session.beside) rmSync(clone.path('state'), { recursive: true, force: true });
      const day = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 10);
      const typed = one.typed
        .replaceAll('PORT', port)
        .replace('NOW', new Date(Date.now() - 2_000).toISOString())
        .replace('TODAY', day(0))
        .replace('TOMORROW', day(86_400_000))
        .replace(/--out made\b/, `--out made-${i}`);
      const resumes = /puntas resume\b/.test(typed);
      // Paper has a state of its own once it has run.
      const ofPaper = / --paper\b/.test(typed) && !/puntas (?:run|check)\b/.test(typed);
      if (ofPaper || typed.includes('state-paper'))
        await clone.types(`puntas run --paper${ofPaper ? ` -c ${file}` : ''} --for 3s`).ended;
      if (resumes && (!latched() || ofPaper || typed.includes('--state')))
        await clone.types(typed.replace('resume', 'halt')).ended;
      if (one.stays !== null) {
        // Two bots of one state directory cannot be; an exchange or a sentinel goes on beside what follows in its block.
        if (/puntas (?:run|record)\b/.test(typed))
          for (const other of staying.filter(({ one: { typed: before } }) => /puntas (?:run|record)\b/.test(before))) {
            staying.splice(staying.indexOf(other), 1);
            await end(other);
          }
        const run = clone.types(exported + typed);
        const stays = { one, run, began };
        try {
          await clone.shows(run, one.stays);
        } catch (error) {
          flaw(one.places[0]!, `\`${typed}\`: ${(error as Error).message}`, run.text());
          run.ctrlC();
          await run.ended;
          continue;
        }
        if (session.block) staying.push(stays);
        else await end(stays);
        continue;
      }
      if (typed.startsWith('export ')) exported += `${typed}; `;
      const since = bot?.text().length ?? 0;
      const run = clone.types(exported + typed);
      if (!(await within(PATIENCE_MS, () => run.isOver()))) {
        flaw(one.places[0]!, `\`${typed}\` does not end`, run.text());
        run.kill();
        continue;
      }
      judge(one, run.text(), await run.ended, [0], began);
      const written = /puntas init (\S+\.yaml)/.exec(typed)?.[1];
      if (written !== undefined) clone.ownPortOf(written);
      // It looks for what was lifted every two seconds: only then it ends as a bot that quotes.
      if (bot && resumes) await clone.shows(bot, SHOWN, since);
      const booked = / ledger adjust .*--amount (-?)(\S+)/.exec(typed);
      if (bot && booked) {
        // Nothing of the kind has happened on the exchange: it is booked back, so that the ledger ends as the balances are.
        const back = `${booked[1] === '-' ? '' : '-'}${booked[2]}`;
        await clone.types(`puntas ledger adjust -c my.yaml --currency mxn --amount ${back} --reason "booked back"`)
          .ended;
        await clone.shows(bot, /booked under adjustments: [^\n]*booked back/, since);
      }
      if (bot && latched() && !/puntas resume\b/.test(session.commands[i + 1]?.typed ?? '')) {
        // It may have quoted while the command was on its way: what counts is what it says afterwards.
        const halted = bot.text().length;
        await clone.types(`puntas resume -c ${file} --reason "looked at it"`).ended;
        await clone.shows(bot, SHOWN, halted);
      }
    }
    for (const one of staying.reverse()) await end(one);
    if (bot) {
      bot.ctrlC();
      await within(PATIENCE_MS, () => bot!.isOver());
      const text = bot.text();
      keep(`bot beside ${session.name}`, text);
      if (!bot.isOver() || (await bot.ended) !== 0 || !/verified: no open orders left\nthe ledger equals/.test(text))
        flaw(session.name, 'the bot beside it did not end clean', text);
      const replay = clone.types(`puntas replay ${state} --all`);
      if ((await replay.ended) !== 0 || NEVER.test(replay.text()))
        flaw(session.name, 'its recording does not replay', replay.text());
    }
  } catch (error) {
    flaw(session.name, (error as Error).message, bot?.text());
  } finally {
    await clone.close();
  }
}

let lastAlone: Promise<unknown> = Promise.resolve();
/** One after the other: what listens on the port that the pages print. */
function alone(does: () => Promise<void>): Promise<void> {
  const done = lastAlone.then(does);
  lastAlone = done.catch(() => undefined);
  return done;
}

async function checkYaml(fragment: Fragment, lane: number): Promise<void> {
  const home = join(dir, `lane-${lane}`);
  mkdirSync(home, { recursive: true });
  const clone = await Clone.of(join(dir, 'template'), join(home, `puntas-${++made}`), ROOT, stage, false);
  const where = `${fragment.page}:${fragment.line}`;
  try {
    clone.pointConfigsHere(false);
    const { base, text } = wholeOf(clone.dir, fragment);
    writeFileSync(clone.path('page.yaml'), text);
    const began = Date.now();
    const run = clone.types(`puntas check ${'paper' in fragment.tree ? '--paper ' : ''}-c page.yaml`);
    await within(PATIENCE_MS, () => run.isOver());
    keep(`yaml ${where}`, `${text}\n---\n${run.text()}`);
    yamlChecked++;
    if (!run.isOver() || (await run.ended) !== 0 || NEVER.test(run.text()))
      flaw(where, `YAML on ${base} is refused`, run.text());
    else console.log(`ok   ${where} YAML on ${base} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } finally {
    await clone.close();
  }
}

async function main(): Promise<void> {
  const began = Date.now();
  for (const one of flaws) console.log(`FLAW ${one}`);
  const missing = Object.entries(RECORDINGS).flatMap(([name, set]) => (existsSync(join(DATA, set)) ? [] : [name]));
  const needsMissing = (typed: string): boolean => missing.some(name => new RegExp(`${name}(?![\\w-])`).test(typed));
  mkdirSync(join(dir, 'template'));
  template(ROOT, join(dir, 'template'));
  await stage.openExchange();
  // The sessions stand for readers at addresses of their own, and all of them come from this one.
  await stage.operator('PATCH', 'switches', { webhookHosts: 'any', rateLimits: 'off' });
  // Fees that the configuration of the demonstration earns, also for accounts that have not traded yet.
  await stage.operator('PATCH', 'books/btc_mxn', { maker: '0.001', taker: '0.0015' });
  const recorded = await start(['record', '--out', join(dir, 'tape'), '--speed', '20', '--for', '30s']).ended;
  if (recorded.code !== 0) flaws.push('no tape could be recorded');
  const flows = recordLinkedFlows(
    { btc_mxn: {}, eth_mxn: {}, btc_usd: {} },
    { seed: 1, seconds: 60, correlation: 0.7 },
  );
  for (const [name, books] of Object.entries(DESK))
    for (const { rules, columns, instrument } of flows) {
      if (!books.includes(instrument.symbol)) continue;
      const writer = new TapeWriter({ dir: join(dir, name), rules, source: 'flow' });
      writer.append(columns);
      writer.close();
    }

  const tasks: ((lane: number) => Promise<void>)[] = [];
  const chosen = { run: 0, yaml: 0 };
  for (const session of plan.sessions) {
    const commands = session.commands.filter(({ typed }) => wanted(session.name, typed));
    const whole = session.block && commands.length > 0 ? session.commands : commands;
    const without = whole.find(({ typed }) => needsMissing(typed));
    if (without) {
      console.log(
        `skipped: ${session.name}: no recording at ${DATA} for \`${without.typed}\` (PUNTAS_DATA is their folder)`,
      );
      continue;
    }
    const runs = (lane: number) => runSession({ ...session, commands: whole }, lane);
    const listens = whole.some(({ typed }) => /puntas console\b(?!.* --port )/.test(typed));
    if (whole.length > 0) tasks.push(listens ? lane => alone(() => runs(lane)) : runs);
    chosen.run += whole.length;
  }
  for (const fragment of fragments) {
    if (!wanted(`yaml: ${fragment.page}`)) continue;
    tasks.push(lane => checkYaml(fragment, lane));
    chosen.yaml++;
  }
  await Promise.all(
    [1, 2, 3, 4, 5].map(async lane => {
      for (let task = tasks.shift(); task; task = tasks.shift()) await task(lane);
    }),
  );
  if (named.length === 0 && missing.length === 0) for (const text of screens.unseen(seen)) flaw('output', text);

  const figures = figuresOf(ROOT, plan);
  const due = words.length === 0 && missing.length === 0 ? figures : chosen;
  if (commandsRun !== due.run || yamlChecked !== due.yaml)
    flaw(
      'the plan',
      `has ${due.run} commands and ${due.yaml} pieces of YAML to run; ${commandsRun} and ${yamlChecked} ended`,
    );
  for (const { text, why } of plan.leftOut) console.log(`left out: ${text}: ${why}`);
  console.log(
    `${inWords(figures)}; ${commandsRun} and ${yamlChecked} this time, in ${Math.round((Date.now() - began) / 1000)} s, ${flaws.length} flaws`,
  );
  for (const one of flaws) console.log(`  ${one}`);
  process.exitCode = flaws.length > 0 ? 1 : 0;
}

try {
  await main();
} finally {
  await stage.close();
  if (KEPT === undefined) rmSync(dir, { recursive: true, force: true });
}
