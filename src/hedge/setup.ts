/** What a hedger is set up with: its ways out, rules and times, and what it reaches of the bot. */
import type { Clock, ConversionDesk, ConversionWay, Engine, HedgeRules, Instrument, Millis } from '../core/index.ts';
import type { HedgeLog } from './log.ts';
import type { RouteRules } from './routes.ts';
import type { RowsOptions } from './rows.ts';

export type HedgeSetup = {
  readonly desk: ConversionDesk;
  /** `book`: by an order that takes liquidity. */
  readonly ways: readonly (ConversionWay | 'book')[];
  readonly rules: HedgeRules;
  readonly routes?: RouteRules | undefined;
  /** Between two looks at the inventory, and after one that led to nothing. */
  readonly everyMs: Millis;
  readonly pauseMs: Millis;
  /** An offer is not accepted later than this before its end. */
  readonly marginMs: Millis;
  /** How long a request may be held on its way, and how late a record may be. */
  readonly fenceMs: Millis;
  readonly settleMs: Millis;
};

export type HedgerOptions = HedgeSetup &
  RowsOptions & {
    readonly clock: Clock;
    readonly engine: Engine;
    readonly instrument: () => Instrument;
    readonly takerRate: () => number;
    readonly log: HedgeLog;
    /** When the last read of the balances began, in the engine's time: how old `engine.differences` are. */
    readonly balancesAt: () => Millis;
    /** Makes the ledger and the hedges durable; false when the disk does not take them. */
    readonly persist: () => boolean;
    /** False after a stop, a halt, or a latch. */
    readonly mayAct: () => boolean;
    /** Begins the origin ids of orders that take, never used before; absent: the book is no way out here. */
    readonly orderPrefix?: string;
  };
