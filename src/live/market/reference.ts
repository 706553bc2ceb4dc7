/** Reads, now and then, what other books of the exchange and feeds say our price is, and tells the engine. */
import { priceAcross } from '../../core/index.ts';
import type { BookSnapshot, Clock, EngineEvent, Exchange, Instrument, Leg, Millis, Timer } from '../../core/index.ts';
import type { Feed } from './feed.ts';
import type { Log } from '../log.ts';
import type { Failed } from '../account/reads.ts';

/** `feeds`: instead of the exchange, by the book that they tell. */
export type ReferenceOptions = {
  readonly legs: readonly Leg[];
  readonly everyMs: Millis;
  readonly feeds?: ReadonlyMap<string, Feed>;
};

type Surroundings = {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly instrument: () => Instrument;
  /** Time for the engine. */
  readonly time: () => Millis;
  readonly step: (event: EngineEvent) => void;
  readonly note: (what: string, failed: Failed) => void;
  readonly log: Pick<Log, 'warn'>;
  readonly onBroken: (error: unknown) => void;
};

export type FeedFailed = { readonly kind: 'feed failed'; readonly name: string; readonly why: string };

/** One reading: as old as the oldest price in it, and as the first request of it. Null when a book has not two sides. */
export async function readReference(
  { exchange, instrument, time }: Pick<Surroundings, 'exchange' | 'instrument' | 'time'>,
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
    prices.push(middleOf(outcome.value));
  }
  const price = priceAcross(legs, prices) / Number(instrument().tick);
  return price > 0 && price < Infinity ? { kind: 'reference', at: time(), startedAt, price } : null;
}

/** A model's number: a float. */
const middleOf = ({ bids, asks }: BookSnapshot): number =>
  (Number(bids[0]?.price ?? Number.NaN) + Number(asks[0]?.price ?? Number.NaN)) / 2;

/** The same again is said at most so often. */
const SAY_EVERY_MS: Millis = 60_000;

export class ReferenceReads {
  readonly #options: Surroundings & ReferenceOptions;
  #timer: Timer | null = null;
  #stopped = false;
  #reading: Promise<void> = Promise.resolve();
  /** When it was last said that a feed fails; null while all are well. */
  #saidAt: Millis | null = null;

  constructor(options: Surroundings & ReferenceOptions) {
    this.#options = options;
  }

  start(): void {
    this.#reading = this.#read().catch(this.#options.onBroken);
  }

  /** Resolves when the reading under way has ended. */
  stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.stop();
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { clock, everyMs, note, step } = this.#options;
    const startedAt = clock.elapsed();
    const event = await readReference(this.#options, this.#options);
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
    const { clock, log } = this.#options;
    const now = clock.elapsed();
    if (this.#saidAt !== null && now - this.#saidAt < SAY_EVERY_MS) return;
    this.#saidAt = now;
    log.warn({ feed: name, why }, `the feed ${name} tells no price: ${why}`);
  }

  #isWell(): void {
    if (this.#saidAt === null) return;
    this.#saidAt = null;
    this.#options.log.warn({}, 'the feeds tell prices again');
  }
}
