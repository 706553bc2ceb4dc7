/** Inventory that leaves another way: weighs the ways out, carries the cheapest out once that is on disk, and finds out what became of it. */
import { moneyOf, sleep, textOfMoney, toLeave, weigh } from '../core/index.ts';
import type { Conversion, ConversionOffer, ConversionState, EngineNews, Millis, Money } from '../core/index.ts';
import { balancesSay, LastingWord } from './balanceEvidence.ts';
import { BandFollower } from './bandFollower.ts';
import { Flattening } from './flattening.ts';
import { Offers } from './offers.ts';
import { plannedOf, routeCostMax, routeFrom, secondOf } from './routes.ts';
import { conversionOf, explained, isOver, mayMove, toldOf, weighedText } from './row.ts';
import type { HedgeRow } from './row.ts';
import { HedgeRows } from './rows.ts';
import type { HedgerOptions, HedgeRun, HedgeSetup } from './setup.ts';
import { leftNow, roomMoney, sizeOf } from './sizes.ts';
import { becameOf, takenOrderOf } from './takenOrder.ts';
import type { TakenOrder } from './takenOrder.ts';
import { bookWay, waysOf } from './ways.ts';
import type { Way } from './ways.ts';

/** An order that takes waits so long for our own quotes to be gone. */
const TAKE_WITHIN_MS = 15_000;
/** Between two looks because somebody said that there is something to see. */
const SOON_EVERY_MS = 1_000;
const SECOND_LEG_EVERY_MS = 5_000;
/** Where the configuration has no routes any more. */
const SECOND_LEG_WAIT_MS = 600_000;

export class Hedger {
  readonly #o: HedgerOptions;
  readonly #setup: HedgeSetup;
  readonly #run: HedgeRun;
  readonly #offers: Offers;
  readonly #rows: HedgeRows;
  /** Null: the band is the one that was chosen. */
  readonly #band: BandFollower | null;
  #takes = 0;
  /** The last that was told of the order by which the open hedge takes the book. */
  #order: TakenOrder | null = null;
  #isBusy = false;
  /** What a person says of the hedge that is open, until it is taken up. */
  #word: { readonly id: string; readonly as: 'executed' | 'failed'; readonly why: string } | null = null;
  #restUntil = -Infinity;
  #soonAt = -Infinity;
  readonly #evidence = new LastingWord();
  readonly #flattening: Flattening;

  constructor(options: HedgerOptions) {
    this.#o = options;
    this.#setup = options.setup;
    this.#run = options.run;
    this.#offers = new Offers(options.setup.desk, options.run.clock);
    this.#rows = new HedgeRows(options.kept, options.run);
    this.#flattening = new Flattening(options);
    const { bandModel, rules } = options.setup;
    this.#band = bandModel ? new BandFollower(bandModel, rules.costMaxBps) : null;
  }

  get everyMs(): Millis {
    return this.#setup.everyMs;
  }

  /** To be kept with the ledger, in one transaction. */
  get rows(): readonly HedgeRow[] {
    return this.#rows.list;
  }

  /** What an earlier run left may be carried out at any moment. Before anything is quoted. */
  restore(): void {
    this.#rows.restore(this.#waitMs);
    for (const row of this.#rows.list) {
      if (row.state === 'between' || (mayMove(row) && row.route?.leg === 1)) this.#plan(row);
      if (mayMove(row) && row.offer?.way !== 'book') this.#tell('in flight', conversionOf(row));
    }
  }

  /** One look: at what became of the hedge that is under way, or at whether there should be one. Does nothing while another look lasts. */
  async turn(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      const { open } = this.#rows;
      if (this.#flattening.isNew()) this.#restUntil = -Infinity;
      if (open && mayMove(open)) await this.#resolve(open);
      else if (!this.#o.mayAct() || this.#run.clock.elapsed() < this.#restUntil) return;
      else if (open) await this.#goOn(open);
      else await this.#consider();
    } finally {
      this.#isBusy = false;
      this.#takeWord();
    }
  }

  /** What the engine tells as it happens: the order of a hedge is followed by that, and the next look takes it up. */
  heard(news: EngineNews): void {
    if (news.kind === 'fill' && news.fill.maker) this.#band?.fill(this.#run.time(), news.fill.major);
    const order = takenOrderOf(news);
    if (order !== null && order.id === this.#rows.open?.offer?.id) this.#order = order;
  }

  /** Somebody says that a conversion has moved: it is looked at now, if one of ours is under way. At most once a second. */
  async soon(): Promise<void> {
    const now = this.#run.clock.elapsed();
    if (now - this.#soonAt < SOON_EVERY_MS || !this.#rows.isMoving) return;
    this.#soonAt = now;
    await this.turn();
  }

  /** Looks until nothing is under way, or until `deadline` of the clock. `readBalances`: some are decided by nothing else. */
  async settle(deadline: Millis, readBalances: () => Promise<unknown>): Promise<void> {
    while (this.#rows.isMoving && this.#run.clock.elapsed() < deadline) {
      await readBalances();
      await this.turn();
      await sleep(this.#run.clock, SOON_EVERY_MS);
    }
  }

  /**
   * A person says what became of a hedge that nobody can look up: it ends so, and the ledger has what was offered. `busy`: it is being looked at
   * just now, or may still be on its way. `not open`: it has ended, or is one that the exchange can be asked about.
   */
  settleAs(id: string, as: 'executed' | 'failed', why: string): 'settled' | 'busy' | 'not open' {
    if (this.#rows.list.some(row => row.id === id && row.why === why && isOver(row))) return 'settled';
    const { open } = this.#rows;
    if (open?.id !== id || !mayMove(open) || open.offer?.way === 'book' || open.conversionId !== null)
      return 'not open';
    this.#word = { id, as, why };
    if (!this.#isBusy) this.#takeWord();
    return this.#word === null ? 'settled' : 'busy';
  }

  /** Between two looks, and only once nothing of it can be on its way: what may still be carried out has not failed, whoever says so. */
  #takeWord(): void {
    const { open } = this.#rows;
    if (this.#word === null || open === undefined || open.id !== this.#word.id || !this.#isPast(open)) return;
    const { as, why } = this.#word;
    this.#word = null;
    if (!mayMove(open) || open.conversionId !== null) return;
    this.#run.log.warn({ id: open.id, as, why }, `hedge ${open.id}: ${why}`);
    if (as === 'executed') this.#done(open, why);
    else this.#undone(open, why);
  }

  async #consider(): Promise<void> {
    const { pauseMs, quoteLifeMinMs } = this.#setup;
    const { clock, log, time } = this.#run;
    const { orderPrefix } = this.#o.kept;
    const before = this.#o.view();
    const { inventory, instrument } = before;
    if (before.refusal !== null || !before.isReconciled) return;
    const flatten = this.#flattening.asked;
    if (flatten !== null && this.#flattening.isDone(before)) return;
    const own = flatten ? this.#flattening.rules : this.#band?.rules(time(), before.mid);
    const rules = { ...this.#setup.rules, ...own };
    const wanted = toLeave(inventory, rules);
    if (wanted === 0n) return;
    const amount = sizeOf(before, wanted);
    this.#restUntil = clock.elapsed() + pauseMs;
    if (amount === 0n)
      return log.info({}, 'hedge: everything that should leave is locked or reserved by our own orders');
    const { left, leftOf, ...spent } = leftNow(this.#rows.list, rules, flatten, time());
    this.#rows.begin(amount, spent);
    const asked = clock.elapsed();
    const ways = await waysOf(this.#offers, this.#setup, instrument, amount, before.mid);
    // What was offered is weighed against the book as it is now, or not at all.
    const seen = this.#o.view();
    const { mid } = seen;
    if (seen.refusal !== null) return this.#fail(`the book is not to go by: ${seen.refusal}`);
    ways.push(bookWay(this.#setup, orderPrefix !== undefined, seen, amount));
    const outs = ways.map(({ out }) => out);
    const by = (other: Partial<typeof rules>) =>
      weigh(instrument, amount, inventory, mid, outs, { ...rules, ...other }, left, leftOf);
    const band = flatten === null ? this.#band : null;
    const decision = band?.weighed({ at: time(), mid, inventory, amount, ways: outs }, by) ?? by({});
    const weighed = weighedText(decision);
    const known = { weighed, middle: textOfMoney(mid), inventory: textOfMoney(inventory) };
    const row = this.#rows.change({ state: 'quoted', ...known });
    log.info(
      { id: row.id, weighed },
      `hedge: ${textOfMoney(amount)} ${instrument.major} should leave: ${explained(weighed)}`,
    );
    const taken = ways.find(({ out }) => out.way === decision.taken);
    if (taken === undefined || taken.by === 'nothing') this.#fail('no way out was taken');
    else if (flatten !== null && this.#flattening.asked?.id !== flatten.id) this.#fail('flatten was taken back');
    else if (taken.by === 'take') this.#take(taken, decision.most);
    else {
      const offer = taken.by === 'route' ? taken.route.first : taken.offer;
      const major = moneyOf(amount > 0n ? taken.out.give.amount : taken.out.get.amount);
      const costMax = taken.by === 'route' ? routeCostMax(major, mid, rules, left) : decision.most;
      const route = taken.by === 'route' ? { route: routeFrom(taken.route, amount, mid, costMax) } : {};
      // The row's change was told, and the engine may have decided since.
      const room = roomMoney(this.#o.view(), amount > 0n ? 'sell' : 'buy');
      if (clock.elapsed() - asked > offer.lifeMs - quoteLifeMinMs) this.#fail('the offer would expire on its way');
      else if (major > room) this.#fail('orders of ours took its room meanwhile');
      else await this.#accept(offer, { ...route, costMax: textOfMoney(costMax) });
    }
  }

  /** Nothing of it was ever accepted. */
  #fail(why: string): void {
    this.#rows.change({ state: 'failed', why });
  }

  /** Nothing is accepted that is not on disk first; what was is never asked for again. */
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
    if (!this.#o.persist() || !this.#o.mayAct()) {
      this.#undone(row, 'it could not be written to disk, or trading was stopped');
      return;
    }
    const outcome = await desk.accept({ way, id });
    if (outcome.kind === 'done') this.#rows.change({ state: 'executing', conversionId: outcome.value.conversionId });
    // Executed before can only mean: by these very bytes.
    else if (outcome.kind === 'unknown' || outcome.meaning === 'executed before') {
      this.#rows.change({ state: 'unknown', why: outcome.kind === 'unknown' ? outcome.reason : outcome.code });
      log.warn(
        { id: row.id },
        `hedge ${row.id}: no usable answer, it counts both ways until it is found or cannot be any more`,
      );
    } else this.#undone(row, `refused: ${outcome.code} ${outcome.message}`);
    this.#o.persist();
  }

  /** The order's own intent becomes durable with this row, before it is sent. */
  #take({ take, out }: Extract<Way, { by: 'take' }>, costMax: Money): void {
    const { kept, persist, mayAct } = this.#o;
    const { time, step } = this.#run;
    const id = `${kept.orderPrefix}${++this.#takes}`;
    const offer = { way: 'book', id, give: out.give, get: out.get, lifeMs: TAKE_WITHIN_MS } as const;
    this.#rows.change({ state: 'accepted', offer, acceptedAt: time(), costMax: textOfMoney(costMax) });
    if (!persist() || !mayAct()) {
      this.#end('failed', 'it could not be written to disk, or trading was stopped');
      return;
    }
    this.#order = { id, state: 'waiting' };
    step({ kind: 'take', at: time(), id, ...take, until: time() + TAKE_WITHIN_MS });
  }

  async #resolve(row: HedgeRow): Promise<void> {
    const { desk } = this.#setup;
    const { offer, conversionId } = row;
    if (offer === null) throw new Error(`hedge ${row.id} was accepted without an offer`);
    if (offer.way === 'book') this.#lookAtOrder(row);
    else if (conversionId !== null) {
      const outcome = await desk.state(offer.way, conversionId);
      if (outcome.kind === 'done') this.#hear(row, outcome.value);
    } else {
      const outcome = await desk.find(offer.way, offer.id);
      const found = outcome.kind === 'done' ? outcome.value : null;
      if (found !== null) this.#hear(row, found);
      else if (offer.way === 'conversion') this.#askBalances(row, outcome.kind === 'done');
      else if (outcome.kind === 'done' && this.#isPast(row))
        this.#undone(row, 'it is in no list of conversions, and its offer has expired');
    }
  }

  #hear(row: HedgeRow, { id, status, give, get }: ConversionState): void {
    if (status === 'pending') {
      if (row.offer?.way === 'rfq' && row.conversionId !== id)
        this.#rows.change({ state: 'executing', conversionId: id });
    } else if (status === 'failed') this.#undone(row, 'the exchange could not carry it out');
    else this.#done({ ...row, offer: row.offer && { ...row.offer, give, get } }, null);
  }

  /** The order is the engine's: its end is this hedge's. */
  #lookAtOrder(row: HedgeRow): void {
    const seen = becameOf(row, this.#order);
    if (seen === null) return;
    if (seen.costMax !== undefined) this.#rows.change({ costMax: textOfMoney(seen.costMax) });
    if (seen.state === 'completed' || seen.state === 'failed') this.#end(seen.state, seen.why);
    else if (row.state !== seen.state) this.#rows.change({ state: seen.state });
  }

  /** Not found by its quote: the balances read since then must say the same for the settle time; where they say nothing, the exchange's word that there is none. */
  #askBalances(row: HedgeRow, isNowhere: boolean): void {
    const { at: readAt, differences } = this.#o.view().balances;
    const verdict = balancesSay(conversionOf(row), differences) ?? (isNowhere ? 'failed' : null);
    // Between a fill and the next read they say nothing; only the contrary takes back what they said.
    if (verdict === null || !this.#isPast(row, readAt)) return;
    if (!(this.#evidence.heldFor(`${row.id} ${verdict}`, readAt) >= this.#setup.tradeReportDelayMaxMs)) return;
    if (verdict === 'completed') this.#done(row, 'the balances say so');
    else this.#undone(row, isNowhere ? 'the exchange knows no conversion of its quote' : 'the balances say so');
  }

  /** Its offer has expired, whatever was on its way has arrived, and its record is there. */
  #isPast({ acceptedAt, offer }: HedgeRow, at: Millis = this.#run.time()): boolean {
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
      `hedge ${row.id}: first leg, ${textOfMoney(give.amount)} ${give.currency} became ${textOfMoney(get.amount)} ${get.currency}`,
    );
    this.#o.persist();
  }

  /** It was certainly not carried out: the hedge failed, or a route waits on between its legs. */
  #undone(row: HedgeRow, why: string): void {
    if (row.route?.leg !== 2) {
      const end = { phase: 'failed', conversion: conversionOf(row) } as const;
      this.#end('failed', why, end);
      return;
    }
    this.#plan(this.#rows.change({ state: 'between', why: `second leg: ${why}` }));
    this.#run.log.warn({ id: row.id, why }, `hedge ${row.id}: the second leg was not carried out: ${why}`);
    this.#o.persist();
  }

  /** Between the legs of a route: the second one is asked for until it is within the limits of the whole, or its time is over. */
  async #goOn(row: HedgeRow): Promise<void> {
    const { clock, log, time } = this.#run;
    const { route } = row;
    if (route === undefined) throw new Error(`hedge ${row.id} is no route`);
    if (!(time() < (route.until ?? Infinity))) {
      const lies = `${route.holds} ${route.via}, counted for ${route.worth} ${this.#o.pair.minor}`;
      this.#end('stranded', `no second leg within its limits was had in time: ${lies}, lie between its legs`);
      log.warn({ id: row.id }, `hedge ${row.id} stopped between its legs: ${lies}: convert them by hand`);
      return;
    }
    this.#restUntil = clock.elapsed() + SECOND_LEG_EVERY_MS;
    const asked = clock.elapsed();
    const { get } = plannedOf(row, this.#o.pair);
    const offer = await secondOf(this.#offers, route.via, get.currency, moneyOf(route.holds));
    const isLate = typeof offer === 'object' && clock.elapsed() - asked > offer.lifeMs - this.#setup.quoteLifeMinMs;
    const isDear = typeof offer === 'object' && moneyOf(offer.get.amount) < moneyOf(route.least);
    if (typeof offer === 'object' && !isLate && !isDear) return this.#accept(offer, { route: { ...route, leg: 2 } });
    const why = `second leg: ${typeof offer === 'string' ? offer : isLate ? 'the offer would expire on its way' : `it brings less than ${route.least} ${get.currency}`}`;
    if (row.why !== why) log.info({ id: row.id }, `hedge ${row.id} waits between its legs: ${why}`);
    if (row.why !== why) this.#rows.change({ why });
  }

  /** The row changes before anybody is told: what is written meanwhile has both or neither. */
  #end(
    state: 'completed' | 'failed' | 'stranded',
    why: string | null,
    end?: { readonly phase: 'done' | 'failed'; readonly conversion: Conversion },
  ): void {
    const row = this.#rows.change({ state, why });
    if (end) this.#tell(end.phase, end.conversion);
    // What was planned after it has come with it, or comes no more.
    if (row.route && state !== 'completed') this.#tell('failed', plannedOf(row, this.#o.pair));
    this.#run.log.info({ id: row.id, why }, toldOf(row, end?.conversion));
    this.#o.persist();
  }

  get #waitMs(): Millis {
    return this.#setup.routes?.waitMs ?? SECOND_LEG_WAIT_MS;
  }

  #plan(row: HedgeRow): void {
    this.#tell('planned', plannedOf(row, this.#o.pair));
  }

  #tell(phase: 'planned' | 'in flight' | 'done' | 'failed', conversion: Conversion): void {
    this.#run.step({ kind: 'conversion', at: this.#run.time(), phase, conversion });
  }
}
