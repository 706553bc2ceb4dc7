/** What a hedger is set up with: its ways out, rules and times, and what it reaches of the bot. */
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

/** What the configuration says. */
export type HedgeSetup = {
  readonly desk: ConversionDesk;
  /** `book`: by an order that takes liquidity. */
  readonly venues: readonly (ConversionWay | 'book')[];
  readonly rules: HedgeRules;
  /** What band and residual follow from, instead of those of `rules`. */
  readonly bandModel?: BandModel | undefined;
  readonly routes?: RouteRules | undefined;
  /** Between two looks at the inventory, and after one that led to nothing. */
  readonly everyMs: Millis;
  readonly pauseMs: Millis;
  /** An offer is not accepted later than this before its end. */
  readonly quoteLifeMinMs: Millis;
  /** How long a request may be held on its way, and how late a record may be. */
  readonly requestDelayMaxMs: Millis;
  readonly tradeReportDelayMaxMs: Millis;
};

/** The run that it belongs to: `time` is the engine's, `step` takes an event into the engine and its recording. */
export type HedgeRun = {
  readonly clock: Clock;
  readonly time: () => Millis;
  readonly log: HedgeLog;
  readonly step: (event: EngineEvent) => void;
};

/** What earlier runs left, and how what this one begins is named. */
export type HedgesKept = {
  readonly rows: readonly HedgeRow[];
  /** Begins the ids of hedges of this run. */
  readonly prefix: string;
  /** Begins the origin ids of orders that take, never used before; absent: the book is no way out here. */
  readonly orderPrefix?: string;
};

export type HedgerOptions = {
  readonly setup: HedgeSetup;
  readonly run: HedgeRun;
  readonly kept: HedgesKept;
  /** Of the book; they never change. */
  readonly pair: Pick<Instrument, 'major' | 'minor'>;
  /** Made anew each time: once for a look, and again after everything that takes time. */
  readonly view: () => HedgeView;
  /** Makes the ledger and the hedges durable; false when the disk does not take them. */
  readonly persist: () => boolean;
  /** False after a stop, a halt, or a latch. */
  readonly mayAct: () => boolean;
  readonly flatten?: FlattenAsked;
};

/** A person wants everything closed, whatever the band. */
export type FlattenAsked = {
  /** Which request, and the most that its hedges may cost in all, in the minor currency; null: nobody does. */
  readonly asked: () => { readonly id: string; readonly costMax: Money } | null;
  /** Inventory is at its target, or so near that no order is so small. False: it could not be noted, and is tried again. */
  readonly done: (why: string) => boolean;
};
