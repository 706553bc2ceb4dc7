/** One seed, from the first event to the last check: faults, healing, the operator's stop, and silence. */
import { isAllGone, unverified, type StopReport } from '../../src/live/loop/loopOptions.ts';
import {
  isAtPlace,
  moneyOf,
  pairOf,
  Secret,
  settle,
  TRANSIT,
  VirtualClock,
  type Causes,
  type BookEngine,
  type EngineNews,
  type LedgerEntry,
  type Millis,
} from '../../src/core/index.ts';
import { createVenue, feesOf, linkedFlows, SECOND_VENUE, seededFlow, type Market } from '../../src/sandbox/index.ts';
import type { Config } from '../../src/config.ts';
import { newPause, type ElsewhereAccess } from '../../src/wiring/elsewhere/access.ts';
import { AccountJudge, type ClaimedPosition } from './judges/accountJudge.ts';
import { BooksChecker, Violations } from './judges/booksChecker.ts';
import { BooksJudge } from './judges/booksJudge.ts';
import { BookOperators, type BookActionCounts } from './processes/bookOperators.ts';
import { Bot, type BotEvents, type Seams } from './processes/bot.ts';
import { Checker, type Laws, type OfSeveral, type Violation } from './judges/checker.ts';
import { BookReplies } from './world/bookReplies.ts';
import { booksScenarioOf, configsOf } from './world/booksScenario.ts';
import { DeskFaults } from './world/deskFaults.ts';
import { startDollars } from './world/dollars.ts';
import { ElsewhereWorld, swarmElsewhere } from './world/elsewhereWorld.ts';
import { isCalm, swarmOf, type Fault, type Weights } from './world/faults.ts';
import { ElsewhereJudge, type ElsewhereCounts } from './judges/elsewhereJudge.ts';
import { HedgeJudge, trueMiddle } from './judges/hedgeJudge.ts';
import { LimitsJudge } from './judges/limitsJudge.ts';
import { CALLBACK, InboxWire, startTransactions } from './processes/inbox.ts';
import type { Life } from './processes/life.ts';
import { PersonJudge } from './judges/personJudge.ts';
import { Persons, type ActionCounts } from './processes/persons.ts';
import { Network, type Watcher } from './world/network.ts';
import { startOthers, type QuotedBook } from './world/others.ts';
import { ReplyFaults, type Replies } from './world/replyFaults.ts';
import { Reloads, type ReloadCounts } from './processes/reloads.ts';
import { SentinelProcess } from './processes/sentinel.ts';
import { SentinelJudge } from './judges/sentinelJudge.ts';
import { BOOK, INSTANCE, scenarioOf, type Scenario } from './world/scenario.ts';
import type { Sometime } from './judges/sometimes.ts';
import { VisitedPairs, type States } from './judges/states.ts';
import type { StateDir } from './processes/stateDir.ts';
import { Store } from './processes/store.ts';
import { streamWire } from './world/streamWire.ts';
import { Trace } from './world/trace.ts';
import { envelopeOf, idsIn, isSuccess, orderIn } from './world/wire.ts';
import { World, type Strike } from './world/world.ts';
import { chanceOf } from './world/chance.ts';
import { classesOf, type Keep } from './world/keep.ts';
import { plainer, type Plain } from './world/plain.ts';

export type Run = {
  readonly seed: number;
  /** Fault classes that were on. */
  readonly classes: readonly Fault[];
  readonly violations: readonly Violation[];
  /** SHA-256 over the whole trace. */
  readonly hash: string;
  readonly events: number;
  /** Event of the first violation; null without one. */
  readonly brokeAt: number | null;
  readonly simMs: Millis;
  readonly requests: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly unknowns: number;
  readonly crashes: number;
  readonly fills: number;
  readonly lockOuts: number;
  readonly sometimes: Readonly<Record<string, number>>;
  /** Pairs of states that were visited. */
  readonly pairs: readonly string[];
  /** Seconds with both quotes live, and seconds in all from the first such moment to the operator's stop. */
  readonly uptime: { readonly both: number; readonly all: number };
  readonly calm: boolean;
  /** Null without them. */
  readonly reloads: ReloadCounts | null;
  readonly actions: ActionCounts | null;
  readonly elsewhere: ElsewhereCounts | null;
  readonly books: BookActionCounts | null;
};

export type RunOptions = {
  readonly only?: readonly Fault[];
  /** Probabilities of the classes, instead of one half each. */
  readonly weights?: Weights;
  readonly seams?: Seams;
  /** Time with faults, instead of what the seed draws. */
  readonly safetyMs?: Millis;
  /** Whether a simulated operator changes the configuration every few seconds. */
  readonly reloads?: boolean;
  /** Persons act on it every few seconds; in some seeds beside changes of the configuration. */
  readonly actions?: boolean;
  /** The bot hedges on a second exchange, which has faults of its own. */
  readonly elsewhere?: boolean;
  /** The bot quotes two to four books of one account, and operators stop and resume single ones. */
  readonly books?: boolean;
  /** Ends at the first violation. */
  readonly untilBroken?: boolean;
  /** Classes of faults and single strikes that are kept; replaces `only`. */
  readonly keep?: Keep;
  /** Drawn settings that are put back to their plainest value. */
  readonly plain?: readonly Plain[];
  /** The run is cut off then, whatever is under way. */
  readonly untilMs?: Millis;
  /** Everything heals after this event, and goes on in the continuation of this number (0: as drawn). */
  readonly healAfter?: { readonly event: number; readonly branch: number };
  readonly print?: (line: string, event: number) => void;
  readonly onStrike?: (strike: Strike) => void;
  /** Called after each event. */
  readonly onEvent?: (atMs: Millis) => void;
};

/** Difference between two clocks that counts as far apart, in ms: more than any timeout of the sentinel. */
const CLOCKS_APART_MS = 60_000;
/** Time after an acceptance within which the machine may lose power, while a lying disk still holds the hedge. */
const POWER_LOST_WITHIN_MS = 1_000;
/** A run that does not come to its end in so many events is a failure of the simulator. */
const EVENTS_MAX = 400_000;
/** Reads of all transfer lists, of which there are three. */
const LIST_READS_MIN = 6;
/** Fees of the account by its volume, while nobody changes them. */
const TOP_TIER = { maker: '0.00100', taker: '0.00130' };
const TOP_TIER_USD = { maker: '0.00040', taker: '0.00050' };
const STOP_WITHIN_MS = 240_000;
const QUOTED_WITHIN_MS = 30_000;
/** Time for which one book is halted alone, and time until it must quote after its resume. */
const HALTED_MS = 45_000;
const RESTART_CHECK_BEFORE_MS = 40_000;
/** The oldest book that the bot may be shown and take for the newest, and so while a book is frozen. */
const BOOK_AGE_MS = 35_000;
const FROZEN_BOOK_MS = 160_000;

export async function simulate(seed: number, options: RunOptions = {}): Promise<Run> {
  const { keep, onStrike, print } = options;
  const clock = new VirtualClock();
  const trace = new Trace(() => clock.elapsed(), print ? line => print(line, world.events) : null);
  // Simulated operators that change the configuration support only the ladder.
  const hasLadder = options.reloads === true || options.actions === true;
  const isElsewhere = options.elsewhere === true;
  const drawn = swarmOf(seed, keep ? classesOf(keep) : options.only, options.weights);
  const swarm = isElsewhere ? swarmElsewhere(drawn) : drawn;
  const areSeveral = options.books === true;
  const whole = areSeveral
    ? booksScenarioOf(seed, swarm)
    : scenarioOf(seed, swarm, !hasLadder && !isElsewhere, isElsewhere);
  const scenario = plainer(whole, options.plain ?? []);
  const world: World = new World(seed, clock, swarm, trace, { keep, onStrike });
  trace.add(`seed ${seed} ${JSON.stringify([...swarm])} ${JSON.stringify(scenario.config)}`);
  return new Simulation(world, scenario, options).run();
}

type StopClaim = Pick<StopReport, 'left' | 'unread' | 'ledgerMatches'>;

class Simulation {
  readonly #world: World;
  readonly #scenario: Scenario;
  readonly #options: RunOptions;
  readonly #store: Store;
  readonly #checker: Laws;
  /** Books that the bot quotes; one, except in a run with several. */
  readonly #quoted: readonly (QuotedBook & { readonly checker: Checker; readonly limits: LimitsJudge })[];
  /** Judge of several books together, and the operators who stop single ones; `null` with one book. */
  readonly #together: AccountJudge | null;
  readonly #operators: BookOperators | null;
  readonly #bot: Bot;
  readonly #reloads: Reloads | null;
  readonly #persons: Persons | null;
  readonly #personJudge: PersonJudge | null;
  readonly #sentinel: SentinelProcess | null;
  readonly #judge: SentinelJudge | null;
  readonly #hedges: HedgeJudge | null;
  /** Second exchange, and the judge of the hedges there; `null` if there is none. */
  readonly #there: ElsewhereWorld | null;
  readonly #elsewhere: ElsewhereJudge | null;
  readonly #inbox: InboxWire | undefined;
  readonly #exchange: ReturnType<typeof createVenue>;
  readonly #replies: Replies;
  readonly #markets: readonly Market[];
  #stopDollars: () => void = () => undefined;
  readonly #account: { readonly id: string; readonly key: string; readonly secret: string };
  readonly #unknown = new Set<string>();
  /** Oids that the bot was told are finished. */
  readonly #finished = new Set<string>();
  /** Whether the bot does not quote because the balances differ from the ledger. */
  #differed = false;
  #brokeAt: number | null = null;
  /** Answers about transfers that the present life has read: without any, it takes no list for the cause. */
  #lists = { life: 0, reads: 0 };
  /** Whether the bot dies now because its machine loses power. */
  #losesPower = false;
  #crashes = 0;
  #fills = 0;
  #unknowns = 0;
  #sampledAt = 0;
  /** By book: last time at which the bot reported why a side has less than it wants to quote. */
  readonly #excusedAt = new Map<string, Record<'buy' | 'sell', Millis>>();
  #lastLedger: ReadonlyMap<string, bigint> | null = null;
  #lastBooks: ReadonlyMap<string, Causes> | null = null;
  #lastPositions: readonly ClaimedPosition[] | null = null;
  readonly #books: BooksJudge;
  readonly #pairs = new VisitedPairs();
  #lastStop: StopClaim | null = null;

  constructor(world: World, scenario: Scenario, options: RunOptions) {
    this.#world = world;
    this.#scenario = scenario;
    this.#options = options;
    const tradeDelay = world.drawn('late trade records');
    const slow = world.drawn('slow matching');
    if (tradeDelay > 0) world.count('late trade records');
    this.#exchange = createVenue({
      ...(scenario.hasInbox
        ? { deliveries: { post: (url, headers, body) => this.#inbox!.post(url, headers, body) } }
        : {}),
      clock: world.venueClock,
      seed: world.seed,
      switches: {
        tradeRecordDelayMs: tradeDelay === 0 ? 25 : Math.round(tradeDelay * 15_000),
        engineDelayMinMs: slow === 0 ? 1 : 20,
        engineDelayMaxMs: slow === 0 ? 50 : Math.round(50 + slow * 2_000),
        cancelTiming: scenario.cancelTiming,
        // The limits are the bot's to keep; those of other programs are not simulated.
        privatePerMinute: 600,
        ...scenario.lists,
        ...scenario.desks,
        webhookBackOffMaxMs: 5_000,
        webhookAttemptsMax: 1_000,
      },
    });
    const exchange = this.#exchange;
    const configs = configsOf(scenario);
    const areSeveral = configs.length > 1;
    const groups = configs.map(({ book }) => feesOf(pairOf(book)[1]).group);
    const volume30d = Object.fromEntries(['mxn', ...groups].map(group => [group, '200000000']));
    this.#account = exchange.openAccount({ balances: scenario.balances, volume30d });
    this.#store = new Store(
      world,
      {
        beat: (whose, state, read) => {
          if (whose === 'bot') this.#judge?.botBeat(state, read);
          else this.#judge?.sentinelBeat();
        },
        readUntold: () => this.#judge?.readUntold(),
        held: (hold, by) => {
          if (hold !== null) this.#sentinelHeld();
          else this.#judge?.holdLifted(by);
        },
        latched: by => {
          this.#personJudge?.latched(by);
          if (by === 'bot' && areSeveral) this.#checker.halted('by the bot');
          if (by !== 'sentinel') return;
          this.#sentinelLatched();
        },
        hedges: rows => {
          this.#hedges?.kept(rows);
          this.#elsewhere?.kept(rows);
        },
      },
      options.actions === true || areSeveral,
      areSeveral,
    );
    const { config } = scenario;
    const home = {
      ...{ exchange, id: this.#account.id },
      isKnown: () => {
        const { engine } = this.#bot;
        const hasLists = this.#lists.life === this.#bot.lives && this.#lists.reads >= LIST_READS_MIN;
        return (
          hasLists &&
          !this.#store.isLifting &&
          engine?.account.isReconciled === true &&
          engine.elsewhere?.view.isReconciled === true
        );
      },
      onItsWay: (currency: string) => this.#bot.engine?.transit.held(currency) ?? 0n,
      transferred: () => this.#checker.transferred(true),
    };
    this.#there = scenario.there && new ElsewhereWorld(world, scenario.there, home);
    this.#elsewhere = this.#there && this.#elsewhereJudge(this.#there);
    const violations = areSeveral ? new Violations(() => world.clock.elapsed()) : null;
    const nonces = new Set<string>();
    this.#quoted = configs.map(own => {
      const isHome = configs.find(({ book }) => pairOf(book)[0] === pairOf(own.book)[0]) === own;
      const limits = this.#limitsJudge(own);
      const shared = violations && { isHome, nonces, breaks: violations.add };
      const checker = this.#checkerOf(own, limits, tradeDelay > 0, shared);
      return { symbol: own.book, checker, limits, replies: this.#repliesOf(own.book, checker) };
    });
    this.#checker = violations
      ? new BooksChecker(new Map(this.#quoted.map(({ symbol, checker }) => [symbol, checker])), violations)
      : this.#quoted[0]!.checker;
    this.#hedges = config.hedge && this.#there === null ? this.#hedgeJudge(config.hedge) : null;
    this.#books = new BooksJudge({
      exchange,
      accountId: this.#account.id,
      breaks: (law, what) => this.#checker.breaks(law, what),
      began: scenario.balances,
    });
    this.#replies = areSeveral
      ? new BookReplies(new Map(this.#quoted.map(({ symbol, replies }) => [symbol, replies])))
      : this.#quoted[0]!.replies;
    this.#together = areSeveral ? this.#accountJudge(configs) : null;
    this.#operators = areSeveral
      ? new BookOperators({
          ...{ world, store: this.#store, books: configs.map(({ book }) => book) },
          lifted: () => this.#lifted(),
        })
      : null;
    this.#judge = scenario.hasSentinel
      ? new SentinelJudge({
          now: () => world.clock.elapsed(),
          marks: world.marks,
          isLatched: () => this.#store.halt !== null,
          isHeld: () => this.#store.hold !== null,
          breaks: (law, what) => this.#checker.breaks(law, what),
          promises: {
            ttlMs: config.sentinel.ttlMs,
            isRequired: config.sentinel.required,
            isCalm: this.#isCalm,
          },
        })
      : null;
    const network = new Network({
      world,
      exchange,
      replies: this.#replies,
      ...(this.#hedges
        ? {
            desk: new DeskFaults({
              world,
              exchange,
              deadlineMs: config.exchange.requestTimeoutMs,
              heldMaxMs: scenario.heldMaxMs,
            }),
          }
        : {}),
      watcher: this.#watcher(),
      deadlineMs: config.exchange.requestTimeoutMs,
      heldMaxMs: scenario.heldMaxMs,
    });
    this.#inbox = scenario.hasInbox ? this.#inboxWire() : undefined;
    this.#bot = new Bot({
      inbox: this.#inbox,
      world,
      scenario,
      store: this.#store,
      network,
      stream: life =>
        streamWire({
          world,
          exchange,
          life,
          isCut: book => network.isStreamCut(book),
          onFrame: book => {
            const own = this.#quoted.find(({ symbol }) => symbol === book) ?? this.#quoted[0]!;
            own.checker.streamed(life.number);
          },
        }),
      key: this.#account.key,
      secret: this.#account.secret,
      seams: options.seams ?? {},
      events: this.#botEvents(),
      elsewhere: this.#there ? this.#accessElsewhere(this.#there) : undefined,
    });
    // Simulated operators may stop quotes, so quotes may be absent.
    const isAway = options.actions === true;
    this.#reloads =
      options.reloads === true || (isAway && world.chance('reloads beside actions').hit(0.3))
        ? new Reloads({
            ...{ world, scenario, bot: this.#bot, isCalm: this.#isCalm && !isAway },
            breaks: (law, what) => this.#checker.breaks(law, what),
            asked: () => this.#persons?.provoked('an action at a reload'),
          })
        : null;
    const { files } = this.#store;
    this.#personJudge = files === null || options.actions !== true ? null : this.#judgeOfPersons(files);
    this.#persons = this.#personJudge === null ? null : this.#personsWith(this.#personJudge);
    this.#sentinel = this.#judge
      ? new SentinelProcess({
          world,
          scenario,
          store: this.#store,
          judge: this.#judge,
          network: watcher =>
            new Network({
              world,
              exchange,
              replies: this.#replies,
              watcher,
              deadlineMs: config.exchange.requestTimeoutMs,
              heldMaxMs: scenario.heldMaxMs,
            }),
          watcher: {
            tried: (request, topic) => this.#checker.tried(request, topic),
            sent: (_life, request, topic) => this.#checker.sentByOther(request, topic),
          },
          ...exchange.venue.addKey(this.#account.id, {}),
          seams: options.seams?.sentinel ?? {},
        })
      : null;
    this.#markets = areSeveral
      ? this.#linkedMarkets()
      : [this.#there?.start() ?? seededFlow({ seed: world.seed, profile: scenario.profile })];
    this.#markets.forEach((market, i) => market.start(exchange.marketplace(configs[i]!.book)));
    if (scenario.dollarPremiumBps !== null)
      this.#stopDollars = startDollars(world, exchange, scenario.dollarPremiumBps);
    startOthers({
      world,
      exchange,
      accountId: this.#account.id,
      bot: this.#bot,
      store: this.#store,
      checker: this.#checker,
      judge: this.#judge,
      books: this.#quoted,
      mayResume: () => this.#there?.hasUnbooked !== true,
    });
  }

  #checkerOf(config: Config, limits: LimitsJudge, recordsAreLate: boolean, ofSeveral: OfSeveral | null): Checker {
    const [world, exchange] = [this.#world, this.#exchange];
    const { balances, usesStream } = this.#scenario;
    const [major] = pairOf(config.book);
    // If omitted, the target is the opening balance. Of a book that is no home, nothing is there at the opening.
    const began = ofSeveral?.isHome === false ? '0' : (balances[major] ?? '0');
    const target = config.inventory.target ?? began;
    return new Checker({
      exchange,
      accountId: this.#account.id,
      now: () => world.clock.elapsed(),
      marks: world.marks,
      intentOf: id => this.#store.intent(id),
      isCalm: this.#isCalm,
      recordsAreLate,
      hedges: () => this.#hedges,
      elsewhere: () => this.#elsewhere,
      shown: mid => {
        this.#hedges?.shown(mid);
        limits.shown(mid);
      },
      ...(ofSeveral && { ofSeveral }),
      promises: {
        book: config.book,
        prefix: `${INSTANCE}-`,
        levels: (config.strategy.levels ?? 1) + (config.fillSamples === undefined ? 0 : 1),
        isReadTwice: config.reference !== undefined && config.reference.sources === undefined,
        positionMax: BigInt(Math.round(Number(config.limits.positionMax) * 1e8)),
        opening: BigInt(
          Math.round((Number(began) + Number(this.#scenario.there?.balances[major] ?? 0) - Number(target)) * 1e8),
        ),
        collarBps: config.limits.collarBps,
        // Ages that the bot measures with its own clock.
        staleAfterMs: config.timing.staleAfterMs / world.speeds.bot,
        privateStaleAfterMs: Math.max(10_000, 3 * config.timing.privatePollMs) / world.speeds.bot,
        minuteMs: 60_000 / world.speeds.bot,
        messagesPerMinute: config.halts.messagesPerMinute,
        usesStream,
        earnsFees: !config.nextTierCounts && config.fillSamples === undefined,
      },
    });
  }

  #repliesOf(book: string, checker: Checker): ReplyFaults {
    const world = this.#world;
    const account = this.#exchange.venue.accounts.get(this.#account.id)!;
    const tick = Number(this.#exchange.venue.books.get(book)!.instrument.tick);
    return new ReplyFaults({
      world,
      book,
      ours: side =>
        new Set(
          [...account.active.values()]
            .filter(order => order.side === side && order.book === book && order.originId?.startsWith(`${INSTANCE}-`))
            .map(order => Number((order.price * tick).toFixed(8))),
        ),
      onRules: factors => {
        if (factors[1] !== 1 && account.active.size > 0) world.marks.see('the tick changed under live orders');
        checker.rulesChanged(factors);
      },
    });
  }

  #accountJudge(configs: readonly Config[]): AccountJudge {
    const world = this.#world;
    const { balances } = this.#scenario;
    const targets = configs.flatMap(({ book, inventory: { target } }) =>
      target === undefined ? [] : [[pairOf(book)[0], moneyOf(target)] as const],
    );
    const limits = Object.entries(configs[0]!.accountLimits?.currencies ?? {});
    return new AccountJudge({
      ...{ exchange: this.#exchange, accountId: this.#account.id, checker: this.#checker, prefix: `${INSTANCE}-` },
      ...{ books: configs.map(({ book }) => book), began: balances, targets: new Map(targets) },
      limits: new Map(limits.map(([currency, most]) => [currency, moneyOf(most)])),
      areFundsOwn: (['trades of others', 'orders of others', 'transfers', 'orphans', 'lying disk'] as const).every(
        fault => world.drawn(fault) === 0,
      ),
      stoppedSince: book => this.#operators?.stoppedSince(book) ?? null,
      now: () => world.clock.elapsed(),
    });
  }

  /** An operator has lifted a halt or a hold of the whole bot. */
  #lifted(): void {
    this.#checker.haltLifted();
    this.#judge?.lifted();
    this.#world.marks.see('a halt was lifted');
  }

  #accessElsewhere(there: ElsewhereWorld): (life: Life) => ElsewhereAccess {
    const { key, secret } = there.account;
    const { requestTimeoutMs = 5_000 } = this.#scenario.config.elsewhere ?? {};
    return life => ({
      ...{ venue: SECOND_VENUE, book: this.#scenario.there!.book, restUrl: 'http://127.0.0.1/api' },
      ...{ key, secret: new Secret(secret), pause: newPause() },
      transport: there.transport(life, requestTimeoutMs, this.#elsewhere!),
    });
  }

  #elsewhereJudge(there: ElsewhereWorld): ElsewhereJudge {
    const { strategy, hedge } = this.#scenario.config;
    const keys = hedge?.elsewhere;
    if (keys === undefined || strategy.name !== 'ladder') throw new Error('expected a ladder that hedges elsewhere');
    const [amount, step] = [moneyOf(strategy.amount), moneyOf(strategy.levelAmountStep)];
    const levels = BigInt(strategy.levels);
    const [major, minor] = pairOf(this.#scenario.there!.book);
    const [, quote] = pairOf(BOOK);
    return new ElsewhereJudge({
      here: { exchange: this.#exchange, id: this.#account.id },
      there: { exchange: there.exchange, id: there.account.id },
      ...{ place: SECOND_VENUE, major, minor, persons: currency => there.personsOf(currency) },
      rate: () => (minor === quote ? 10n ** 18n : there.midOf(`${minor}_${quote}`)),
      mid: () => trueMiddle({ exchange: this.#exchange, book: BOOK, ours: side => this.#lotsOf(side) }),
      hasRejects: this.#world.drawn('elsewhere rejects') > 0,
      ...{ now: () => this.#world.clock.elapsed(), life: () => this.#bot.lives },
      ...{ kept: () => this.#store.hedges, driftMax: moneyOf(keys.driftMax) },
      breaks: (law, what) => this.#checker.breaks(law, what),
      live: side => {
        let lots = 0;
        for (const left of this.#lotsOf(side).values()) lots += left;
        return BigInt(lots) * this.#exchange.venue.books.get(BOOK)!.instrument.lotMoney;
      },
      bounds: { band: moneyOf(hedge!.band!), debtMax: moneyOf(keys.debtMax), failuresMax: keys.failuresMax },
      fullSide: levels * amount + (step * levels * (levels - 1n)) / 2n,
    });
  }

  #judgeOfPersons(files: StateDir): PersonJudge {
    const { clock } = this.#world;
    return new PersonJudge({
      files,
      now: () => clock.elapsed(),
      wall: () => clock.now(),
      skew: () => this.#world.skewOf('bot'),
      standing: () => this.#checker.standing(),
      live: () => this.#checker.live(),
      hedges: this.#hedges !== null,
      breaks: (law, what) => this.#checker.breaks(law, what),
      see: what => this.#persons?.see(what),
    });
  }

  #personsWith(judge: PersonJudge): Persons {
    const { config, heldMaxMs } = this.#scenario;
    const [world, exchange, replies] = [this.#world, this.#exchange, this.#replies];
    const { key, secret } = this.#account;
    return new Persons({
      ...{ world, scenario: this.#scenario, bot: this.#bot, store: this.#store, judge, key, secret },
      network: new Network({
        ...{ world, exchange, replies, deadlineMs: config.exchange.requestTimeoutMs, heldMaxMs },
        watcher: {
          tried: (request, topic) => this.#checker.tried(request, topic),
          sent: (_life, request, topic) => this.#checker.sentByOther(request, topic),
          arrived: () => undefined,
          answered: () => undefined,
        },
      }),
      lifted: () => {
        this.#checker.haltLifted();
        this.#judge?.lifted();
        world.marks.see('a halt was lifted');
      },
    });
  }

  #inboxWire(): InboxWire {
    const world = this.#world;
    const { venue, webhooks } = this.#exchange;
    webhooks.register(venue.accounts.get(this.#account.id)!, CALLBACK);
    startTransactions(world, this.#exchange, this.#account.id, () => this.#checker.transferred(true));
    const engine = () => this.#bot.engine;
    return new InboxWire({
      world,
      store: this.#store,
      breaks: (law, what) => this.#checker.breaks(law, what),
      numbers: () =>
        [...(engine()?.book.snapshot(world.clock.now()).booked.holdings ?? [])]
          .map(([name, sum]) => `${name} ${sum}`)
          .join(),
      seams: this.#options.seams?.inbox?.(engine) ?? {},
    });
  }

  #hedgeJudge({ costMaxBps, quoteLifeMinMs, venues }: NonNullable<Scenario['config']['hedge']>): HedgeJudge {
    const world = this.#world;
    const [major = '', minor = ''] = BOOK.split('_');
    return new HedgeJudge({
      exchange: this.#exchange,
      accountId: this.#account.id,
      book: BOOK,
      major,
      minor,
      now: () => world.clock.elapsed(),
      marks: world.marks,
      breaks: (law, what) => this.#checker.breaks(law, what),
      ours: side => this.#lotsOf(side),
      kept: () => this.#store.hedges,
      byBook: venues.includes('book'),
      costMaxBps,
      quoteLifeMinMs,
      accepted: hedge => {
        this.#personJudge?.accepted(hedge);
        for (const { limits } of this.#quoted) limits.accepted(hedge);
      },
      bookAgeMaxMs: this.#bookAgeMaxMs,
    });
  }

  #linkedMarkets(): readonly Market[] {
    const { seed } = this.#world;
    const correlation = chanceOf(seed, 'linked books').pick([0, 0.7]);
    const flows = linkedFlows({ seed, correlation });
    return this.#quoted.map(({ symbol }) => {
      const [base, quote] = pairOf(symbol);
      return flows.here(base, quote, false);
    });
  }

  #limitsJudge({ book, hedge, limits: { orderAmountMax, priceMove } }: Scenario['config']): LimitsJudge {
    const world = this.#world;
    return new LimitsJudge({
      now: () => world.clock.elapsed(),
      marks: world.marks,
      breaks: (law, what) => this.#checker.breaks(law, what),
      mid: () => {
        const middle = trueMiddle({ exchange: this.#exchange, book, ours: side => this.#lotsOf(side, book) });
        return middle === null ? null : Number(middle) / 1e18;
      },
      orderAmountMax: Number(orderAmountMax ?? Infinity),
      priceMove,
      bookAgeMaxMs: this.#bookAgeMaxMs,
      costDayMax: hedge?.costDayMax === undefined ? null : moneyOf(hedge.costDayMax),
    });
  }

  get #bookAgeMaxMs(): Millis {
    return this.#world.drawn('frozen book') > 0 ? FROZEN_BOOK_MS : BOOK_AGE_MS;
  }

  /** Returns the open lots of the bot's live orders by price in ticks. */
  #lotsOf(side: 'buy' | 'sell', book = BOOK): ReadonlyMap<number, number> {
    const lots = new Map<number, number>();
    for (const order of this.#exchange.venue.accounts.get(this.#account.id)!.active.values()) {
      if (order.side === side && order.book === book && order.originId?.startsWith(`${INSTANCE}-`))
        lots.set(order.price, (lots.get(order.price) ?? 0) + order.original - order.filled);
    }
    return lots;
  }

  async run(): Promise<Run> {
    const safetyMs = this.#options.safetyMs ?? this.#scenario.safetyMs;
    this.#bot.start();
    this.#sentinel?.start();
    await this.#advance(safetyMs);
    if (!this.#isOver()) await this.#heal();
    if (!this.#isOver()) await this.#stop();
    for (const market of this.#markets) market.stop();
    this.#there?.stopMarket();
    this.#stopDollars();
    this.#exchange.close();
    this.#there?.exchange.close();
    if (!this.#isOver()) this.#inbox?.check(this.#exchange);
    this.#inbox?.close();
    this.#store.close();
    return this.#report();
  }

  /** Runs the phase without faults. The bot must recover without help, except for the actions of an operator. */
  async #heal(): Promise<void> {
    const world = this.#world;
    const { healMs } = this.#scenario;
    world.trace.add('heal');
    world.heal();
    const { branch = 0 } = this.#options.healAfter ?? {};
    if (branch > 0) world.branch(branch);
    this.#exchange.venue.set({
      ...{ tradeRecordDelayMs: 25, engineDelayMinMs: 1, engineDelayMaxMs: 20, transferListDelayMs: 0, trading: 'on' },
    });
    this.#there?.heal();
    if (world.drawn('changed fees') > 0)
      for (const { symbol } of this.#quoted)
        this.#exchange.venue.changeBook(symbol, {}, pairOf(symbol)[1] === 'usd' ? TOP_TIER_USD : TOP_TIER);
    this.#store.fill(false);
    const { life } = this.#bot;
    if (
      life &&
      (life.isFrozen || this.#quoted.some(({ replies }) => replies.tickFactor !== 1 || replies.amountFactor !== 1))
    ) {
      life.kill('a person starts it anew');
    }
    life?.dieAtStep(0);
    this.#sentinel?.heal();
    for (const { replies } of this.#quoted) replies.heal();
    await this.#advance(healMs - RESTART_CHECK_BEFORE_MS);
    if (this.#isOver()) return;
    // A run that began while healing counts its fence from its own start.
    const isOpen = ({ state }: { readonly state: string }): boolean =>
      state === 'unknown' || state === 'closed-unsettled';
    if (this.#hedges?.isOpen === true || this.#bot.engine?.unfinished.some(isOpen))
      await this.#advance(Math.max(0, healMs - RESTART_CHECK_BEFORE_MS - this.#bot.ageMs));
    await this.#checkRestart();
    if (this.#isOver()) return;
    const engine = this.#bot.engine;
    this.#checkQuoting();
    await this.#checkOneHalted();
    if (this.#isOver()) return;
    const old = (engine?.unfinished ?? []).filter(
      order => order.state === 'unknown' && order.placedAt < world.clock.now() - healMs,
    );
    this.#checker.checkNoUnknown(old.map(order => order.id));
    const { trades } = this.#exchange.venue.accounts.get(this.#account.id)!;
    const filledAgoMs = world.clock.elapsed() - (trades.newest()?.readableAt ?? -Infinity);
    const evidenceMs = 2 * this.#scenario.config.timing.tradeReportDelayMaxMs;
    this.#hedges?.checkNothingUnknown(world.clock.elapsed() - healMs, filledAgoMs, evidenceMs);
  }

  /** Halted alone, a book has no orders, and the others go on; after its resume it goes on too. */
  async #checkOneHalted(): Promise<void> {
    const operators = this.#operators;
    const chance = this.#world.chance('one book halted');
    if (operators === null || this.#store.halt !== null || !this.#bot.isRunning || !chance.hit(0.6)) return;
    const { symbol, checker } = chance.pick(this.#quoted);
    operators.halts(symbol);
    await this.#advance(HALTED_MS);
    if (this.#isOver()) return;
    const left = checker.live();
    if (left.length > 0) this.#checker.breaks('B2', `${symbol} is halted, and ${left.join(', ')} live`);
    this.#checkQuoting();
    operators.resumes(symbol);
    await this.#advance(HALTED_MS);
    if (!this.#isOver()) this.#checkQuoting();
  }

  #checkQuoting(): void {
    const { clock } = this.#world;
    const { engine } = this.#bot;
    const excuse = (side: 'buy' | 'sell', symbol: string): string | null => {
      if (engine === null) return null;
      const halted = this.#operators === null ? engine.haltedBecause !== null : this.#operators.isHeld(symbol);
      if (halted || this.#store.halt !== null) return 'halted';
      if (this.#checker.wasHaltedWithin(QUOTED_WITHIN_MS)) return 'halted a moment ago';
      const { unexplained } = engine.account;
      if (unexplained !== null && this.#bot.listsCannotTell) return 'waits for a person, and halts next';
      if (unexplained !== null && this.#checker.hasUnlistedTransfer && clock.now() < unexplained.haltsAt + 5_000)
        return 'waits for a list that will not show the transfer, and halts next';
      // A limit may have held until a moment ago, or the run may just be giving way to the next.
      const isExcused = clock.elapsed() - this.#excused(symbol)[side] < QUOTED_WITHIN_MS;
      return isExcused ? 'the bot said which limit forbids it' : null;
    };
    this.#checker.checkQuoting(QUOTED_WITHIN_MS, excuse);
  }

  #excused(symbol: string): Record<'buy' | 'sell', Millis> {
    let at = this.#excusedAt.get(symbol);
    if (at === undefined) this.#excusedAt.set(symbol, (at = { buy: -Infinity, sell: -Infinity }));
    return at;
  }

  /** Killed while nothing is unknown, the bot must quote again within seconds. */
  async #checkRestart(): Promise<void> {
    const world = this.#world;
    const engine = this.#bot.engine;
    const known = new Set(engine?.unfinished.map(order => order.id));
    const isQuiet =
      engine !== null &&
      this.#bot.isRunning &&
      engine.haltedBecause === null &&
      engine.books.every(book => book.snapshot(world.clock.now()).quoting === null) &&
      engine.unfinished.every(order => order.state === 'open' || order.state === 'partially filled') &&
      engine.unfinished.length > 0 &&
      this.#hedges?.isOpen !== true &&
      // The mean of the last trades begins with the first trade that is seen: that is the market's to bring.
      this.#scenario.config.fairValue?.lastTrades === undefined &&
      // An end that is not on disk yet is unknown to the next run.
      this.#store.openIntents().every(id => known.has(id));
    if (!isQuiet || !world.chance('restart check').hit(0.5)) {
      await this.#advance(RESTART_CHECK_BEFORE_MS);
      return;
    }
    this.#bot.life!.kill('a restart is measured');
    const from = world.clock.elapsed();
    let quotedAfter: number | null = null;
    for (let ms = 0; ms < RESTART_CHECK_BEFORE_MS; ms += 100) {
      await this.#advance(100);
      const life = this.#bot.life;
      const run = life === null ? null : this.#bot.run;
      const isQuoting = [...this.#liveOfOurs()].some(order => order.originId!.split('-')[1] === String(run));
      if (isQuoting) quotedAfter ??= world.clock.elapsed() - from;
      // The bot may quote, and the strategy or a limit gives the reason why it does not.
      const excused = this.#quoted.map(({ symbol }) => this.#excused(symbol));
      if (excused.every(({ buy, sell }) => Math.min(buy, sell) > from)) quotedAfter ??= world.clock.elapsed() - from;
      if (this.#store.halt !== null) quotedAfter ??= 0;
    }
    if (!this.#isOver()) this.#checker.checkRestart(quotedAfter);
  }

  *#liveOfOurs(): Iterable<{ readonly originId: string | undefined }> {
    for (const order of this.#exchange.venue.accounts.get(this.#account.id)!.active.values()) {
      if (order.originId?.startsWith(`${INSTANCE}-`)) yield order;
    }
  }

  async #stop(mayRepeat = true): Promise<void> {
    const world = this.#world;
    world.trace.add('the operator stops the bot');
    this.#checker.operatorStops();
    this.#lastStop = null;
    for (let ms = 0; ms < STOP_WITHIN_MS && this.#lastStop === null; ms += 500) {
      if (this.#bot.isRunning) this.#bot.stop(true);
      await this.#advance(500);
      if (this.#isOver()) return;
    }
    const stop = this.#lastStop as StopClaim | null;
    if (stop === null) {
      this.#checker.checkStopped(['the bot did not stop']);
      return;
    }
    this.#checker.checkStopped(unverified(stop));
    if (!stop.ledgerMatches && mayRepeat) {
      // The bot has said so: money that no list tells of, behind hedges under way. A person looks, starts it again, and
      // stops it once it is through.
      world.trace.add('a person looks at the difference');
      this.#checker.operatorStarts();
      this.#bot.start();
      await this.#advance(2 * this.#scenario.healMs);
      if (this.#isOver()) return;
      return this.#stop(false);
    }
    // Whatever arrives late rests where it is seen.
    for (const market of this.#markets) market.stop();
    this.#there?.stopMarket();
    this.#stopDollars();
    await this.#advance(this.#scenario.quietMs);
    if (this.#isOver()) return;
    // Money that persons sent, and of whose departure no list told the bot, is theirs to book.
    const isTheirs = this.#there?.hasUnbooked === true && stop.ledgerMatches !== true;
    this.#checker.checkQuiet(isTheirs ? null : this.#lastLedger, stop.ledgerMatches === true);
    this.#elsewhere?.checkEnd(isTheirs ? null : this.#lastBooks);
    if (this.#lastPositions !== null && this.#isWholeLedger) this.#together?.checkPositions(this.#lastPositions);
    this.#books.check(...this.#booksHere());
    this.#checker.checkNothingOpen(this.#store.openIntents());
  }

  /** Ledger and entries of the bot's own exchange. */
  #booksHere(): readonly [ReadonlyMap<string, Causes> | null, readonly LedgerEntry[]] {
    const isHere = (name: string) => !isAtPlace(name, SECOND_VENUE) && !isAtPlace(name, TRANSIT);
    const books = this.#lastBooks && new Map([...this.#lastBooks].filter(([name]) => isHere(name)));
    return [books, this.#store.entries().filter(({ source }) => isHere(source))];
  }

  /** Whether the ledger began with the opening balances, before any trade. */
  get #isWholeLedger(): boolean {
    const began = this.#scenario.balances;
    return [...(this.#lastBooks ?? [])].every(([name, { opening }]) => opening === moneyOf(began[name] ?? '0'));
  }

  #isOver(): boolean {
    const isBroken = this.#checker.violations.length > 0;
    if (isBroken) this.#brokeAt ??= this.#world.events;
    return (this.#options.untilBroken === true && isBroken) || this.#isCut;
  }

  get #isCut(): boolean {
    const next = this.#world.clock.nextDue() ?? Infinity;
    return next > (this.#options.untilMs ?? Infinity);
  }

  /** The time of faults ends here, as it was asked for. */
  #healsNow(): boolean {
    const { isFaulty, events } = this.#world;
    return isFaulty && events === this.#options.healAfter?.event;
  }

  async #advance(ms: Millis): Promise<void> {
    const world = this.#world;
    const { clock } = world;
    const until = clock.elapsed() + ms;
    await settle();
    for (let due = clock.nextDue(); due !== undefined && due <= until; due = clock.nextDue()) {
      if (this.#isOver() || this.#healsNow()) return;
      if (++world.events > EVENTS_MAX) throw new Error(`seed ${world.seed} does not end`);
      clock.runNext();
      if (world.touched) {
        world.touched = false;
        await settle();
      }
      this.#checker.look();
      this.#elsewhere?.look();
      this.#together?.look();
      this.#options.onEvent?.(clock.elapsed());
      if (clock.elapsed() - this.#sampledAt >= 1_000) this.#sample();
    }
    if (this.#isOver() || this.#healsNow()) return;
    await clock.advance(until - clock.elapsed());
  }

  #sample(): void {
    const { clock, marks } = this.#world;
    this.#sampledAt = clock.elapsed();
    this.#hedges?.sample();
    for (const { limits } of this.#quoted) limits.sample();
    if (this.#store.isFull) this.#judge?.diskIsFull();
    this.#judge?.look(this.#checker.liveWithTimes());
    const { engine } = this.#bot;
    const apart = Math.abs(this.#world.skewOf('bot') - this.#world.skewOf('sentinel'));
    if (this.#sentinel && apart > CLOCKS_APART_MS) marks.see('the clocks of two machines were far apart');
    if (!engine) return;
    for (const [i, book] of engine.books.entries()) this.#sampleBook(book, configsOf(this.#scenario)[i]!, i === 0);
    if (engine.unfinished.filter(order => order.state === 'unknown').length > 1)
      marks.see('several unknown orders at once');
  }

  #sampleBook(book: BookEngine, { strategy, inventory }: Config, isFirst: boolean): void {
    const { clock, marks } = this.#world;
    const { quoting, regime, silent } = book.snapshot(clock.now());
    const excused = this.#excused(book.symbol);
    if (isFirst) this.#pairs.add(this.#states(regime.regime));
    const isFar = quoting === 'price moved too far';
    if (isFar) excused.buy = excused.sell = clock.elapsed();
    if (isFar || silent.some(line => line.endsWith('price too far from past prices')))
      marks.see('an order was too far from past prices');
    if (silent.some(line => line.endsWith('order amount limit')))
      marks.see('the amount of an order was more than its limit');
    if (silent.some(line => line.startsWith('bid'))) excused.buy = clock.elapsed();
    if (silent.some(line => line.startsWith('ask'))) excused.sell = clock.elapsed();
    if (silent.some(line => line.includes('pulled:'))) marks.see('a side was pulled');
    if (silent.some(line => line.includes('is available there')))
      this.#elsewhere?.see('a side was not quoted for lack of funds there');
    const isOwn = 'file' in strategy;
    if (!isOwn && strategy.name !== 'ladder' && this.#checker.live().length > 0) marks.see(`${strategy.name} quoted`);
    if (inventory.target === undefined) marks.see('the target was the opening balance');
    if (silent.some(line => line.endsWith('position limit'))) marks.see('the position limit refused an order');
  }

  #states(regime: States['regime'][number]): States {
    const { halt, hold, hedges } = this.#store;
    const { streamUp, engine } = this.#bot;
    const orders = new Set((engine?.unfinished ?? []).flatMap(({ state }) => (state === 'done' ? [] : [state])));
    const last = hedges.at(-1)?.state ?? 'none';
    const isEnded = last === 'completed' || last === 'failed' || last === 'stranded';
    return {
      order: orders.size === 0 ? ['none'] : [...orders].sort(),
      regime: [regime],
      latch: [halt !== null ? 'halted' : hold !== null ? 'held' : 'open'],
      sentinel: [this.#sentinel?.state ?? 'none'],
      book: [streamUp === true ? 'from the stream' : streamUp === false ? 'polled beside the stream' : 'polled'],
      hedge: [this.#scenario.config.hedge === undefined ? 'off' : isEnded ? 'ended' : last],
    };
  }

  #sentinelHeld(): void {
    const { marks } = this.#world;
    this.#judge?.held();
    marks.see('the sentinel held back a bot that was cut off');
  }

  #sentinelLatched(): void {
    const { marks } = this.#world;
    this.#judge?.latched();
    if (this.#bot.life) marks.see('the sentinel fired on a bot that lived on');
    this.#checker.halted('by the sentinel');
  }

  #watcher(): Watcher {
    const world = this.#world;
    const see = (what: Sometime) => world.marks.see(what);
    const account = () => this.#exchange.venue.accounts.get(this.#account.id)!;
    return {
      tried: (request, topic) => this.#checker.tried(request, topic),
      sent: (life, request, topic) => {
        this.#checker.sent(life.number, request, topic);
        if (topic === 'accept') this.#loseHedgeSoon();
        if (topic !== 'place') return;
        const { originId, side, major } = orderIn(request);
        const placed = orderIn(request);
        this.#quoted.find(({ symbol }) => symbol === placed.book)?.limits.placing(placed);
        this.#together?.placing(life.number, placed);
        this.#elsewhere?.placing(side === 'buy' ? 'buy' : 'sell', moneyOf(major));
        this.#judge?.placing(originId, this.#checker.runsSince(life.number));
        if (this.#hedges?.isTake(originId) !== true) this.#reloads?.sent(originId, major);
        this.#personJudge?.sent(originId, side === 'buy' ? 'buy' : 'sell', moneyOf(major));
      },
      arrived: (request, topic, reply, { sentAt, again }) => {
        this.#checker.arrived(request, topic, reply);
        if (topic === 'place') this.#together?.arrived(orderIn(request).originId);
        const placed = topic === 'place' && isSuccess(reply) ? orderIn(request).originId : null;
        if (placed !== null && this.#hedges?.isTake(placed) !== true) this.#reloads?.rests(placed);
        if (topic === 'place' && world.clock.elapsed() - sentAt > 6_000 && isSuccess(reply))
          see('a late request found its order forgotten by nobody');
        if (topic === 'place' && again && envelopeOf(reply)?.error?.code === '0201')
          see('a nonce refusal answered an order that was accepted');
        if (topic === 'trades' && (account().trades.newest()?.readableAt ?? 0) > world.clock.elapsed())
          see('trades were read before their records were written');
      },
      answered: (life, request, topic, reply, sentAt) => {
        if (topic === 'ledger' && isSuccess(reply))
          this.#lists = { life: life.number, reads: this.#lists.life === life.number ? this.#lists.reads + 1 : 1 };
        if (topic === 'cancel' && isSuccess(reply)) {
          const ids = idsIn(request);
          const listed = envelopeOf(reply)!.payload as unknown[];
          const state = this.#bot.engine?.unfinished.find(order => order.id === ids[0])?.state;
          if (ids.length === 1 && listed.length > 0 && state === 'unknown')
            see('cancel proved that an unknown existed');
          if (listed.length === 0 && ids.some(id => account().activeOrigins.has(id)))
            see('cancel answered with nothing, and the order lived');
        }
        if (topic === 'look up' && isSuccess(reply)) {
          for (const { oid, status } of envelopeOf(reply)!.payload as { oid: string; status: string }[]) {
            if (status === 'completed' || status === 'cancelled') this.#finished.add(oid);
          }
        }
        this.#checker.answered(life.number, topic, reply, sentAt, request);
      },
    };
  }

  #botEvents(): BotEvents {
    const world = this.#world;
    const see = (what: Sometime) => world.marks.see(what);
    return {
      started: (life, run) => {
        this.#unknown.clear();
        this.#checker.started(life.number, run);
        this.#personJudge?.began('restart');
      },
      rolled: (life, run) => {
        world.trace.add(`rolled #${life.number}`);
        see('a run gave way to the next one in its process');
        this.#checker.rolled(life.number, run);
        this.#personJudge?.began('next run');
        this.#persons?.provoked('an action while runs changed');
      },
      quoting: (_life, engine) => {
        this.#checker.watch(() => new Set(engine().unfinished.map(order => order.id)));
      },
      news: (life, news, book) => this.#news(life.number, news, book),
      died: () => {
        this.#crashes++;
        this.#persons?.provoked('an action at a crash');
        this.#checker.died();
        this.#hedges?.died();
        if (!this.#bot.isRunning) see('a crash during recovery');
        if (this.#losesPower || world.strikes('lying disk', 1)) this.#loseHeld();
        for (const id of this.#store.openIntents()) {
          const fate = this.#checker.fateOf(id);
          if (fate === 'not sent') see('a crash with an intent that was never sent');
          if (fate === 'lost') see('a crash with an order sent and lost');
          if (fate === 'accepted') see('a crash with an order sent and accepted');
        }
      },
      ended: (_life, report, engine) => {
        this.#checker.died();
        if (!report) return;
        this.#lastStop = report;
        this.#lastLedger = engine?.books[0]!.snapshot(world.clock.now()).booked.holdings ?? null;
        this.#lastPositions = engine?.books.map(({ symbol, position }) => ({ symbol, position })) ?? null;
        this.#lastBooks = engine?.ledger([])?.causes ?? null;
        for (const { deposits, withdrawals } of this.#lastBooks?.values() ?? [])
          if (deposits !== 0n || withdrawals !== 0n) see('a transfer was found in the lists and booked');
        if (world.isFaulty)
          see(
            isAllGone(report)
              ? 'a stop was verified while faults went on'
              : 'a stop could not be verified, and said so',
          );
        this.#checker.stopped(unverified(report));
      },
    };
  }

  /** The machine may go down just after an acceptance, whose hedge the disk then loses. */
  #loseHedgeSoon(): void {
    const world = this.#world;
    const after = world.struck('lying disk', 1, () => world.chance('lost hedges').between(0, POWER_LOST_WITHIN_MS));
    if (after === null) return;
    const { life } = this.#bot;
    world.clock.after(after, () => {
      if (!world.isFaulty) return;
      this.#losesPower = true;
      life?.kill('the machine loses power');
      this.#losesPower = false;
    });
  }

  /** Applies the loss of writes that were not durable when the machine went down. */
  #loseHeld(): void {
    const store = this.#store;
    const open = new Set(store.openIntents());
    const { orders, hedges } = store.loseHeld();
    this.#checker.lostNonces();
    for (const id of orders) this.#checker.lost(id);
    if (store.openIntents().some(id => !open.has(id)))
      this.#world.marks.see('a disk that lied lost the end of an order');
    this.#hedges?.lost(hedges, store.hedges);
    for (const { limits } of this.#quoted) limits.lost();
    // No transfer list contains the amounts that a lost hedge moved.
    if (this.#hedges?.hasLost === true) this.#checker.transferred(false);
  }

  #news(life: number, news: EngineNews, book: string): void {
    const { marks, trace } = this.#world;
    switch (news.kind) {
      case 'order': {
        const { kind, order } = news.news;
        trace.add(`news ${kind} ${order.id} ${kind === 'ended' ? news.news.ending : ''}`);
        if (kind === 'unknown') {
          this.#unknowns++;
          this.#persons?.provoked('an action beside an unknown order');
          this.#unknown.add(order.id);
        }
        const was = this.#unknown.has(order.id);
        if (kind === 'resolved' && was) marks.see('unknown, then open');
        if (kind === 'adopted' && this.#checker.isOrphan(order.id)) marks.see('an orphan was adopted');
        if (kind !== 'ended') return;
        const { ending } = news.news;
        this.#checker.claimedOver(order.id, ending);
        if (was && ending === 'filled') marks.see('unknown, then filled');
        if (was && ending === 'canceled') marks.see('unknown, then canceled');
        if (!was || ending !== 'never arrived') return;
        marks.see('unknown, then gone after the fence');
        if (this.#world.speeds.bot > 1) marks.see('a fast clock gave up an order with an unknown outcome');
        return;
      }
      case 'fill': {
        this.#fills++;
        const { tid, oid, side, major, minor, fee } = news.fill;
        trace.add(`news fill ${tid} ${oid}`);
        if (this.#finished.has(oid)) marks.see('a fill after its order was closed');
        const where = this.#together === null ? {} : { id: news.fill.id, book };
        this.#checker.applied(life, { tid, oid, side, major, minor, fee, ...where });
        return;
      }
      case 'halted':
        trace.add(`news halted ${news.reason}`);
        // What only the latch of a book halts is that book.
        if (this.#operators?.isOwnHalt(book, news.reason) === true) return;
        marks.see('a halt was latched by the bot');
        this.#checker.halted(news.reason);
        return;
      case 'quoting':
        trace.add(`news quoting ${news.reason ?? 'yes'}`);
        if (news.reason === 'ledger differs from the balances') marks.see('the balances differed from the ledger');
        else if (this.#differed && news.reason === null) marks.see('a list that was late lifted a pause');
        this.#differed = news.reason === 'ledger differs from the balances';
        return;
      case 'regime':
        trace.add(`news regime ${news.to.regime}`);
        if (news.to.regime === 'wide') marks.see('quotes were wide in a regime');
        if (news.to.regime === 'reduce only') marks.see('a regime only closed inventory');
        return;
      case 'placing':
      case 'canceling':
      case 'taking':
      case 'not taken':
      case 'refused':
      case 'count':
      case 'price doubt':
        return;
    }
  }

  #report(): Run {
    const world = this.#world;
    return {
      seed: world.seed,
      classes: this.#world.classes,
      violations: this.#checker.violations,
      hash: world.trace.digest(),
      events: world.events,
      brokeAt: this.#checker.violations.length === 0 ? null : (this.#brokeAt ?? world.events),
      simMs: world.clock.elapsed(),
      requests: this.#checker.requests,
      faults: Object.fromEntries(world.faults),
      unknowns: this.#unknowns,
      crashes: this.#crashes,
      fills: this.#fills,
      lockOuts: this.#checker.lockOuts,
      sometimes: Object.fromEntries(world.marks.counts),
      pairs: this.#pairs.names,
      uptime: this.#checker.uptime,
      calm: this.#isCalm,
      reloads: this.#reloads?.counts ?? null,
      actions: this.#persons?.counts ?? null,
      elsewhere: this.#elsewhere?.counts ?? null,
      books: this.#operators?.counts ?? null,
    };
  }

  /** A calm seed of which only some classes were switched on is none. */
  get #isCalm(): boolean {
    return isCalm(this.#world.seed) && this.#world.classes.length === 0;
  }
}
