/** Paper trading in one process and in virtual time: an embedded exchange with the seeded flow is followed by the composition that ships. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { openBox } from '../../src/wiring/embedded.ts';
import { openPaper, type Paper, type PaperOptions } from '../../src/wiring/paper.ts';
import { BotProcess, type RunResult } from '../../src/app/run/botProcess.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import {
  randomOf,
  settle,
  VirtualClock,
  type StreamConnection,
  type StreamTransport,
  type Transport,
  type WireRequest,
} from '../../src/core/index.ts';
import { inProcessStream } from '../../src/sandbox/index.ts';
import { wireTo, type Fate } from './inProcess.ts';
import { passing, sandboxConfig } from './world.ts';
import { memoryLog } from '../memoryLog.ts';

/** The configuration that ships for paper, with spreads that earn at the best fee tier, so that fills are many. */
export function paperConfig(paper: object = {}, more: object = {}): Config {
  const tree = parse(readFileSync(shippedConfig('paper'), 'utf8')) as Record<string, object>;
  const near = { halfSpreadBps: 10.2, levelSpacingBps: 4, minEdgeBps: 0, refreshToleranceBps: 4 };
  const { book, ...rest } = tree;
  const text = stringify({
    ...('books' in more ? rest : { book, ...rest }),
    strategy: { ...tree['strategy'], ...near },
    paper: { ...tree['paper'], volume30d: '200000000', ...paper },
    metrics: { port: 0 },
    ...more,
  });
  const loaded = loadConfig(text, 'config');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
}

export type PaperWorldOptions = {
  readonly seed?: number;
  readonly paper?: object;
  /** Other sections of the configuration, and what the followed exchange is made of. */
  readonly more?: object;
  readonly followed?: Parameters<typeof sandboxConfig>[0];
  /** Without it books are polled. */
  readonly stream?: boolean;
  readonly fate?: (request: WireRequest) => Fate;
  /** Other settings that a hang-up of the bot reads; without them, the bot has no configuration file. */
  readonly reloaded?: Pick<PaperWorldOptions, 'paper' | 'more'>;
};

export type PaperWorld = Awaited<ReturnType<typeof paperWorld>>;

/** A followed exchange, and a bot that trades it on paper and quotes. */
export async function paperWorld(options: PaperWorldOptions = {}) {
  const { seed = 1, stream = true } = options;
  const clock = new VirtualClock();
  const stateDir = mkdtempSync(join(tmpdir(), 'puntas-paper-'));
  const config = paperConfig({ stateDir, ...options.paper }, options.more);
  const followed = openBox(sandboxConfig(options.followed), clock, { tapes: [], seed });
  const asked: WireRequest[] = [];
  const rest = wireTo({
    exchange: followed.exchange,
    clock,
    random: randomOf(seed ^ 0x3a11),
    latencyMs: [5, 20],
    onArrival: request => void asked.push(request),
    ...(options.fate ? { fate: options.fate } : {}),
  });
  const line = cuttable(inProcessStream(followed.exchange.stream, clock, 10));
  const { log, texts } = memoryLog();
  const broken: unknown[] = [];
  const folders = [stateDir];
  const startIn = (dir: string, change?: Pick<PaperWorldOptions, 'paper' | 'more'>) => {
    const changed = change === undefined ? config : paperConfig({ stateDir: dir, ...change.paper }, change.more);
    return startedIn(
      { ...changed, paper: { ...changed.paper, stateDir: dir } },
      {
        ...{ clock, seed, log },
        transports: { rest, ...(stream ? { stream: line.transport } : {}) },
        onBroken: error => void broken.push(error),
        ...(options.reloaded
          ? {
              reloaded: paperConfig({ stateDir: dir, ...options.reloaded.paper }, options.reloaded.more),
              given: changed,
            }
          : {}),
      },
    );
  };
  let session = await startIn(stateDir);
  return {
    clock,
    config,
    followed,
    get stateDir() {
      return folders.at(-1)!;
    },
    get paper() {
      return session.paper;
    },
    line,
    log,
    asked,
    broken,
    said: texts,
    ours: () => [...session.paper.exchange.venue.accounts.get(session.paper.account.id)!.active.values()],
    /**
     * Stops the bot, and starts it on the same state `awayMs` later, with other settings if `configured` is given;
     * `change` may change that state meanwhile.
     */
    restart: async (
      awayMs: number,
      change?: (dir: string) => void,
      configured?: Pick<PaperWorldOptions, 'paper' | 'more'>,
    ): Promise<RunResult> => {
      const result = await session.stop();
      change?.(folders.at(-1)!);
      await clock.advance(awayMs);
      session = await startIn(folders.at(-1)!, configured);
      return result;
    },
    /** Copies the state as a killed process leaves it, and starts the bot on the copy `awayMs` later. */
    kill: async (awayMs: number, configured?: Pick<PaperWorldOptions, 'paper' | 'more'>): Promise<void> => {
      const left = mkdtempSync(join(tmpdir(), 'puntas-paper-'));
      cpSync(folders.at(-1)!, left, { recursive: true });
      folders.push(left);
      await session.abandon();
      await clock.advance(awayMs);
      session = await startIn(left, configured);
    },
    /** As SIGHUP. */
    hangUp: () => session.hangUp(),
    /** Starts a second bot on another state, and stops it if it could start. */
    startOn: async (dir: string): Promise<void> => void (await (await startIn(dir)).stop()),
    /** Stops the bot, forgets the state unless `isKept`, and says what came of it. */
    end: async (isKept = false): Promise<RunResult> => {
      const result = await session.stop();
      followed.stop();
      for (const folder of isKept ? folders.slice(0, -1) : folders) rmSync(folder, { recursive: true, force: true });
      return result;
    },
  };
}

type SessionOptions = PaperOptions & {
  readonly clock: VirtualClock;
  readonly given?: Config;
  readonly reloaded?: Config;
};

/** Starts a bot on paper, and resolves when it trades. */
async function startedIn(config: Config, { clock, given = config, reloaded, ...options }: SessionOptions) {
  const paper: Paper = await passing(clock, openPaper(config, clock, options));
  const wire = waitingFor(paper.venue.transport!);
  let stop: ((why: string) => void) | null = null;
  let reload: (() => void) | null = null;
  let over = false;
  const ended = BotProcess.run({
    config: paper.config,
    venue: { ...paper.venue, transport: wire.transport },
    clock,
    seed: options.seed,
    log: options.log,
    version: 'test',
    openingApartMs: 0,
    ...(reloaded
      ? {
          source: {
            ...{ file: 'paper.yaml', given },
            read: () => ({ config: reloaded, text: '' }),
            inspect: () => ({ config: reloaded, text: '' }),
          },
        }
      : {}),
    onStarted: (call, _broke, again) => {
      stop = call;
      reload = again;
    },
  }).finally(() => (over = true));
  ended.catch(() => undefined);
  // Virtual time passes only while somebody waits for the exchange, so that the machine's own speed changes nothing.
  while (stop === null && !over) {
    await settle();
    if (wire.waiting() > 0) clock.runNext();
  }
  if (stop === null) await ended;
  return {
    paper,
    hangUp: () => reload!(),
    stop: async (): Promise<RunResult> => {
      stop!('the test is over');
      while (!over) {
        await settle();
        clock.runNext();
      }
      const result = await ended;
      await passing(clock, paper.stop());
      return result;
    },
    /** No request of the bot is answered any more, and nothing is written to its account. */
    abandon: async (): Promise<void> => {
      wire.cut();
      await passing(clock, paper.stop());
    },
  };
}

function waitingFor(inner: Transport): { readonly transport: Transport; waiting(): number; cut(): void } {
  let waiting = 0;
  let isCut = false;
  return {
    waiting: () => waiting,
    cut: () => void (isCut = true),
    transport: {
      send: request => {
        if (isCut) return new Promise(() => undefined);
        waiting++;
        return inner.send(request).finally(() => waiting--);
      },
      close: () => inner.close(),
    },
  };
}

/** The way to a stream, which a test can cut and mend, with everything that was sent over it. */
function cuttable(inner: StreamTransport) {
  const open = new Set<StreamConnection>();
  const sent: string[] = [];
  let broken = false;
  const transport: StreamTransport = {
    connect: listener => {
      const connection = inner.connect({ ...listener, open: () => (broken ? connection.close() : listener.open()) });
      open.add(connection);
      return {
        send: frame => {
          sent.push(frame);
          connection.send(frame);
        },
        close: () => connection.close(),
      };
    },
  };
  return {
    transport,
    sent,
    cut: () => {
      broken = true;
      for (const connection of open) connection.close();
      open.clear();
    },
    mend: () => void (broken = false),
  };
}
