/** A person who changes the configuration of a bot that runs, well and badly, and what must hold of it: each run has one of them whole, and quotes are back soon. */
import { edgeProblem, loadConfig, type Config } from '../../../src/config.ts';
import type { Millis } from '../../../src/core/index.ts';
import { chanceOf, type Chance } from '../world/chance.ts';
import type { Scenario } from '../world/scenario.ts';
import type { World } from '../world/world.ts';
import type { Bot } from './bot.ts';

export type ReloadCounts = {
  readonly asked: number;
  readonly taken: number;
  readonly refused: number;
  /** Good ones that found no good moment, or came while another was under way. */
  readonly putOff: number;
  /** Good ones whose run could not begin: the configuration that was took over again. */
  readonly fellBack: number;
  /** From the end of a run to the first order of the next one in the book. */
  readonly awayMs: readonly Millis[];
};

type Options = {
  readonly world: World;
  readonly scenario: Scenario;
  readonly bot: Bot;
  readonly isCalm: boolean;
  readonly breaks: (law: string, what: string) => void;
  /** Told as one is asked for. */
  readonly asked?: () => void;
};

const PAUSE_MS = [4_000, 16_000] as const;
/** A change of runs, the reads and the decision after it, all of it behind a request budget that a change every few seconds uses up. */
const AWAY_MAX_MS = 12_000;
const PUT_OFF = /^(?:another (?:reload|change of runs)|no good moment|the bot is stopping)/;
/** Maker fee of the account, in parts of 10^-8. */
const MAKER_RATE = 100_000;

export class Reloads {
  readonly #options: Options;
  readonly #chance: Chance;
  #asked = 0;
  #taken = 0;
  #refused = 0;
  #putOff = 0;
  #fellBack = 0;
  readonly #awayMs: Millis[] = [];
  #isUnderWay = false;
  /** When the run ended that gave way to this one. */
  #waits: { readonly run: number; readonly since: Millis } | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#chance = chanceOf(options.world.seed, 'reloads');
    this.#later();
  }

  get counts(): ReloadCounts {
    return {
      asked: this.#asked,
      taken: this.#taken,
      refused: this.#refused,
      putOff: this.#putOff,
      fellBack: this.#fellBack,
      awayMs: this.#awayMs,
    };
  }

  /** An order leaves the bot: it must be one of its run's configuration. */
  sent(originId: string, major: string): void {
    const { bot, breaks, world } = this.#options;
    const run = Number(originId.split('-')[1]);
    const strategy = bot.configOf(run)?.strategy;
    if (strategy?.name !== 'ladder') return breaks('C1', `${originId} is of a run without a configuration`);
    const { amount, levels, levelAmountStep } = strategy;
    const all = Array.from({ length: levels }, (_, i) => Number(amount) + i * Number(levelAmountStep));
    if (all.some(each => Math.abs(each - Number(major)) < 1e-9)) return;
    // What only closes inventory is never more than there is of it.
    if (bot.engine?.book.riskContext(world.clock.now()).reduceOnly === true && Number(major) < Math.max(...all)) return;
    breaks('C1', `${originId} of ${major} is none of the levels of its run: ${all.join(', ')}`);
  }

  /** An order of ours is in the book. */
  rests(originId: string): void {
    const { breaks, isCalm, world } = this.#options;
    if (Number(originId.split('-')[1]) !== this.#waits?.run) return;
    const away = world.clock.elapsed() - this.#waits.since;
    this.#waits = null;
    this.#awayMs.push(Math.round(away));
    if (isCalm && away > AWAY_MAX_MS) breaks('C2', `quotes were away for ${away} ms over a reload`);
  }

  #later(): void {
    const { world } = this.#options;
    world.clock.after(this.#chance.between(...PAUSE_MS), () => {
      // Nothing more once everything must come right.
      if (!world.isFaulty) return;
      this.#change();
      this.#later();
    });
  }

  #change(): void {
    const { bot, breaks, scenario, world } = this.#options;
    const text = drawn(this.#chance, scenario.config);
    if (this.#isUnderWay && bot.lives > 0 && this.#chance.hit(0.8)) return;
    const loaded = loadConfig(text, 'reload');
    const { book, instance, exchange } = scenario.config;
    const isAllowed =
      loaded.ok &&
      JSON.stringify([book, instance, exchange]) ===
        JSON.stringify([loaded.config.book, loaded.config.instance, loaded.config.exchange]);
    const isGood = isAllowed && edgeProblem(loaded.config, MAKER_RATE) === null;
    const isGoodForAnyFee = isAllowed && world.drawn('changed fees') > 0;
    // Who writes what no start would take mends it before there is one.
    if (isGood) bot.writes(loaded.config);
    const { lives } = bot;
    this.#isUnderWay = true;
    world.touched = true;
    world.trace.add(`reload ${text}`);
    this.#options.asked?.();
    void bot.reload(text).then(end => {
      this.#isUnderWay = false;
      world.trace.add(`reload ended ${JSON.stringify(end)}`);
      if (end === null || bot.lives !== lives) return;
      this.#asked++;
      if (end.kind === 'taken') {
        this.#taken++;
        this.#waits = { run: end.run, since: world.clock.elapsed() - end.ms };
        if (!isGood && !isGoodForAnyFee) breaks('C3', `a configuration was taken that no start would take: ${text}`);
        if (loaded.ok && JSON.stringify(bot.configOf(end.run)) !== JSON.stringify(loaded.config))
          breaks('C1', `run ${end.run} is recorded with another configuration than was taken`);
      } else if (!isGood) this.#refused++;
      else if (PUT_OFF.test(end.why)) this.#putOff++;
      else this.#fellBack++;
    });
  }
}

/** The text of a changed file: within what the judges hold the bot to, or wrong. */
function drawn(chance: Chance, config: Config): string {
  const { strategy } = config;
  if (strategy.name !== 'ladder') throw new Error('the simulated bot is a ladder');
  const good = {
    ...config,
    strategy: {
      ...strategy,
      halfSpreadBps: chance.pick([10.6, 11, 12, 13, 16]),
      levels: chance.integer(1, strategy.levels),
      amount: (chance.integer(1, Math.round(Number(strategy.amount) * 1_000)) / 1_000).toFixed(3),
      levelSpacingBps: chance.pick([4, 5, 6, 9]),
      refreshToleranceBps: chance.pick([0.5, 2, 4]),
    },
    limits: { ...config.limits, collarBps: chance.integer(150, config.limits.collarBps) },
    timing: {
      ...config.timing,
      decideEveryMs: chance.pick([500, 1_000, 1_500]),
      staleAfterMs: chance.pick([4_000, config.timing.staleAfterMs]),
      privatePollMs: chance.pick([1_000, 1_500, 2_000]),
    },
  };
  const bad = [
    () => `${JSON.stringify(good)}: [`,
    () => JSON.stringify({ ...good, strategie: {} }),
    () => JSON.stringify({ ...good, limits: { ...good.limits, ordersMax: 0 } }),
    () => JSON.stringify({ ...good, book: 'eth_mxn' }),
    () => JSON.stringify({ ...good, instance: 'other' }),
    () => JSON.stringify({ ...good, exchange: { ...good.exchange, stream: !good.exchange.stream } }),
    () => JSON.stringify({ ...good, strategy: { ...good.strategy, halfSpreadBps: 9 } }),
  ];
  return chance.hit(0.6) ? JSON.stringify(good) : chance.pick(bad)();
}
