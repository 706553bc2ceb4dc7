/** Full disks, closed pipes and readers that read nothing, at the other end of stdout and stderr. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { previewAction } from '../../src/app/actions/previewAction.ts';
import { ProposalDesk } from '../../src/app/actions/proposalDesk.ts';
import { newProposalId } from '../../src/app/console/consoleProposals.ts';
import { hedgesIn } from '../../src/app/inspect/hedges.ts';
import { promotionJournal } from '../../src/app/promote/promotionJournal.ts';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { MONEY_COMMANDS } from '../../src/cli/commands/index.ts';
import { latchIn } from '../../src/live/safety/latch.ts';
import { realClock } from '../../src/live/realClock.ts';
import { freePort } from '../freePort.ts';
import { REMOTE_TOKEN, TelegramDouble } from '../app/remote/telegramDouble.ts';
import { doomed } from '../live/crashes.ts';
import { hedgedWorld, isAccept } from '../hedge/hedgedWorld.ts';
import { Folders } from '../live/states.ts';
import { openExchange, type EmbeddedExchange } from './embeddedExchange.ts';
import { Bench, ROOT, endPrograms, puntas, ran } from './program.ts';

const bench = new Bench();
const children = new Set<ChildProcess>();
const endOthers = () => children.forEach(child => child.kill('SIGKILL'));
afterEach(async () => {
  endOthers();
  await endPrograms();
});
afterAll(() => bench.clear());

/** What the other end is: a disk that is full, a pipe that is closed, and one that is full and that nothing reads. */
const SINKS = ['a full disk', 'a closed pipe', 'a reader that reads nothing'] as const;

/** Opens such a sink for writing, as a shell opens it: blocking. */
function sink(kind: (typeof SINKS)[number]): { readonly fd: number; close(): void } {
  if (kind === 'a full disk') {
    const fd = openSync('/dev/full', 'a');
    return { fd, close: () => closeSync(fd) };
  }
  const path = bench.path(`fifo-${kind.length}-${process.hrtime.bigint()}`);
  spawnSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const fd = openSync(path, constants.O_WRONLY);
  if (kind === 'a closed pipe') {
    closeSync(reader);
    return { fd, close: () => closeSync(fd) };
  }
  try {
    for (;;) writeSync(reader, Buffer.alloc(4_096));
  } catch {
    // It is full now.
  }
  return { fd, close: () => [fd, reader].forEach(one => closeSync(one)) };
}

/** The same for one life of a bot, with this command among what is started. */
const IN_ONE_LIFE = [
  ...['run', 'sentinel', 'doctor', 'conformance', 'reload'],
  ...['pause', 'reduce', 'cancel', 'flatten', 'halt', 'resume'],
];

/** Starts a command whose stdout and stderr are the sink. */
function deafTo(full: { readonly fd: number }, args: readonly string[], keys: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'dist/src/main.js'), ...args], {
    ...{ cwd: ROOT, env: { ...process.env, ...keys }, stdio: ['ignore', full.fd, full.fd] },
  });
  children.add(child);
  return { child, code: new Promise<number | null>(resolve => child.once('exit', code => resolve(code))) };
}

/** Commands of no life of a bot: each in a folder of its own. Answers once it did what it does otherwise. */
const APART: Readonly<Record<string, (full: { readonly fd: number }, dir: string) => Promise<void>>> = {
  hedges: async (full, dir) => {
    const folders = new Folders();
    const world = hedgedWorld(92, { venues: ['conversion'], pauseMs: 600_000, costMaxBps: 150 });
    const bot = await doomed(world, folders, request => (isAccept(request) ? 'unanswered' : null));
    await world.clock.advance(40_000);
    cpSync(bot.left()!, dir, { recursive: true });
    await bot.running.stop();
    world.end();
    folders.clear();
    const { id } = hedgesIn(dir).find(({ state }) => state === 'unknown' || state === 'accepted')!;
    const seen = await ran(['hedges', 'settle', id, '--state', dir]);
    expect(seen.stdout).toMatch(/\nnothing was settled; to settle the hedge, add --as and --reason\n$/);
    const { code } = deafTo(full, ['hedges', 'settle', id, '--state', dir, '--as', 'executed', '--reason', 'tried']);
    expect(await code).toBe(0);
    expect(readdirSync(dir)).toContain(`settle-${id}.json`);
  },
  promote: async (full, dir) => {
    mkdirSync(dir, { mode: 0o700 });
    const shipped = readFileSync(shippedConfig('sandbox'), 'utf8');
    writeFileSync(join(dir, 'my.yaml'), shipped);
    writeFileSync(join(dir, 'best.yaml'), shipped.replace('halfSpreadBps: 16', 'halfSpreadBps: 18'));
    const criteria = join(dir, 'criteria.yaml');
    const tapes = '[{ flow: { seconds: 300, seed: 3 } }]';
    writeFileSync(criteria, `replay: { tapes: ${tapes}, segments: 1, fillsLeast: 1, net60sLeast: null }`);
    const [live, best] = [join(dir, 'my.yaml'), join(dir, 'best.yaml')];
    const start = ['promote', 'start', best, '-c', live, '--criteria', criteria, '--reason', 'tried'];
    expect(await deafTo(full, start).code).toBe(0);
    const { records } = promotionJournal(join(dir, 'my.promotions'));
    expect(records.map(({ kind }) => kind)).toEqual(['started']);
    expect(readdirSync(join(dir, 'my.promotions'))).not.toContain('command.json');
  },
  approve: async (full, dir) => {
    mkdirSync(dir, { mode: 0o700 });
    const config = bench.config('sandbox', text => stringify({ ...(parse(text) as object), state: { dir } }));
    const [bot, clock] = [{ configFile: config, stateDir: dir }, realClock()];
    const preview = async (ask: Parameters<typeof previewAction>[1]) => (await previewAction(bot, ask, clock)).lines;
    const desk = new ProposalDesk({ bot, clock, preview, newId: newProposalId });
    const { id, digest } = await desk.propose({
      action: 'halt',
      reason: 'odd fills',
      agent: 'a helper',
      minutes: null,
    });
    expect(await deafTo(full, ['approve', id, '-c', config, '--by', 'ann', '--digest', digest]).code).toBe(0);
    expect(latchIn(dir).read()).toMatchObject({ reason: 'odd fills' });
  },
  remote: async (full, dir) => {
    mkdirSync(dir, { mode: 0o700 });
    const chat = await new TelegramDouble().start();
    try {
      const remote = { chats: ['-100'], users: ['1'] };
      const config = bench.config('sandbox', text =>
        stringify({
          ...(parse(text) as object),
          ...{ state: { dir }, alerts: { telegram: { chatId: '-100', url: chat.url, remote } } },
        }),
      );
      const { child, code } = deafTo(full, ['remote', '-c', config], { PUNTAS_TELEGRAM_TOKEN: REMOTE_TOKEN });
      for (let i = 0; i < 600 && chat.sent.length === 0 && child.exitCode === null; i++) {
        if (i % 20 === 0) chat.says('/help', Date.now() + 1_000);
        await new Promise(resolve => setTimeout(resolve, 100));
      }
      expect(chat.sent.length).toBeGreaterThan(0);
      child.kill('SIGTERM');
      expect(await code).toBe(0);
    } finally {
      chat.close();
    }
  },
  console: async (full, dir) => {
    mkdirSync(dir, { mode: 0o700 });
    const port = await freePort();
    const { child, code } = deafTo(full, [
      'console',
      '-c',
      shippedConfig('sandbox'),
      '--state',
      dir,
      '--port',
      String(port),
    ]);
    const answers = () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        ({ status }) => status,
        () => null,
      );
    let status = await answers();
    for (let i = 0; i < 600 && status === null && child.exitCode === null; i++) {
      await new Promise(resolve => setTimeout(resolve, 100));
      status = await answers();
    }
    expect(status).toBe(200);
    child.kill('SIGTERM');
    expect(await code).toBe(0);
  },
};

test('every command that guards money is tried with each of these', () => {
  expect([...IN_ONE_LIFE, ...Object.keys(APART)].sort()).toEqual([...MONEY_COMMANDS].sort());
});

describe.skipIf(!existsSync('/dev/full'))('no log line ends what protects money:', () => {
  test.each(SINKS)(
    'with %s behind stdout and stderr every command that places, cancels or watches does what it does otherwise',
    async kind => {
      const exchange = await openExchange(bench.config(), '--seed', '3');
      const { keys } = exchange;
      const liveOrders = async (): Promise<readonly string[]> => {
        type Truth = {
          readonly accounts: readonly { readonly live_orders: readonly { readonly origin_id: string }[] }[];
        };
        return ((await exchange.operate('GET', 'truth')) as Truth).accounts[0]!.live_orders.map(
          ({ origin_id: id }) => id,
        );
      };
      const until = async (what: string, is: () => boolean | Promise<boolean>) => {
        for (let i = 0; i < 900; i++) {
          if (await is()) return;
          await new Promise(resolve => setTimeout(resolve, 100));
        }
        throw new Error(`not within 90 s: ${what}; live: ${(await liveOrders()).join(' ')}`);
      };

      const { config, state } = remoteConfig(kind, exchange);
      const full = sink(kind);
      const started = new Set<string>();
      const deaf = (...args: string[]) => {
        started.add(args[0]!);
        return deafTo(full, args, keys);
      };
      const act = (verb: string, ...more: string[]) => deaf(verb, '-c', config, '--reason', 'tried', ...more).code;
      const quotes = async (before: readonly string[]) => {
        const now = await liveOrders();
        return now.length >= 4 && now.every(id => !before.includes(id));
      };

      const first = puntas(['run', '-c', config], keys);
      await first.sees(/"msg":"quoting"/);
      await until('four orders', () => quotes([]));
      first.signal('SIGKILL');
      await first.ended;
      const left = await liveOrders();

      const sentinel = deaf('sentinel', '-c', config);
      await until('the sentinel took them out', async () => (await liveOrders()).length === 0);
      sentinel.child.kill('SIGTERM');
      expect(await sentinel.code).toBe(0);
      // What a sentinel leaves for a person to lift, if anything.
      await act('resume');

      const second = deaf('run', '-c', config);
      await until('new quotes', () => quotes(left));
      const codes = [];
      for (const verb of ['pause', 'resume', 'reduce', 'resume', 'cancel', 'reload']) codes.push(await act(verb));
      codes.push(await act('flatten', '--max-cost', '1'));
      const journal = () => actionsOf(state).map(({ action, end }) => `${action} ${end}`);
      expect(codes.slice(0, 6)).toEqual([0, 0, 0, 0, 0, 0]);
      expect(
        journal()
          .filter(entry => entry !== 'resume refused')
          .slice(-7, -1),
      ).toEqual(['pause', 'resume', 'reduce', 'resume', 'cancel', 'reload'].map(action => `${action} done`));
      // Without a hedger it is refused, and refused all the same.
      expect(codes.at(-1)).toBe(2);
      await until('quotes after all of it', () => quotes(left));
      second.child.kill('SIGKILL');
      await second.code;

      expect(await act('halt', '--cancel')).toBe(0);
      expect(await liveOrders()).toEqual([]);
      expect(journal().slice(-2)).toEqual(['halt done', 'cancel done']);
      expect(await act('resume')).toBe(0);

      const third = deaf('run', '-c', config);
      await until('quotes again', () => quotes(left));
      third.child.kill('SIGTERM');
      expect(await third.code).toBe(0);
      expect(await liveOrders()).toEqual([]);

      // It warns of what is no weakness here, and cancels what it placed.
      expect(await deaf('doctor', '-c', config, '--order', '--yes').code).toBeLessThan(2);
      expect(await liveOrders()).toEqual([]);
      expect(await deaf('conformance', '-c', config, '--yes').code).toBe(0);
      expect(await liveOrders()).toEqual([]);
      expect([...started].sort()).toEqual([...IN_ONE_LIFE].sort());
      full.close();
    },
  );

  test.each(SINKS.flatMap(kind => Object.keys(APART).map(name => [kind, name] as const)))(
    'with %s behind stdout and stderr %s does what it does otherwise',
    async (kind, name) => {
      const full = sink(kind);
      await APART[name]!(full, bench.path(`${name} with ${kind}`));
      full.close();
    },
  );
});

function remoteConfig(
  kind: string,
  { url, stream }: EmbeddedExchange,
): { readonly config: string; readonly state: string } {
  const state = bench.path(`state of ${kind}`);
  const tree = {
    ...{
      book: 'btc_mxn',
      instance: 'bot',
      exchange: { kind: 'remote', restUrl: url, streamUrl: stream, requestTimeoutMs: 2_000 },
    },
    strategy: {
      ...{ name: 'ladder', reference: 'mid', halfSpreadBps: 65, levels: 2, levelSpacingBps: 15, amount: '0.0005' },
      ...{ levelAmountStep: '0', refreshToleranceBps: 5, minEdgeBps: 1 },
    },
    limits: {
      ...{ positionMax: '0.1', orderValueMax: '50000', ordersMax: 12, collarBps: 200 },
      ...{ drawdownMax: '5000', dayLossMax: '5000' },
    },
    ...{
      state: { dir: state },
      metrics: { port: 0 },
      timing: { requestDelayMaxMs: 3_000, tradeReportDelayMaxMs: 2_000 },
    },
  };
  return { config: bench.file(`${kind}.yaml`, JSON.stringify(tree)), state };
}

const actionsOf = (state: string): readonly { readonly action: string; readonly end: string }[] =>
  readFileSync(join(state, 'actions.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as { action: string; end: string });
