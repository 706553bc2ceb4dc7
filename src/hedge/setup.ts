/** Setup of a hedger: routes, rules, times, and its access to the bot. */
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
import type { HedgeLog } from './log.ts';
import type { RouteRules } from './routes.ts';
import type { HedgeView } from './view.ts';

/** Settings from the configuration. */
export type HedgeSetup = {
  readonly desk: ConversionDesk;
  /** `book` means a taker order. */
  readonly venues: readonly (ConversionWay | 'book')[];
  readonly rules: HedgeRules;
  /** Model that replaces band and residual of `rules`. */
  readonly bandModel?: BandModel | undefined;
  readonly routes?: RouteRules | undefined;
  /** Time between two inventory checks, and pause after one without result. */
  readonly everyMs: Millis;
  readonly pauseMs: Millis;
  /** Minimum remaining life of an offer at its acceptance. */
  readonly quoteLifeMinMs: Millis;
  /** Maximum delay of a request that may still be executed, and of a trade record. */
  readonly requestDelayMaxMs: Millis;
  readonly tradeReportDelayMaxMs: Millis;
};

/** Run of the hedger. `time` is engine time; `step` passes an event to the engine and its recording. */
export type HedgeRun = {
  readonly clock: Clock;
  readonly time: () => Millis;
  readonly log: HedgeLog;
  readonly step: (event: EngineEvent) => void;
};

/** State of earlier runs, and id prefixes for this one. */
export type RestoredHedges = {
  readonly rows: readonly HedgeRow[];
  /** Prefix of hedge ids in this run. */
  readonly prefix: string;
  /** Prefix of taker orders' origin ids, never used before. If absent, the book is not a route. */
  readonly orderPrefix?: string;
};

export type HedgerOptions = {
  readonly setup: HedgeSetup;
  readonly run: HedgeRun;
  readonly kept: RestoredHedges;
  /** Currencies of the book; constant. */
  readonly pair: Pick<Instrument, 'major' | 'minor'>;
  /** Creates a new view: one per check, and again after every wait. */
  readonly view: () => HedgeView;
  /** Makes the ledger and the hedges durable. Returns false if the disk fails. */
  readonly persist: () => boolean;
  /** Returns false after a stop, a halt, or a latch. */
  readonly mayAct: () => boolean;
  readonly flatten?: FlattenRequest;
};

/** The operator's request to close all inventory, regardless of the band. */
export type FlattenRequest = {
  /** Returns the request's id and its maximum total cost in the quote currency; null if there is none. */
  readonly asked: () => { readonly id: string; readonly costMax: Money } | null;
  /**
   * Ends the request: inventory is at its target, or closer than the smallest order. Returns false if that could not be
   * stored; the hedger then retries.
   */
  readonly done: (why: string) => boolean;
};
