/** The bot's process: the composition that ships, with the ports of the simulated world, started again whenever it ends. */
import { clientOf, engineOf, hedgeOf, marketStreamOf } from '../../../src/wiring/bot.ts';
import type { ElsewhereAccess } from '../../../src/wiring/elsewhere/access.ts';
import { livePricesOf, sourceAccessOf } from '../../../src/wiring/feeds.ts';
import { elsewhereHedgingOf, elsewhereClientOf, elsewhereNameOf } from '../../../src/wiring/elsewhereHedging.ts';
import { ElsewhereRules } from '../../../src/live/loop/elsewhereRules.ts';
import { logEvent } from '../../../src/messages/eventLog.ts';
import { startCanceling } from '../../../src/app/run/cancelRequests.ts';

import {
  Secret,
  type ConversionDesk,
  type Engine,
  type EngineNews,
  type Exchange,
  type Millis,
  type StreamTransport,
  type VenueClient,
} from '../../../src/core/index.ts';
import { venueClient, type Client } from '../../../src/exchange/index.ts';
import { Watch } from '../../../src/live/safety/heartbeat.ts';
import { RecordingRotation, type Reloaded, type RunSetup } from '../../../src/live/loop/recordingRotation.ts';
import { isAllGone, unverified, type StopReport } from '../../../src/live/loop/loopOptions.ts';
import type { Journal } from '../../../src/live/state/journal.ts';
import type { FlattenFile } from '../../../src/live/safety/flatten.ts';
import { retryingLatch, type Latch } from '../../../src/live/safety/latch.ts';
import type { Requests } from '../../../src/live/mailbox/mailbox.ts';
import { refusedChanges } from '../../../src/app/run/reloading.ts';
import { booksOf, configChanges, loadConfig, type Config } from '../../../src/config.ts';
import { heardLog, type LogLine } from '../../memoryLog.ts';
import type { InboxSeams, InboxWire } from './inbox.ts';
import { Life } from './life.ts';
import type { Network } from '../world/network.ts';
import type { Scenario } from '../world/scenario.ts';
import type { SentinelSeams } from './sentinel.ts';
import type { Store } from './store.ts';
import type { World } from '../world/world.ts';

/** Where a planted bug may sit: at the seams between the bot's own parts. */
export type Seams = {
  readonly config?: (config: Config) => Config;
  /** Of the engine alone, where the loop keeps the true one. */
  readonly engineConfig?: (config: Config) => Config;
  readonly exchange?: (exchange: Exchange, life: Life) => Exchange;
  readonly client?: (client: Client) => Client;
  /** Of the second exchange. */
  readonly there?: (client: VenueClient) => VenueClient;
  readonly desk?: (desk: ConversionDesk, life: Life) => ConversionDesk;
  readonly journal?: (journal: Journal) => Journal;
  /** Called once in each life. */
  readonly latch?: (latch: Latch) => Latch;
  /** Where persons act: called once in each life. */
  readonly flatten?: (file: FlattenFile) => FlattenFile;
  readonly cancels?: (box: Requests<'cancel', 'cancelAnswer'>) => Requests<'cancel', 'cancelAnswer'>;
  /** Symbol of the latch that a book uses. */
  readonly latchedBook?: (symbol: string) => string;
  readonly stop?: (rotation: RecordingRotation) => Promise<StopReport>;
  readonly sentinel?: SentinelSeams;
  /** Of the life that runs. */
  readonly inbox?: (engine: () => Engine | null) => InboxSeams;
};

export type BotEvents = {
  started(life: Life, run: number): void;
  /** Its next run goes on. */
  rolled(life: Life, run: number): void;
  quoting(life: Life, engine: () => Engine): void;
  /** `book`: the book that the news is about. */
  news(life: Life, news: EngineNews, book: string): void;
  died(life: Life, why: string): void;
  /** `report` is null when it never came to quote. */
  ended(life: Life, report: StopReport | null, engine: Engine | null): void;
};

export type BotOptions = {
  readonly world: World;
  readonly scenario: Scenario;
  readonly store: Store;
  readonly network: Network;
  readonly stream: (life: Life) => StreamTransport;
  readonly key: string;
  readonly secret: string;
  readonly seams: Seams;
  readonly events: BotEvents;
  /** Absent: no webhooks are told. */
  readonly inbox?: InboxWire | undefined;
  /** Access of one life to the second exchange; absent: there is none. */
  readonly elsewhere?: ((life: Life) => ElsewhereAccess) | undefined;
};

const RESTART_MS = [300, 8_000] as const;
const SENTINEL_STILL_MAX_MS = 60_000;

export class Bot {
  readonly #options: BotOptions;
  #life: Life | null = null;
  #rotation: RecordingRotation | null = null;
  #stop: (() => void) | null = null;
  #wanted = false;
  #lives = 0;
  #downUntil: Millis = -Infinity;
  #journalRun = -1;
  #runBeganAt: Millis = 0;
  /** The last run that said that no list of the exchange can explain its balances, as none was ever read while nothing differed. */
  #unlearnt = -1;
  #file: Config;
  /** Of the run that goes on. */
  #config: Config;
  readonly #configs = new Map<number, Config>();
  /** Of the life that runs. */
  #setupOf: ((config: Config) => RunSetup) | null = null;

  constructor(options: BotOptions) {
    this.#options = options;
    this.#file = options.seams.config?.(options.scenario.config) ?? options.scenario.config;
    this.#config = this.#file;
  }

  get life(): Life | null {
    return this.#life;
  }

  get engine(): Engine | null {
    return this.#rotation?.run.engine ?? null;
  }

  /** Whether market data comes from the stream; `null` without a stream. */
  get streamUp(): boolean | null {
    return this.#rotation?.run.market.status.streamUp ?? null;
  }

  /** Age of the last run, in a new process or in the one of the run before: waits on evidence begin with it. */
  get ageMs(): Millis {
    return this.#options.world.clock.elapsed() - this.#runBeganAt;
  }

  /** What is recorded of a run as its configuration; undefined where none is known. */
  configOf(run: number): Config | undefined {
    return this.#configs.get(run);
  }

  /** What the file says; a life begins with it. */
  writes(config: Config): void {
    this.#file = config;
  }

  /** As SIGHUP, with the file as it is given; null while there is no bot that could take it, and never where it dies over it. */
  async reload(text: string): Promise<Reloaded | null> {
    const [life, rotation] = [this.#life, this.#rotation];
    if (life === null || rotation === null || this.#stop === null || this.#setupOf === null) return null;
    const loaded = loadConfig(text, 'reload');
    if (!loaded.ok) return { kind: 'kept', why: loaded.errors.join('; ') };
    const changes = configChanges(this.#config, loaded.config);
    if (changes.length === 0) return null;
    const refused = refusedChanges(changes, []);
    if (refused.length > 0) return { kind: 'kept', why: refused.join('; ') };
    const end = await rotation.reload(this.#setupOf(loaded.config));
    if (!life.isAlive) return new Promise(() => undefined);
    if (end.kind === 'taken') this.#config = loaded.config;
    return end;
  }

  /** Number of the run that the journal gave to the last life. */
  get run(): number {
    return this.#journalRun;
  }

  /** It said so, and then only a person can. */
  get listsCannotTell(): boolean {
    return this.#unlearnt === this.#lives;
  }

  get lives(): number {
    return this.#lives;
  }

  /** True from its start until it is asked to stop, or breaks. */
  get isRunning(): boolean {
    return this.#stop !== null;
  }

  /** From here on it runs, and is started again when it ends. */
  start(): void {
    this.#wanted = true;
    if (this.#life === null) this.#begin();
  }

  /** As SIGTERM. With `forGood` nobody starts it again. */
  stop(forGood: boolean): void {
    if (forGood) this.#wanted = false;
    this.#stop?.();
  }

  /** Killed, and nobody starts it again for so long. */
  keepDown(ms: Millis): void {
    this.#downUntil = this.#options.world.clock.elapsed() + ms;
    this.#life?.kill('SIGKILL, and nobody there');
  }

  #begin(): void {
    const { world, events } = this.#options;
    if (!this.#wanted || this.#life !== null) return;
    if (world.isFaulty && world.clock.elapsed() < this.#downUntil) {
      world.clock.after(1_000, () => this.#begin());
      return;
    }
    const life = new Life(
      ++this.#lives,
      world.machineClock,
      { skew: () => world.skewOf('bot'), speed: world.speeds.bot },
      why => {
        if (this.#life !== life) return;
        world.trace.add(`dead #${life.number} ${why}`);
        events.died(life, why);
        this.#over();
      },
    );
    this.#life = life;
    world.touched = true;
    const within = (steps: number) => () => world.chance('fatal step').integer(1, steps);
    const fatal =
      world.struck('crashes in recovery', 0.3, within(30)) ?? world.struck('crashes at a step', 0.5, within(600));
    if (fatal !== null) life.dieAtStep(fatal);
    world.trace.add(`start #${life.number}`);
    this.#runBeganAt = world.clock.elapsed();
    this.#run(life).then(
      report => {
        if (!life.isAlive) return;
        world.trace.add(
          `ended #${life.number} left ${unverified(report).join(',')} ledger ${report.ledgerMatches === true}`,
        );
        events.ended(life, report, this.engine);
        this.#over();
      },
      (error: unknown) => {
        if (!life.isAlive) return;
        world.trace.add(`failed #${life.number} ${error instanceof Error ? error.message : String(error)}`);
        events.ended(life, null, null);
        this.#over();
      },
    );
  }

  #over(): void {
    const { world } = this.#options;
    const life = this.#life;
    this.#life = null;
    life?.kill('its end');
    this.#rotation = null;
    this.#setupOf = null;
    this.#stop = null;
    const chance = world.chance('restart');
    const pause: Millis = world.isFaulty ? chance.between(...RESTART_MS) : RESTART_MS[0];
    world.clock.after(pause, () => this.#begin());
  }

  async #run(life: Life): Promise<StopReport> {
    const { world, store, network, seams, events } = this.#options;
    const config = this.#file;
    this.#config = config;
    const seam = (inner: Journal): Journal => {
      const outer = (seams.journal ?? same)(inner);
      return { ...outer, next: (at, setup) => seam(inner.next(at, setup)) };
    };
    const journal = seam(store.journal(life, JSON.stringify(config)));
    this.#journalRun = journal.run;
    this.#configs.set(journal.run, config);
    store.files?.record(journal.run, JSON.stringify(config));
    events.started(life, journal.run);
    const venue = {
      restUrl: 'http://127.0.0.1/api',
      key: this.#options.key,
      secret: new Secret(this.#options.secret),
      speed: 1,
      transport: network.transport(life),
      streamTransport: this.#options.stream(life),
      ...(this.#options.elsewhere ? { elsewhere: this.#options.elsewhere(life) } : {}),
    };
    const plainThere = elsewhereClientOf(config, venue, life.clock, world.seed + life.number, journal);
    const there = plainThere && (seams.there ?? same)(plainThere);
    const rules = there && new ElsewhereRules(there, elsewhereNameOf(config.elsewhere!), config.elsewhere!.book);
    const plain = clientOf(config, venue, life.clock, world.seed + life.number, { journal });
    const client = seams.client ? venueClient(seams.client(plain as VenueClient & Client)) : plain;
    const exchange = seams.exchange?.(plain, life) ?? plain;
    const heart = store.heart(life, 'bot');
    const setupOf = (of: Config): RunSetup => {
      const hedge = hedgeOf(seams.engineConfig?.(of) ?? of, client);
      const others = booksOf(of).slice(1);
      return {
        setup: JSON.stringify(of),
        leaving: [],
        ...(others.length === 0
          ? {}
          : {
              others: others.map(other => ({
                book: other.book,
                newStream: () => marketStreamOf(other, venue, life.clock, world.seed + life.number, client),
              })),
            }),
        beside: {
          ...(of.reference?.sources === undefined
            ? {
                reference: of.reference && {
                  legs: [{ book: of.book, divides: false }],
                  everyMs: of.reference.everyMs,
                },
              }
            : { newLivePrices: livePricesOf(of, sourceAccessOf(venue, client), life.clock, world.seed + life.number) }),
          hedge: hedge && { ...hedge, desk: seams.desk?.(hedge.desk, life) ?? hedge.desk },
          place: elsewhereHedgingOf(
            of,
            there && rules && { account: 'there', client: there, rules, start: () => undefined },
          ),
        },
        timing: of.timing,
        roll: {
          afterMs: this.#options.scenario.rollAfterMs,
          bytes: Infinity,
          onRolled: (_, { run, setup }) => {
            this.#journalRun = run;
            this.#configs.set(run, JSON.parse(setup) as Config);
            store.files?.record(run, setup);
            this.#runBeganAt = world.clock.elapsed();
            events.rolled(life, run);
          },
        },
        watchers: {
          onReconciled: () => heart.read(),
          onTurn: isKeptOut => heart.beat(isKeptOut ? 'kept out' : 'alive'),
          ...(of.sentinel.required ? { sentinelAlive: this.#sentinelAlive(life) } : {}),
        },
        makeEngine: (rules, onNews, run, rulesOfOthers) =>
          engineOf(seams.engineConfig?.(of) ?? of, rules, run, onNews, false, rulesOfOthers),
      };
    };
    const rotation = await RecordingRotation.open({
      bot: { book: config.book, instance: config.instance, resumeCommand: 'puntas resume' },
      clock: life.clock,
      log: this.#log(life),
      venue: {
        exchange,
        newStream: () => marketStreamOf(config, venue, life.clock, world.seed + life.number, client),
        transferLists: client.transferLists,
      },
      ...setupOf(config),
      state: { journal, ...this.#held(life) },
      onNews: (news, { instrument }) => {
        logEvent(UNHEARD, instrument, news, 'puntas resume');
        if (life.isAlive) events.news(life, news, instrument.symbol);
      },
    });
    if (!life.isAlive) return new Promise(() => undefined);
    this.#rotation = rotation;
    this.#setupOf = setupOf;
    const stopped = new Promise<void>(resolve => {
      this.#stop = () => {
        this.#stop = null;
        resolve();
      };
    });
    this.#options.inbox?.open(life, () => rotation.run.market.moved());
    rotation.start(() => this.#stop?.());
    events.quoting(life, () => rotation.run.engine);
    const canceling = this.#cancels(life, rotation);
    await stopped;
    world.trace.add(`stopping #${life.number}`);
    const report = await (seams.stop ?? (all => all.stop()))(rotation);
    if (isAllGone(report)) heart.beat('stopped');
    await canceling?.stop();
    await Promise.all([client.close(), there?.close()]);
    return report;
  }

  /** What holds it back, as the process finds it in the state directory. */
  #held(life: Life) {
    const { store, seams } = this.#options;
    const latch = (seams.latch ?? same)(store.latch(life, 'bot'));
    if (store.files === null) return { latch };
    const { files } = store;
    const flatten = (seams.flatten ?? same)(files.flatten(life));
    const held = { latch: retryingLatch(latch, this.#log(life)), flatten };
    if (this.#config.books === undefined) return held;
    const latchOf = (symbol: string) => files.bookLatch(life, seams.latchedBook?.(symbol) ?? symbol);
    return { ...held, latchOf };
  }

  /** Takes what persons ask of it, as the program does. */
  #cancels(life: Life, rotation: RecordingRotation): ReturnType<typeof startCanceling> | null {
    const { store, seams } = this.#options;
    if (store.files === null) return null;
    const { instance } = this.#config;
    const box = (seams.cancels ?? same)(store.files.cancels(life));
    return startCanceling({ clock: life.clock, log: this.#log(life), box, instance, rotation });
  }

  #sentinelAlive(life: Life): () => boolean {
    const watch = new Watch(
      () => this.#options.store.pulse('sentinel'),
      () => life.clock.elapsed(),
    );
    return () => (watch.stillForMs() ?? Infinity) <= SENTINEL_STILL_MAX_MS;
  }

  #log(life: Life) {
    const { trace } = this.#options.world;
    return heardLog(({ level, known, text }) => {
      if (!life.isAlive) return;
      trace.add(`log #${life.number} ${level} ${text} ${knownText(known)}`);
      if (text.includes('cannot explain the difference')) this.#unlearnt = life.number;
    });
  }
}

/** What a person is told goes through the real log, and nowhere. */
const UNHEARD = heardLog(() => undefined);

const same = <T>(x: T): T => x;

/** Stacks name files and lines: they differ between builds, and say nothing about the run. */
const knownText = ({ stack: _, ...known }: LogLine['known']): string => JSON.stringify(known);
