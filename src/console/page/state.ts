/** What the page knows: the newest live view, the moment of the past that is shown instead, and how both are had from the console. */
import { answerLines } from './lines.ts';
import type { ConsoleHistory, ConsoleView } from './view.ts';

export type Waiting = { readonly kind: 'waiting'; readonly bot: ConsoleView['bot']; readonly trouble: string | null };

type Moment = { readonly view: ConsoleView; readonly history: ConsoleHistory };

/** A point a second is kept of this many. */
const RECENT_MAX = 900;
/** A slider that moves asks when it rests. */
const RESTS_MS = 120;

export class State {
  live: ConsoleView | null = null;
  waiting: Waiting | null = null;
  past: Moment | null = null;
  /** The moment that is asked for, and how much of the way to it was replayed; null while none is. */
  asked: { readonly at: number; readonly share: number } | null = null;
  /** Why the past could not be had; null when it could. */
  problem: string | null = null;
  /** The line to the console is up. */
  isUp = false;
  /** Which level's steps are shown. */
  chosen: string | null = null;
  #history: ConsoleHistory | null = null;
  #asking: AbortController | null = null;
  #rest: number | undefined;
  readonly #changed: () => void;
  readonly #dropped: () => void;
  #stream: EventSource | null = null;

  /** `dropped`: the line was lost, or this page may not read. */
  constructor(changed: () => void, dropped: () => void) {
    this.#changed = changed;
    this.#dropped = dropped;
  }

  /** What is shown. */
  get view(): ConsoleView | null {
    return this.past?.view ?? this.live;
  }

  get history(): ConsoleHistory | null {
    return this.past?.history ?? this.#history;
  }

  /** Listens from now on; the browser connects again by itself, but for where it was refused. */
  listen(): void {
    if (this.#stream !== null && this.#stream.readyState !== EventSource.CLOSED) return;
    const stream = new EventSource('/live');
    this.#stream = stream;
    stream.onopen = () => this.#set(() => (this.isUp = true));
    stream.onerror = () => {
      this.#set(() => (this.isUp = false));
      this.#dropped();
    };
    stream.onmessage = ({ data }: MessageEvent<string>) => {
      const told = JSON.parse(data) as ConsoleView | Waiting;
      this.#set(() => {
        this.isUp = true;
        if (told.kind === 'waiting') this.waiting = told;
        else this.#take(told);
      });
    };
  }

  /** Goes to a moment once the slider rests there; null goes back to now. */
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

  /** Nothing of what was read is shown any more. */
  forget(): void {
    this.#stream?.close();
    this.#asking?.abort();
    this.#set(() => {
      [this.live, this.waiting, this.past, this.asked, this.#history, this.isUp] = [
        null,
        null,
        null,
        null,
        null,
        false,
      ];
    });
  }

  /** Shows the steps of another level. */
  choose(level: string): void {
    this.#set(() => (this.chosen = level));
  }

  #set(change: () => void): void {
    change();
    this.#changed();
  }

  #take(view: ConsoleView): void {
    this.live = view;
    this.waiting = null;
    const last = this.#history?.recent.at(-1)?.[0] ?? -Infinity;
    const at = view.point[0] ?? 0;
    // After a hole, or for another run, all of it is asked for anew.
    if (this.#history === null || this.#history.run !== view.run || at - last > 30_000 || view.catchingUp !== null) {
      void this.#askHistory();
      return;
    }
    if (at <= last) return;
    const { run, recent, whole, fills } = this.#history;
    const known = new Set(fills.slice(-60).map(String));
    const fresh = view.fills.last
      .map(({ at: filledAt, side, price }) => [filledAt, side === 'bid' ? 1 : -1, Number(price)])
      .filter(fill => !known.has(String(fill)))
      .reverse();
    this.#history = {
      run,
      whole: at - (whole.at(-1)?.[0] ?? 0) >= stepOf(whole) ? [...whole, view.point] : whole,
      recent: [...recent, view.point].slice(-RECENT_MAX),
      fills: [...fills, ...fresh],
    };
  }

  async #askHistory(): Promise<void> {
    try {
      const answer = await window.fetch('/history');
      if (!answer.ok) return;
      const history = (await answer.json()) as ConsoleHistory;
      this.#set(() => (this.#history = history));
    } catch {
      // The line is down; the next view asks again.
    }
  }

  async #ask(at: number): Promise<void> {
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const answer = await window.fetch(`/past?at=${Math.round(at)}`, { signal: asking.signal });
      if (!answer.ok || answer.body === null) throw new Error(`the console answered ${answer.status}`);
      for await (const line of answerLines(answer.body)) {
        const told = JSON.parse(line) as { share?: number; problem?: string; view?: ConsoleView } | null;
        this.#set(() => {
          if (told === null) [this.problem, this.asked] = ['nothing is kept of that time', null];
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
