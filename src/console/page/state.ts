/** State of the page: the newest live view, or a past view instead, and the requests for views. */
import { RECENT_POINTS_MAX } from './bounds.ts';
import { answerLines } from './lines.ts';
import { StreamWatch } from './streamWatch.ts';
import type { DeskView } from './deskView.ts';
import type { ConsoleHistory, ConsoleView, LongHistory } from './view.ts';

export type Waiting = { readonly kind: 'waiting'; readonly bot: ConsoleView['bot']; readonly trouble: string | null };

type Moment = { readonly view: ConsoleView; readonly history: ConsoleHistory };

/** State of the long history after the last request. `none`: the bot has no long history yet. */
export type LongState = 'loading' | 'none' | 'failed' | 'known';

/** HTTP status with which the console answers while it has no data. */
const NOTHING_YET = 204;
/** Interval of requests for the long history, in ms. */
const LONG_EVERY_MS = 30_000;
/** Time without movement of the slider before a request, in ms. */
const RESTS_MS = 120;

export class State {
  /** Book of this page; `null` if the address of the page names no book. */
  readonly book: string | null;
  /** View of all books, if the bot has several and this page shows all of them; otherwise `null`. */
  desk: DeskView | null = null;
  live: ConsoleView | null = null;
  waiting: Waiting | null = null;
  past: Moment | null = null;
  /** Requested past time, and the replayed share of its recording; `null` without a request. */
  asked: { readonly at: number; readonly share: number } | null = null;
  /** Error of the last request for a past view; `null` without an error. */
  problem: string | null = null;
  /** Whether the stream from the console is connected. */
  isUp = false;
  /** Name of the selected level, whose price is explained step by step. */
  chosen: string | null = null;
  /** Charts since the opening, and results of each configuration; `null` before the first answer. */
  long: LongHistory | null = null;
  longState: LongState = 'loading';
  #longAt = -Infinity;
  #history: ConsoleHistory | null = null;
  #asking: AbortController | null = null;
  #rest: number | undefined;
  readonly #changed: () => void;
  readonly #dropped: () => void;
  #stream: EventSource | null = null;
  readonly #watch: StreamWatch;
  readonly #now: () => number;

  /**
   * Creates the state. `changed` is called after each change, and `dropped` is called if the stream is lost or
   * rejected. `now`: monotonic time, in ms. `book`: book of the page's address.
   */
  constructor(changed: () => void, dropped: () => void, now: () => number, book: string | null = null) {
    this.book = book;
    this.#watch = new StreamWatch(now);
    this.#now = now;
    this.#changed = changed;
    this.#dropped = dropped;
  }

  /** View to show, past or live. */
  get view(): ConsoleView | null {
    return this.past?.view ?? this.live;
  }

  get history(): ConsoleHistory | null {
    return this.past?.history ?? this.#history;
  }

  /** Opens the live stream. The browser reconnects automatically unless the console rejected it. */
  listen(): void {
    if (this.#stream !== null && this.#stream.readyState !== EventSource.CLOSED) return;
    const stream = new EventSource(this.#address('/live'));
    this.#stream = stream;
    this.#watch.heard();
    stream.onopen = () => {
      if (this.#stream === stream) this.#set(() => (this.isUp = true));
    };
    stream.onerror = () => {
      if (this.#stream !== stream) return;
      this.#set(() => (this.isUp = false));
      this.#dropped();
    };
    stream.onmessage = ({ data }: MessageEvent<string>) => {
      if (this.#stream !== stream) return;
      this.#watch.heard();
      const told = JSON.parse(data) as ConsoleView | DeskView | Waiting;
      this.#set(() => {
        this.isUp = true;
        if (told.kind === 'waiting') this.waiting = told;
        else if (told.kind === 'desk') [this.desk, this.waiting, this.live] = [told, null, null];
        else this.#take(told);
      });
    };
  }

  /** Closes a stream that stalled without an error, and calls `dropped`. */
  check(): void {
    if (this.#stream === null || !this.#watch.isStalled) return;
    this.#stream.close();
    this.#stream = null;
    this.#set(() => (this.isUp = false));
    this.#dropped();
  }

  /** Requests a past view once the slider stops; `null` returns to the live view. */
  go(at: number | null): void {
    this.#asking?.abort();
    window.clearTimeout(this.#rest);
    this.#set(() => {
      this.problem = null;
      this.asked = at === null ? null : { at, share: 0 };
      if (at === null) this.past = null;
    });
    if (at !== null) this.#rest = window.setTimeout(() => void this.#ask(at), RESTS_MS);
  }

  /** Clears all data received from the console. */
  forget(): void {
    this.#stream?.close();
    this.#stream = null;
    this.#asking?.abort();
    this.#set(() => {
      [this.live, this.waiting, this.past, this.asked, this.#history, this.long] = [null, null, null, null, null, null];
      this.desk = null;
      [this.isUp, this.#longAt, this.longState] = [false, -Infinity, 'loading'];
    });
  }

  /** Selects another level, whose price is then explained step by step. */
  choose(level: string): void {
    this.#set(() => (this.chosen = level));
  }

  /** Returns the address of data, with the book of this page if it has one. */
  #address(path: string): string {
    if (this.book === null) return path;
    return `${path}${path.includes('?') ? '&' : '?'}book=${encodeURIComponent(this.book)}`;
  }

  /**
   * Books of the bot; `undefined` if the bot has only one. Before the first view, only the book of the page's address,
   * so that an action on the page of a book does not apply to all books unnoticed.
   */
  get books(): readonly string[] | undefined {
    if (this.desk !== null) return this.desk.books.map(({ book }) => book);
    if (this.live !== null) return this.live.books;
    return this.book === null ? undefined : [this.book];
  }

  #set(change: () => void): void {
    change();
    this.#changed();
  }

  #take(view: ConsoleView): void {
    this.live = view;
    this.waiting = null;
    this.desk = null;
    const isOtherRun = this.long !== null && this.long.run !== view.run;
    // The reason of a change is stored a few seconds after the change, so the next request is sent soon.
    const everyMs = this.long === null || isOtherRun ? LONG_EVERY_MS / 10 : LONG_EVERY_MS;
    if (this.#now() - this.#longAt >= everyMs) void this.#askLong();
    const last = this.#history?.recent.at(-1)?.[0] ?? -Infinity;
    const at = view.point[0] ?? 0;
    // After a gap, or for another run, the full history is requested again.
    if (this.#history === null || this.#history.run !== view.run || at - last > 30_000 || view.catchingUp !== null) {
      void this.#askHistory();
      return;
    }
    if (at <= last) return;
    const { run, recent, whole, fills, changes } = this.#history;
    // The history may already have fills of the view, but only among its newest fills.
    const known = new Set(fills.slice(-view.fills.last.length).map(String));
    const fresh = view.fills.last
      .map(({ at: filledAt, side, price }) => [filledAt, side === 'bid' ? 1 : -1, Number(price)])
      .filter(fill => !known.has(String(fill)))
      .reverse();
    this.#history = {
      run,
      whole: at - (whole.at(-1)?.[0] ?? 0) >= stepOf(whole) ? [...whole, view.point] : whole,
      recent: [...recent, view.point].slice(-RECENT_POINTS_MAX),
      fills: [...fills, ...fresh],
      changes,
    };
  }

  async #askHistory(): Promise<void> {
    try {
      const answer = await window.fetch(this.#address('/history'));
      if (!answer.ok || answer.status === NOTHING_YET) return;
      const history = (await answer.json()) as ConsoleHistory;
      this.#set(() => (this.#history = history));
    } catch {
      // The console is not reachable; the next view triggers another request.
    }
  }

  async #askLong(): Promise<void> {
    this.#longAt = this.#now();
    try {
      const answer = await window.fetch(this.#address('/long-history'));
      if (answer.status === NOTHING_YET) {
        this.#set(() => (this.longState = 'none'));
        return;
      }
      if (!answer.ok) throw new Error(answer.statusText);
      const long = (await answer.json()) as LongHistory;
      this.#set(() => ([this.long, this.longState] = [long, 'known']));
    } catch {
      // A later view triggers another request.
      this.#set(() => (this.longState = 'failed'));
    }
  }

  async #ask(at: number): Promise<void> {
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const answer = await window.fetch(this.#address(`/past?at=${Math.round(at)}`), { signal: asking.signal });
      if (!answer.ok || answer.body === null) throw new Error(`the console answered ${answer.status}`);
      for await (const line of answerLines(answer.body)) {
        const told = JSON.parse(line) as { share?: number; problem?: string; view?: ConsoleView } | null;
        this.#set(() => {
          if (told === null) [this.problem, this.asked] = ['no recording of the requested time', null];
          else if (told.problem !== undefined) [this.problem, this.asked] = [told.problem, null];
          else if (told.view === undefined) this.asked = { at, share: told.share ?? 0 };
          else [this.past, this.asked] = [told as Moment, null];
        });
      }
    } catch (error) {
      if (asking.signal.aborted) return;
      this.#set(() => ([this.problem, this.asked] = [error instanceof Error ? error.message : String(error), null]));
    }
  }
}

const stepOf = (points: readonly (readonly number[])[]): number =>
  points.length < 2 ? 1_000 : (points[1]![0] ?? 0) - (points[0]![0] ?? 0);
