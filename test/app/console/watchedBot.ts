/** A bot in virtual time, of which both is known: what its own engine says, and what a console shows that follows its recording and its state directory. It can be killed and started again. */
import { mkdirSync } from 'node:fs';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import type { ActionAsk, ActionEnd } from '../../../src/app/actions/actions.ts';
import { BesideRun } from '../../../src/app/console/besideRun.ts';
import { actionEvents } from '../../../src/app/console/consoleActions.ts';
import { consoleView } from '../../../src/app/console/consoleView.ts';
import { LiveRun } from '../../../src/app/console/liveRun.ts';
import { startCanceling } from '../../../src/app/run/cancelRequests.ts';
import { clientOf, engineOf, hedgeOf, marketStreamOf } from '../../../src/wiring/bot.ts';
import type { ConsoleView } from '../../../src/console/index.ts';
import { randomOf, Secret, type Clock, type Engine, type Instrument, type Millis } from '../../../src/core/index.ts';
import { RecordingRotation } from '../../../src/live/loop/recordingRotation.ts';
import { flattenIn } from '../../../src/live/safety/flatten.ts';
import { heartbeatIn } from '../../../src/live/safety/heartbeat.ts';
import { latchIn, retryingLatch } from '../../../src/live/safety/latch.ts';
import { RequestBox } from '../../../src/live/mailbox/mailbox.ts';
import { journalIn, openDatabase, type Journal } from '../../../src/live/state/journal.ts';
import { inProcessStream } from '../../../src/sandbox/stream/streamInProcess.ts';
import { memoryLog } from '../../memoryLog.ts';
import { wireTo, type Fate } from '../../live/inProcess.ts';
import { worldOf } from '../../live/world.ts';
import { Life } from '../../simulation/processes/life.ts';

/** What the bot and the console say at one moment. */
export type Moment = {
  readonly engine: Engine;
  readonly instrument: Instrument;
  /** Of the last thing that the engine was told. */
  readonly at: Millis;
  readonly view: ConsoleView;
};

/** The same configuration in every life; the bot hedges, so that it can be flattened. */
export class WatchedBot {
  readonly #world;
  readonly #db = openDatabase(':memory:');
  readonly #live: LiveRun;
  readonly #beside: BesideRun;
  readonly #onMoment: (moment: Moment) => void;
  /** Of each run, as it was made last. */
  readonly #engines = new Map<number, Pick<Moment, 'engine' | 'instrument'>>();
  #look: (() => void) | null = null;
  #lives = 0;
  #life: Life | null = null;
  /** What becomes of its requests. */
  fate: Fate = 'arrives';

  /** `onMoment` is called whenever the recording has just become durable, with what both say then. */
  constructor(seed: number, onMoment: (moment: Moment) => void) {
    this.#onMoment = onMoment;
    this.#world = worldOf(seed, { hedge: { venues: ['rfq', 'conversion'] } }, 'hedged');
    mkdirSync(this.dir, { recursive: true, mode: 0o700 });
    // A console's looks are made here, at moments of our choice.
    const clock: Clock = {
      ...{ now: () => this.clock.now(), elapsed: () => this.clock.elapsed() },
      after: (_, call) => {
        this.#look = call;
        return { stop: () => (this.#look = null) };
      },
    };
    this.#live = new LiveRun(this.dir, clock);
    this.#beside = new BesideRun({ ...this.#world.config, state: { dir: this.dir } }, clock, actionEvents(this.dir));
    this.#live.start();
  }

  get clock() {
    return this.#world.clock;
  }

  get dir(): string {
    return this.#world.stateDir;
  }

  get isAlive(): boolean {
    return this.#life !== null;
  }

  /** What a person does, by the very actions of the commands. */
  act(ask: ActionAsk): Promise<ActionEnd> {
    return executeAction({ stateDir: this.dir }, ask, this.clock);
  }

  /** What the page would be sent now; null before there is a run. */
  view(): ConsoleView | null {
    for (let looks = 0; looks < 4; looks++) {
      const look = this.#look;
      this.#look = null;
      look?.();
    }
    if (this.#live.replay === null) return null;
    const { runs, catchingUp, trouble, writtenAgoMs } = this.#live;
    return consoleView(this.#live.replay, {
      ...{ kind: 'live', bot: this.#beside.bot(writtenAgoMs), runs, catchingUp, budgets: null },
      ...{ ledger: null, events: this.#beside.events(), note: trouble },
    });
  }

  start(): void {
    const { box, config, seed } = this.#world;
    const life = new Life(++this.#lives, this.clock, { skew: () => 0, speed: 1 }, () => undefined);
    this.#life = life;
    const { clock } = life;
    const { log } = memoryLog();
    const journal = this.#watched(
      journalIn(this.#db, {
        ...{ account: 'watched', at: clock.now(), setup: JSON.stringify(config) },
        recordings: { dir: this.dir, earlierBytesMax: 1e9 },
      }),
      life,
    );
    const transport = wireTo({
      ...{ exchange: box.exchange, clock, random: randomOf(seed + life.number), deadlineMs: 2_000 },
      fate: () => (life.isAlive ? this.fate : 'not sent'),
    });
    const venue = {
      ...{ restUrl: 'http://127.0.0.1/api', key: box.account.key, secret: new Secret(box.account.secret), speed: 1 },
      ...{ transport, streamTransport: inProcessStream(box.exchange.stream, clock) },
    };
    const heart = heartbeatIn(this.dir, 'bot', clock);
    const client = clientOf(config, venue, clock, seed + life.number, { journal });
    const hedge = hedgeOf(config, client);
    const opening = RecordingRotation.open({
      ...{ clock, log, timing: config.timing, beside: hedge ? { hedge } : {} },
      bot: { book: config.book, instance: config.instance, resumeCommand: 'puntas resume' },
      state: { journal, latch: retryingLatch(latchIn(this.dir), log), flatten: flattenIn(this.dir) },
      venue: {
        ...{ exchange: client, transferLists: client.transferLists },
        newStream: () => marketStreamOf(config, venue, clock, seed, client),
      },
      roll: { afterMs: Infinity, bytes: Infinity },
      watchers: {
        onTurn: isKeptOut => {
          if (life.isAlive) heart.beat(isKeptOut ? 'kept out' : 'alive');
        },
      },
      makeEngine: (rules, onNews, run) => {
        const engine = engineOf(config, rules, run, onNews);
        if (life.isAlive) this.#engines.set(run, { engine, instrument: rules.instrument });
        return engine;
      },
    });
    void opening.then(
      rotation => {
        if (!life.isAlive) return;
        rotation.start(() => life.kill('it broke'));
        startCanceling({
          ...{ clock, log, box: new RequestBox(this.dir, 'cancel', 'cancelAnswer'), rotation },
          ...{ book: config.book, instance: config.instance },
        });
      },
      () => this.kill(),
    );
  }

  /** As SIGKILL: nothing of it has any further effect. */
  kill(): void {
    this.#life?.kill('SIGKILL');
    this.#life = null;
  }

  close(): void {
    this.kill();
    this.#live.stop();
    this.#db.close();
    this.#world.end();
  }

  /** Whatever becomes durable is compared at once: just then the recording has all that the engine was told. */
  #watched(journal: Journal, life: Life): Journal {
    return {
      ...journal,
      next: (at, setup, bytes) => this.#watched(journal.next(at, setup, bytes), life),
      flush: mark => {
        if (!life.isAlive) throw new Error('dead');
        journal.flush(mark);
        const own = this.#engines.get(journal.run);
        const view = this.view();
        if (own !== undefined && view?.run === journal.run) this.#onMoment({ ...own, at: view.at, view });
      },
      close: () => undefined,
    };
  }
}
