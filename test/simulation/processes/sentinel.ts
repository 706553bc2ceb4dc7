/** The sentinel's process: the composition that ships, with a key, a wire and troubles of its own, started again whenever it dies. */
import { liveOrdersMax, otherBooksOf } from '../../../src/config.ts';
import { clientOf } from '../../../src/wiring/bot.ts';
import { Secret, type Exchange, type Transport, type WireRequest } from '../../../src/core/index.ts';
import { Watch } from '../../../src/live/safety/heartbeat.ts';
import type { Latch } from '../../../src/live/safety/latch.ts';
import { watchOver, type SentinelOptions } from '../../../src/live/safety/sentinel.ts';
import { heardLog } from '../../memoryLog.ts';
import type { SentinelJudge } from '../judges/sentinelJudge.ts';
import { Life } from './life.ts';
import type { Network, Watcher } from '../world/network.ts';
import type { Scenario } from '../world/scenario.ts';
import type { Store } from './store.ts';
import { isSuccess } from '../world/wire.ts';
import type { World } from '../world/world.ts';

/** Where a planted bug of the sentinel may sit. */
export type SentinelSeams = {
  readonly options?: (options: SentinelOptions) => SentinelOptions;
  readonly exchange?: (exchange: Exchange) => Exchange;
  readonly latch?: (latch: Latch) => Latch;
};

export type SentinelProcessOptions = {
  readonly world: World;
  readonly scenario: Scenario;
  readonly store: Store;
  readonly judge: SentinelJudge;
  /** A way to the exchange of its own, watched by whoever is given. */
  readonly network: (watcher: Watcher) => Network;
  /** Besides the judge: what holds for every request of ours. */
  readonly watcher: Pick<Watcher, 'tried' | 'sent'>;
  readonly key: string;
  readonly secret: string;
  readonly seams: SentinelSeams;
};

/** Numbers of its lives, apart from the bot's. */
const FIRST_LIFE = 1_000;
/** An answer that takes longer is trouble. */
const SLOW_MS = 1_500;
/** After a lock-out the client asks nothing for so long. */
const LOCKED_MS = 61_000;
const RESTART_MS = 2_000;

export class SentinelProcess {
  readonly #options: SentinelProcessOptions;
  readonly #network: Network;
  /** What the exchange itself answered, while the answer is on its way. */
  readonly #true = new WeakMap<WireRequest, string>();
  #life: Life | null = null;
  #lives = FIRST_LIFE;

  constructor(options: SentinelProcessOptions) {
    this.#options = options;
    const { judge, watcher } = options;
    this.#network = options.network({
      tried: watcher.tried,
      sent: (life, request, topic) => {
        judge.sentinelSent(topic);
        watcher.sent(life, request, topic);
      },
      arrived: (request, _topic, reply) => void this.#true.set(request, reply.body),
      answered: (_life, request, _topic, reply) => {
        if (!isSuccess(reply) || this.#true.get(request) !== reply.body) judge.trouble();
        if (reply.status === 420) judge.trouble(LOCKED_MS);
      },
    });
    const { world } = options;
    world.often('sentinel trouble', 90_000, chance => {
      const life = this.#life;
      if (!life || life.isFrozen) return null;
      const ms = chance.hit(0.5) ? null : chance.between(1_000, 90_000);
      return () => {
        world.count('sentinel trouble');
        if (ms === null) return life.kill('SIGKILL');
        world.trace.add(`sentinel frozen for ${ms.toFixed(0)}`);
        judge.sentinelDown();
        life.freeze(ms);
        world.clock.after(ms, () => this.#life === life && judge.sentinelUp());
      };
    });
  }

  get state(): 'runs' | 'frozen' | 'gone' {
    return this.#life === null ? 'gone' : this.#life.isFrozen ? 'frozen' : 'runs';
  }

  start(): void {
    const { world, scenario, store, judge, seams } = this.#options;
    const life = new Life(
      ++this.#lives,
      world.machineClock,
      { skew: () => world.skewOf('sentinel'), speed: world.speeds.sentinel },
      why => {
        if (this.#life !== life) return;
        world.trace.add(`sentinel dead ${why}`);
        this.#life = null;
        judge.sentinelDown();
        const pause = world.isFaulty ? world.chance('sentinel restart').between(300, 20_000) : RESTART_MS;
        world.clock.after(pause, () => this.start());
      },
    );
    this.#life = life;
    world.touched = true;
    world.trace.add(`sentinel start #${life.number}`);
    judge.sentinelUp();
    const { clock } = life;
    const { config } = scenario;
    const transport = this.#transport(life);
    const venue = {
      ...{ restUrl: 'http://127.0.0.1/api', key: this.#options.key, secret: new Secret(this.#options.secret) },
      ...{ speed: 1, transport },
    };
    const client = clientOf(config, venue, clock, world.seed + life.number);
    const log = heardLog(({ level, text }) => {
      if (life.isAlive) world.trace.add(`log sentinel #${life.number} ${level} ${text}`);
    });
    const latch = store.latch(life, 'sentinel');
    const options: SentinelOptions = {
      exchange: seams.exchange?.(client) ?? client,
      clock,
      log,
      latch: seams.latch?.(latch) ?? latch,
      heartbeat: store.heart(life, 'sentinel'),
      watch: new Watch(
        () => store.pulse('bot'),
        () => clock.elapsed(),
      ),
      book: config.book,
      others: otherBooksOf(config),
      instance: config.instance,
      ttlMs: config.sentinel.ttlMs,
      ordersMax: liveOrdersMax(config, []),
      resumeCommand: 'puntas resume',
    };
    void watchOver(seams.options?.(options) ?? options, new AbortController().signal);
  }

  /** Nothing goes wrong any more: a frozen one is started anew. */
  heal(): void {
    if (this.#life?.isFrozen) this.#life.kill('a person starts it anew');
  }

  /** Tells the judge of every request that has trouble. */
  #transport(life: Life): Transport {
    const { world, judge } = this.#options;
    const inner = this.#network.transport(life);
    return {
      send: request => {
        let isOver = false;
        world.clock.after(SLOW_MS, () => isOver || judge.trouble());
        const answer = inner.send(request);
        answer.then(
          () => (isOver = true),
          () => {
            isOver = true;
            judge.trouble();
          },
        );
        return answer;
      },
      close: () => inner.close(),
    };
  }
}
