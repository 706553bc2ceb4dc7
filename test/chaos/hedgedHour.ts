/**
 * Two exchanges in a box at many times real speed, with real processes: both exchanges, a bot that quotes the first and hedges each fill on the second, and
 * its sentinel. Answers of the second exchange are lost, its orders rejected, and the bot is killed at drawn requests and moments. In the end orders,
 * ledger, exposure and debt are held against what both exchanges have. Usage: npm run chaos:hedged -- --minutes 60 --seed 7
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
import { proxyTo, type Proxy } from './proxy.ts';
import { SecondObserver, type SecondFace } from './secondTruth.ts';
import { Observer, units, type Face, type LiveOrder, type Truth } from './truth.ts';
import { freePort } from '../freePort.ts';

const { values } = parseArgs({
  options: {
    /** Real time with kills; the start, the end and the comparison come on top. */
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    speed: { type: 'string', default: '20' },
    /** Default: one in 40 s. */
    kills: { type: 'string' },
    /** Kills after which the bot stays dead until its sentinel has acted. Default: one in five. */
    sentinel: { type: 'string' },
    failuresMax: { type: 'string' },
    out: { type: 'string' },
  },
});
const [minutes, seed, speed] = [Number(values.minutes), Number(values.seed), Number(values.speed)];
const kills = values.kills === undefined ? Math.round(minutes * 1.5) : Number(values.kills);
const forSentinel = values.sentinel === undefined ? Math.floor(kills / 5) : Number(values.sentinel);
if (!(minutes > 0) || !(speed >= 1)) throw new Error('--minutes is above 0, --speed at least 1');
if (![kills, forSentinel, seed].every(n => Number.isSafeInteger(n) && n >= 0))
  throw new Error('--kills, --sentinel and --seed are whole numbers');

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../bench/fastBot.js', import.meta.url));
const INSTANCE = 'hour';
/** Faults of the second exchange: one answer in 20 is lost, one order in 20 is rejected. */
const FAULTS = { faultScope: 'signed', answerLostPips: 500, rejectPips: 500 };
const NO_FAULTS = { answerLostPips: 0, rejectPips: 0 };
/** Maximum time of anything that is waited for, on any machine. */
const PATIENCE_MS = 420_000;
const LOOK_EVERY_MS = 250;
const ONE = 10n ** 18n;
/** Less than a lot of the second exchange, which no hedge can leave. */
const LOT = 10n ** 13n;

/** Requests at which the bot is killed: name, exchange, how the request begins, weight of the draw. */
const STEPS: readonly (readonly [name: string, at: 'here' | 'there', begins: RegExp, weight: number])[] = [
  ['order there', 'there', /^POST \S*\/order\b/, 4],
  ['look-up there', 'there', /^GET \S*\/order\?/, 2],
  ['trades there', 'there', /^GET \S*\/myTrades\?/, 2],
  ['balances there', 'there', /^GET \S*\/account\?/, 1],
  ['order here', 'here', /^POST \S*\/orders\b/, 1],
  ['cancel here', 'here', /^DELETE \S*\/orders\b/, 1],
  ['trades here', 'here', /^GET \S*\/user_trades\b/, 1],
];
type Step = (typeof STEPS)[number];

const random = randomOf(seed);
const between = (from: number, to: number) => from + random.next() * (to - from);
const began = Date.now();
const secondsSince = (from: number) => (Date.now() - from) / 1_000;
const work = mkdtempSync(join(tmpdir(), 'puntas-hour-'));
const state = join(work, 'state');
const metricsPort = await freePort();

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

const shipped = parse(readFileSync(join(ROOT, 'config/elsewhere.yaml'), 'utf8')) as {
  readonly [section: string]: unknown;
  readonly limits: object;
  readonly elsewhere: object;
  readonly hedge: {
    readonly band: string;
    readonly elsewhere: { readonly debtMax: string; readonly failuresMax?: number };
  };
  readonly strategy: { readonly amount: string; readonly amountMax?: string };
  readonly reference: { readonly sources: readonly { readonly books: readonly object[] }[] };
};
const failuresMax = values.failuresMax === undefined ? shipped.hedge.elsewhere.failuresMax : Number(values.failuresMax);

const exchange = start(['exchange', '-c', exchangeFile(), '--port', '0', '--speed', String(speed)]);
if (!(await within(PATIENCE_MS, () => /\n/.test(exchange.stdout()))))
  throw new Error(`no exchange: ${exchange.stderr()}`);
const face = JSON.parse(exchange.stdout().split('\n')[0]!) as Face & SecondFace & { readonly stream: string };
const here = await Observer.of(face);
const there = new SecondObserver(face);
const opening = { here: await here.truth(), there: await there.truth() };
const [market, wall] = [await there.now(), Date.now()];
const ways = {
  here: await proxyTo(Number(new URL(face.url).port), randomOf(seed ^ 1)),
  there: await proxyTo(Number(new URL(face.elsewhere).port), randomOf(seed ^ 2)),
};

/** Orders that left for the second exchange: how often each id did. */
const sent = new Map<string, number>();
const counts = {
  kills: 0,
  bySentinel: 0,
  resumes: 0,
  ownEnds: 0,
  halts: 0,
  looks: 0,
  /** Looks while the bot had begun to quote, and those with quotes on each side and on both. */
  up: 0,
  bid: 0,
  ask: 0,
  both: 0,
};
const killedAt = new Map<string, number>();
const notQuoting = new Map<string, number>();
const endedFor = new Map<string, number>();
const figures = { debtMost: 0, failuresMost: 0, worst: 0n, slowestQuoteSeconds: 0 };
let fullSide = 0n;
let armed: { readonly step: Step; readonly isLost: boolean } | null = null;
let bot: Running | null = null;
let isKilled = false;
let hasQuoted = false;
let startedAt = 0;
/** Newest run with orders before the bot was started. */
let lastRun = 0;

for (const [name, way] of Object.entries(ways) as ['here' | 'there', Proxy][])
  way.onRequest = text => {
    const id = name === 'there' && STEPS[0]![2].test(text) ? /newClientOrderId=([^&\s]+)/.exec(text)?.[1] : undefined;
    if (id !== undefined) sent.set(id, (sent.get(id) ?? 0) + 1);
    if (armed === null || armed.step[1] !== name || !armed.step[2].test(text)) return true;
    const { step, isLost } = armed;
    armed = null;
    kill();
    count(killedAt, `${step[0]}, ${isLost ? 'lost' : 'arrives'}`);
    return !isLost;
  };

const sentinelKey = await here.newKey();
const file = botFile();
const sentinel = start(
  [file, ...clockArgs(), 'sentinel'],
  { PUNTAS_API_KEY: sentinelKey.key, PUNTAS_API_SECRET: sentinelKey.secret },
  PROGRAM,
);

try {
  if (!(await within(PATIENCE_MS, () => /sentinel: watching/.test(sentinel.stderr()))))
    throw new Error(`the sentinel does not watch: ${tail(sentinel)}`);
  bot = await startBot();
  while (!hasQuoted && Date.now() - began < PATIENCE_MS) await turn();
  if (!hasQuoted) throw new Error(`no quotes at the start:\n${tail(bot)}`);
  await there.set(FAULTS);
  const from = Date.now();
  const untilMs = from + minutes * 60_000;
  const everyMs = (minutes * 60_000) / Math.max(1, kills);
  let shownAt = from;
  for (let round = 0; round < kills; round++) {
    // Drawn apart of how long the bot takes, so that a seed draws the same kills.
    const dueAt = from + (round + between(0.3, 1)) * everyMs;
    const isAtStep = random.next() < 0.7;
    const step = stepOf(random.next());
    const isLost = random.next() < 0.5;
    const share = (rounds: number) => Math.floor((rounds * forSentinel) / kills);
    const isForSentinel = share(round + 1) > share(round);
    await live(dueAt);
    if (isAtStep) {
      armed = { step, isLost };
      // A step that does not come is killed without one.
      const steps = Date.now() + everyMs;
      while (armed !== null && Date.now() < Math.min(steps, untilMs)) await turn();
    }
    if (armed !== null || !isAtStep) {
      armed = null;
      count(killedAt, 'a moment');
      kill();
    }
    await bot.ended;
    counts.kills++;
    if (isForSentinel) await sentinelClears();
    bot = await startBot();
    shownAt = Date.now();
    show();
  }
  await live(untilMs);
  await there.set(NO_FAULTS);
  if (!(await within(PATIENCE_MS, isHedged, LOOK_EVERY_MS)))
    violation(`inventory is not hedged ${PATIENCE_MS / 1_000} s after the last fault:\n${tail(bot)}`);
  await lastStop();

  async function live(until: number): Promise<void> {
    while (Date.now() < until) {
      await turn();
      if (Date.now() - shownAt > 30_000) {
        shownAt = Date.now();
        show();
      }
    }
  }
} finally {
  killAll();
  for (const way of Object.values(ways)) await way.close();
}

/** One look at everything; a bot that is over or halted goes on. */
async function turn(): Promise<void> {
  const next = Date.now() + LOOK_EVERY_MS;
  await look();
  if (bot!.isOver() && !isKilled) {
    counts.ownEnds++;
    // A lost answer may end a start.
    if (hasQuoted) violation(`the bot ended by itself:\n${tail(bot!)}`);
    else count(endedFor, /(?:CannotStart|Error|puntas): (.*)/.exec(bot!.stderr())?.[1]?.slice(0, 120) ?? tail(bot!));
    bot = await startBot();
  }
  await resumeIfHalted();
  await pause(Math.max(0, next - Date.now()));
}

/** No order there is unknown and inventory within its band, or the bot says that it cannot be hedged there. */
async function isHedged(): Promise<boolean> {
  await turn();
  const truths = await bothTruths();
  if (truths === null || !hasQuoted) return false;
  const { openOrders, closed } = await scrape();
  return openOrders === 0 && (closed || abs(held(truths) - held(opening)) <= units(shipped.hedge.band));
}

/** Both exchanges at one time: those of two equal reads of the first around one of the second. */
async function bothTruths(): Promise<{ here: Truth; there: Truth } | null> {
  const before = await here.truth();
  const other = await there.truth();
  const after = await here.truth();
  return before.trades === after.trades ? { here: before, there: other } : null;
}

/** Quotes, worst inventory, and what the bot says of itself. */
async function look(): Promise<void> {
  const truths = await bothTruths();
  counts.looks++;
  if (truths === null) return;
  const { live: orders } = truths.here;
  const quotes = orders.filter(isOurs);
  const inventory = held(truths) - held(opening);
  const [bids, asks] = (['buy', 'sell'] as const).map(side =>
    quotes.filter(order => order.side === side).reduce((sum, { unfilled }) => sum + units(unfilled), 0n),
  ) as [bigint, bigint];
  fullSide = max(fullSide, max(bids, asks));
  figures.worst = max(figures.worst, max(inventory + bids, asks - inventory));
  const isQuoting = bids > 0n && asks > 0n;
  // Orders of a killed run remain until the next one has read them.
  if (isQuoting && !hasQuoted && newestRun(quotes) > lastRun) {
    hasQuoted = true;
    figures.slowestQuoteSeconds = Math.max(figures.slowestQuoteSeconds, secondsSince(startedAt));
  }
  if (hasQuoted && !bot!.isOver()) {
    counts.up++;
    if (bids > 0n) counts.bid++;
    if (asks > 0n) counts.ask++;
    if (isQuoting) counts.both++;
    await scrape();
  }
}

/** The bot's own metrics: debt, orders there without a known end, and why it does not quote. */
async function scrape(): Promise<{ readonly openOrders: number | null; readonly closed: boolean }> {
  let [openOrders, closed]: [number | null, boolean] = [null, false];
  const url = `http://127.0.0.1:${metricsPort}/metrics`;
  const text = await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    answer => answer.text(),
    () => '',
  );
  for (const [, name, labels, value] of text.matchAll(/^(puntas_\w+)(?:\{(.*)\})? (\S+)$/gm)) {
    const number = Number(value);
    if (name === 'puntas_hedge_debt') figures.debtMost = Math.max(figures.debtMost, number);
    if (name === 'puntas_hedge_failures') figures.failuresMost = Math.max(figures.failuresMost, number);
    if (name === 'puntas_elsewhere_orders_open') openOrders = number;
    const reason = /reason="([^"]*)"/.exec(labels ?? '')?.[1];
    if (name !== 'puntas_not_quoting' || !(number > 0) || reason === undefined) continue;
    count(notQuoting, reason);
    closed ||= reason.includes('no hedge elsewhere');
  }
  return { openOrders, closed };
}

async function startBot(): Promise<Running> {
  lastRun = Math.max(lastRun, newestRun((await here.truth()).live.filter(isOurs)));
  startedAt = Date.now();
  hasQuoted = false;
  isKilled = false;
  const { key, secret, elsewhereKey, elsewhereSecret } = face;
  return start(
    [file, ...clockArgs()],
    {
      ...{ PUNTAS_API_KEY: key, PUNTAS_API_SECRET: secret },
      ...{ PUNTAS_ELSEWHERE_API_KEY: elsewhereKey, PUNTAS_ELSEWHERE_API_SECRET: elsewhereSecret },
    },
    PROGRAM,
  );
}

function kill(): void {
  isKilled = true;
  bot?.signal('SIGKILL');
}

/** The bot stays dead: the sentinel cancels its orders and halts, and the operator resumes. */
async function sentinelClears(): Promise<void> {
  counts.bySentinel++;
  const from = Date.now();
  const isClear = await within(
    PATIENCE_MS,
    async () => existsSync(join(state, 'HALTED')) && !(await here.truth()).live.some(isOurs),
  );
  if (!isClear) violation(`the sentinel did not clear a dead bot within ${secondsSince(from)} s:\n${tail(sentinel)}`);
  await resumeIfHalted();
}

async function resumeIfHalted(): Promise<void> {
  const latch = join(state, 'HALTED');
  if (!existsSync(latch)) return;
  const why = readFileSync(latch, 'utf8');
  if (!why.includes('"by":"sentinel"')) {
    counts.halts++;
    violation(`halted: ${why}`);
  }
  counts.resumes++;
  const resumed = start(['resume', '--state', state, '--reason', 'the hour goes on']);
  if ((await resumed.ended).code !== 0) violation(`resume failed: ${resumed.stderr()}`);
}

/** It is stopped, and everything is what both exchanges have. */
async function lastStop(): Promise<void> {
  bot!.signal('SIGTERM');
  const { code } = await bot!.ended;
  if (code !== 0) violation(`exit code ${code} at the end:\n${tail(bot!)}`);
  sentinel.signal('SIGTERM');
  await sentinel.ended;
  // The comparison asks for every order, which no limit of an address is about.
  for (const observer of [here, there]) await observer.set({ rateLimits: 'off' });
  const truths = { here: await here.truth(), there: await there.truth() };
  const left = truths.here.live.filter(isOurs);
  if (left.length > 0) violation(`at the end ${left.length} orders live`);
  checkLedger(truths);
  const rows = await hedgeRows();
  await checkOrders(rows);
  const path = await exposurePath();
  const plannedSide = max(fullSide, 1n);
  const bound = boundOf(plannedSide);
  for (const [what, worst] of [
    ['inventory', path.worst],
    ['inventory with every live order', figures.worst],
  ] as const)
    if (worst > bound) violation(`${what} was ${text(worst)} from its target, and the bound is ${text(bound)}`);
  const debtMax = Number(shipped.hedge.elsewhere.debtMax);
  if (figures.debtMost > debtMax) violation(`hedge debt was ${figures.debtMost}, and debtMax is ${debtMax}`);
  report(path, bound, rows, truths);
}

/** The ledger on disk equals the balances of both exchanges in every currency. */
function checkLedger(truths: { readonly here: Truth; readonly there: Truth }): void {
  const { ledger } = onDisk(state);
  for (const [place, { totals }] of [
    ['', truths.here],
    ['@binance', truths.there],
  ] as const)
    for (const [currency, total] of totals) {
      const booked = ledger?.totals.get(`${currency}${place}`) ?? '0';
      if (units(booked) !== units(total))
        violation(`the ledger has ${booked} ${currency}${place}, and the exchange ${total}`);
    }
}

type Row = {
  readonly id: string;
  readonly state: string;
  readonly why: string | null;
  readonly elsewhere?: { readonly order: { readonly id: string } };
  readonly offer: { readonly id: string } | null;
};

/** Hedges, as `puntas hedges --json` lists them. */
async function hedgeRows(): Promise<readonly Row[]> {
  const listed = start(['hedges', '--state', state, '--json']);
  const { code } = await listed.ended;
  if (code !== 0) violation(`puntas hedges ended with ${code}: ${listed.stderr()}`);
  return (JSON.parse(listed.stdout()) as { hedges: Row[] }).hedges;
}

/** Each order left once; the exchange has no other, and its end is that of its hedge. */
async function checkOrders(rows: readonly Row[]): Promise<void> {
  const trades = await there.trades();
  const filled = new Set(trades.map(({ orderId }) => orderId));
  const ended = new Map(rows.flatMap(row => (row.elsewhere ? [[row.elsewhere.order.id, row] as const] : [])));
  const known = new Set<number>();
  for (const [id, times] of sent) {
    if (times > 1) violation(`${id} was sent ${times} times`);
    const order = await there.order(id);
    if (order !== null) known.add(order.orderId);
    const isFilled = order !== null && units(order.executedQty) > 0n;
    const row = ended.get(id);
    if (row === undefined || (row.state === 'completed') !== isFilled)
      violation(`${id} ${isFilled ? 'was' : 'was not'} filled there, and its hedge is ${row?.state ?? 'not listed'}`);
  }
  for (const orderId of filled) if (!known.has(orderId)) violation(`order ${orderId} there was sent by nobody`);
}

/** Inventory after each trade of both exchanges, by their common clock; trades of one ms count together. */
async function exposurePath(): Promise<{ readonly worst: bigint; readonly fills: number; readonly hedged: number }> {
  const moves: { at: number; sum: bigint }[] = [];
  const fills = await here.trades();
  const seen = new Set(fills.map(({ oid }) => oid));
  for (const oid of seen)
    for (const { created_at: at, side, major, fees_amount: fee, fees_currency: currency } of await here.tradesOf(oid)) {
      const paid = currency === 'btc' ? units(fee) : 0n;
      moves.push({ at: Date.parse(at), sum: (side === 'buy' ? 1n : -1n) * abs(units(major)) - paid });
    }
  const hedges = await there.trades();
  for (const { time, isBuyer, qty, commission, commissionAsset } of hedges) {
    const paid = commissionAsset === 'BTC' ? units(commission) : 0n;
    moves.push({ at: time, sum: (isBuyer ? 1n : -1n) * units(qty) - paid });
  }
  moves.sort((a, b) => a.at - b.at);
  let [inventory, worst] = [0n, 0n];
  moves.forEach(({ at, sum }, i) => {
    inventory += sum;
    if (moves[i + 1]?.at !== at) worst = max(worst, abs(inventory));
  });
  return { worst, fills: fills.length, hedged: hedges.length };
}

/** E17: b + (m+1)L, and no more than b + debtMax; with m of 0, b + L. */
function boundOf(side: bigint): bigint {
  const { band, elsewhere } = shipped.hedge;
  const byFailures = BigInt((failuresMax ?? 3) + 1) * side;
  const debtMax = units(elsewhere.debtMax);
  return units(band) + (byFailures < debtMax ? byFailures : debtMax) + LOT;
}

function report(
  path: { readonly worst: bigint; readonly fills: number; readonly hedged: number },
  bound: bigint,
  rows: readonly Row[],
  truths: { readonly here: Truth; readonly there: Truth },
): void {
  const share = (n: number) => `${((100 * n) / Math.max(1, counts.up)).toFixed(1)}%`;
  const listed = (map: ReadonlyMap<string, number>, of = 0) =>
    [...map]
      .sort((a, b) => b[1] - a[1])
      .map(([name, n]) => `${name} ${of > 0 ? `${((100 * n) / of).toFixed(1)}%` : n}`)
      .join(', ');
  const states = new Map<string, number>();
  for (const { state: is } of rows) count(states, is);
  const causes = new Map<string, number>();
  for (const { why } of rows) if (why !== null) count(causes, why.replace(/\d[\d.,:]*/g, 'n').slice(0, 90));
  const said = sentinel
    .stderr()
    .split('\n')
    .filter(line => line !== '');
  const table: readonly (readonly [string, string])[] = [
    [
      'time',
      `${((Date.now() - began) / 60_000).toFixed(1)} min at ${speed} times speed, seed ${seed}, failuresMax ${failuresMax ?? 3}`,
    ],
    ['machine', `${cpus().length} x ${cpus()[0]?.model ?? '?'}, Node ${process.version}`],
    ['kills -9', `${counts.kills}: ${listed(killedAt)}`],
    [
      'left to the sentinel',
      `${counts.bySentinel}; resumed ${counts.resumes} times; halts for other reasons ${counts.halts}`,
    ],
    ['starts that ended', `${counts.ownEnds}: ${listed(endedFor)}`],
    ['slowest start to quotes', `${figures.slowestQuoteSeconds.toFixed(1)} s`],
    ['fills here, trades there', `${path.fills}, ${path.hedged}`],
    ['orders there', `${sent.size} sent, ${Math.max(0, ...sent.values())} at most per id; hedges: ${listed(states)}`],
    ['reasons of hedges', listed(causes)],
    [
      'worst inventory',
      `${text(path.worst)}; with every live order ${text(figures.worst)}; bound ${text(bound)} (largest side ${text(fullSide)})`,
    ],
    ['debt, failures at most', `${figures.debtMost} of ${shipped.hedge.elsewhere.debtMax}; ${figures.failuresMost}`],
    [
      'quotes while up',
      `bid ${share(counts.bid)}, ask ${share(counts.ask)}, both ${share(counts.both)} of ${counts.up} looks`,
    ],
    ['not quoting', listed(notQuoting, counts.up)],
    ['balances here', [...truths.here.totals].map(([currency, total]) => `${total} ${currency}`).join(', ')],
    ['balances there', [...truths.there.totals].map(([currency, total]) => `${total} ${currency}`).join(', ')],
    ['sentinel', `${said.length} lines; the last: ${said.slice(-3).join(' | ')}`],
    ['violations', String(violations.length)],
  ];
  const lines = table.map(([name, value]) => `${name.padEnd(26)}${value}`);
  console.log(lines.join('\n'));
  if (values.out !== undefined) writeFileSync(values.out, `${lines.join('\n')}\n${violations.join('\n')}\n`);
}

function show(): void {
  const share = ((100 * counts.both) / Math.max(1, counts.up)).toFixed(0);
  console.log(
    `${Math.round(secondsSince(began))} s: ${counts.kills} of ${kills} kills, ${sent.size} orders there, both sides quoted ${share}% of the time, worst inventory ${text(figures.worst)}, debt at most ${figures.debtMost}, violations ${violations.length}`,
  );
}

function held({ here: home, there: other }: { readonly here: Truth; readonly there: Truth }): bigint {
  return units(home.totals.get('btc') ?? '0') + units(other.totals.get('btc') ?? '0');
}

function isOurs({ origin_id: id }: LiveOrder): boolean {
  return id?.startsWith(`${INSTANCE}-`) === true;
}

function newestRun(orders: readonly LiveOrder[]): number {
  return Math.max(0, ...orders.map(({ origin_id: id }) => Number(id!.split('-')[1])));
}

function stepOf(draw: number): Step {
  let left = draw * STEPS.reduce((sum, [, , , weight]) => sum + weight, 0);
  return STEPS.find(([, , , weight]) => (left -= weight) < 0) ?? STEPS[0]!;
}

function clockArgs(): readonly string[] {
  return [speed, market, wall].map(String);
}

/** Play money of both exchanges, with the limits that no bad luck reaches. */
function exchangeFile(): string {
  const path = join(work, 'exchange.yaml');
  writeFileSync(path, stringify({ ...shipped, state: { dir: join(work, 'exchange') } }));
  return path;
}

/** The shipped configuration on the two exchanges as remote ones. Times that this machine's own delays pass at this speed are longer. */
function botFile(): string {
  const path = join(work, 'bot.yaml');
  const url = (way: Proxy, scheme = 'http') => `${scheme}://127.0.0.1:${way.port}`;
  const [source, ...others] = shipped.reference.sources;
  const own = {
    instance: INSTANCE,
    exchange: {
      ...{ kind: 'remote', restUrl: url(ways.here), streamUrl: url(ways.here, 'ws') },
      requestTimeoutMs: 20_000,
    },
    elsewhere: {
      ...{ kind: 'remote', venue: 'binance', acceptUntried: 'binance', book: face.elsewhereBook },
      ...{ restUrl: url(ways.there), streamUrl: url(ways.there, 'ws'), requestTimeoutMs: 5_000 },
    },
    reference: {
      ...shipped.reference,
      sources: [{ ...source, books: source!.books.map(book => ({ staleAfterMs: 60_000, ...book })) }, ...others],
    },
    timing: { staleAfterMs: 30_000, privatePollMs: 6_000 },
    hedge: {
      ...shipped.hedge,
      elsewhere: { ...shipped.hedge.elsewhere, ...(failuresMax === undefined ? {} : { failuresMax }) },
    },
    limits: { ...shipped.limits, drawdownMax: '500000', dayLossMax: '500000' },
    sentinel: { required: true, ttlMs: 400_000 },
    journal: { rollHours: 4, keepMb: 20_000 },
    metrics: { port: metricsPort },
    state: { dir: state },
  };
  writeFileSync(path, stringify({ ...shipped, ...own }));
  return path;
}

function count(map: Map<string, number>, name: string): void {
  map.set(name, (map.get(name) ?? 0) + 1);
}

function tail(program: Running): string {
  return program.stderr().split('\n').slice(-25).join('\n');
}

function abs(n: bigint): bigint {
  return n < 0n ? -n : n;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function text(sum: bigint): string {
  return (Number((sum * 100_000_000n) / ONE) / 1e8).toFixed(8);
}

if (violations.length === 0) rmSync(work, { recursive: true, force: true });
else console.log(`left for you to look at: ${work}`);
process.exit(violations.length === 0 ? 0 : 1);
