/**
 * Decisions of one book: its market, orders, inventory and risk. The accounts and what else all books share are passed
 * in.
 */
import { bestOf } from '../model/book.ts';
import type { AccountBook, AccountState, FilledOrder } from './accountState.ts';
import { AdverseSelection, NOT_WIDENED } from '../quoting/adverseSelection.ts';
import { doubtedQuote } from '../quoting/priceDoubt.ts';
import { QuotePuller } from '../quoting/quotePuller.ts';
import { UnknownOrderResolver } from '../orders/unknownOrderResolver.ts';
import { BookTerms } from './bookTerms.ts';
import { Decisions, type Decision } from './decisions.ts';
import type { BookEngineOptions, Preview, Snapshot } from './engineTypes.ts';
import type { AccountEvent, OneBookEvent, BookState, EngineEvent, PastTrade } from './event.ts';
import { ReadTimes } from '../marketdata/readTimes.ts';
import type { ElsewhereChange } from '../accounting/elsewhereAccount.ts';
import { FiguresKnown } from './figuresKnown.ts';
import { ForeignOrders } from '../orders/foreignOrders.ts';
import { HourEnds, type ProfitSinceOpening } from '../accounting/profitSinceOpening.ts';
import type { Booked } from '../accounting/bookings.ts';
import { HedgeDebt, type Exposure, type HedgeRooms } from '../risk/hedgeDebt.ts';
import { smallestSizes } from '../accounting/firstFills.ts';
import { Inventory, storedTarget, targetMoney } from '../accounting/inventory.ts';
import { moneyOfAmount, priceExact, priceFloor } from '../model/instrument.ts';
import { LivePrice, type LivePriceStatus } from '../marketdata/livePrice.ts';
import { limitUsesOf } from '../risk/limitUse.ts';
import { lockedSince } from '../accounting/foreignLocks.ts';
import { MarketView } from './marketView.ts';
import {
  isExpectedToFill,
  isInBook,
  mayLive,
  Orders,
  type Ending,
  type Order,
  type OrderNews,
} from '../orders/orders.ts';
import { OrderCounts } from '../orders/orderCounts.ts';
import { PastPrice } from '../risk/pastPrice.ts';
import { RiskSupervisor } from '../risk/riskSupervisor.ts';
import { isLocalRefusal, type Outcome } from '../ports/outcome.ts';
import type { OrderReport, OwnTrade } from '../ports/port.ts';
import { emptyPreview, previewOf } from './preview.ts';
import { QuoteUptime } from './quoteUptime.ts';
import type { RegimeState } from '../risk/regimes.ts';
import { approveByIds, type Approved, type Command } from '../orders/commands.ts';
import { quotingRefusal, type RiskContext } from '../risk/preTradeRisk.ts';
import { smallestAmountAt } from '../risk/smallestAmount.ts';
import { describeMissingData, QuotingNews } from './readiness.ts';
import { Quoter } from './quoter.ts';
import { snapshotOf } from './snapshot.ts';
import type { LimitedOrder } from '../risk/excessOrders.ts';
import type { QuotedBook } from '../risk/valueLimit.ts';
import type { CrossRead } from '../risk/crossRateWatch.ts';
import { exchangedBy, type ExposedBook } from '../risk/currencyLimits.ts';
import type { RestoredOrder } from '../orders/restoredOrder.ts';
import { OrphanOrders } from '../orders/orphanOrders.ts';
import type { Fair, LastFill, Quote, Reference, SeenTrade, View } from '../quoting/strategy.ts';
import { money, moneyOf, type Amount, type Millis, type Money, type Side } from '../model/units.ts';

const NOTHING: readonly Approved<Command>[] = [];

const seenTrade = ([at, price, amount, side]: PastTrade): SeenTrade => ({
  ...{ at, price, amount },
  side: side === 0 ? 'buy' : 'sell',
});

export class BookEngine implements AccountBook {
  readonly #options: BookEngineOptions;
  readonly #state: AccountState;
  readonly #market = new MarketView();
  readonly #orders: Orders;
  readonly #hedgeDebt: HedgeDebt | null;
  readonly #inventory: Inventory;
  /** Detector of the ends of UTC hours, which reports the profit at the end of each hour. */
  readonly hourEnds = new HourEnds();
  readonly #risk: RiskSupervisor;
  readonly #adverseSelection: AdverseSelection | null;
  /** Adverse-selection state of an earlier run, kept for the next run if this run does not measure markouts. */
  #keptAdverseState: BookState['adverse'];
  /** Past prices of an earlier run, kept for the next run if this run does not limit price moves. */
  #keptPastPrices: BookState['pastPrices'];
  /** Failed hedges of an earlier run, kept for a later run if this run does not hedge elsewhere. */
  #keptHedgeDebt: BookState['hedgeDebt'];
  /** Sources of the reference price; `null` if none are configured. */
  readonly #livePrice: LivePrice | null;
  /** Combined price of the sources at the last decision; `null` if there was none. */
  #decidedPrice: number | null = null;
  /** Bases of an earlier run, kept for the next run if this run has no sources. */
  #keptBases: BookState['bases'];
  readonly #puller: QuotePuller | null;
  readonly #unknownOrders: UnknownOrderResolver;
  readonly #rules: BookTerms;
  readonly #fresh = new ReadTimes();
  readonly #evidence = new FiguresKnown();
  #decidedAt = -Infinity;
  /** Severity of the latest quote of a strategy file that is empty; `null` if a warning. */
  #silenceSeverity: 'error' | 'info' | null = null;
  #isDecisionDue = false;
  /**
   * Last list of live orders in which this run placed all orders. Lists are immutable, so this list needs no second
   * check.
   */
  #lastOwnOrders: readonly Order[] | null = null;
  readonly #quotingNews = new QuotingNews();
  #fills = 0;
  readonly #lastFill: Record<Side, LastFill | null> = { buy: null, sell: null };
  readonly #counts: OrderCounts;
  readonly #quoter: Quoter;
  readonly #orphanOrders: OrphanOrders;
  readonly #foreignOrders: ForeignOrders;
  /** Past price of the book; `null` if price moves are not limited. */
  readonly #pastPrice: PastPrice | null;
  #exposed: { readonly of: readonly Order[]; readonly book: ExposedBook } | null = null;
  readonly #quoteUptime = new QuoteUptime();
  readonly #decisions: Decisions;
  #at: Millis = -Infinity;
  /** Returns each limit with its maximum and its current value. */
  readonly limitUses = (at: Millis) => [
    ...limitUsesOf(this.riskContext(at), this.#risk.killSwitch, this.#inventory.profitForLimits(), at),
    ...this.#state.currencyUses(this),
    ...this.#state.valueUses(at),
  ];

  constructor(options: BookEngineOptions, state: AccountState) {
    this.#options = options;
    this.#state = state;
    this.#rules = new BookTerms(options.instrument);
    this.#counts = new OrderCounts((side, event) => options.onNews?.({ kind: 'count', side, event }));
    this.#orders = new Orders(options.instrument, options.timing, news => this.#onOrderNews(news));
    this.#unknownOrders = new UnknownOrderResolver(this.#orders, options.timing.lookEveryMs);
    this.#orphanOrders = new OrphanOrders(this.#state.ids, this.#orders);
    this.#foreignOrders = new ForeignOrders(this.#state.ids, this.#orders);
    const { limits, instrument } = options;
    this.#pastPrice = limits?.priceMove
      ? new PastPrice(instrument.tick, limits.priceMove.windowMs, limits.staleAfterMs)
      : null;
    this.#inventory = new Inventory(options.instrument, options.target);
    const { elsewhere } = options;
    const account = state.accounts.elsewhere;
    this.#hedgeDebt = elsewhere && account ? new HedgeDebt(elsewhere, elsewhere.bounds, account) : null;
    this.#decisions = new Decisions(options.isTraced ?? false);
    this.#risk = new RiskSupervisor(options, this.#inventory, news => options.onNews?.(news));
    this.#adverseSelection = options.adverseSelection
      ? new AdverseSelection(options.adverseSelection, options.instrument.tick)
      : null;
    this.#livePrice = options.livePrice ? new LivePrice(options.livePrice, Number(instrument.tick)) : null;
    this.#puller = options.pull ? new QuotePuller(options.pull) : null;
    this.#quoter = new Quoter(options, {
      ids: this.#state.ids,
      orders: this.#orders,
      decisions: this.#decisions,
      adverseSelection: this.#adverseSelection,
      hedgeRooms: () => this.#hedgeRooms(),
      excess: at => this.#state.excess(at),
    });
    state.add(this);
  }

  /** Advances to the time of an event, before the event changes anything. */
  begin(at: Millis): void {
    if (this.#at === -Infinity) this.hourEnds.begin(at);
    else if (this.hourEnds.isOver(at)) this.hourEnds.end(this.#inventory.profitSinceOpening(this.#at), at);
    this.#at = at;
    this.#evidence.beforeEvent(at, this.#orders);
    if (!this.#state.isStopping && (this.#quoteUptime.isRunning || this.#missing(at) === null))
      this.#quoteUptime.advanceTo(at, this.#orders);
  }

  /** Applies an event of this book, and decides if a decision is due. Returns the commands to execute, in order. */
  step(event: OneBookEvent): readonly Approved<Command>[] {
    switch (event.kind) {
      case 'book':
        this.#readBook(event);
        break;
      case 'public trade':
      case 'reference':
      case 'witness':
        this.#market.apply(event);
        if (event.kind === 'public trade') this.#onPublicTrade(event);
        return event.kind === 'witness' ? NOTHING : this.#pull(event);
      case 'history':
        this.#options.strategy.history?.({ since: event.since, trades: event.trades.map(seenTrade) });
        return NOTHING;
      case 'history gap':
        this.#options.strategy.historyGap?.(event.isOpen);
        this.#isDecisionDue = true;
        break;
      case 'source':
        return this.#readSource(event);
      case 'book removed':
      case 'rules':
        if (this.#rules.read(event)) this.#isDecisionDue = true;
        break;
      case 'take':
        this.#quoter.takerOrder.request(event);
        this.#isDecisionDue = true;
        break;
      case 'hedge':
        this.#hedgeDebt?.decided(event.row);
        return NOTHING;
    }
    return this.decide(event.at);
  }

  /** Applies an event of the account, whose bookings this book already has. */
  apply(event: AccountEvent): void {
    switch (event.kind) {
      case 'timer':
        break;
      case 'balances':
        if (event.place === undefined) this.#risk.regimes.apply({ kind: 'balances', at: event.at, unread: null });
        break;
      case 'balances unread':
        this.#risk.regimes.apply({ kind: 'balances', at: event.at, unread: event.reason });
        this.#isDecisionDue = true;
        break;
      case 'trades':
        if (event.complete) {
          this.#orders.tradesRead(event.startedAt);
          this.#fresh.read('trades', event.startedAt);
        }
        break;
      case 'open orders':
        this.#readOpenOrders(event);
        break;
      case 'looked up':
        if (event.outcome.kind === 'done') {
          const { value } = event.outcome;
          this.#markInBook(value.filter(({ status }) => status !== 'completed' && status !== 'cancelled'));
          this.#orders.lookedUp(event.ids, value, event.startedAt, event.at);
        }
        break;
      case 'placed':
        this.#placed(event.id, event.outcome, event.at);
        break;
      case 'canceled':
        this.#orders.cancelAnswered(event.ids, event.outcome, event.startedAt, event.at);
        this.#isDecisionDue = true;
        break;
      case 'elsewhere':
        this.#hedgeDebt?.apply(event);
        this.#isDecisionDue = true;
        break;
      case 'conversion':
      case 'transfer':
      case 'sentinel':
        this.#isDecisionDue = true;
        break;
      case 'stop':
        this.#evidence.stopped(event.at);
        this.#isDecisionDue = true;
        break;
      case 'halt':
        this.halt(event.reason);
        break;
      case 'pause':
      case 'pause over':
      case 'reduce':
      case 'reduced':
        this.#risk.regimes.apply(event);
        this.#isDecisionDue = true;
        break;
      case 'slept':
        this.#fresh.slept(event.at);
        this.#market.slept(event.at);
        this.#livePrice?.slept(event.at);
        this.#puller?.slept(event.at);
        this.#isDecisionDue = true;
        break;
      case 'resume':
        this.#risk.resume(event);
        break;
    }
  }

  /** Decides if a decision is due. */
  decide(at: Millis): readonly Approved<Command>[] {
    // Drivers wait until exactly `decidesAt`, so the comparison must use `decidesAt` itself: one that rounds
    // differently would make a driver retry forever.
    return at < this.decidesAt ? NOTHING : this.#decide(at);
  }

  get symbol(): string {
    return this.#options.instrument.symbol;
  }

  get major(): string {
    return this.#options.instrument.major;
  }

  get minor(): string {
    return this.#options.instrument.minor;
  }

  lockedSince(startedAt: Millis): ReadonlyMap<string, Money> {
    return lockedSince(this.#rules.instrument, this.#orders, startedAt);
  }

  /** Held amount of the base currency that belongs to this book, minus the target. */
  get position(): Money {
    return this.#inventory.position();
  }

  /**
   * The book, as the limits by currency need it. Computed once per list of live orders, because a change of their
   * filled amounts also makes a new list.
   */
  get exposed(): ExposedBook {
    const { live } = this.#orders;
    if (this.#exposed?.of === live) return this.#exposed.book;
    const { instrument } = this.#rules;
    const of = (side: Side) => exchangedBy(instrument, live, side);
    const book = { base: instrument.major, quote: instrument.minor, orders: { buy: of('buy'), sell: of('sell') } };
    this.#exposed = { of: live, book };
    return book;
  }

  /** Orders that are expected to fill further, as the limits over all books see them. */
  get limitedOrders(): readonly LimitedOrder[] {
    const { instrument } = this.#rules;
    return this.#orders.live.filter(isExpectedToFill).map(order => ({
      ...{ id: order.id, side: order.side, base: instrument.major, quote: instrument.minor },
      exchanges: exchangedBy(instrument, [order], order.side),
      isCancelable: isInBook(order) && order.takes !== true,
    }));
  }

  /** Returns the best prices of other traders in the quote currency; `null` if they are unknown or old. */
  quotedPrices(at: Millis): QuotedBook | null {
    if (!this.#isMarketFresh(at)) return null;
    const { instrument } = this.#rules;
    const priceOf = (side: Side) => money(BigInt(bestOf(this.#market.depth, side)) * instrument.tickMoney);
    return { base: instrument.major, quote: instrument.minor, bid: priceOf('buy'), ask: priceOf('sell') };
  }

  /** Whether the book can be quoted and its data is not old. */
  #isMarketFresh(at: Millis): boolean {
    return this.#market.isQuotable && at - this.#fresh.book <= (this.#options.limits?.staleAfterMs ?? 0);
  }

  /** Amounts of the base currency that pending conversions may still add (`buy`) and remove (`sell`). */
  get converting(): Readonly<Record<Side, Money>> {
    const { instrument } = this.#rules;
    const { buy, sell } = this.#state.accounts.converting(instrument);
    return { buy: moneyOfAmount(instrument, buy as Amount), sell: moneyOfAmount(instrument, sell as Amount) };
  }

  /** Returns the mid price in the quote currency; `null` if the book cannot be quoted or its data is old. */
  mid(at: Millis): number | null {
    return this.#isMarketFresh(at) ? this.#market.mid * Number(this.#rules.instrument.tick) : null;
  }

  /** Best prices of other traders in the quote currency; `null` if the book cannot be quoted or its fee is unknown. */
  get crossRead(): CrossRead | null {
    if (!this.#market.isQuotable || !this.#rules.hasFees) return null;
    const { depth } = this.#market;
    const tick = Number(this.#rules.instrument.tick);
    const [bid, ask] = [bestOf(depth, 'buy') * tick, bestOf(depth, 'sell') * tick];
    return { readAt: this.#fresh.book, bid, ask, fee: this.#rules.takerRate / 1e8 };
  }

  doubtChanged(): void {
    this.#isDecisionDue = true;
    this.#options.onNews?.({ kind: 'price doubt', doubt: this.#state.priceDoubt(this) });
  }

  /** Whether the book can reduce inventory: it is traded, and neither halted nor paused. */
  get isActive(): boolean {
    return this.haltedBecause === null && this.pausedBecause === null && this.#rules.refusal === null;
  }

  /** `position` as a float, in the base currency, rounded toward zero to whole lots. */
  get amount(): number {
    return this.#inventory.positionLots() * Number(this.#rules.instrument.lot);
  }

  /** Orders that may be in the exchange's book. */
  get liveOrders(): readonly Order[] {
    return this.#orders.live.filter(mayLive);
  }

  /** Whether this run placed all live orders. */
  get #isAlone(): boolean {
    const { live } = this.#orders;
    if (live === this.#lastOwnOrders) return true;
    let areAll = true;
    for (const order of live) {
      if (this.#state.ids.isOfThisRun(order.id)) continue;
      if (mayLive(order)) return false;
      areAll = false;
    }
    if (areAll) this.#lastOwnOrders = live;
    return true;
  }

  /** Orders that may be live or may still be filled. */
  get unfinished(): readonly Order[] {
    return this.#orders.live;
  }

  /** Returns an order by origin id; also finds orders that ended recently. */
  order(id: string): Order | undefined {
    return this.#orders.get(id);
  }

  /** Number that increases with every change of the adverse-selection state. */
  get version(): number {
    return this.#adverseSelection?.version ?? 0;
  }

  /** State of the book for the next run. */
  get stateToSave(): BookState {
    const adverse = this.#adverseSelection?.state() ?? this.#keptAdverseState;
    const pastPrices = this.#pastPrice?.state() ?? this.#keptPastPrices;
    const bases = this.#livePrice?.bases() ?? this.#keptBases;
    const priceDoubt = this.#state.priceDoubt(this);
    const hedgeDebt = this.#hedgeDebt === null ? this.#keptHedgeDebt : this.#hedgeDebt.state;
    return {
      ...storedTarget(this.#options.instrument, this.#inventory.target(this.#state.held(this))),
      ...(this.#state.isHome(this) ? {} : { held: this.position }),
      guard: this.#risk.killSwitch?.state(this.#inventory.profitForLimits()) ?? null,
      profit: this.#inventory.profitSinceOpening(this.#at),
      ...(hedgeDebt ? { hedgeDebt } : {}),
      ...(adverse ? { adverse } : {}),
      ...(pastPrices ? { pastPrices } : {}),
      ...(bases ? { bases } : {}),
      ...(priceDoubt?.isPulled === true ? { priceDoubt } : {}),
    };
  }

  /** Time of the next decision if no event causes an earlier one. Drivers send a timer event at this time. */
  get decidesAt(): Millis {
    return this.#isDecisionDue ? -Infinity : this.#decidedAt + this.#options.timing.decideEveryMs;
  }

  /** Whether the engine needs every public trade. Otherwise the last price before a decision is enough. */
  get wantsTrades(): boolean {
    return this.#options.strategy.trade !== undefined || this.#puller?.hearsTrades === true;
  }

  /** Time, in ms, of complete public trades that the strategy needs; 0 if it needs none. */
  get historyMs(): Millis {
    return this.#options.strategy.historyMs ?? 0;
  }

  /** Error after which this book's strategy file no longer quotes; `null` if there was none. */
  get strategyFailure(): string | null {
    return this.#options.strategy.quoteLog?.failure ?? null;
  }

  /** First error or invalid quote of this book's strategy file; `null` if there was none. */
  get strategyFault(): string | null {
    return this.#options.strategy.quoteLog?.fault ?? null;
  }

  /**
   * Whether the book's tick or lot has changed since the start of this run. The bot can quote again only in the next
   * run.
   */
  get isOutdated(): boolean {
    return this.#rules.isOutdated;
  }

  get haltedBecause(): string | null {
    return this.#risk.haltedBecause;
  }

  /** Reason for the operator's pause; null if not paused. */
  get pausedBecause(): string | null {
    return this.#risk.pausedBecause;
  }

  /** Recent regime changes, oldest first. */
  get regimeChanges(): readonly RegimeState[] {
    return this.#risk.regimes.changes;
  }

  /** Last decision in full; `null` before the first decision, or if decisions are not traced. */
  get decision(): Decision | null {
    return this.#decisions.last;
  }

  /** Reason for reduce-only that lasts until a resume; `null` if none, or if inventory is only near its limit. */
  get reducingBecause(): string | null {
    return this.#risk.reducingBecause;
  }

  /**
   * Reason of the first loss since the last resume that requires reduce-only, even if another reason had set
   * reduce-only before; `null` if there is none.
   */
  get reducingLoss(): string | null {
    return this.#risk.reducingLoss;
  }

  /** Whether inventory is known and within its limit. */
  get isWithinLimit(): boolean {
    return this.#risk.isWithinLimit;
  }

  /** Sources of the reference price at a time; `null` if none are configured. */
  livePrice(at: Millis): LivePriceStatus | null {
    return this.#livePrice?.status(at) ?? null;
  }

  /** Sources of the reference price whose basis in a ledger is not used; see `LivePrice.unprovenBases`. */
  unprovenBases({ bases = {} }: Pick<BookState, 'bases'>): readonly string[] {
    return this.#livePrice?.unprovenBases(bases) ?? [];
  }

  /** Last readings of the sources of the reference price, as events for another engine. */
  sourceEvents(at: Millis): readonly Extract<EngineEvent, { kind: 'source' }>[] {
    return (this.#livePrice?.readings ?? []).map(reading => ({ kind: 'source', at, ...reading }));
  }

  snapshot(at: Millis): Snapshot {
    const shown = {
      riskContext: this.riskContext(at),
      regimes: this.#risk.regimes,
      decisions: this.#decisions,
      account: this.#state.accounts.own,
      inventory: this.#inventory,
      lastEventAt: this.#at,
      market: this.#market,
      adverseSelection: this.#adverseSelection,
      counts: this.#counts,
      quoteUptime: this.#quoteUptime,
      figures: this.#quoter.figures,
      livePrice: this.livePrice(at),
      elsewhere: this.#hedgeDebt?.figures(this.#exposure, this.#state.accounts.transit) ?? null,
      smallestSizes: smallestSizes(this.#state.firstFills, this.#state.firstHedges),
      fills: this.#fills,
      missing: this.#evidence.missing(
        {
          account: this.#state.accounts.own,
          fresh: this.#fresh,
          orders: this.#orders,
          regime: this.#risk.regimes.state,
          staleAfterMs: this.#options.timing.privateStaleAfterMs,
        },
        at,
      ),
    };
    return snapshotOf(shown, at);
  }

  /**
   * Computes a decision without acting on it: the strategy's quote, its normalized levels, and the gate's verdict on
   * each order.
   */
  preview(at: Millis): Preview {
    const halt = this.#isInventoryKnown ? this.#risk.pendingHaltReason(at) : null;
    const riskContext = this.riskContext(at);
    const refusal = quotingRefusal(riskContext);
    if (refusal !== null && !this.#market.isQuotable) return emptyPreview(halt, refusal);
    const shaped = this.#shaped(at);
    const hedgeRooms = this.#hedgeRooms(shaped);
    const quote = this.#pulled(shaped, at, hedgeRooms);
    return previewOf(quote, { ...riskContext, hedgeRooms }, { halt, refusal, mid: this.#market.mid });
  }

  #decide(at: Millis): readonly Approved<Command>[] {
    this.#isDecisionDue = false;
    this.#decidedAt = at;
    this.#decidedPrice = this.livePrice(at)?.price?.price ?? null;
    this.#orders.tick(at);
    if (this.#isInventoryKnown && this.#risk.check(at)) this.#isDecisionDue = true;
    if (this.#isInventoryKnown) this.#hedgeDebt?.check(this.#exposure);
    let riskContext = this.riskContext(at);
    const refusal = quotingRefusal(riskContext);
    this.#risk.look(at, riskContext, refusal);
    if (this.#risk.regimes.isReduceOnly !== riskContext.reduceOnly) riskContext = this.riskContext(at);
    const { places, cancels } = this.#quoter.decide(at, refusal, riskContext, () => this.#wanted(at));
    const news = this.#quotingNews.newsAfter(
      refusal,
      this.#decisions.unshown,
      () => this.riskContext(at),
      () => this.#operatorTask(at),
      this.#silenceSeverity,
    );
    if (news !== null) this.#options.onNews?.(news);
    // Cancels go first, because they are urgent, and because they release funds for placements.
    const unknown = this.#unknownOrders.cancels(at, cancels);
    // Cancels of unknown orders go last: there may be many, and all may wait on a broken connection.
    const ordered: Approved<Command>[] = [...approveByIds('cancel', cancels), ...unknown];
    for (const id of cancels) this.#orders.cancelSent(id, at);
    for (const command of ordered)
      if (command.kind === 'cancel') for (const id of command.ids) this.#quoter.postOnlyBackoff.onSeenOrCanceled(id);
    ordered.push(...places);
    const { killSwitch } = this.#risk;
    if (killSwitch) for (const command of ordered) if (command.kind !== 'look') killSwitch.message(at);
    ordered.push(...this.#unknownOrders.looks(at));
    return ordered;
  }

  #readOpenOrders(event: Extract<AccountEvent, { kind: 'open orders' }>): void {
    this.#state.halt(
      this.#orphanOrders.onOpenOrders(event, this.#rules.instrument, order =>
        this.#options.onNews?.({ kind: 'canceling', order, reason: 'not ready' }),
      ),
    );
    this.#foreignOrders.read(event, this.#rules.instrument);
    this.#markInBook(event.orders);
    this.#orders.read(event.orders, event.complete, event.startedAt, event.at);
    if (event.complete || event.current === true) this.#fresh.read('openOrders', event.startedAt);
  }

  /** Records which orders the exchange reports in the book. */
  #markInBook(reports: readonly OrderReport[]): void {
    for (const { originId, oid } of reports)
      this.#quoter.postOnlyBackoff.onSeenOrCanceled(originId ?? this.#orders.byOid(oid)?.id ?? oid);
  }

  /** State of a book that no earlier run had: its target is what belongs to it now. */
  get firstState(): BookState {
    const held = this.#state.held(this);
    const target = storedTarget(this.#options.instrument, held);
    return { ...target, ...(this.#state.isHome(this) ? {} : { held }), guard: null };
  }

  /** Restores an order of an earlier run. */
  restoreOrder(order: RestoredOrder, at: Millis): void {
    this.#orders.restore(order, at);
  }

  /** Restores the state of an earlier run, after the accounts have been restored. */
  restore(state: BookState, at: Millis): void {
    const target = targetMoney(this.#options.instrument, state);
    this.#inventory.restore(state.held ?? this.#state.held(this), target, state.profit);
    this.#endEarlierHour(state.profit ?? null, at);
    if (state.guard !== null) this.#risk.killSwitch?.restore(state.guard);
    if (state.priceDoubt !== undefined) this.#state.restoreDoubt(this, state.priceDoubt);
    this.#keptHedgeDebt = state.hedgeDebt;
    if (state.hedgeDebt !== undefined) this.#hedgeDebt?.restore(state.hedgeDebt);
    this.#keptAdverseState = state.adverse;
    if (state.adverse !== undefined) this.#adverseSelection?.restore(state.adverse);
    this.#keptBases = state.bases;
    if (state.bases !== undefined) this.#livePrice?.restore(state.bases, at);
    this.#keptPastPrices = state.pastPrices;
    if (state.pastPrices !== undefined) this.#pastPrice?.restore(state.pastPrices, at);
  }

  /** Reports the end of the hour in which the earlier run ended, if that hour is over. */
  #endEarlierHour(earlier: ProfitSinceOpening | null, at: Millis): void {
    if (earlier === null || earlier.at === null) return;
    this.hourEnds.begin(earlier.at);
    if (this.hourEnds.isOver(at)) this.hourEnds.end(earlier, at);
  }

  /** Reports a loss of a halted book; call at each decision of an engine with several books. */
  checkHalted(at: Millis): void {
    if (this.#isInventoryKnown) this.#risk.checkHalted(at);
  }

  halt(reason: string): void {
    this.#isDecisionDue = true;
    this.#risk.halt(this.#at, reason);
  }

  /** Returns the strategy's quote for a decision, adjusted to the regime and without pulled sides. */
  #wanted(at: Millis): Quote {
    const shaped = this.#shaped(at);
    const { failure = null, isLearning = false } = shaped;
    this.#risk.regimes.apply({ kind: 'strategy', at, failure });
    this.#silenceSeverity = failure !== null ? 'error' : isLearning ? 'info' : null;
    this.#hedgeDebt?.wanted(shaped, this.#exposure);
    return this.#pulled(shaped, at, this.#hedgeRooms());
  }

  /** Returns the strategy's quote, adjusted to the regime. */
  #shaped(at: Millis): Quote {
    const view = this.#view(at);
    const joint = this.#withJointFigure(this.#options.strategy.quote(view), view.skewPosition);
    const quote = this.#withCrossFigure(joint, view);
    return this.#risk.regimes.shape(quote, this.#market.mid, this.#inventory.positionLots());
  }

  /** Adds the inventory by which the strategy skewed its quotes to the figures of the quote. */
  #withJointFigure(quote: Quote, joint: number | undefined): Quote {
    if (joint === undefined) return quote;
    const { major, lot } = this.#rules.instrument;
    const figure = { name: 'joint inventory', value: joint * Number(lot), unit: major };
    return { ...quote, figures: [...(quote.figures ?? []), figure] };
  }

  /** Adds the correction of the fair value by other books to the figures of the quote. */
  #withCrossFigure(quote: Quote, { fair, mid }: View): Quote {
    const ticks = fair?.steps.at(-1)?.ticks ?? 0;
    if (ticks === 0) return quote;
    const figure = { name: 'cross rates', value: (ticks * 10_000) / mid, unit: 'bps' };
    return { ...quote, figures: [...(quote.figures ?? []), figure] };
  }

  /** Returns the quote without pulled sides, and without sides for which hedges have no room. */
  #pulled(quote: Quote, at: Millis, rooms: HedgeRooms | null): Quote {
    const doubt = this.#state.priceDoubt(this);
    const certain = doubt === null ? quote : doubtedQuote(quote, doubt, this.#market.mid);
    const left = this.#puller?.shape(certain, at, this.#market.mid) ?? certain;
    return rooms === null ? left : (this.#hedgeDebt?.shape(left, rooms, this.#orders.live) ?? left);
  }

  /**
   * Returns the maximum lots of orders per side, so that hedges on another exchange can keep up; `null` without such
   * hedges.
   */
  #hedgeRooms(quote: Quote | null = null): HedgeRooms | null {
    return this.#hedgeDebt?.rooms(this.#exposure, quote) ?? null;
  }

  get #exposure(): Exposure {
    const { instrument } = this.#rules;
    const mid = this.#market.isQuotable ? this.#market.mid : 0;
    return {
      instrument,
      inventory: this.#inventory.position(),
      converting: this.#state.accounts.converting(instrument),
      mid: money((BigInt(2 * mid) * instrument.tickMoney) / 2n),
    };
  }

  /**
   * Cancels quotes that this event made unsafe. The next regular decision keeps the side empty while the cause lasts.
   */
  #pull(event: Extract<EngineEvent, { kind: 'public trade' | 'reference' }>): readonly Approved<Command>[] {
    const puller = this.#puller;
    if (puller === null) return NOTHING;
    const { at } = event;
    const mid = this.#market.isQuotable ? this.#market.mid : 0;
    puller.apply(event, mid);
    const cancels = this.#quoter.pull(({ side, price }) => puller.pullReason(side, price, at, mid));
    if (cancels.length === 0) return NOTHING;
    const ordered = approveByIds('cancel', cancels);
    for (const id of cancels) {
      this.#orders.cancelSent(id, at);
      this.#quoter.postOnlyBackoff.onSeenOrCanceled(id);
    }
    for (let n = 0; n < ordered.length; n++) this.#risk.killSwitch?.message(at);
    return ordered;
  }

  /**
   * Applies a reading of a source, and cancels the quotes that it made unsafe. Decides immediately if the combined
   * price moved by `moveBps` since the last decision, or became known or unknown.
   */
  #readSource({
    at,
    startedAt,
    feed,
    reading,
  }: Extract<EngineEvent, { kind: 'source' }>): readonly Approved<Command>[] {
    const live = this.#livePrice;
    if (live === null) return NOTHING;
    live.read(feed, startedAt, reading);
    this.#learnBasis(at);
    const now = live.status(at).price;
    const before = this.#decidedPrice;
    const moveBps = this.#options.livePrice?.moveBps ?? 0;
    if (now === null || before === null) this.#isDecisionDue ||= (now === null) !== (before === null);
    else if (!(Math.abs(now.price - before) * 10_000 < moveBps * before)) this.#isDecisionDue = true;
    const pulled = now === null ? NOTHING : this.#pull({ kind: 'reference', at, startedAt: now.at, price: now.price });
    if (at < this.decidesAt) return pulled;
    return [...pulled, ...this.#decide(at)];
  }

  /** Updates the basis of each source with the price of this book, if the book is fresh. */
  #learnBasis(at: Millis): void {
    if (this.#livePrice === null) return;
    const staleAfterMs = this.#options.limits?.staleAfterMs ?? 0;
    if (!(this.#market.isQuotable && at - this.#fresh.book <= staleAfterMs)) return;
    const { mid } = this.#market;
    const { takerRate } = this.#rules;
    this.#livePrice.learn(at, { mid, halfSpread: bestOf(this.#market.depth, 'sell') - mid, takerRate });
  }

  #onPublicTrade(event: Extract<EngineEvent, { kind: 'public trade' }>): void {
    const { price, amount, side, tradedAt: at = event.at } = event;
    if (amount !== undefined && side !== undefined) this.#options.strategy.trade?.({ at, price, amount, side });
  }

  #readBook({ book, startedAt, at }: Extract<EngineEvent, { kind: 'book' }>): void {
    this.#fresh.read('book', startedAt ?? at);
    this.#market.read(book, startedAt, this.#orders);
    this.#quoter.postOnlyBackoff.onBook(this.#market.depth, startedAt);
    const mid = this.#market.isQuotable ? this.#market.mid : 0;
    this.#learnBasis(at);
    // Until the balances of both exchanges are known, only a part of the inventory is known, so price moves must not
    // count as profit.
    if (mid > 0 && this.#isInventoryKnown) this.#inventory.mark(2 * mid);
    this.#pastPrice?.see(at, 2 * mid);
    this.#adverseSelection?.market(at, mid);
    this.#state.bookRead(this, at);
  }

  /** Applies a booked change that is not a trade in this book. */
  moved(booked: Booked, at: Millis): void {
    this.#inventory.moved(booked, at);
  }

  /** Applies a booked change on another exchange. */
  placed(change: ElsewhereChange): void {
    this.#inventory.placed(change);
  }

  /** Applies a trade in this book, also to the bot's order that it filled, if any. */
  traded(trade: OwnTrade, at: Millis): void {
    // The trade of an order that is not the bot's may have a price between two ticks. The rounded price is only
    // displayed; the amounts are exact.
    const price = priceExact(this.#rules.instrument, trade.price) ?? priceFloor(this.#rules.instrument, trade.price);
    const before = this.#inventory.profitOfTrading();
    const fill = this.#inventory.trade(trade, price, this.#state.ids.ownerOf(trade, this.#orders));
    if (fill.id === null) return;
    const [major, { lotMoney }] = [moneyOf(trade.major), this.#rules.instrument];
    const lots = Number(major / lotMoney) as Amount;
    this.#orders.filled(fill.id, trade.oid, lots, at, money(major % lotMoney));
    this.#fills++;
    this.#risk.killSwitch?.fill(at);
    this.#lastFill[trade.side] = { at, side: trade.side, price };
    if (fill.maker) this.#adverseSelection?.fill(fill.id, trade.side, price, price * lots, trade.createdAt, at);
    this.#isDecisionDue = true;
    const after = this.#inventory.profitOfTrading();
    const gain = before === null || after === null ? null : money(after - before);
    this.#options.onNews?.({ kind: 'fill', fill, level: this.#levelOf(fill.id), gain });
  }

  #levelOf(id: string): number | null {
    return this.#orders.get(id)?.level ?? null;
  }

  /** Returns the bot's order that a trade filled. */
  fillOf(trade: OwnTrade): FilledOrder {
    const id = this.#state.ids.ownerOf(trade, this.#orders);
    return { id, level: id === null ? null : this.#levelOf(id) };
  }

  #placed(id: string, outcome: Outcome<{ readonly oid: string }>, at: Millis): void {
    const order = this.#orders.get(id);
    if (!order) throw new Error(`received an answer for order ${id}, which was never placed`);
    const exists = outcome.kind === 'refused' && outcome.meaning === 'duplicate id';
    const wouldTake = outcome.kind === 'refused' && outcome.meaning === 'post only';
    // A rejection on arrival has the same cause as a cancel on arrival.
    if (wouldTake) this.#onPostOnlyEnd(order, 'canceled', at);
    this.#orders.answered(id, outcome, exists, at);
    if (outcome.kind === 'unknown') this.#risk.killSwitch?.unknown(at);
    if (outcome.kind === 'done') {
      this.#counts.add(order.side, 'placed');
      this.#quoter.refusalBackoff.accepted(order.side);
    }
    if (outcome.kind === 'refused' && !exists) {
      this.#counts.add(order.side, 'refused');
      this.#options.onNews?.({ kind: 'refused', order, code: outcome.code, message: outcome.message });
      if (wouldTake) return;
      // A rejection by the bot's own client is no evidence about the order. A minute without request budget, for
      // example, must not halt the bot.
      const isLocal = isLocalRefusal(outcome.code);
      this.#decisions.count(order.side, 'not placed', isLocal ? 'not sent' : 'refused by the exchange');
      if (!isLocal) this.#risk.killSwitch?.refusal(at);
      // An order beyond its book's share of the request budget is not a failure: the share grows with each order of
      // another book.
      if (outcome.code === 'share') this.#quoter.refusalBackoff.waits(order.side, at);
      else this.#quoter.refusalBackoff.refused(order.side, at);
    }
  }

  #onOrderNews(news: OrderNews): void {
    this.#counts.count(news);
    this.#isDecisionDue = true;
    if (news.kind === 'ended') this.#onPostOnlyEnd(news.order, news.ending, this.#at);
    this.#options.onNews?.({ kind: 'order', news });
  }

  #onPostOnlyEnd(order: Order, ending: Ending, at: Millis): void {
    if (this.#quoter.postOnlyBackoff.onOrderEnd(order, ending, at))
      this.#decisions.count(order.side, 'not placed', 'refused as post-only');
  }

  riskContext(at: Millis): RiskContext {
    const { timing, unknownMax } = this.#options;
    const { major, minor } = this.#rules.instrument;
    return {
      ...this.#orderBounds,
      stopping: this.#state.isStopping,
      halted: this.haltedBecause !== null,
      paused: this.pausedBecause !== null,
      bookRefusal: this.#rules.refusal,
      missing: this.#missing(at),
      livePriceMissing: this.livePrice(at)?.refusal ?? null,
      bookAge: at - this.#fresh.book,
      privateAge: at - this.#fresh.account,
      privateStaleAfterMs: timing.privateStaleAfterMs,
      sentinelMissing: !this.#state.sentinel.alive,
      heldBySentinel: this.#state.sentinel.holds === true,
      ledgerDiffers: this.#state.accounts.differs,
      differenceElsewhere: this.#state.accounts.elsewhere?.difference ?? null,
      depth: this.#market.depth,
      pastPrice: this.#pastPrice?.at(at) ?? 0,
      foreignBests: this.#foreignOrders.bests,
      position: this.#isInventoryKnown ? this.#inventory.positionLots() : 0,
      converting: this.#state.accounts.converting(this.#rules.instrument),
      hedgeRooms: this.#hedgeRooms(),
      currencyRooms: this.#state.currencyRooms(this),
      valueRoom: this.#state.valueRoom(this, at),
      orders: this.#orders.live,
      majorFunds: this.#state.funds(major, this),
      minorFunds: this.#state.funds(minor, this),
      unknownMax: unknownMax ?? 2,
      reduceOnly: this.#risk.regimes.isReduceOnly,
    };
  }

  /**
   * Rules and limits of orders. Until the first fills on an untried exchange have reconciled, both allow only the
   * smallest amount.
   */
  get #orderBounds(): Pick<RiskContext, 'instrument' | 'limits'> {
    const { limits } = this.#options;
    const { instrument } = this.#rules;
    if (limits === null || !this.#state.firstFills.isSmallest) return { instrument, limits };
    const smallest = smallestAmountAt(instrument, this.#market.depth);
    const cut = (most: number): Amount => Math.min(most, smallest) as Amount;
    return {
      instrument: { ...instrument, amountMax: cut(instrument.amountMax) },
      limits: { ...limits, orderAmountMax: cut(limits.orderAmountMax ?? Infinity) },
    };
  }

  /**
   * Whether the opening balances of the other exchange are known; true if the bot has no account there. Until then, no
   * order is placed, and no limit is checked.
   */
  get #isInventoryKnown(): boolean {
    return this.#state.accounts.isElsewhereOpen;
  }

  /**
   * Returns the data that is missing before the first quote. Returns `null` once rules, balances, orders and trades are
   * read and no order of an earlier run may be live.
   */
  #missing(at: Millis): string | null {
    return describeMissingData({
      fees: this.#rules.hasFees,
      balances: this.#state.accounts.missing(at),
      account: this.#fresh.account !== -Infinity,
      isAlone: !this.#orphanOrders.mayPlaceAgain(at),
      hasNoEarlierOrders: this.#isAlone,
    });
  }

  /** Returns what the operator must do before the first quote, once nothing else is missing; `null` if nothing. */
  #operatorTask(at: Millis): string | null {
    const task = this.#state.accounts.transit.overdue(at);
    return task !== null && task === this.#missing(at) ? task : null;
  }

  /** Returns the reference price: of the sources if configured, otherwise of the last event. */
  #reference(at: Millis): Reference | null {
    const live = this.livePrice(at);
    if (live === null) return this.#market.reference;
    if (live.price === null) return null;
    const { at: readAt, price, there } = live.price;
    return { at: readAt, price, live: { there, sources: live.sources } };
  }

  /**
   * Inventory by which the strategy skews its quotes, in lots: the joint inventory of all books, limited to the larger
   * of `positionMax` and the book's own inventory. A book that only reduces its inventory skews by its own inventory.
   */
  get #skewLots(): number {
    const own = this.#inventory.positionLots();
    const joint = this.#state.jointInventoryOf(this);
    if (joint === null || this.#risk.regimes.isReduceOnly) return own;
    const most = Math.max(Math.abs(own), this.#options.limits?.positionMax ?? 0);
    return Math.max(-most, Math.min(most, Math.round(joint / Number(this.#rules.instrument.lot))));
  }

  /** Distance from the mid price to the fair value that other books imply, in ticks; 0 if they imply none. */
  #crossTicks(at: Millis): number {
    if (!this.#state.isComparing) return 0;
    const tick = Number(this.#rules.instrument.tick);
    const maxAgeMs = this.#options.limits?.staleAfterMs ?? 0;
    return this.#state.crossCorrection(this, this.#market.mid * tick, at, maxAgeMs) / tick;
  }

  /** Fair value that other books imply; `null` if it is the mid price. */
  #fair(at: Millis): Fair | null {
    const ticks = this.#crossTicks(at);
    if (ticks === 0) return null;
    const { mid } = this.#market;
    const steps = [
      { name: 'fair value: mid', ticks: mid },
      { name: 'cross rates', ticks },
    ];
    return { price: mid + ticks, steps };
  }

  /** Inventory by which the strategy skews its quotes, in the base currency: the joint or its own. */
  get skewAmount(): number {
    return this.#skewLots * Number(this.#rules.instrument.lot);
  }

  #view(at: Millis): View {
    const fair = this.#fair(at);
    return {
      at,
      instrument: this.#rules.instrument,
      depth: this.#market.depth,
      mid: this.#market.mid,
      ...(fair === null ? {} : { fair }),
      lastTrade: this.#market.lastTrade,
      hearsTrades: this.#market.hearsTrades,
      reference: this.#reference(at),
      rfqPrices: this.#market.rfqPrices,
      position: this.#inventory.positionLots(),
      ...(this.#state.joint === null ? {} : { skewPosition: this.#skewLots }),
      positionMax: this.#options.limits?.positionMax ?? (0 as Amount),
      makerRate: this.#rules.makerRate,
      takerRate: this.#rules.takerRate,
      tierWorth: this.#rules.tierWorth,
      widenBps: this.#adverseSelection?.widenBps(at) ?? NOT_WIDENED,
      lastBuy: this.#lastFill.buy,
      lastSell: this.#lastFill.sell,
    };
  }
}
