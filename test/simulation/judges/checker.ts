/**
 * The judge: reads the exchange's true state after every event, and knows the bot only by what it sends, what it has on
 * disk and what it claims.
 */
import type { AccountTruth, EmbeddedExchange } from '../../../src/sandbox/index.ts';
import type { ElsewhereJudge } from './elsewhereJudge.ts';
import type { HedgeJudge } from './hedgeJudge.ts';
import type { Marks } from './sometimes.ts';
import { envelopeOf, idsIn, isSuccess, orderIn, type Topic } from '../world/wire.ts';

type TrueOrder = AccountTruth['live'][number];
type TrueTrade = AccountTruth['trades'][number];
type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly target: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};
type Reply = {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};
type Side = 'buy' | 'sell';

export type Violation = { readonly at: number; readonly law: string; readonly what: string };

/** Configured numbers that the invariants use, as the checker's own copy. */
export type Promises = {
  readonly book: string;
  readonly prefix: string;
  readonly levels: number;
  /**
   * The book is also read as the price from elsewhere: an older copy may be the newest that the quotes' own reader has
   * got.
   */
  readonly isReadTwice: boolean;
  /** Position limit, in 10^-8 of the base currency. */
  readonly positionMax: bigint;
  /** Opening balance minus the target, in 10^-8 of the base currency. */
  readonly opening: bigint;
  readonly collarBps: number;
  /** Ages and the minute of the bot's clock, in ms of the exchange's clock: the two may run at different speeds. */
  readonly staleAfterMs: number;
  readonly privateStaleAfterMs: number;
  readonly minuteMs: number;
  readonly messagesPerMinute: number;
  readonly usesStream: boolean;
  /** No quote is paid for volume. */
  readonly earnsFees: boolean;
};

/** One of several books of an account, and what its checker shares with those of the others. */
export type OfSeveral = {
  /** Whether money that no order of the bot traded belongs to this book. */
  readonly isHome: boolean;
  /** Nonces of all requests of the account. */
  readonly nonces: Set<string>;
  readonly breaks: (law: string, what: string) => void;
};

/** Public members of a checker. */
export type Laws = { readonly [K in Exclude<keyof Checker, 'lockOuts' | 'requests'>]: Checker[K] } & {
  readonly lockOuts: number;
  readonly requests: number;
};

export type DurableIntent = { readonly side: string; readonly price: number; readonly amount: number };

export type CheckerOptions = {
  readonly exchange: EmbeddedExchange;
  readonly accountId: string;
  readonly now: () => number;
  readonly promises: Promises;
  readonly marks: Marks;
  /** Returns the order as it is on disk. */
  readonly intentOf: (id: string) => DurableIntent | undefined;
  readonly isCalm: boolean;
  /** Null where nothing is hedged. */
  readonly hedges: () => HedgeJudge | null;
  /** Judge of the hedges on a second exchange; `null` if there are none. */
  readonly elsewhere: () => Pick<ElsewhereJudge, 'moved' | 'inFlight'> | null;
  /** Called with the mid price of each book with two sides that the exchange shows. */
  readonly shown: (mid: number) => void;
  /** Trade records come late in this run, so that balances may be ahead of them. */
  readonly recordsAreLate: boolean;
  /** Absent: the account has one book. */
  readonly ofSeveral?: OfSeveral;
};

/** Decided, waited for its place in the budget and sent: an order may be so much older than what it was decided on. */
const DECISION_MS = 1_600;
/**
 * Rules are read again every five minutes, after a failure every 15 s; a lock-out keeps the bot from asking for a
 * minute.
 */
const RULES_KNOWN_AFTER_MS = 380_000;
/**
 * Fees so high that a quote for lower ones is told from one for them; taken up, and two orders of one view of the
 * market.
 */
const FEE_CHECKED = 0.005;
const FEE_HEEDED_MS = 4_000;
const FEE_PAIR_MS = 20_000;
const LIVES_KEPT = 3;
const VIOLATIONS_MAX = 20;
/** Maximum time between the arrival of a list and its use: the trades are read after the list. */
const ADOPTED_MS = 3_000;
/** A quote that must go has been asked for by then. */
const WITHDRAWN_MS = 8_000;

/** Facts about one life of the process. */
class Witness {
  /** Start time of the current run. */
  startedAt: number;
  run = -1;
  frozenUntil = -Infinity;
  wokeAt = -Infinity;
  openOrdersAt = -Infinity;
  /** Maps each lost order that a list of open orders omitted, because it lagged behind, to the time by which the bot must know it. */
  readonly omitted = new Map<string, number>();
  tradesAt = -Infinity;
  /**
   * The newest book that this life has taken: when it was asked for, and whether both sides were there without our
   * orders.
   */
  readonly books: { readonly at: number; readonly isGood: boolean; readonly mid: number }[] = [];
  sequence = -1n;
  /** Time since which every book was one-sided or crossed without the bot's orders; `null` if the last one was not. */
  badSince: number | null = null;
  streamAt = -Infinity;
  readonly fills = new Set<string>();
  readonly placements: number[] = [];
  /** Time since which the lists of books that the bot received omit its book; `null` if they have it. */
  delistedAt: number | null = null;
  /** Latest fees that the bot received, and their time: maker rate, taker rate, and the taker rate before that. */
  fee: { readonly at: number; readonly rate: number; readonly taker: number; readonly takerBefore: number } | null =
    null;
  /** Time at which the bot learned that trading is suspended, which the operator must resolve. */
  suspendedAt: number | null = null;
  listedAgain = false;

  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }

  /** Returns the lowest taker fee, as a fraction, that the bot may have used for a decision at `at`. */
  lowestTakerFee(at: number): number {
    if (this.fee === null) return 0;
    const { taker, takerBefore } = this.fee;
    return at - this.fee.at < FEE_HEEDED_MS ? Math.min(taker, takerBefore) : taker;
  }
}

export class Checker {
  readonly violations: Violation[] = [];
  readonly #options: CheckerOptions;
  readonly #lives = new Map<number, Witness>();
  #current: { readonly number: number; readonly witness: Witness } | null = null;
  /** By origin id: POSTs that left, and when the exchange first had it. */
  readonly #sent = new Map<string, number>();
  readonly #arrivedAt = new Map<string, number>();
  readonly #deletedAt = new Map<string, number>();
  /** The bot says that these are over. */
  readonly #gone = new Map<string, { readonly at: number; readonly ending: string }>();
  readonly #nonces: Set<string>;
  /** Size of a tick in the quote currency, and of a lot in 10^-8 of the base currency. */
  readonly #tick: number;
  readonly #lot: number;
  readonly #others = new Set<string>();
  readonly #orphans = new Map<string, number>();
  readonly #lost = new Set<string>();
  #lastTid = 0;
  /** Opening balance minus the target, plus the base currency that the bot's trades have brought, in 10^-18. */
  #botMajor = 0n;
  /** Sum of the absolute amounts that others moved in the base currency, in 10^-18. */
  #otherMajor = 0n;
  #haltedAt: number | null = null;
  #liftedAt = -Infinity;
  #transfers = 0;
  #hasUnlistedTransfer = false;
  #rulesChangedAt = -Infinity;
  #askedForRulesAt = -Infinity;
  #ruleRefusals = 0;
  #tickFactor = 1;
  #lastTick = -1;
  #isStopped = false;
  #up = { both: 0, all: 0 };
  #lastQuoteAt: Record<Side, number> = { buy: -Infinity, sell: -Infinity };
  #known: () => ReadonlySet<string> = () => new Set();
  lockOuts = 0;
  requests = 0;
  unknowns = 0;

  constructor(options: CheckerOptions) {
    this.#options = options;
    this.#botMajor = options.promises.opening * LOT;
    this.#nonces = options.ofSeveral?.nonces ?? new Set();
    const { instrument } = options.exchange.venue.books.get(options.promises.book)!;
    this.#tick = Number(instrument.tick);
    this.#lot = Number(instrument.lotMoney / LOT);
  }

  /**
   * Seconds with a true bid and a true ask of ours, and seconds in all, from the first such moment to the operator's
   * stop.
   */
  get uptime(): { readonly both: number; readonly all: number } {
    return this.#up;
  }

  lastQuoteAt(side: Side): number {
    return this.#lastQuoteAt[side];
  }

  // Calls by the world.

  othersPlaced(oid: string): void {
    this.#others.add(oid);
  }

  othersCanceled(oid: string): void {
    this.#others.delete(oid);
  }

  orphan(id: string): void {
    this.#orphans.set(id, this.#options.now());
  }

  /**
   * Forgets the nonces: the disk lost their reservations, so the bot may repeat nonces that the exchange then rejects.
   */
  lostNonces(): void {
    this.#nonces.clear();
  }

  /** Records that the disk lost an order, so that the bot can learn of the order only from the exchange. */
  lost(id: string): void {
    this.#orphans.set(id, this.#options.now());
    this.#lost.add(id);
    const isLive = this.#options.exchange.venue.accounts.get(this.#options.accountId)!.activeOrigins.has(id);
    const fate = this.fateOf(id);
    if (isLive) this.#options.marks.see('a disk that lied lost an order that lived');
    if (fate === 'lost') this.#options.marks.see('a disk that lied lost an order on its way');
  }

  transferred(isListed: boolean): void {
    this.#transfers++;
    if (!isListed) this.#hasUnlistedTransfer = true;
  }

  /** Whether a transfer happened that no list of the exchange shows: then the bot must wait for a person, and halt. */
  get hasUnlistedTransfer(): boolean {
    return this.#hasUnlistedTransfer;
  }

  /** The tick that is announced, as a multiple of the true one. */
  rulesChanged([, tick]: readonly [amount: number, tick: number]): void {
    this.#rulesChangedAt = this.#options.now();
    this.#ruleRefusals = 0;
    this.#tickFactor = tick;
  }

  isOrphan(id: string): boolean {
    return this.#orphans.has(id);
  }

  /** Returns the outcome of the placement of an order that the process had on disk. */
  fateOf(id: string): 'not sent' | 'lost' | 'accepted' {
    if (!this.#sent.has(id)) return 'not sent';
    return this.#arrivedAt.has(id) ? 'accepted' : 'lost';
  }

  halted(reason: string): void {
    this.#haltedAt ??= this.#options.now();
    // Only money that came or went unseen, or a record that is late, may make the ledger differ.
    const { recordsAreLate } = this.#options;
    if (reason.includes('differ from our ledger') && this.#transfers === 0 && !recordsAreLate)
      this.#break('A2', `nobody moved money, and the bot says: ${reason}`);
  }

  /** The operator stops the bot for good. */
  operatorStops(): void {
    this.#isStopped = true;
  }

  operatorStarts(): void {
    this.#isStopped = false;
  }

  haltLifted(): void {
    this.#haltedAt = null;
    for (const witness of this.#lives.values()) witness.suspendedAt = null;
    this.#liftedAt = this.#options.now();
  }

  /** A halt was lifted so lately that quotes may still be away. */
  wasHaltedWithin(ms: number): boolean {
    return this.#options.now() - this.#liftedAt < ms;
  }

  /** A stream frame or a sign of life reached the process. */
  streamed(life: number): void {
    const witness = this.#lives.get(life);
    if (witness) witness.streamAt = this.#options.now();
  }

  // Actions of the process.

  started(life: number, run: number): void {
    const witness = new Witness(this.#options.now());
    witness.run = run;
    this.#lives.set(life, witness);
    this.#lives.delete(life - LIVES_KEPT);
    this.#current = { number: life, witness };
    this.#known = () => new Set();
  }

  /** Starts another run of the same process. */
  rolled(life: number, run: number): void {
    const witness = this.#lives.get(life);
    if (!witness) return;
    witness.run = run;
    witness.startedAt = this.#options.now();
    witness.fills.clear();
    // As after a restart: a run knows nothing of the books of the one before.
    witness.sequence = -1n;
    witness.books.length = 0;
    witness.badSince = null;
  }

  /** Sets the function that returns the origin ids which the running bot counts as unfinished. */
  watch(known: () => ReadonlySet<string>): void {
    this.#known = known;
  }

  /** The hook for a sentinel: from here on nobody of ours is left to cancel anything. */
  died(): void {
    this.#current = null;
  }

  claimedOver(id: string, ending: string): void {
    this.#gone.set(id, { at: this.#options.now(), ending });
    for (const order of this.#ours()) if (order.originId === id) this.#checkClaims(order);
  }

  applied(life: number, fill: AppliedFill): void {
    const key = `${fill.tid}/${fill.oid}`;
    const witness = this.#lives.get(life);
    if (witness?.fills.has(key)) this.#break('A1', `trade ${key} was applied twice`);
    witness?.fills.add(key);
    const trade = this.#tradesOf(fill.oid).find(candidate => String(candidate.tid) === fill.tid);
    if (!trade) {
      this.#break('A1', `trade ${key} was applied and never happened`);
      return;
    }
    const { instrument } = trade.order;
    if (fill.book !== undefined && fill.book !== trade.order.book)
      this.#break('B4', `trade ${key} happened in ${trade.order.book} and was booked in ${fill.book}`);
    const isSame =
      trade.order.side === fill.side &&
      BigInt(trade.amount) * instrument.lotMoney === fill.major &&
      trade.minor === fill.minor;
    if (!isSame) this.#break('A1', `trade ${key} was applied with other numbers`);
    if (trade.fee !== fill.fee) this.#break('A4', `trade ${key} cost ${trade.fee} in fees, ${fill.fee} was booked`);
  }

  /** A stop that says that nothing is left must be right. */
  stopped(left: readonly string[]): void {
    const live = [...this.#ours()];
    if (left.length === 0 && live.length > 0) {
      this.#break('L3', `a stop reported nothing left while ${live.map(order => order.originId).join(', ')} lived`);
    }
  }

  /** A cancel counts when it is asked for: that a connection is refused is not the bot's doing. */
  tried(request: Request, topic: Topic): void {
    if (topic === 'cancel') this.#checkCancel(request);
    if (topic === 'books') this.#askedForRulesAt = this.#options.now();
  }

  sent(life: number, request: Request, topic: Topic): void {
    this.requests++;
    this.#checkNonce(request, topic);
    if (topic === 'place') this.#checkPlacement(life, request);
    if (topic === 'accept') {
      this.#checkHalt(`an acceptance`);
      this.#options.hedges()?.accepting(request);
    }
  }

  arrived(request: Request, topic: Topic, reply: Reply): void {
    const code = envelopeOf(reply)?.error?.code;
    if (code === '0801') {
      this.lockOuts++;
      if (this.#options.isCalm) this.#break('R7', `the exchange locked the bot out (${topic})`);
    }
    this.#options.hedges()?.arrived(request, topic, reply);
    if (topic !== 'place') return;
    const { originId } = orderIn(request);
    if (isSuccess(reply)) {
      if (this.#arrivedAt.has(originId)) this.#break('S6', `${originId} was accepted twice`);
      this.#arrivedAt.set(originId, this.#options.now());
    }
    if (code !== undefined && /^040[1-7]$/.test(code) && ++this.#ruleRefusals > 12) {
      this.#break('M1', `orders go on being refused with ${code}`);
    }
  }

  /** By a process of ours with a key of its own. */
  sentByOther(request: Request, topic: Topic): void {
    this.requests++;
    this.#checkNonce(request, topic);
  }

  /** Returns the time since which a life has run without a stop. */
  runsSince(life: number): number {
    const witness = this.#lives.get(life);
    return witness ? Math.max(witness.startedAt, witness.frozenUntil) : -Infinity;
  }

  /** Live orders of ours, and when the exchange first had them. */
  *liveWithTimes(): Iterable<{ readonly id: string; readonly arrivedAt: number }> {
    for (const { originId } of this.#ours())
      yield { id: originId!, arrivedAt: this.#arrivedAt.get(originId!) ?? this.#options.now() };
  }

  /**
   * Returns the true inventory minus the target (`distance`), and the base currency that the bot's live orders may
   * still move (`open`), in 10^-18. `slack` is the amount that others and pending conversions may change.
   */
  standing(): { readonly distance: bigint; readonly open: Readonly<Record<Side, bigint>>; readonly slack: bigint } {
    const open: Record<Side, bigint> = { buy: 0n, sell: 0n };
    for (const { side, original, filled, instrument } of this.#ours())
      open[side] += BigInt(original - filled) * instrument.lotMoney;
    const hedges = this.#options.hedges();
    const { buy, sell } = hedges?.inFlight() ?? NOTHING;
    return {
      distance: this.#botMajor + (hedges?.moved ?? 0n) + (this.#options.elsewhere()?.moved ?? 0n),
      open,
      slack: this.#otherMajor + (hedges?.lostMajor ?? 0n) + buy + sell + LOT,
    };
  }

  /** Origin ids of our live orders. */
  live(): readonly string[] {
    return Array.from(this.#ours(), ({ originId }) => originId!);
  }

  /** Records a violation that another judge found. */
  breaks(law: string, what: string): void {
    this.#break(law, what);
  }

  answered(life: number, topic: Topic, reply: Reply, sentAt: number, _request?: Request): void {
    const witness = this.#lives.get(life);
    if (witness && topic === 'place' && envelopeOf(reply)?.error?.code === '0410') {
      witness.suspendedAt ??= this.#options.now();
      this.#options.marks.see('the bot was told that trading is suspended');
    }
    if (!witness || !isSuccess(reply)) return;
    if (topic === 'books') this.#seeList(witness, reply);
    if (topic === 'fees') this.#seeFees(witness, reply);
    if (topic === 'open orders') {
      witness.openOrdersAt = Math.max(witness.openOrdersAt, sentAt);
      this.#seeOmitted(witness, reply, sentAt);
    }
    if (topic === 'trades') witness.tradesAt = Math.max(witness.tradesAt, sentAt);
    if (topic === 'book') this.#seeBook(witness, reply, sentAt);
  }

  #seeOmitted(witness: Witness, reply: Reply, sentAt: number): void {
    const listed = JSON.stringify(envelopeOf(reply)!.payload);
    for (const lost of this.#lost) {
      const isOmitted = (this.#arrivedAt.get(lost) ?? Infinity) < sentAt && !listed.includes(`"${lost}"`);
      if (isOmitted) witness.omitted.set(lost, Infinity);
      else if (witness.omitted.get(lost) === Infinity) witness.omitted.set(lost, this.#options.now() + ADOPTED_MS);
    }
  }

  /** Whether an order was sent in this book. */
  hasSent(id: string): boolean {
    return this.#sent.has(id);
  }

  /** Whether the bot says that an order is over. */
  isGone(id: string): boolean {
    return this.#gone.has(id);
  }

  /** Must be called after every event of the world. */
  look(): void {
    this.#takeTrades();
    this.#options.hedges()?.look();
    const now = this.#options.now();
    const { promises } = this.#options;
    const counts = { buy: 0, sell: 0 };
    const open: Record<Side, bigint> = { buy: 0n, sell: 0n };
    let bestBid = -Infinity;
    let bestAsk = Infinity;
    for (const order of this.#ours()) {
      const { side, price, instrument } = order;
      const isTake = this.#options.hedges()?.isTake(order.originId!) === true;
      if (!isTake) counts[side]++;
      open[side] += BigInt(order.original - order.filled) * instrument.lotMoney;
      if (side === 'buy') bestBid = Math.max(bestBid, price);
      else bestAsk = Math.min(bestAsk, price);
      if (this.#gone.has(order.originId!)) this.#checkClaims(order);
    }
    for (const side of ['buy', 'sell'] as const) {
      if (counts[side] > promises.levels)
        this.#break('S1', `${counts[side]} live orders on the ${side} side, ${promises.levels} were asked for`);
    }
    if (!(bestBid < bestAsk)) this.#break('M4', `our bid at ${bestBid} meets our ask at ${bestAsk}`);
    this.#checkPosition(open);
    if (now - this.#lastTick >= 1_000) {
      if (counts.buy > 0) this.#lastQuoteAt.buy = now;
      if (counts.sell > 0) this.#lastQuoteAt.sell = now;
      if (!this.#isStopped && (this.#up.all > 0 || (counts.buy > 0 && counts.sell > 0))) {
        this.#up.all++;
        if (counts.buy > 0 && counts.sell > 0) this.#up.both++;
      }
      this.#lastTick = now;
      this.#checkWithdrawal(now);
      this.#checkKnown(now);
    }
  }

  /** The process does not run between these moments. */
  froze(life: number, until: number): void {
    const witness = this.#lives.get(life);
    if (witness) witness.frozenUntil = until;
  }

  // Once everything has come right.

  /** `excuse`: why a side may be empty, by the bot's own words about its limits. */
  checkQuoting(sinceMs: number, excuse: (side: Side, book: string) => string | null): void {
    for (const side of ['buy', 'sell'] as const) {
      const ago = this.#options.now() - this.#lastQuoteAt[side];
      if (ago > sinceMs && excuse(side, this.#options.promises.book) === null)
        this.#break(
          'L4',
          `no ${side} order of ours for the last ${(ago / 1000).toFixed(0)} s, though nothing is wrong`,
        );
    }
  }

  /** With nothing wrong any more, a stop leaves nothing. */
  checkStopped(left: readonly string[]): void {
    if (left.length > 0) this.#break('L3', `with nothing wrong the stop left ${left.join(', ')}`);
  }

  checkNoUnknown(ids: readonly string[]): void {
    if (ids.length > 0) this.#break('L1', `still unknown long after everything healed: ${ids.join(', ')}`);
  }

  checkRestart(ms: number | null): void {
    if (ms === null || !(ms <= 10_000))
      this.#break('L2', `after a restart with nothing unknown quoting began after ${ms ?? 'more than 30000'} ms`);
  }

  /**
   * Checks that no order of the bot lives and none of its funds are locked. The orders of others must still be open, and
   * the ledger must equal the exchange's to the last digit.
   */
  checkQuiet(ledger: ReadonlyMap<string, bigint> | null, ledgerMatches: boolean): void {
    const { exchange, accountId } = this.#options;
    const truth = exchange.truth();
    const account = truth.accounts.get(accountId)!;
    const ours = [...this.#ours()];
    if (ours.length > 0) this.#break('L3', `live after the stop: ${ours.map(order => order.originId).join(', ')}`);
    for (const order of account.live) {
      if (order.originId !== undefined && this.#orphans.has(order.originId))
        this.#break('D3', `${order.originId} carries our prefix, was never ours, and nobody has canceled it`);
    }
    const implied = new Map<string, bigint>();
    for (const order of account.live) {
      const currency = order.side === 'buy' ? order.instrument.minor : order.instrument.major;
      implied.set(currency, (implied.get(currency) ?? 0n) + order.locked);
    }
    for (const [currency, { total, locked }] of account.balances) {
      if (locked !== (implied.get(currency) ?? 0n)) this.#break('A5', `${currency}: locked ${locked} for nobody`);
      const booked = ledger?.get(currency) ?? 0n;
      if (ledger && booked !== total) this.#break('A2', `${currency}: the exchange has ${total}, the ledger ${booked}`);
    }
    if (ledger && !ledgerMatches) this.#break('A2', 'the bot itself found its ledger to differ');
    this.#options.hedges()?.checkEnd();
    for (const [currency, sum] of truth.imbalance)
      if (sum !== 0n) this.#break('venue', `${currency}: ${sum} was made or lost by the exchange itself`);
    for (const oid of this.#others) {
      if (!account.live.some(order => order.oid === oid) && !this.#tradesOf(oid).length)
        this.#break('X1', `order ${oid} of another program is gone`);
    }
    for (const { order } of account.trades) {
      const id = order.originId;
      if (
        order.book === this.#options.promises.book &&
        id?.startsWith(this.#options.promises.prefix) &&
        !this.#sent.has(id) &&
        !this.#orphans.has(id)
      )
        this.#break('S3', `trades of ${id}, which was never sent`);
    }
  }

  /** Every intent on disk belongs to an order that is over by now. */
  checkNothingOpen(open: readonly string[]): void {
    if (open.length > 0) this.#break('L1', `still open in the journal after the stop: ${open.join(', ')}`);
  }

  #break(law: string, what: string): void {
    if (this.#options.ofSeveral !== undefined)
      return this.#options.ofSeveral.breaks(law, `${this.#options.promises.book}: ${what}`);
    if (this.violations.length >= VIOLATIONS_MAX) return;
    const last = this.violations[this.violations.length - 1];
    if (last?.law === law && last.what === what) return;
    this.violations.push({ at: this.#options.now(), law, what });
  }

  *#ours(): Iterable<TrueOrder> {
    const { exchange, accountId, promises } = this.#options;
    for (const order of exchange.venue.accounts.get(accountId)!.active.values()) {
      const isOurs = order.originId?.startsWith(promises.prefix) === true && !this.#orphans.has(order.originId);
      if (isOurs && order.book === promises.book) yield order;
    }
  }

  /** Returns the price of an order in the quote currency. */
  #priceOf({ price }: TrueOrder): number {
    return Number((price * this.#tick).toFixed(8));
  }

  #tradesOf(oid: string): readonly TrueTrade[] {
    const { exchange, accountId } = this.#options;
    return exchange.venue.accounts.get(accountId)!.trades.byOrder(oid);
  }

  /** S5: over is over, now and later. */
  #checkClaims(order: TrueOrder): void {
    const claim = this.#gone.get(order.originId!)!;
    this.#break('S5', `${order.originId} lives, though it was declared over (${claim.ending})`);
  }

  /** S2 and M3, from the trades themselves. */
  #takeTrades(): void {
    const { exchange, accountId, promises, marks } = this.#options;
    const account = exchange.venue.accounts.get(accountId)!;
    const newest = account.trades.newest();
    if (!newest || newest.tid <= this.#lastTid) return;
    const ids: [tid: number, id: string | undefined][] = [];
    account.trades.each('asc', this.#lastTid, trade => {
      const { order, makerSide, amount, fee } = trade;
      const gained = BigInt(amount) * order.instrument.lotMoney;
      const change = order.side === 'buy' ? gained - fee : -gained;
      const id = order.originId;
      ids.push([trade.tid, id]);
      const isOurs = id?.startsWith(promises.prefix) === true && !this.#orphans.has(id);
      if (isOurs && order.book === promises.book) {
        this.#botMajor += change;
        if (this.#options.hedges()?.isTake(id) === true)
          this.#options.hedges()?.traded({ id, major: gained, minor: trade.minor });
        else if (makerSide !== order.side) this.#break('M3', `${id} traded as a taker`);
        if (this.#deletedAt.has(id)) marks.see('a fill while its cancel was under way');
      } else if (this.#options.ofSeveral !== undefined) this.#otherMajor += this.#broughtElsewhere(trade, isOurs);
      else if (order.book === promises.book) this.#otherMajor += change < 0n ? -change : change;
      return true;
    });
    ids.forEach(([tid, id], i) => {
      const before = ids[i - 1];
      if (before?.[0] === tid && id?.startsWith(promises.prefix) && before[1]?.startsWith(promises.prefix))
        this.#break('M4', `${id} and ${before[1]} traded with each other`);
    });
    this.#lastTid = newest.tid;
  }

  /**
   * Returns how much of this book's base currency a trade moved that is no trade of the bot in this book, in 10^-18. It
   * belongs to the home of the currency, and an order of the bot in another book with this base currency to that book.
   */
  #broughtElsewhere({ order, amount, minor, fee }: TrueTrade, isOurs: boolean): bigint {
    const { major } = this.#options.exchange.venue.books.get(this.#options.promises.book)!.instrument;
    const { instrument } = order;
    if (this.#options.ofSeveral?.isHome !== true) return 0n;
    if (instrument.minor === major) return minor + fee;
    return instrument.major === major && !isOurs ? BigInt(amount) * instrument.lotMoney + fee : 0n;
  }

  #checkPosition(open: Record<Side, bigint>): void {
    const { promises } = this.#options;
    const hedges = this.#options.hedges();
    const limit = promises.positionMax * LOT + this.#otherMajor + (hedges?.lostMajor ?? 0n) + LOT;
    const there = this.#options.elsewhere();
    const position = this.#botMajor + (hedges?.moved ?? 0n) + (there?.moved ?? 0n);
    // Amounts that pending conversions may still bring or take count like those of orders.
    const { buy, sell } = hedges?.inFlight() ?? there?.inFlight() ?? NOTHING;
    const [most, least] = [position + open.buy + buy, position - open.sell - sell];
    if (most > limit) this.#break('S2', `if every bid fills the position is ${most}, the limit is ${limit}`);
    if (least < -limit) this.#break('S2', `if every ask fills the position is ${least}, the limit is -${limit}`);
  }

  #checkNonce(request: Request, topic: Topic): void {
    if (topic === 'book' || topic === 'books' || topic === 'public trades') return;
    const nonce = /^Bitso ([^:]+:\d+):/.exec(
      request.headers['authorization'] ?? request.headers['Authorization'] ?? '',
    );
    if (!nonce) this.#break('X2', `a private request without a nonce: ${topic}`);
    else if (this.#nonces.has(nonce[1]!)) this.#break('X2', `nonce ${nonce[1]} was used twice`);
    else this.#nonces.add(nonce[1]!);
  }

  #checkCancel(request: Request): void {
    const { promises, now } = this.#options;
    const ids = idsIn(request);
    if (ids.length === 0) this.#break('X1', `a cancel of more than our own orders: ${request.target}`);
    for (const id of ids) {
      if (!id.startsWith(promises.prefix)) this.#break('X1', `a cancel of ${id}, which is not ours`);
      this.#deletedAt.set(id, now());
    }
  }

  #checkPlacement(life: number, request: Request): void {
    const { promises, now, intentOf } = this.#options;
    const order = orderIn(request);
    const at = now();
    const id = order.originId;
    if (this.#sent.has(id)) this.#break('S6', `${id} was sent twice`);
    this.#sent.set(id, at);
    if (!/^[A-Za-z0-9_-]{1,40}$/.test(id)) this.#break('S6', `${id} is no origin id`);
    const witness = this.#lives.get(life);
    const hedges = this.#options.hedges();
    if (order.timeInForce === 'immediateorcancel' && hedges) hedges.taking(order, witness?.lowestTakerFee(at) ?? 0);
    else if (order.timeInForce !== 'postonly') this.#break('M3', `${id} is ${order.timeInForce}`);
    this.#checkIntent(order, intentOf(id));
    if (!witness) return;
    if (id.split('-')[1] !== String(witness.run)) this.#break('S6', `${id} carries another run than ${witness.run}`);
    this.#checkHalt(id);
    const age = at - Math.min(witness.openOrdersAt, witness.tradesAt);
    if (!(age <= promises.privateStaleAfterMs + DECISION_MS))
      this.#break(
        'S4',
        `${id} was sent ${age === Infinity ? 'before the account was read' : `on an account read ${age.toFixed(0)} ms ago`}`,
      );
    this.#checkMarket(witness, order, at);
    this.#checkTerms(witness, order, at);
    for (const left of this.#ours()) {
      const run = left.originId!.split('-')[1];
      const arrivedAt = this.#arrivedAt.get(left.originId!) ?? -Infinity;
      if (run !== String(witness.run) && arrivedAt < witness.startedAt)
        this.#break('D2', `${id} was sent while ${left.originId} of run ${run} lived`);
    }
    const { activeOrigins } = this.#options.exchange.venue.accounts.get(this.#options.accountId)!;
    for (const lost of this.#lost)
      if (
        activeOrigins.has(lost) &&
        (this.#arrivedAt.get(lost) ?? Infinity) < witness.startedAt &&
        at > (witness.omitted.get(lost) ?? -Infinity)
      )
        this.#break('D2', `${id} was sent while ${lost} lived, which the disk has lost`);
    witness.placements.push(at);
    if (witness.placements.length > promises.messagesPerMinute + promises.levels * 2) {
      const first = witness.placements.shift()!;
      if (at - first < promises.minuteMs)
        this.#break('R5', `more than ${promises.messagesPerMinute} placements in a minute`);
    }
    if (
      at - Math.max(this.#rulesChangedAt, this.#askedForRulesAt) > RULES_KNOWN_AFTER_MS &&
      Math.round(Number(order.price) / this.#tick) % this.#tickFactor !== 0
    )
      this.#break('M1', `${id} at ${order.price} is off the tick that was announced long ago`);
  }

  #checkHalt(what: string): void {
    const since = this.#haltedAt === null ? 0 : this.#options.now() - this.#haltedAt;
    if (since > 2_000 + DECISION_MS) this.#break('R3', `${what} was sent ${(since / 1000).toFixed(1)} s after a halt`);
  }

  /** S3: what is sent is on disk, with the same numbers. */
  #checkIntent(order: ReturnType<typeof orderIn>, intent: DurableIntent | undefined): void {
    const { originId, side, price, major } = order;
    if (!intent) {
      this.#break('S3', `${originId} was sent and is not on disk`);
      return;
    }
    const tick = BigInt(Math.round(this.#tick * Number(ONE)));
    const isSamePrice = [1, 2].some(factor => units(price) === BigInt(intent.price) * BigInt(factor) * tick);
    if (intent.side !== side || !isSamePrice || units(major) !== BigInt(intent.amount) * BigInt(this.#lot))
      this.#break('S3', `${originId} was sent as ${side} ${major} at ${price}, on disk is another order`);
  }

  #seeList(witness: Witness, reply: Reply): void {
    const { promises, now } = this.#options;
    const rows = envelopeOf(reply)!.payload as readonly { readonly book: string }[];
    if (!rows.some(({ book }) => book === promises.book)) witness.delistedAt ??= now();
    else if (witness.delistedAt !== null) {
      witness.delistedAt = null;
      witness.listedAgain = true;
    }
  }

  #seeFees(witness: Witness, reply: Reply): void {
    const { promises, now, marks } = this.#options;
    type Row = { readonly book: string; readonly maker_fee_decimal: string; readonly taker_fee_decimal: string };
    const { fees } = envelopeOf(reply)!.payload as { readonly fees: readonly Row[] };
    const row = fees.find(({ book }) => book === promises.book);
    if (!row) return;
    const rate = Number(row.maker_fee_decimal);
    if (witness.fee?.rate === rate) return;
    if (witness.fee !== null) marks.see('the bot read other fees while it ran');
    const taker = Number(row.taker_fee_decimal);
    witness.fee = { at: now(), rate, taker, takerBefore: witness.fee?.taker ?? taker };
  }

  /** R3, M6 and M7, on what this life has been told of the book, its fees and whether it is traded. */
  #checkTerms(witness: Witness, { originId, side, price }: ReturnType<typeof orderIn>, at: number): void {
    const { suspendedAt, delistedAt, fee } = witness;
    if (suspendedAt !== null && at - suspendedAt > 2_000 + DECISION_MS)
      this.#break('R3', `${originId} was sent though nothing is traded, and nobody has resumed since`);
    if (delistedAt !== null && at - delistedAt > DECISION_MS)
      this.#break('M7', `${originId} was sent on a book that is not listed any more`);
    if (witness.listedAgain) this.#options.marks.see('the book was listed again, and the bot quoted it');
    witness.listedAgain = false;
    const isTake = (id: string) => this.#options.hedges()?.isTake(id) === true;
    if (
      isTake(originId) ||
      !this.#options.promises.earnsFees ||
      !fee ||
      !(fee.rate >= FEE_CHECKED) ||
      at - fee.at < FEE_HEEDED_MS
    )
      return;
    for (const other of this.#ours()) {
      const sentAt = this.#sent.get(other.originId!) ?? -Infinity;
      if (
        other.side === side ||
        isTake(other.originId!) ||
        sentAt < fee.at + FEE_HEEDED_MS ||
        at - sentAt > FEE_PAIR_MS
      )
        continue;
      const there = this.#priceOf(other);
      const [bid, ask] = side === 'buy' ? [Number(price), there] : [there, Number(price)];
      // The market moves between the two: half of both fees is enough.
      if (ask < bid * (1 + fee.rate))
        this.#break('M6', `${originId} at ${price} and ${other.originId} lose by a maker fee of ${fee.rate}`);
    }
  }

  /** M2 and M5, on what this life has been told. A stream tells more than is parsed here: then only silence counts. */
  #checkMarket(witness: Witness, order: ReturnType<typeof orderIn>, at: number): void {
    const { promises } = this.#options;
    const id = order.originId;
    const last = witness.books[witness.books.length - 1];
    const heardAt = promises.usesStream ? Math.max(witness.streamAt, last?.at ?? -Infinity) : (last?.at ?? -Infinity);
    if (!(at - heardAt <= promises.staleAfterMs + DECISION_MS))
      this.#break('M2', `${id} was sent on a book ${(at - heardAt).toFixed(0)} ms old`);
    if (promises.usesStream || !last) return;
    if (!witness.books.some(book => book.isGood))
      this.#break('M2', `${id} was sent on a book that is one-sided or crossed without our orders`);
    const price = Number(order.price);
    const isNear = (mid: number) => Math.abs(price - mid) * 10_000 <= promises.collarBps * mid * 1.001;
    if (!witness.books.some(book => book.isGood && isNear(book.mid)))
      this.#break('M5', `${id} at ${order.price} is outside the collar`);
  }

  #seeBook(witness: Witness, reply: Reply, sentAt: number): void {
    type Level = { readonly price: string; readonly amount: string };
    const { bids, asks, sequence } = envelopeOf(reply)!.payload as {
      bids: readonly Level[];
      asks: readonly Level[];
      sequence: string;
    };
    const isOlder = BigInt(sequence) < witness.sequence;
    if (isOlder && !this.#options.promises.isReadTwice) return;
    if (!isOlder) witness.sequence = BigInt(sequence);
    // Levels of others: a level that consists only of the bot's live orders does not count.
    const others = (levels: readonly Level[], side: Side): number[] => {
      const own = new Map<number, number>();
      for (const order of this.#ours()) {
        if (order.side !== side) continue;
        const price = this.#priceOf(order);
        own.set(price, (own.get(price) ?? 0) + (order.original - order.filled) * this.#lot);
      }
      return levels
        .filter(({ price, amount }) => Number(units(amount)) > (own.get(Number(price)) ?? 0))
        .map(({ price }) => Number(price));
    };
    const bid = Math.max(...others(bids, 'buy'), -Infinity);
    const ask = Math.min(...others(asks, 'sell'), Infinity);
    const isGood = Number.isFinite(bid) && Number.isFinite(ask) && bid < ask;
    witness.badSince = isGood ? null : (witness.badSince ?? this.#options.now());
    witness.books.push({ at: sentAt, isGood, mid: (bid + ask) / 2 });
    if (isGood) this.#options.shown((bid + ask) / 2);
    if (witness.books.length > 3) witness.books.shift();
  }

  /**
   * M2: a living process that has heard nothing good of the book for long has asked for all its quotes to be withdrawn.
   */
  #checkWithdrawal(now: number): void {
    const { promises, marks } = this.#options;
    if (!this.#current) return;
    const { witness } = this.#current;
    const { books, streamAt, startedAt, frozenUntil, badSince } = witness;
    const bookAt = books[books.length - 1]?.at ?? -Infinity;
    const heardAt = promises.usesStream ? Math.max(streamAt, bookAt) : bookAt;
    const runsSince = Math.max(startedAt + 30_000, frozenUntil);
    const staleAt = heardAt + promises.staleAfterMs;
    const isBad = !promises.usesStream && badSince !== null && now - Math.max(badSince, runsSince) >= WITHDRAWN_MS;
    if (!isBad && now - Math.max(staleAt, runsSince) < WITHDRAWN_MS) return;
    const askedSince = isBad ? badSince : heardAt;
    for (const order of this.#ours()) {
      const arrivedAt = this.#arrivedAt.get(order.originId!) ?? now;
      if (now - arrivedAt < WITHDRAWN_MS) continue;
      marks.see('quotes withdrawn from a stale book');
      if ((this.#deletedAt.get(order.originId!) ?? -Infinity) >= askedSince) continue;
      const what = isBad ? 'since the book is one-sided or crossed without our orders' : 'since the last book';
      this.#break(
        'M2',
        `${order.originId} still stands, and no cancel was sent, ${((now - askedSince) / 1000).toFixed(0)} s ${what}`,
      );
    }
  }

  /** D3: what lives, and could have been read, is known. */
  #checkKnown(now: number): void {
    if (!this.#current || this.#current.witness.frozenUntil > now) return;
    const { witness } = this.#current;
    let known: ReadonlySet<string> | null = null;
    for (const order of this.#ours()) {
      const arrivedAt = this.#arrivedAt.get(order.originId!) ?? now;
      if (!(witness.openOrdersAt > arrivedAt + 15_000)) continue;
      known ??= this.#known();
      if (!known.has(order.originId!)) this.#break('D3', `${order.originId} lives and the bot does not know it`);
    }
  }
}

export type AppliedFill = {
  /** Origin id of the order, if the bot says it. */
  readonly id?: string | null;
  /** Book in which the bot booked the fill. */
  readonly book?: string;
  readonly tid: string;
  readonly oid: string;
  readonly side: string;
  readonly major: bigint;
  readonly minor: bigint;
  readonly fee: bigint;
};

const NOTHING = { buy: 0n, sell: 0n };
const ONE = 100_000_000n;
/** One lot of 10^-8 in units of 10^-18. */
const LOT = 10_000_000_000n;

/** Decimal text in units of 10^-8. */
function units(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * ONE + BigInt(fraction.slice(0, 8).padEnd(8, '0'));
}
