/**
 * State that survives the death of a process: the journal's database and the halt latch, on a disk that may be full.
 */
import type Database from 'libsql';
import type { LedgerEntry } from '../../../src/core/index.ts';
import { entriesIn } from '../../../src/live/state/ledgerEntries.ts';
import { journalIn, openDatabase, type Journal } from '../../../src/live/state/journal.ts';
import { addOrderBooks } from '../../../src/live/state/stateFile.ts';
import type { HedgeRow } from '../../../src/hedge/index.ts';
import type { Heartbeat, HeartbeatRecord } from '../../../src/live/safety/heartbeat.ts';
import type { Halt, Hold, Latch } from '../../../src/live/safety/latch.ts';
import type { Life } from './life.ts';
import { StateDir } from './stateDir.ts';
import { LyingDisk } from '../world/lyingDisk.ts';
import type { World } from '../world/world.ts';
import { OPEN_LATCH } from '../../live/openLatch.ts';

export type Intent = {
  readonly side: string;
  readonly price: number;
  readonly amount: number;
  readonly ending: string | null;
};

const ACCOUNT = 'simulated';

/** Minimum and maximum time for which a lying disk holds writes, in ms. */
const HELD_MS = [20, 4_000] as const;

/** Ids of the orders, and hedges, that the disk has lost. */
export type Lost = { readonly orders: readonly string[]; readonly hedges: readonly HedgeRow[] };

/** Receiver of the changes that bot and sentinel write for each other. */
export type StoreEvents = {
  /** `read`: whether this beat tells of a read of the orders, which was `now` or, while the disk was full, `earlier`. */
  beat(whose: 'bot' | 'sentinel', state: HeartbeatRecord['state'], read: 'now' | 'earlier' | null): void;
  /** Called if the bot has read its orders but cannot report it, because the disk is full. */
  readUntold(): void;
  /** Called if the sentinel or an operator sets a hold on quotes, or removes it (`null`). */
  held(hold: Hold | null, by: 'sentinel' | 'person'): void;
  latched(by: 'bot' | 'sentinel'): void;
  /** Called with the hedges on disk after each change. */
  hedges(rows: readonly HedgeRow[]): void;
};

export class Store {
  readonly #world: World;
  readonly #events: StoreEvents;
  readonly #pulses: Record<'bot' | 'sentinel', HeartbeatRecord | null> = { bot: null, sentinel: null };
  readonly #db: Database.Database = openDatabase(':memory:');
  readonly #intent: Database.Statement;
  readonly #open: Database.Statement;
  #latch: Halt | null = null;
  #hold: Hold | null = null;
  #isFull = false;
  #isLifted = false;
  #hedges: readonly HedgeRow[] = [];
  /** Undo log of the disk; `null` if the disk does not lie. */
  readonly #lies: LyingDisk | null;
  /** Hedges whose writes are durable on a lying disk. */
  #writtenHedges: readonly HedgeRow[] = [];
  /** Directory through which operators act with commands; `null` if halts and holds are only in memory. */
  readonly files: StateDir | null;

  /** `areSeveral`: whether the bot has several books, so that the table of their orders exists from the start. */
  constructor(world: World, events: StoreEvents, hasFiles = false, areSeveral = false) {
    this.#world = world;
    this.#events = events;
    this.files = hasFiles ? new StateDir((life, what) => this.#write(life, what)) : null;
    if (areSeveral) addOrderBooks(this.#db);
    const hold = world.chance('lying disk holds');
    const lies = world.drawn('lying disk') > 0;
    this.#lies = lies ? new LyingDisk(this.#db, () => hold.between(...HELD_MS)) : null;
    this.#intent = this.#db.prepare('SELECT side, price, amount, ending FROM intents WHERE id = ?');
    this.#open = this.#db.prepare('SELECT id FROM intents WHERE ending IS NULL ORDER BY id');
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  fill(isFull: boolean): void {
    this.#isFull = isFull;
    this.#world.trace.add(isFull ? 'disk full' : 'disk has room');
  }

  /** Returns the order as it is on disk; `undefined` if it is not on disk. */
  intent(id: string): Intent | undefined {
    return this.#intent.get(id) as Intent | undefined;
  }

  /** Undoes the writes that are not durable, because the machine went down. Returns what the disk has lost. */
  loseHeld(): Lost {
    if (this.#lies === null) return { orders: [], hedges: [] };
    const all = this.#db.prepare('SELECT id FROM intents ORDER BY id');
    const ids = () => (all.all() as { id: string }[]).map(({ id }) => id);
    const before = ids();
    this.#lies.lose();
    const left = new Set(ids());
    const [held, written] = [this.#hedges, this.#writtenHedges];
    this.#hedges = written;
    const isKept = ({ id, offer }: HedgeRow) => written.some(row => row.id === id && row.offer?.id === offer?.id);
    const lost = { orders: before.filter(id => !left.has(id)), hedges: held.filter(row => !isKept(row)) };
    this.#world.trace.add(`the disk lost ${JSON.stringify(lost.orders)} and ${lost.hedges.map(({ id }) => id).join()}`);
    return lost;
  }

  /** Returns the ids of the orders on disk without an end. */
  openIntents(): readonly string[] {
    return (this.#open.all() as { id: string }[]).map(({ id }) => id);
  }

  /** Hedges of all lives on disk. */
  get hedges(): readonly HedgeRow[] {
    return this.#hedges;
  }

  /** Returns the entries of the ledger on disk. */
  entries(): readonly LedgerEntry[] {
    return [...entriesIn(this.#db, ACCOUNT)];
  }

  /** Whether an operator has lifted a halt, and no bot has applied this yet. */
  get isLifting(): boolean {
    return this.#isLifted;
  }

  get halt(): Halt | null {
    return this.#latch;
  }

  get hold(): Hold | null {
    return this.#hold;
  }

  /** Applies the halt and the hold from the files, after an operator has changed them. */
  changed(): void {
    if (this.files === null) return;
    const { halt, hold } = this.files.read();
    this.#latch = halt;
    if (hold === null && this.#hold !== null) this.#setHold(null, 'person');
  }

  /** As a person sets and lifts it; what they lift is a hold too. */
  setHalt(halt: Halt | null): void {
    this.#latch = halt;
    if (halt === null && this.#hold !== null) this.#setHold(null, 'person');
    this.#isLifted ||= halt === null;
    this.#world.trace.add(halt === null ? 'halt lifted' : `halt ${halt.by} ${halt.reason}`);
  }

  close(): void {
    this.#db.close();
    this.files?.close();
  }

  /** The journal as one life has it. Throws when the disk is full. */
  journal(life: Life, setup: string): Journal {
    this.#write(life, 'opening the journal');
    return this.#ofLife(life, journalIn(this.#db, { account: ACCOUNT, at: life.clock.now(), setup }));
  }

  #ofLife(life: Life, journal: Journal): Journal {
    let told: readonly HedgeRow[] | null = null;
    const around = (what: string, call: () => void) => {
      this.#write(life, what);
      call();
      if (told !== null && what !== 'nonces') {
        this.#hedges = told;
        told = null;
        this.#events.hedges(this.#hedges);
      }
      life.step(`after ${what}`);
    };
    return {
      ...journal,
      keep: (mark, entries) => {
        journal.keep(mark, entries);
        told = mark.hedges ?? [];
      },
      intend: (commands, at) => around('intents', () => journal.intend(commands, at)),
      flush: mark => around('flush', () => journal.flush(mark)),
      reserveNonces: upTo => around('nonces', () => journal.reserveNonces(upTo)),
      next: (at, setup) => {
        this.#write(life, 'the next run');
        const next = this.#ofLife(life, journal.next(at, setup));
        life.step('after the next run');
        return next;
      },
      close: () => undefined,
    };
  }

  pulse(whose: 'bot' | 'sentinel'): HeartbeatRecord | null {
    return this.#pulses[whose];
  }

  /** Returns the heartbeat of a process, which is in the state directory. */
  heart(life: Life, whose: 'bot' | 'sentinel'): Heartbeat {
    let counter = (this.#pulses[whose]?.counter ?? 0) + 1;
    // What the clock says may have been said before.
    const born = life.number;
    let reads = 0;
    let readAt = life.clock.elapsed();
    let isUntold = false;
    const beat = (state: HeartbeatRecord['state'], isRead: boolean) => {
      if (!life.isAlive) return;
      if (this.#isFull) {
        isUntold ||= isRead;
        if (isRead && whose === 'bot') this.#events.readUntold();
        return;
      }
      this.#pulses[whose] = { counter: counter++, state, born, reads, unreadMs: life.clock.elapsed() - readAt };
      this.#events.beat(whose, state, isRead ? 'now' : isUntold ? 'earlier' : null);
      isUntold = false;
    };
    return {
      beat: state => beat(state, false),
      read: () => {
        reads++;
        readAt = life.clock.elapsed();
        beat('alive', true);
      },
    };
  }

  latch(life: Life, whose: 'bot' | 'sentinel'): Latch {
    if (this.files !== null) return this.#latchOfFiles(life, whose, this.files);
    return {
      ...OPEN_LATCH,
      read: () => this.#latch,
      set: halt => {
        // A full disk takes a latch too: the one that was reserved is renamed.
        life.step('before latch');
        if (this.#latch === null) {
          this.setHalt(halt);
          this.#events.latched(whose);
        }
        life.step('after latch');
      },
      lift: () => this.setHalt(null),
      readHold: () => this.#hold,
      setHold: hold => {
        this.#write(life, 'hold');
        if (this.#hold === null) this.#setHold(hold, 'sentinel');
      },
      liftHold: () => {
        this.#write(life, 'the lifting of a hold');
        this.#setHold(null, 'sentinel');
      },
      takeLifted: () => {
        const isLifted = this.#isLifted;
        this.#isLifted = false;
        return isLifted;
      },
      isLifting: () => false,
    };
  }

  #latchOfFiles(life: Life, whose: 'bot' | 'sentinel', files: StateDir): Latch {
    const latch = files.latch(life, () => {
      this.#latch = files.read().halt;
      this.#world.trace.add(`halt ${this.#latch?.by} ${this.#latch?.reason}`);
      this.#events.latched(whose);
    });
    return {
      ...latch,
      setHold: hold => {
        this.#write(life, 'hold');
        if (latch.readHold() !== null) return;
        latch.setHold(hold);
        this.#setHold(hold, 'sentinel');
      },
      liftHold: lifted => {
        this.#write(life, 'the lifting of a hold');
        latch.liftHold(lifted);
        this.#setHold(null, 'sentinel');
      },
    };
  }

  #setHold(hold: Hold | null, by: 'sentinel' | 'person'): void {
    this.#hold = hold;
    this.#world.trace.add(hold === null ? `hold lifted by ${by}` : `hold ${hold.reason}`);
    this.#events.held(hold, by);
  }

  #write(life: Life, what: string): void {
    life.step(`before ${what}`);
    if (this.#lies?.writes(this.#world.clock.elapsed()) === true) this.#writtenHedges = this.#hedges;
    if (this.#isFull) throw new Error('ENOSPC: no space left on device (simulated)');
  }
}
