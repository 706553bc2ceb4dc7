/** Persons who pause, reduce, cancel, halt, flatten and resume a bot, in any order and at bad moments, by the very actions of the commands. */
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import type { ActionAsk, ActionEnd } from '../../../src/app/actions/actions.ts';
import { cancelOwn } from '../../../src/app/inspect/halt.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { Secret, type Clock, type Millis } from '../../../src/core/index.ts';
import { heardLog } from '../../memoryLog.ts';
import type { PersonJudge, PersonSometime } from '../judges/personJudge.ts';
import { chanceOf, type Chance } from '../world/chance.ts';
import type { Network } from '../world/network.ts';
import type { Scenario } from '../world/scenario.ts';
import type { World } from '../world/world.ts';
import type { Bot } from './bot.ts';
import { Life } from './life.ts';
import type { Store } from './store.ts';

export type ActionCounts = {
  readonly asked: number;
  readonly refused: number;
  /** Without a reason, with an end that has passed, and the like. */
  readonly wrong: number;
  readonly by: Readonly<Record<string, number>>;
  readonly sometimes: Readonly<Partial<Record<PersonSometime, number>>>;
};

export type PersonsOptions = {
  readonly world: World;
  readonly scenario: Scenario;
  readonly bot: Bot;
  readonly store: Store;
  readonly judge: PersonJudge;
  /** Of the commands: with the bot's key. */
  readonly network: Network;
  readonly key: string;
  readonly secret: string;
  /** A person has lifted a halt or a hold. */
  readonly lifted: () => void;
};

/** Numbers of the lives of commands, apart from the bot's and the sentinel's. */
const FIRST_LIFE = 2_000;
const PAUSE_MS = [2_500, 14_000] as const;
/** What nobody has lifted by then is lifted. */
const PATIENCE_MS = [4_000, 35_000] as const;
const PEOPLE = ['Ann', 'bob', 'Çelik', 'the night shift'] as const;
const VERBS = [
  ...(['pause', 'pause', 'pause', 'reduce', 'reduce', 'flatten', 'flatten', 'cancel', 'cancel'] as const),
  ...(['halt', 'halt', 'resume', 'resume', 'resume', 'resume'] as const),
];

export class Persons {
  readonly #o: PersonsOptions;
  readonly #chance: Chance;
  readonly #clock: Clock;
  readonly #by: Record<string, number> = {};
  readonly #seen: Partial<Record<PersonSometime, number>> = {};
  #asked = 0;
  #refused = 0;
  #wrong = 0;
  #commands = 0;
  #isCanceling = false;
  #heldSince: Millis | null = null;
  #patience = 0;

  constructor(options: PersonsOptions) {
    this.#o = options;
    const { world } = options;
    this.#chance = chanceOf(world.seed, 'persons');
    const { machineClock } = world;
    this.#clock = { ...machineClock, now: () => machineClock.now() + world.skewOf('bot') };
    this.#later();
    this.#lookLater();
  }

  get counts(): ActionCounts {
    return { asked: this.#asked, refused: this.#refused, wrong: this.#wrong, by: this.#by, sometimes: this.#seen };
  }

  see(what: PersonSometime): void {
    this.#seen[what] = (this.#seen[what] ?? 0) + 1;
  }

  /** A bad moment: now and then somebody acts just then. */
  provoked(what: PersonSometime): void {
    const { world } = this.#o;
    if (!world.isFaulty || !this.#chance.hit(0.15)) return;
    world.clock.after(this.#chance.between(0, 600), () => {
      if (!world.isFaulty || !this.#mayWrite()) return;
      this.see(what);
      this.#act();
    });
  }

  #later(): void {
    const { world } = this.#o;
    world.clock.after(this.#chance.between(...PAUSE_MS), () => {
      // Nothing more once everything must come right.
      if (!world.isFaulty) return;
      if (this.#mayWrite()) this.#act();
      this.#later();
    });
  }

  /** Somebody looks after what was forgotten. */
  #lookLater(): void {
    const { judge, world } = this.#o;
    world.clock.after(1_000, () => {
      judge.look();
      const now = world.clock.elapsed();
      if (judge.isFree) this.#heldSince = null;
      else if (this.#heldSince === null) {
        this.#heldSince = now;
        this.#patience = this.#chance.between(...PATIENCE_MS);
      } else if (now - this.#heldSince >= (world.isFaulty ? this.#patience : 2_000) && this.#mayWrite()) {
        // One at a time: a pause first, and what it hid after it.
        this.#heldSince = world.isFaulty ? null : now;
        this.#carryOut(this.#ask('resume'));
      }
      this.#lookLater();
    });
  }

  /** A command on a full disk says so and does nothing. */
  #mayWrite(): boolean {
    return !this.#o.store.isFull;
  }

  #act(): void {
    const { bot } = this.#o;
    const { engine } = bot;
    if (engine === null) this.see('an action while no bot ran');
    else if (engine.book.unfinished.some(({ state }) => state === 'unknown'))
      this.see('an action beside an unknown order');
    if (this.#chance.hit(0.06)) return this.#askWrongly();
    const ask = this.#ask(this.#chance.pick(VERBS));
    this.#carryOut(ask);
    if (ask.action === 'halt' && this.#chance.hit(0.3)) this.#cancelBeside();
  }

  #ask(action: Exclude<ActionAsk['action'], 'reload' | 'set'>): ActionAsk {
    const chance = this.#chance;
    const n = ++this.#commands;
    const asked = {
      ...{ id: `act-${n}`, reason: `${action} no. ${n}`, by: chance.pick(PEOPLE) },
      via: chance.pick(['command', 'console'] as const),
    };
    if (action === 'pause')
      return {
        ...asked,
        action,
        ...(chance.hit(0.6) ? { untilMs: this.#clock.now() + chance.integer(1_000, 40_000) } : {}),
      };
    if (action === 'flatten') return { ...asked, action, costMax: chance.pick(['0.5', '2', '10', '50', '400']) };
    return { ...asked, action };
  }

  #carryOut(ask: ActionAsk): void {
    const { judge, store, world } = this.#o;
    this.#asked++;
    this.#by[ask.action] = (this.#by[ask.action] ?? 0) + 1;
    world.touched = true;
    world.trace.add(`action ${ask.action} ${JSON.stringify(ask)}`);
    const held = store.halt !== null || store.hold !== null;
    const ended = judge.asked(ask, this.#clock.now());
    const over = (end: ActionEnd | null) => {
      world.trace.add(`action ${ask.id} ended ${end?.end}`);
      if (end?.end === 'refused') this.#refused++;
      ended(end);
    };
    void executeAction({ stateDir: store.files!.dir }, ask, this.#clock).then(over, (error: unknown) => {
      if (!(error instanceof UsageError)) throw error;
      over(null);
    });
    // All but a cancel has happened by now.
    store.changed();
    if (ask.action === 'resume' && held && store.halt === null && store.hold === null) this.#o.lifted();
  }

  #askWrongly(): void {
    const { judge, store, world } = this.#o;
    this.#wrong++;
    world.touched = true;
    const [pause, flatten, halt] = [this.#ask('pause'), this.#ask('flatten'), this.#ask('halt')] as const;
    const ask = this.#chance.pick<ActionAsk>([
      { ...halt, reason: ' x ' },
      { ...halt, by: '\u200b' },
      { ...pause, action: 'pause', untilMs: this.#clock.now() - 1 },
      { ...flatten, action: 'flatten', costMax: '-5' },
    ]);
    world.trace.add(`action asked wrongly ${JSON.stringify(ask)}`);
    void executeAction({ stateDir: store.files!.dir }, ask, this.#clock).then(
      () => judge.turnedAway(ask, false),
      (error: unknown) => judge.turnedAway(ask, error instanceof UsageError),
    );
  }

  /** As `halt --cancel` does after the halt: in a process of its own, with the bot's key. */
  #cancelBeside(): void {
    const { judge, network, scenario, store, world, key, secret } = this.#o;
    if (this.#isCanceling) return;
    this.#isCanceling = true;
    const life = new Life(
      FIRST_LIFE + this.#commands,
      world.machineClock,
      { skew: () => world.skewOf('bot'), speed: world.speeds.bot },
      () => undefined,
    );
    const log = heardLog(({ level, text }) => world.trace.add(`log command #${life.number} ${level} ${text}`));
    const venue = {
      ...{ restUrl: 'http://127.0.0.1/api', key, secret: new Secret(secret), speed: 1 },
      transport: network.transport(life),
    };
    const config = { ...scenario.config, state: { ...scenario.config.state, dir: store.files!.dir } };
    const { lifts } = this;
    const verified = judge.canceling();
    void cancelOwn(config, venue, life.clock, world.seed + life.number, log).then(({ code }) => {
      this.#isCanceling = false;
      world.trace.add(`halt with cancel ended with ${code}`);
      if (code === 0) verified(this.lifts !== lifts);
    });
  }

  /** How often what held the bot was lifted. */
  get lifts(): number {
    return this.#by['resume'] ?? 0;
  }
}
