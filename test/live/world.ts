/**
 * A whole run of the bot against the embedded exchange, in one process and in virtual time: the composition that ships,
 * without sockets between.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { openBox, type Box } from '../../src/wiring/embedded.ts';
import type { ConfigSource } from '../../src/app/run/reloading.ts';
import { BotProcess, type RunResult } from '../../src/app/run/botProcess.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import {
  randomOf,
  Secret,
  settle,
  VirtualClock,
  type StreamTransport,
  type WireRequest,
} from '../../src/core/index.ts';
import { SECOND_VENUE } from '../../src/sandbox/index.ts';
import type { Tape } from '../../src/tape/index.ts';
import { heardLog, type LogLine } from '../memoryLog.ts';
import { Trader } from '../sandbox/trader.ts';
import { wireTo, type Fate, type Wire } from './inProcess.ts';

type Tree = { readonly [key: string]: unknown };

/** A shipped configuration with changes, checked as any other; metrics on a free port. */
export function sandboxConfig(changes: Tree = {}, name = 'sandbox'): Config {
  const text = readFileSync(shippedConfig(name), 'utf8');
  const quiet = { metrics: { port: 0 } };
  const loaded = loadConfig(stringify(merged(merged(parse(text) as Tree, quiet), changes)), 'config');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
}

export type World = {
  readonly clock: VirtualClock;
  readonly config: Config;
  readonly seed: number;
  readonly box: Box;
  /** State directory, gone after `end`. */
  readonly stateDir: string;
  /** Another program with a key of the same account. */
  other(): Trader;
  /** Stops the market and forgets the state. */
  end(): void;
};

export function worldOf(
  seed: number,
  changes: Tree = {},
  name = 'sandbox',
  clock = new VirtualClock(),
  tape: Tape | null = null,
): World {
  const stateDir = mkdtempSync(join(tmpdir(), 'puntas-world-'));
  const config = sandboxConfig(merged(changes, { state: { dir: stateDir } }), name);
  const box = openBox(config, clock, { tapes: tape === null ? [] : [tape], seed });
  return {
    clock,
    config,
    seed,
    box,
    stateDir,
    other: () => new Trader(box.exchange, { id: box.account.id, ...box.exchange.venue.addKey(box.account.id, {}) }),
    end: () => {
      box.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

export type Running = {
  readonly wire: Wire;
  readonly log: readonly LogLine[];
  /** Requests as the exchange saw them. */
  readonly arrived: readonly WireRequest[];
  /** Resolves when the run has ended by itself; rejects when it could not start. */
  readonly ended: Promise<RunResult>;
  /** As SIGHUP. */
  hangUp(): void;
  /** Lets time pass until the run is over. */
  stop(why?: string): Promise<RunResult>;
};

export type RunChanges = {
  readonly config?: Config;
  readonly latencyMs?: readonly [number, number];
  readonly fate?: (request: WireRequest) => Fate;
  readonly onArrival?: (request: WireRequest) => void;
  readonly key?: string;
  readonly secret?: string;
  /** Hears each line of the log as it is written. */
  readonly onLine?: (line: LogLine) => void;
  /** Without one books are polled. */
  readonly stream?: StreamTransport;
  readonly openingApartMs?: number;
  /** Refusal of the start; without one, the bot starts. */
  readonly refusal?: Error;
  /** Where another configuration is read from; without one it stays. */
  readonly source?: ConfigSource;
  /** Account at the second exchange; absent for that of the box. */
  readonly accountThere?: { readonly key: string; readonly secret: string };
  /** What becomes of a request to the second exchange, if there is one. */
  readonly fateThere?: (request: WireRequest) => Fate;
};

/** Starts a run and returns when it reads and quotes. Rejects when it cannot start. */
export async function started(world: World, changes: RunChanges = {}): Promise<Running> {
  const { clock, box, seed } = world;
  const config = changes.config ?? world.config;
  const arrived: WireRequest[] = [];
  const wire = wireTo({
    exchange: box.exchange,
    clock,
    random: randomOf(seed ^ 0x3a11),
    deadlineMs: config.exchange.requestTimeoutMs,
    onArrival: request => {
      arrived.push(request);
      changes.onArrival?.(request);
    },
    ...(changes.latencyMs ? { latencyMs: changes.latencyMs } : {}),
    ...(changes.fate ? { fate: changes.fate } : {}),
  });
  const { second } = box;
  const there = second && {
    wire: wireTo({
      exchange: second.exchange,
      clock,
      random: randomOf(seed ^ 0x5c22),
      ...(changes.fateThere ? { fate: changes.fateThere } : {}),
    }),
    account: changes.accountThere ?? second.account,
  };
  const log: LogLine[] = [];
  const heard = heardLog(line => {
    log.push(line);
    changes.onLine?.(line);
  });
  let stop: ((why: string) => void) | null = null;
  let reload: (() => void) | null = null;
  let over = false;
  const ended = BotProcess.run({
    config,
    venue: {
      restUrl: 'http://127.0.0.1/api',
      key: changes.key ?? box.account.key,
      secret: new Secret(changes.secret ?? box.account.secret),
      speed: 1,
      transport: wire,
      ...(changes.stream ? { streamTransport: changes.stream } : {}),
      ...(there && {
        elsewhere: {
          ...{ venue: SECOND_VENUE, book: config.elsewhere!.book, restUrl: 'http://127.0.0.1', transport: there.wire },
          ...{ key: there.account.key, secret: new Secret(there.account.secret) },
        },
      }),
    },
    clock,
    seed,
    log: heard,
    version: 'test',
    // Virtual time passes only while a request is on its way.
    openingApartMs: changes.openingApartMs ?? 0,
    ...(changes.source ? { source: changes.source } : {}),
    ...(changes.refusal ? { refusal: changes.refusal } : {}),
    onStarted: (call, _, again) => {
      stop = call;
      reload = again;
    },
  }).finally(() => (over = true));
  ended.catch(() => undefined);
  await until(clock, [wire, ...(there ? [there.wire] : [])], () => over || stop !== null);
  if (stop === null) await ended;
  return {
    wire,
    log,
    arrived,
    ended,
    hangUp: () => reload!(),
    stop: async (why = 'the test is over') => {
      stop!(why);
      await settle();
      // Its last reads and pauses are timers of the clock; closing the metrics server is the machine's own time.
      for (let turns = 0; !over; turns++) {
        if (turns > 1_000_000) throw new Error('the run did not end');
        clock.runNext();
        await settle();
      }
      return ended;
    },
  };
}

/** Virtual time passes only while somebody waits for the wire, so that the machine's own speed changes nothing. */
async function until(clock: VirtualClock, wires: readonly Wire[], holds: () => boolean): Promise<void> {
  while (!holds()) {
    await settle();
    if (wires.some(({ waiting }) => waiting > 0)) clock.runNext();
  }
}

/**
 * Advances in steps until `holds`; throws after an hour of virtual time, so that a test which waits for the wrong text
 * ends.
 */
export async function advanceUntil(clock: VirtualClock, stepMs: number, holds: () => boolean): Promise<void> {
  const until = clock.elapsed() + 3_600_000;
  while (!holds()) {
    if (clock.elapsed() >= until) throw new Error('what the test waits for did not happen within an hour');
    await clock.advance(stepMs);
  }
}

/** Advances in steps until a promise has settled; throws as `advanceUntil` does. */
export async function advancing<T>(clock: VirtualClock, stepMs: number, work: Promise<T>): Promise<T> {
  let isOver = false;
  const done = work.finally(() => (isOver = true));
  void done.catch(() => undefined);
  await advanceUntil(clock, stepMs, () => isOver);
  return done;
}

/** Runs timer after timer until a promise has settled. */
export async function passing<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let settled = false;
  const mark = () => void (settled = true);
  promise.then(mark, mark);
  for (;;) {
    await settle();
    if (settled) return promise;
    clock.runNext();
  }
}

function merged(base: Tree, changes: Tree): Tree {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    const old = result[key];
    result[key] = isTree(old) && isTree(value) ? merged(old, value) : value;
  }
  return result;
}

const isTree = (x: unknown): x is Tree => typeof x === 'object' && x !== null && !Array.isArray(x);
