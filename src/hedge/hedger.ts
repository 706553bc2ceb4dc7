/**
 * Hedger: compares hedge routes, chooses the cheapest, stores the hedge on disk, executes it and determines its
 * outcome.
 */
import {
  counted,
  money,
  moneyOf,
  orderIdOf,
  sleep,
  textOfMoney,
  amountToHedge,
  atOtherMid,
  compareRoutes,
  type Conversion,
  type ConversionOffer,
  type ConversionState,
  type EngineNews,
  type FirstCount,
  type Millis,
  type Money,
} from '../core/index.ts';
import { outcomeFromBalances, StableVerdict } from './balanceEvidence.ts';
import { ElsewhereRoute, NOTHING_EXECUTED, type ElsewhereEnd, type StatedExecution } from './elsewhereRoute.ts';
import { BandFollower } from './bandFollower.ts';
import { CheckBackoff } from './checkBackoff.ts';
import { Flattening } from './flattening.ts';
import { Offers } from './offers.ts';
import { plannedSecondLeg, routeCostMax, routeRecord, requestSecondLeg } from './thirdCurrencyRoutes.ts';
import {
  conversionOf,
  hedgeComparisonText,
  isOver,
  mayStillExecute,
  describeHedge,
  comparisonRows,
  type HedgeRow,
} from './hedgeText.ts';
import { HedgeHistory } from './hedgeHistory.ts';
import { hasRoutesHere, type HedgerOptions, type HedgeRun, type HedgeSetup } from './setup.ts';
import { amountInRoom, reconciledElsewhere, lateProblem, remainingBudget, hedgeableAmount } from './roomAndBudget.ts';
import { takerOrderOutcome, takerOrderFromNews, type TakerOrderState } from './takerOrderOutcome.ts';
import { bookRoute, requestRoutes, type ExecutableRoute } from './pricedRoutes.ts';

/** Maximum time that a taker order waits for the bot's own quotes to be canceled. */
const TAKE_WITHIN_MS = 15_000;
/** Maximum age of the book on the other exchange from which an order is priced, when the order is sent. */
const PRICED_WITHIN_MS = 15_000;
/** Minimum time between two checks that notifications of conversions trigger. */
const SOON_EVERY_MS = 1_000;
const SECOND_LEG_EVERY_MS = 5_000;
/** Maximum wait, in ms, for the second leg of an earlier run's route if the configuration no longer has routes. */
const SECOND_LEG_WAIT_MS = 600_000;

/** Reason of a hedge that was ready to be sent and was not. */
const NOT_SENT = 'the hedge could not be written to disk, or trading was stopped';

const NOTHING = money(0n);

export class Hedger {
  readonly #options: HedgerOptions;
  readonly #setup: HedgeSetup;
  readonly #run: HedgeRun;
  readonly #offers: Offers;
  readonly #rows: HedgeHistory;
  /** Hedges on another exchange; `null` if there are none. */
  readonly #elsewhere: ElsewhereRoute | null;
  /** Computed band; `null` if the band is configured. */
  readonly #band: BandFollower | null;
  #takes = 0;
  /** Latest state of the open hedge's taker order. */
  #order: TakerOrderState | null = null;
  #isBusy = false;
  /** Whether a fill arrived during a check, so that another check follows. */
  #isDueAgain = false;
  /** Id of the last hedge of which the log says that look-ups cannot prove its outcome; `null` if there is none. */
  #undecidable: string | null = null;
  /** Outcome of the open hedge as the operator states it; `null` if none, or after a check has applied it. */
  #statement: {
    readonly id: string;
    readonly as: 'executed' | 'failed';
    readonly why: string;
    readonly amounts: StatedExecution | null;
  } | null = null;
  #restUntil = -Infinity;
  #soonAt = -Infinity;
  readonly #evidence = new StableVerdict();
  readonly #flattening: Flattening;
  readonly #backoff: CheckBackoff;

  constructor(options: HedgerOptions) {
    this.#options = options;
    this.#setup = options.setup;
    this.#run = options.run;
    this.#offers = new Offers(options.setup.desk, options.run.clock);
    this.#rows = new HedgeHistory(options.kept, options.run);
    const { elsewhere } = options.setup;
    this.#elsewhere = elsewhere ? new ElsewhereRoute(elsewhere, options.run) : null;
    this.#flattening = new Flattening(options, this.#elsewhere);
    const { bandModel, rules, everyMs, pauseMs } = options.setup;
    this.#backoff = new CheckBackoff(everyMs, pauseMs);
    this.#band = bandModel ? new BandFollower(bandModel, rules.costMaxBps) : null;
  }

  get everyMs(): Millis {
    return this.#setup.everyMs;
  }

  /** Hedges that must be stored in one transaction with the ledger. */
  get rows(): readonly HedgeRow[] {
    return this.#rows.list;
  }

  /** Restores the hedges of an earlier run, because they may still execute. Call this before the bot quotes. */
  restore(): void {
    this.#rows.restore(this.#waitMs);
    const { elsewhere } = this.#setup;
    if (elsewhere !== undefined && this.#reconciled < elsewhere.smallestUntil)
      this.#run.log.info(
        { reconciled: this.#reconciled },
        `hedges at ${elsewhere.at.place} have the smallest size until ${elsewhere.smallestUntil} of them have reconciled with the balances there; so far ${this.#reconciled} have`,
      );
    for (const row of this.#rows.list) {
      if (mayStillExecute(row) && row.offer?.way === 'elsewhere') {
        this.#there.restore(row);
        continue;
      }
      if (row.state === 'between' || (mayStillExecute(row) && row.route?.leg === 1)) this.#plan(row);
      if (mayStillExecute(row) && row.offer?.way !== 'book') this.#tell('in flight', conversionOf(row));
    }
  }

  /**
   * Applies a comparison of the balances on the other exchange with the ledger. Until enough hedges have reconciled
   * there, hedges have the smallest size.
   */
  compared(agrees: boolean): void {
    const { elsewhere } = this.#setup;
    if (elsewhere === undefined) return;
    const { at, smallestUntil } = elsewhere;
    const before = this.#reconciled;
    this.#rows.compared(at.place, agrees);
    if (before < smallestUntil && this.#reconciled >= smallestUntil)
      this.#run.log.info(
        { reconciled: this.#reconciled },
        `${counted(smallestUntil, 'hedge')} at ${at.place} have reconciled, so hedges there no longer have the smallest size`,
      );
  }

  /** Count of reconciled hedges on the other exchange; `undefined` if hedges there may have any size. */
  get firstHedges(): FirstCount | undefined {
    const until = this.#setup.elsewhere?.smallestUntil ?? 0;
    const reconciled = this.#reconciled;
    return reconciled < until ? { reconciled, until } : undefined;
  }

  /** Number of hedges that have reconciled on the other exchange. */
  get #reconciled(): number {
    return reconciledElsewhere(this.#rows.list, this.#setup.elsewhere?.at.place ?? '');
  }

  /** Checks the open hedge, or whether a new hedge is needed. Does nothing while another check runs. */
  async turn(): Promise<void> {
    await this.#turnOnce();
    await this.#turnAgain();
  }

  async #turnOnce(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      const { open } = this.#rows;
      if (this.#flattening.isNew()) {
        this.#restUntil = -Infinity;
        this.#backoff.reset();
      }
      if (open && mayStillExecute(open)) await this.#resolve(open);
      else if (!this.#options.mayAct()) return;
      else if (open) await (this.#isResting ? undefined : this.#requestSecondLeg(open));
      else if (!this.#isResting || this.#elsewhere !== null) await this.#consider();
    } finally {
      this.#isBusy = false;
      this.#applyStatement();
    }
  }

  /**
   * Hedges a fill immediately, on another exchange, instead of at the next check. Does so only if no hedge is open and
   * no route needs an offer. A fill during a check causes another check.
   */
  async turnAfterFill(): Promise<void> {
    if (this.#elsewhere === null || this.#needsOffers) return;
    this.#isDueAgain = true;
    await this.#turnAgain();
  }

  /** Checks again if fills arrived during the last check. */
  async #turnAgain(): Promise<void> {
    while (this.#isDueAgain && !this.#isBusy && this.#rows.open === undefined) {
      this.#isDueAgain = false;
      await this.#turnOnce();
    }
  }

  /** Whether a route needs offers, which are requested only after a pause. */
  get #needsOffers(): boolean {
    const { venues, routes } = this.#setup;
    return routes !== undefined || venues.some(way => way === 'rfq' || way === 'conversion');
  }

  get #isResting(): boolean {
    return this.#run.clock.elapsed() < this.#restUntil;
  }

  /**
   * Applies engine news: counts maker fills for the band, and records the state of the open hedge's taker order for the
   * next check.
   */
  onNews(news: EngineNews): void {
    if (news.kind === 'fill' && news.fill.maker) this.#band?.fill(this.#run.time(), news.fill.major);
    const order = takerOrderFromNews(news);
    if (order !== null && order.id === this.#rows.open?.offer?.id) this.#order = order;
  }

  /** Polls an open conversion immediately, because a notification reported a change. Polls at most once per second. */
  async pollSoon(): Promise<void> {
    const now = this.#run.clock.elapsed();
    if (now - this.#soonAt < SOON_EVERY_MS || !this.#rows.isMoving) return;
    this.#soonAt = now;
    await this.turn();
  }

  /**
   * Checks the open hedge until it can no longer execute or `deadline` passes. Calls `readBalances` before each check,
   * because some outcomes depend on balances only.
   */
  async settle(deadline: Millis, readBalances: () => Promise<unknown>): Promise<void> {
    while (this.#rows.isMoving && this.#run.clock.elapsed() < deadline) {
      await readBalances();
      await this.turn();
      await sleep(this.#run.clock, SOON_EVERY_MS);
    }
  }

  /**
   * Ends a hedge that no look-up can settle, with the outcome that the operator states. `executed` books the offered
   * amounts, or for an order on another exchange the stated `amounts`. Returns `busy` during a check, while the hedge
   * may still be in flight, and while look-ups on the other exchange may still decide. Returns `not open` if the hedge
   * has ended or can be looked up, and `incomplete` if the stated amounts are missing.
   */
  settleAs(
    id: string,
    as: 'executed' | 'failed',
    why: string,
    amounts: StatedExecution | null = null,
  ): 'settled' | 'busy' | 'not open' | 'incomplete' {
    if (this.#rows.list.some(row => row.id === id && row.why === why && isOver(row))) return 'settled';
    const { open } = this.#rows;
    if (open?.id !== id || !mayStillExecute(open) || open.offer?.way === 'book' || open.conversionId !== null)
      return 'not open';
    if (open.offer?.way === 'elsewhere' && as === 'executed' && amounts === null) return 'incomplete';
    this.#statement = { id, as, why, amounts };
    if (!this.#isBusy) this.#applyStatement();
    return this.#statement === null ? 'settled' : 'busy';
  }

  /**
   * Applies the outcome that the operator stated, between checks and only if the exchange can no longer execute the
   * hedge.
   */
  #applyStatement(): void {
    const { open } = this.#rows;
    if (this.#statement === null || open === undefined || open.id !== this.#statement.id) return;
    const isElsewhere = open.offer?.way === 'elsewhere';
    if (isElsewhere ? !this.#there.isUndecidable : !this.#isOutcomeDue(open)) return;
    const { as, why, amounts } = this.#statement;
    this.#statement = null;
    if (!mayStillExecute(open) || open.conversionId !== null) return;
    this.#run.log.warn({ id: open.id, as, why }, `hedge ${open.id}: ${why}`);
    if (isElsewhere)
      this.#endElsewhere(open, this.#there.endAsStated(open, as === 'executed' ? amounts : null), why, [why]);
    else if (as === 'executed') this.#done(open, why);
    else this.#handleNotExecuted(open, why);
  }

  async #consider(): Promise<void> {
    const { pauseMs, quoteLifeMinMs } = this.#setup;
    const { clock, log, time } = this.#run;
    const { orders } = this.#options.kept;
    const before = this.#options.view();
    const { inventory, instrument } = before;
    if (before.refusal !== null || !before.isReconciled) return;
    const flatten = this.#flattening.request;
    if (flatten !== null && this.#flattening.isDone(before)) return;
    const own = flatten ? this.#flattening.rules : this.#band?.rules(time(), before.mid);
    const rules = { ...this.#setup.rules, ...own };
    const wanted = amountToHedge(inventory, rules);
    if (wanted === 0n) return this.#backoff.reset();
    // The pause limits hedges on the bot's own exchange; a hedge on another exchange needs none.
    const isResting = this.#isResting;
    const here = isResting ? NOTHING : hedgeableAmount(before, wanted);
    const amount = this.#elsewhere === null ? here : amountInRoom(before, wanted);
    // A pause follows each check with a route on the bot's own exchange.
    const hasHere = hasRoutesHere(this.#setup);
    if (hasHere && !isResting) this.#restUntil = clock.elapsed() + pauseMs;
    if (amount === 0n) return log.info({}, 'hedge: the amount to hedge is locked or reserved by orders of the bot');
    const isAll = flatten !== null;
    // A too small amount ends the check here. Otherwise each check would record a hedge whose only route still waits
    // for more inventory.
    const isOnlyThere = here === 0n || !hasHere;
    if (isOnlyThere && !isAll && this.#elsewhere?.isTooSmall(before, amount) === true) return;
    if ((isResting || !hasHere) && this.#backoff.isResting(inventory, clock.elapsed())) return;
    const { left, budgetName, ...spent } = remainingBudget(this.#rows.list, rules, flatten, time());
    const reconciled = this.#reconciled;
    const computed = own !== undefined && flatten === null ? { band: textOfMoney(rules.band) } : {};
    this.#rows.begin(amount, { ...spent, ...computed });
    const asked = clock.elapsed();
    const [atHome, there] = await Promise.all([
      here === 0n ? [] : requestRoutes(this.#offers, this.#setup, instrument, here, before.mid),
      this.#elsewhere?.price(before, amount, { reconciled, isAll }) ?? null,
    ]);
    // The comparison of offers needs the book as it is after the requests.
    const seen = this.#options.view();
    const { mid } = seen;
    if (seen.refusal !== null) return this.#fail(`the book cannot be used: ${seen.refusal}`);
    const priced = [...atHome];
    if (there?.by === 'elsewhere') priced.push({ ...there, out: atOtherMid(there.out, amount > 0n, before.mid, mid) });
    else if (there !== null) priced.push(there);
    if (here !== 0n) priced.push(bookRoute(this.#setup, orders !== undefined, seen, here));
    const outs = priced.map(({ out }) => out);
    const by = (other: Partial<typeof rules>) =>
      compareRoutes(instrument, amount, inventory, mid, outs, { ...rules, ...other }, left, budgetName);
    const band = flatten === null ? this.#band : null;
    const decision = band?.decideWith({ at: time(), mid, inventory, amount, ways: outs }, by) ?? by({});
    const weighed = comparisonRows(decision);
    const known = { weighed, middle: textOfMoney(mid), inventory: textOfMoney(inventory) };
    const row = this.#rows.change({ state: 'quoted', ...known });
    log.info(
      { id: row.id, weighed },
      `hedge routes for ${textOfMoney(amount)} ${instrument.major}: ${hedgeComparisonText(weighed)}`,
    );
    const taken = priced.find(({ out }) => out.way === decision.taken);
    if (taken === undefined || taken.by === 'nothing') {
      const isPriced = there !== null && !('unavailableReason' in there.out);
      this.#backoff.failed(inventory, clock.elapsed(), isPriced);
      return this.#fail('no way out was taken');
    }
    if (flatten !== null && this.#flattening.request?.id !== flatten.id)
      return this.#fail('the flatten request ended before the hedge was sent');
    const major = moneyOf(amount > 0n ? taken.out.give.amount : taken.out.get.amount);
    // Fills may have changed the inventory, and the engine may have approved orders, since the routes were requested.
    const late = lateProblem(this.#options.view(), rules, amount, major);
    if (late !== null) {
      this.#isDueAgain = this.#elsewhere !== null && !this.#needsOffers;
      return this.#fail(late);
    }
    if (taken.by === 'take') this.#take(taken, decision.costMax);
    else if (taken.by === 'elsewhere') await this.#sendElsewhere(taken, decision.costMax);
    else {
      const offer = taken.by === 'route' ? taken.route.first : taken.offer;
      const costMax = taken.by === 'route' ? routeCostMax(major, mid, rules, left) : decision.costMax;
      const route = taken.by === 'route' ? { route: routeRecord(taken.route, amount, mid, costMax) } : {};
      if (clock.elapsed() - asked > offer.lifeMs - quoteLifeMinMs)
        this.#fail('the offer would expire before its acceptance reaches the exchange');
      else await this.#accept(offer, { ...route, costMax: textOfMoney(costMax) });
    }
  }

  /** Ends a hedge whose offer was never accepted. */
  #fail(why: string): void {
    this.#rows.change({ state: 'failed', why });
  }

  /** Stores the hedge on disk, then accepts the offer. An accepted offer is never requested again. */
  async #accept({ way, id, give, get, lifeMs }: ConversionOffer, and: Partial<HedgeRow>): Promise<void> {
    const { desk } = this.#setup;
    const { log, time } = this.#run;
    const offer = { way, id, give, get, lifeMs };
    const row = this.#rows.change({
      state: 'accepted',
      offer,
      acceptedAt: time(),
      conversionId: null,
      why: null,
      ...and,
    });
    this.#tell('in flight', conversionOf(row));
    if (row.route?.leg === 1) this.#plan(row);
    if (!this.#options.persist() || !this.#options.mayAct()) {
      this.#handleNotExecuted(this.#recordUnsent(row), NOT_SENT);
      return;
    }
    const outcome = await desk.accept({ way, id }, this.#options.mayAct);
    if (outcome.kind === 'done') this.#rows.change({ state: 'executing', conversionId: outcome.value.conversionId });
    // The hedger accepts each offer only once. If the exchange reports that the quote was executed before, this request
    // itself has executed it, and the conversion is certain to be listed.
    else if (outcome.kind === 'unknown' || outcome.meaning === 'executed before') {
      const [state, why] =
        outcome.kind === 'unknown' ? (['unknown', outcome.reason] as const) : (['executing', outcome.code] as const);
      this.#rows.change({ state, why });
      log.warn(
        { id: row.id },
        `hedge ${row.id}: outcome unknown; until the outcome is known, the limits count the hedge both as executed and as not executed`,
      );
    } else this.#handleNotExecuted(row, `refused: ${outcome.code} ${outcome.message}`);
    this.#options.persist();
  }

  /** Records that a hedge was not sent after all. The first leg of a route remains sent if its second was not. */
  #recordUnsent(row: HedgeRow): HedgeRow {
    return row.route?.leg === 2 ? row : this.#rows.change({ acceptedAt: null });
  }

  /** Starts a taker order for a hedge. The order and the hedge are stored on disk together before the order is sent. */
  #take({ take, out }: Extract<ExecutableRoute, { by: 'take' }>, costMax: Money): void {
    const { kept, persist, mayAct } = this.#options;
    const { time, step } = this.#run;
    const id = orderIdOf(kept.orders!, 'taker', ++this.#takes);
    const offer = { way: 'book', id, give: out.give, get: out.get, lifeMs: TAKE_WITHIN_MS } as const;
    const row = this.#rows.change({ state: 'accepted', offer, acceptedAt: time(), costMax: textOfMoney(costMax) });
    if (!persist() || !mayAct()) {
      this.#recordUnsent(row);
      this.#end('failed', NOT_SENT);
      return;
    }
    this.#order = { id, state: 'waiting' };
    step({ kind: 'take', at: time(), id, ...take, until: time() + TAKE_WITHIN_MS });
  }

  /** Stores an order for another exchange on disk, then sends it once. */
  async #sendElsewhere(taken: Extract<ExecutableRoute, { by: 'elsewhere' }>, costMax: Money): Promise<void> {
    const { kept, persist, mayAct } = this.#options;
    const { offer, elsewhere } = this.#there.rowOf(orderIdOf(kept.orders!, 'elsewhere', ++this.#takes), taken);
    const at = this.#run.time();
    const row = this.#rows.change({
      state: 'accepted',
      offer,
      elsewhere,
      acceptedAt: at,
      costMax: textOfMoney(costMax),
    });
    this.#there.fly(row);
    if (!persist() || !mayAct()) return this.#endElsewhere(this.#recordUnsent(row), NOTHING_EXECUTED, NOT_SENT);
    // The order may wait in its client: for the rules of the book, the time of the exchange, or request budget.
    const isWanted = () => mayAct() && this.#run.clock.elapsed() - taken.pricedAt <= PRICED_WITHIN_MS;
    const sent = await this.#there.send(row, isWanted);
    if (sent.kind === 'refused') return this.#endElsewhere(row, NOTHING_EXECUTED, `refused: ${sent.why}`);
    if (sent.kind === 'sent') {
      const executing = this.#rows.change({ state: 'executing' });
      persist();
      // An immediate-or-cancel order has usually ended when its answer arrives, and the next hedge must wait for this
      // end.
      return this.#findElsewhere(executing);
    }
    this.#rows.change({ state: 'unknown', why: sent.why });
    this.#run.log.warn(
      { id: row.id },
      `hedge ${row.id}: outcome unknown (${sent.why}); the bot looks the order up, and sends no other hedge until the order has certainly ended`,
    );
    persist();
  }

  async #findElsewhere(row: HedgeRow): Promise<void> {
    const end = await this.#there.find();
    if (typeof end !== 'string') return this.#endElsewhere(row, end, 'nothing was available at the price of the order');
    if (row.why !== end) this.#rows.change({ why: end });
    if (this.#there.isUndecidable && this.#undecidable !== row.id) {
      this.#undecidable = row.id;
      this.#run.log.warn(
        { id: row.id },
        `hedge ${row.id}: look-ups cannot prove the outcome (${end}); no other hedge is sent until they do, or until you state the outcome: puntas hedges settle ${row.id}`,
      );
    }
    // After a restart, the absence of an accepted order from the lists must not prove that it was never placed.
    if (row.state !== 'executing' && this.#there.isAccepted) {
      this.#rows.change({ state: 'executing' });
      this.#options.persist();
    }
  }

  /**
   * Books the end of an order on another exchange. `nothing` is the reason if the order executed nothing; `stated` are
   * the notes on an end that the operator stated.
   */
  #endElsewhere(row: HedgeRow, end: ElsewhereEnd, nothing: string, stated?: readonly string[]): void {
    const isFilled = end.filled > 0n;
    const asked = moneyOf(row.elsewhere?.order.amount ?? '0');
    if (isFilled) {
      const costMax = (moneyOf(row.costMax ?? '0') * end.filled + asked - 1n) / asked;
      this.#rows.change({ costMax: textOfMoney(costMax as Money) });
    }
    const isPart = isFilled && end.filled < asked;
    const part = isPart ? [`filled ${textOfMoney(end.filled)} of ${textOfMoney(asked)}`] : [];
    const notes = stated ?? [...part, ...this.#there.feesBesides(end)];
    const why = isFilled ? (notes.length === 0 ? null : notes.join('; ')) : nothing;
    if (isFilled) this.#backoff.reset();
    else this.#backoff.failed(moneyOf(row.inventory ?? row.amount), this.#run.clock.elapsed());
    // The hedge and the ledger change before either is stored, so that a write to disk includes both changes.
    const isCompared = isFilled && stated === undefined;
    const ended = this.#rows.change({
      ...{ state: isFilled ? 'completed' : 'failed', why },
      ...(isCompared ? { reconciled: null } : {}),
    });
    this.#there.end(ended, end);
    this.#run.log.info({ id: row.id, why }, describeHedge(ended));
    this.#options.persist();
  }

  get #there(): ElsewhereRoute {
    if (this.#elsewhere === null)
      throw new Error(
        'a hedge on the other exchange is still open, but this bot has no access to that exchange; restore the section elsewhere until the hedge has ended',
      );
    return this.#elsewhere;
  }

  async #resolve(row: HedgeRow): Promise<void> {
    const { desk } = this.#setup;
    const { offer, conversionId } = row;
    if (offer === null) throw new Error(`hedge ${row.id} was accepted without an offer`);
    if (offer.way === 'book') this.#applyOrderState(row);
    else if (offer.way === 'elsewhere') await this.#findElsewhere(row);
    else if (conversionId !== null) {
      const outcome = await desk.state(offer.way, conversionId);
      if (outcome.kind === 'done') this.#hear(row, outcome.value);
    } else {
      const outcome = await desk.find(offer.way, offer.id);
      const found = outcome.kind === 'done' ? outcome.value : null;
      // A conversion that the exchange has shown or confirmed exists, even if a later list omits it.
      const isKnown = row.state === 'executing';
      if (found !== null) this.#hear(row, found);
      else if (offer.way === 'conversion') this.#settleByBalances(row, outcome.kind === 'done', isKnown);
      else if (outcome.kind === 'done' && !isKnown && this.#isOutcomeDue(row))
        this.#handleNotExecuted(row, 'the exchange lists no conversion for this hedge, and the offer has expired');
    }
  }

  #hear(row: HedgeRow, { id, status, give, get }: ConversionState): void {
    if (status === 'pending') {
      const conversionId = row.offer?.way === 'rfq' ? id : row.conversionId;
      if (row.state === 'executing' && row.conversionId === conversionId) return;
      this.#rows.change({ state: 'executing', conversionId });
      this.#options.persist();
    } else if (status === 'failed') this.#handleNotExecuted(row, 'the exchange could not execute the conversion');
    else this.#done({ ...row, offer: row.offer && { ...row.offer, give, get } }, null);
  }

  /** Applies the state of the taker order to its hedge. */
  #applyOrderState(row: HedgeRow): void {
    const seen = takerOrderOutcome(row, this.#order);
    if (seen === null) return;
    if (seen.costMax !== undefined) this.#rows.change({ costMax: textOfMoney(seen.costMax) });
    if (seen.state === 'completed' || seen.state === 'failed') this.#end(seen.state, seen.why);
    else if (row.state !== seen.state) this.#rows.change({ state: seen.state });
  }

  /**
   * Settles a hedge once the balances have shown the same outcome for the maximum trade report delay. If the balances
   * show no outcome and the exchange has no conversion for the quote (`isNowhere`), the outcome is `failed`. A conversion
   * that the exchange has shown (`isKnown`) may still execute, so it can only be `completed` here.
   */
  #settleByBalances(row: HedgeRow, isNowhere: boolean, isKnown: boolean): void {
    const { at: readAt, differences } = this.#options.view().balances;
    const verdict = outcomeFromBalances(conversionOf(row), differences) ?? (isNowhere ? 'failed' : null);
    // A read without a verdict does not restart the measurement. Between a fill and the next read, the balances briefly
    // show no verdict.
    if (verdict === null || (verdict === 'failed' && isKnown) || !this.#isOutcomeDue(row, readAt)) return;
    if (!(this.#evidence.heldFor(`${row.id} ${verdict}`, readAt) >= this.#setup.tradeReportDelayMaxMs)) return;
    if (verdict === 'completed') this.#done(row, 'the account balances show that the conversion was executed');
    else
      this.#handleNotExecuted(
        row,
        isNowhere
          ? 'the exchange lists no executed conversion for the accepted quote'
          : 'the account balances show that the conversion was not executed',
      );
  }

  /**
   * Whether the offer has expired, no request can still be executed, and the exchange must already list any execution.
   */
  #isOutcomeDue({ acceptedAt, offer }: HedgeRow, at: Millis = this.#run.time()): boolean {
    const { requestDelayMaxMs, tradeReportDelayMaxMs } = this.#setup;
    return at - (acceptedAt ?? Infinity) >= Math.max(requestDelayMaxMs, offer?.lifeMs ?? 0) + tradeReportDelayMaxMs;
  }

  #done(row: HedgeRow, why: string | null): void {
    const conversion = { ...conversionOf(row), ...(why === null ? {} : { why }) };
    if (row.route?.leg !== 1) {
      this.#end('completed', why, { phase: 'done', conversion });
      return;
    }
    const { give, get } = conversion;
    const until = this.#run.time() + this.#waitMs;
    this.#rows.change({ state: 'between', why: null, route: { ...row.route, holds: textOfMoney(get.amount), until } });
    this.#tell('done', conversion);
    this.#restUntil = -Infinity;
    this.#run.log.info(
      { id: row.id },
      `hedge ${row.id}: the first leg converted ${textOfMoney(give.amount)} ${give.currency} to ${textOfMoney(get.amount)} ${get.currency}`,
    );
    this.#options.persist();
  }

  /**
   * Handles a hedge or a leg that was certainly not executed. After a second leg that was not executed, the route waits
   * between its legs again; otherwise the hedge fails.
   */
  #handleNotExecuted(row: HedgeRow, why: string): void {
    if (row.route?.leg !== 2) {
      const end = { phase: 'failed', conversion: conversionOf(row) } as const;
      this.#end('failed', why, end);
      return;
    }
    this.#plan(this.#rows.change({ state: 'between', why: `second leg: ${why}` }));
    this.#run.log.warn({ id: row.id, why }, `hedge ${row.id}: the second leg was not executed: ${why}`);
    this.#options.persist();
  }

  /**
   * Requests the second leg of a route, until its price is within the limits of the route or the route's waiting time
   * has passed.
   */
  async #requestSecondLeg(row: HedgeRow): Promise<void> {
    const { clock, log, time } = this.#run;
    const { route } = row;
    if (route === undefined) throw new Error(`hedge ${row.id} has no route`);
    if (!(time() < (route.until ?? Infinity))) {
      const lies = `${route.holds} ${route.via}, valued at ${route.worth} ${this.#options.pair.minor}`;
      this.#end(
        'stranded',
        `no second leg within the limits was available in time, so ${lies}, remain after the first leg`,
      );
      log.warn(
        { id: row.id },
        `hedge ${row.id} stopped after its first leg: ${lies}, remain; convert this amount manually`,
      );
      return;
    }
    this.#restUntil = clock.elapsed() + SECOND_LEG_EVERY_MS;
    const asked = clock.elapsed();
    const { get } = plannedSecondLeg(row, this.#options.pair);
    const offer = await requestSecondLeg(this.#offers, route.via, get.currency, moneyOf(route.holds));
    const isLate = typeof offer === 'object' && clock.elapsed() - asked > offer.lifeMs - this.#setup.quoteLifeMinMs;
    const isDear = typeof offer === 'object' && moneyOf(offer.get.amount) < moneyOf(route.least);
    if (typeof offer === 'object' && !isLate && !isDear) return this.#accept(offer, { route: { ...route, leg: 2 } });
    const why = `second leg: ${typeof offer === 'string' ? offer : isLate ? 'the offer would expire before its acceptance reaches the exchange' : `the offer returns less than ${route.least} ${get.currency}`}`;
    if (row.why !== why) log.info({ id: row.id }, `hedge ${row.id} waits after its first leg: ${why}`);
    if (row.why !== why) this.#rows.change({ why });
  }

  /**
   * Ends a hedge. Its record changes before the engine is notified, so that a concurrent write to disk includes both or
   * neither.
   */
  #end(
    state: 'completed' | 'failed' | 'stranded',
    why: string | null,
    end?: { readonly phase: 'done' | 'failed'; readonly conversion: Conversion },
  ): void {
    const row = this.#rows.change({ state, why });
    if (end) this.#tell(end.phase, end.conversion);
    // The planned second leg no longer counts as pending.
    if (row.route && state !== 'completed') this.#tell('failed', plannedSecondLeg(row, this.#options.pair));
    this.#run.log.info({ id: row.id, why }, describeHedge(row, end?.conversion));
    this.#options.persist();
  }

  get #waitMs(): Millis {
    return this.#setup.routes?.waitMs ?? SECOND_LEG_WAIT_MS;
  }

  #plan(row: HedgeRow): void {
    this.#tell('planned', plannedSecondLeg(row, this.#options.pair));
  }

  #tell(phase: 'planned' | 'in flight' | 'done' | 'failed', conversion: Conversion): void {
    this.#run.step({ kind: 'conversion', at: this.#run.time(), phase, conversion });
  }
}
