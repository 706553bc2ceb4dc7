/**
 * State of prices and hedges on other exchanges for the console and `puntas status`: books, basis, lead, hedge debt, open
 * hedge, inventory by exchange, and costs of the last hedges.
 */
import {
  approximately,
  money,
  shortDecimal,
  textOfMoney,
  textOfPrice,
  type ElsewhereFigures,
  type HedgeRow,
  type Instrument,
  type Millis,
  type PaidCost,
  type Snapshot,
} from '../../core/index.ts';
import type {
  ShownBookPrices,
  ShownElsewhere,
  ShownElsewhereHedge,
  ShownElsewhereSource,
  ShownHedging,
} from '../../console/index.ts';
import { mayStillExecute } from '../../hedge/index.ts';
import type { ElsewhereSeen } from './elsewhereSeen.ts';
import { explainedSource, roundedPrice } from './explain.ts';

type SourceEvent = ElsewhereSeen['feeds'][number];

/**
 * Returns the state on other exchanges; `null` if there are neither sources of a live price nor hedges on another
 * exchange.
 */
export function elsewhereNow(
  snapshot: Snapshot,
  seen: ElsewhereSeen,
  hedges: readonly HedgeRow[],
  instrument: Instrument,
): ShownElsewhere | null {
  const { livePrice, elsewhere, at, bid, ask } = snapshot;
  if (livePrice === null && elsewhere === null) return null;
  const mid = bid > 0 && ask > 0 ? (bid + ask) / 2 : null;
  return {
    books: [bookHere(snapshot, instrument), ...seen.feeds.map(event => bookThere(event, at))],
    sources: (livePrice?.sources ?? []).map((source): ShownElsewhereSource => {
      const { lead, reason } = seen.leadOf(source.name, at);
      return {
        ...explainedSource(source, instrument),
        fromMidBps: mid === null || source.price === null ? null : (source.price / mid - 1) * 10_000,
        lead: lead && {
          ...{ ms: lead.lagMs, lowMs: lead.lowMs, highMs: lead.highMs },
          correlation: lead.correlation.value,
        },
        noLead: reason,
      };
    }),
    hedging: elsewhere && hedgingNow(elsewhere, snapshot, seen, hedges, instrument),
  };
}

function bookHere({ bid, ask, bookAge }: Snapshot, instrument: Instrument): ShownBookPrices {
  const text = (of: Snapshot['bid']) => (of > 0 ? textOfPrice(instrument, of) : null);
  return {
    ...{ name: instrument.symbol, isHere: true, bid: text(bid), ask: text(ask), problem: null },
    spreadBps: spreadBps(bid, ask),
    ageMs: Number.isFinite(bookAge) ? bookAge : null,
  };
}

function bookThere({ feed, reading, startedAt }: SourceEvent, at: Millis): ShownBookPrices {
  const shared = { name: feed, isHere: false, ageMs: at - startedAt };
  if (typeof reading === 'string') return { ...shared, bid: null, ask: null, spreadBps: null, problem: reading };
  const { bid, ask } = reading;
  const text = (price: number) => (price > 0 ? roundedPrice(price) : null);
  return { ...shared, bid: text(bid), ask: text(ask), spreadBps: spreadBps(bid, ask), problem: null };
}

const spreadBps = (bid: number, ask: number): number | null =>
  bid > 0 && ask > 0 ? ((ask - bid) / (bid + ask)) * 20_000 : null;

function hedgingNow(
  figures: ElsewhereFigures,
  snapshot: Snapshot,
  seen: ElsewhereSeen,
  hedges: readonly HedgeRow[],
  { major, minor }: Instrument,
): ShownHedging {
  const { place, isOpen, debt, debtMax, band, held, quoteHeld, quoteCurrency, failures, drift, driftValue } = figures;
  const { base: baseMoved, quote: quoteMoved } = figures.inTransit;
  const [open] = seen.open;
  const row = open && hedges.find(({ id }) => id === open.id);
  const { holdings } = snapshot.booked;
  /** Returns the amount held on the bot's own exchange, as text; `null` before the first balances. */
  const own = (currency: string) =>
    holdings.size === 0 ? null : shortDecimal(textOfMoney(holdings.get(currency) ?? money(0n)));
  /** Returns an amount on the other exchange, as text; `null` before the first balances. */
  const there = (sum: typeof debt | null) => (isOpen && sum !== null ? textOfMoney(sum) : null);
  return {
    ...{ place, failures, currency: major, quoteCurrency: minor },
    ...{ debt: textOfMoney(debt), debtMax: textOfMoney(debtMax), band: textOfMoney(band) },
    debtShare: debtMax > 0n ? approximately(debt) / approximately(debtMax) : debt > 0n ? 1 : 0,
    open: open
      ? {
          ...open,
          // A hedge of an earlier run has no row in this run until its outcome is known.
          isUnknown: row === undefined || !mayStillExecute(row) || row.state === 'unknown' || row.why !== null,
          amount: row?.amount ?? null,
          why: row?.why ?? null,
        }
      : null,
    whyNotQuoted: whyNotQuoted(snapshot),
    inventory: [
      { exchange: 'here', base: own(major), quote: own(minor), quoteCurrency: minor },
      { exchange: place, base: there(held), quote: there(quoteHeld), quoteCurrency },
      ...(baseMoved === 0n && quoteMoved === 0n
        ? []
        : [{ exchange: 'in transit', base: textOfMoney(baseMoved), quote: textOfMoney(quoteMoved), quoteCurrency }]),
    ],
    drift: there(drift),
    driftValue: there(driftValue),
    last: hedges
      .filter(({ offer }) => offer?.way === 'elsewhere')
      .map(each => hedgeNow(each, seen.costOf(each.id)))
      .reverse(),
  };
}

/** Returns why at least one side has no quotes, as text; `null` if both sides have quotes. */
export function whyNotQuoted({ quoting, waitsFor, emptySidesText, regime }: Snapshot): string | null {
  // The text of the empty sides would repeat the error of a strategy file in other words.
  if (quoting === null) return emptySidesText === null ? null : (regime.failure ?? emptySidesText);
  return waitsFor === null ? quoting : `${quoting} (${waitsFor})`;
}

/** Returns a hedge with the expected cost of the chosen route, and the cost that its trades had. */
const hedgeNow = ({ id, at, state, amount, why, weighed }: HedgeRow, cost: PaidCost | null): ShownElsewhereHedge => ({
  ...{ id, at, state, amount, why },
  traded: cost && textOfMoney(cost.sold),
  expectedBps: weighed.find(({ not }) => not === null)?.bps ?? null,
  paidBps: cost?.bps ?? null,
  paid: cost && textOfMoney(cost.cost),
  otherFees: cost?.otherFees ?? null,
});
