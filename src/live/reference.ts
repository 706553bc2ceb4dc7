/** Reads, now and then, what other books of the exchange say our price is, and tells the engine. */
import { priceAcross } from '../core/index.ts';
import type { BookSnapshot, Clock, EngineEvent, Exchange, Instrument, Leg, Millis, Timer } from '../core/index.ts';
import type { Failed } from './reads.ts';

export type ReferenceOptions = { readonly legs: readonly Leg[]; readonly everyMs: Millis };

type Surroundings = {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly instrument: () => Instrument;
  /** Time for the engine. */
  readonly time: () => Millis;
  readonly step: (event: EngineEvent) => void;
  readonly note: (what: string, failed: Failed) => void;
  readonly onBroken: (error: unknown) => void;
};

/** One reading: as old as the first request of it. Null when a book has not two sides. */
export async function readReference(
  { exchange, instrument, time }: Pick<Surroundings, 'exchange' | 'instrument' | 'time'>,
  legs: readonly Leg[],
): Promise<Extract<EngineEvent, { kind: 'reference' }> | Failed | null> {
  const startedAt = time();
  const middles: number[] = [];
  for (const { book } of legs) {
    const outcome = await exchange.orderBook(book, true);
    if (outcome.kind !== 'done') return outcome;
    middles.push(middleOf(outcome.value));
  }
  const price = priceAcross(legs, middles) / Number(instrument().tick);
  return price > 0 && price < Infinity ? { kind: 'reference', at: time(), startedAt, price } : null;
}

/** A model's number: a float. */
const middleOf = ({ bids, asks }: BookSnapshot): number =>
  (Number(bids[0]?.price ?? Number.NaN) + Number(asks[0]?.price ?? Number.NaN)) / 2;

export class ReferenceReads {
  readonly #options: Surroundings & ReferenceOptions;
  #timer: Timer | null = null;
  #stopped = false;
  #reading: Promise<void> = Promise.resolve();

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
    const { clock, everyMs, legs, note, step } = this.#options;
    const startedAt = clock.elapsed();
    const event = await readReference(this.#options, legs);
    if (this.#stopped) return;
    this.#timer = clock.after(Math.max(0, everyMs - (clock.elapsed() - startedAt)), () => this.start());
    if (event?.kind === 'reference') step(event);
    else if (event !== null) note('order_book', event);
  }
}
