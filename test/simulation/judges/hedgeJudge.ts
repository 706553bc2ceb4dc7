/**
 * Judge of hedges: reads quotes, acceptances and conversions from the exchange, and checks against them what the bot
 * sends and stores.
 */
import type { EmbeddedExchange } from '../../../src/sandbox/index.ts';
import type { Accepted } from './personJudge.ts';
import { BookHedges, type TakerTrade } from './bookHedges.ts';
import type { Marks } from './sometimes.ts';
import { deskPayload, envelopeOf, quoteIn, type PlacedOrder, type Topic } from '../world/wire.ts';

type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly target: string;
  readonly body: string;
};
type Reply = { readonly status: number; readonly body: string; readonly headers: Readonly<Record<string, string>> };
/** Amount of one currency, in 10^-18. */
type Leg = { readonly currency: string; readonly sum: bigint };

/** Offer of the exchange. Times are on the world's clock. */
type Offer = {
  readonly id: string;
  readonly way: 'rfq' | 'conversion';
  readonly give: Leg;
  readonly get: Leg;
  readonly expiresAt: number;
  readonly canConfirm: boolean;
};

/** Acceptance that the bot sent, and its result at the exchange. */
type Acceptance = {
  readonly offer: Offer;
  readonly sentAt: number;
  /** Mid prices that the bot may have received before the acceptance. */
  readonly middles: readonly bigint[];
  /** First leg of the route, if this acceptance is its second leg; otherwise `null`. */
  readonly first: Acceptance | null;
  refused: boolean;
  conversion: { readonly id: string; readonly at: number } | null;
  end: 'completed' | 'failed' | null;
};

/** Hedge as it is on the bot's disk. */
export type KeptHedge = {
  readonly id: string;
  readonly state: string;
  readonly offer: {
    readonly way: string;
    readonly id: string;
    readonly give: { readonly currency: string; readonly amount: string };
    readonly get: { readonly currency: string; readonly amount: string };
  } | null;
  readonly conversionId: string | null;
  readonly why?: string | null;
  /** Leg that was accepted last; absent unless the hedge goes through a third currency. */
  readonly route?: { readonly leg: 1 | 2 };
  readonly at?: number;
  readonly costMax?: string;
  readonly flatten?: { readonly id: string };
};

export type HedgeJudgeOptions = {
  readonly exchange: EmbeddedExchange;
  readonly accountId: string;
  readonly book: string;
  /** Base currency of the book. */
  readonly major: string;
  /** Quote currency of the book. */
  readonly minor: string;
  readonly now: () => number;
  readonly marks: Marks;
  readonly breaks: (law: string, what: string) => void;
  /** Returns the lots of the bot's orders in the book, by price in ticks. */
  readonly ours: (side: 'buy' | 'sell') => ReadonlyMap<number, number>;
  readonly kept: () => readonly KeptHedge[];
  /** Whether the configuration allows taker orders as hedges. */
  readonly byBook: boolean;
  readonly costMaxBps: number;
  readonly quoteLifeMinMs: number;
  /** Maximum age of a book that the bot may receive, in ms. */
  readonly bookAgeMaxMs: number;
  /** Called with each acceptance and each taker order when the bot sends it. */
  readonly accepted?: (hedge: Accepted) => void;
};

/** Maximum wait of an acceptance for the request budget, plus the rounding of RFQ times to whole seconds, in ms. */
const QUEUED_MS = 2_600;
/** Maximum move of the mid price between two samples, in bps. */
const MIDDLE_BPS = 5;

export class HedgeJudge {
  readonly #options: HedgeJudgeOptions;
  readonly #offers = new Map<string, Offer>();
  readonly #acceptances = new Map<string, Acceptance>();
  /** Outcome of each accepted offer on the bot's disk, by offer id. */
  readonly #claims = new Map<string, 'completed' | 'failed'>();
  readonly #unknown = new Set<string>();
  /** Time at which each hedge with an offer was first on disk, by hedge id. */
  readonly #since = new Map<string, number>();
  /** Recent mid prices of the book without the bot's orders, in quote currency times 10^18. */
  #middles: { readonly at: number; readonly middle: bigint }[] = [];
  /** Base currency that conversions have brought, minus the base currency that they took, in 10^-18. */
  #moved = 0n;
  #completed = 0;
  #cost = 0n;
  #costMax = 0n;
  /** Offer ids of first legs, by the id of their hedge on disk. */
  readonly #firstLegs = new Map<string, string>();
  /** States on disk of the hedges that have not ended, by id, as of the last check. */
  #unfinished: ReadonlyMap<string, string> = new Map();
  readonly #takes: BookHedges;
  /** Ids of accepted offers that the disk has lost. */
  readonly #lost = new Set<string>();

  constructor(options: HedgeJudgeOptions) {
    this.#options = options;
    const { marks, breaks, byBook, costMaxBps } = options;
    this.#takes = new BookHedges({ marks, breaks, isAllowed: byBook, costMaxBps, slackBps: MIDDLE_BPS });
  }

  /** Whether the order is the taker order of a hedge. */
  isTake(id: string): boolean {
    return this.#takes.has(id);
  }

  /**
   * Checks a taker order that the bot sends. `takerFee` is the lowest fee, as a fraction, that the bot may have used.
   */
  taking(order: PlacedOrder, takerFee: number): void {
    for (const [id, acceptance] of this.#acceptances)
      if (this.#mayMove(acceptance) && !this.#lost.has(id))
        this.#break('H2', `${order.originId} was sent while offer ${id} might still be carried out`);
    const row = this.#options.kept().find(each => each.offer?.id === order.originId);
    const take = this.#takes.taking(order, row, this.#seenMiddles(), takerFee);
    const worst = units(row?.costMax ?? '0');
    this.#options.accepted?.({
      ...{ flatten: row?.flatten?.id ?? null, begunAt: row?.at ?? -Infinity, slack: 0n },
      get cost() {
        return take.cost;
      },
      // After the end of the hedge, only its traded part counts.
      get most() {
        return take.end === null ? worst : (worst * take.traded) / take.major;
      },
      mayCost: () => take.end !== 'failed',
    });
  }

  traded(trade: TakerTrade): void {
    this.#takes.traded(trade);
  }

  /** Base currency that conversions have brought, minus the base currency that they took, in 10^-18. */
  get moved(): bigint {
    return this.#moved;
  }

  get completed(): number {
    return this.#completed;
  }

  /** Returns the base currency that pending acceptances may still bring (`buy`) and take (`sell`), in 10^-18. */
  inFlight(): { readonly buy: bigint; readonly sell: bigint } {
    const { major } = this.#options;
    let [buy, sell] = [0n, 0n];
    for (const acceptance of this.#acceptances.values()) {
      if (!this.#mayMove(acceptance)) continue;
      const { give, get } = acceptance.offer;
      if (get.currency === major) buy += get.sum;
      if (give.currency === major) sell += give.sum;
    }
    return { buy, sell };
  }

  /** Whether the bot's disk has a hedge that is under way. */
  get isOpen(): boolean {
    return this.#options.kept().some(isUnderWay);
  }

  /** Checks an acceptance that the bot sends. */
  accepting(request: Request): void {
    const { now, quoteLifeMinMs, kept, marks } = this.#options;
    const id = quoteIn(request);
    const at = now();
    const offer = this.#offers.get(id);
    if (!offer) {
      this.#break('H1', `offer ${id} was accepted and never made`);
      return;
    }
    if (this.#acceptances.has(id)) this.#break('H1', `offer ${id} was accepted twice`);
    const row = kept().find(each => each.offer?.id === id);
    if (!row || row.state !== 'accepted') this.#break('H1', `offer ${id} was accepted and that is not on disk`);
    for (const [other, acceptance] of this.#acceptances) {
      if (other !== id && this.#mayMove(acceptance) && !this.#lost.has(other))
        this.#break('H2', `offer ${id} was accepted while ${other} might still be carried out`);
    }
    if (!offer.canConfirm) this.#break('H3', `offer ${id} was accepted, and could not be confirmed`);
    const [take] = this.#takes.open;
    if (take !== undefined) this.#break('H2', `offer ${id} was accepted while ${take} has no end on disk`);
    if (!(offer.expiresAt - at >= quoteLifeMinMs - QUEUED_MS))
      this.#break('H3', `offer ${id} was accepted ${(offer.expiresAt - at).toFixed(0)} ms before its end`);
    const first = row?.route?.leg === 2 ? (this.#acceptances.get(this.#firstLegs.get(row.id) ?? '') ?? null) : null;
    const middles = this.#seenMiddles();
    const cost = first === null ? this.#checkCost(offer, middles) : this.#checkRoute(first, offer);
    if (!this.#acceptances.has(id))
      this.#acceptances.set(id, { offer, sentAt: at, middles, first, refused: false, conversion: null, end: null });
    const acceptance = this.#acceptances.get(id)!;
    this.#options.accepted?.({
      ...{ flatten: row?.flatten?.id ?? null, begunAt: row?.at ?? -Infinity, ...cost },
      // The maximum cost of the first leg includes the second leg.
      most: first === null ? units(row?.costMax ?? '0') : 0n,
      mayCost: () => acceptance.end !== 'failed' && (acceptance.conversion !== null || this.#mayMove(acceptance)),
    });
    if (this.#acceptances.size > 1) marks.see('several hedges in one seed');
  }

  /** Records the answer of the exchange to a request. */
  arrived(request: Request, topic: Topic, reply: Reply): void {
    const payload = deskPayload(reply);
    if (topic === 'quote') {
      if (payload) this.#offered(request.target.includes('/rfq/') ? 'rfq' : 'conversion', payload);
      return;
    }
    if (topic === 'conversions') {
      const next = payload?.['next_page_token'];
      if (typeof next === 'string' && next !== '') this.#see('the list of conversions had a further page');
      return;
    }
    if (topic !== 'accept') return;
    const acceptance = this.#acceptances.get(quoteIn(request));
    if (!acceptance) return;
    const id = payload?.[acceptance.offer.way === 'rfq' ? 'id' : 'oid'];
    if (typeof id === 'string') {
      if (acceptance.conversion) this.#break('H2', `offer ${acceptance.offer.id} was carried out twice`);
      acceptance.conversion = { id, at: this.#options.now() };
      this.#look(acceptance);
    } else if (acceptance.conversion === null) {
      acceptance.refused = true;
      const code = this.#codeOf(reply);
      if (code === 'quote_not_found' || code === '0345') this.#see('an acceptance came after the end of its offer');
      if (code === 'quote_cancelled') this.#see('an offer was withdrawn before it was accepted');
    }
  }

  /** Checks the hedges that are on the bot's disk now. */
  kept(rows: readonly KeptHedge[]): void {
    for (const row of rows) {
      const { id, state, offer, route } = row;
      if (!offer) continue;
      if (state === 'unknown') this.#unknown.add(offer.id);
      if (!this.#since.has(id)) this.#since.set(id, this.#options.now());
      if (offer.way === 'book') {
        if (state === 'completed' || state === 'failed') this.#takes.ended(offer.id, state, row.why ?? '');
        continue;
      }
      if (route?.leg === 1) this.#firstLegs.set(id, offer.id);
      const first = this.#firstLegs.get(id);
      if (route?.leg === 2 && first !== undefined) this.#claim(id, 'completed', first, null);
      const end = endOf(row);
      if (end !== null) this.#claim(id, end, offer.id, offer);
      if (state === 'between' && route?.leg === 2) this.#see('a second leg was not carried out');
      if (state === 'completed' && route !== undefined) this.#see('a hedge went over a third currency');
      if (state === 'stranded') this.#see('a hedge was stranded after its first leg');
    }
    this.#checkNothingForgotten(rows);
  }

  #claim(id: string, state: 'completed' | 'failed', offerId: string, kept: KeptHedge['offer']): void {
    const before = this.#claims.get(offerId);
    if (before !== undefined) {
      if (before !== state) this.#break('H4', `hedge ${id} was ${before}, and is ${state} now`);
      return;
    }
    this.#claims.set(offerId, state);
    this.#checkClaim(id, state, offerId, kept);
  }

  /** Checks H4: a hedge that is under way, or between its legs, remains on disk until it has ended. */
  #checkNothingForgotten(rows: readonly KeptHedge[]): void {
    const ids = new Set(rows.map(({ id }) => id));
    for (const [id, state] of this.#unfinished)
      if (!ids.has(id)) this.#break('H4', `hedge ${id} was ${state}, and is gone from the disk`);
    const open = rows.filter(row => isUnderWay(row) || row.state === 'between');
    this.#unfinished = new Map(open.map(({ id, state }) => [id, state]));
  }

  /** Must be called after every event of the world. */
  look(): void {
    for (const acceptance of this.#acceptances.values()) {
      if (acceptance.conversion !== null && acceptance.end === null) this.#look(acceptance);
    }
  }

  /** Samples the mid price. Must be called once per second. */
  sample(): void {
    const { now, bookAgeMaxMs } = this.#options;
    const middle = trueMiddle(this.#options);
    if (middle === null) return;
    this.#middles.push({ at: now(), middle });
    while (this.#middles[0] && this.#middles[0].at < now() - bookAgeMaxMs) this.#middles.shift();
  }

  /** Records a mid price that the exchange showed, which may differ from that of its true book. */
  shown(middle: number): void {
    this.#middles.push({ at: this.#options.now(), middle: (BigInt(Math.round(middle * 100)) * ONE) / 100n });
  }

  /** Applies a loss of disk writes: the hedges `rows` are lost; `left` are the hedges on disk after the loss. */
  lost(rows: readonly KeptHedge[], left: readonly KeptHedge[]): void {
    for (const { offer } of rows) if (offer && this.#acceptances.has(offer.id)) this.#lost.add(offer.id);
    if (this.#lost.size > 0) this.#see('a disk that lied lost a hedge');
    for (const { id, offer } of [...rows, ...left]) {
      this.#claims.delete(offer?.id ?? '');
      this.#claims.delete(this.#firstLegs.get(id) ?? '');
    }
    this.#takes.lost(offersOf(rows), offersOf(left));
    this.#unfinished = new Map();
    this.kept(left);
  }

  /** Whether the disk has lost an accepted hedge, which may have moved any of its currencies. */
  get hasLost(): boolean {
    return this.#lost.size > 0;
  }

  /** Base currency that lost hedges may have moved, in 10^-18. The bot cannot know of these hedges. */
  get lostMajor(): bigint {
    const { major } = this.#options;
    let sum = 0n;
    for (const id of this.#lost) {
      const { give, get } = this.#acceptances.get(id)!.offer;
      sum += give.currency === major ? give.sum : get.currency === major ? get.sum : 0n;
    }
    return sum;
  }

  died(): void {
    this.#takes.died();
    if (this.#options.kept().some(({ state }) => state === 'between')) this.#see('a crash between two legs');
    for (const acceptance of this.#acceptances.values()) {
      if (!this.#mayMove(acceptance)) continue;
      this.#see('a crash with a hedge under way');
      if (acceptance.conversion === null) this.#see('a crash with an acceptance on its way');
    }
  }

  /**
   * Checks long after the last fault that no outcome is unknown. `filledAgoMs`: age of the newest fill of the bot. A
   * fill of a conversion's amount looks like the conversion until its trade is listed, so the balances prove an outcome
   * only once no fill came for `evidenceMs`; the stop waits for that.
   */
  checkNothingUnknown(acceptedBefore: number, filledAgoMs: number, evidenceMs: number): void {
    if (filledAgoMs < evidenceMs) return;
    for (const row of this.#options.kept()) {
      if (isUnderWay(row) && (this.#since.get(row.id) ?? Infinity) < acceptedBefore)
        this.#break('L1', `hedge ${row.id} is still ${row.state} long after everything healed`);
    }
  }

  /** Checks at the end of the run that the bot has the true outcome of every hedge. */
  checkEnd(): void {
    const { exchange, accountId, kept } = this.#options;
    this.#takes.checkEnd();
    for (const row of kept())
      // The next run continues a hedge that is between its legs.
      if (isUnderWay(row)) {
        const { id, state } = row;
        this.#break('L1', `hedge ${id} is ${state} after the stop`);
      }
    for (const { offer, end } of this.#acceptances.values()) {
      if (end === 'completed' && this.#claims.get(offer.id) !== 'completed' && !this.#lost.has(offer.id))
        this.#break(
          'H4',
          `offer ${offer.id} was carried out, and the bot has it as ${this.#claims.get(offer.id) ?? 'nothing'}`,
        );
    }
    const carried = exchange.venue.accounts
      .get(accountId)!
      .transfers.list()
      .filter(({ kind }) => kind === 'conversion').length;
    if (carried !== this.#completed)
      this.#break('H2', `${carried} conversions were carried out, ${this.#completed} were accepted by the bot`);
    if (this.#cost > this.#costMax)
      this.#break('H5', `all hedges together cost ${this.#cost}, and ${this.#costMax} were allowed`);
  }

  #look(acceptance: Acceptance): void {
    const { exchange, accountId, major } = this.#options;
    const { offer, conversion } = acceptance;
    const status =
      offer.way === 'rfq'
        ? exchange.rfq.conversion(conversion!.id)?.status.toLowerCase()
        : exchange.conversions.find(exchange.venue.accounts.get(accountId)!, conversion!.id)?.status;
    if (status !== 'completed' && status !== 'failed') return;
    acceptance.end = status;
    const { give, get } = offer;
    if (status === 'failed') {
      this.#see('a conversion failed');
      if (offer.way === 'rfq' && exchange.venue.switches.rfqFunds === 'locked at once')
        this.#see('a conversion that failed gave its funds back');
    } else {
      this.#completed++;
      this.#see('a hedge was carried out');
      if (get.currency === major) this.#moved += get.sum;
      if (give.currency === major) this.#moved -= give.sum;
    }
    const claim = this.#claims.get(offer.id);
    if (claim !== undefined && claim !== status)
      this.#break('H4', `offer ${offer.id} is ${status}, and the bot had it as ${claim} before`);
  }

  /** Whether an acceptance may still be executed: it was not rejected, and its conversion or offer has not ended. */
  #mayMove({ offer, refused, conversion, end }: Acceptance): boolean {
    if (end !== null || (refused && conversion === null)) return false;
    return conversion !== null || this.#options.now() < offer.expiresAt;
  }

  #checkClaim(id: string, state: 'completed' | 'failed', offerId: string, kept: KeptHedge['offer']): void {
    const acceptance = this.#acceptances.get(offerId);
    if (state === 'failed') {
      if (acceptance?.end === 'completed')
        this.#break('H4', `hedge ${id} was carried out, and the bot has it as failed`);
      else if (acceptance && this.#mayMove(acceptance))
        this.#break('H4', `the bot gives up hedge ${id}, which may still be carried out`);
      if (this.#unknown.has(offerId)) this.#see('a hedge with an unknown outcome was not carried out');
      return;
    }
    if (acceptance?.end !== 'completed') {
      this.#break('H4', `the bot has hedge ${id} as completed, and it was never carried out`);
      return;
    }
    const { give, get, way } = acceptance.offer;
    if (kept && (units(kept.give.amount) !== give.sum || units(kept.get.amount) !== get.sum))
      this.#break('H4', `hedge ${id} is kept with other amounts than were converted`);
    if (this.#unknown.has(offerId))
      this.#see(
        way === 'rfq' ? 'an unknown hedge was found in the list' : 'an unknown hedge was found in the balances',
      );
  }

  #offered(way: Offer['way'], of: Readonly<Record<string, unknown>>): void {
    const { now, exchange } = this.#options;
    const text = (name: string) => String(of[name]);
    const leg = (currency: string, amount: string): Leg => ({
      currency: text(currency).toLowerCase(),
      sum: units(text(amount)),
    });
    const ends = way === 'rfq' ? Date.parse(text('expires_at')) : Number(of['expires']);
    const canConfirm = way === 'conversion' || of['can_confirm'] === true;
    if (!canConfirm) this.#see('an offer could not be confirmed');
    this.#offers.set(text('id'), {
      id: text('id'),
      way,
      give: way === 'rfq' ? leg('source', 'source_amount') : leg('from_currency', 'from_amount'),
      get: way === 'rfq' ? leg('target', 'target_amount') : leg('to_currency', 'to_amount'),
      expiresAt: now() + (ends - exchange.venue.clock.now()),
      canConfirm,
    });
  }

  /** Checks the cost of an offer against the mid price, of those in `middles`, at which the offer costs least. */
  #checkCost({ id, give, get }: Pick<Offer, 'id' | 'give' | 'get'>, middles: readonly bigint[]) {
    const { major, minor, costMaxBps } = this.#options;
    const nothing = { cost: 0n, slack: 0n };
    if (![give.currency, get.currency].includes(major) || ![give.currency, get.currency].includes(minor))
      return nothing;
    if (middles.length === 0) return nothing;
    const sells = give.currency === major;
    const costs = middles.map(middle => {
      const fair = ((sells ? give.sum : get.sum) * middle) / ONE;
      return { cost: sells ? fair - get.sum : give.sum - fair, fair };
    });
    const { cost, fair } = costs.reduce((a, b) => (b.cost < a.cost ? b : a));
    const most = (fair * BigInt(costMaxBps + MIDDLE_BPS)) / 10_000n;
    this.#cost += cost;
    this.#costMax += most;
    if (cost > most)
      this.#break('H5', `offer ${id} costs ${Number((cost * 1_000_000n) / fair) / 100} bps, ${costMaxBps} are allowed`);
    return { cost, slack: (fair * BigInt(MIDDLE_BPS)) / 10_000n };
  }

  /**
   * Checks the cost of both legs against the mid prices that the bot may have received before it accepted the first
   * leg.
   */
  #checkRoute(first: Acceptance, { id, give, get }: Offer) {
    if (give.currency !== first.offer.get.currency || give.sum > first.offer.get.sum)
      this.#break('H4', `offer ${id} converts other money than the first leg brought`);
    return this.#checkCost({ id, give: first.offer.give, get }, first.middles);
  }

  /** Returns the mid prices of all books that the bot may have received. */
  #seenMiddles(): readonly bigint[] {
    return [...this.#middles.map(({ middle }) => middle), trueMiddle(this.#options) ?? 0n].filter(
      middle => middle > 0n,
    );
  }

  #codeOf(reply: Reply): string | undefined {
    const envelope = envelopeOf(reply);
    return envelope?.error?.code ?? envelope?.errors?.[0]?.code;
  }

  #see(what: Parameters<Marks['see']>[0]): void {
    this.#options.marks.see(what);
  }

  #break(law: string, what: string): void {
    this.#options.breaks(law, what);
  }
}

/** Returns the outcome of the offer on disk, from the state of its hedge; `null` before its end. */
function endOf({ state, route }: KeptHedge): 'completed' | 'failed' | null {
  if (state === 'completed' || state === 'failed') return state;
  if (route === undefined || (state !== 'between' && state !== 'stranded')) return null;
  return route.leg === 1 ? 'completed' : 'failed';
}

const offersOf = (rows: readonly KeptHedge[]): readonly string[] =>
  rows.flatMap(({ offer }) => (offer ? [offer.id] : []));

const isUnderWay = ({ state }: KeptHedge): boolean =>
  state === 'accepted' || state === 'executing' || state === 'unknown';

const ONE = 10n ** 18n;

/** Returns a decimal text as a whole number of 10^-18. */
function units(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * ONE + BigInt(fraction.slice(0, 18).padEnd(18, '0'));
}

/** Returns the mid price of the true book without the bot's orders, in 10^-18; `null` if a side is empty. */
export function trueMiddle({
  exchange,
  book,
  ours,
}: Pick<HedgeJudgeOptions, 'book' | 'exchange' | 'ours'>): bigint | null {
  const { engine, instrument } = exchange.venue.books.get(book)!;
  const best = (side: 'buy' | 'sell'): number => {
    const own = ours(side);
    let found = 0;
    engine.eachLevel(side, (ticks, total) => {
      if (total <= (own.get(ticks) ?? 0)) return true;
      found = ticks;
      return false;
    });
    return found;
  };
  const [bid, ask] = [best('buy'), best('sell')];
  return bid > 0 && ask > 0 ? ((BigInt(bid) + BigInt(ask)) * instrument.tickMoney) / 2n : null;
}
