/**
 * Chaos with real processes: the embedded exchange, the built bot behind a wire that fails, and signals at random moments. After each death the
 * exchange's own truth is held against what the bot had on disk. Usage: npm run chaos -- --kills 50 --sentinel 2 --seed 7
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'yaml';
import { randomOf } from '../../src/core/index.ts';
import { onDisk, type OnDisk } from './journalCopy.ts';
import { killAll, pause, start, within, type Running } from './programs.ts';
import { proxyTo } from './proxy.ts';
import { Observer, units, type Face, type LiveOrder } from './truth.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    sentinel: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [kills, sentinelRounds, seed] = [Number(values.kills), Number(values.sentinel), Number(values.seed)];
if (![kills, sentinelRounds, seed].every(n => Number.isSafeInteger(n) && n >= 0))
  throw new Error('--kills, --sentinel and --seed are whole numbers');

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const INSTANCE = 'chaos';
const FENCE_MS = 15_000;
const SETTLE_MS = 5_000;
/** With something unknown: the fence, the settle time, and what reading takes on a wire that fails. */
const UNKNOWN_MS = FENCE_MS + SETTLE_MS + 60_000;
/** What a 420 of the wire costs: nothing private is asked for a minute. */
const LOCKED_OUT_MS = 60_000;
const QUOTE_MS = 10_000;
const SENTINEL_MS = 40_000;
const STOP_MS = 150_000;
/** What comes at all comes within this on any machine; how soon it came is judged apart, without the time in which the machine was busy with others. */
const PATIENCE_MS = 420_000;

const random = randomOf(seed);
const between = (from: number, to: number) => from + random.next() * (to - from);
const began = Date.now();
const work = mkdtempSync(join(tmpdir(), 'puntas-chaos-'));
const state = join(work, 'state');

const report = {
  seed,
  kills: 0,
  sigkill: 0,
  sigstop: 0,
  sigterm: 0,
  duringRecovery: 0,
  ownEnds: 0,
  orphans: 0,
  doubleFills: 0,
  ledgerMismatches: 0,
  untrueExits: 0,
  halts: 0,
  lateQuotes: 0,
  calmStarts: 0,
  slowestQuoteSeconds: 0,
  slowestUnknownSeconds: 0,
  fills: 0,
  sentinelRounds: 0,
  sentinelViolations: 0,
  slowestSentinelSeconds: 0,
  wireFaults: {} as Readonly<Record<string, number>>,
  minutes: 0,
  node: process.version,
  cpus: cpus().length,
};
const violations: string[] = [];
function violation(
  count: 'orphans' | 'doubleFills' | 'ledgerMismatches' | 'untrueExits' | 'halts' | 'lateQuotes' | 'sentinelViolations',
  what: string,
): void {
  report[count]++;
  violations.push(what);
  console.log(`VIOLATION (${count}): ${what}`);
}

console.log(`chaos: seed ${seed}, ${kills} kills, ${sentinelRounds} sentinel rounds; state in ${work}`);
const exchange = start(['exchange', '--port', '0']);
if (!(await within(PATIENCE_MS, () => /\n/.test(exchange.stdout()))))
  throw new Error(`no exchange: ${exchange.stderr()}`);
const face = JSON.parse(exchange.stdout().split('\n')[0]!) as Face;
const observer = await Observer.of(face);
// Dozens of starts in a few minutes are not what the limits of an address are about.
await observer.set({ rateLimits: 'off' });
const opening = (await observer.truth()).totals;
const proxy = await proxyTo(Number(new URL(face.url).port), random);
const botConfig = configFile('bot.yaml', proxy.port);
const sentinelConfig = configFile('sentinel.yaml', Number(new URL(face.url).port));

let lastRun = 0;

try {
  let nothingUnknown = true;
  for (let cycle = 1; cycle <= kills; cycle++) {
    const isFaulty = cycle % 4 >= 2;
    proxy.faulty = isFaulty;
    const lockedOutBefore = proxy.counts['420'];
    const current = startBot();
    const took = stopwatch(current, exchange);
    const wasCalm = nothingUnknown && !isFaulty;
    if (random.next() < 0.3) {
      report.duringRecovery++;
      await pause(between(300, 3_000));
    } else {
      const until = async () => current.isOver() || (await quotes(lastRun)) !== null;
      const isQuoting = await within(PATIENCE_MS, until);
      const seconds = took();
      // Each 420 of the wire begins a minute anew.
      const lockedOutMs = (proxy.counts['420'] - lockedOutBefore) * LOCKED_OUT_MS;
      if (current.isOver()) {
        // A wire that fails may end a start; it must not leave anything untrue behind.
        report.ownEnds++;
      } else {
        if (!isQuoting || seconds * 1000 > (wasCalm ? QUOTE_MS : UNKNOWN_MS + lockedOutMs))
          violation(
            'lateQuotes',
            `cycle ${cycle}: ${isQuoting ? `${seconds} s to quote` : 'no quotes'}\n${tail(current)}`,
          );
        if (wasCalm) {
          report.calmStarts++;
          report.slowestQuoteSeconds = Math.max(report.slowestQuoteSeconds, seconds);
        } else report.slowestUnknownSeconds = Math.max(report.slowestUnknownSeconds, seconds);
        const run = await quotes(lastRun);
        const older = (await ours()).filter(order => run !== null && runOf(order) < run);
        if (older.length > 0)
          violation('orphans', `cycle ${cycle}: quoting while ${ids(older)} of earlier runs live\n${tail(current)}`);
        lastRun = run ?? lastRun;
        await pause(between(200, 6_000));
      }
    }
    await end(current, cycle, isFaulty);
    nothingUnknown = await inspect(cycle);
    report.kills++;
    console.log(
      `${cycle}/${kills} ${Math.round((Date.now() - began) / 1000)} s: fills ${report.fills}, slowest to quote ${report.slowestQuoteSeconds.toFixed(1)} s, with something unknown ${report.slowestUnknownSeconds.toFixed(1)} s, violations ${violations.length}`,
    );
  }
  for (let round = 1; round <= sentinelRounds; round++) await sentinelRound(round);
  await lastStop();
} finally {
  killAll();
  await proxy.close();
}
report.wireFaults = proxy.counts;
report.minutes = Number(((Date.now() - began) / 60_000).toFixed(1));
if (violations.length === 0) rmSync(work, { recursive: true, force: true });
else console.log(`left for you to look at: ${work}`);
console.log(JSON.stringify(report));
process.exit(violations.length === 0 ? 0 : 1);

function startBot(): Running {
  return start(['run', '-c', botConfig, '--json'], { PUNTAS_API_KEY: face.key, PUNTAS_API_SECRET: face.secret });
}

/** Ends it in one of the three ways. */
async function end(current: Running, cycle: number, isFaulty: boolean): Promise<void> {
  const dice = random.next();
  if (!current.isOver() && dice < 0.2) {
    report.sigterm++;
    await stopped(current, `cycle ${cycle}`, isFaulty);
    return;
  }
  if (!current.isOver() && dice < 0.4) {
    report.sigstop++;
    current.signal('SIGSTOP');
    await pause(between(1_000, 12_000));
    current.signal('SIGCONT');
    await pause(between(100, 4_000));
  }
  report.sigkill++;
  current.signal('SIGKILL');
  await current.ended;
}

/** SIGTERM: it ends in bounded time, and what its exit says is so. */
async function stopped(current: Running, where: string, isFaulty: boolean): Promise<void> {
  current.signal('SIGTERM');
  if (!(await within(STOP_MS, () => current.isOver()))) {
    violation('untrueExits', `${where}: not over ${STOP_MS / 1000} s after SIGTERM\n${tail(current)}`);
    current.signal('SIGKILL');
  }
  const { code } = await current.ended;
  // Node had not begun to run it: nobody was there to look after what an earlier run left.
  if (code === null && current.stderr() === '') return;
  const live = await ours();
  const unsaid = live.filter(order => !current.stderr().includes(`order ${order.origin_id} may still be open`));
  if (unsaid.length > 0 && code !== 3)
    violation('untrueExits', `${where}: exit code ${code} with ${ids(unsaid)} live\n${tail(current)}`);
  const last = current.stdout().trimEnd().split('\n').at(-1)!;
  if (code !== 0) {
    // Before it quotes, a signal or a failing wire may end it without a summary.
    if (!isFaulty && last.startsWith('{'))
      violation('untrueExits', `${where}: exit code ${code} on a calm wire\n${tail(current)}`);
    return;
  }
  const { position } = JSON.parse(last) as { position: Record<string, string> };
  const { totals } = await observer.truth();
  for (const [currency, held] of Object.entries(position))
    if (units(held) !== units(totals.get(currency)!))
      violation('ledgerMismatches', `${where}: it says ${held} ${currency}, the exchange has ${totals.get(currency)}`);
}

/** The dead bot's disk against the exchange. True when nothing of it is unknown to a next start. */
async function inspect(cycle: number): Promise<boolean> {
  // What was on its way arrives, or is held by the wire for longer.
  await pause(200);
  const disk: OnDisk = onDisk(state);
  const live = await ours();
  const strangers = live.filter(order => !disk.open.includes(order.origin_id!));
  if (strangers.length > 0) violation('orphans', `cycle ${cycle}: ${ids(strangers)} live, and not on disk`);
  lastRun = Math.max(lastRun, ...disk.open.map(id => Number(id.split('-')[1])), ...live.map(runOf));
  await checkLedger(cycle, disk);
  const latch = join(state, 'HALTED');
  if (existsSync(latch)) {
    const why = readFileSync(latch, 'utf8');
    violation(/balances differ/.test(why) ? 'ledgerMismatches' : 'halts', `cycle ${cycle}: halted: ${why}`);
    await start(['resume', '--state', state, '--reason', 'chaos goes on']).ended;
  }
  for (const id of disk.open)
    if (!live.some(order => order.origin_id === id) && !(await observer.knows(id))) return false;
  return true;
}

/** The ledger on disk must be the opening balances and exactly the trades that it says it has. */
async function checkLedger(cycle: number, { ledger }: OnDisk): Promise<void> {
  const trades = await observer.trades();
  report.fills = trades.length;
  if (ledger === null) return;
  const expected = new Map([...opening].map(([currency, total]) => [currency, units(total)]));
  const add = (currency: string, sum: bigint) => expected.set(currency, (expected.get(currency) ?? 0n) + sum);
  for (const trade of trades) {
    const isIn = (ledger.marker !== null && BigInt(trade.tid) <= BigInt(ledger.marker)) || ledger.seen.has(trade.tid);
    if (!isIn) continue;
    const sign = trade.side === 'buy' ? 1n : -1n;
    add('btc', sign * abs(units(trade.major)));
    add('mxn', -sign * abs(units(trade.minor)));
    add(trade.fees_currency, -units(trade.fees_amount));
  }
  for (const currency of ['btc', 'mxn']) {
    const had = units(ledger.totals.get(currency)!);
    if (had !== expected.get(currency))
      violation(
        'doubleFills',
        `cycle ${cycle}: the ledger has ${had} units of ${currency}, its trades make ${expected.get(currency)}`,
      );
  }
}

/** The bot is killed or frozen for good; the sentinel takes its orders out, and nothing comes back. */
async function sentinelRound(round: number): Promise<void> {
  report.sentinelRounds++;
  proxy.faulty = false;
  const isKill = round % 2 === 1;
  const key = await observer.newKey();
  const sentinel = start(['sentinel', '-c', sentinelConfig], {
    PUNTAS_API_KEY: key.key,
    PUNTAS_API_SECRET: key.secret,
  });
  const current = startBot();
  if (!(await within(PATIENCE_MS, async () => (await quotes(lastRun)) !== null)))
    violation('sentinelViolations', `round ${round}: no quotes\n${tail(current)}`);
  if (!(await within(PATIENCE_MS, () => /sentinel: watching/.test(sentinel.stderr()))))
    violation('sentinelViolations', `round ${round}: it does not watch\n${tail(sentinel)}`);
  await pause(between(3_000, 6_000));
  current.signal(isKill ? 'SIGKILL' : 'SIGSTOP');
  const took = stopwatch(sentinel, exchange);
  const isClear = await within(PATIENCE_MS, async () => (await ours()).length === 0);
  const seconds = took();
  report.slowestSentinelSeconds = Math.max(report.slowestSentinelSeconds, seconds);
  if (!isClear || seconds * 1000 > SENTINEL_MS)
    violation('sentinelViolations', `round ${round}: ${seconds} s until no order lived\n${tail(sentinel)}`);
  // A frozen bot that wakes up finds the latch, and places nothing.
  if (!isKill) current.signal('SIGCONT');
  for (let second = 0; second < 8; second++) {
    await pause(1_000);
    const live = await ours();
    if (live.length > 0)
      violation('sentinelViolations', `round ${round}: ${ids(live)} after the sentinel was done\n${tail(current)}`);
  }
  if (!existsSync(join(state, 'HALTED'))) violation('sentinelViolations', `round ${round}: nothing was latched`);
  current.signal('SIGKILL');
  await current.ended;
  sentinel.signal('SIGTERM');
  await sentinel.ended;
  const resumed = start(['resume', '--state', state, '--reason', 'the sentinel was seen to work']);
  if ((await resumed.ended).code !== 0)
    violation('sentinelViolations', `round ${round}: resume failed: ${resumed.stderr()}`);
  lastRun = Math.max(lastRun, ...onDisk(state).open.map(id => Number(id.split('-')[1])));
  console.log(
    `sentinel ${round}/${sentinelRounds}: bot ${isKill ? 'killed' : 'frozen'}, no order after ${seconds.toFixed(1)} s`,
  );
}

/** At the end it quotes once more, is stopped, and equals the exchange. */
async function lastStop(): Promise<void> {
  proxy.faulty = false;
  const current = startBot();
  if (!(await within(PATIENCE_MS, async () => (await quotes(lastRun)) !== null)))
    violation('lateQuotes', `at the end: no quotes\n${tail(current)}`);
  await stopped(current, 'at the end', false);
  const live = await ours();
  if (live.length > 0) violation('orphans', `at the end: ${ids(live)}`);
  await checkLedger(kills + 1, onDisk(state));
}

async function ours(): Promise<LiveOrder[]> {
  return (await observer.truth()).live.filter(order => order.origin_id?.startsWith(`${INSTANCE}-`) === true);
}

/** The run that has quotes on both sides and is newer than `than`; null when none has. */
async function quotes(than: number): Promise<number | null> {
  const live = (await ours()).filter(order => runOf(order) > than && order.status !== 'queued');
  const sides = new Set(live.map(order => order.side));
  return sides.size === 2 ? Math.max(...live.map(runOf)) : null;
}

/** Seconds from now on, without those in which the one of these programs that waited longest for a processor did so. */
function stopwatch(...programs: readonly Running[]): () => number {
  const from = Date.now();
  const before = programs.map(program => program.queuedMs());
  return () => {
    const queuedMs = Math.max(...programs.map((program, i) => program.queuedMs() - before[i]!));
    return (Date.now() - from - queuedMs) / 1000;
  };
}

function runOf({ origin_id: id }: LiveOrder): number {
  return Number(id!.split('-')[1]);
}

function ids(orders: readonly LiveOrder[]): string {
  return orders.map(order => order.origin_id).join(', ');
}

function tail(program: Running): string {
  return program.stderr().split('\n').slice(-25).join('\n');
}

function abs(n: bigint): bigint {
  return n < 0n ? -n : n;
}

function configFile(name: string, port: number): string {
  const tree = parse(readFileSync(join(ROOT, 'config/sandbox.yaml'), 'utf8')) as Record<string, unknown>;
  const file = join(work, name);
  const restUrl = `http://127.0.0.1:${port}`;
  writeFileSync(
    file,
    stringify({
      ...tree,
      instance: INSTANCE,
      exchange: { kind: 'remote', restUrl, streamUrl: `ws://127.0.0.1:${port}`, requestTimeoutMs: 2_000 },
      timing: { requestDelayMaxMs: FENCE_MS, tradeReportDelayMaxMs: SETTLE_MS, privatePollMs: 1_000 },
      // The wire of this campaign is worse than any halt allows.
      halts: { unknownsPerMinute: 10_000, refusalsPerMinute: 10_000 },
      metrics: { port: 0 },
      state: { dir: state },
    }),
  );
  return file;
}
