/**
 * Three books of one account at many times real speed, with real processes: the embedded exchange of `config/desk.yaml`,
 * one bot that quotes the books, and its sentinel. The bot is killed at drawn moments and requests. In the end orders,
 * ledger and fills of each book are held against what the exchange has.
 * Usage: npm run chaos:desk -- --minutes 3 --kills 20 --seed 7
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'yaml';
import { randomOf } from '../../src/core/index.ts';
import { onDisk } from './journalCopy.ts';
import { killAll, pause, start, within, type Running } from './programs.ts';
import { proxyTo } from './proxy.ts';
import { Observer, units, type Face, type LiveOrder, type Trade } from './truth.ts';

const { values } = parseArgs({
  options: {
    /** Real time with kills, in minutes. */
    minutes: { type: 'string', default: '3' },
    /** Real time after the last kill, in minutes. */
    calm: { type: 'string', default: '1' },
    kills: { type: 'string', default: '20' },
    /** Kills after which the bot stays dead until its sentinel has acted. Default: one in ten. */
    sentinel: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    speed: { type: 'string', default: '20' },
    /** Share of the time after the last kill in which each book must have quotes on both sides, in percent. */
    quoted: { type: 'string', default: '98' },
    out: { type: 'string' },
  },
});
const [minutes, calmMinutes, seed, speed] = [values.minutes, values.calm, values.seed, values.speed].map(Number) as [
  number,
  number,
  number,
  number,
];
const kills = Number(values.kills);
const forSentinel = values.sentinel === undefined ? Math.floor(kills / 10) : Number(values.sentinel);
const quotedMin = Number(values.quoted);
if (!(minutes > 0) || !(calmMinutes >= 0) || !(speed >= 1) || !(quotedMin >= 0))
  throw new Error('expected --minutes above 0, --calm and --quoted not below 0, --speed at least 1');
if (![kills, forSentinel, seed].every(n => Number.isSafeInteger(n) && n >= 0))
  throw new Error('--kills, --sentinel and --seed: expected whole numbers');

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../bench/fastBot.js', import.meta.url));
const INSTANCE = 'desk';
/** Maximum time of anything that is waited for, on any machine. */
const PATIENCE_MS = 420_000;
const LOOK_EVERY_MS = 250;
/** Requests at which the bot is killed. */
const STEPS = [
  ['order', /^POST \S*\/orders\b/],
  ['cancel', /^DELETE \S*\/orders\b/],
  ['trades', /^GET \S*\/user_trades\b/],
] as const;

const random = randomOf(seed);
const between = (from: number, to: number) => from + random.next() * (to - from);
const began = Date.now();
const secondsSince = (from: number) => (Date.now() - from) / 1_000;
const work = mkdtempSync(join(tmpdir(), 'puntas-desk-'));
const state = join(work, 'state');

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    killAll();
    process.exit(1);
  });

const violations: string[] = [];
function violation(what: string): void {
  violations.push(what);
  console.log(`VIOLATION: ${what}`);
}

type Entry = { readonly symbol: string; readonly limits?: object };
const shipped = parse(readFileSync(join(ROOT, 'config/desk.yaml'), 'utf8')) as {
  readonly [section: string]: unknown;
  readonly books: readonly Entry[];
  readonly limits: object;
};
const books = shipped.books.map(({ symbol }) => symbol);

const exchange = start(['exchange', '-c', exchangeFile(), '--port', '0', '--speed', String(speed)]);
if (!(await within(PATIENCE_MS, () => /\n/.test(exchange.stdout()))))
  throw new Error(`no exchange: ${exchange.stderr()}`);
const face = JSON.parse(exchange.stdout().split('\n')[0]!) as Face & { readonly stream: string };
const observer = await Observer.of(face);
const way = await proxyTo(Number(new URL(face.url).port), randomOf(seed ^ 1));
const [market, wall] = [await marketTime(), Date.now()];

/** Looks while the bot quoted or should have: those with a bid and an ask, by book. */
type Looks = { all: number; both: Map<string, number> };
const looks = { kills: emptyLooks(), calm: emptyLooks() };
const counts = { kills: 0, bySentinel: 0, resumes: 0, ownEnds: 0 };
const killedAt = new Map<string, number>();
/** Times that each origin id was sent. */
const sent = new Map<string, number>();
let slowestQuoteSeconds = 0;
let armed: { readonly step: (typeof STEPS)[number]; readonly isLost: boolean } | null = null;
let bot: Running | null = null;
let isKilled = false;
let isCalm = false;
/** Whether the running bot has quoted both sides of every book. */
let hasQuoted = false;
let startedAt = 0;
/** Newest run with orders before the bot was started. */
let lastRun = 0;

way.onRequest = text => {
  const id = STEPS[0][1].test(text) ? /"origin_id":"([^"]+)"/.exec(text)?.[1] : undefined;
  if (id !== undefined) count(sent, id);
  if (armed === null || !armed.step[1].test(text)) return true;
  const { step, isLost } = armed;
  armed = null;
  kill();
  count(killedAt, `${step[0]}, ${isLost ? 'lost' : 'arrives'}`);
  return !isLost;
};

const sentinelKey = await observer.newKey();
const file = botFile();
const clockArgs = [speed, market, wall].map(String);
const sentinel = start(
  [file, ...clockArgs, 'sentinel'],
  { PUNTAS_API_KEY: sentinelKey.key, PUNTAS_API_SECRET: sentinelKey.secret },
  PROGRAM,
);

try {
  if (!(await within(PATIENCE_MS, () => /sentinel: watching/.test(sentinel.stderr()))))
    throw new Error(`the sentinel does not watch: ${tail(sentinel)}`);
  bot = await startBot();
  await untilQuoted();
  const from = Date.now();
  const untilMs = from + minutes * 60_000;
  const everyMs = (minutes * 60_000) / Math.max(1, kills);
  for (let round = 0; round < kills; round++) {
    // Drawn apart of how long the bot takes, so that a seed draws the same kills.
    const dueAt = from + (round + between(0.3, 1)) * everyMs;
    const isAtStep = random.next() < 0.5;
    const step = STEPS[Math.floor(random.next() * STEPS.length)]!;
    const isLost = random.next() < 0.5;
    const share = (rounds: number) => Math.floor((rounds * forSentinel) / kills);
    await live(dueAt);
    if (isAtStep) {
      armed = { step, isLost };
      const steps = Date.now() + everyMs;
      while (armed !== null && Date.now() < steps) await turn();
    }
    if (armed !== null || !isAtStep) {
      armed = null;
      count(killedAt, 'a moment');
      kill();
    }
    await bot.ended;
    counts.kills++;
    if (share(round + 1) > share(round)) await sentinelClears();
    bot = await startBot();
    show();
  }
  await live(untilMs);
  await untilQuoted();
  isCalm = true;
  await live(Date.now() + calmMinutes * 60_000);
  await lastStop();
} finally {
  killAll();
  await way.close();
}

async function live(until: number): Promise<void> {
  while (Date.now() < until) await turn();
}

/** Waits until every book has quotes on both sides. */
async function untilQuoted(): Promise<void> {
  const from = Date.now();
  while (!hasQuoted && Date.now() - from < PATIENCE_MS) await turn();
  if (!hasQuoted) throw new Error(`not every book has quotes after ${secondsSince(from)} s:\n${tail(bot!)}`);
}

/** One look at everything; a bot that is over or halted goes on. */
async function turn(): Promise<void> {
  const next = Date.now() + LOOK_EVERY_MS;
  await look();
  if (bot!.isOver() && !isKilled) {
    counts.ownEnds++;
    violation(`the bot ended by itself:\n${tail(bot!)}`);
    bot = await startBot();
  }
  await resumeIfHalted();
  await pause(Math.max(0, next - Date.now()));
}

async function look(): Promise<void> {
  const quotes = (await observer.truth()).live.filter(isOurs);
  const quoted = books.filter(book =>
    ['buy', 'sell'].every(side => quotes.some(order => order.book === book && order.side === side)),
  );
  // Orders of a killed run remain until the next one has read them.
  if (!hasQuoted && quoted.length === books.length && quotes.every(order => runOf(order) > lastRun)) {
    hasQuoted = true;
    slowestQuoteSeconds = Math.max(slowestQuoteSeconds, secondsSince(startedAt));
  }
  if (!hasQuoted || isKilled || bot!.isOver()) return;
  const seen = isCalm ? looks.calm : looks.kills;
  seen.all++;
  for (const book of quoted) count(seen.both, book);
}

async function startBot(): Promise<Running> {
  lastRun = Math.max(lastRun, ...(await observer.truth()).live.filter(isOurs).map(runOf));
  startedAt = Date.now();
  hasQuoted = false;
  isKilled = false;
  return start([file, ...clockArgs], { PUNTAS_API_KEY: face.key, PUNTAS_API_SECRET: face.secret }, PROGRAM);
}

function kill(): void {
  isKilled = true;
  bot?.signal('SIGKILL');
}

/** The bot stays dead: the sentinel cancels its orders in every book and halts, and the operator resumes. */
async function sentinelClears(): Promise<void> {
  counts.bySentinel++;
  const from = Date.now();
  const isClear = await within(
    PATIENCE_MS,
    async () => existsSync(join(state, 'HALTED')) && !(await observer.truth()).live.some(isOurs),
  );
  if (!isClear) violation(`the sentinel did not clear a dead bot within ${secondsSince(from)} s:\n${tail(sentinel)}`);
  await resumeIfHalted();
}

async function resumeIfHalted(): Promise<void> {
  const latch = join(state, 'HALTED');
  if (!existsSync(latch)) return;
  const why = readFileSync(latch, 'utf8');
  if (!why.includes('"by":"sentinel"')) violation(`halted: ${why}`);
  counts.resumes++;
  const resumed = start(['resume', '--state', state, '--reason', 'the hour goes on']);
  if ((await resumed.ended).code !== 0) violation(`resume failed: ${resumed.stderr()}`);
}

/** It is stopped, and everything is what the exchange has. */
async function lastStop(): Promise<void> {
  bot!.signal('SIGTERM');
  const { code } = await bot!.ended;
  if (code !== 0) violation(`exit code ${code} at the end:\n${tail(bot!)}`);
  sentinel.signal('SIGTERM');
  await sentinel.ended;
  await observer.set({ rateLimits: 'off' });
  const { live: left, totals } = await observer.truth();
  for (const book of books) {
    const ids = left.filter(order => isOurs(order) && order.book === book).map(order => order.origin_id);
    if (ids.length > 0) violation(`at the end, ${book} has live orders: ${ids.join(', ')}`);
  }
  const disk = onDisk(state);
  if (disk.open.length > 0) violation(`at the end, orders without an end on disk: ${disk.open.join(', ')}`);
  for (const [currency, total] of totals) {
    const booked = disk.ledger?.totals.get(currency) ?? '0';
    if (units(booked) !== units(total)) violation(`the ledger has ${booked} ${currency}, and the exchange ${total}`);
  }
  for (const [id, times] of sent) if (times > 1) violation(`${id} was sent ${times} times`);
  const trades = await observer.trades();
  const fills = fillsByBook(trades);
  await checkFills(fills);
  const { all, both } = looks.calm;
  for (const book of books)
    if (100 * (both.get(book) ?? 0) < quotedMin * all)
      violation(`${book} had quotes on both sides in ${both.get(book) ?? 0} of ${all} looks, below ${quotedMin}%`);
  report(fills, totals);
}

function fillsByBook(trades: readonly Trade[]): ReadonlyMap<string, number> {
  const fills = new Map<string, number>();
  for (const trade of trades) {
    if (trade.origin_id?.startsWith(`${INSTANCE}-`) === true) count(fills, trade.book);
    else violation(`trade ${trade.tid} belongs to no order of the bot`);
  }
  return fills;
}

/** Fills that `puntas report` counts in each book are those of the exchange in that book. */
async function checkFills(fills: ReadonlyMap<string, number>): Promise<void> {
  const reported = start(['report', '-c', file, '--json']);
  const { code } = await reported.ended;
  if (code !== 0) return violation(`puntas report ended with ${code}: ${reported.stderr()}`);
  type Report = { readonly book: string; readonly total: { readonly fills: number } };
  const { others = [], ...first } = JSON.parse(reported.stdout()) as Report & { readonly others?: readonly Report[] };
  for (const { book, total } of [first, ...others])
    if (total.fills !== (fills.get(book) ?? 0))
      violation(`the report has ${total.fills} fills in ${book}, and the exchange ${fills.get(book) ?? 0}`);
}

function report(fills: ReadonlyMap<string, number>, totals: ReadonlyMap<string, string>): void {
  const listed = (map: ReadonlyMap<string, number>) => [...map].map(([name, n]) => `${name} ${n}`).join(', ');
  const shares = ({ all, both }: Looks) =>
    `${books.map(book => `${book} ${((100 * (both.get(book) ?? 0)) / Math.max(1, all)).toFixed(1)}%`).join(', ')} of ${all} looks`;
  const table: readonly (readonly [string, string])[] = [
    [
      'time',
      `${((Date.now() - began) / 60_000).toFixed(1)} min, with kills ${minutes} and without ${calmMinutes}, at ${speed} times speed, seed ${seed}`,
    ],
    ['machine', `${cpus().length} x ${cpus()[0]?.model ?? '?'}, Node ${process.version}`],
    ['kills -9', `${counts.kills}: ${listed(killedAt)}`],
    ['left to the sentinel', `${counts.bySentinel}; resumed ${counts.resumes} times`],
    ['slowest start to quotes', `${slowestQuoteSeconds.toFixed(1)} s real time`],
    ['orders sent', `${sent.size}, ${Math.max(0, ...sent.values())} at most per id`],
    ['fills', listed(fills)],
    ['both sides, between kills', shares(looks.kills)],
    ['both sides, after the last', shares(looks.calm)],
    ['balances', [...totals].map(([currency, total]) => `${total} ${currency}`).join(', ')],
    ['violations', String(violations.length)],
  ];
  const lines = table.map(([name, value]) => `${name.padEnd(28)}${value}`);
  console.log(lines.join('\n'));
  if (values.out !== undefined) writeFileSync(values.out, `${lines.join('\n')}\n${violations.join('\n')}\n`);
}

function show(): void {
  const { all, both } = looks.kills;
  console.log(
    `${Math.round(secondsSince(began))} s: ${counts.kills} of ${kills} kills, ${sent.size} orders, ${all} looks, both sides ${books.map(book => both.get(book) ?? 0).join(', ')}, violations ${violations.length}`,
  );
}

function isOurs({ origin_id: id }: LiveOrder): boolean {
  return id?.startsWith(`${INSTANCE}-`) === true;
}

function runOf({ origin_id: id }: LiveOrder): number {
  return Number(id!.split('-')[1]);
}

/** Time of the exchange's clock, in ms. */
async function marketTime(): Promise<number> {
  const reply = await fetch(`${face.url}/api/v3/order_book?book=${books[0]}`);
  const { payload } = (await reply.json()) as { payload: { updated_at: string } };
  return Date.parse(payload.updated_at);
}

/** The shipped market and account, with a state directory of its own. */
function exchangeFile(): string {
  const path = join(work, 'exchange.yaml');
  writeFileSync(path, stringify({ ...shipped, state: { dir: join(work, 'exchange') } }));
  return path;
}

/** The shipped books on the exchange as a remote one. Times that this machine's own delays pass at this speed are longer. */
function botFile(): string {
  const path = join(work, 'bot.yaml');
  const address = (scheme: string) => `${scheme}://127.0.0.1:${way.port}`;
  const lossless = <T extends object>(limits: T) => ({ ...limits, drawdownMax: '500000', dayLossMax: '500000' });
  const own = {
    instance: INSTANCE,
    books: shipped.books.map(entry => (entry.limits ? { ...entry, limits: lossless(entry.limits) } : entry)),
    exchange: {
      ...{ kind: 'remote', restUrl: address('http'), streamUrl: address('ws') },
      requestTimeoutMs: 20_000,
    },
    limits: lossless(shipped.limits),
    timing: { bookPollMs: 5_000, staleAfterMs: 30_000, privatePollMs: 6_000 },
    sentinel: { required: true, ttlMs: 400_000 },
    journal: { rollHours: 4, keepMb: 20_000 },
    state: { dir: state },
  };
  writeFileSync(path, stringify({ ...shipped, ...own }));
  return path;
}

function emptyLooks(): Looks {
  return { all: 0, both: new Map() };
}

function count(map: Map<string, number>, name: string): void {
  map.set(name, (map.get(name) ?? 0) + 1);
}

function tail(program: Running): string {
  return program.stderr().split('\n').slice(-25).join('\n');
}

if (violations.length === 0) rmSync(work, { recursive: true, force: true });
else console.log(`left for you to look at: ${work}`);
process.exit(violations.length === 0 ? 0 : 1);
