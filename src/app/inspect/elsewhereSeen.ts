/**
 * Data about other exchanges that a replay collects, because the engine does not store it: readings of sources, leads,
 * and orders with costs.
 */
import {
  moneyOf,
  paidCost,
  RunningLead,
  type BookEngine,
  type EngineEvent,
  type HedgeRow,
  type LeadEstimate,
  type Millis,
  type PaidCost,
} from '../../core/index.ts';

type SourceEvent = Extract<EngineEvent, { readonly kind: 'source' }>;

/** Engine with one shown book, or one of its books. */
export type BookInEngine = { readonly book: BookEngine };

/** Maximum number of hedges whose cost is kept. */
const COSTS_MAX = 20;

export class ElsewhereSeen {
  readonly #of: BookInEngine;
  readonly #feeds = new Map<string, SourceEvent>();
  /** Lead of each source over the bot's own book. */
  readonly #leads = new Map<string, RunningLead>();
  readonly #costs = new Map<string, PaidCost>();
  /** Orders whose end is not proven, with the time of their first event. */
  readonly #open = new Map<string, Millis>();

  constructor(of: BookInEngine) {
    this.#of = of;
  }

  /** Records an input after the engine has processed it. `rowOf` returns the hedge with an id. */
  see(event: EngineEvent, rowOf: (id: string) => HedgeRow | undefined): void {
    // Sources and prices of another book say nothing about this book.
    if ('symbol' in event && event.symbol !== undefined && event.symbol !== this.#of.book.symbol) return;
    if (event.kind === 'source') {
      this.#feeds.set(event.feed, event);
      for (const { name, price } of this.#of.book.livePrice(event.at)?.sources ?? [])
        if (price !== null) this.#lead(name).readX(event.at, price);
    } else if (event.kind === 'book') {
      // Without a source there is no lead to measure, and a risk context for each book would slow down the replay.
      if (this.#leads.size === 0) return;
      const { bids, asks, bidPrices, askPrices } = this.#of.book.riskContext(event.at).depth;
      if (bids > 0 && asks > 0)
        for (const lead of this.#leads.values()) lead.readY(event.at, (bidPrices[0]! + askPrices[0]!) / 2);
    } else if (event.kind === 'elsewhere') this.#seeOrder(event, rowOf(event.conversion.id));
  }

  get feeds(): readonly SourceEvent[] {
    return [...this.#feeds.values()];
  }

  /** Orders whose end is not proven, oldest first. */
  get open(): readonly { readonly id: string; readonly since: Millis }[] {
    return [...this.#open].map(([id, since]) => ({ id, since }));
  }

  leadOf(source: string, at: Millis): LeadEstimate {
    return this.#lead(source).estimate(at);
  }

  /** Returns the cost of an executed hedge; `null` if it is not known. */
  costOf(id: string): PaidCost | null {
    return this.#costs.get(id) ?? null;
  }

  #seeOrder(event: Extract<EngineEvent, { readonly kind: 'elsewhere' }>, row: HedgeRow | undefined): void {
    const { id } = event.conversion;
    if (event.phase === 'in flight') {
      if (!this.#open.has(id)) this.#open.set(id, event.at);
      return;
    }
    this.#open.delete(id);
    const cost = row?.middle === undefined ? null : paidCost(event.trades, event.rate, moneyOf(row.middle));
    if (cost === null) return;
    this.#costs.set(id, cost);
    const [oldest] = this.#costs.keys();
    if (this.#costs.size > COSTS_MAX && oldest !== undefined) this.#costs.delete(oldest);
  }

  #lead(source: string): RunningLead {
    const lead = this.#leads.get(source) ?? new RunningLead();
    this.#leads.set(source, lead);
    return lead;
  }
}
