/** Inventory that leaves by conversions: weighs the ways out, accepts the cheapest once that is on disk, and finds out what became of it. */
import { money, moneyOf, sleep, textOfMoney, throughBook, toLeave, weigh } from '../core/index.ts';
import type {
  Clock,
  Conversion,
  ConversionDesk,
  ConversionOffer,
  ConversionPair,
  ConversionState,
  ConversionWay,
  Engine,
  EngineEvent,
  HedgeRules,
  Instrument,
  Millis,
  Money,
  Snapshot,
  WayOut,
} from '../core/index.ts';
import { balancesSay } from './balanceEvidence.ts';
import { explained, isOver, mayMove, weighedText } from './row.ts';
import type { HedgeRow } from './row.ts';

export type HedgeSetup = {
  readonly desk: ConversionDesk;
  readonly ways: readonly ConversionWay[];
  readonly rules: HedgeRules;
  /** Between two looks at the inventory, and after one that led to nothing. */
  readonly everyMs: Millis;
  readonly pauseMs: Millis;
  /** An offer is not accepted later than this before its end. */
  readonly marginMs: Millis;
  /** How long a request may be held on its way, and how late a record may be. */
  readonly fenceMs: Millis;
  readonly settleMs: Millis;
};

export type HedgerOptions = HedgeSetup & {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly instrument: () => Instrument;
  readonly takerRate: () => number;
  readonly log: HedgeLog;
  /** The engine's time. */
  readonly time: () => Millis;
  readonly step: (event: EngineEvent) => void;
  /** When the last read of the balances began, in the engine's time: how old `engine.differences` are. */
  readonly balancesAt: () => Millis;
  /** Makes the ledger and the hedges durable; false when the disk does not take them. */
  readonly persist: () => boolean;
  /** False after a stop, a halt, or a latch. */
  readonly mayAct: () => boolean;
  /** Begins the ids of hedges of this run. */
  readonly prefix: string;
  /** What the last run left. */
  readonly rows: readonly HedgeRow[];
};

/** First what is known, then the sentence. */
export type HedgeLog = Record<'info' | 'warn', (known: object, sentence: string) => void>;

/** Hedges that are kept after their end. */
const ROWS_KEPT = 20;
const PAIRS_EVERY_MS = 3_600_000;

export class Hedger {
  readonly #o: HedgerOptions;
  #rows: HedgeRow[];
  #counter = 0;
  #pairs: { readonly at: Millis; readonly list: readonly ConversionPair[] } | null = null;
  #restUntil = -Infinity;
  /** What the balances say of a hedge that nobody can look up, and since when they say the same. */
  #evidence: { readonly says: string; readonly since: Millis } | null = null;

  constructor(options: HedgerOptions) {
    this.#o = options;
    this.#rows = [...options.rows];
  }

  get everyMs(): Millis {
    return this.#o.everyMs;
  }

  /** To be kept with the ledger, in one transaction. */
  get rows(): readonly HedgeRow[] {
    return this.#rows;
  }

  /** What an earlier run left may be carried out at any moment. Before anything is quoted. */
  restore(): void {
    // What had not been accepted never will be. What was may be on its way from now on: the clock may have been set since.
    const acceptedAt = this.#o.time();
    this.#rows = this.#rows.map(row =>
      isOver(row) ? row : mayMove(row) ? { ...row, acceptedAt } : { ...row, state: 'failed', why: 'the run ended' },
    );
    for (const row of this.#rows) if (mayMove(row)) this.#tell('in flight', conversionOf(row));
  }

  /** One look: at what became of the hedge that is under way, or at whether there should be one. */
  async turn(): Promise<void> {
    const open = this.#rows.find(mayMove);
    if (open) await this.#resolve(open);
    else if (this.#o.mayAct() && this.#o.clock.elapsed() >= this.#restUntil) await this.#consider();
  }

  /** Looks until nothing is under way, or until `deadline` of the clock. */
  async settle(deadline: Millis): Promise<void> {
    while (this.#rows.some(mayMove) && this.#o.clock.elapsed() < deadline) {
      await this.turn();
      await sleep(this.#o.clock, 500);
    }
  }

  async #consider(): Promise<void> {
    const { engine, rules, clock, log, pauseMs } = this.#o;
    const snapshot = engine.snapshot(this.#o.time());
    if (snapshot.quoting !== null || !engine.isReconciled) return;
    const wanted = toLeave(snapshot.inventory, rules);
    if (wanted === 0n) return;
    const instrument = this.#o.instrument();
    const middle = money(((BigInt(snapshot.bid) + BigInt(snapshot.ask)) * instrument.tickMoney) / 2n);
    const amount = free(instrument, snapshot, wanted, middle);
    this.#restUntil = clock.elapsed() + pauseMs;
    if (amount === 0n) return log.info({}, 'hedge: everything that should leave is locked in our own orders');
    this.#put(this.#newRow(amount));
    const asked = clock.elapsed();
    const offers = await Promise.all(this.#o.ways.map(way => this.#offer(way, instrument, amount)));
    const seen = engine.preview(this.#o.time());
    const ways: WayOut[] = offers.flatMap(offer =>
      typeof offer === 'string' ? [] : [{ way: offer.way, give: offer.give, get: offer.get }],
    );
    this.#o.ways.forEach((way, i) => typeof offers[i] === 'string' && ways.push({ way, not: offers[i] }));
    const now = seen.refusal === null ? money((BigInt(Math.round(seen.mid * 2)) * instrument.tickMoney) / 2n) : middle;
    const bounds = { costMaxBps: 10_000, collarBps: 10_000, orderValueMax: BigInt(1e18) as never, room: Infinity };
    const book = throughBook(instrument, engine.depth, amount, this.#o.takerRate(), now, bounds);
    ways.push('not' in book ? book : { ...book, but: 'orders of ours never take liquidity' });
    const decision = weigh(instrument, amount, snapshot.inventory, now, ways, rules);
    const weighed = weighedText(decision);
    const offer = offers.find(
      (each): each is ConversionOffer => typeof each !== 'string' && each.way === decision.taken,
    );
    const row = this.#change({ state: 'quoted', weighed });
    log.info(
      { id: row.id, weighed },
      `hedge: ${textOfMoney(amount)} ${instrument.major} should leave: ${explained(weighed)}`,
    );
    if (!offer) this.#change({ state: 'failed', why: 'no way out was taken' });
    else if (clock.elapsed() - asked > offer.lifeMs - this.#o.marginMs)
      this.#change({ state: 'failed', why: 'the offer would expire on its way' });
    else await this.#accept(offer);
  }

  /** Nothing is accepted that is not on disk first; what was is never asked for again. */
  async #accept({ way, id, give, get, lifeMs }: ConversionOffer): Promise<void> {
    const { desk, log, time } = this.#o;
    const row = this.#change({ state: 'accepted', offer: { way, id, give, get, lifeMs }, acceptedAt: time() });
    this.#tell('in flight', conversionOf(row));
    if (!this.#o.persist() || !this.#o.mayAct()) {
      this.#end('failed', 'it could not be written to disk, or trading was stopped', conversionOf(row));
      return;
    }
    const outcome = await desk.accept({ way, id });
    if (outcome.kind === 'done') this.#change({ state: 'executing', conversionId: outcome.value.conversionId });
    // Executed before can only mean: by these very bytes.
    else if (outcome.kind === 'unknown' || outcome.code === 'quote_already_executed') {
      this.#change({ state: 'unknown', why: outcome.kind === 'unknown' ? outcome.reason : outcome.code });
      log.warn(
        { id: row.id },
        `hedge ${row.id}: no usable answer, it counts both ways until it is found or cannot be any more`,
      );
    } else this.#end('failed', `refused: ${outcome.code} ${outcome.message}`, conversionOf(row));
    this.#o.persist();
  }

  async #resolve(row: HedgeRow): Promise<void> {
    const { desk } = this.#o;
    const { offer, conversionId } = row;
    if (offer === null || offer.way === 'book') throw new Error(`hedge ${row.id} was accepted without an offer`);
    if (conversionId !== null) {
      const outcome = await desk.state(offer.way, conversionId);
      if (outcome.kind === 'done') this.#hear(row, outcome.value);
      return;
    }
    if (offer.way === 'rfq') {
      const outcome = await desk.find(offer.id);
      if (outcome.kind !== 'done') return;
      if (outcome.value !== null) this.#hear(row, outcome.value);
      else if (this.#isPast(row))
        this.#end('failed', 'it is in no list of conversions, and its offer has expired', conversionOf(row));
      return;
    }
    this.#askBalances(row);
  }

  #hear(row: HedgeRow, { id, status, give, get }: ConversionState): void {
    if (status === 'pending') {
      if (row.conversionId !== id) this.#change({ state: 'executing', conversionId: id });
    } else if (status === 'failed') this.#end('failed', 'the exchange could not carry it out', conversionOf(row));
    else this.#end('completed', null, conversionOf({ ...row, offer: row.offer && { ...row.offer, give, get } }));
  }

  /** A conversion that has no list to be found in is either in the balances or is not: those read since then must say the same for the settle time. */
  #askBalances(row: HedgeRow): void {
    const { engine, balancesAt, settleMs } = this.#o;
    const readAt = balancesAt();
    if (!this.#isPast(row, readAt)) return;
    const conversion = conversionOf(row);
    const verdict = balancesSay(conversion, engine.differences());
    const says = `${row.id} ${verdict} ${engine.ledgerVersion}`;
    if (this.#evidence?.says !== says) this.#evidence = { says, since: readAt };
    if (verdict === null || readAt - this.#evidence.since < settleMs) return;
    this.#end(verdict, 'the balances say so', conversion);
  }

  /** Its offer has expired, whatever was on its way has arrived, and its record is there. */
  #isPast({ acceptedAt, offer }: HedgeRow, at: Millis = this.#o.time()): boolean {
    const { fenceMs, settleMs } = this.#o;
    return at - (acceptedAt ?? Infinity) >= Math.max(fenceMs, offer?.lifeMs ?? 0) + settleMs;
  }

  #end(state: 'completed' | 'failed', why: string | null, conversion: Conversion): void {
    const { give, get } = conversion;
    this.#change({ state, why });
    this.#tell(state === 'completed' ? 'done' : 'failed', conversion);
    this.#evidence = null;
    this.#o.log.info(
      { id: conversion.id, why },
      state === 'completed'
        ? `hedge ${conversion.id}: ${textOfMoney(give.amount)} ${give.currency} became ${textOfMoney(get.amount)} ${get.currency}`
        : `hedge ${conversion.id} was not carried out: ${why}`,
    );
    this.#o.persist();
  }

  /** An offer for this amount; why there is none otherwise. */
  async #offer(way: ConversionWay, instrument: Instrument, amount: Money): Promise<ConversionOffer | string> {
    const sells = amount > 0n;
    const [from, to] = sells ? [instrument.major, instrument.minor] : [instrument.minor, instrument.major];
    const unit = way === 'rfq' ? await this.#unit(from, to, sells) : instrument.lotMoney;
    if (typeof unit === 'string') return unit;
    const first = await this.#ask(way, from, to, sells, floorTo(amount < 0n ? money(-amount) : amount, unit));
    if (typeof first === 'string' || first.canConfirm) return first;
    if (first.most?.currency !== instrument.major) return 'it is more than can be confirmed';
    const most = await this.#ask(way, from, to, sells, floorTo(moneyOf(first.most.amount), unit));
    return typeof most === 'string' || most.canConfirm ? most : 'it is more than can be confirmed';
  }

  async #ask(
    way: ConversionWay,
    from: string,
    to: string,
    sells: boolean,
    size: Money,
  ): Promise<ConversionOffer | string> {
    if (size <= 0n) return 'it is less than can be converted';
    const text = textOfMoney(size);
    const outcome = await this.#o.desk.offer(way, { from, to, ...(sells ? { give: text } : { get: text }) });
    if (outcome.kind === 'done') return outcome.value;
    return outcome.kind === 'refused' ? `${outcome.code}: ${outcome.message}` : `no usable answer: ${outcome.reason}`;
  }

  /** The smallest step of an amount. */
  async #unit(from: string, to: string, sells: boolean): Promise<Money | string> {
    const now = this.#o.clock.elapsed();
    if (this.#pairs === null || now - this.#pairs.at > PAIRS_EVERY_MS) {
      const outcome = await this.#o.desk.pairs();
      if (outcome.kind !== 'done') return 'the pairs cannot be read';
      this.#pairs = { at: now, list: outcome.value };
    }
    const pair = this.#pairs.list.find(each => each.from === from && each.to === to);
    if (!pair) return `${from} to ${to} is not among the pairs`;
    return money(10n ** BigInt(18 - Math.min(18, sells ? pair.fromDecimals : pair.toDecimals)));
  }

  #newRow(amount: Money): HedgeRow {
    return {
      id: `${this.#o.prefix}${++this.#counter}`,
      at: this.#o.time(),
      state: 'requested',
      amount: textOfMoney(amount),
      weighed: [],
      offer: null,
      acceptedAt: null,
      conversionId: null,
      why: null,
    };
  }

  #put(row: HedgeRow): void {
    this.#rows = [...this.#rows.filter(isOver).slice(-ROWS_KEPT), row];
  }

  /** Of the one that is not over: the last. */
  #change(to: Partial<HedgeRow>): HedgeRow {
    const row = this.#rows.findLast(each => !isOver(each));
    if (!row) throw new Error('a hedge that is over cannot change');
    const changed = { ...row, ...to };
    this.#rows = this.#rows.map(each => (each === row ? changed : each));
    return changed;
  }

  #tell(phase: 'in flight' | 'done' | 'failed', conversion: Conversion): void {
    this.#o.step({ kind: 'conversion', at: this.#o.time(), phase, conversion });
  }
}

function conversionOf({ id, offer }: HedgeRow): Conversion {
  if (offer === null) throw new Error(`hedge ${id} has no offer`);
  const { give, get } = offer;
  return {
    id,
    give: { currency: give.currency, amount: moneyOf(give.amount) },
    get: { currency: get.currency, amount: moneyOf(get.amount) },
  };
}

/** What our own orders have locked cannot be given away: as much of `wanted` as is free. */
function free({ major, minor, ...instrument }: Instrument, snapshot: Snapshot, wanted: Money, middle: Money): Money {
  const { orders, holdings } = snapshot;
  const sells = wanted > 0n;
  let locked = 0n;
  for (const order of orders) {
    if (order.side !== (sells ? 'sell' : 'buy')) continue;
    const lots = BigInt(order.amount - order.filled);
    locked += sells ? lots * instrument.lotMoney : lots * BigInt(order.price) * instrument.tickLotMoney;
  }
  const rest = (holdings.get(sells ? major : minor) ?? 0n) - locked;
  if (rest <= 0n) return money(0n);
  if (sells) return money(rest < wanted ? rest : wanted);
  // What is to be paid is not known yet: a hundredth more than the middle.
  const affordable = (rest * ONE * 100n) / (middle * 101n);
  return money(affordable < -wanted ? -affordable : wanted);
}

const ONE = 10n ** 18n;

const floorTo = (sum: Money, unit: Money): Money => money(sum - (sum % unit));
