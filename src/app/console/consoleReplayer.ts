/** What the console replays: moments of the past, and what an action would do. In a thread of its own where it can, so that the live page goes on meanwhile. */
import type { ConsoleView, ShownEvent } from '../../console/index.ts';
import type { Clock, Millis } from '../../core/index.ts';
import type { ActionAsk } from '../actions/actions.ts';
import { previewAction } from '../actions/previewAction.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { BesideRun } from './besideRun.ts';
import type { BesideConfig } from './besideRun.ts';
import { actionEvents } from './consoleActions.ts';
import { botOfPast, consoleView } from './consoleView.ts';
import { PastMoments } from './pastMoments.ts';

/** What it is of; goes to a thread as it is. */
export type ReplayedBot = { readonly config: BesideConfig; readonly bot: WhichBot };

/** `door`: what happened at the console itself, which is in no file. */
export type PastAsk = {
  readonly at: Millis;
  readonly runs: ConsoleView['runs'];
  readonly door: readonly ShownEvent[];
};

/** A copy of the ledger serves as long. */
const LEDGER_FOR_MS = 30_000;
/** How often an asker is told how far it is, ms. */
const TELL_EVERY_MS = 200;
/** Inputs between two looks at the clock. */
const LOOK_EVERY = 500;

export class ConsoleReplayer {
  readonly #of: ReplayedBot;
  readonly #clock: Clock;
  readonly #beside: BesideRun;
  readonly #moments: PastMoments;
  #door: readonly ShownEvent[] = [];
  #ledgerAt = -Infinity;

  constructor(of: ReplayedBot, clock: Clock) {
    const { dir } = of.config.state;
    this.#of = of;
    this.#clock = clock;
    const acted = actionEvents(dir);
    this.#beside = new BesideRun(of.config, clock, () => [...acted(), ...this.#door]);
    this.#moments = new PastMoments(dir, clock, (replay, note, runs) =>
      consoleView(replay, {
        ...{ kind: 'past', bot: botOfPast('running'), runs, catchingUp: null, budgets: null },
        ...{ ledger: this.#beside.ledger, events: this.#beside.events(), note },
      }),
    );
  }

  /** The moment as JSON on one line, or `null` as `PastMoments` says. Rejects when the recording cannot be read. */
  async past({ at, runs, door }: PastAsk, signal: AbortSignal, onProgress: (share: number) => void): Promise<string> {
    this.#door = door;
    if (this.#clock.elapsed() - this.#ledgerAt > LEDGER_FOR_MS) {
      this.#ledgerAt = this.#clock.elapsed();
      await this.#beside.readLedger();
    }
    return JSON.stringify(await this.#moments.at(at, runs, signal, onProgress));
  }

  /** Lines for a person. Rejects with a line for one where nothing can be done. */
  async preview(ask: ActionAsk, onProgress: (share: number) => void): Promise<readonly string[]> {
    const tell = teller(this.#clock, onProgress);
    const { lines } = await previewAction(this.#of.bot, ask, this.#clock, tell);
    return lines;
  }

  close(): void {
    this.#moments.close();
  }
}

/** Makes shares of the times of inputs, from the first one to now. */
function teller(clock: Clock, onProgress: (share: number) => void): (at: Millis) => void {
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
