/** Setup of a hedger: routes, rules, times, and access to the bot. */
import type {
  Clock,
  ConversionDesk,
  ConversionWay,
  EngineEvent,
  HedgeRow,
  HedgeRules,
  Instrument,
  Millis,
  Money,
} from '../core/index.ts';
import type { BandModel } from './bandFollower.ts';
import type { ElsewhereSetup } from './elsewhereDesk.ts';
import type { RouteRules } from './thirdCurrencyRoutes.ts';
import type { HedgeInputs } from './hedgeInputs.ts';

/** Log interface of the hedger: fields first, then the message. Declares methods, like the interface in `live/log.ts`. */
export interface HedgeLog {
  info(known: object, sentence: string): void;
  warn(known: object, sentence: string): void;
}

/** Settings from the configuration. */
export type HedgeSetup = {
  readonly desk: ConversionDesk;
  /** Allowed venues of hedges; `book` means a taker order, `elsewhere` an order on another exchange. */
  readonly venues: readonly (ConversionWay | 'book' | 'elsewhere')[];
  readonly rules: HedgeRules;
  /** Model that computes the band and the residual, instead of the fixed values in `rules`. */
  readonly bandModel?: BandModel | undefined;
  readonly routes?: RouteRules | undefined;
  /** Hedges on another exchange; absent if there are none. */
  readonly elsewhere?: ElsewhereSetup;
  /** Time between two checks of the inventory. */
  readonly everyMs: Millis;
  /** Pause after a check that requested offers. */
  readonly pauseMs: Millis;
  /** Minimum remaining life of an offer at its acceptance. */
  readonly quoteLifeMinMs: Millis;
  /** Maximum time after sending at which the exchange may still execute a request. */
  readonly requestDelayMaxMs: Millis;
  /** Maximum delay between a trade and its record at the exchange. */
  readonly tradeReportDelayMaxMs: Millis;
};

/** Whether a route is on the bot's own exchange. */
export const hasRoutesHere = ({ venues, routes }: Pick<HedgeSetup, 'venues' | 'routes'>): boolean =>
  routes !== undefined || venues.some(way => way !== 'elsewhere');

/**
 * Clock, log and engine access of the hedger. `time` is engine time; `step` passes an event to the engine and its
 * recording.
 */
export type HedgeRun = {
  readonly clock: Clock;
  readonly time: () => Millis;
  readonly log: HedgeLog;
  readonly step: (event: EngineEvent) => void;
};

/** Hedges of earlier runs, and id prefixes for this run. */
export type RestoredHedges = {
  readonly rows: readonly HedgeRow[];
  /** Prefix of hedge ids in this run. */
  readonly prefix: string;
  /**
   * Instance and run in the ids of the hedger's orders; no earlier run has used these ids. If absent, the hedger sends
   * no orders.
   */
  readonly orders?: { readonly instance: string; readonly run: number };
};

export type HedgerOptions = {
  readonly setup: HedgeSetup;
  readonly run: HedgeRun;
  readonly kept: RestoredHedges;
  /** Base and quote currency of the book. */
  readonly pair: Pick<Instrument, 'major' | 'minor'>;
  /** Returns a new view of the bot. Called once per check, and again after every wait. */
  readonly view: () => HedgeInputs;
  /** Stores the ledger and the hedges on disk. Returns false if the write fails. */
  readonly persist: () => boolean;
  /** Whether the hedger may execute hedges: `false` after a stop or a halt, and while a halt is latched. */
  readonly mayAct: () => boolean;
  readonly flatten?: FlattenRequest;
};

/** Operator's request to close all inventory, even inside the band. */
export type FlattenRequest = {
  /** Returns the request's id and its maximum total cost in the quote currency; `null` if there is no request. */
  readonly current: () => { readonly id: string; readonly costMax: Money } | null;
  /**
   * Ends the request, once inventory is at its target or differs from it by less than the smallest order. Returns false
   * if the end could not be stored; the hedger then retries.
   */
  readonly end: (why: string) => boolean;
};
