/**
 * Replays for the console and the remote control: past points in time, previews of actions, and reads. If possible, the
 * replays run in a separate thread, so that the live page stays responsive.
 */
import type { ConsoleView, ShownEvent } from '../../console/index.ts';
import type { Clock, Millis } from '../../core/index.ts';
import type { ActionAsk } from '../actions/actions.ts';
import { previewAction } from '../actions/previewAction.ts';
import { readBot, type BotRead } from '../actions/botReads.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { BesideRun, type BesideConfig } from './besideRun.ts';
import { notedChangesIn, shownChange, withNotes, type NotedChange } from './history/configHistory.ts';
import { actionEvents } from './consoleActions.ts';
import { botOfPast, consoleView } from './consoleView.ts';
import { PastMoments } from './pastMoments.ts';

/** Identification of the bot, as plain data that can be sent to a thread. */
export type ReplayedBot = { readonly config: BesideConfig; readonly bot: WhichBot };

/** Request for a console view of a past time. `logins` has the login events of the console, which no file contains. */
export type PastAsk = {
  readonly at: Millis;
  readonly runs: ConsoleView['runs'];
  readonly logins: readonly ShownEvent[];
  /** Book to show, if the run has several; if absent, the first. */
  readonly book?: string | undefined;
};

/** Time for which a copy of the ledger is reused, in ms. */
const LEDGER_FOR_MS = 30_000;
/** Interval of progress reports, in ms. */
const TELL_EVERY_MS = 200;
/** Number of inputs between two checks of the clock. */
const LOOK_EVERY = 500;

export class ConsoleReplayer {
  readonly #of: ReplayedBot;
  readonly #clock: Clock;
  readonly #beside: BesideRun;
  readonly #moments: PastMoments;
  readonly #noted: () => readonly NotedChange[];
  #logins: readonly ShownEvent[] = [];
  #ledgerAt = -Infinity;

  constructor(of: ReplayedBot, clock: Clock) {
    const { dir } = of.config.state;
    this.#of = of;
    this.#clock = clock;
    const acted = actionEvents(dir);
    this.#noted = notedChangesIn(dir);
    this.#beside = new BesideRun(of.config, clock, () => [...acted(), ...this.#logins]);
    this.#moments = new PastMoments(dir, clock, (replay, note, runs, book) => {
      const outside = {
        ...({ kind: 'past', bot: botOfPast('running'), runs, catchingUp: null, budgets: null, note } as const),
        ...{ ledger: this.#beside.ledger, events: this.#beside.events(book) },
      };
      return consoleView(replay, outside, book);
    });
  }

  /**
   * Returns the view at a time as one line of JSON; the text `null` if `PastMoments.at` returns `null`. Rejects if the
   * recording cannot be read.
   */
  async past(
    { at, runs, logins, book }: PastAsk,
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<string> {
    this.#logins = logins;
    if (this.#clock.elapsed() - this.#ledgerAt > LEDGER_FOR_MS) {
      this.#ledgerAt = this.#clock.elapsed();
      await this.#beside.readLedger();
    }
    const moment = await this.#moments.at(at, runs, signal, onProgress, book);
    if (moment === null) return 'null';
    const { view, history } = moment;
    const changes = withNotes(history.changes, this.#noted()).map(shownChange);
    return JSON.stringify({ view, history: { ...history, changes } });
  }

  /**
   * Returns the preview of an action, as lines for the operator. Rejects with one line if the action would have no
   * effect.
   */
  async preview(ask: ActionAsk, onProgress: (share: number) => void): Promise<readonly string[]> {
    const tell = progressReporter(this.#clock, onProgress);
    const { lines } = await previewAction(this.#of.bot, ask, this.#clock, tell);
    return lines;
  }

  /** Returns the text of a read. Rejects with one line if there is nothing to read. */
  read(read: BotRead): Promise<string> {
    return readBot(this.#of.bot, read, this.#clock);
  }

  close(): void {
    this.#moments.close();
  }
}

/**
 * Returns a function to call with the time of each input. The function reports the progress from the first input to the
 * present.
 */
function progressReporter(clock: Clock, onProgress: (share: number) => void): (at: Millis) => void {
  const to = clock.now();
  let from: Millis | null = null;
  let told = clock.elapsed();
  let inputs = 0;
  return at => {
    from ??= at;
    if (++inputs % LOOK_EVERY !== 0 || clock.elapsed() - told < TELL_EVERY_MS) return;
    told = clock.elapsed();
    onProgress(Math.max(0, Math.min(0.99, (at - from) / (to - from))));
  };
}
