/** Periodic reads of other books and feeds, which give the engine its reference price. */
import {
  priceAcross,
  type BookSnapshot,
  type EngineEvent,
  type Exchange,
  type Instrument,
  type Leg,
  type Millis,
  type Timer,
} from '../../core/index.ts';
import type { Feed } from './feed.ts';
import type { RunContext } from '../runContext.ts';
import type { Failed } from '../failedRequest.ts';

/** Options of the reference price. `feeds`: external prices that replace books of the exchange, by book. */
export type ReferenceOptions = {
  readonly legs: readonly Leg[];
  readonly everyMs: Millis;
  readonly feeds?: ReadonlyMap<string, Feed>;
};

type Surroundings = {
  readonly run: RunContext;
  readonly exchange: Exchange;
  readonly instrument: () => Instrument;
  readonly note: (what: string, failed: Failed) => void;
  readonly onBroken: (error: unknown) => void;
};

export type FeedFailed = { readonly kind: 'feed failed'; readonly name: string; readonly why: string };

/**
 * Reads the reference price once. The age of the reference price is the age of its oldest source price, and at least
 * the time since the first request. Resolves to `null` if a book is one-sided.
 */
export async function readReference(
  { exchange, instrument, time }: Pick<Surroundings, 'exchange' | 'instrument'> & Pick<RunContext, 'time'>,
  { legs, feeds }: Pick<ReferenceOptions, 'legs' | 'feeds'>,
): Promise<Extract<EngineEvent, { kind: 'reference' }> | Failed | FeedFailed | null> {
  let startedAt = time();
  const prices: number[] = [];
  for (const { book } of legs) {
    const feed = feeds?.get(book);
    if (feed !== undefined) {
      const began = time();
      const reading = await feed.read();
      if (reading.kind === 'failed') return { kind: 'feed failed', name: feed.name, why: reading.why };
      startedAt = Math.min(startedAt, began - reading.ageMs);
      prices.push(reading.price);
      continue;
    }
    const outcome = await exchange.orderBook(book, true);
    if (outcome.kind !== 'done') return outcome;
    prices.push(snapshotMid(outcome.value));
  }
  const price = priceAcross(legs, prices) / Number(instrument().tick);
  return price > 0 && price < Infinity ? { kind: 'reference', at: time(), startedAt, price } : null;
}

/** Returns the mid price as a float, because it is not an amount of money. */
const snapshotMid = ({ bids, asks }: BookSnapshot): number =>
  (Number(bids[0]?.price ?? Number.NaN) + Number(asks[0]?.price ?? Number.NaN)) / 2;

/** Minimum pause between equal log lines. */
const SAY_EVERY_MS: Millis = 60_000;

export class ReferenceReads {
  readonly #setup: ReferenceOptions;
  readonly #of: Surroundings;
  #timer: Timer | null = null;
  #stopped = false;
  #reading: Promise<void> = Promise.resolve();
  /** Time of the last log line about a failing feed; `null` while all feeds work. */
  #saidAt: Millis | null = null;

  constructor(setup: ReferenceOptions, of: Surroundings) {
    this.#setup = setup;
    this.#of = of;
  }

  start(): void {
    this.#reading = this.#read().catch(this.#of.onBroken);
  }

  /** Stops the reads. Resolves when the current read has ended. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.stop();
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { exchange, instrument, note, run } = this.#of;
    const { clock, step, time } = run;
    const { everyMs } = this.#setup;
    const startedAt = clock.elapsed();
    const event = await readReference({ exchange, instrument, time }, this.#setup);
    if (this.#stopped) return;
    this.#timer = clock.after(Math.max(0, everyMs - (clock.elapsed() - startedAt)), () => this.start());
    if (event === null) return;
    if (event.kind === 'feed failed') this.#say(event);
    else if (event.kind === 'reference') {
      this.#isWell();
      step(event);
    } else note('order_book', event);
  }

  #say({ name, why }: FeedFailed): void {
    const { clock, log } = this.#of.run;
    const now = clock.elapsed();
    if (this.#saidAt !== null && now - this.#saidAt < SAY_EVERY_MS) return;
    this.#saidAt = now;
    log.warn({ feed: name, why }, `the feed ${name} has no price: ${why}`);
  }

  #isWell(): void {
    if (this.#saidAt === null) return;
    this.#saidAt = null;
    this.#of.run.log.warn({}, 'the price feeds have prices again');
  }
}
