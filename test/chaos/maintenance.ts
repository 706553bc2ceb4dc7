/**
 * The exchange goes away from a running bot with a sentinel, and comes back: with real processes, and three ways of being away. Nobody types anything,
 * and the bot must quote again. Usage: npm run maintenance -- --seconds 600 --ttl 30000
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'yaml';
import { randomOf } from '../../src/core/index.ts';
import { killAll, pause, start, within } from './programs.ts';
import { proxyTo, type Proxy } from './proxy.ts';
import { Observer, type Face } from './truth.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '25' }, ttl: { type: 'string', default: '10000' } },
});
const [seconds, ttlMs] = [Number(values.seconds), Number(values.ttl)];
if (!(seconds > 0) || !(ttlMs > 0)) throw new Error('--seconds and --ttl are numbers above zero');

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const INSTANCE = 'maintained';
/** Generous: how fast is measured and printed, not asserted. */
const QUOTES_WITHIN_MS = 420_000;

const work = mkdtempSync(join(tmpdir(), 'puntas-maintenance-'));
const state = join(work, 'state');
const violations: string[] = [];

function configFile(name: string, port: number): string {
  const tree = parse(readFileSync(join(ROOT, 'config/sandbox.yaml'), 'utf8')) as Record<string, unknown>;
  const file = join(work, name);
  const exchange = {
    ...{ kind: 'remote', restUrl: `http://127.0.0.1:${port}`, streamUrl: `ws://127.0.0.1:${port}` },
    requestTimeoutMs: 2_000,
  };
  const own = { instance: INSTANCE, exchange, sentinel: { ttlMs }, metrics: { port: 0 }, state: { dir: state } };
  writeFileSync(file, stringify({ ...tree, ...own }));
  return file;
}

try {
  const exchange = start(['exchange', '--port', '0']);
  if (!(await within(QUOTES_WITHIN_MS, () => /\n/.test(exchange.stdout()))))
    throw new Error(`no exchange: ${exchange.stderr()}`);
  const face = JSON.parse(exchange.stdout().split('\n')[0]!) as Face;
  const observer = await Observer.of(face);
  const port = Number(new URL(face.url).port);
  const ways: readonly [bot: Proxy, sentinel: Proxy] = [
    await proxyTo(port, randomOf(1)),
    await proxyTo(port, randomOf(2)),
  ];
  const environment = ({ key, secret }: { key: string; secret: string }) => ({
    PUNTAS_API_KEY: key,
    PUNTAS_API_SECRET: secret,
  });
  const bot = start(['run', '-c', configFile('bot.yaml', ways[0].port), '--json'], environment(face));
  const sentinel = start(
    ['sentinel', '-c', configFile('sentinel.yaml', ways[1].port)],
    environment(await observer.newKey()),
  );
  const ours = async () =>
    (await observer.truth()).live.filter(order => order.origin_id?.startsWith(`${INSTANCE}-`) === true);
  const isQuoting = async () => new Set((await ours()).map(order => order.side)).size === 2;
  const marks = () => ['HALTED', 'HELD'].filter(name => existsSync(join(state, name)));
  const told = () => `bot:\n${bot.stderr().slice(-3_000)}\nsentinel:\n${sentinel.stderr().slice(-3_000)}`;
  const violation = (what: string) => {
    violations.push(what);
    console.log(`VIOLATION: ${what}\n${told()}`);
  };

  // A slow start may be held back; that is lifted before anything goes away.
  if (!(await within(QUOTES_WITHIN_MS, async () => marks().length === 0 && (await isQuoting()))))
    violation('no quotes at the start');
  if (!(await within(QUOTES_WITHIN_MS, () => /sentinel: watching/.test(sentinel.stderr()))))
    violation('the sentinel does not watch');
  const kinds: readonly (readonly [string, away: () => void, back: () => void])[] = [
    ['answers nobody (its process is stopped)', () => exchange.signal('SIGSTOP'), () => exchange.signal('SIGCONT')],
    [
      'refuses every connection',
      () => ways.forEach(way => (way.isDown = true)),
      () => ways.forEach(way => (way.isDown = false)),
    ],
    ['answers the sentinel and not the bot', () => (ways[0].isDown = true), () => (ways[0].isDown = false)],
  ];
  for (const [kind, away, back] of kinds) {
    const isCutOff = kind.includes('sentinel');
    away();
    await pause(seconds * 1000);
    if (isCutOff) {
      const isHeld = await within(
        QUOTES_WITHIN_MS,
        async () => marks().join() === 'HELD' && (await ours()).length === 0,
      );
      if (!isHeld) violation(`${kind}: not held back and cleared: ${marks().join()}`);
    } else if (marks().length > 0) violation(`${kind}: ${marks().join()} for an outage`);
    back();
    const from = Date.now();
    const isBack = await within(QUOTES_WITHIN_MS, async () => marks().length === 0 && (await isQuoting()));
    if (!isBack) violation(`${kind}: after it no quotes without a person: ${marks().join()}`);
    if (bot.isOver()) violation(`${kind}: the bot ended`);
    console.log(
      `the exchange ${kind} for ${seconds} s: quotes again after ${((Date.now() - from) / 1000).toFixed(1)} s`,
    );
  }
  const lines = sentinel
    .stderr()
    .split('\n')
    .filter(line => /unreachable|no usable answer|could not be read/.test(line));
  const linesMax = 3 * (2 + Math.ceil(seconds / 60)) + 6;
  console.log(`the sentinel told of failed reads in ${lines.length} lines`);
  if (lines.length > linesMax)
    violation(`${lines.length} lines of failed reads from the sentinel, at most ${linesMax}`);
  const resumed = join(state, 'resumed.jsonl');
  if (!existsSync(resumed) || !readFileSync(resumed, 'utf8').includes('"by":"sentinel"'))
    violation('the lifting of the hold is not written down');
  bot.signal('SIGTERM');
  if ((await bot.ended).code !== 0) violation('the stop was not clean');
  sentinel.signal('SIGTERM');
  await sentinel.ended;
  await Promise.all(ways.map(way => way.close()));
} finally {
  killAll();
  rmSync(work, { recursive: true, force: true });
}
console.log(violations.length === 0 ? 'no violation' : `${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;
