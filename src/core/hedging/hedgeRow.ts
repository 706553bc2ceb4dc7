/** Record of one hedge on disk and in the recording: the decision, its alternatives, and its progress. */
import type { ConversionLeg, ConversionWay } from '../ports/port.ts';
import type { ElsewhereOrder } from './orderEvidence.ts';
import type { Millis } from '../model/units.ts';

/**
 * State of a hedge.
 * - requested: offers are being requested.
 * - quoted: the routes are compared, but none is accepted yet.
 * - accepted: the acceptance or order may have been sent.
 * - executing: the exchange executes the hedge.
 * - unknown: may or may not have been executed.
 * - between: the first leg of a route was executed; its proceeds are in the third currency until the second leg.
 * - completed: certainly executed.
 * - failed: certainly not executed, and never will be.
 * - stranded: ended after the first leg of a route.
 */
export type HedgeState =
  'requested' | 'quoted' | 'accepted' | 'executing' | 'unknown' | 'between' | 'completed' | 'failed' | 'stranded';

/** Venue of a hedge: a conversion API, the book, another exchange, or RFQ quotes through a third currency. */
export type HedgeWay = ConversionWay | 'book' | 'elsewhere' | `rfq via ${string}`;

/** One line of the route comparison. */
export type HedgeLine = {
  readonly way: string;
  /** Cost in the quote currency; positive if paid, `null` if the route has no price. */
  readonly cost: string | null;
  readonly bps: number | null;
  /** Reason why this route was not chosen; `null` for the chosen route. */
  readonly not: string | null;
};

/**
 * Pending execution: a firm offer, or an order in the book or on another exchange. For an order, `id` is its origin id
 * and the amounts are worst cases.
 */
export type HedgeOffer = {
  readonly way: ConversionWay | 'book' | 'elsewhere';
  readonly id: string;
  readonly give: ConversionLeg;
  readonly get: ConversionLeg;
  readonly lifeMs: Millis;
};

/** Route through a third currency. */
export type HedgeRoute = {
  readonly via: string;
  readonly leg: 1 | 2;
  /** Proceeds of the first leg, in the third currency. `worth` is the value of the proceeds in the quote currency. */
  readonly holds: string;
  readonly worth: string;
  /** Minimum proceeds of the second leg, computed from the maximum cost of both legs together. */
  readonly least: string;
  /** Deadline of the second leg, in engine time; `null` before the first leg is executed. */
  readonly until: Millis | null;
};

/** Account on another exchange: name of the exchange, and a fingerprint of the address and the API key. */
export type HedgeAccount = { readonly place: string; readonly account: string };

/**
 * Order on another exchange. `rate` is the value of one unit of the other book's quote currency, in the quote currency
 * of the bot's book.
 */
export type PlacedOrder = HedgeAccount & { readonly order: ElsewhereOrder; readonly rate: string };

export type HedgeRow = {
  readonly id: string;
  readonly at: Millis;
  readonly state: HedgeState;
  /** Amount to sell (positive) or buy (negative), in the base currency. */
  readonly amount: string;
  readonly weighed: readonly HedgeLine[];
  readonly offer: HedgeOffer | null;
  readonly acceptedAt: Millis | null;
  readonly conversionId: string | null;
  readonly why: string | null;
  readonly route?: HedgeRoute;
  readonly elsewhere?: PlacedOrder;
  /**
   * Mid price at the decision, in the quote currency. `inventory` (base currency) and `costMax` of the chosen route
   * (quote currency) are also values at the decision.
   */
  readonly middle?: string;
  readonly inventory?: string;
  readonly costMax?: string;
  /** Band at the decision, in the base currency; absent if the configuration sets the band. */
  readonly band?: string;
  /** Sum of the maximum costs of all earlier hedges of the same UTC day, in the quote currency. */
  readonly dayCost?: string;
  /**
   * Whether the first comparison of the other exchange's balances with the ledger after this hedge agreed; `null` until
   * then. Absent if nothing was executed there, or if the operator stated the outcome.
   */
  readonly reconciled?: boolean | null;
  /**
   * Other exchange on which a hedge last reconciled, and the number of hedges that have reconciled there in sequence;
   * absent if no hedge on another exchange has reconciled. Earlier versions counted completed hedges.
   */
  readonly placed?: { readonly place: string; readonly count: number };
  /**
   * The operator's flatten request for which the bot hedges: its id, and the sum of the maximum costs of earlier hedges
   * for this request, in the quote currency.
   */
  readonly flatten?: { readonly id: string; readonly cost: string };
};
