/** One hedge as it is kept on disk and in the recording: what was decided against which alternatives, and how far it came. */
import type { ConversionLeg, ConversionWay } from '../ports/port.ts';
import type { Millis } from '../model/units.ts';

/**
 * `accepted`: its acceptance, or its order, may have left. `executing`: the exchange has it. `unknown`: it may or may not have been carried
 * out. `between`: the first leg of a route was carried out, and what it brought lies in the third currency until the second one is.
 * The ends: `completed`, it certainly was; `failed`, it certainly was not and never will be; `stranded`, it stopped between its legs.
 */
export type HedgeState =
  'requested' | 'quoted' | 'accepted' | 'executing' | 'unknown' | 'between' | 'completed' | 'failed' | 'stranded';

/** The two conversion interfaces, the book, or quotes through a third currency. */
export type HedgeWay = ConversionWay | 'book' | `rfq via ${string}`;

/** One line of the comparison. */
export type HedgeLine = {
  readonly way: string;
  /** In the minor currency, above zero when it is paid. */
  readonly cost: string | null;
  readonly bps: number | null;
  /** Why it was not taken; null for the one that was. */
  readonly not: string | null;
};

/** What is being carried out: a firm offer, or an order that takes (`id` is then its origin id, and the amounts are the worst ones). */
export type HedgeOffer = {
  readonly way: ConversionWay | 'book';
  readonly id: string;
  readonly give: ConversionLeg;
  readonly get: ConversionLeg;
  readonly lifeMs: Millis;
};

/** A route over a third currency. */
export type HedgeRoute = {
  readonly via: string;
  readonly leg: 1 | 2;
  /** What the first leg brings of the third currency, and what that is counted for in the minor one. */
  readonly holds: string;
  readonly worth: string;
  /** The second leg is not taken for less than this of what it brings: the limits of the whole hedge. */
  readonly least: string;
  /** When it stops, if the second leg was not had by then. */
  readonly until: Millis | null;
};

export type HedgeRow = {
  readonly id: string;
  readonly at: Millis;
  readonly state: HedgeState;
  /** What should leave (above zero) or come, in the major currency. */
  readonly amount: string;
  readonly weighed: readonly HedgeLine[];
  readonly offer: HedgeOffer | null;
  readonly acceptedAt: Millis | null;
  readonly conversionId: string | null;
  readonly why: string | null;
  readonly route?: HedgeRoute;
  /** Price of the middle of the book when it was decided, inventory then, and the most that what was taken can cost; minor and major currency. */
  readonly middle?: string;
  readonly inventory?: string;
  readonly costMax?: string;
  /** What hedges before it may have cost on its UTC day. */
  readonly dayCost?: string;
  /** Of the request of a person to close everything: which one, and what its hedges before this one may have cost; minor currency. */
  readonly flatten?: { readonly id: string; readonly cost: string };
};
