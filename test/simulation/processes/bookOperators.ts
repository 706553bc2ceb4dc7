/** Operators who halt, pause, reduce and resume single books and the whole bot, by the actions of the commands. */
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import type { ActionAsk } from '../../../src/app/actions/actions.ts';
import { bookLatchIn } from '../../../src/live/safety/bookLatch.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import type { Clock, Millis } from '../../../src/core/index.ts';
import { chanceOf, type Chance } from '../world/chance.ts';
import type { World } from '../world/world.ts';
import type { Store } from './store.ts';

export type BookActionCounts = { readonly asked: number; readonly ofOneBook: number; readonly refused: number };

export type BookOperatorsOptions = {
  readonly world: World;
  readonly store: Store;
  readonly books: readonly string[];
  /** An operator has lifted a halt or a hold of the whole bot. */
  readonly lifted: () => void;
};

type Verb = 'halt' | 'pause' | 'reduce' | 'resume';

const PAUSE_MS = [15_000, 120_000] as const;
/** Time after which a stop is lifted, while faults last. */
const PATIENCE_MS = [5_000, 40_000] as const;
const HEALED_PATIENCE_MS = 2_000;

export class BookOperators {
  readonly #o: BookOperatorsOptions;
  readonly #chance: Chance;
  readonly #clock: Clock;
  readonly #dir: string;
  #commands = 0;
  readonly #counts = { asked: 0, ofOneBook: 0, refused: 0 };
  /** Times since which books are halted or paused, and since which anything is to be resumed; `null`: the whole bot. */
  readonly #stopped = new Map<string, Millis>();
  readonly #held = new Map<string | null, { readonly since: Millis; readonly patience: Millis }>();
  /** Book whose stop is a test, which nobody else lifts. */
  #tested: string | undefined;

  constructor(options: BookOperatorsOptions) {
    this.#o = options;
    const { world, store } = options;
    this.#dir = store.files!.dir;
    this.#chance = chanceOf(world.seed, 'operators of books');
    const { machineClock } = world;
    this.#clock = { ...machineClock, now: () => machineClock.now() + world.skewOf('bot') };
    if (world.classes.length > 0) this.#later();
    this.#lookLater();
  }

  get counts(): BookActionCounts {
    return this.#counts;
  }

  /** Returns the time since which a book is halted or paused on its own; `null` if it is not. */
  stoppedSince(book: string): Millis | null {
    // The bot itself ends a pause whose time has come.
    this.#read();
    return this.#stopped.get(book) ?? null;
  }

  /** Whether a halt of a book is from its own latch. */
  isOwnHalt(book: string, reason: string): boolean {
    return bookLatchIn(this.#dir, book).read()?.reason === reason;
  }

  /** Whether a book has any stop of its own. */
  isHeld(book: string): boolean {
    const latch = bookLatchIn(this.#dir, book);
    return (latch.read() ?? latch.readPause() ?? latch.readReduce()) !== null;
  }

  /** Halts one book until `resumes` is called. */
  halts(book: string): void {
    this.#tested = book;
    this.#carryOut('halt', book);
  }

  resumes(book: string): void {
    this.#tested = undefined;
    this.#carryOut('resume', book);
  }

  #later(): void {
    const { world, store, books } = this.#o;
    world.clock.after(this.#chance.between(...PAUSE_MS), () => {
      if (!world.isFaulty) return;
      const verb = this.#chance.pick<Verb>(['halt', 'pause', 'pause', 'reduce', 'resume']);
      const book = this.#chance.hit(0.75) ? this.#chance.pick(books) : null;
      if (!store.isFull) this.#carryOut(verb, book);
      this.#later();
    });
  }

  #lookLater(): void {
    this.#o.world.clock.after(1_000, () => {
      this.#look();
      this.#lookLater();
    });
  }

  /** Resumes what was stopped for long. */
  #look(): void {
    const { world, store, books } = this.#o;
    this.#read();
    for (const book of [null, ...books]) {
      const isHeld = book === null ? this.#isBotHeld() : this.isHeld(book);
      if (!isHeld || book === this.#tested) this.#held.delete(book);
      else if (!this.#held.has(book))
        this.#held.set(book, { since: world.clock.elapsed(), patience: this.#chance.between(...PATIENCE_MS) });
      const held = this.#held.get(book);
      if (held === undefined || store.isFull || (book !== null && store.halt !== null)) continue;
      const patience = world.isFaulty ? held.patience : HEALED_PATIENCE_MS;
      if (world.clock.elapsed() - held.since < patience) continue;
      this.#held.delete(book);
      this.#carryOut('resume', book);
    }
  }

  #isBotHeld(): boolean {
    const { halt, hold, pause, reduce } = this.#o.store.files!.read();
    return (halt ?? hold ?? pause ?? reduce) !== null;
  }

  #read(): void {
    for (const book of this.#o.books) {
      const latch = bookLatchIn(this.#dir, book);
      const isStopped = (latch.read() ?? latch.readPause()) !== null;
      if (!isStopped) this.#stopped.delete(book);
      else if (!this.#stopped.has(book)) this.#stopped.set(book, this.#o.world.clock.elapsed());
    }
  }

  #carryOut(action: Verb, book: string | null): void {
    const { store, world } = this.#o;
    const n = ++this.#commands;
    this.#counts.asked++;
    if (book !== null) this.#counts.ofOneBook++;
    const asked = { id: `act-${n}`, reason: `${action} no. ${n}`, by: 'Ann', via: 'command' as const };
    const until = action === 'pause' && this.#chance.hit(0.5) ? { untilMs: this.#clock.now() + 20_000 } : {};
    const ask = { ...asked, ...until, action, ...(book === null ? {} : { book }) } as ActionAsk;
    world.touched = true;
    world.trace.add(`action ${action} ${book ?? 'all'} ${n}`);
    const wasHeld = store.halt !== null || store.hold !== null;
    void executeAction({ stateDir: this.#dir }, ask, this.#clock).then(
      ({ end }) => {
        if (end === 'refused') this.#counts.refused++;
      },
      (error: unknown) => {
        // Before the first run is recorded, no command knows the books.
        if (!(error instanceof UsageError)) throw error;
        this.#counts.refused++;
      },
    );
    // The files have changed by now.
    store.changed();
    this.#read();
    if (wasHeld && store.halt === null && store.hold === null) this.#o.lifted();
  }
}
