/**
 * Data that the console reads from outside the recordings: ledger, heartbeats, current and past halts, and the bot's
 * metrics.
 */
import { readBody } from '../../guard/index.ts';
import { textOfError, type Clock, type Millis } from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { CONSOLE_AGENT } from '../../monitor/index.ts';
import type { ShownBot, ShownBudgets, ShownEvent, ShownHalt } from '../../console/index.ts';
import { botClockIn, isThere, readHeartbeat, Watch } from '../../live/safety/heartbeat.ts';
import { bookLatchIn, booksWithLatches } from '../../live/safety/bookLatch.ts';
import { latchIn, liftedIn } from '../../live/safety/latch.ts';
import { ledgerFileIn, type LedgerFile } from '../../live/state/ledgerFile.ts';
import { holdersOf } from '../inspect/botLife.ts';

/**
 * Time without a heartbeat after which the page shows the bot as silent, in ms. A running bot writes a heartbeat at
 * least every two seconds.
 */
const SILENT_MS = 15_000;
/** Time limit of a read of the metrics, in ms. */
const METRICS_WITHIN_MS = 2_000;
/** Maximum size of the metrics in bytes; they usually have about 60 kB. */
const METRICS_BYTES_MAX = 4_194_304;

/** Sections of the configuration that this reader needs. */
export type BesideConfig = Pick<Config, 'book' | 'state' | 'metrics' | 'exchange'>;

export class BesideRun {
  readonly #config: BesideConfig;
  readonly #clock: Clock;
  readonly #watch: Watch;
  readonly #told: () => readonly ShownEvent[];
  ledger: LedgerFile | null = null;
  #budgets: Omit<ShownBudgets, 'queueAhead'> | null = null;
  /** Amounts ahead of the bot's best orders, by book and side. */
  #queues: ReadonlyMap<string, number> = new Map();
  /** Error of the last read of the ledger; `null` if the read succeeded. */
  trouble: string | null = null;

  /**
   * Creates a reader of the data outside the recordings. `told` returns additional events, such as logins, in any
   * order.
   */
  constructor(config: BesideConfig, clock: Clock, told: () => readonly ShownEvent[] = () => []) {
    this.#config = config;
    this.#told = told;
    this.#clock = clock;
    this.#watch = new Watch(
      () => readHeartbeat(config.state.dir, 'bot'),
      () => clock.elapsed(),
    );
  }

  /** Request budgets of the bot, with the queues of one book; `null` while the metrics are not known. */
  budgetsOf(book: string): ShownBudgets | null {
    const ahead = (side: 'buy' | 'sell') => this.#queues.get(`${book} ${side}`) ?? null;
    return this.#budgets && { ...this.#budgets, queueAhead: { bid: ahead('buy'), ask: ahead('sell') } };
  }

  /**
   * Returns the process state of the bot. `writtenAgoMs`: time since the recording last grew. With a book, the stops of
   * other books are omitted.
   */
  bot(writtenAgoMs: Millis | null, book?: string): ShownBot {
    const { dir } = this.#config.state;
    const beatAgoMs = this.#watch.stillForMs();
    const record = readHeartbeat(dir, 'bot');
    const halts = haltsIn(dir, this.#clock.now()).filter(isOf(book));
    return { state: stateOf(record, beatAgoMs), beatAgoMs, writtenAgoMs, halts };
  }

  /**
   * Returns the events outside the recordings, oldest first, at times of the bot's clock. With a book, those of other
   * books are omitted.
   */
  events(book?: string): readonly ShownEvent[] {
    const { dir } = this.#config.state;
    const botTime = botTimeIn(dir);
    const latch = latchIn(dir);
    const stopsOf = (of: Pick<typeof latch, 'read' | 'readReduce'>, inBook?: string) =>
      (
        [
          [WORDS.halt, of.read()],
          [WORDS.hold, inBook === undefined ? latch.readHold() : null],
          [WORDS.reduce, of.readReduce()],
        ] as const
      ).flatMap(([what, halt]) => (halt === null ? [] : [{ ...halt, ...named(inBook), what }]));
    const begun = [
      ...stopsOf(latch),
      ...booksWithLatches(dir).flatMap(inBook => stopsOf(bookLatchIn(dir, inBook), inBook)),
      ...liftedIn(dir).flatMap(({ lifted, book: inBook }) =>
        lifted ? [{ ...lifted, ...named(inBook), what: 'until' in lifted ? 'paused' : 'halted or held' }] : [],
      ),
    ].map(({ at, by, who = by, what, reason, ...of }) => ({
      at: by === 'bot' ? at : botTime(at),
      who,
      level: 'error' as const,
      text: `${what}: ${reason}`,
      ...named('book' in of ? of.book : undefined),
    }));
    const ended = liftedIn(dir).map(({ at, by, who = by, reason, book: inBook }) => ({
      at: by === 'bot' ? at : botTime(at),
      who,
      level: 'warn' as const,
      text: `lifted: ${reason}`,
      ...named(inBook),
    }));
    const booked = (this.ledger?.entries ?? [])
      .filter(({ changes }) => changes.some(({ cause }) => cause === 'adjustments'))
      .map(({ at, why }) => ({ at, who: 'person', level: 'warn' as const, text: `adjusted the ledger: ${why ?? ''}` }));
    const told = this.#told().map(event => ({ ...event, at: botTime(event.at) }));
    const all: readonly ShownEvent[] = [...begun, ...ended, ...booked, ...told];
    return all.filter(isOf(book)).sort((a, b) => a.at - b.at);
  }

  /** Reads the ledger. Never rejects. */
  async readLedger(): Promise<void> {
    try {
      this.ledger = await ledgerFileIn(this.#config.state.dir, this.#clock);
      this.trouble = null;
    } catch (error) {
      this.trouble = `the ledger cannot be read: ${textOfError(error)}`;
    }
  }

  /** Reads the ledger if none is known yet, as of a bot that starts after the console. Never rejects. */
  async readMissingLedger(): Promise<void> {
    // A ledger that cannot be read is not read more often, because each read copies the whole state file.
    if (this.ledger === null && this.trouble === null) await this.readLedger();
  }

  /** Reads the metrics. Never rejects; without an answer, the page shows no budgets. */
  async readMetrics(): Promise<void> {
    const { host } = this.#config.metrics;
    // The heartbeat has the actual port, which the system or `--metrics-port` may have chosen.
    const port = readHeartbeat(this.#config.state.dir, 'bot')?.metricsPort ?? this.#config.metrics.port;
    const { publicPerMinute, privatePerMinute } = this.#config.exchange.budgets;
    if (port === 0) return;
    try {
      const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
      const answer = await fetch(`http://${name}:${port}/metrics`, {
        headers: { 'user-agent': CONSOLE_AGENT },
        redirect: 'error',
        signal: AbortSignal.timeout(METRICS_WITHIN_MS),
      });
      const text = answer.body === null ? '' : await readBody(answer.body, METRICS_BYTES_MAX);
      // The port may belong to another bot.
      if (!answer.ok || !text.includes(`{book="${this.#config.book}"`))
        throw new Error(`port ${port} serves the metrics of another bot; give each bot its own metrics.port`);
      const stream = sampleOf(text, 'puntas_stream_up', '');
      this.#queues = queuesIn(text);
      this.#budgets = {
        public: sampleOf(text, 'puntas_request_budget_remaining', 'scope="public"'),
        private: sampleOf(text, 'puntas_request_budget_remaining', 'scope="private"'),
        publicMax: publicPerMinute,
        privateMax: privatePerMinute,
        streamUp: stream === null ? null : stream === 1,
        eventLoopP99Ms: inMs(sampleOf(text, 'nodejs_eventloop_lag_p99_seconds', '')),
      };
    } catch {
      this.#budgets = null;
    }
  }
}

/** Returns the field with the book of an event or stop; none if it belongs to the whole bot. */
const named = (book: string | undefined): { readonly book?: string } => (book === undefined ? {} : { book });

/** Returns whether an event or stop is one of the whole bot, or of the book; without a book, all are. */
const isOf =
  (book: string | undefined) =>
  (each: { readonly book?: string | undefined }): boolean =>
    book === undefined || each.book === undefined || each.book === book;

const WORDS = { halt: 'halted', pause: 'paused', hold: 'held', reduce: 'reduce only', flatten: 'flatten' } as const;

/** Returns the stops in effect at the wall time `now`, most severe first, with times of the bot's clock. */
function haltsIn(dir: string, now: Millis): readonly ShownHalt[] {
  const botTime = botTimeIn(dir);
  return holdersOf(dir, now).map(({ what, book, reason, at, by, who, until }) => ({
    ...{ what: WORDS[what], reason, at: by === 'bot' ? at : botTime(at), by: who ?? by, until },
    ...named(book),
  }));
}

/**
 * Returns a function that converts wall time to time of the bot's clock, which differs for an accelerated bot. Wall
 * times before the start of the last run are not converted, because the clock of an earlier run is unknown.
 */
function botTimeIn(dir: string): (wall: Millis) => Millis {
  const clock = botClockIn(dir);
  const born = readHeartbeat(dir, 'bot')?.born ?? 0;
  return wall => (clock.speed !== 1 && clock.at(wall) >= born ? clock.at(wall) : wall);
}

const inMs = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000);

function stateOf(record: ReturnType<typeof readHeartbeat>, beatAgoMs: Millis | null): ShownBot['state'] {
  if (record === null) return 'never ran';
  if (record.state === 'stopped') return 'stopped';
  return isThere(record) === false || (beatAgoMs ?? 0) > SILENT_MS ? 'silent' : 'running';
}

/** Returns the samples of the amounts ahead of the bot's best orders, by book and side. */
function queuesIn(page: string): ReadonlyMap<string, number> {
  const lines = page.split('\n').filter(line => line.startsWith('puntas_queue_ahead{'));
  return new Map(
    lines.flatMap(line => {
      const [book, side] = [labelOf(line, 'book'), labelOf(line, 'side')];
      const ahead = Number(line.slice(line.lastIndexOf(' ') + 1));
      return book === null || side === null || !Number.isFinite(ahead) ? [] : [[`${book} ${side}`, ahead]];
    }),
  );
}

/** Returns the value of a label of a sample, without escapes; `null` if the sample does not have it. */
function labelOf(line: string, label: string): string | null {
  const at = line.indexOf(`${label}="`);
  const start = at + label.length + 2;
  const end = line.indexOf('"', start);
  return at < 0 || end < 0 ? null : line.slice(start, end);
}

/** Returns the first sample of a metric whose labels contain the text `label`; `null` if there is none. */
function sampleOf(page: string, metric: string, label: string): number | null {
  const line = page
    .split('\n')
    .find(each => (each.startsWith(`${metric}{`) || each.startsWith(`${metric} `)) && each.includes(label));
  const value = Number(line?.slice(line.lastIndexOf(' ') + 1));
  return line !== undefined && Number.isFinite(value) ? value : null;
}
